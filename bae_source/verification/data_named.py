"""The code that names a data file: the places where the last part of its path stands in a module's text.

    (folder / "words.txt").read_text()        for `app:lists/words.txt`, in the function that reads it

Invariants:
- a file may be named though the text speaks of another one of that name, or in a comment: what may be meant counts;
- code that puts the name together is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.text import listed
from bae_source.project.files.data_listing import NO_DATA, owner_of
from bae_source.project.search.expression import expression_of
from bae_source.project.search.scope import scope_of
from bae_source.project.search.text import Hit, search_text
from bae_source.project.workspace import Workspace

_SECONDS = 10.0
_MOST_FILES = 50
_MOST_SHOWN = 10


def changed_data(plan: Plan) -> list[str]:
    """Return the paths of the files of a change that are no Python, where they were and where they will be."""
    modules = {module.path for module in plan.modules}
    paths = (file.path for file in plan.changes.files)
    return [path for path in paths if path not in modules and not path.endswith(NO_DATA)]


def naming(workspace: Workspace, paths: Sequence[str]) -> tuple[dict[str, list[Hit]], bool]:
    """Return the places in code that name each of some files, and whether all code was looked at."""
    names = {path: path.rpartition("/")[2] for path in paths}
    pattern = "|".join(map(re.escape, sorted(set(names.values()))))
    expression = expression_of(pattern, ignore_case=False, word=True, multi_line=False)
    found = search_text(workspace, scope_of(workspace, None), expression, seconds=_SECONDS)
    hits = [hit for file in found.files for hit in file.hits]
    return {path: list(_with(name, hits)) for path, name in names.items()}, found.complete


def still_named(workspace: Workspace, plan: Plan) -> Iterator[Notice]:
    """Yield notices of data files that a change removes or renames, and code still names.

    Parameters:
        workspace: the project as it is before the change.
    """
    left = {file.path for file in plan.changes.files if file.after is None}
    gone = [path for path in changed_data(plan) if path in left]
    if not gone:
        return
    found, complete = naming(workspace.after(plan.changes), gone[:_MOST_FILES])
    named = {path: hits for path, hits in found.items() if hits}
    for path, hits in list(named.items())[:_MOST_SHOWN]:
        places = listed((f"{hit.module}:{hit.line}" for hit in hits), _MOST_SHOWN)
        name = path.rpartition("/")[2]
        text = f"{_address(workspace, path)} may be named still: {places}; grep {name} shows them."
        yield Notice("perhaps_named", text)
    unread = [*list(named)[_MOST_SHOWN:], *gone[_MOST_FILES:], *([] if complete else gone[:_MOST_FILES])]
    if unread:
        shown = listed((_address(workspace, path) for path in unread), _MOST_SHOWN)
        yield Notice("not_searched", f"Not all code was looked into for the names of {shown}.")


def _address(workspace: Workspace, path: str) -> str:
    package, folder = owner_of(workspace.census, path.rpartition("/")[0]) or ("", "")
    return f"{package}:{path[len(folder) + 1 :] if folder else path}"


def _with(name: str, hits: Sequence[Hit]) -> Iterator[Hit]:
    return (hit for hit in hits if name in hit.text)
