"""The data files of packages: what lies in a package's folder, or below it, and is no Python.

    pkg/__init__.py
    pkg/templates/page.html      ->   pkg:templates/page.html
    pkg/sub/__init__.py
    pkg/sub/table.csv            ->   pkg.sub:table.csv       the innermost package owns it

A package is a folder with an `__init__`, or one that holds modules and stands below a source root (PEP 420).

Invariants:
- what is ignored is left out, and a file that has gone meanwhile;
- nothing is read but the patterns that say what is ignored.
"""

from __future__ import annotations

from msgspec import Struct

from bae_source.project.census import PYTHON, STUB, Census
from bae_source.project.files import Folder
from bae_source.project.ignored import Patterns, is_ignored
from bae_source.project.workspace import Workspace

NO_DATA = (PYTHON, STUB, ".pyc", ".pyo", ".pyd")
"""What the names of Python's own files end in."""


class DataFile(Struct, frozen=True, order=True):
    """A file of a package that is no Python.

    Parameters:
        package: dotted name.
        inner: path inside the package's folder, with forward slashes.
        path: relative to the project's root.
        size: in bytes.
    """

    package: str
    inner: str
    path: str
    size: int

    def __str__(self) -> str:
        return f"{self.package}:{self.inner}"


def data_files(workspace: Workspace) -> tuple[DataFile, ...]:
    """Return the data files of every package, sorted by path."""
    census, files = workspace.census, workspace.files
    patterns = Patterns(files)
    owners: dict[str, tuple[str, str] | None] = {}
    found: dict[str, tuple[str, str]] = {}
    for path, names in sorted(census.folders.items()):
        owner = owners[path] = _owner(census, path, names, owners)
        folder = Folder(path, (), names)
        patterns.enter(folder)
        if owner is None:
            continue
        for name in names:
            file = f"{path}/{name}"
            if not name.endswith(NO_DATA) and not (patterns.may_exclude(folder, name) and is_ignored(files, file)):
                found[file] = owner
    return tuple(
        DataFile(found[file][0], file[len(found[file][1]) + 1 :], file, stamp.size)
        for file, stamp in files.stamps(sorted(found)).items()
    )


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
    """Return what `owner_of` does, where that of the folder around is known."""
    if not path:
        return None
    package = _package_at(census, path, names)
    return (package, path) if package else owners.get(path.rpartition("/")[0])


def _package_at(census: Census, path: str, names: tuple[str, ...]) -> str:
    """Return the name of the package that a folder is; empty where it is none."""
    own = next((name for name in names if name.endswith(PYTHON) and f"{path}/{name}" in census.stamps), None)
    if own is not None and f"{path}/__init__.py" in census.stamps:
        own = "__init__.py"
    module = census.module(f"{path}/{own}") if own is not None else None
    return "" if module is None else module.name if module.package else module.name.rpartition(".")[0]
