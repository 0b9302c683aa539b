"""What git's index holds, asked of git's plumbing: paths with their objects, and the bytes of those that matter.

    index = GitIndex(root, environment)
    index.entries()                    {"app/core.py": Entry(mode=0o100644, oid="8baef1…")}, below the root
    index.content("8baef1…")           the bytes that would be committed

Invariants:
- nothing is written, not even what git remembers of the working tree, and nothing of the user's is run: no hook,
  filter, textconv, pager, editor, file monitor, and no object is fetched;
- the index is the one that git is about to commit: `GIT_INDEX_FILE`, `GIT_DIR` and what else says where it lies are
  the caller's, since git sets them for its hooks;
- what would not be committed, as after `git add --intent-to-add`, is not there.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from msgspec import Struct

from bae_source.errors import Refused, RequestError, SourceError
from bae_source.model.git_places import PLACES

_EMPTY_TREES = ("4b825dc642cb6eb9a060e54bf8d69288fbee4904",
                "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321")  # fmt: skip
"""The tree of no files, which every git knows, by SHA-1 and by SHA-256."""

_LARGEST = 80_000_000
_SECONDS = 60.0
_REGULAR = (0o100644, 0o100755)
_MODES = {f"{mode:o}": mode for mode in _REGULAR}
_OURS = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat", "LC_ALL": "C",
}  # fmt: skip
_OF_THE_CALLER = ("PATH", "HOME", "XDG_CONFIG_HOME", *PLACES)
"""Where git and its settings lie; the settings have to be the user's, for they say whose repositories are trusted."""

_QUIET = ("--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")


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
        """Whether it is a file with one content: no link, no submodule, and in no conflict."""
        return self.merged and self.mode in _REGULAR


class GitIndex:
    """The index of the repository that a folder lies in.

    Parameters:
        root: the folder; paths are relative to it, and what lies outside is not looked at.
        environment: the caller's. What it says of places is absolute.
    """

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.root = root
        kept = {name: value for name, value in environment.items() if _is_kept(name)}
        self.environment = {"PATH": os.defpath, **kept, **_OURS}
        self._reader: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def entries(self) -> dict[str, Entry]:
        """Return what is in the index below the root.

        Raises:
            RequestError: `invalid_arguments` where git is not there, or has no index for the folder.
        """
        for tree in _EMPTY_TREES:
            done = self._git("diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--relative",
                             "--ita-invisible-in-index", tree, "--")  # fmt: skip
            if done.returncode == 0:
                return _entries(done.stdout)
            if tree.encode() not in done.stderr:
                break
        raise _unreadable(done.stderr)

    def staged(self) -> tuple[str, ...]:
        """Return the paths whose content differs from that of the last commit; those that are gone are left out."""
        head = self._git("rev-parse", "--quiet", "--verify", "HEAD^{tree}").stdout.decode().strip()
        if not head:
            return tuple(self.entries())
        done = self._git("diff-index", "--cached", "--name-only", "-z", "--no-renames", "--relative",
                         "--diff-filter=d", head, "--")  # fmt: skip
        if done.returncode:
            raise _unreadable(done.stderr)
        return tuple(map(os.fsdecode, filter(None, done.stdout.split(b"\0"))))

    def ignored(self, paths: Iterable[str]) -> frozenset[str]:
        """Return those of some paths that git would ignore; all of them where it cannot say."""
        asked = list(paths)
        given = b"".join(b"./%b\0" % os.fsencode(path) for path in asked)  # no name is taken for a pattern so
        done = self._git("check-ignore", "-z", "--stdin", given=given, literal=False)
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
            done = self._git("grep", "--cached", "-l", "-z", "-E", "--no-color", "--no-textconv",
                             "--no-recurse-submodules", "-e", pattern, "--", *which, literal=False)  # fmt: skip
            if done.returncode not in (0, 1):
                return None
            found += map(os.fsdecode, filter(None, done.stdout.split(b"\0")))
        return tuple(found)

    def gone(self) -> frozenset[str]:
        """Return the paths that the last commit has, and the index has no more."""
        done = self._git("diff-index", "--cached", "--name-only", "-z", "--no-renames", "--relative",
                         "--diff-filter=D", "HEAD", "--")  # fmt: skip
        return frozenset(map(os.fsdecode, filter(None, done.stdout.split(b"\0"))))  # none before the first commit

    def content(self, oid: str) -> bytes:
        """Return the bytes of an object.

        Raises:
            Refused: `forbidden` where git does not have them.
            SourceError: `not_lossless` for gigantic ones.
        """
        reader = self._reader = self._reader or self._start("cat-file", "--batch")
        assert reader.stdin is not None
        assert reader.stdout is not None
        try:
            reader.stdin.write(oid.encode() + b"\n")
            reader.stdin.flush()
        except OSError:
            raise _missing() from None
        _, _, kind = reader.stdout.readline().strip().partition(b" ")
        if not kind.startswith(b"blob "):
            raise _missing()
        size = int(kind[5:])
        if size > _LARGEST:
            self._stop()  # what it is about to write need not be read
            raise SourceError("not_lossless", f"The file has {size:,} bytes, more than {_LARGEST:,}.")
        found = reader.stdout.read(size + 1)
        if len(found) != size + 1:
            self._stop()
            raise _missing()
        return found[:size]

    def _git(self, *arguments: str, given: bytes = b"", literal: bool = True) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                self._command(arguments, literal=literal),
                cwd=self.root,
                env=self.environment,
                input=given,
                capture_output=True,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise RequestError("invalid_arguments", f"Git did not answer within {_SECONDS:.0f} seconds.") from None
        except OSError as error:
            raise _absent(error) from None

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                self._command(arguments),
                cwd=self.root,
                env=self.environment,
                stdin=pipe,
                stdout=pipe,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise _absent(error) from None

    def _command(self, arguments: Iterable[str], *, literal: bool = True) -> list[str]:
        quiet = _QUIET if literal else [each for each in _QUIET if each != "--literal-pathspecs"]
        return ["git", *quiet, *arguments]

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


def _is_kept(name: str) -> bool:
    return name in _OF_THE_CALLER or name.startswith("GIT_CONFIG")


def _entries(told: bytes) -> dict[str, Entry]:
    """Return the entries in the raw format of `git diff-index`: `:000000 MODE 0… OID A`, NUL, path, NUL."""
    found: dict[str, Entry] = {}
    fields = os.fsdecode(told).split("\0")
    for head, path in zip(fields[::2], fields[1::2], strict=False):
        _, mode, _, oid, status = head.split(" ")
        merged = status != "U" and (path not in found or found[path].merged)
        found[path] = Entry(_MODES.get(mode) or int(mode, 8), oid, merged)
    return found


def _unreadable(said: bytes) -> RequestError:
    if b"not a git repository" in said:
        message, hint = "There is no git repository here.", "Run it inside of one, or name its folder with --root DIR."
    elif b"dubious ownership" in said:
        message = "Git refuses the repository, which belongs to somebody else."
        hint = "Run `git status` there; it says how to trust the repository."
    else:
        message, hint = "Git cannot read the index of this project.", "Run `git status` there; it says why."
    return RequestError("invalid_arguments", message, hints=[hint])


def _absent(error: OSError) -> RequestError:
    return RequestError(
        "invalid_arguments",
        f"Git is needed to read what is staged, and could not be started: {error.strerror}.",
        hints=["Install git, and see that PATH leads to it."],
    )


def _missing() -> Refused:
    return Refused("forbidden", "Git does not have the content of the file.", hints=["Run `git fsck`."])
