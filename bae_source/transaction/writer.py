"""Replace files, each whole or not at all, and take all of them back.

The order, so that no failure leaves a file half written: new content and copies of the old are written and made
durable under names of our own (`stage`); then each target is replaced by a rename, and the folders are made durable
(`replace`). Until `clean`, `restore` can take every file back by renames alone, which a full disk allows.

Invariants:
- mode, owner, group and extended attributes are kept as far as the system lets us; a file that is taken back has its
  time of modification too;
- a link is never replaced by a file: what it leads to is written, inside the project only;
- a file that has other names (hard links) is refused: a rename would cut them off, and writing in place could not be
  taken back;
- a file or folder without its owner's write permission is refused, also for root; so is what is no regular file;
- `restore` touches only what still is what we wrote; newer content of somebody else stays.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.transaction.disk import Disk
from bae_source.transaction.names import Speak
from bae_source.transaction.staging import Held, Staging
from bae_source.transaction.walk import Walk

_CHUNK = 1 << 20
_Parts = tuple[str, ...]


class Content(Struct, frozen=True, kw_only=True):
    """What a file holds before and after; None where there is no file.

    Parameters:
        path: project-relative, as planned.
        parts: where it leads, without links.
        link: whether the path is a link itself.
    """

    path: str
    parts: _Parts
    link: bool = False
    before: bytes | None
    after: bytes | None = None


class Kept(Struct, frozen=True, kw_only=True):
    """A file that could not be taken back, and where its old content lies; None if there was no file."""

    path: str
    copy: str | None


class Restored(Struct, frozen=True, kw_only=True):
    """What became of taking files back.

    Parameters:
        foreign: paths that somebody else has changed since; they were left as they are.
        failed: files that could not be taken back.
    """

    foreign: tuple[str, ...] = ()
    failed: tuple[Kept, ...] = ()


class WriteFailed(Exception):
    """The system refused a call while `path` was written."""

    def __init__(self, path: str, error: OSError) -> None:
        super().__init__(path, error)
        self.path = path
        self.error = error


class _Pair(Struct, frozen=True):
    content: Content
    old: Held | None
    new: Held | None


class Writer:
    """Writes one set of files of a project; use it once."""

    def __init__(self, walk: Walk, staging: Staging, *, disk: Disk, speak: Speak) -> None:
        self._walk = walk
        self._staging = staging
        self._disk = disk
        self._speak = speak
        self._pairs: list[_Pair] = []
        self._made: list[_Parts] = []

    def stage(self, contents: Sequence[Content]) -> None:
        """Write new content and copies of the old, durable, under names of our own; no target changes.

        Raises:
            WriteFailed: the disk failed.
        """
        for content in contents:
            with _blaming(content.path):
                self._pairs.append(self._stage(content))
        for content in contents[:1]:
            with _blaming(content.path):
                self._staging.sync()

    def replace(self) -> None:
        """Put the new content in place, and make it durable.

        Raises:
            Refused: `stale`, if a file changed since it was read.
            WriteFailed: the disk failed.
        """
        for pair in self._pairs:
            with _blaming(pair.content.path):
                self._replace(pair)
        folders = {pair.content.parts[:-1]: pair.content.path for pair in self._pairs}
        for parts, path in folders.items():
            with _blaming(path), self._walk.folder(parts) as folder:
                self._disk.fsync(folder)
        for pair in self._pairs[:1]:
            with _blaming(pair.content.path):
                self._staging.sync()

    def restore(self) -> Restored:
        """Take back every file that still is what we wrote; may be called again after an interrupt."""
        foreign: list[str] = []
        failed: list[Kept] = []
        for pair in reversed(self._pairs):
            try:
                if not self._restore(pair):
                    foreign.append(pair.content.path)
            except OSError:
                copy = None if pair.old is None else self._staging.place(pair.old)
                failed.append(Kept(path=pair.content.path, copy=copy))
        return Restored(foreign=tuple(foreign), failed=tuple(failed))

    def clean(self) -> None:
        """Remove every file of ours, and folders of the project that the deletion of their last file left empty."""
        self._staging.clean()
        deleted = [pair.content.parts[:-1] for pair in self._pairs if pair.content.after is None]
        self._remove_folders(parts[:length] for parts in deleted for length in range(len(parts), 0, -1))

    def abandon(self) -> None:
        """Remove every file of ours, and the folders that were made for new files; call it after `restore`."""
        self._staging.clean()
        self._remove_folders(reversed(self._made))

    def _stage(self, content: Content) -> _Pair:
        beside, number = None, len(self._pairs)
        with nearest_folder(self._walk, content.parts[:-1]) as folder:
            if self._staging.other_device(folder):
                beside = content.parts[:-1]
        if beside is not None:
            self._make_folders(beside)
        if content.before is None:
            assert content.after is not None
            new = self._staging.create(f"new-{number}", content.after, beside=beside, model=None, time=False)
            return _Pair(content, None, new)
        with self._walk.folder(content.parts[:-1]) as folder, self._open(content.parts[-1], folder) as model:
            old = self._staging.create(f"old-{number}", content.before, beside=beside, model=model, time=True)
            if content.after is None:
                return _Pair(content, old, None)
            new = self._staging.create(f"new-{number}", content.after, beside=beside, model=model, time=False)
            return _Pair(content, old, new)

    def _replace(self, pair: _Pair) -> None:
        content = pair.content
        self._make_folders(content.parts[:-1])
        with self._walk.folder(content.parts[:-1]) as folder:
            if self._content(content.parts[-1], folder) != content.before:
                raise Refused(
                    "stale",
                    f"{self._speak(content.path)} was changed by somebody else in this very moment.",
                    hints=["Read it again and plan the change anew."],
                    details={"paths": [content.path]},
                )
            if pair.new is None or content.after is None:
                self._disk.unlink(content.parts[-1], folder)
            else:
                self._put(pair.new, content.after, content, folder)

    def _restore(self, pair: _Pair) -> bool:
        """Take one file back; return whether it is as before, False if it is somebody else's by now."""
        content = pair.content
        try:
            with self._walk.folder(content.parts[:-1]) as folder:
                found = self._content(content.parts[-1], folder)
                if found == content.before:
                    return True
                if found != content.after:
                    return False
                if pair.old is None or content.before is None:
                    self._disk.unlink(content.parts[-1], folder)
                else:
                    self._put(pair.old, content.before, content, folder)
                self._disk.fsync(folder)
                return True
        except FileNotFoundError:
            if content.before is None:
                return True  # its folder is gone, or was never made
            raise

    def _put(self, held: Held, text: bytes, content: Content, folder: int) -> None:
        """Rename a file of ours onto its target."""
        name = content.parts[-1]
        with self._staging.opened(held) as source:
            try:
                self._disk.rename(held.name, name, source, folder)
                return
            except OSError as error:
                if error.errno != errno.EXDEV or held.beside is not None:
                    raise
            # one device, and yet no rename between the two folders: a bind mount or an overlay
            with self._open(held.name, source) as model:
                near = self._staging.create(held.name, text, beside=content.parts[:-1], model=model, time=True)
        self._disk.rename(near.name, name, folder, folder)

    def _content(self, name: str, folder: int) -> bytes | None:
        try:
            with self._open(name, folder) as descriptor:
                return read_all(self._disk, descriptor)
        except FileNotFoundError:
            return None

    @contextmanager
    def _open(self, name: str, folder: int) -> Iterator[int]:
        descriptor = self._disk.open(name, os.O_RDONLY, 0, folder)
        try:
            yield descriptor
        finally:
            self._disk.close(descriptor)

    def _make_folders(self, parts: _Parts) -> None:
        for length in range(1, len(parts) + 1):
            with self._walk.folder(parts[: length - 1]) as folder:
                try:
                    self._disk.mkdir(parts[length - 1], folder)
                except FileExistsError:
                    continue
                self._made.append(parts[:length])
                self._disk.fsync(folder)

    def _remove_folders(self, every: Iterable[_Parts]) -> None:
        for parts in every:
            try:
                with self._walk.folder(parts[:-1]) as folder:
                    self._disk.rmdir(parts[-1], folder)
            except OSError:
                continue  # not empty, or gone already


