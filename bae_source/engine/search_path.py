"""The search path of code that a session runs: the project's modules, and the packages installed for it.

A session's worker is always our own Python: the project's may lack what we need or have it in another version, and no
program that a project names is started only because a session is opened. So the project comes to us: its source roots,
and the packages of its environment where that has our minor version, as compiled ones ask for.

    /repo/src, /repo                                        the source roots, as `project.files.layout` knows them
    /repo/.venv/lib/python3.12/site-packages                if we are 3.12 as well
    /other/pkg                                              a folder that a line of a `.pth` file there names

Invariants:
- nothing is imported or run: folders are listed, and the beginning of small text files is read;
- where installed packages come from is one sentence, and so are the modules of the project that its own code would
  import and ours does not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.text import listed
from bae_source.project.files.layout import Layout
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.installed import environment_settings, package_folders, python_version
from bae_source.reloading.child.interpreter import Interpreter
from bae_source.system.own_files import beginning_of

_VERSION = ".".join(map(str, sys.version_info[:2]))
_FOLDER = f"python{_VERSION}{getattr(sys, 'abiflags', '')}"
"""Name of the folder around packages that this Python can load."""
_LONGEST_LINES = 1 << 16
"""Bytes that are read of a `.pth` file."""
_MOST_FILES = 200


class SearchPath(Struct, frozen=True, kw_only=True):
    """Folders in which the project's code finds modules.

    Parameters:
        roots: the project's own, absolute.
        packages: of packages installed for it, where this process can load them.
        installed: where installed packages come from, in one sentence.
        notices: facts to know before anything is imported.
    """

    roots: tuple[str, ...]
    packages: tuple[str, ...] = ()
    installed: str
    notices: tuple[str, ...] = ()


def search_path(
    workspace: Workspace, root: Path, interpreter: Callable[[], Interpreter], ours: Collection[str]
) -> SearchPath:
    """Return where a project's code finds modules, as far as this process can load them.

    Parameters:
        root: the project's folder.
        interpreter: returns the project's.
        ours: top-level names that mean modules of ours in this process, whatever the project has.
    """
    own = f"Installed packages are those of bae_source's own Python {_VERSION}"
    try:
        layout = workspace.layout
        found = interpreter()
    except ResourceError as error:  # requests are answered with it, too
        notice = f"only from the project's folder, and what bae_source itself has: {error.message}"
        return SearchPath(roots=(str(root),), installed=own, notices=(notice,))
    packages, why_not = _packages(found)
    notices = [f"{own}, since {why_not}."] if why_not else []
    if names := [*_hidden(layout, root, ours)]:
        notices.append(f"import {listed(names)} finds a module of Python's or bae_source's own, not the project's.")
    return SearchPath(
        roots=tuple(dict.fromkeys(str(root / folder) for folder in _folders(layout))),
        packages=tuple(packages),
        installed=f"Installed packages are those of the project's environment ({found.origin})" if packages else own,
        notices=tuple(notices),
    )


def _folders(layout: Layout) -> Iterator[str]:
    """Yield the source roots, and the folders around packages that lie elsewhere and have their own name there."""
    yield from layout.roots
    for name, folder in layout.packages.items():
        end = name.replace(".", "/")
        if f"/{folder}".endswith(f"/{end}"):
            yield folder.removesuffix(end).rstrip("/")


def _packages(interpreter: Interpreter) -> tuple[list[str], str]:
    """Return the folders of packages of an environment; where this Python cannot use them, none, and the reason."""
    if interpreter.path == sys.executable:
        return [], ""
    home = Path(interpreter.path).parent.parent
    settings = environment_settings(home) if home.is_absolute() else None
    if settings is None:
        return (
            [],
            f"{interpreter.origin} is no virtual environment, so that its packages are unknown without running it",
        )
    pythons = [interpreter.path]
    if settings.get("include-system-site-packages", "").lower() == "true":
        pythons.append(str(Path(settings.get("home", "")) / "python"))
    folders = [each for python in pythons for each in package_folders(python) if Path(each).parent.name == _FOLDER]
    if not folders:
        other = f"Python {version}" if (version := python_version(interpreter.path)) else "another Python"
        return [], f"the project's environment ({interpreter.origin}) is of {other}"
    return [*folders, *(path for each in folders for path in _named_in(Path(each)))], ""


def _named_in(packages: Path) -> Iterator[str]:
    """Yield the folders that lines of `.pth` files name, as editable installs have them; lines of code are not run."""
    with suppress(OSError):
        for file in sorted(packages.glob("*.pth"))[:_MOST_FILES]:
            with suppress(OSError):
                for line in beginning_of(file, _LONGEST_LINES).decode("utf-8", "replace").splitlines():
                    path = packages / line.strip()
                    if line.strip() and not line.startswith(("#", "import ", "import\t")) and path.is_dir():
                        yield os.path.normpath(path)


def _hidden(layout: Layout, root: Path, ours: Collection[str]) -> Iterator[str]:
    """Yield the names of the project's modules that mean other ones here."""
    files = layout.files
    for folder in layout.roots:
        for entry in files.names(folder):
            name = entry.removesuffix(".py")
            if name not in ours:
                continue
            path = f"{folder}/{name}" if folder else name
            module = layout.module_at(f"{path}.py" if entry.endswith(".py") else f"{path}/__init__.py")
            if module is None or not module.import_checked or files.kind(module.path) is None:
                continue
            if _is_found_elsewhere(name, root / module.path):
                yield name


def _is_found_elsewhere(name: str, file: Path) -> bool:
    """Return whether a top-level module is found here, and is not that file; a name may be that of another system's."""
    spec = PathFinder.find_spec(name)
    is_file = spec is not None and os.path.realpath(spec.origin or "") == os.path.realpath(file)
    return name in sys.builtin_module_names or (spec is not None and not is_file)
