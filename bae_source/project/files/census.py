"""Every Python file of a project, found by one walk, and the module that each one is.

    census = census_of(files, layout)   (files.walk)
    census.modules                      every module, sorted by path
    census.module("pkg/core.py")        the module that a file is
    census.find("pkg.core")             the files that an absolute import could mean

Invariants:
- ignored files are left out, and no file is listed twice: the walk ensures both;
- a census says what there is, not what is in it, and never changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from bae_source.model.plan import ModuleFile
from bae_source.project.files.layout import Layout
from bae_source.project.files.stamps import Mark, Stamp, mark_of, written

PYTHON = ".py"
STUB = ".pyi"
WINDOWED = ".pyw"
"""Ending of files that are modules on Windows alone."""
NOTEBOOK = ".ipynb"
SERVED = ".wsgi"
"""Ending of files that a web server runs as Python."""
_PROGRAMS = (NOTEBOOK, SERVED)


class Census:
    """The Python files of a project.

    Parameters:
        layout: the source roots.
        stamps: the stamp of every `.py` and `.pyi` file, by path.
        folders: every folder that was visited, with the names of the files in it.
        closed: those of them that may not be listed, so that their content is not known.
        outside: paths of Python files that are not read: behind links out of the project, and `.pyw` files.
        settings: folders below the root that hold a pyproject.toml.

    Attributes:
        of_names: what was worked out from the names of folders and files, the layout, and what is ignored, by what it
            is; censuses share it that differ in stamps alone.
    """

    def __init__(
        self,
        layout: Layout,
        stamps: Mapping[str, Stamp],
        folders: Mapping[str, tuple[str, ...]],
        closed: tuple[str, ...] = (),
        outside: tuple[str, ...] = (),
        settings: tuple[str, ...] = (),
    ) -> None:
        self.layout = layout
        self.stamps = stamps
        self.folders = folders
        self.closed = closed
        self.outside = outside
        self.settings = settings
        self.of_names: dict[object, object] = {}
        self._modules: dict[str, ModuleFile | None] = {}

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Paths of the `.py` files, sorted."""
        return tuple(sorted([path for path in self.stamps if path.endswith(PYTHON)]))

    @cached_property
    def stubs(self) -> tuple[str, ...]:
        """Paths of the `.pyi` files, sorted."""
        return tuple(sorted([path for path in self.stamps if path.endswith(STUB)]))

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Paths of the `.py` and the `.pyi` files, sorted: whatever names code."""
        return tuple(sorted(self.stamps))

    @cached_property
    def programs(self) -> tuple[str, ...]:
        """Paths of the files that may be programs without being modules, sorted; see `files.programs`."""
        found = [
            f"{folder}/{name}".lstrip("/")
            for folder, names in self.folders.items()
            for name in names
            if "." not in name or name.endswith(_PROGRAMS)
        ]
        return tuple(sorted(found))

    @cached_property
    def around(self) -> frozenset[str]:
        """The folders that hold a `.py` file somewhere below them."""
        found: set[str] = set()
        for path in self.paths:
            folder = path.rpartition("/")[0]
            while folder and folder not in found:
                found.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(found)

    @cached_property
    def deepest(self) -> int:
        """Return the largest number of components in the name of a module."""
        moved = max((name.count(".") + 1 for name in self.layout.packages), default=0)
        return moved + 1 + max((path.count("/") for path in self.stamps), default=0)

    @cached_property
    def mark(self) -> Mark:
        """Return the mark that kept facts of the same `sources` with the same stamps have."""
        return mark_of(written(self.sources, self.stamps))

    @cached_property
    def modules(self) -> tuple[ModuleFile, ...]:
        """Every module, sorted by path."""
        return tuple(module for path in self.paths if (module := self.module(path)))

    def module(self, path: str) -> ModuleFile | None:
        """Return the module that a file is; None where it has no name that could be imported."""
        if path not in self._modules:
            self._modules[path] = self.layout.module_at(path.removesuffix("w"))  # as if it were one everywhere
        return self._modules[path]

    def find(self, name: str) -> list[str]:
        """Return the paths of the files that an absolute import of `name` could mean, by the order of the roots."""
        inner = name.replace(".", "/")
        found = [path for root in self.layout.roots for path in self._at(f"{root}/{inner}" if root else inner)]
        for package, folder in self.layout.packages.items():
            if name == package or name.startswith(f"{package}."):
                found += self._at(folder + name[len(package) :].replace(".", "/"))
        return list(dict.fromkeys(found))

    def beside(self, folder: str, name: str) -> list[str]:
        """Return the paths of the files that `name`, seen from the package in `folder`, could mean."""
        inner = name.replace(".", "/")
        return self._at("/".join(part for part in (folder, inner) if part))

    def _at(self, stem: str) -> list[str]:
        """Return the package's file and the module's file at a path without ending; a package comes first."""
        return [path for path in (f"{stem}/__init__.py", f"{stem}.py") if path in self.stamps]
