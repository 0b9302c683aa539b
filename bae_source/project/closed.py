"""Folders that may not be listed: what they are called, and what an answer says of them.

    chmod 000 pkg/sub      ->   pkg.sub may not be listed, and what lies there was not searched.

Invariants:
- whatever would lie in such a folder is unknown, so no answer that it could belong to is complete;
- a folder is named as the package that it would be; a source root, which has no name, is part of every package.
"""

from __future__ import annotations

from collections.abc import Iterator

from bae_source.errors import LookupFailed
from bae_source.model.listed import listed
from bae_source.model.outcome import Notice
from bae_source.project.census import Census
from bae_source.project.workspace import Workspace

_INIT = "__init__"
_ROOT = "(a source root)"


def package_at(census: Census, folder: str) -> str | None:
    """Return the dotted name that a folder's package would have; empty for a source root, None where it has no name."""
    module = census.layout.module_at(f"{folder}/{_INIT}.py".lstrip("/"))
    if module is None:
        return None
    return "" if module.name == _INIT else module.name


def closed_within(census: Census, name: str | None) -> list[str]:
    """Return, as names to be said, the folders that may not be listed and may hold some of a package.

    Parameters:
        name: of the package; None or empty for the whole project.
    """
    names = [package for folder in census.closed if (package := package_at(census, folder)) is not None]
    inside = [each for each in names if not name or not each or f"{each}.".startswith(f"{name}.")]
    return sorted({each or _ROOT for each in inside})


def closed_folders(workspace: Workspace, name: str | None = None, *, left: str = "searched") -> tuple[Notice, ...]:
    """Return what is to be said of folders that may not be listed: those of a package, or all of them.

    Parameters:
        left: what was not done with their content.
    """
    inside = closed_within(workspace.census, name)
    if not inside:
        return ()
    return (Notice("forbidden", f"{listed(inside)} may not be listed, and what lies there was not {left}."),)


def behind_closed(
    workspace: Workspace, name: str, *, below: str | None = None, asked: str | None = None
) -> LookupFailed | None:
    """Return what to say of a name that may be in a folder which may not be listed; None where there is no such folder.

    Parameters:
        name: dotted.
        below: the package in which it was looked up; only folders in that count. None for the project.
        asked: how it was asked for, if not by that name.
    """
    census = workspace.census
    closed = {package_at(census, folder) for folder in census.closed}
    found = next((each for each in _outwards(name) if each in closed), None)
    if found is None or (below is not None and len(found) <= len(below)):
        return None
    unknown = "what is in it" if name == found else f"whether {asked or name} is there"
    message = f"{found or _ROOT} may not be listed, so nobody can tell {unknown}."
    return LookupFailed("symbol_not_found", message, hints=["Check its permissions; doctor says what mends them."])


def _outwards(name: str) -> Iterator[str]:
    """Yield a dotted name and what is around it, the project last."""
    while name:
        yield name
        name = name.rpartition(".")[0]
    yield ""
