"""The content of git's index, read by git's plumbing: paths with their objects, and the bytes of those that matter.

    index = GitIndex(root, environment)
    index.entries()                    {"app/core.py": Entry(mode=0o100644, oid="8baef1…")}, below the root
    index.content("8baef1…")           the bytes that would be committed

Invariants:
- nothing is written, not even what git remembers of the working tree, and nothing of the user's is run: git looks at
  a copy (`git_folder`);
- the index is the one that git is about to commit (`git_repository`);
- files that would not be committed, as after `git add --intent-to-add`, are left out;
- a repository of another user is looked at only where the user's own settings say that it is safe.
"""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from select import POLLIN, poll
from typing import IO, Self

from msgspec import Struct

from bae_source.errors import Refused, RequestError, SourceError
from bae_source.project.git.folder import SECONDS, GitFolder, last_line, silent, unreadable
from bae_source.project.git.repository import last_commit, repository_of, wrong
from bae_source.system.scratch import Scratch

_EMPTY = ("4b825dc642cb6eb9a060e54bf8d69288fbee4904",
          "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321")  # fmt: skip
"""The tree of no files, which every git knows, by SHA-1 and by SHA-256."""

LARGEST = 80_000_000
"""Bytes of a staged file that is read."""
_LARGEST_PATTERNS = 10_000_000
_REGULAR = (0o100644, 0o100755)
_MODES = {f"{mode:o}": mode for mode in _REGULAR}


class Entry(Struct, frozen=True):
    """One path in the index.

    Parameters:
        mode: as git has it.
        oid: the name of its object.
        merged: whether there is one content for it; not while a conflict is open.
    """

    mode: int
    oid: str
    merged: bool = True

    @property
    def regular(self) -> bool:
        """Return whether it is a file with one content: no link, no submodule, and in no conflict."""
        return self.merged and self.mode in _REGULAR


