"""The parts of a project that cannot be read: their names, and the notices about them.

    chmod 000 pkg/sub             pkg.sub may not be listed, and what lies there was not searched.
    pkg/x.py -> ../../x.py        Links lead out of the project, and what they lead to was not searched: pkg.x.
    pkg/gui.pyw                   Files that end in .pyw, … on Windows alone, were not searched: pkg.gui.

Invariants:
- the files there are unknown, so no answer that they could belong to is complete;
- a folder is named as the package that it would be; a source root, which has no name, is part of every package.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bae_source.errors import LookupFailed
from bae_source.model.outcome import Notice
from bae_source.model.text import listed
from bae_source.project.files.census import PYTHON, STUB, WINDOWED, Census
from bae_source.project.files.snapshot import Snapshot

_INIT = "__init__"
_ROOT = "(a source root)"


def package_at(census: Census, folder: str) -> str | None:
    """Return the dotted name that a folder's package would have; empty for a source root, None where it has no name."""
    module = census.layout.module_at(f"{folder}/{_INIT}.py".lstrip("/"))
    if module is None:
        return None
    return "" if module.name == _INIT else module.name


def name_at(census: Census, path: str) -> str:
    """Return the name of a file's module, or of a closed folder's package; the kind of file where there is none."""
    if path in census.closed:
        return package_at(census, path) or "a folder"
    if not path.endswith((PYTHON, STUB, WINDOWED)):
        from bae_source.project.files.data_listing import address_of  # hardly any answer is about such a file

        return address_of(census, path)
    module = census.module(path)
    return module.name if module else "a file"


def unseen(
    snapshot: Snapshot, name: str | None = None, *, left: str = "searched", data: bool = False
) -> tuple[Notice, ...]:
    """Return notices about files and folders that cannot be read: those that may belong to a package, or all.

    Parameters:
        name: of the package; None or empty for the whole project.
        left: the verb of what was not done there, such as "searched".
        data: whether the request is about data files of packages, of which a `.pyw` file is one.
    """
    census = snapshot.census
    notices: list[Notice] = []
    if closed := _within(name, _closed(census)):
        notices.append(Notice("forbidden", f"{listed(closed)} may not be listed, and what lies there was not {left}."))
    if outside := _within(name, _outside(census)):
        message = f"Links lead out of the project, and what they lead to was not {left}: {listed(outside)}."
        notices.append(Notice("outside_project", message))
    if windowed := _within(name, _windowed(census, data=data)):
        message = f"Files that end in .pyw, which are modules on Windows alone, were not {left}: {listed(windowed)}."
        notices.append(Notice("not_searched", message))
    return tuple(notices)


def behind_unseen(
    snapshot: Snapshot, name: str, *, below: str | None = None, given: str | None = None
) -> LookupFailed | None:
    """Return the error for a name that may be in a place that cannot be read; None where it cannot be.

    Parameters:
        name: dotted.
        below: the package in which it was looked up; only what is in that counts. None for the project.
        given: how it was asked for, if not by that name.
    """
    census = snapshot.census
    closed, outside = set(_closed(census)), set(_outside(census))
    windowed = {each for each in _windowed(census) if not census.find(each)}
    found = next((each for each in _outwards(name) if each in closed or each in outside or each in windowed), None)
    if found is None or (below is not None and len(found) <= len(below)):
        return None
    unknown = "what is in it" if name == found else f"whether {given or name} is there"
    if found in closed:
        message, hint = f"{found or _ROOT} may not be listed", "Check its permissions; doctor says what mends them."
    elif found in windowed:
        message, hint = f"{found} ends in .pyw and is a module on Windows alone", "Let it end in .py to have it read."
    else:
        message, hint = f"{found} is a link that leads out of the project", "Take a root that holds both (--root)."
    return LookupFailed("symbol_not_found", f"{message}, so it is not known {unknown}.", hints=[hint])


def _closed(census: Census) -> list[str]:
    """Return the names of the folders that may not be listed; that of a source root is empty."""
    return [package for folder in census.closed if (package := package_at(census, folder)) is not None]


def _outside(census: Census) -> list[str]:
    """Return the names of the modules and packages that are there by links out of the project."""
    paths = (path for path in census.outside if not path.endswith(WINDOWED))
    return [module.name for path in paths if (module := census.module(path))]


def _windowed(census: Census, *, data: bool = False) -> list[str]:
    """Return the names of the `.pyw` files; without those that are data files of a package, if these are looked at."""
    paths = [path for path in census.outside if path.endswith(WINDOWED)]
    if data and paths:
        from bae_source.project.files.data_listing import owner_of  # hardly any project has such a file

        paths = [path for path in paths if owner_of(census, path.rpartition("/")[0]) is None]
    return [module.name if (module := census.module(path)) else "a file" for path in paths]


def _within(name: str | None, parts: Iterable[str]) -> list[str]:
    """Return the names of those that may hold some of a package."""
    return sorted({each or _ROOT for each in parts if not name or not each or f"{each}.".startswith(f"{name}.")})


def _outwards(name: str) -> Iterator[str]:
    """Yield a dotted name and the names around it, the project last."""
    while name:
        yield name
        name = name.rpartition(".")[0]
    yield ""
