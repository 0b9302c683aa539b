"""The data files of a project: what lies below its root and is no Python.

    pkg/__init__.py
    pkg/templates/page.html      ->   pkg:templates/page.html
    pkg/sub/__init__.py
    pkg/sub/table.csv            ->   pkg.sub:table.csv       the innermost package owns it
    docs/guide.md                ->   :docs/guide.md          no package does

A package is a folder with an `__init__`, or one that holds modules or packages, below a source root (PEP 420).

Invariants:
- ignored files are left out, and files that have gone meanwhile;
- nothing is read but the patterns that say what is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import translate
from functools import lru_cache

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.model.address import parse_name
from bae_source.project.files.census import PYTHON, STUB, Census
from bae_source.project.files.ignored import Patterns, is_ignored, never_entered
from bae_source.project.files.port import Folder
from bae_source.project.files.snapshot import Snapshot

NO_DATA = (PYTHON, STUB, ".pyc", ".pyo", ".pyd")
"""Endings of Python's own files."""
_Steps = Sequence[re.Pattern[str] | None]
"""Expressions that the components have to match; None for any number of components."""


class DataFile(Struct, frozen=True, order=True):
    """A file that is no Python.

    Parameters:
        package: dotted name; empty for what lies in no package.
        inner: path inside the package's folder, or below the project's root, with forward slashes.
        path: relative to the project's root.
        size: in bytes.
    """

    package: str
    inner: str
    path: str
    size: int

    def __str__(self) -> str:
        return f"{self.package}:{self.inner}"


class DataNames(Struct, frozen=True):
    """The data files of a project by name; `made` of their sizes makes them files.

    Parameters:
        paths: sorted.
        owners: of each the package's name and its folder with a slash behind it; both empty where there is none.
    """

    paths: tuple[str, ...]
    owners: dict[str, tuple[str, str]]

    def files(self, sizes: Iterable[tuple[str, int]]) -> tuple[DataFile, ...]:
        """Return some of the files, by path and size."""
        owners = self.owners
        return tuple([DataFile(owners[path][0], path[len(owners[path][1]) :], path, size) for path, size in sizes])


def data_files(snapshot: Snapshot) -> tuple[DataFile, ...]:
    """Return the data files of the project, sorted by path."""
    names = data_names(snapshot)
    return names.files([(path, stamp.size) for path, stamp in snapshot.files.stamps(names.paths).items()])


def data_names(snapshot: Snapshot) -> DataNames:
    """Return the data files of the project by name; worked out once as long as no name and no pattern changes."""
    known = snapshot.census.of_names
    if DataNames not in known:
        known[DataNames] = _named(snapshot)
    names = known[DataNames]
    assert isinstance(names, DataNames)
    return names


def _named(snapshot: Snapshot) -> DataNames:
    census, files = snapshot.census, snapshot.files
    patterns = Patterns(files)
    owners: dict[str, tuple[str, str] | None] = {}
    found: dict[str, tuple[str, str]] = {}
    for path, names in sorted(census.folders.items()):
        owner = owners[path] = _owner(census, path, names, owners)
        folder = Folder(path, (), names)
        patterns.enter(folder)
        own = (owner[0], f"{owner[1]}/") if owner else ("", "")
        lead = f"{path}/" if path else ""
        data = [name for name in names if not (name.endswith(NO_DATA) or never_entered(name))]
        out = {name for name in patterns.suspects(folder, data) if is_ignored(files, lead + name)}
        found.update([(lead + name, own) for name in data if name not in out])
    return DataNames(tuple(sorted(found)), found)


def matching(files: Iterable[DataFile], pattern: str) -> Iterator[DataFile]:
    """Yield the data files whose addresses match; a pattern without a package is one over paths from the root.

    :*.md                 files of the root that end so
    :docs/**              everything below docs; :pkg/*.txt matches pkg:a.txt too, as a path from the root
    pkg.*:*.html          files directly in the packages below pkg
    """
    package, _, inner = pattern.partition(":")
    outer, path = _steps(package.split(".")), _steps(inner.split("/"))
    for file in files:
        if package:
            fits = file.package and _fits(outer, file.package.split(".")) and _fits(path, file.inner.split("/"))
        else:
            fits = _fits(path, file.path.split("/"))
        if fits:
            yield file


def address_of(census: Census, path: str) -> str:
    """Return the address that a data file has, be it there or not."""
    package, folder = owner_of(census, path.rpartition("/")[0]) or ("", "")
    return f"{package}:{path.removeprefix(folder).lstrip('/')}"


def owner_of(census: Census, folder: str) -> tuple[str, str] | None:
    """Return the innermost package that a folder is or lies in, whether that folder is there or not.

    Returns:
        Its dotted name and its own folder; None where there is no package around.
    """
    while folder:
        package = _package_at(census, folder, census.folders.get(folder, ()))
        if package:
            return package, folder
        folder = folder.rpartition("/")[0]
    return None


def _owner(
    census: Census, path: str, names: tuple[str, ...], owners: dict[str, tuple[str, str] | None]
) -> tuple[str, str] | None:
    """Return the result of `owner_of`, by the known owner of the folder around."""
    if not path:
        return None
    package = _package_at(census, path, names) if path in census.around else ""
    return (package, path) if package else owners.get(path.rpartition("/")[0])


def _package_at(census: Census, path: str, names: tuple[str, ...]) -> str:
    """Return the name of the package that a folder is; empty where it is none."""
    own = next((name for name in names if name.endswith(PYTHON) and f"{path}/{name}" in census.stamps), None)
    if own is not None and f"{path}/__init__.py" in census.stamps:
        own = "__init__.py"
    if own is None:
        return _namespace_at(census, path)
    module = census.module(f"{path}/{own}")
    name = "" if module is None else module.name if module.package else module.name.rpartition(".")[0]
    return name if _is_name(name) else ""


def _namespace_at(census: Census, path: str) -> str:
    """Return the name of the package that a folder without modules is by the packages in it; empty where it is none."""
    module = census.module(f"{path}/__init__.py") if path in census.around else None
    if module is None or not module.package or not _is_name(module.name):
        return ""
    parts = tuple(module.name.split("."))
    found = census.layout.prefixes(parts)
    return module.name if any(item.folder == path and item.length == len(parts) for item in found) else ""


@lru_cache(maxsize=4096)  # the same packages are there each time
def _is_name(name: str) -> bool:
    """Return whether a dotted name can be asked for."""
    if len(name) < 100 and name.isascii() and "__" not in name and all(map(str.isidentifier, name.split("."))):
        return True  # which nearly all are
    try:
        return bool(name) and not name.startswith("__init__") and bool(parse_name(name))
    except RequestError:
        return False


def _steps(components: Iterable[str]) -> _Steps:
    return [None if each == "**" else re.compile(translate(each)) for each in components]


def _fits(steps: _Steps, parts: Iterable[str]) -> bool:
    """Return whether components match; all places in the pattern advance together, so that many stars cost no time."""
    places = _reached(steps, {0})
    for part in parts:
        ahead: set[int] = set()
        for place in places:
            if place < len(steps):
                step = steps[place]
                if step is None:
                    ahead.add(place)
                elif step.match(part):
                    ahead.add(place + 1)
        places = _reached(steps, ahead)
    return len(steps) in places


def _reached(steps: _Steps, places: set[int]) -> set[int]:
    """Return places with those behind them that no component is needed for."""
    for place in sorted(places):
        while place < len(steps) and steps[place] is None:
            place += 1
            places.add(place)
    return places