class GitIndex:
    """The index of the repository that a folder lies in.

    Parameters:
        root: the folder; paths are relative to it, and what lies outside is not looked at.
        environment: the caller's. What it says of places is absolute.

    Raises:
        RequestError: `invalid_arguments` where git is not there, or has no index for the folder.
        Refused: `forbidden` where the repository is another user's.
    """

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.root = Path(os.path.realpath(root))
        self._repository = repository_of(self.root, environment)
        self._reader: subprocess.Popen[bytes] | None = None
        self._is_silent = False
        try:
            self._place = Scratch()
        except OSError as error:
            raise _no_room(error) from None
        with ExitStack() as if_it_fails:
            if_it_fails.callback(self._place.cleanup)
            try:
                self._git = GitFolder(Path(self._place.name), self.root, self._repository, environment)
                self._check_owner(environment)
            except OSError as error:
                raise _no_room(error) from None
            if_it_fails.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._place.cleanup()

    def entries(self) -> dict[str, Entry]:
        """Return the entries of the index below the root.

        Raises:
            RequestError: `invalid_arguments` where it cannot be read.
        """
        found: dict[str, Entry] = {}
        for path, (_, mode, _, oid, status) in self._compared("--ita-invisible-in-index", _EMPTY[self._git.is_sha256]):
            merged = status != "U" and (path not in found or found[path].merged)
            found[path] = Entry(_MODES.get(mode) or int(mode, 8), oid, merged)
        return found

    def staged(self) -> tuple[str, ...]:
        """Return the paths whose content differs from that of the last commit; those that are gone are left out.

        Raises:
            RequestError: `invalid_arguments` where the last commit cannot be read.
        """
        return tuple(path for path, (_, _, _, _, status) in self._changes.items() if status != "D")

    def gone(self) -> frozenset[str]:
        """Return the paths that the last commit has, and the index has no more; raise as `staged` does."""
        return frozenset(path for path, (_, _, _, _, status) in self._changes.items() if status == "D")

    def before(self) -> dict[str, str]:
        """Return the object that each file was in the last commit which differs or is gone; raise as `staged` does."""
        return {path: oid for path, (mode, _, oid, _, _) in self._changes.items() if mode.removeprefix(":") in _MODES}

    def ignored(self, paths: Iterable[str]) -> frozenset[str]:
        """Return those of some paths that git would ignore; all of them where it cannot say."""
        asked = list(paths)
        if not all(map(self._has_readable_patterns, asked)):
            return frozenset(asked)
        given = b"".join(b"./%b\0" % os.fsencode(path) for path in asked)  # no name is taken for a pattern so
        done = self._git.run("check-ignore", "-z", "--stdin", given=given, settings=self._ignored_everywhere)
        if done.returncode not in (0, 1):
            return frozenset(asked)
        return frozenset(os.fsdecode(path)[2:] for path in done.stdout.split(b"\0") if path)

    def files_with(self, pattern: str) -> tuple[str, ...] | None:
        """Return which Python files, and files without an ending, hold an extended regular expression.

        Returns:
            Their paths; None where git cannot say.
        """
        found: list[str] = []
        for which in (("*.py", "*.pyw"), (":(exclude)*.*",)):
            done = self._git.run("grep", "--cached", "-l", "-z", "-a", "-E", "--no-color", "--no-textconv",
                                 "--no-recurse-submodules", "-e", pattern, "--", *which)  # fmt: skip
            if done.returncode not in (0, 1) or done.stderr:
                return None
            found += map(os.fsdecode, filter(None, done.stdout.split(b"\0")))
        return tuple(found)

    def content(self, oid: str) -> bytes:
        """Return the bytes of an object.

        Raises:
            Refused: `forbidden` where git does not have them.
            RequestError: `invalid_arguments` where git does not answer.
            SourceError: `not_lossless` for gigantic ones.
        """
        if self._is_silent:
            raise silent()
        reader = self._reader = self._reader or self._git.start("cat-file", "--batch")
        assert reader.stdin is not None
        assert reader.stdout is not None
        try:
            reader.stdin.write(oid.encode() + b"\n")
            reader.stdin.flush()
        except OSError:
            raise _missing() from None
        if not _is_answered(reader.stdout):
            self._is_silent = True
            self._stop()
            raise silent()
        _, _, kind = reader.stdout.readline().strip().partition(b" ")
        if not kind.startswith(b"blob "):
            raise _missing()
        size = int(kind[5:])
        if size > LARGEST:
            self._stop()  # what it is about to write need not be read
            raise SourceError("not_lossless", f"has {size:,} bytes, more than {LARGEST:,}.", subject="The file")
        found = reader.stdout.read(size + 1)
        if len(found) != size + 1:
            self._stop()
            raise _missing()
        return found[:size]

    def _check_owner(self, environment: Mapping[str, str]) -> None:
        if self._repository.foreign(environment) and not self._is_safe():
            raise Refused(
                "forbidden",
                "The repository belongs to another user, so its staged files are not read.",
                hints=["Run `git status` there; it says how to trust the repository."],
            )

    @cached_property
    def _changes(self) -> dict[str, list[str]]:
        """Differences from the last commit, by path; all of it is new before the first one."""
        last = last_commit(self._repository)
        if last is None:
            return {path: ["", "", "", "", "A"] for path in self.entries()}
        return dict(self._compared(f"{last}^{{tree}}"))

    def _compared(self, *what: str) -> Iterator[tuple[str, list[str]]]:
        """Yield each path that differs from a tree: modes and objects, before and now, and git's letter."""
        raw = ("diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--relative")
        done = self._git.run("--literal-pathspecs", *raw, *what, "--")
        if done.returncode:
            raise unreadable(last_line(done.stderr))
        fields = os.fsdecode(done.stdout).split("\0")[:-1]
        for head, path in zip(fields[::2], fields[1::2], strict=True):
            yield path, head.split(" ")

    @cached_property
    def _ignored_everywhere(self) -> list[str]:
        """The user's own list of files to ignore in all repositories, as a setting."""
        return [f"core.excludesFile={path}" for path in self._git.settings_of_the_user("core.excludesFile")[-1:]]

    def _has_readable_patterns(self, path: str) -> bool:
        """Return whether all `.gitignore` files on the way to a path can be read; git would wait for a FIFO."""
        top = self._repository.top
        folders = (folder for folder in (self.root / path).parents if folder.is_relative_to(top))
        return all(_is_readable(folder / ".gitignore") for folder in folders)

    def _is_safe(self) -> bool:
        """Return whether the user's settings trust the repository, by the rules of `safe.directory`."""
        is_safe = False
        for value in self._git.settings_of_the_user("safe.directory"):
            is_safe = bool(value) and (is_safe or _covers(value, self._repository.top))  # an empty one begins anew
        return is_safe

    def _stop(self) -> None:
        reader, self._reader = self._reader, None
        if reader is None:
            return
        reader.kill()
        for pipe in (reader.stdin, reader.stdout):
            with suppress(OSError):  # it is gone, and what it was not sent is not missed
                if pipe is not None:
                    pipe.close()
        reader.wait()


def _is_readable(patterns: Path) -> bool:
    """Return whether a file, if it is there, can be read in no time."""
    try:
        status = patterns.lstat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return stat.S_ISLNK(status.st_mode) or (stat.S_ISREG(status.st_mode) and status.st_size < _LARGEST_PATTERNS)


def _covers(value: str, top: Path) -> bool:
    """Return whether a value of `safe.directory` means a repository."""
    inner = value.removesuffix("/*")
    if value == "*" or not Path(value).is_absolute():
        return value == "*"
    folder = os.path.realpath(inner)
    return str(top) == folder if inner == value else folder in map(str, top.parents)


def _is_answered(pipe: IO[bytes]) -> bool:
    """Return whether something comes through a pipe in time, of which nothing was read ahead."""
    waiting = poll()
    waiting.register(pipe, POLLIN)
    return bool(waiting.poll(SECONDS * 1_000))


def _no_room(error: OSError) -> RequestError:
    message = f"To read staged files takes a temporary folder, and there is none: {error.strerror}."
    return wrong(message, "See where TMPDIR leads, and that there is room.")


def _missing() -> Refused:
    return Refused("forbidden", "Git does not have the content of the file.", hints=["Run `git fsck`."])
