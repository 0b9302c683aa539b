"""The history: a commit for each operation, in bare repositories of our own.

    pending/         operations that were made, where they are durable, see `pending`
    history.git      those that were recorded: one commit each, on top of the one before, see `stream`
    history.1.git    older ones: what `history.git` was until it grew to half of what is kept

A change waits for no git: its operation goes to `pending`, and is recorded by the next reader of the history, or once
many are there.

Invariants:
- nothing of the user's repository is read or written: content comes in and goes out as bytes;
- an operation is recorded whole or not at all, durable once recorded, and waits until then;
- what is over the limits goes with a whole repository, by a rename: no request waits for a history to be rewritten;
- where git is missing or fails, `HistoryUnavailable` is raised, which a transaction turns into a notice.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import HistoryError, Refused, ResourceError
from bae_source.history.record.entry import Entry
from bae_source.history.record.git import REF, HistoryUnavailable, Repository
from bae_source.history.record.pending import Pending, Waiting
from bae_source.history.record.stream import AFTER, BEFORE, REQUEST, commit_again, commit_of, request_of
from bae_source.model.changeset import ChangeSet, Contents, between, digest_of
from bae_source.state.lock import project_lock

__all__ = ("HISTORY_LOCK", "REF", "Deleted", "History", "HistoryUnavailable", "Limits")

HISTORY_LOCK = "history.lock"
"""The file that keeps writers of the history apart, beside its folder."""

_CHUNK = 64  # the wanted operation is nearly always among the newest
MOST_WAITING = 64
LARGEST_WAITING = 4_000_000
"""The most operations that wait, and bytes of one, until a request reads the history, if it can be written."""
_MOST_PACKS = 64
_AT_ONCE = 8
"""Part of the limit after which so much was recorded that the size is looked at."""
PATIENCE = 10.0
"""Seconds that one process waits for others to write the history."""
_FEWEST_DIGITS = 4  # a shorter beginning of an id is more likely a slip than a choice


class Limits(Struct, frozen=True, kw_only=True):
    """The amount of history that is kept; at least half of it always is.

    Parameters:
        megabytes: of disk.
        operations: of all projects that share the history.
    """

    megabytes: float = 200
    operations: int = 10_000


class Deleted(Struct, frozen=True, kw_only=True):
    """The part of a history that was deleted.

    Parameters:
        operations: how many.
        bytes: how much smaller it is.
    """

    operations: int = 0
    bytes: int = 0


class History:
    """The operations on one project.

    Parameters:
        folder: the bare repository; it is created by the first `record`, beside it whatever else there is.
        project: the project's root relative to the top of its repository; operations of others are not shown.
        search_path: where git is looked for, as in `PATH`.
        state_id: the id of the folder that it lies in (`state.binding`); None where that is not ours, so that nothing
            in it counts.
        limits: says how much is kept; asked now and then.
    """

    def __init__(
        self,
        folder: Path,
        *,
        project: str = "",
        search_path: str = os.defpath,
        limits: Callable[[], Limits] = Limits,
        state_id: Callable[[], str | None] = lambda: "",
    ) -> None:
        self._project = project
        self._limits = limits
        self._newest = Repository(folder, search_path, state_id)
        self._older = Repository(folder.with_suffix(".1.git"), search_path, state_id)
        self._pending = Pending(folder.parent / "pending", state_id)
        self._lock = folder.parent / HISTORY_LOCK
        self._tips: tuple[str | None, ...] = ()
        self._read: dict[str, tuple[list[tuple[str, Entry]], str | None]] = {}

    def record(self, entry: Entry, before: Contents, after: Contents) -> None:
        """Take an operation, which is durable then; the folder above the repository exists, and the project is locked.

        Raises:
            OSError: it could not be taken, and was not.
            HistoryUnavailable: it waits, and cannot be recorded as things are.
        """
        self._pending.put(replace(entry, project=self._project), before, after)
        size = sum(len(content) for contents in (before, after) for content in contents.values() if content)
        if size > LARGEST_WAITING or len(self._pending.names()) > MOST_WAITING:
            self._receive()
        else:
            self._newest.check()

    def entries(self, limit: int | None = None) -> tuple[Entry, ...]:
        """Return the operations, newest first, without their requests, at most so many; raise as `walk` does."""
        return tuple(islice(self.walk(), limit))

    def walk(self) -> Iterator[Entry]:
        """Yield the operations, newest first, without their requests, reading no more of them than are taken.

        Raises:
            HistoryError: `nothing_to_undo`, if the history cannot be read.
        """
        with _readable():
            self._receive()
            for _, _, entry in self._places():
                if entry.project == self._project:
                    yield entry

    def neighbours(self, since: Entry) -> Iterator[Entry]:
        """Yield other projects' later operations on files of this one, newest first.

        Their files have the paths that they have in this project.

        Raises:
            HistoryError: `nothing_to_undo`, if the history cannot be read.
        """
        with _readable():
            for _, _, entry in self._places():
                if entry.id == since.id:
                    return
                seen = [(file, self._seen_from_here(entry.project, file.path)) for file in entry.files]
                if entry.project != self._project and any(path for _, path in seen):
                    yield replace(entry, files=tuple(replace(file, path=path) for file, path in seen if path))

    def _seen_from_here(self, project: str, path: str) -> str | None:
        """Return the path in this project of another one's file; None where it lies outside."""
        whole = f"{project}/{path}" if project else path
        own = f"{self._project}/" if self._project else ""
        return whole.removeprefix(own) if whole.startswith(own) else None

    def has_lately(self, operation_id: str) -> bool:
        """Return whether an operation is among the newest, or waits to be recorded; False where that is unknown.

        Nothing is written, and no lock is taken.
        """
        if any(name.partition("-")[2] == operation_id for name in self._pending.names()):
            return True
        with suppress(HistoryUnavailable, OSError):
            return any(entry.id == operation_id for _, _, entry in islice(self._places(), _CHUNK))
        return False

    def __iter__(self) -> Iterator[Entry]:
        return self.walk()

    def is_shared(self) -> bool:
        """Return whether other projects have operations in it.

        Raises:
            HistoryError: `nothing_to_undo`, if the history cannot be read.
        """
        with _readable():
            if self._pending.names():
                self._receive()
            return any(entry.project != self._project for _, _, entry in self._places())

    def entry(self, operation_id: str) -> Entry:
        """Return the operation of that id, or of which it is the unique beginning.

        Raises:
            HistoryError: `nothing_to_undo`, with the nearest ids as candidates.
        """
        begun: list[Entry] = []
        for entry in self.walk():
            if entry.id == operation_id:
                return entry
            if entry.id.startswith(operation_id):
                begun.append(entry)
        is_short = len(operation_id.removeprefix("op_")) < _FEWEST_DIGITS
        if len(begun) == 1 and not is_short:
            return begun[0]
        problem = f"{len(begun)} operations begin with {operation_id!r}"
        if is_short or not begun:
            needed = f"; the beginning of one needs at least {_FEWEST_DIGITS} digits" if begun else ""
            problem = f"No operation has the id {operation_id!r}{needed}"
        raise HistoryError(
            "nothing_to_undo",
            f"{problem}.",
            hints=["history() lists the operations."],
            candidates=[entry.id for entry in (begun or self.entries(limit=5))[:5]],
        )

    def whole(self, entry: Entry) -> Entry:
        """Return an operation with its request."""
        return replace(entry, request=request_of(self._files(entry).get(REQUEST)))

    def contents(self, entry: Entry) -> tuple[dict[str, bytes | None], dict[str, bytes | None]]:
        """Return the content of the files of an operation before and after it, by path; None where there was no file.

        Raises:
            HistoryError: `handle_expired`, if the history has lost it or holds something else.
        """
        files = self._files(entry)
        before: dict[str, bytes | None] = {file.path: files.get(BEFORE + file.path) for file in entry.files}
        after: dict[str, bytes | None] = {file.path: files.get(AFTER + file.path) for file in entry.files}
        for file in entry.files:
            if (digest_of(before[file.path]), digest_of(after[file.path])) != (file.before, file.after):
                raise HistoryError(
                    "handle_expired",
                    f"The history of {entry.id} is damaged: {file.name} is not in it.",
                    hints=["Undo another operation, or mend the file by hand."],
                )
        return before, after

    def changes(self, entry: Entry) -> ChangeSet:
        """Return the changeset of an operation.

        Raises:
            HistoryError: `handle_expired`, if the history has lost it or holds something else.
        """
        return between(*self.contents(entry), {file.path: file.origin for file in entry.files if file.origin})

    def prune(self, keep: Callable[[Entry], bool]) -> Deleted:
        """Delete operations for ever; the newest are offered first, those of other projects never.

        Raises:
            HistoryError: `nothing_to_undo`, if the history cannot be read or written, or another process is writing it.
        """
        deleted = Deleted()
        with _readable(), self._alone() as lock:
            self._write(lock)
            for repository in (self._newest, self._older):
                gone = self._prune(repository, keep, lock)
                deleted = Deleted(operations=deleted.operations + gone.operations, bytes=deleted.bytes + gone.bytes)
        return deleted

    @contextmanager
    def _alone(self) -> Iterator[int]:
        """Keep other writers out; a git that has the descriptor does until it has finished, even if we are killed."""
        try:
            with project_lock(self._lock, wait=PATIENCE, pid=os.getpid()) as lock:
                yield lock.descriptor
        except Refused as error:
            raise HistoryUnavailable("another process is writing it", "Try again in a moment.") from error
        except OSError as error:
            raise HistoryUnavailable(
                f"its folder cannot be used ({error.strerror})",
                "doctor says what is in the way.",
            ) from error

    def _receive(self) -> None:
        """Record what waits, so that it can be read; without git, an empty answer would hide why there is none."""
        if self._pending.names():
            with self._alone() as lock:
                self._write(lock)
        elif not self._newest.exists and not self._older.exists:
            self._newest.check()

    def _write(self, lock: int) -> None:
        """Record what waits, and keep the history small."""
        waiting = list(self._pending.waiting())
        if not waiting:
            return
        # a process that was killed before it dropped recorded operations was the last to record
        there = {entry.id for _, _, entry in islice(self._places(), max(_CHUNK, len(waiting)))}
        limits = self._warned_limits()
        group, size = list[Waiting](), 0
        for number, (_, each) in enumerate(waiting, start=1):
            if each.entry.id not in there:
                group.append(each)
                size += sum(len(content or b"") for content in (*each.before.values(), *each.after.values()))
            is_much = len(group) * _AT_ONCE >= limits.operations or size * _AT_ONCE >= limits.megabytes * 1e6
            if group and (is_much or number == len(waiting)):
                self._record(group, lock)
                with suppress(HistoryUnavailable, OSError):
                    self._keep_small(limits)
                group, size = [], 0
        with suppress(OSError):  # what is recorded already is not recorded again
            self._pending.drop(name for name, _ in waiting)

    def _record(self, group: Iterable[Waiting], lock: int) -> None:
        parent = self._newest.tip()
        commits = [
            commit_of(REF, each.entry, each.before, each.after, parent=None if number else parent)
            for number, each in enumerate(group)
        ]
        self._newest.write(b"".join(commits), self._newest.count() + len(commits), lock=lock)

    def _warned_limits(self) -> Limits:
        """Return the limits of what is kept; none where they are unknown."""
        try:
            return self._limits()
        except (ResourceError, OSError):
            return Limits(megabytes=sys.maxsize, operations=sys.maxsize)

    def _keep_small(self, limits: Limits) -> None:
        """Put packs together, and begin a new repository where this one has grown to half of what is kept."""
        packs = self._newest.packs
        if len(packs) > _MOST_PACKS:
            self._newest.pack()
        if sum(packs.values()) * 2 > limits.megabytes * 1e6 or self._newest.count() * 2 > limits.operations:
            going = self._older.folder.with_suffix(".going")
            shutil.rmtree(going, ignore_errors=True)
            with suppress(FileNotFoundError):
                self._older.folder.rename(going)
            self._newest.folder.rename(self._older.folder)
            shutil.rmtree(going, ignore_errors=True)

    def _prune(self, repository: Repository, keep: Callable[[Entry], bool], lock: int) -> Deleted:
        tip = repository.tip()
        if tip is None:
            return Deleted()
        found, _ = repository.operations(tip, sys.maxsize)
        kept = [each for each in found if each[1].project != self._project or keep(each[1])]
        size = sum(repository.packs.values())
        if len(kept) == len(found):
            return Deleted()
        if kept:
            again = (commit_again(REF, entry, tree) for tree, entry in reversed(kept))
            repository.write(f"reset {REF}\n\n".encode() + b"".join(again), len(kept), lock=lock)
            repository.sweep()
        else:
            shutil.rmtree(repository.folder)
        return Deleted(operations=len(found) - len(kept), bytes=size - sum(repository.packs.values()))

    def _places(self) -> Iterator[tuple[Repository, str, Entry]]:
        """Yield repository, tree and entry of the operations of all projects, newest first; each is read once a tip."""
        tips = (self._newest.tip(), self._older.tip())
        if tips != self._tips:
            self._tips, self._read = tips, {}
        for repository, start in zip((self._newest, self._older), tips, strict=True):
            most = _CHUNK
            while start:
                if start not in self._read:
                    self._read[start] = repository.operations(start, most)
                found, start = self._read[start]
                yield from ((repository, tree, entry) for tree, entry in found)
                most *= 16

    def _files(self, entry: Entry) -> dict[str, bytes]:
        """Return the content of an operation's commit."""
        with _readable():
            self._receive()
            for again in (False, True):
                for repository, tree, each in self._places():
                    if each.id == entry.id:
                        with suppress(HistoryUnavailable) if not again else _readable():
                            return repository.files(tree)
                self._tips = ()  # its repository has been renamed meanwhile
        raise HistoryError("handle_expired", f"{entry.id} is no longer in the history.", hints=["history() lists it."])


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except HistoryUnavailable as error:
        raise HistoryError("nothing_to_undo", f"There is no history: {error.message}.", hints=[error.hint]) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise HistoryError(
            "nothing_to_undo",
            f"There is no history: its files cannot be read ({reason}).",
            hints=["Check the permissions of our folders; doctor shows what is wrong."],
        ) from error
