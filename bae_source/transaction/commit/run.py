"""One plan on its way through the phases of a transaction; whoever drives it knows what an interruption means.

Invariants:
- what was written is taken back, whatever goes wrong before the mark; then what the verifier did;
- a process that was forked while a change is verified has no part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bae_source.errors import TransactionError
from bae_source.model.changeset import Contents
from bae_source.model.outcome import Check, Notice
from bae_source.model.plan import Plan
from bae_source.state.folders import StateFolders
from bae_source.state.journal_head import NAME
from bae_source.transaction.commit import failures
from bae_source.transaction.commit.checking import check, folders_left
from bae_source.transaction.commit.holding import Holding
from bae_source.transaction.commit.insisting import undisturbed, unfailing
from bae_source.transaction.commit.journal import Record
from bae_source.transaction.commit.recovery import contents_of
from bae_source.transaction.commit.restoring import Restored, Restorer
from bae_source.transaction.commit.states import Progress, Step
from bae_source.transaction.commit.verifier import Verifier
from bae_source.transaction.disk.folders import modes_to_give
from bae_source.transaction.disk.names import speaker
from bae_source.transaction.disk.port import Disk
from bae_source.transaction.disk.staging import Staging
from bae_source.transaction.disk.targets import Content
from bae_source.transaction.disk.walk import Walk
from bae_source.transaction.disk.writer import WriteFailed, Writer


class Run:
    """One plan on its way through the phases; call it while the walk keeps folders.

    Attributes:
        walk: the folders that it reaches; they are looked for anew after anything was waited for.
        left: permission bits of the folders above files that are deleted, by path; known once it was checked.
        before, after: what the files hold, by path; known once it was prepared.
    """

    def __init__(
        self, root: Path, folders: StateFolders, disk: Disk, plan: Plan, verifier: Verifier, holding: Holding
    ) -> None:
        self.progress = Progress()
        self.progress.advance(Step.LOCK)
        speak = self._speak = speaker(plan.modules)
        self.walk = Walk(root, disk, speak)
        self.left: dict[str, int] = {}
        self.before: Contents
        self.after: Contents
        self._plan = plan
        self._verifier = verifier
        self._holding = holding
        self._journal = holding.journal
        self._folders = folders
        self._disk = disk
        self._staging: Staging
        self._single = self._is_kept_late = False
        self._writer: Writer
        self._record: Record

    def check(self) -> tuple[Content, ...]:
        """Read every target, and make sure that it is what the plan was made on."""
        contents = check(self._plan.changes, self.walk, self._disk, self._speak)
        self.left = folders_left(contents, self.walk, self._disk)
        self.progress.advance(Step.CHECK)
        return contents

    def prepare(self, contents: Sequence[Content]) -> None:
        """Let the verifier look before anything is written."""
        self.before, self.after = contents_of(contents)
        waited = self._verifier.prepare(self._plan.modules, self.before, self.after)
        # what holds the same bytes before and after does not show by itself whether it was replaced
        is_one, judges = len(contents) == 1 and contents[0].before != contents[0].after, self._verifier.judges()
        self._single, self._is_kept_late = is_one and not judges, is_one and judges
        if waited:
            self.walk.forget_project()
        self.progress.advance(Step.PREPARE)

    def begin(self, record: Record) -> None:
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
            unfailing(self._writer.drop)
            unfailing(lambda: self._journal.close(durable=False))
            if isinstance(error, OSError):
                raise failures.no_state(error) from error
            if isinstance(error, WriteFailed):
                raise failures.explained(error, Restored(), ()) from error
            raise
        self.progress.advance(Step.WRITE)

    def write(self) -> tuple[Notice | Check, ...]:
        """Write, have it verified, and commit; or take everything back and raise."""
        try:
            self._writer.replace()
            if not self._is_kept_late:
                self._writer.keep()
            self.progress.advance(Step.VERIFY)
            warnings = self._verifier.verify()
            if not self._single:  # of which nothing is judged: who writes there does so after the change
                self.walk.forget_project()
                warnings = (*warnings, *failures.overwritten(self._writer.overwritten()))
            warnings = (*warnings, *failures.disowned(self._writer.disowned))
            self._commit()
            self.progress.advance(Step.COMMIT)
        except BaseException as error:
            if self.progress.is_committed or not self._holding.is_ours():
                raise
            raise self._take_back(error) from error
        return warnings

    def finish(self) -> None:
        """Remove what the transaction needed; what cannot be removed, the next one does."""
        unfailing(self._writer.clean)
        unfailing(partial(self._journal.close, durable=False))

    def _commit(self) -> None:
        if not self._holding.is_ours():
            raise RuntimeError("a process that was forked while a change is verified has no part in it")
        self._writer.settle()
        if not self._holding.is_valid():
            raise TransactionError(
                "write_failed",
                "The lock of the project was removed while it was held; nothing was changed.",
                hints=["Leave the files of bae_source alone while it works, and try again."],
            )
        try:
            self._journal.mark(partial(self._writer.keep, judged=True) if self._is_kept_late else None)
        except OSError as error:
            raise WriteFailed("The journal", error) from error

    def _take_back(self, error: BaseException) -> BaseException:
        """Undo everything, and return the error to raise; it says what state the project is in."""
        self.progress.advance(Step.FAIL)
        self.walk.forget()
        unfailing(self._journal.reopen)
        restorer = Restorer(self._record, self.walk, self._staging, self._disk)
        restored = undisturbed(lambda: restorer.restore(self._writer.touched))
        trouble = self._roll_back_verifier()
        if restored.failed:
            self.progress.advance(Step.STICK)
            return failures.stuck(failures.failed(error), restored, str(self._folders.base / NAME))
        try:
            kept = undisturbed(restorer.abandon)
        except OSError as failure:
            self.progress.advance(Step.STICK)
            return failures.explained(error, restored, (*trouble, failures.not_kept(failure)))
        unfailing(lambda: self._journal.close(durable=True))
        self.progress.advance(Step.RESTORED)
        return failures.explained(error, restored, (*trouble, *map(failures.saved, kept)))

    def _roll_back_verifier(self) -> tuple[str, ...]:
        """Take back what verification changed; its own failure must not hide the first one."""
        try:
            undisturbed(self._verifier.roll_back)
        except BaseException as error:  # noqa: BLE001 - the first error is raised, with this one as a note on it
            return (f"What is loaded in this process could not be taken back ({type(error).__name__}); restart it.",)
        return ()
