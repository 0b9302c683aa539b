"""One change of the project: checked, written, verified and recorded, or not made at all.

    lock -> check that the planned-on bytes are on disk -> verifier.prepare -> write -> verifier.verify -> record

Invariants:
- nothing is written before every target is known to hold the bytes the plan was made on;
- whatever goes wrong after writing began, Ctrl-C included, takes every file back that still is what we wrote, and then
  the verifier's own changes; what somebody else wrote meanwhile is left, and said;
- the record in the history is the commit point: after it there is no error. A history that cannot be written costs
  the record, not the change, and a notice says so;
- messages name modules; only what a person needs after a failed rollback names places.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, structs

from bae_source.errors import Refused
from bae_source.model.changeset import digest
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.state.folders import StateFolders
from bae_source.transaction.disk import Disk, RealDisk
from bae_source.transaction.entry import Entry, Kind, TouchedFile
from bae_source.transaction.failures import explained, no_state, stuck, unreadable
from bae_source.transaction.history import History, HistoryUnavailable
from bae_source.transaction.lock import project_lock
from bae_source.transaction.names import Speak, listed, speaker, speaker_of
from bae_source.transaction.staging import Staging
from bae_source.transaction.states import Phase, Progress, Step
from bae_source.transaction.verifier import Verifier
from bae_source.transaction.walk import Walk
from bae_source.transaction.writer import Content, Writer, read_target

T = TypeVar("T")


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
    ) -> None:
        self._root = root
        self._folders = folders
        self._history = history
        self._clock = clock
        self._new_id = new_id
        self._disk = disk or RealDisk()
        self._wait = wait

    def read(self, path: str, names: Mapping[str, str] | None = None) -> bytes | None:
        """Return the content of a file that a change may touch, None where there is no file.

        Parameters:
            names: what files are called in messages, by path.

        Raises:
            Refused: it may not or cannot be written.
        """
        speak = speaker_of(names or {})
        try:
            return read_target(Walk(self._root, self._disk, speak), self._disk, speak, path).before
        except OSError as error:
            raise unreadable(speak(path), error) from error

    def commit(
        self,
        plan: Plan,
        *,
        verifier: Verifier,
        who: str,
        why: str,
        request: dict[str, Any],
        kind: Kind = "change",
        of: str | None = None,
    ) -> Committed:
        """Make the change of `plan`, which is not empty.

        Parameters:
            verifier: judges what was written.
            who: the caller.
            why: the caller's reason, or "".
            request: the request as a mapping, for the history.
            kind, of: for undo and redo, which change it concerns.

        Raises:
            Refused: nothing was written: `stale`, `busy`, `forbidden`, `outside_project`, `unsafe_change`.
            TransactionError: it was written and taken back; `rollback_failed` if that failed too.
        """
        if not plan.changes:
            raise ValueError("a transaction needs something to change")
        progress = Progress()
        with self._locked():
            progress.advance(Step.LOCK)
            run = _Run(self._root, self._disk, plan, verifier, progress)
            with _refusing(progress):
                contents = run.check()
                progress.advance(Step.CHECK)
                run.prepare(contents)
                progress.advance(Step.PREPARE)
                entry = self._entry(plan, contents, who=who, why=why, request=request, kind=kind, of=of)
                staging = self._staging(entry.id)
            return self._write(run, staging, entry, contents)

    def _write(self, run: _Run, staging: Path, entry: Entry, contents: Sequence[Content]) -> Committed:
        writer = run.writer(staging, entry.id)
        warnings: list[Notice] = []
        run.progress.advance(Step.WRITE)
        try:
            writer.stage(contents)
            writer.replace()
            run.progress.advance(Step.VERIFY)
            warnings += run.verifier.verify()
            run.progress.advance(Step.RECORD)
            warnings += self._record(entry, contents)
            run.progress.advance(Step.COMMIT)
        except BaseException as error:
            if not self._recorded(run.progress, entry.id):
                raise run.take_back(writer, error) from error
            warnings.append(
                Notice("interrupted", "The change had been recorded when it was interrupted, and it stands.")
            )
        _undisturbed(writer.clean)
        return Committed(operation_id=entry.id, warnings=tuple(warnings))

    def _recorded(self, progress: Progress, operation_id: str) -> bool:
        """Say, after an interrupt, on which side of the commit point it came."""
        if progress.phase is Phase.COMMITTED:
            return True
        if progress.phase is Phase.RECORDING and _undisturbed(lambda: self._history.contains(operation_id)):
            progress.advance(Step.COMMIT)
            return True
        return False

    def _record(self, entry: Entry, contents: Sequence[Content]) -> tuple[Notice, ...]:
        before = {content.path: content.before for content in contents}
        after = {content.path: content.after for content in contents}
        try:
            self._history.record(entry, before, after)
        except HistoryUnavailable as error:
            text = f"The change was made but not recorded, and cannot be undone: {error.message}. {error.hint}"
            return (Notice("history_unavailable", text),)
        return ()

    def _entry(
        self,
        plan: Plan,
        contents: Sequence[Content],
        *,
        who: str,
        why: str,
        request: dict[str, Any],
        kind: Kind,
        of: str | None,
    ) -> Entry:
        speak = speaker(plan.modules)
        touched = (
            TouchedFile(
                path=content.path,
                name=speak(content.path),
                before=_digest(content.before),
                after=_digest(content.after),
            )
            for content in contents
        )
        return Entry(
            id=self._new_id(),
            kind=kind,
            of=of,
            who=who,
            when=self._clock().astimezone(UTC).isoformat(timespec="seconds"),
            why=why,
            request=request,
            summary=plan.summary,
            files=tuple(touched),
            changed=tuple(map(str, plan.changed)),
        )

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                self._folders.make(self._folders.lock.parent)
                stack.enter_context(project_lock(self._folders.lock, wait=self._wait, pid=os.getpid()))
            except OSError as error:
                raise no_state(error) from error
            yield

    def _staging(self, operation_id: str) -> Path:
        try:
            return self._folders.make(self._folders.staging / operation_id)
        except OSError as error:
            raise no_state(error) from error


class _Run:
    """One plan on its way through the phases."""

    def __init__(self, root: Path, disk: Disk, plan: Plan, verifier: Verifier, progress: Progress) -> None:
        self.plan = plan
        self.verifier = verifier
        self.progress = progress
        self._disk = disk
        self._speak: Speak = speaker(plan.modules)
        self._walk = Walk(root, disk, self._speak)

    def check(self) -> tuple[Content, ...]:
        """Read every target, and make sure that it is what the plan was made on."""
        found = [self._target(change.path) for change in self.plan.changes.files]
        stale = [
            change.path
            for change, content in zip(self.plan.changes.files, found, strict=True)
            if _digest(content.before) != change.before
        ]
        if stale:
            names = listed(map(self._speak, stale))
            raise Refused(
                "stale",
                f"{names} changed on disk after the change was planned; nothing was written.",
                hints=["Read it again and plan the change anew."],
                details={"paths": stale, "modules": [self._speak(path) for path in stale]},
            )
        if len({content.parts for content in found}) < len(found):
            raise Refused(
                "unsafe_change",
                f"{listed(map(self._speak, self.paths))} share a file through a link.",
                hints=["Change one of them at a time."],
            )
        return tuple(self._changed(content) for content in found)

    @property
    def paths(self) -> list[str]:
        """The files of the plan."""
        return [change.path for change in self.plan.changes.files]

    def prepare(self, contents: Sequence[Content]) -> None:
        """Let the verifier look before anything is written."""
        before = {content.path: content.before for content in contents}
        after = {content.path: content.after for content in contents}
        self.verifier.prepare(self.plan.modules, before, after)

    def writer(self, staging: Path, tag: str) -> Writer:
        """Return the writer of this plan."""
        held = Staging(staging, tag, self._walk, self._disk)
        return Writer(self._walk, held, disk=self._disk, speak=self._speak)

    def take_back(self, writer: Writer, error: BaseException) -> BaseException:
        """Undo everything, and return the error to raise; it says what state the project is in."""
        self.progress.advance(Step.FAIL)
        restored = _undisturbed(writer.restore)
        trouble = self._roll_back_verifier()
        if restored.failed:
            self.progress.advance(Step.STICK)
            return stuck(error, restored, self._speak)
        _undisturbed(writer.abandon)
        self.progress.advance(Step.RESTORED)
        return explained(error, restored, trouble, self._speak)

    def _roll_back_verifier(self) -> tuple[str, ...]:
        """Take back what verification changed; its own failure must not hide the first one."""
        try:
            _undisturbed(self.verifier.roll_back)
        except BaseException as error:  # noqa: BLE001 - the first error is raised, with this one as a note on it
            return (f"What is loaded in this process could not be taken back ({type(error).__name__}); restart it.",)
        return ()

    def _target(self, path: str) -> Content:
        try:
            content = read_target(self._walk, self._disk, self._speak, path)
        except OSError as error:
            raise unreadable(self._speak(path), error) from error
        return content

    def _changed(self, content: Content) -> Content:
        change = next(change for change in self.plan.changes.files if change.path == content.path)
        after = change.apply(content.before or b"")
        if change.after is None and content.link:
            raise Refused(
                "unsafe_change",
                f"{self._speak(content.path)} is a link, which could not be brought back by undo; it was not deleted.",
                hints=["Delete what it leads to, or remove the link by hand."],
            )
        if change.after is not None and digest(after) != change.after:
            raise ValueError(f"the plan's edits of {content.path} do not lead where the plan says")
        return structs.replace(content, after=None if change.after is None else after)


@contextmanager
def _refusing(progress: Progress) -> Iterator[None]:
    """Note in the phase that nothing was written; the error itself goes on."""
    try:
        yield
    except BaseException:
        progress.advance(Step.FAIL)
        raise


def _undisturbed(action: Callable[[], T]) -> T:
    """Finish `action`, which may be repeated, though Ctrl-C is pressed meanwhile; three times are enough of it."""
    for _ in range(3):
        try:
            return action()
        except KeyboardInterrupt:
            continue
    return action()


def _digest(content: bytes | None) -> str | None:
    return None if content is None else digest(content)
