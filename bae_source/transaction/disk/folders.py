"""The folders of the project that a change makes for new files, and those that it leaves without any.

Invariants:
- only an empty folder is ever removed, or one that holds nothing but compiled code of modules that are gone;
- a folder that is made never lets others do more, not even for a moment, than it shall in the end; its owner may always
  do all, since what is made has to be taken back if the change fails.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bae_source.model.changeset import ChangeSet
from bae_source.transaction.disk.port import Disk
from bae_source.transaction.disk.targets import Content, Parts
from bae_source.transaction.disk.walk import Walk

CACHE = "__pycache__"
"""The folder in which Python keeps compiled code, beside the modules."""
_USUAL = 0o777  # less what the process's mask takes away


def to_make(contents: Iterable[Content]) -> tuple[Parts, ...]:
    """Return the folders that these files need and that are not there, outer ones first."""
    found = {
        content.folder[:length]
        for content in contents
        if content.after is not None
        for length in range(len(content.folder) - content.missing + 1, len(content.folder) + 1)
    }
    return tuple(sorted(found, key=len))


def modes_above(content: Content, walk: Walk, disk: Disk) -> dict[str, int]:
    """Return the permission bits of the folders above a file, by path; the walk keeps folders.

    Raises:
        OSError: one of them is not there any more, or the disk failed.
    """
    return {_path(parts): stat.S_IMODE(disk.fstat(walk.at(parts)).st_mode) for parts in _above(content)}


def modes_to_give(changes: ChangeSet, contents: Iterable[Content], left: Mapping[str, int]) -> dict[str, int]:
    """Return the permission bits that folders shall have if they are made, by path.

    They are what the changes ask for; else, above a file that was moved, those of the folder as far above the place
    that it left.

    Parameters:
        left: the bits of the folders above files that are deleted.
    """
    found = {content.path: content for content in contents}
    given: dict[str, int] = {}
    for change in changes.files:
        if change.origin is None or change.origin not in found:
            continue
        for new, old in zip(_above(found[change.path]), _above(found[change.origin]), strict=False):
            if _path(old) in left:
                given.setdefault(_path(new), left[_path(old)])
    return given | dict(changes.folders)


def compiled_in(parts: Parts, walk: Walk, disk: Disk) -> list[str] | None:
    """Return the names of the compiled code of a folder's modules; None if something else lies among it.

    Raises:
        OSError: there is none, or the disk failed.
    """
    folder = walk.at((*parts, CACHE))
    names = disk.names(folder)
    are_compiled = (name.endswith(".pyc") and stat.S_ISREG(disk.lstat(name, folder).st_mode) for name in names)
    return names if all(are_compiled) else None


class Folders:
    """Makes and removes folders of one project; call it while the walk keeps folders.

    Parameters:
        modes: permission bits of folders that may have to be made, by path; others get the usual ones.
    """

    def __init__(self, walk: Walk, disk: Disk, modes: Mapping[str, int]) -> None:
        self._walk = walk
        self._disk = disk
        self._modes = modes

    def make(self, parts: Parts, *, missing: int) -> None:
        """Make a folder, and of those above it the last `missing`, unless they are there."""
        for length in range(len(parts) - missing + 1, len(parts) + 1):
            mode = self._modes.get(_path(parts[:length]))
            try:
                usual = _USUAL if mode is None else mode & _USUAL
                self._disk.mkdir(parts[length - 1], self._walk.at(parts[: length - 1]), usual | stat.S_IRWXU)
            except FileExistsError:
                continue
            if mode is not None:
                self._give(parts[:length], mode | stat.S_IRWXU)

    def sync(self, parts: Parts) -> None:
        """Make the names in a folder durable."""
        self._disk.fsync(self._walk.at(parts))

    def remove_new(self, new: Sequence[Parts]) -> None:
        """Remove folders that were made, where they are empty; what cannot be removed is left."""
        for parts in reversed(new):
            self._remove(parts)

    def remove_emptied(self, contents: Iterable[Content]) -> None:
        """Remove folders that the deletion of their last file left empty; what cannot be removed is left."""
        deleted = {content.folder for content in contents if content.after is None}
        above = {folder[:length] for folder in deleted for length in range(1, len(folder) + 1)}
        for parts in sorted(above, key=len, reverse=True):
            self._remove_compiled(parts)
            self._remove(parts)

    def _give(self, parts: Parts, mode: int) -> None:
        """Give a folder that was made just now the bits that the process's mask, or the folder above, did not."""
        folder = self._walk.at(parts)
        if stat.S_IMODE(self._disk.fstat(folder).st_mode) != mode:
            self._disk.chmod(folder, mode)

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
            if self._disk.names(self._walk.at(parts)) != [CACHE]:
                return
            for name in compiled_in(parts, self._walk, self._disk) or ():
                self._disk.unlink(name, self._walk.at((*parts, CACHE)))
            self._remove((*parts, CACHE))
        except OSError:
            return  # gone, or not ours to remove


def _above(content: Content) -> Iterator[Parts]:
    """Yield the folders above a file, inner ones first, without the project's own."""
    return (content.folder[:length] for length in range(len(content.folder), 0, -1))


def _path(parts: Parts) -> str:
    return "/".join(parts)
