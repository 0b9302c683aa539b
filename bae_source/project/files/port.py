"""The port through which a project's files are read, and the disk behind it.

Paths are relative to the project's root, with forward slashes; "" is the root. Nothing outside the root is ever read:
a link that leads out of it is named, and treated as absent.

Invariants:
- only what is a regular file is read, and nothing that is opened can make us wait;
- no more than `LARGEST` is read at once: of a larger file nothing could be parsed, and it may be one without an end;
- a file that grows meanwhile is read to its end, and one that is written meanwhile is read again.
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from operator import attrgetter
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from bae_source.errors import Refused, SourceError
from bae_source.project.files.stamps import TOGETHER, Stamps, encoded
from bae_source.project.files.stamps import Stamp as Stamp
from bae_source.system.descriptors import CLOSED_IN_CHILDREN, WITHOUT_LINKS, WITHOUT_WAITING

LARGEST = 256_000_000
_NO_NAMES = ("", ".", "..")
_FOR_ALL = 0o111
"""Permission bits of a folder that every user may enter."""
_FIELDS = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino")
_FIRST, _LAST = -(2**63), 2**64 - 1
"""Nanoseconds since the epoch that an encoded stamp can have: the years 1678 to 2554. Some file systems have others."""
_MANY = 100
_REMEMBERED = 4
"""Paths that make a question worth remembering, and the most questions remembered."""
_FLAGS = os.O_RDONLY | CLOSED_IN_CHILDREN | WITHOUT_WAITING
_PIECE = 1 << 20
_TRIES = 3
_WRITTEN = attrgetter("st_size", "st_mtime_ns", "st_ctime_ns")


class FileKind(Enum):
    """The kind of file at a path."""

    FILE = "file"
    FOLDER = "folder"


class Folder(Struct, frozen=True):
    """One folder and what is in it.

    Parameters:
        path: relative to the root; "" is the root.
        folders: names of the folders in it, links left out.
        files: names of the regular files in it, sorted.
        stamp: its own, from before it was listed; None where that does not tell of every change of what is listed.
        readable: whether it could be listed and entered; it is empty where not.
        links: names of those of `files` that are links to regular files inside the root.
        outside: of links that lead out of the root to Python: names of modules, and of packages with `/__init__.py`.
    """

    path: str
    folders: tuple[str, ...]
    files: tuple[str, ...]
    stamp: Stamp | None = None
    readable: bool = True
    links: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()


class Files(Protocol):
    """The source from which files are read."""

    def folder(self, path: str) -> Folder:
        """List a folder without following links to folders; it is empty where there is none."""

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of a file or a folder; None where there is none."""

    def stamps(self, paths: Sequence[str]) -> Mapping[str, Stamp]:
        """Return the stamps of some files and folders, by path; those that have gone are left out."""

    def kind(self, path: str) -> FileKind | None:
        """Return the kind of `path`; None for nothing, for anything special, and for what leads out of the root."""

    def read(self, path: str) -> bytes:
        """Return a file's content; raise FileNotFoundError where there is none."""

    def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
        """Return the content of a file that a walk found, and the stamp that belongs to it; raise as `read` does."""

    def glance(self, path: str, size: int) -> bytes:
        """Return the content of a file that a walk found with a size; raise as `read` does."""

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the entries of a folder, sorted; nothing where it cannot be listed."""

    def pieces(self, path: str) -> Iterator[bytes]:
        """Yield a file's content piece by piece, for one that may be gigantic; raise as `read` does."""

    def inside(self, path: str) -> str | None:
        """Return a path, absolute or from the root, as one below the root; None where it lies elsewhere.

        Links to folders are followed, as far as they stay inside, since nothing behind them is known by that path.
        """


class _Asked(Struct, frozen=True):
    """A question to `stamps`, and its answer, which is never changed."""

    paths: tuple[str, ...]
    parts: list[list[bytes]]
    stamps: Stamps


