"""The history: a commit for each operation, in a bare repository of our own; the only home of GitPython.

    refs/bae-source/operations      one commit per operation, each on top of the one before
      operation.json                the `Entry`
      before/<path>, after/<path>   the content of every file it touched; absent where there was no file

Invariants:
- git runs in an environment that holds only what is named here, so that no inherited `GIT_DIR`, no configuration of
  the user, no hook, filter, signing or fsmonitor has a say;
- nothing of the user's repository is read or written: content comes in and goes out as bytes;
- an operation is recorded whole or not at all, and durable once recorded;
- where git is missing or fails, recording raises `HistoryUnavailable`, which a transaction turns into a notice.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType

import msgspec

from bae_source.errors import HistoryError
from bae_source.model.changeset import ChangeSet, between, digest
from bae_source.transaction.entry import Entry
from bae_source.transaction.timeline import Timeline, timeline

REF = "refs/bae-source/operations"
Contents = Mapping[str, bytes | None]

_ENV = "/usr/bin/env"
_CHUNK = 64
_SETTINGS = (
    "core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null", "commit.gpgSign=false",
    "core.fsync=committed,loose-object", "core.fsyncMethod=fsync", "core.logAllRefUpdates=false", "gc.auto=0",
    "fastimport.unpackLimit=1000000", "protocol.allow=never",
)  # fmt: skip
_INSTALL = "Install git, and operations will be recorded and can be undone."

_FEWEST_DIGITS = 4  # a shorter beginning of an id is more likely a slip than a choice


class HistoryUnavailable(Exception):
    """The history can neither be read nor written; the message says why, `hint` what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint


