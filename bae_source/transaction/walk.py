"""Reach a file from the project's root by descriptors, one folder at a time.

Invariants:
- no step follows a link: a link is read, and its text is walked like any other, so that nothing can be swapped in
  between that leads out of the project;
- a link that leads out of the project is refused, even where another link would lead back in;
- our own state and git's are out of reach.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.state.folders import LOCAL
from bae_source.transaction.disk import Disk
from bae_source.transaction.names import Speak

_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_MAX_LINKS = 40
_OUT_OF_REACH = (".git", LOCAL)


class Reached(Struct, frozen=True, kw_only=True):
    """Where a path leads.

    Parameters:
        parts: the components from the root, without links.
        status: what stands there; None for nothing.
        link: whether the last component of the path as given is a link.
    """

    parts: tuple[str, ...]
    status: os.stat_result | None
    link: bool


class Walk:
    """The folders of one project, opened by descriptor."""

    def __init__(self, root: Path, disk: Disk, speak: Speak) -> None:
        self._root = os.path.realpath(root)
        self._prefixes = (self._root + "/", os.path.abspath(root) + "/")
        self._disk = disk
        self._speak = speak

    def reach(self, path: str) -> Reached:
        """Follow `path` to where it leads.

        Raises:
            Refused: `outside_project` or `forbidden`.
        """
        pending = self._split(path)
        reached: list[str] = []
        links = 0
        last_is_link = False
        with ExitStack() as open_folders:
            folders = [self._opened(open_folders, self._root, None)]
            while pending:
                name = pending.pop(0)
                if name == "..":
                    folders.pop()
                    if not folders:
                        raise self._outside(path)
                    reached.pop()
                    continue
                if name in _OUT_OF_REACH:
                    raise Refused(
                        "forbidden",
                        f"{self._speak(path)} belongs to git or to bae_source itself.",
                        hints=["Change files of the project only."],
                    )
                status = self._status(name, folders[-1])
                if status is not None and stat.S_ISLNK(status.st_mode):
                    links, last_is_link = links + 1, not pending or last_is_link
                    text = self._target(path, name, folders[-1], links)
                    if text.startswith("/"):
                        del folders[1:], reached[:]
                    pending[:0] = [part for part in text.split("/") if part not in ("", ".")]
                    continue
                reached.append(name)
                if not pending:
                    return Reached(parts=tuple(reached), status=status, link=last_is_link)
                if status is None:
                    return Reached(parts=self._absent(path, reached, pending), status=None, link=last_is_link)
                folders.append(self._opened(open_folders, name, folders[-1]))
        raise self._outside(path)

    @contextmanager
    def folder(self, parts: tuple[str, ...]) -> Iterator[int]:
        """Open the folder of these components, which hold no link; raise OSError where one has been swapped in."""
        with ExitStack() as open_folders:
            current = self._opened(open_folders, self._root, None)
            for name in parts:
                current = self._opened(open_folders, name, current)
            yield current

    def _opened(self, stack: ExitStack, name: str, folder: int | None) -> int:
        descriptor = self._disk.open(name, _FOLDER, 0, folder)
        stack.callback(self._disk.close, descriptor)
        return descriptor

    def _status(self, name: str, folder: int) -> os.stat_result | None:
        try:
            return self._disk.lstat(name, folder)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return None
            raise

    def _split(self, path: str) -> list[str]:
        parts = path.split("/")
        if "\0" in path or any(part in ("", ".", "..") for part in parts):
            raise Refused(
                "outside_project",
                f"{path!r} is no path inside the project.",
                hints=["Change files of the project only."],
            )
        return parts

    def _target(self, path: str, name: str, folder: int, links: int) -> str:
        """Return what a link says; an absolute link starts with "/" and is counted from the project's root."""
        text = self._disk.readlink(name, folder)
        if links > _MAX_LINKS:
            raise self._outside(path)
        if not text.startswith("/"):
            return text
        for prefix in self._prefixes:
            if text.startswith(prefix):
                return "/" + text.removeprefix(prefix)
        raise self._outside(path)

    def _absent(self, path: str, reached: list[str], pending: list[str]) -> tuple[str, ...]:
        if ".." in pending or any(name in _OUT_OF_REACH for name in pending):
            raise self._outside(path)
        return (*reached, *pending)

    def _outside(self, path: str) -> Refused:
        return Refused(
            "outside_project",
            f"{self._speak(path)} is reached through a link that leaves the project; it was not touched.",
            hints=["Change the file where it really lies, in a project of its own."],
        )
