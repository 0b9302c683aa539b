"""Reach a file from the project's root by descriptors, one folder at a time.

Invariants:
- no step follows a link: a link is read, and its text is walked like any other, so that nothing can be swapped in
  between that leads out of the project;
- a link that leads out of the project is refused, even where another link would lead back in;
- our own state and git's are out of reach;
- a descriptor is kept while nothing is waited for but the disk: after `forget`, a folder of the project that was moved
  meanwhile is looked for anew.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.state.folders import LOCAL
from bae_source.system.descriptors import FOLDER
from bae_source.transaction.disk.names import Speak
from bae_source.transaction.disk.port import Disk

_MAX_LINKS = 40
_MOST_KEPT = 200
_OUT_OF_REACH = (".git", LOCAL)  # in small letters


class Reached(Struct, frozen=True, kw_only=True):
    """The end of a path.

    Parameters:
        parts: the components from the root, without links.
        status: what stands there; None for nothing.
        link: whether the last component of the path as given is a link.
    """

    parts: tuple[str, ...]
    status: os.stat_result | None
    link: bool


class Walk:
    """The folders of one project, opened by descriptor; a context inside which they are kept, once they are reached.

    It may be nested, and is entered several times a file; so it is no generator, which takes longer than an `open`.

    Parameters:
        root: the project's folder, under the name that absolute links may have for it.
    """

    def __init__(self, root: Path, disk: Disk, speak: Speak) -> None:
        self._kept: dict[tuple[str, ...], int] = {}
        self._kept_outside: dict[str, int] = {}
        self._depth = 0
        self._root, self._prefixes = _names_of(os.fspath(root))
        self._disk = disk
        self._speak = speak

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self.forget()

    def __del__(self) -> None:
        """Close what Ctrl-C left open, where it came while folders were closed."""
        self.forget()

    def keeping(self) -> Walk:
        """Return the context inside which folders are kept open; what needs one is called there."""
        return self

    def forget(self) -> None:
        """Close the folders that are kept, since they may be others by now; who needs one looks for it anew."""
        for kept in (self._kept, self._kept_outside):
            while kept:
                close_quietly(self._disk, kept.popitem()[1])

    def at(self, parts: tuple[str, ...]) -> int:
        """Return the descriptor of the folder of these components, which hold no link; valid inside `keeping`.

        Raises:
            OSError: it is not there, or one of them is a link now.
        """
        found = self._kept.pop(parts, None)
        if found is None:
            found = self._opened(parts[-1], self.at(parts[:-1])) if parts else self._opened(self._root, None)
        self._kept[parts] = found  # behind all others: what was used just now is the last to be closed
        return found

    def outside(self, place: str) -> int:
        """Return the descriptor of a folder that is none of the project's, by its whole path; inside `keeping`.

        Raises:
            OSError: it is not there.
        """
        found = self._kept_outside.get(place)
        if found is None:
            found = self._kept_outside[place] = self._opened(place, None)
        return found

    def reach(self, path: str) -> Reached:
        """Follow `path` to where it leads; inside `keeping`.

        Raises:
            Refused: `outside_project` or `forbidden`.
        """
        pending = self._split(path)
        reached: list[str] = []
        links = 0
        last_is_link = False
        while pending:
            name = pending.pop(0)
            if name == "..":
                if not reached:
                    raise self._outside(path)
                self.at(tuple(reached))  # `..` is allowed behind a folder only
                reached.pop()
                continue
            if is_out_of_reach(name):
                raise Refused(
                    "forbidden",
                    f"{self._speak(path)} belongs to git or to bae_source itself.",
                    hints=["Change files of the project only."],
                )
            if pending and self._is_folder((*reached, name)):
                reached.append(name)
                continue
            folder = self.at(tuple(reached))
            status = self._status(name, folder)
            if status is not None and stat.S_ISLNK(status.st_mode):
                links, last_is_link = links + 1, not pending or last_is_link
                text = self._target(path, name, folder, links)
                if text.startswith("/"):
                    reached.clear()
                pending[:0] = [part for part in text.split("/") if part not in ("", ".")]
                continue
            reached.append(name)
            if not pending:
                return Reached(parts=tuple(reached), status=status, link=last_is_link)
            if status is None:
                return Reached(parts=self._absent(path, reached, pending), status=None, link=last_is_link)
        raise self._outside(path)

    def _opened(self, name: str, above: int | None) -> int:
        assert self._depth, "folders are opened only while `keeping`"
        found = self._disk.open(name, FOLDER, 0, above)
        if len(self._kept) >= _MOST_KEPT:
            close_quietly(self._disk, self._kept.pop(next(iter(self._kept))))
        return found

    def _is_folder(self, parts: tuple[str, ...]) -> bool:
        """Return whether a folder is there, and no link; mostly it is, and the next step needs it open."""
        try:
            self.at(parts)
        except OSError:
            return False
        return True

    def _status(self, name: str, folder: int) -> os.stat_result | None:
        try:
            return self._disk.lstat(name, folder)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return None
            raise

    def _split(self, path: str) -> list[str]:
        parts = path.split("/")
        if not are_names(parts):
            raise Refused(
                "outside_project",
                f"{path!r} is no path inside the project.",
                hints=["Change files of the project only."],
            )
        return parts

    def _target(self, path: str, name: str, folder: int, links: int) -> str:
        """Return the text of a link; an absolute one starts with "/" and is counted from the project's root."""
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
        if ".." in pending or any(map(is_out_of_reach, pending)):
            raise self._outside(path)
        return (*reached, *pending)

    def _outside(self, path: str) -> Refused:
        return Refused(
            "outside_project",
            f"{self._speak(path)} is reached through a link that leaves the project; it was not touched.",
            hints=["Change the file where it really lies, in a project of its own."],
        )


def are_names(parts: Sequence[str]) -> bool:
    """Return whether each is the name of something in the folder before it, and none leads anywhere else."""
    return bool(parts) and not any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts)


def is_out_of_reach(name: str) -> bool:
    """Return whether a file or folder of that name is git's or ours; some file systems ignore case."""
    return name.casefold() in _OUT_OF_REACH


def _names_of(root: str) -> tuple[str, tuple[str, str]]:
    """Return where a root lies, and how what lies in it may be called: a beginning by either of the root's names."""
    return _absolute_names_of(root if os.path.isabs(root) else os.path.abspath(root))


@lru_cache(maxsize=16)
def _absolute_names_of(root: str) -> tuple[str, tuple[str, str]]:
    """Look a root up, once, so that a process works on one folder whatever a link says later."""
    called = os.path.normpath(root)
    real = os.path.realpath(called)
    return real, (f"{real}/", f"{called}/")


def close_quietly(disk: Disk, descriptor: int) -> None:
    """Close what is durable, or only looked up in; there is nothing to lose if that fails."""
    try:  # not `suppress`, which takes longer than the call
        disk.close(descriptor)
    except OSError:
        return
