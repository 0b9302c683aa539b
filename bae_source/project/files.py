"""The port through which a project's files are read, and its two forms: a disk and a dictionary.

Paths are relative to the project's root, with forward slashes; "" is the root. Nothing outside the root is ever read:
a link that leads out of it is treated as absent, and only regular files are opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Protocol

from bae_source.errors import Refused


class FileKind(Enum):
    """What stands at a path."""

    FILE = "file"
    FOLDER = "folder"


class Files(Protocol):
    """Where files are read from."""

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


def read_or_none(files: Files, path: str) -> bytes | None:
    """Return a file's content, or None where there is no such file."""
    try:
        return files.read(path)
    except FileNotFoundError:
        return None