class Disk:
    """The files below a folder.

    Parameters:
        root: the project's root, absolute.
    """

    def __init__(self, root: Path) -> None:
        self.root = os.path.realpath(root)
        self._asked: list[_Asked] = []

    def kind(self, path: str) -> FileKind | None:
        """Return the kind of `path`."""
        full = self._inside(path)
        try:
            mode = os.stat(full).st_mode if full else 0
        except (OSError, ValueError):
            return None
        if stat.S_ISREG(mode):
            return FileKind.FILE
        return FileKind.FOLDER if stat.S_ISDIR(mode) else None

    def read(self, path: str) -> bytes:
        """Return a file's content.

        Raises:
            FileNotFoundError: there is no regular file inside the root.
            Refused: `forbidden` if it may not be read.
            SourceError: `not_lossless` for a gigantic one.
        """
        full = self._regular(path)
        try:
            return bytes_of(full)[0]
        except OSError as error:
            raise translated(error) from None

    def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
        """Return the content of a file that a walk found, and the stamp that belongs to it.

        Folders on the way are not looked at again, which makes this five times faster than `read`.

        Raises:
            FileNotFoundError: there is no regular file.
            Refused: `forbidden` if it may not be read.
            SourceError: `not_lossless` for a gigantic one.
        """
        try:
            return _stamped(*bytes_of(f"{self.root}/{path}", WITHOUT_LINKS))
        except OSError as error:
            if error.errno != errno.ELOOP:
                raise translated(error) from None
        full = self._inside(path)  # a link to a file, which may lead out of the root
        try:
            return _stamped(*bytes_of(full or ""))
        except OSError as error:
            raise translated(error) from None

    def glance(self, path: str, size: int) -> bytes:
        """Return the content of a file that a walk found with a size, twice as fast as `read_stamped` where it has it.

        Raises:
            FileNotFoundError: there is no regular file.
            Refused: `forbidden` if it may not be read.
            SourceError: `not_lossless` for a gigantic one.
        """
        content = glanced(f"{self.root}/{path}", size)
        return self.read_stamped(path)[0] if content is None else content

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the entries of a folder, sorted."""
        full = self._inside(folder)
        try:
            return tuple(sorted(os.listdir(full))) if full else ()
        except OSError:
            return ()

    def pieces(self, path: str) -> Iterator[bytes]:
        """Yield a file's content piece by piece.

        Raises:
            FileNotFoundError: there is no regular file inside the root.
            Refused: `forbidden` if it may not be read.
        """
        full = self._regular(path)
        try:
            yield from pieces_of(full)
        except OSError as error:
            raise translated(error) from None

    def inside(self, path: str) -> str | None:
        """Return a path, absolute or from the root, as one below the root, with links to folders followed."""
        lead = self.root.rstrip(os.sep) + os.sep
        given = os.path.normpath(os.path.join(self.root, path))
        folder, name = os.path.split(given)
        for full in (os.path.join(os.path.realpath(folder), name), given, os.path.realpath(given)):
            if full == self.root or full.startswith(lead):
                return full[len(lead) :]
        return None

    def folder(self, path: str) -> Folder:
        """List a folder without following links to folders."""
        folders: list[str] = []
        files: list[str] = []
        links: list[str] = []
        outside: list[str] = []
        stamp, readable = None, True
        full = f"{self.root}/{path}" if path else self.root
        try:
            status = os.stat(full)
            if status.st_mode & _FOR_ALL != _FOR_ALL:
                os.stat(f"{full}/.")  # fails where its names may be listed, and nothing behind them reached
            stamp = stamp_of(status)
            with os.scandir(full) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        files.append(entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif entry.is_symlink():
                        stamp = None
                        if self.kind(f"{path}/{entry.name}" if path else entry.name) is FileKind.FILE:
                            files.append(entry.name)
                            links.append(entry.name)
                        else:
                            outside += self._outside(path, entry.name)
        except (FileNotFoundError, NotADirectoryError):
            pass  # it has just gone, and holds nothing
        except OSError:
            stamp, readable = None, False
        folders.sort()
        files.sort()
        outer = tuple(sorted(outside))
        return Folder(path, tuple(folders), tuple(files), stamp, readable, tuple(links), outer)

    def stamp(self, path: str) -> Stamp | None:
        """Return the stamp of a file or a folder."""
        return _stamp_at(f"{self.root}/{path}")

    def stamps(self, paths: Sequence[str]) -> Mapping[str, Stamp]:
        """Return the stamps of some files and folders, by path.

        Thousands are asked for with each question, again and again, so no function of Python is called for each, none
        is made that is only compared, and where nothing changed the answer is the one that was given before.
        """
        asked = next((each for each in self._asked if each.paths is paths), None)
        parts = asked.parts if asked else _parts(_encoded(paths))
        try:
            with self._opened() as root:
                pieces = [encoded([_FIELDS(os.stat(path, dir_fd=root)) for path in part]) for part in parts]
        except (OSError, ValueError, OverflowError):  # one has gone, or is of another age
            lead = f"{self.root}/"
            return {path: stamp for path in paths if (stamp := _stamp_at(lead + path)) is not None}
        if asked is not None and asked.stamps.pieces == pieces:
            return asked.stamps
        stamps = Stamps(tuple(paths), pieces)
        if isinstance(paths, tuple) and len(paths) > _MANY:
            self._asked = [*self._asked[1 - _REMEMBERED :], _Asked(paths, parts, stamps)]
        return stamps

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """Open the root, below which paths are found faster than from the top of the file system."""
        root = os.open(self.root, getattr(os, "O_PATH", os.O_RDONLY) | CLOSED_IN_CHILDREN)
        try:
            yield root
        finally:
            os.close(root)

    def _outside(self, folder: str, name: str) -> Iterator[str]:
        """Yield the Python files that a link leads to outside the root: a module, or the `__init__.py` of a package."""
        for inner in (name, f"{name}/__init__.py"):
            path = f"{folder}/{inner}" if folder else inner
            if inner.endswith((".py", ".pyi")) and os.path.isfile(f"{self.root}/{path}") and self._inside(path) is None:
                yield inner

    def _regular(self, path: str) -> str:
        """Return the absolute path of a regular file inside the root; raise FileNotFoundError where there is none."""
        full = self._inside(path)
        if full is None or not os.path.isfile(full):
            raise FileNotFoundError(path)
        return full

    def _inside(self, path: str) -> str | None:
        """Return the absolute path with its links followed, if it is inside the root."""
        if not path:
            return self.root
        full = self.root
        for name in path.split("/"):
            full = os.path.join(full, name)
            if name in _NO_NAMES or os.path.islink(full):
                break
        else:
            return full  # above the root are no links, so they need not be searched for there
        full = os.path.realpath(os.path.join(self.root, path))
        inside = full == self.root or full.startswith(self.root.rstrip(os.sep) + os.sep)
        return full if inside else None


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a file from its `stat`; a time that cannot be encoded counts as the nearest one that can."""
    fields = size, modified, changed, inode = _FIELDS(status)
    if _FIRST <= modified <= _LAST and _FIRST <= changed <= _LAST:
        return Stamp(*fields)
    return Stamp(size, min(max(modified, _FIRST), _LAST), min(max(changed, _FIRST), _LAST), inode)


