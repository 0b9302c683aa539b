"""The files of one folder below a root, as if nothing else were there.

    Part("/env/lib/python3.11/site-packages", "bae_source")      names begin with `bae_source.`, and that is all

Invariant: nothing beside the folder is read, listed or reported, whatever leads there.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from bae_source.project.files.port import Disk, Folder, Stamp


class Part(Disk):
    """The files of a folder.

    Parameters:
        root: the folder above it, absolute, from which paths are counted.
        name: what it is called there.
    """

    _name: str

    def __init__(self, root: Path, name: str) -> None:
        super().__init__(root)
        self._name = name

    def folder(self, path: str) -> Folder:
        """List a folder; the root has one folder in it."""
        if path and not self._is_in(path):
            return Folder(path, (), ())
        found = super().folder(path)
        return found if path else replace(found, folders=self.names(""), files=(), links=(), outside=())

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the entries of a folder, sorted."""
        return super().names(folder) if folder else tuple(each for each in super().names("") if each == self._name)

    def inside(self, path: str) -> str | None:
        """Return a path as one below the root, None where it lies elsewhere or beside the folder."""
        found = super().inside(path)
        return found if found is not None and self._is_in(found) else None

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of a file or a folder."""
        return super().stamp(path) if not path or self._is_in(path) else None

    def stamps(self, paths: Sequence[str]) -> Mapping[str, Stamp]:
        """Return the stamps of some files and folders, by path."""
        if all(not path or self._is_in(path) for path in paths):
            return super().stamps(paths)
        return super().stamps([path for path in paths if not path or self._is_in(path)])

    def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
        """Return the content of a file that a walk found, and the stamp that belongs to it; raise as `read` does."""
        if not self._is_in(path):
            raise FileNotFoundError(path)
        return super().read_stamped(path)

    def glance(self, path: str, size: int) -> bytes:
        """Return the content of a file that a walk found with a size; raise as `read` does."""
        if not self._is_in(path):
            raise FileNotFoundError(path)
        return super().glance(path, size)

    def _inside(self, path: str) -> str | None:
        full = super()._inside(path)
        part = os.path.join(self.root, self._name)  # noqa: PTH118 - as the root is text
        return full if full is not None and (full in (self.root, part) or full.startswith(part + os.sep)) else None

    def _is_in(self, path: str) -> bool:
        return path == self._name or path.startswith(f"{self._name}/")
