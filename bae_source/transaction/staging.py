"""Files of our own, durable before anything of the project changes: the new content, and copies of the old.

Invariants:
- they lie in the staging folder, or beside their target under a name that begins with `TEMPORARY` where the two are
  on different devices, because only within a device a rename is atomic;
- each carries owner, mode and extended attributes of its model as far as the system lets us.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from bae_source.transaction.disk import Disk
from bae_source.transaction.walk import Walk

TEMPORARY = ".bae-source-"
_NOT_KEPT = {errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.ENODATA, errno.EINVAL}


class Held(Struct, frozen=True):
    """A file of ours: in the staging folder, or beside its target in the project's folder of these components."""

    name: str
    beside: tuple[str, ...] | None


class Staging:
    """The files of ours of one transaction.

    Parameters:
        folder: an existing folder of ours, with nothing in it.
        tag: unique part of the names of files that have to lie beside their targets.
    """

    def __init__(self, folder: Path, tag: str, walk: Walk, disk: Disk) -> None:
        self._folder = folder
        self._tag = tag
        self._walk = walk
        self._disk = disk
        self._held: list[Held] = []

    def create(
        self, name: str, content: bytes, *, beside: tuple[str, ...] | None, model: int | None, time: bool
    ) -> Held:
        """Write a file of ours and make it durable.

        Parameters:
            beside: the target's folder, if it is on another device.
            model: descriptor of the file to take owner, mode and attributes from; None for the system's defaults.
            time: whether to take the time of modification too.
        """
        held = Held(name, None) if beside is None else Held(f"{TEMPORARY}{self._tag}-{name}", beside)
        with self.opened(held) as folder:
            self._held.append(held)
            mode = 0o666 if model is None else 0o600
            descriptor = self._disk.open(held.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode, folder)
            try:
                rest = memoryview(content)
                while rest:
                    rest = rest[self._disk.write(descriptor, rest) :]
                if model is not None:
                    self._dress(descriptor, model, time)
                self._disk.fsync(descriptor)
            finally:
                self._disk.close(descriptor)
        return held

    def other_device(self, folder: int) -> bool:
        """Say whether a folder is on another device than ours."""
        with self._opened_staging() as ours:
            return self._disk.fstat(ours).st_dev != self._disk.fstat(folder).st_dev

    def sync(self) -> None:
        """Make the names in the staging folder durable."""
        with self._opened_staging() as folder:
            self._disk.fsync(folder)

    @contextmanager
    def opened(self, held: Held) -> Iterator[int]:
        """Open the folder that a file of ours lies in."""
        if held.beside is None:
            with self._opened_staging() as folder:
                yield folder
        else:
            with self._walk.folder(held.beside) as folder:
                yield folder

    def place(self, held: Held) -> str:
        """Return where a file of ours lies, for a person who has to find it."""
        return str(self._folder / held.name) if held.beside is None else "/".join((*held.beside, held.name))

    def clean(self) -> None:
        """Remove every file of ours; what cannot be removed at the second try is left."""
        for _ in range(2):
            self._held = [held for held in self._held if not self._removed(held)]
        for _ in range(2):
            try:
                folder = self._disk.open(str(self._folder.parent), os.O_RDONLY | os.O_DIRECTORY, 0, None)
                try:
                    self._disk.rmdir(self._folder.name, folder)
                finally:
                    self._disk.close(folder)
            except OSError:
                continue  # something is left in it, or it is gone already
            return

    @contextmanager
    def _opened_staging(self) -> Iterator[int]:
        descriptor = self._disk.open(str(self._folder), os.O_RDONLY | os.O_DIRECTORY, 0, None)
        try:
            yield descriptor
        finally:
            self._disk.close(descriptor)

    def _removed(self, held: Held) -> bool:
        try:
            with self.opened(held) as folder:
                self._disk.unlink(held.name, folder)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def _dress(self, descriptor: int, model: int, time: bool) -> None:
        status = self._disk.fstat(model)
        self._set_owner(descriptor, status)
        self._set_attributes(descriptor, model)
        self._disk.chmod(descriptor, stat.S_IMODE(status.st_mode))
        if time:
            self._disk.utime(descriptor, status.st_atime_ns, status.st_mtime_ns)

    def _set_owner(self, descriptor: int, status: os.stat_result) -> None:
        """Keep owner and group, or at least the group; only root may give a file away."""
        mine = self._disk.fstat(descriptor)
        if (mine.st_uid, mine.st_gid) == (status.st_uid, status.st_gid):
            return
        for user in (status.st_uid, -1):
            try:
                self._disk.chown(descriptor, user, status.st_gid)
            except PermissionError:
                continue
            return

    def _set_attributes(self, descriptor: int, model: int) -> None:
        try:
            for name, value in self._disk.attributes(model).items():
                self._disk.set_attribute(descriptor, name, value)
        except OSError as error:
            if error.errno not in _NOT_KEPT:
                raise
