"""The files that a change is about: their content and attributes, and whether they may be written at all.

Invariants:
- a link is never a target: what it leads to is, inside the project only;
- a file that has other names (hard links) is refused: a rename would cut them off, and writing in place could not be
  taken back;
- a file or folder without its owner's write permission is refused, also for root; so is what is no regular file.
"""

from __future__ import annotations

import errno
import os
import stat

from msgspec import Struct, field

from bae_source.errors import Refused
from bae_source.transaction.disk.names import Speak
from bae_source.transaction.disk.port import Disk
from bae_source.transaction.disk.walk import Reached, Walk

_CHUNK = 1 << 20
_READ, _RUN = 0o444, 0o111
_NO_FILES = {errno.ELOOP, errno.EMLINK, errno.ENXIO}  # a link, on some systems by the second name; a socket
Parts = tuple[str, ...]


class Attributes(Struct, frozen=True, kw_only=True):
    """The attributes of a file beside its content.

    Parameters:
        inode: device and number, which tell whether it is the same file still.
        accessed, modified: nanoseconds.
        extended: the extended attributes; `attributes` in the journal.
    """

    inode: tuple[int, int]
    mode: int
    user: int
    group: int
    accessed: int
    modified: int
    extended: dict[str, bytes] = field(default_factory=dict, name="attributes")

    @property
    def owner(self) -> tuple[int, int]:
        """User and group."""
        return self.user, self.group

    def are_of(self, status: os.stat_result) -> bool:
        """Return whether mode and owner are still these."""
        return (self.mode, self.user, self.group) == (status.st_mode, status.st_uid, status.st_gid)


class Content(Struct, frozen=True, kw_only=True):
    """The content of a file before and after; None where there is no file.

    Parameters:
        path: project-relative, as planned.
        parts: where it leads, without links.
        missing: how many of the folders above it have to be created.
        name: what it is called in messages.
        link: whether the path is a link itself.
        attributes: `looks` in the journal; of a file that was moved here, those that it had there; None of a new one.
        mode: permission bits that it is to have; None for those of `attributes`, or the usual ones.
        owner: likewise user and group.
        anew: whether it gets the attributes of a new file, and not those of the one that it replaces.
        edited: whether it is moved here with another content, so that it has been written now.
        runs: whether a new file can be run by those who may read it.
    """

    path: str
    parts: Parts
    missing: int = 0
    name: str = ""
    link: bool = False
    before: bytes | None
    after: bytes | None = None
    attributes: Attributes | None = field(default=None, name="looks")
    mode: int | None = None
    owner: tuple[int, int] | None = None
    anew: bool = False
    edited: bool = False
    runs: bool | None = None

    @property
    def model(self) -> Attributes | None:
        """Return the attributes that the written file is to have, but for `mode` and `owner`; None for a new one."""
        return None if self.anew else self.attributes

    @property
    def intended(self) -> tuple[int, int] | None:
        """User and group of the file that is written; None for those of a new one."""
        return self.owner or (self.model.owner if self.model else None)

    @property
    def folder(self) -> Parts:
        """The folder that it lies in."""
        return self.parts[:-1]


class Found(Struct, frozen=True, kw_only=True):
    """The thing that lies at a name now.

    Parameters:
        status: None if nothing does.
        content: None if nothing does, or no regular file.
    """

    status: os.stat_result | None = None
    content: bytes | None = None

    def holds(self, wanted: bytes | None) -> bool:
        """Return whether it is a file with this content; None for no file at all."""
        return self.status is None if wanted is None else self.content == wanted

    def is_as_read(self, content: Content) -> bool:
        """Return whether it is as it was read: content, mode and owner, and no second name (hard link)."""
        if not self.holds(content.before):
            return False
        if content.before is None or self.status is None or content.attributes is None:
            return True
        return content.attributes.are_of(self.status) and self.status.st_nlink == 1

    def is_file(self, read: Attributes | None) -> bool:
        """Return whether it is that very file, whatever it holds."""
        return read is not None and self.status is not None and read.inode == (self.status.st_dev, self.status.st_ino)

    def is_same(self, other: Found) -> bool:
        """Return whether the two are names of one file."""
        mine, its = self.status, other.status
        return mine is not None and its is not None and (mine.st_dev, mine.st_ino) == (its.st_dev, its.st_ino)


