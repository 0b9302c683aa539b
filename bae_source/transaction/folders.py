"""The folders of the project that a change makes for new files, and those that it leaves without any.

Invariant: only an empty folder is ever removed, or one that holds nothing but compiled code of modules that are gone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence

from bae_source.transaction.disk import Disk
from bae_source.transaction.targets import Content, Parts
from bae_source.transaction.walk import Walk

_CACHE = "__pycache__"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY


def to_make(contents: Iterable[Content]) -> tuple[Parts, ...]:
    """Return the folders that these files need and that are not there, outer ones first."""
    found = {
        content.folder[:length]
        for content in contents
        if content.after is not None
        for length in range(len(content.folder) - content.missing + 1, len(content.folder) + 1)
    }
    return tuple(sorted(found, key=len))


class Folders:
    """Makes and removes folders of one project; call it while the walk keeps folders."""

    def __init__(self, walk: Walk, disk: Disk) -> None:
        self._walk = walk
        self._disk = disk

    def make(self, parts: Parts, *, missing: int) -> None:
        """Make a folder, and of those above it the last `missing`, unless they are there."""
        for length in range(len(parts) - missing + 1, len(parts) + 1):
            try:
                self._disk.mkdir(parts[length - 1], self._walk.at(parts[: length - 1]))
            except FileExistsError:
                continue

    def sync(self, parts: Parts) -> None:
        """Make the names in a folder durable."""
        self._disk.fsync(self._walk.at(parts))

    def remove_made(self, made: Sequence[Parts]) -> None:
        """Remove folders that were made, where they are empty; what cannot be removed is left."""
        for parts in reversed(made):
            self._remove(parts)

    def remove_emptied(self, contents: Iterable[Content]) -> None:
        """Remove folders that the deletion of their last file left empty; what cannot be removed is left."""
        deleted = dict.fromkeys(content.folder for content in contents if content.after is None)
        above = {folder[:length] for folder in deleted for length in range(1, len(folder) + 1)}
        for parts in sorted(above, key=len, reverse=True):
            self._remove_compiled(parts)
            self._remove(parts)

    def _remove(self, parts: Parts) -> None:
        for _ in range(2):
            try:
                folder = self._walk.at(parts[:-1])
                self._disk.rmdir(parts[-1], folder)
                self._disk.fsync(folder)
            except OSError:
                continue  # not empty, or gone already, or it is worth another try
            return

    def _remove_compiled(self, parts: Parts) -> None:
        """Empty a folder in which nothing is left but compiled code: it would still be a package to an import."""
        try:
            if self._disk.names(self._walk.at(parts)) != [_CACHE]:
                return
            folder = self._walk.at((*parts, _CACHE))
            names = self._disk.names(folder)
            if not all(self._is_compiled(name, folder) for name in names):
                return
            for name in names:
                self._disk.unlink(name, folder)
            self._remove((*parts, _CACHE))
        except OSError:
            return  # gone, or not ours to remove

    def _is_compiled(self, name: str, folder: int) -> bool:
        return name.endswith(".pyc") and stat.S_ISREG(self._disk.lstat(name, folder).st_mode)
