"""The planned text of modules, found by imports of this process while a change is loaded that is not yet written.

    app.core is loaded again and imports app.new, which the change creates      app.new is made of the planned text
    app/__init__.py goes, app/other.py stays                                    app is a namespace package

Invariants:
- only this process's own imports see it, by name, and only while it is in use;
- a module that was found here knows itself afterwards as if it had been loaded from its file.
"""

from __future__ import annotations

import importlib.util
import linecache
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

from bae_source.model.plan import ModuleFile

Planned = Sequence[tuple[ModuleFile, bytes | None]]
"""Changed modules, each with its planned text; None for one that goes."""


class PlannedFinder(MetaPathFinder):
    """Finds changed modules as they are planned.

    Parameters:
        root: the project's folder.
        planned: the changed modules; of several files of one module the one that stays counts.
    """

    def __init__(self, root: Path, planned: Planned) -> None:
        self._sources = {
            module.name: (root / module.path, source, module.package)
            for module, source in planned
            if source is not None and module.path.endswith(".py")
        }
        self._gone = {
            module.name: root / module.path
            for module, source in planned
            if source is None and module.name not in self._sources and module.path.endswith(".py")
        }
        self._folders = dict(_new_folders(self._sources))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let imports see the planned text until the context ends; tracebacks and `inspect` quote it, too."""
        sys.meta_path.insert(0, self)
        for file, source, _ in self._sources.values():
            with suppress(SyntaxError, UnicodeDecodeError):
                lines = StringIO(importlib.util.decode_source(source)).readlines()
                linecache.cache[str(file)] = (len(source), None, lines, str(file))
        try:
            yield
        finally:
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
            for file, _, _ in self._sources.values():
                linecache.cache.pop(str(file), None)

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        """Find a module that changes.

        Raises:
            ModuleNotFoundError: it goes, and nothing of it stays.
        """
        if fullname in self._sources:
            file, source, package = self._sources[fullname]
            loader = _Loader(fullname, str(file), source)
            folders = [str(file.parent)] if package else None
            return importlib.util.spec_from_file_location(
                fullname, file, loader=loader, submodule_search_locations=folders
            )
        folder = self._folders.get(fullname) or self._left_of(fullname)
        if folder is not None:
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = [str(folder)]
            return spec
        if fullname in self._gone:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None

    def _left_of(self, name: str) -> Path | None:
        """Return the folder of a package whose `__init__` goes, if other files stay in it."""
        file = self._gone.get(name)
        if file is None or file.name != "__init__.py":
            return None
        going = {str(each) for each in self._gone.values()}
        stays = (each for each in os.scandir(file.parent) if each.name != "__pycache__" and each.path not in going)
        return file.parent if any(stays) else None


class _Loader(SourceFileLoader):
    """Loads a module of text in memory."""

    def __init__(self, fullname: str, path: str, source: bytes) -> None:
        super().__init__(fullname, path)
        self._source = source

    def get_data(self, path: str) -> bytes:
        return self._source if path == self.path else super().get_data(path)

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self._source, self.get_filename(fullname))

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        plain = SourceFileLoader(self.name, self.path)
        module.__loader__ = plain
        if module.__spec__ is not None:
            module.__spec__.loader = plain


def _new_folders(sources: dict[str, tuple[Path, bytes, bool]]) -> Iterator[tuple[str, Path]]:
    """Yield the packages without an `__init__` that a change makes, each with its folder."""
    for name, (file, _, package) in sources.items():
        folder = file.parent.parent if package else file.parent
        parent = name.rpartition(".")[0]
        while parent and parent not in sources and not folder.is_dir():
            yield parent, folder
            parent, folder = parent.rpartition(".")[0], folder.parent
