"""Files that have a second name, by a link in the project, so that a change writes each of them once.

docs/l.txt -> a.txt        among both, docs/l.txt is a second name of docs/a.txt; alone, it is a file
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec.structs import replace

from bae_source.model.changeset import ChangeSet
from bae_source.model.plan import Plan
from bae_source.project.files.port import Files


def second_names(files: Files, paths: Iterable[str]) -> dict[str, str]:
    """Return those paths among some that are links to others of them, each with that one.

    Of several links to a file that is not among them, the first counts as the file. A hard link is a file of its own.
    """
    alike: dict[object, list[str]] = defaultdict(list)
    for path, stamp in files.stamps(tuple(paths)).items():
        alike[stamp].append(path)
    found: dict[str, str] = {}
    for several in alike.values():
        links = [path for path in several if len(several) > 1 and is_link(files, path)]
        others = [path for path in several if path not in links]
        first = (others or links)[0]
        found |= {path: first for path in links if path != first}
    return found


def written_once(files: Files, plan: Plan) -> Plan:
    """Return a plan without the changes of links to files that change in the same way."""
    by_path = {each.path: each for each in plan.changes.files if each.before is not None and each.after is not None}
    names = second_names(files, by_path) if len(by_path) > 1 else {}
    doubled = {path for path, first in names.items() if by_path[path].after == by_path[first].after}
    if not doubled:
        return plan
    return replace(
        plan,
        changes=ChangeSet(tuple(each for each in plan.changes.files if each.path not in doubled)),
        modules=tuple(each for each in plan.modules if each.path not in doubled),
    )


def is_link(files: Files, path: str) -> bool:
    """Say whether a path is a link to a file of the project."""
    folder, _, name = path.rpartition("/")
    return name in files.folder(folder).links