def read_target(walk: Walk, disk: Disk, speak: Speak, path: str) -> Content:
    """Read what stands at `path`, as `before`, having made sure that it can be written.

    Raises:
        Refused: it may not or cannot be written.
        OSError: the disk failed.
    """
    reached = walk.reach(path)
    with nearest_folder(walk, reached.parts[:-1]) as folder:
        mode = disk.fstat(folder).st_mode
        if not mode & stat.S_IWUSR or not disk.access(".", folder):
            raise Refused(
                "forbidden",
                f"The folder of {speak(path)} is read-only.",
                hints=["Make the folder writable if the file may be changed."],
            )
        if reached.status is None:
            if reached.link:
                raise Refused(
                    "unsafe_change", f"{speak(path)} is a link that leads to nothing.", hints=["Remove the link first."]
                )
            return Content(path=path, parts=reached.parts, before=None)
        _check_file(reached.status, writable=disk.access(reached.parts[-1], folder), name=speak(path))
        descriptor = disk.open(reached.parts[-1], os.O_RDONLY, 0, folder)
        try:
            return Content(path=path, parts=reached.parts, link=reached.link, before=read_all(disk, descriptor))
        finally:
            disk.close(descriptor)


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


def read_all(disk: Disk, descriptor: int) -> bytes:
    """Read a file to its end."""
    chunks = []
    while chunk := disk.read(descriptor, _CHUNK):
        chunks.append(chunk)
    return b"".join(chunks)


@contextmanager
def nearest_folder(walk: Walk, parts: _Parts) -> Iterator[int]:
    """Open the folder, or the nearest one above it that exists."""
    with ExitStack() as stack:
        while True:
            try:
                folder = stack.enter_context(walk.folder(parts))
                break
            except FileNotFoundError:
                if not parts:
                    raise
                parts = parts[:-1]
        yield folder


@contextmanager
def _blaming(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WriteFailed(path, error) from error
