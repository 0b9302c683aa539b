"""Hold a project: take its lock and its journal, and finish first what a dead process left.

    lock -> journal -> recover what a crash left

Invariants:
- at any time one holder in all processes and threads, even if the lock file or the journal is removed: the one
  is locked as well as the other;
- nothing new begins on top of what could not be taken back.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import get_ident

from bae_source.errors import Refused
from bae_source.history.record.history import History
from bae_source.model.outcome import Notice
from bae_source.state.folders import ForeignState, StateFolders, foreign
from bae_source.state.journal_head import NAME
from bae_source.state.lock import Lock, busy, project_lock
from bae_source.transaction.commit import journal as journals
from bae_source.transaction.commit.failures import no_recovery, no_state, notices_of, stuck
from bae_source.transaction.commit.journal import Foreign, InUse, Journal, State, Unreadable
from bae_source.transaction.commit.recovery import Recovered, Recovery, sweep
from bae_source.transaction.commit.witness import Witness
from bae_source.transaction.disk.port import Disk

_MOMENT = 0.25
_PAUSE = 0.01
_NOTHING = Recovered()


class Holding:
    """A project, held until its context ends.

    Attributes:
        recovered: notices of what had to be recovered.
    """

    def __init__(self, lock: Lock, journal: Journal) -> None:
        self.journal = journal
        self.recovered: tuple[Notice, ...] = ()
        self.thread = get_ident()
        self._lock = lock
        self._pid = os.getpid()

    def __enter__(self) -> Holding:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let others in."""
        with self._lock:
            self.journal.release()

    def is_ours(self) -> bool:
        """Return whether this is the process that took hold: one that it forked meanwhile has no part in it."""
        return self._pid == os.getpid()

    @property
    def is_held(self) -> bool:
        """Return whether the lock was not let go yet."""
        return self._lock.is_held

    def is_valid(self) -> bool:
        """Return whether others are still kept out."""
        return self._lock.is_valid()


class Holder:
    """Holds one project, and recovers it.

    Parameters:
        root: the project's root.
        history: queried for an operation, where nothing else shows whether that was made.
        witness: gets the fate of a change whose process died.
        wait: how many seconds to wait for the lock.
    """

    def __init__(
        self,
        root: Path,
        folders: StateFolders,
        disk: Disk,
        history: History,
        witness: Witness,
        *,
        wait: float,
    ) -> None:
        self._root = root
        self._folders = folders
        self._disk = disk
        self._history = history
        self._witness = witness
        self._wait = wait
        self._swept = False

    def hold(self) -> Holding:
        """Take hold of the project, recovered.

        Raises:
            Refused: `busy`, or `forbidden` where our own state cannot be read or written.
            TransactionError: `rollback_failed`, if an earlier change cannot be taken back.
        """
        holding = self._taken(self._wait)
        try:
            recovered = self._recover(holding)
            if recovered.failed:
                raise stuck(_interrupted(recovered), recovered.restored, recovered.journal)
            holding.recovered = notices_of(recovered)
        except BaseException:
            holding.release()
            raise
        return holding

    def recover(self) -> tuple[Notice, ...]:
        """Recover what a dead process left, and tell of it; cheap and without the lock where there is nothing.

        A living process that is at work is waited for, since it only writes. What stands in the way of recovering is
        told.
        """
        if self._folders.is_idle():
            return ()
        try:
            with self._taken(min(_MOMENT, self._wait)) as holding:
                return notices_of(self._recover(holding))
        except Refused as error:
            if error.code == "busy":
                return ()
            return (Notice("recovery_failed", " ".join((error.message, *error.hints))),)

    def _taken(self, wait: float) -> Holding:
        lock_path, base = self._folders.lock, self._folders.base
        deadline = time.monotonic() + wait
        try:
            self._folders.check()
            if self._folders.id is None:
                self._folders.make(base)
            try:
                lock = project_lock(lock_path, wait=wait, pid=os.getpid())
            except FileNotFoundError:
                self._folders.make(base)
                lock = project_lock(lock_path, wait=wait, pid=os.getpid())
            try:
                if not os.path.lexists(base / NAME):
                    self._folders.settle()
                return Holding(lock, self._opened(deadline))
            except BaseException:
                lock.release()
                raise
        except InUse as error:
            raise busy(None, wait) from error
        except ForeignState as error:
            raise foreign(error.standing, error.place) from error
        except OSError as error:
            raise no_state(error) from error

    def _opened(self, deadline: float) -> Journal:
        """Open the journal; a holder that lost its lock file has until then to find that out."""
        while True:
            try:
                return journals.opened(self._folders.base, self._disk, self._folders.id or "")
            except InUse:
                if time.monotonic() >= deadline:
                    raise
            time.sleep(_PAUSE)

    def _recover(self, holding: Holding) -> Recovered:
        try:
            try:
                recovered = self._worked_off(holding)
            except Foreign:
                recovered = self._set_aside(holding)
        except (OSError, Unreadable) as error:
            raise no_recovery(error, str(self._folders.base / NAME)) from error
        if recovered.operation_id is not None and not recovered.failed:
            self._witness.recovered(recovered.operation_id, stands=recovered.committed)
        if not self._swept and not recovered.failed:
            try:
                self._folders.make(self._folders.staging)
                sweep(self._folders, self._root, self._disk)
            except OSError as error:
                raise no_state(error) from error
            self._swept = True
        return recovered

    def _worked_off(self, holding: Holding) -> Recovered:
        state, record = holding.journal.read()
        return _NOTHING if state is State.IDLE else self._recovery(holding).run(state, record)

    def _set_aside(self, holding: Holding) -> Recovered:
        """Put a journal that is not of our making out of the way, and begin a new one."""
        journal = self._folders.base / NAME
        aside = journal.with_name(f"{NAME}.{os.urandom(4).hex()}")
        journal.rename(aside)
        holding.journal.release()
        holding.journal = self._opened(time.monotonic())
        self._worked_off(holding)
        return Recovered(set_aside=str(aside))

    def _recovery(self, holding: Holding) -> Recovery:
        return Recovery(
            holding.journal,
            root=self._root,
            folders=self._folders,
            disk=self._disk,
            history=self._history,
        )


def _interrupted(recovered: Recovered) -> str:
    return f"An earlier change ({recovered.operation_id}: {recovered.summary}) was interrupted"
