"""Which files of a project cannot be parsed, and why: every one is looked at, none is left out in silence."""

from __future__ import annotations

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.files.census import WINDOWED
from bae_source.project.workspace import Workspace

_NOWHERE = "(a file without a module's name)"


class Unparsed(Struct, frozen=True, kw_only=True):
    """What was found.

    Parameters:
        looked_at: how many Python files there are.
        failed: those that have no definitions for us: the module's name, and why.
        closed: folders that may not be listed; nobody knows what is in them.
        outside: names of the modules that are there by links out of the project.
        windowed: how many `.pyw` files there are, into which nobody looks.
    """

    looked_at: int
    failed: tuple[tuple[str, ResourceError], ...]
    closed: tuple[str, ...]
    outside: tuple[str, ...]
    windowed: int


def unparsed(workspace: Workspace) -> Unparsed:
    """Look at every Python file of a project, stubs included.

    Raises:
        SourceError: its settings do not say what belongs to it.
    """
    census = workspace.census
    paths = [*census.paths, *census.stubs]
    failed = [
        (module.name if (module := census.module(path)) else _NOWHERE, found)
        for path, found in workspace.index.summaries(paths)
        if isinstance(found, ResourceError)
    ]
    beyond = [path for path in census.outside if not path.endswith(WINDOWED)]
    return Unparsed(
        looked_at=len(paths),
        failed=tuple(sorted(failed, key=_name)),
        closed=census.closed,
        outside=tuple(module.name if (module := census.module(path)) else _NOWHERE for path in beyond),
        windowed=len(census.outside) - len(beyond),
    )


def _name(found: tuple[str, ResourceError]) -> str:
    return found[0]
