"""One change of the project: checked, loaded, written and recorded, or not made at all.

    hold -> check that the planned-on bytes are on disk -> loader.load -> journal, and new content in a folder of ours
         -> write -> mark in the journal: the commit point -> hand to the history -> clean up

What judges a change did so before, on the planned text and without the lock: nothing is taken back for a judgement.

Invariants:
- nothing of the project is written before every target is known to hold the bytes the plan was made on, and before the
  journal, which can take everything back, is durable;
- whatever goes wrong before the mark, Ctrl-C included, takes every file back that still is what we wrote, and then
  what this process loaded; later changes from outside stay, and are reported. If the process dies instead, the
  next one does the same, but for one file that stands made (see `recovery`);
- the mark is the commit point: after it there is no error, and the files of an answered change are durable. So
  is the mark itself, unless the change is one file: that is made by its replacement (see `journal`).
  A history that cannot be written costs the record, not the change, and a notice says so; a process that dies between
  the two has its operation handed on by the next one;
- messages name modules; only what a person needs after a failed rollback names places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from stat import S_IMODE
from threading import get_ident
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import TransactionError
from bae_source.history.record.entry import Bits, Entry, Kind
from bae_source.history.record.history import History, HistoryUnavailable
from bae_source.model.changeset import Contents
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.state.folders import StateFolders
from bae_source.state.journal_head import NAME
from bae_source.transaction.commit import failures
from bae_source.transaction.commit.checking import (
    attributes_of,
    check,
    folders_left,
    touched,
)
from bae_source.transaction.commit.holding import Holder, Holding
from bae_source.transaction.commit.journal import Record
from bae_source.transaction.commit.loading import Loader
from bae_source.transaction.commit.recovery import contents_of, put_off
from bae_source.transaction.commit.restoring import Restored, Restorer
from bae_source.transaction.commit.witness import NoWitness, Witness
from bae_source.transaction.disk.folders import modes_to_give, to_make
from bae_source.transaction.disk.names import speaker, speaker_of
from bae_source.transaction.disk.port import Disk, RealDisk
from bae_source.transaction.disk.staging import Staging
from bae_source.transaction.disk.targets import Content, read_target
from bae_source.transaction.disk.walk import Walk
from bae_source.transaction.disk.writer import WriteFailed, Writer

# One plan on its way through the phases of a transaction; its driver knows what an interruption means.
#
# Invariants:
# - what was written is taken back, whatever goes wrong before the mark; then what was loaded;
# - a process that was forked while a change is loaded has no part in it.

T = TypeVar("T")


class Run:
    """One plan on its way through the phases; call it while the walk keeps folders.

    Attributes:
        walk: the folders that it reaches.
        left: permission bits of the folders above files that are deleted, by path; known once it was checked.
        before, after: what the files hold, by path; known once it was checked.
        is_committed: whether the change stands, whatever comes.
        entry: what the history is to have of it; known once the witness has it.
    """

    def __init__(
        self,
        root: Path,
        folders: StateFolders,
        disk: Disk,
        plan: Plan,
        loader: Loader,
        holding: Holding,
        witness: Witness,
    ) -> None:
        self.is_committed = False
        self.entry: Entry | None = None
        self._witness = witness
        speak = self._speak = speaker(plan.modules)
        self.walk = Walk(root, disk, speak)
        self.left: dict[str, int] = {}
        self.before: Contents
        self.after: Contents
        self._plan = plan
        self._loader = loader
        self._holding = holding
        self._journal = holding.journal
        self._folders = folders
        self._disk = disk
        self._staging: Staging
        self._single = False
        self._writer: Writer
        self._record: Record

    def check(self) -> tuple[Content, ...]:
        """Read every target, and make sure that it is what the plan was made on."""
        contents = check(self._plan.changes, self.walk, self._disk, self._speak)
        self.left = folders_left(contents, self.walk, self._disk)
        self.before, self.after = contents_of(contents)
        # what holds the same bytes before and after does not show by itself whether it was replaced
        self._single = len(contents) == 1 and contents[0].before != contents[0].after
        return contents

    def make(self, record: Record) -> tuple[Notice, ...]:
        """Load, write and commit; or leave this process and the project as they were, and raise."""
        try:
            found = self._loader.load()
            if not self._holding.is_ours():
                raise RuntimeError("a process that was forked while a change is loaded has no part in it")
            self.walk.forget()  # code of the project ran, which takes a while
            self.entry = self._witness.begun(record.entry, self._plan.changes)
            self._begin(replace(record, entry=self.entry))
            self._write()
        except BaseException as error:
            if self.is_committed:
                raise
            raise self._failed(self._put_back(error)) from error.__cause__
        return (*found, *failures.disowned(self._writer.disowned), *self._written())

    def _begin(self, record: Record) -> None:
        """Write the journal, and new content in our own folder; when this returns, both are durable.

        A death is seen in the journal from the beginning. New content goes to the disk first: it takes longer.
        """
        self._record = record
        self._staging = Staging(self._folders.staging, self._folders.kept, record.entry.id, self.walk, self._disk)
        modes = modes_to_give(self._plan.changes, record.contents, self.left)
        self._writer = Writer(record.contents, self.walk, self._staging, self._disk, modes)
        begin = self._journal.begin_single if self._single else self._journal.begin
        try:
            begin(record)
            self._writer.stage()
            self._journal.write_out()
            self._writer.persist()
            self._journal.persist()
        except BaseException as error:
            _unfailing(self._writer.drop)
            _unfailing(lambda: self._journal.close(durable=False))
            if isinstance(error, OSError):
                raise failures.no_state(error) from error
            if isinstance(error, WriteFailed):
                raise failures.explained(error, Restored(), ()) from error
            raise

    def _write(self) -> None:
        """Write and commit; or take every file back and raise."""
        try:
            self._writer.replace()
            self._writer.keep()
            self._commit()
            self.is_committed = True
        except BaseException as error:
            if self.is_committed or not self._holding.is_ours():
                raise
            raise self._take_back(error) from error

    def _written(self) -> tuple[Notice, ...]:
        """Report to the loader that the change is made; an error of that becomes a notice."""
        try:
            return _undisturbed(self._loader.written)
        except BaseException as error:  # noqa: BLE001 - the change is made, and saying otherwise would be wrong
            return failures.interrupted(error)

    def finish(self) -> None:
        """Remove what the transaction needed; what cannot be removed, the next one does."""
        _unfailing(self._writer.clean)
        _unfailing(partial(self._journal.close, durable=False))

    def _commit(self) -> None:
        self._writer.settle()
        if not self._holding.is_valid():
            raise TransactionError(
                "write_failed",
                "The lock of the project was removed while it was held",
                unchanged=True,
                hints=["Leave the files of bae_source alone while it works, and try again."],
            )
        try:
            self._journal.mark()
        except OSError as error:
            raise WriteFailed("The journal", error) from error

    def _take_back(self, error: BaseException) -> BaseException:
        """Take every file back, and return the error to raise; it says what state the project is in."""
        self.walk.forget()
        _unfailing(self._journal.reopen)
        restorer = Restorer(self._record, self.walk, self._staging, self._disk)
        restored = _undisturbed(lambda: restorer.restore(self._writer.touched))
        if restored.failed:
            return failures.stuck(failures.failed(error), restored, str(self._folders.base / NAME))
        try:
            kept = _undisturbed(restorer.abandon)
        except OSError as failure:
            return failures.explained(error, restored, (failures.not_kept(failure),))
        _unfailing(lambda: self._journal.close(durable=True))
        return failures.explained(error, restored, tuple(map(failures.saved, kept)))

    def _failed(self, error: BaseException) -> BaseException:
        """Report the failure of a change to the witness, if it knows of it, and return the error to raise."""
        entry = self.entry
        if entry is None or not self._holding.is_ours():
            return error
        return _undisturbed(lambda: self._witness.failed(entry, error))

    def _put_back(self, error: BaseException) -> BaseException:
        """Take back what was loaded, and return the error to raise, which a failure of that must not hide."""
        try:
            _undisturbed(self._loader.roll_back)
        except BaseException as failure:  # noqa: BLE001 - the first error is raised, with this one as a note on it
            what = "What is loaded in this process could not be taken back"
            return failures.explained(error, Restored(), (f"{what} ({type(failure).__name__}); restart it.",))
        return error


class Committed(Struct, frozen=True, kw_only=True):
    """A change that has been made.

    Parameters:
        operation_id: the id by which `undo` and `history` know it.
        warnings: what the caller should know beside the plan's own warnings.
    """

    operation_id: str
    warnings: tuple[Notice, ...] = ()


class Transactions:
    """Makes changes to the project at `root`, one at a time.

    Parameters:
        clock: the time now, with its zone.
        new_id: a fresh operation id.
        disk: the port to the disk.
        wait: how many seconds to wait for the lock.
        witness: sees each change that is written.
    """

    def __init__(
        self,
        root: Path,
        *,
        folders: StateFolders,
        history: History,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        disk: Disk | None = None,
        wait: float = 10.0,
        witness: Witness | None = None,
    ) -> None:
        self._root = root
        self._witness = witness or NoWitness()
        self._folders = folders
        self._history = history
        self._clock = clock
        self._new_id = new_id
        self._disk = disk or RealDisk()
        self._holder = Holder(root, folders, self._disk, history, self._witness, wait=wait)
        self._holding: Holding | None = None
        self._untold: list[Notice] = []
        self._committed_id: str | None = None

    def read(self, path: str, names: Mapping[str, str] | None = None) -> bytes | None:
        """Return the content of a file that a change may touch, None where there is no file.

        Parameters:
            names: what files are called in messages, by path.

        Raises:
            Refused: it may not or cannot be written.
        """
        speak = speaker_of(names or {})
        walk = Walk(self._root, self._disk, speak)
        try:
            with walk.keeping():
                return read_target(walk, self._disk, speak, path).before
        except OSError as error:
            raise failures.unreadable(speak(path), error) from error

    def bits(self, path: str) -> Bits:
        """Return permission bits and owner of a file, as far as they can be read."""
        walk = Walk(self._root, self._disk, str)
        attributes = None
        with suppress(OSError), walk.keeping():
            attributes = attributes_of(path, walk, self._disk, str)
        return (None, None) if attributes is None else (S_IMODE(attributes.mode), attributes.owner)

    def recover(self) -> tuple[Notice, ...]:
        """Take back or complete what a process left that died; call it before a project is read.

        Returns:
            What was done, for a person; nothing if there was nothing to do, which one short read tells. A living
            process that is writing is waited for, which is a matter of milliseconds. Never raises because of what it
            finds: a project that cannot be recovered can still be read, and the notice `recovery_failed` says what is
            to be done.
        """
        return () if self._is_locked_here() else self._holder.recover()

    def recovered(self) -> tuple[Notice, ...]:
        """Return the notices of recovery that no answer has had yet; each is returned once."""
        found = tuple(self._untold)
        del self._untold[: len(found)]
        return found

    @property
    def committed_id(self) -> str | None:
        """The operation that the last `commit` made; None if it made none."""
        return self._committed_id

    def forget_committed(self) -> None:
        """Forget the operation of the last `commit`, since it was undone."""
        self._committed_id = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep all other transactions out: what is planned inside is committed on the very state it was planned on.

        Raises:
            Refused, TransactionError: as `commit`.
        """
        if self._is_locked_here():
            yield
            return
        with self._holder.hold() as holding:
            self._holding = holding
            self._untold += holding.recovered
            try:
                yield
            finally:
                self._holding = None

    def commit(
        self,
        plan: Plan,
        *,
        loader: Loader,
        who: str,
        why: str,
        request: dict[str, Any],
        kind: Kind = "change",
        of: tuple[str, ...] = (),
        operation_id: str = "",
    ) -> Committed:
        """Make the change of `plan`, which is not empty.

        Parameters:
            loader: loads what is planned into this process.
            who: the caller.
            why: the caller's reason, or "".
            request: the request as a mapping, for the history.
            kind, of: for undo and redo, which changes it concerns.
            operation_id: the id that it gets; "" for a fresh one.

        Raises:
            Refused: nothing was written: `stale`, `busy`, `forbidden`, `outside_project`, `unsafe_change`,
                `name_collision`.
            TransactionError: `reload_failed` before anything is written; `write_failed` where it was taken back;
                `rollback_failed` if that failed too, or if that of an earlier change did.
        """
        if not plan.changes:
            raise ValueError("a transaction needs something to change")
        run, committed_id, notices = None, None, list[Notice]()
        try:
            with self.locked():
                assert self._holding is not None
                run = Run(self._root, self._folders, self._disk, plan, loader, self._holding, self._witness)
                with run.walk.keeping():
                    contents = run.check()
                    entry = self._entry(plan, contents, run, who=who, why=why, request=request, kind=kind, of=of)
                    entry = replace(entry, id=operation_id) if operation_id else entry
                    committed_id = entry.id
                    notices += run.make(Record(entry=entry, contents=contents, new_folders=to_make(contents)))
                    entry = run.entry or entry
                    notices += _undisturbed(partial(self._witness.applied, entry))
                    notices += self._finish(run, entry)
            return Committed(operation_id=entry.id, warnings=(*self.recovered(), *notices))
        except BaseException as error:
            if run is None or not run.is_committed:
                raise
            notices += failures.interrupted(error)
            return Committed(operation_id=entry.id, warnings=(*self.recovered(), *notices))
        finally:
            self._committed_id = committed_id if run is not None and run.is_committed else None

    def _finish(self, run: Run, entry: Entry) -> tuple[Notice, ...]:
        """Record and clean up; from here on there is no error.

        What neither the history nor what waits for it could take stays in the journal: the next request tries again.
        """
        before, after = run.before, run.after
        waits, warnings = True, tuple[Notice, ...]()
        try:
            self._history.record(entry, before, after)
        except HistoryUnavailable as error:
            warnings = failures.unrecorded(error.message, error.hint)
        except OSError as error:
            waits, warnings = False, failures.not_taken(error)
        except BaseException as error:  # noqa: BLE001 - the change is made, and saying otherwise would be wrong
            waits = self._put_off(entry, before, after)
            warnings = failures.interrupted(error, waits=waits)
        if waits:
            _undisturbed(run.finish)
        return warnings

    def _put_off(self, entry: Entry, before: Contents, after: Contents) -> bool:
        """Let a change wait for being recorded, lest undo take an older one for the last; say whether it does."""
        try:
            _undisturbed(lambda: put_off(self._folders, entry, before, after))
        except (OSError, TypeError, ValueError):
            return False
        return True

    def _is_locked_here(self) -> bool:
        return self._holding is not None and self._holding.thread == get_ident() and self._holding.is_held

    def _entry(
        self,
        plan: Plan,
        contents: Sequence[Content],
        run: Run,
        *,
        who: str,
        why: str,
        request: dict[str, Any],
        kind: Kind,
        of: tuple[str, ...],
    ) -> Entry:
        found = {content.path: content for content in contents}
        return Entry(
            id=self._new_id(),
            kind=kind,
            of=of,
            who=who,
            when=self._clock().astimezone(UTC).isoformat(timespec="seconds"),
            why=why,
            request=request,
            summary=plan.summary,
            files=tuple(touched(change, found[change.path]) for change in plan.changes.files),
            changed=tuple(map(str, plan.changed)),
            folders=run.left,
            passed={change: dict(bits) for change, bits in plan.passed.items()},
            project=self._folders.project,
        )


def _undisturbed(action: Callable[[], T]) -> T:
    """Finish `action`, which may be repeated, though Ctrl-C is pressed meanwhile; three times are enough of it."""
    for _ in range(3):
        try:
            return action()
        except KeyboardInterrupt:
            continue
    return action()


def _unfailing(action: Callable[[], None]) -> None:
    """Do a step that need not succeed: a journal left open only has a sound state checked once more."""
    try:  # not `suppress`, which takes longer than most of what is done here
        _undisturbed(action)
    except OSError:
        return
