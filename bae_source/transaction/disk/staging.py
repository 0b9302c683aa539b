"""Files of our own beside those of the project: new content before it is put in place, old files after.

Each target has one such file, its *held* file, whose name follows from the operation and from the target's number; so a
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
from bae_source.transaction.disk.targets import Content, Looks, Parts
from bae_source.transaction.disk.walk import Walk, close_quietly

TEMPORARY = ".bae-source-"
_NOT_KEPT = {errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.ENODATA, errno.EINVAL}


class Held(Struct, frozen=True):
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

    def held(self, number: int, content: Content, *, beside: bool = False, spare: bool = False) -> Held:
        """Name a target's file.

        Parameters:
            number: the target's, counted in the transaction.
            beside: whether it lies beside the target.
            spare: a second file of that target: a copy of the old one.
        """
        name = f"{self._tag}-{number}{'-old' if spare else ''}"
        return Held(TEMPORARY + name, content.folder, spare) if beside else Held(name, None, spare)

    def every(self, number: int, content: Content) -> tuple[Held, ...]:
        """Name every file that a target may have, beside it or not."""
        return tuple(
            self.held(number, content, beside=beside, spare=spare)
            for beside in (False, True)
            for spare in (False, True)
        )

    def write(self, held: Held, content: bytes, looks: Looks | None, *, time: bool, is_shut: bool = True) -> int:
        """Create a file of ours with this content and return its descriptor; it is not durable yet.

        Parameters:
            looks: what it is to look like; None for the system's defaults.
            time: whether it gets the time of modification too.
            is_shut: whether nobody but its owner may look into it before it has its mode.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = self._disk.open(held.name, flags, 0o600 if is_shut else 0o666, self.at(held))
        try:
            rest = memoryview(content)
            while rest:
                rest = rest[self._disk.write(descriptor, rest) :]
            self._disk.write_out(descriptor)
            if looks is not None:
                self._dress(descriptor, looks, time=time)
        except BaseException:
            self._disk.close(descriptor)
            raise
        return descriptor

    def create(self, held: Held, content: bytes, looks: Looks | None, *, time: bool) -> None:
        """Create a file of ours, durable, in place of one that a process before us may have left."""
        self.remove([held])
        descriptor = self.write(held, content, looks, time=time)
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
        """Make the staging folder, if somebody has removed it.

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

    def at(self, held: Held) -> int:
        """Return the descriptor of the folder that a file of ours lies in; valid inside `keeping`.

        Raises:
            OSError: it is not there.
        """
        return self._own_folder() if held.beside is None else self._walk.at(held.beside)

    def place(self, held: Held) -> str:
        """Return where a file of ours lies, for a person who has to find it."""
        return f"{self._folder}/{held.name}" if held.beside is None else "/".join((*held.beside, held.name))

    def keep(self, held: Held, name: str) -> str:
        """Move a file of ours, named for a person, to where nothing of ours removes it, and return the place.

        Where it cannot be moved, the place is where it is now.
        """
        self._kept.mkdir(exist_ok=True)
        target = f"{held.name.removeprefix(TEMPORARY)}-{name}"
        kept = self._disk.open(str(self._kept), FOLDER, 0, None)
        try:
            self._disk.rename(held.name, target, self.at(held), kept)
            self._disk.fsync(kept)
        finally:
            close_quietly(self._disk, kept)
        return f"{self._kept}/{target}"

    def remove(self, every: Iterable[Held]) -> None:
        """Remove files of ours; each is tried twice, and one that stays is no reason to fail."""
        for held in every:
            if not self._is_gone(held):
                self._is_gone(held)

    def sweep(self) -> None:
        """Remove whatever lies in the staging folder; call it only while no transaction is under way."""
        with self.keeping():
            self.remove([Held(name, None) for name in self._disk.names(self._own_folder())])

    def _is_gone(self, held: Held) -> bool:
        try:
            self._disk.unlink(held.name, self.at(held))
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False
        return True

    def _own_folder(self) -> int:
        try:
            return self._walk.outside(self._folder)
        except FileNotFoundError:  # somebody has removed it
            self.ensure()
            return self._walk.outside(self._folder)

    def _dress(self, descriptor: int, looks: Looks, *, time: bool) -> None:
        self.give_owner(descriptor, looks.owner)
        for name, value in looks.attributes.items():
            self._set_attribute(descriptor, name, value)
        self.give_mode(descriptor, stat.S_IMODE(looks.mode), looks.owner)
        if time:
            self._disk.utime(descriptor, looks.accessed, looks.modified)

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