def look(disk: Disk, name: str, folder: int) -> Found:
    """Return the file at a name in a folder."""
    try:
        descriptor = disk.open(name, os.O_RDONLY, 0, folder)
    except FileNotFoundError:
        return Found()
    except OSError as error:
        if error.errno not in _NO_FILES:
            raise
        return Found(status=disk.lstat(name, folder))
    try:
        status = disk.fstat(descriptor)
        content = read_all(disk, descriptor, status.st_size) if stat.S_ISREG(status.st_mode) else None
        return Found(status=status, content=content)
    finally:
        disk.close(descriptor)


def runnable(mode: int, *, may: bool) -> int:
    """Return permission bits by which all who may read a file may run it as well, or none."""
    return mode | (mode & _READ) >> 2 if may else mode & ~_RUN


def read_target(walk: Walk, disk: Disk, speak: Speak, path: str) -> Content:
    """Read what stands at `path`, as `before`, having made sure that it can be written; the walk keeps folders.

    Raises:
        Refused: it may not or cannot be written.
        OSError: the disk failed.
    """
    name, reached = speak(path), walk.reach(path)
    folder, depth = nearest_folder(walk, reached.parts[:-1])
    _check_folder(disk, folder, name)
    if reached.status is not None:
        return _read(disk, folder, path, name, reached)
    if reached.link:
        raise Refused("unsafe_change", f"{name} is a link that leads to nothing.", hints=["Remove the link first."])
    missing = len(reached.parts) - 1 - depth
    return Content(path=path, parts=reached.parts, missing=missing, name=name, before=None)


def _read(disk: Disk, folder: int, path: str, name: str, reached: Reached) -> Content:
    assert reached.status is not None
    _check_file(reached.status, writable=disk.access(reached.parts[-1], folder), name=name)
    descriptor = disk.open(reached.parts[-1], os.O_RDONLY, 0, folder)
    try:
        status = disk.fstat(descriptor)
        return Content(
            path=path,
            parts=reached.parts,
            name=name,
            link=reached.link,
            before=read_all(disk, descriptor, status.st_size),
            attributes=_attributes_of(disk, descriptor, status),
        )
    finally:
        disk.close(descriptor)


def _attributes_of(disk: Disk, descriptor: int, status: os.stat_result) -> Attributes:
    return Attributes(
        inode=(status.st_dev, status.st_ino),
        mode=status.st_mode,
        user=status.st_uid,
        group=status.st_gid,
        accessed=recordable(status.st_atime_ns),
        modified=recordable(status.st_mtime_ns),
        extended=disk.attributes(descriptor),
    )


def recordable(moment: int) -> int:
    """Return a moment in nanoseconds since the epoch, or the nearest to it that can be encoded: 1678 to 2554."""
    return min(max(moment, -(2**63)), 2**64 - 1)


def read_all(disk: Disk, descriptor: int, size: int) -> bytes:
    """Read a file to its end.

    Parameters:
        size: its size by `fstat`; if the first call brings just that, though it asks for more, there is no more.
    """
    chunks = [disk.read(descriptor, size + 1)]
    if len(chunks[0]) == size:
        return chunks[0]
    while chunk := disk.read(descriptor, _CHUNK):
        chunks.append(chunk)
    return b"".join(chunks)


def nearest_folder(walk: Walk, parts: Parts) -> tuple[int, int]:
    """Return the folder, or the nearest one above it that exists, and how many of the parts it has; while `keeping`."""
    for depth in range(len(parts), 0, -1):
        try:
            return walk.at(parts[:depth]), depth
        except FileNotFoundError:
            continue
    return walk.at(()), 0


def _check_folder(disk: Disk, folder: int, name: str) -> None:
    if not disk.fstat(folder).st_mode & stat.S_IWUSR or not disk.access(".", folder):
        raise Refused(
            "forbidden",
            f"The folder of {name} is read-only.",
            hints=["Make the folder writable if the file may be changed."],
        )


def _check_file(status: os.stat_result, *, writable: bool, name: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Refused("forbidden", f"{name} is no regular file.", hints=["Replace it by a regular file first."])
    if not status.st_mode & stat.S_IWUSR or not writable:
        raise Refused("forbidden", f"{name} is read-only.", hints=["Make the file writable if it may be changed."])
    if status.st_nlink > 1:
        raise Refused(
            "unsafe_change",
            f"{name} has {status.st_nlink} names (hard links), and changing it would cut the others off.",
            hints=["Replace the hard link by a copy or a symbolic link first."],
        )
