"""Files of our own beside those of the project: new content before it is put in place, old files after.

Each target has one such file, its *staged* file, named after the operation and the target's number; so a
later process finds it by the journal alone. It lies in the staging folder, or beside its target under a name that
begins with `TEMPORARY` where no rename leads from the one to the other: that is atomic within a file system only.

Invariants:
- what is created here has owner, mode and extended attributes of its model as far as the system lets us;
- what needs a folder is called inside `keeping`;
- nothing here is needed to recover: the journal has every content. It only makes taking back a matter of renames.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from bae_source.system.descriptors import FOLDER
from bae_source.transaction.disk.port import Disk
from bae_source.transaction.disk.targets import Attributes, Content, Parts
from bae_source.transaction.disk.walk import Walk, close_quietly

TEMPORARY = ".bae-source-"
_NOT_KEPT = {errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.ENODATA, errno.EINVAL}


class StagedFile(Struct, frozen=True):
    """A file of ours: in the staging folder, or beside its target in the project's folder of these components.

    Parameters:
        is_spare: whether it is a copy that we made, and never a file that was taken out.
    """

    name: str
    beside: Parts | None
    is_spare: bool = False


class Staging:
    """The files of ours of one transaction.

    Parameters:
        folder: a folder of ours.
        kept: a folder of ours, made when it is needed, for what must not be thrown away.
        tag: the operation's id; it keeps names of different operations apart.
    """

    def __init__(self, folder: Path, kept: Path, tag: str, walk: Walk, disk: Disk) -> None:
        self._folder = str(folder)
        self._kept = kept
        self._tag = tag
        self._walk = walk
        self._disk = disk

    def file_of(self, number: int, content: Content, *, beside: bool = False, spare: bool = False) -> StagedFile:
        """Name a target's file.

        Parameters:
            number: the target's, counted in the transaction.
            beside: whether it lies beside the target.
            spare: a second file of that target: a copy of the old one.
        """
        name = f"{self._tag}-{number}{'-old' if spare else ''}"
        return StagedFile(TEMPORARY + name, content.folder, spare) if beside else StagedFile(name, None, spare)

    def every(self, number: int, content: Content) -> tuple[StagedFile, ...]:
        """Name every file that a target may have, beside it or not."""
        return tuple(
            self.file_of(number, content, beside=beside, spare=spare)
            for beside in (False, True)
            for spare in (False, True)
        )

    def write(
        self, file: StagedFile, content: bytes, like: Attributes | None, *, time: bool, is_shut: bool = True
    ) -> int:
        """Create a file of ours with this content and return its descriptor; it is not durable yet.

        Parameters:
            like: the attributes that it gets; None for the system's defaults.
            time: whether it gets the time of modification too.
            is_shut: whether only its owner may read it before it has its mode.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = self._disk.open(file.name, flags, 0o600 if is_shut else 0o666, self.at(file))
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[self._disk.write(descriptor, rest) :]
            self._disk.write_out(descriptor)
            if like is not None:
                self._dress(descriptor, like, time=time)
        except BaseException:
            self._disk.close(descriptor)
            raise
        return descriptor

    def create(self, file: StagedFile, content: bytes, attributes: Attributes | None, *, time: bool) -> None:
        """Create a file of ours, durable, in place of one that a process before us may have left."""
        self.remove([file])
        descriptor = self.write(file, content, attributes, time=time)
        try:
            self._disk.fsync(descriptor)
        finally:
            self._disk.close(descriptor)

    def give_group(self, descriptor: int, folder: int) -> None:
        """Give a new file the group of its folder, where the folder says so and the file is created elsewhere."""
        status = self._disk.fstat(folder)
        if status.st_mode & stat.S_ISGID:
            self._own(descriptor, -1, status.st_gid)

    def give_owner(self, descriptor: int, owner: tuple[int, int]) -> None:
        """Give a file user and group as far as the system lets us; it gets its mode afterwards."""
        mine = self._disk.fstat(descriptor)
        if (mine.st_uid, mine.st_gid) != owner:
            self._own(descriptor, *owner)

    def give_mode(self, descriptor: int, mode: int, owner: tuple[int, int] | None) -> None:
        """Give a file permission bits; those that lend the rights of a user or group only if it has that owner."""
        if owner is not None and mode & (stat.S_ISUID | stat.S_ISGID):
            mine = self._disk.fstat(descriptor)
            mode &= ~(stat.S_ISUID * (mine.st_uid != owner[0]) | stat.S_ISGID * (mine.st_gid != owner[1]))
        self._disk.chmod(descriptor, mode)

    def ensure(self) -> None:
        """Make the staging folder, if it was removed.

        Raises:
            OSError: it cannot be made.
        """
        os.makedirs(self._folder, exist_ok=True)

    def device(self) -> int:
        """Return the device that the staging folder is on."""
        return self._disk.fstat(self._own_folder()).st_dev

    def keeping(self) -> Walk:
        """Return the context inside which folders are kept open, ours as well as the project's."""
        return self._walk.keeping()

    def at(self, file: StagedFile) -> int:
        """Return the descriptor of the folder that a file of ours lies in; valid inside `keeping`.

        Raises:
            OSError: it is not there.
        """
        return self._own_folder() if file.beside is None else self._walk.at(file.beside)

    def place(self, file: StagedFile) -> str:
        """Return the place of a file of ours, for a person who has to find it."""
        return f"{self._folder}/{file.name}" if file.beside is None else "/".join((*file.beside, file.name))

    def keep(self, file: StagedFile, name: str) -> str:
        """Move a file of ours, named for a person, to where nothing of ours removes it, and return the place.

        Where it cannot be moved, the place is where it is now.
        """
        self._kept.mkdir(exist_ok=True)
        target = f"{file.name.removeprefix(TEMPORARY)}-{name}"
        kept = self._disk.open(str(self._kept), FOLDER, 0, None)
        try:
            self._disk.rename(file.name, target, self.at(file), kept)
            self._disk.fsync(kept)
        finally:
            close_quietly(self._disk, kept)
        return f"{self._kept}/{target}"

    def remove(self, every: Iterable[StagedFile]) -> None:
        """Remove files of ours; each is tried twice, and one that stays is no reason to fail."""
        for file in every:
            if not self._is_gone(file):
                self._is_gone(file)

    def sweep(self) -> None:
        """Remove whatever lies in the staging folder; call it only while no transaction is under way."""
        with self.keeping():
            self.remove([StagedFile(name, None) for name in self._disk.names(self._own_folder())])

    def _is_gone(self, file: StagedFile) -> bool:
        try:
            self._disk.unlink(file.name, self.at(file))
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False
        return True

    def _own_folder(self) -> int:
        try:
            return self._walk.outside(self._folder)
        except FileNotFoundError:  # it was removed from outside
            self.ensure()
            return self._walk.outside(self._folder)

    def _dress(self, descriptor: int, attributes: Attributes, *, time: bool) -> None:
        self.give_owner(descriptor, attributes.owner)
        for name, value in attributes.extended.items():
            self._set_attribute(descriptor, name, value)
        self.give_mode(descriptor, stat.S_IMODE(attributes.mode), attributes.owner)
        if time:
            self._disk.utime(descriptor, attributes.accessed, attributes.modified)

    def _own(self, descriptor: int, user: int, group: int) -> None:
        """Set owner and group, or at least the group; only root may give a file away."""
        for wanted in dict.fromkeys((user, -1)):
            try:
                self._disk.chown(descriptor, wanted, group)
            except OSError as error:
                if error.errno not in _NOT_KEPT:
                    raise
                continue
            return

    def _set_attribute(self, descriptor: int, name: str, value: bytes) -> None:
        try:
            self._disk.set_attribute(descriptor, name, value)
        except OSError as error:
            if error.errno not in _NOT_KEPT:
                raise
