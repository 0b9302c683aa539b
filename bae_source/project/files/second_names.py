"""Files that have a second name, by a link in the project.

docs/l.txt -> a.txt        among both, docs/l.txt is a second name of docs/a.txt; alone, it is a file

A change writes each of them once, and each check sees it under all of its names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from msgspec.structs import replace

from bae_source.model.changeset import ChangeSet
from bae_source.model.plan import Plan
from bae_source.project.files.data_listing import data_names
from bae_source.project.files.port import FileKind, Files
from bae_source.project.files.snapshot import Snapshot

_INSIDE = "/-"
"""Suffix of a path that has the system follow a link at its end, too."""


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
    """Return whether a path is a link to a file of the project."""
    folder, _, name = path.rpartition("/")
    return name in files.folder(folder).links


def followed(files: Files, path: str) -> tuple[str, ...]:
    """Return a path, and the one that its links lead to where that is another one in the project."""
    found = files.inside(path + _INSIDE)
    if found is None or not found.endswith(_INSIDE) or found == path + _INSIDE:
        return (path,)
    return (path, found.removesuffix(_INSIDE))


class Names:
    """All names of some files of a project.

        pkg/core.py    pkg/old.py -> core.py    again -> pkg    hard.py, a hard link
        pkg/core.py is pkg/old.py, again/core.py and hard.py as well

    Parameters:
        snapshot: the project.
        paths: the files, be they there or not.
    """

    def __init__(self, snapshot: Snapshot, paths: Sequence[str]) -> None:
        self._snapshot = snapshot
        self._paths = tuple(paths)

    def of(self, path: str) -> tuple[str, ...]:
        """Return the paths of one of the files, the given one first."""
        found = [*followed(self._snapshot.files, path), *self._alike.get(path, ())]
        found += [name for each in found for name in self._through_folders(each)]
        return tuple(dict.fromkeys(found))

    @cached_property
    def _alike(self) -> dict[str, list[str]]:
        """The other paths with the stamp of each file: links to it, hard links, and other spellings."""
        files, census = self._snapshot.files, self._snapshot.census
        own = files.stamps(self._paths)
        wanted = set(own.values())
        found: dict[object, list[str]] = defaultdict(list)
        for stamps in (census.stamps, files.stamps(data_names(self._snapshot).paths)) if wanted else ():
            for path, stamp in stamps.items():
                if stamp in wanted:
                    found[stamp].append(path)
        return {path: found[stamp] for path, stamp in own.items()}

    def _through_folders(self, path: str) -> Iterator[str]:
        """Yield the paths of a file through links to the folders around it."""
        folder = path
        while folder and self._links:
            folder = folder.rpartition("/")[0]
            inner = path.removeprefix(f"{folder}/") if folder else path
            yield from (f"{link}/{inner}" for link in self._links.get(folder, ()))

    @cached_property
    def _links(self) -> dict[str, list[str]]:
        """The links to folders in the project, by the folder that each leads to."""
        files, folders = self._snapshot.files, self._snapshot.census.folders
        found: dict[str, list[str]] = defaultdict(list)
        for folder, names in folders.items():
            lead = f"{folder}/" if folder else ""
            for name in set(files.names(folder)).difference(names):
                path = lead + name
                if path in folders or files.kind(path) is not FileKind.FOLDER:
                    continue
                inside = files.inside(path + _INSIDE)
                if inside is not None and inside != path + _INSIDE:
                    found[inside.removesuffix(_INSIDE[1:]).rstrip("/")].append(path)
        return found