def read_or_none(files: Files, path: str) -> bytes | None:
    """Return a file's content, or None where there is no such file."""
    try:
        return files.read(path)
    except FileNotFoundError:
        return None


def bytes_of(full: str, flags: int = 0) -> tuple[bytes, os.stat_result]:
    """Return a regular file's bytes, and its status from before they were read.

    Parameters:
        full: absolute path.
        flags: for `open`, besides those that are always set.

    Raises:
        FileNotFoundError: what is there is no regular file.
        OSError: what the system says.
    """
    descriptor = os.open(full, _FLAGS | flags)
    try:
        for _ in range(_TRIES):
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise FileNotFoundError(full)
            if status.st_size > LARGEST:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), full)
            content = _read(descriptor, status.st_size)
            if _WRITTEN(os.fstat(descriptor)) == _WRITTEN(status):
                break
            os.lseek(descriptor, 0, os.SEEK_SET)  # what was read may be half of the old text and half of the new
    finally:
        os.close(descriptor)
    return content, status


def pieces_of(full: str) -> Iterator[bytes]:
    """Yield a regular file's bytes piece by piece, for one that may be gigantic.

    Parameters:
        full: absolute path.

    Raises:
        FileNotFoundError: what is there is no regular file.
        OSError: what the system says.
    """
    descriptor = os.open(full, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise FileNotFoundError(full)
        while piece := os.read(descriptor, _PIECE):
            yield piece
    finally:
        os.close(descriptor)


def glanced(full: str, size: int) -> bytes | None:
    """Return the bytes of a file that was regular and of that size a moment ago; None if the size has changed.

    The file is not asked what else it is, which takes half the time of `bytes_of`.
    """
    if not size:
        return b""  # as it was
    if size > LARGEST:
        return None
    try:
        descriptor = os.open(full, _FLAGS | WITHOUT_LINKS)
    except OSError:
        return None
    try:
        content = os.read(descriptor, size + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return content if len(content) == size else None


def gone() -> Refused:
    """Return the refusal of a file that is there no more, though it was when the project was looked at."""
    return Refused("stale", "has gone while the project was read.", subject="The file", hints=["Ask again."])


def translated(error: OSError) -> Exception:
    """Return our error for a system's error about a file that cannot be read."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return FileNotFoundError(*error.args)
    if isinstance(error, PermissionError):
        return Refused("forbidden", "may not be read.", subject="The file", hints=["Check its permissions."])
    if error.errno == errno.EFBIG:
        return SourceError("not_lossless", f"has more than {LARGEST:,} bytes.", subject="The file")
    reason = f"cannot be read: {error.strerror or 'the disk refuses'}."
    return Refused("forbidden", reason, subject="The file", hints=["Check the disk."])


def _stamped(content: bytes, status: os.stat_result) -> tuple[bytes, Stamp]:
    return content, stamp_of(status)


def _stamp_at(full: str) -> Stamp | None:
    try:
        return stamp_of(os.stat(full))
    except (OSError, ValueError):
        return None


def _encoded(paths: Sequence[str]) -> list[bytes]:
    """Return paths as the system has them; in one go, which takes a tenth of the time."""
    together = os.fsencode("\0".join(paths)).split(b"\0") if paths else []
    return [path or b"." for path in together]


def _parts(paths: list[bytes]) -> list[list[bytes]]:
    return [paths[start : start + TOGETHER] for start in range(0, len(paths), TOGETHER)]


def _read(descriptor: int, size: int) -> bytes:
    pieces = [os.read(descriptor, size + 1)]
    while pieces[-1] and (len(pieces) > 1 or len(pieces[0]) != size):
        if sum(map(len, pieces)) > LARGEST:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        pieces.append(os.read(descriptor, _PIECE))
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