class History:
    """The operations on one project.

    Parameters:
        folder: the bare repository; it is created by the first `record`.
        project: the project's root relative to the top of its repository; operations of others are not shown.
        search_path: where git is looked for, as in `PATH`.
    """

    def __init__(self, folder: Path, *, project: str = "", search_path: str = os.defpath) -> None:
        self._folder = folder
        self._project = project
        self._search_path = search_path
        self._commits: dict[str, str] = {}

    def record(self, entry: Entry, before: Contents, after: Contents) -> None:
        """Record an operation; the folder above the repository exists.

        Raises:
            HistoryUnavailable: it could not be recorded, and was not.
        """
        if not (self._folder / "HEAD").is_file():
            self._git("init", "--quiet", "--bare", "--template=", "--object-format=sha1", str(self._folder))
        entry = msgspec.structs.replace(entry, project=self._project)
        try:
            stream = _stream(entry, before, after, parent=self._tip())
        except (TypeError, ValueError) as error:
            raise HistoryUnavailable("the request cannot be written as JSON", "Report this as a bug.") from error
        self._git("fast-import", "--quiet", "--done", "--date-format=raw", feed=stream)

    def contains(self, operation_id: str) -> bool:
        """Say whether the operation is recorded; False where the history cannot be read."""
        try:
            return any(entry.id == operation_id for entry in self._walk())
        except HistoryUnavailable:
            return False

    def entries(self, limit: int | None = None, who: str | None = None) -> tuple[Entry, ...]:
        """Return the operations, newest first.

        Parameters:
            limit: at most that many.
            who: only those of this caller.

        Raises:
            HistoryError: `nothing_to_undo`, if the history cannot be read.
        """
        found: list[Entry] = []
        try:
            for entry in self._walk():
                if limit is not None and len(found) >= limit:
                    break
                if who is None or entry.who == who:
                    found.append(entry)
        except HistoryUnavailable as error:
            raise HistoryError(
                "nothing_to_undo", f"There is no history: {error.message}.", hints=[error.hint]
            ) from error
        return tuple(found)

    def entry(self, operation_id: str) -> Entry:
        """Return the operation of that id, or of which it is the unique beginning.

        Raises:
            HistoryError: `nothing_to_undo`, with the nearest ids as candidates.
        """
        every = self.entries()
        long_enough = len(operation_id.removeprefix("op_")) >= _FEWEST_DIGITS
        exact = [entry for entry in every if entry.id == operation_id]
        found = exact or [entry for entry in every if long_enough and entry.id.startswith(operation_id)]
        if len(found) == 1:
            return found[0]
        problem = f"{len(found)} operations begin with" if found else "No operation has the id"
        raise HistoryError(
            "nothing_to_undo",
            f"{problem} {operation_id!r}.",
            hints=["history() lists the operations."],
            candidates=[entry.id for entry in (found or every)[:5]],
        )

    def contents(self, entry: Entry) -> tuple[dict[str, bytes | None], dict[str, bytes | None]]:
        """Return the content of the files of an operation before and after it, by path; None where there was no file.

        Raises:
            HistoryError: `handle_expired`, if the history has lost it or holds something else.
        """
        try:
            blobs = self._blobs(self._commit(entry))
        except HistoryUnavailable as error:
            raise HistoryError(
                "nothing_to_undo", f"There is no history: {error.message}.", hints=[error.hint]
            ) from error
        before = {file.path: blobs.get(f"before/{file.path}") for file in entry.files}
        after = {file.path: blobs.get(f"after/{file.path}") for file in entry.files}
        for file in entry.files:
            if (_digest(before[file.path]), _digest(after[file.path])) != (file.before, file.after):
                raise HistoryError(
                    "handle_expired",
                    f"The history of {entry.id} is damaged: {file.name} is not in it.",
                    hints=["Undo another operation, or mend the file by hand."],
                )
        return before, after

    def changes(self, entry: Entry) -> ChangeSet:
        """Return what an operation did, as a changeset."""
        return between(*self.contents(entry))

    def timeline(self, who: str) -> Timeline:
        """Return what `who` can undo and redo."""
        return timeline(self.entries(), who)

    def undoable(self, who: str) -> Entry | None:
        """Return the change that `undo` of this caller would take back."""
        return next(reversed(self.timeline(who).undoable), None)

    def redoable(self, who: str) -> Entry | None:
        """Return the change that `redo` of this caller would make again."""
        return next(reversed(self.timeline(who).redoable), None)

    def _walk(self) -> Iterator[Entry]:
        """Yield the project's operations, newest first, reading them a chunk at a time."""
        if not (self._folder / "HEAD").is_file():
            self._executable()  # without git, an empty answer would hide why nothing can be undone
            return
        tip = self._tip()
        commits = [] if tip is None else self._git("rev-list", "--first-parent", tip).decode("ascii").split()
        for start in range(0, len(commits), _CHUNK):
            chunk = commits[start : start + _CHUNK]
            texts = self._objects([f"{commit}:operation.json" for commit in chunk])
            for commit, text in zip(chunk, texts, strict=True):
                entry = _parsed(text)
                if entry is not None and entry.project == self._project:
                    self._commits[entry.id] = commit
                    yield entry

    def _commit(self, entry: Entry) -> str:
        if entry.id not in self._commits:
            self.entry(entry.id)
        return self._commits[entry.id]

    def _tip(self) -> str | None:
        answer = self._git("for-each-ref", "--format=%(objectname)", REF).decode("ascii").strip()
        return answer or None

    def _blobs(self, commit: str) -> dict[str, bytes | None]:
        """Return every file of a commit's tree."""
        listing = self._git("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
        found = [line.partition(b"\t") for line in listing if line]
        names = [os.fsdecode(path) for _, _, path in found]
        return dict(zip(names, self._objects([head.split()[2].decode() for head, _, _ in found]), strict=True))

    def _objects(self, names: Sequence[str]) -> list[bytes | None]:
        """Return the content of objects, None for one that is missing."""
        answer = self._git("cat-file", "--batch", feed="".join(f"{name}\n" for name in names).encode())
        contents: list[bytes | None] = []
        position = 0
        for _ in names:
            end = answer.index(b"\n", position)
            head = answer[position:end].rsplit(b" ", 2)
            position = end + 1
            if head[-1] == b"missing":
                contents.append(None)
                continue
            size = int(head[-1])
            contents.append(answer[position : position + size])
            position += size + 1
        return contents

    def _executable(self) -> str:
        found = shutil.which("git", path=self._search_path)
        if found is None:
            raise HistoryUnavailable("git is not installed", _INSTALL)
        return found

    def _git(self, *arguments: str, feed: bytes = b"") -> bytes:
        """Run git on our repository, through GitPython, in an environment of our making.

        GitPython always adds the inherited environment; `env -i` in front of git takes it away again.
        """
        executable = self._executable()
        git = _gitpython()
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        command = [_ENV, "-i", *self._environment(), executable, *settings, *arguments]
        try:
            with TemporaryFile() as stream:
                stream.write(feed)
                stream.seek(0)
                output = git.Git(str(self._folder.parent)).execute(
                    command,
                    istream=stream,
                    stdout_as_string=False,
                    strip_newline_in_stdout=False,
                    start_new_session=True,
                )
        except (git.GitError, OSError, ValueError) as error:
            raise HistoryUnavailable(
                f"git could not {arguments[0]} our history ({_reason(error)})",
                "Move the folder bae-source/history.git out of the way; the next operation starts a new history.",
            ) from error
        assert isinstance(output, bytes)
        return output

    def _environment(self) -> list[str]:
        return [
            f"PATH={self._search_path}", f"GIT_DIR={self._folder}", "GIT_CONFIG_NOSYSTEM=1",
            "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
            "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C",
        ]  # fmt: skip


def _gitpython() -> ModuleType:
    """Import GitPython: late, since it costs 120 ms; quietly, since it looks for git at its import and complains."""
    name = "GIT_PYTHON_REFRESH"
    earlier = os.environ.get(name)
    os.environ[name] = "quiet"
    try:
        import git
    except ImportError as error:
        raise HistoryUnavailable("GitPython cannot be imported", "Install GitPython again.") from error
    finally:
        if earlier is None:
            del os.environ[name]
        else:
            os.environ[name] = earlier
    return git


def _reason(error: Exception) -> str:
    """Return the last line that git said, without the paths in it."""
    text = str(getattr(error, "stderr", "") or error).strip().strip("'").strip()
    line = text.splitlines()[-1].strip() if text else type(error).__name__
    return " ".join("…" if "/" in word else word for word in line.split())


def _digest(content: bytes | None) -> str | None:
    return None if content is None else digest(content)


def _parsed(text: bytes | None) -> Entry | None:
    """Return the entry, or None for one that a newer version of ours wrote."""
    if text is None:
        return None
    try:
        return msgspec.json.decode(text, type=Entry)
    except msgspec.ValidationError:
        return None


def _stream(entry: Entry, before: Contents, after: Contents, *, parent: str | None) -> bytes:
    """Return what `git fast-import` reads to make the commit."""
    files: dict[str, bytes] = {"operation.json": msgspec.json.format(msgspec.json.encode(entry), indent=1)}
    files |= {f"before/{path}": content for path, content in before.items() if content is not None}
    files |= {f"after/{path}": content for path, content in after.items() if content is not None}
    stamp = f"{int(datetime.fromisoformat(entry.when).timestamp())} +0000"
    lines = [f"commit {REF}\n".encode()]
    lines += [_person("author", entry.who, stamp), _person("committer", "bae_source", stamp)]
    lines.append(_data(_message(entry).encode("utf-8", "replace")))
    if parent is not None:
        lines.append(f"from {parent}\ndeleteall\n".encode())
    for path, content in files.items():
        lines += [b"M 100644 inline ", _quoted(path), b"\n", _data(content)]
    return b"".join((*lines, b"done\n"))


def _person(role: str, name: str, stamp: str) -> bytes:
    plain = "".join(char for char in name if char.isprintable() and char not in "<>").strip() or "unknown"
    return f"{role} {plain} <bae_source@localhost> {stamp}\n".encode("utf-8", "replace")


def _message(entry: Entry) -> str:
    trailer = [f"Operation: {entry.id}", f"Kind: {entry.kind}", *([f"Of: {entry.of}"] if entry.of else [])]
    paragraphs = [entry.summary, entry.why, "\n".join(trailer)]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n"


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    """Quote a path as fast-import reads it: every byte that is not plain as an octal escape."""
    plain = b"".join(
        b"%c" % byte if 32 < byte < 127 and byte not in b'"\\' else b"\\%03o" % byte for byte in os.fsencode(path)
    )
    return b'"' + plain + b'"'
