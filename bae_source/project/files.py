"""The port through which a project's files are read, and its two forms: a disk and a dictionary.

Paths are relative to the project's root, with forward slashes; "" is the root. Nothing outside the root is ever read:
a link that leads out of it is treated as absent, and only regular files are opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Protocol

from bae_source.errors import Refused


class FileKind(Enum):
    """What stands at a path."""

    FILE = "file"
    FOLDER = "folder"


class Stamp(NamedTuple):
    """What `stat` says of a file's content: while it is the same, so is the content, unless it was just written.

    Parameters:
        size: in bytes.
        modified: nanoseconds since the epoch.
        changed: nanoseconds since the epoch; unlike `modified`, no program can set it back.
        inode: number of the file on its file system.
    """

    size: int
    modified: int
    changed: int
    inode: int


class Folder(NamedTuple):
    """One folder of a walk.

    Parameters:
        path: relative to the root; "" is the root.
        folders: names of the folders in it, links left out.
        files: names of the regular files in it, sorted.
        stamps: by name, of those that were asked for.
    """

    path: str
    folders: tuple[str, ...]
    files: tuple[str, ...]
    stamps: dict[str, Stamp]


class Files(Protocol):
    """Where files are read from."""

    def walk(self, enter: Callable[[Folder, str], bool], stamped: tuple[str, ...]) -> Iterator[Folder]:
        """Visit every folder below the root, an outer one first, without following links to folders.

        Parameters:
            enter: says of a folder's subfolder, by name, whether to visit it.
            stamped: ends of names whose stamps are wanted, such as `.py`.
        """

    def kind(self, path: str) -> FileKind | None:
        """Say what stands at `path`; None for nothing, for anything special, and for what leads out of the root."""

    def read(self, path: str) -> bytes:
        """Return a file's content; raise FileNotFoundError where there is none."""

    def names(self, folder: str) -> tuple[str, ...]:
        """Return what a folder holds, sorted; nothing where it cannot be listed."""


class Disk:
    """The files below a folder.

    Parameters:
        root: the project's root, absolute.
    """

    def __init__(self, root: Path) -> None:
        self.root = os.path.realpath(root)

    def kind(self, path: str) -> FileKind | None:
        """Say what stands at `path`."""
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
        """
        full = self._inside(path)
        if full is None or self.kind(path) is not FileKind.FILE:
            raise FileNotFoundError(path)
        try:
            with open(full, "rb") as file:
                return file.read()
        except PermissionError:
            raise Refused("forbidden", "The file may not be read.", hints=["Check its permissions."]) from None

    def names(self, folder: str) -> tuple[str, ...]:
        """Return what a folder holds, sorted."""
        full = self._inside(folder)
        try:
            return tuple(sorted(os.listdir(full))) if full else ()
        except OSError:
            return ()

    def walk(self, enter: Callable[[Folder, str], bool], stamped: tuple[str, ...]) -> Iterator[Folder]:
        """Visit every folder below the root."""
        waiting = [""]
        while waiting:
            folder = self._listed(waiting.pop(), stamped)
            yield folder
            lead = f"{folder.path}/" if folder.path else ""
            waiting += [f"{lead}{name}" for name in reversed(folder.folders) if enter(folder, name)]

    def _listed(self, path: str, stamped: tuple[str, ...]) -> Folder:
        """List a folder that a walk came to; empty where it may not be listed."""
        folders: list[str] = []
        files: list[str] = []
        stamps: dict[str, Stamp] = {}
        full = f"{self.root}/{path}" if path else self.root
        try:
            with os.scandir(full) as entries:
                for entry in entries:
                    name = entry.name
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(name)
                    elif entry.is_file(follow_symlinks=False) or self.kind(f"{path}/{name}") is FileKind.FILE:
                        files.append(name)
                        if name.endswith(stamped):
                            stamps[name] = stamp_of(entry.stat())
        except OSError:
            pass  # what may not be listed, or has just gone, holds nothing that could be read
        return Folder(path, tuple(sorted(folders)), tuple(sorted(files)), stamps)

    def _inside(self, path: str) -> str | None:
        """Return the absolute path with its links followed, if it is inside the root."""
        full = os.path.realpath(os.path.join(self.root, path)) if path else self.root
        inside = full == self.root or full.startswith(self.root.rstrip(os.sep) + os.sep)
        return full if inside else None


class Memory:
    """Files held in a dictionary, for tests and for planned text.

    Parameters:
        contents: bytes by path.
    """

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self.contents = dict(contents)

    def kind(self, path: str) -> FileKind | None:
        """Say what stands at `path`."""
        if path in self.contents:
            return FileKind.FILE
        return FileKind.FOLDER if not path or any(name.startswith(f"{path}/") for name in self.contents) else None

    def read(self, path: str) -> bytes:
        """Return a file's content; raise FileNotFoundError where there is none."""
        if path not in self.contents:
            raise FileNotFoundError(path)
        return self.contents[path]

    def names(self, folder: str) -> tuple[str, ...]:
        """Return what a folder holds, sorted."""
        lead = f"{folder}/" if folder else ""
        return tuple(sorted({name[len(lead) :].partition("/")[0] for name in self.contents if name.startswith(lead)}))

    def walk(self, enter: Callable[[Folder, str], bool], stamped: tuple[str, ...]) -> Iterator[Folder]:
        """Visit every folder; a stamp is made of the content."""
        waiting = [""]
        while waiting:
            path = waiting.pop()
            lead = f"{path}/" if path else ""
            names = self.names(path)
            files = tuple(name for name in names if f"{lead}{name}" in self.contents)
            stamps = {name: self._stamp(f"{lead}{name}") for name in files if name.endswith(stamped)}
            folder = Folder(path, tuple(name for name in names if name not in files), files, stamps)
            yield folder
            waiting += [f"{lead}{name}" for name in reversed(folder.folders) if enter(folder, name)]

    def _stamp(self, path: str) -> Stamp:
        content = self.contents[path]
        return Stamp(len(content), hash(content), 0, 0)


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a file from its `stat`."""
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def read_or_none(files: Files, path: str) -> bytes | None:
    """Return a file's content, or None where there is no such file."""
    try:
        return files.read(path)
    except FileNotFoundError:
        return None
