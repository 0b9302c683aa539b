"""One planned change on its way: judged, and then written.

    judge, by a child and in a copy -> import again what others changed meanwhile -> transaction
    transaction -> judge in the project -> undo where it does not hold          what cannot be judged in a copy

Invariants:
- the project's lock is not held while judges judge, but for the last attempt of a request that others keep from being
  made, and where the environment changes; it is only taken for a moment before them, to see whether the change may be
  written at all;
- nothing is written before the verdict, unless a judge can judge in the project alone; then the outcome says so;
- a dry run is judged by what `verify` names, and runs nothing otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import Refused, ResourceError, TransactionError
from bae_source.model.call import Call
from bae_source.model.context import Context
from bae_source.model.outcome import Check, Notice
from bae_source.model.plan import Plan
from bae_source.model.text import Progress, listed
from bae_source.project.files.unseen import name_at
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.import_check import Setting, gathered
from bae_source.reloading.reload import Reload
from bae_source.verification.choosing import judging_of, patient, reload_of, setting_of
from bae_source.verification.judge import InProject, Judge
from bae_source.verification.judging import Found, Judging

if TYPE_CHECKING:
    from bae_source.state.folders import StateFolders
    from bae_source.transaction.commit.transaction import Committed, Transactions

_MOST_IMPORTS = 3
"""Imports of one change, at most, where others go on changing files that it imports."""


class Written(Struct, frozen=True, kw_only=True):
    """A change that was written.

    Parameters:
        committed: the operation; None where no file changes, and so nothing was written.
        results: what judged it came to.
    """

    committed: Committed | None
    results: Found


class Operated(Struct, frozen=True, kw_only=True):
    """Facts on a change for the history.

    Parameters:
        who: the caller.
        why: the caller's reason, or "".
        request: the request as a mapping.
        kind, of: for undo and redo, which changes it concerns.
        operation_id: the id that the operation gets; "" for any.
    """

    who: str
    why: str
    request: dict[str, Any]
    kind: Literal["change", "undo", "redo"] = "change"
    of: tuple[str, ...] = ()
    operation_id: str = ""


class Making:
    """Judges one planned change, and writes it.

    Parameters:
        folders: where our state lies; its root is the project.
        environment: the caller's environment variables.
        workspace: the project as the change was planned on it.
        verdicts: of an earlier attempt of the same request, by the judge's name; takes those of this one.
        undo: undoes an operation.
        progress: called for each file that is copied, and each test that ends.
        turn: has the environment be as it is with the change, or without it.
        gate: sees once more, under the lock, that the change may be written.
    """

    def __init__(
        self,
        folders: StateFolders,
        environment: Mapping[str, str],
        workspace: Workspace,
        plan: Plan,
        context: Context,
        *,
        verdicts: dict[str, Found],
        undo: Callable[[str], object],
        progress: Progress,
        turn: Callable[[bool], None],
        gate: Callable[[], None],
    ) -> None:
        self._folders = folders
        self._workspace = workspace
        self._plan = plan
        self._context = context
        self._verdicts = verdicts
        self._undo = undo
        self._progress = progress
        self._gate = gate
        self._setting = replace(self._set_up(environment), turn=turn)

    def judge(self) -> Found:
        """Judge what a dry run comes to.

        Raises:
            TransactionError: it does not hold.
        """
        context = self._context
        if "import" not in context.verify:
            context = replace(context, reload="off")
        reload = self._reload(context)
        judging, copied = self._judging(reload, context)
        with copied:
            found = judging.judge()
        return (*found, *judging.not_judged("it can be judged in the project alone, and a dry run writes nothing"))

    def only_judged(self) -> Written:
        """Judge a change of the environment alone.

        Raises:
            TransactionError: it does not hold.
        """
        return Written(committed=None, results=self.judge() if self._context.verify else ())

    def make(self, transactions: Transactions, operated: Operated) -> Written:
        """Judge the change, and write it.

        Raises:
            Refused: nothing was written.
            TransactionError: it does not hold, or could not be written.
        """
        reload = self._reload(self._context)
        if self._context.reload == "off" and not self._context.verify:
            return Written(committed=self._written(transactions, operated, reload), results=())
        with transactions.locked():
            pass  # what keeps any change from being written refuses this one before tests are run for it
        judging, copied = self._judging(reload, self._context)
        with copied:
            found = judging.judge()
            changed = [name_at(self._workspace.census, path) for path in copied.changed()]
        self._setting.turn(True)
        if judging.left:
            return self._judged_in_project(transactions, operated, reload, judging, found)
        return self._written_as_judged(transactions, operated, reload, judging, found, changed)

    def _set_up(self, environment: Mapping[str, str]) -> Setting:
        """Return the setting in which the project's code runs."""
        return setting_of(self._folders.root, environment, self._workspace)

    def _reload(self, context: Context) -> Reload:
        """Return the loader of the change."""
        return reload_of(self._setting, self._workspace, self._plan, context)

    def _judges(self) -> tuple[Judge, ...]:
        """Return the judges beside those that the caller wants."""
        return ()

    def _judging(self, reload: Reload, context: Context) -> tuple[Judging, Any]:
        setting = patient(self._setting, self._workspace)
        wanted = self._verdicts, self._progress
        always = self._judges()
        return judging_of(reload, setting, self._folders, self._workspace, self._plan, context, *wanted, always=always)

    def _written(self, transactions: Transactions, operated: Operated, reload: Reload) -> Committed:
        with transactions.locked():
            self._gate()
            return transactions.commit(
                self._plan,
                loader=reload,
                who=operated.who,
                why=operated.why,
                request=operated.request,
                kind=operated.kind,
                of=operated.of,
                operation_id=operated.operation_id,
            )

    def _written_as_judged(
        self,
        transactions: Transactions,
        operated: Operated,
        reload: Reload,
        judging: Judging,
        found: Found,
        changed: list[str],
    ) -> Written:
        """Write the change, once it imports with what others have written meanwhile.

        Parameters:
            found: what judges came to.
            changed: what changed in the project while they judged a copy.
        """
        again: list[str] = []
        for _ in range(_MOST_IMPORTS):
            with transactions.locked():
                others = reload.changed_since()
                if not others:
                    committed = self._written(transactions, operated, reload)
                    return Written(committed=committed, results=(*found, *self._meanwhile(found, again, changed)))
            again += others
            try:
                imported = judging.import_again()
            except TransactionError as error:
                hint = (
                    f"{listed(others, 5)} changed while the change was judged; with what was there before it imported."
                )
                raise error.altered(hints=(hint, *error.hints)) from error.__cause__
            found = (*imported, *(each for each in found if not (isinstance(each, Check) and each.name == "import")))
        names = listed(dict.fromkeys(again), 5)
        raise Refused(
            "stale",
            f"{names} changed again and again while the change was judged; nothing was written.",
            hints=["Make the change again when others have finished."],
        )

    def _meanwhile(self, found: Found, again: list[str], changed: list[str]) -> tuple[Notice, ...]:
        """Return a notice of files that others wrote while the judges ran, which those have not seen.

        Parameters:
            again: modules that were imported again.
            changed: what else changed.
        """
        notices = []
        if again:
            names = listed(dict.fromkeys(again), 5)
            text = f"{names} changed while the change was judged, and was imported again with it."
            notices.append(Notice("changed_meanwhile", text))
        slow = [each for each in checks_in(found) if each.name != "import" and each.digest]
        digest = self._plan.changes.digest
        earlier = [each.name for each in slow if each.digest != digest]
        if earlier:
            text = f"{listed(earlier)} judged the change as it was planned before others changed the same file."
            notices.append(Notice("judged_before", text))
        elif changed and slow:
            names = listed(each.name for each in slow)
            text = f"{listed(changed, 5)} changed while {names} judged the change, and {names} did not see that."
            notices.append(Notice("changed_meanwhile", text))
        return tuple(notices)

    def _judged_in_project(
        self, transactions: Transactions, operated: Operated, reload: Reload, judging: Judging, found: Found
    ) -> Written:
        """Write the change, have it judged in the project, and undo it where it does not hold."""
        writes: list[Committed] = []

        def make() -> None:
            self._setting.turn(True)
            again = reload if not writes else reload.anew()
            writes.append(self._written(transactions, operated, again))

        def undo() -> None:
            self._undo(writes[-1].operation_id)
            transactions.forget_committed()
            self._setting.turn(False)

        place = InProject(patient(self._setting, self._workspace), make, undo)
        try:
            found += judging.judge_written(place)
        except ResourceError as error:
            raise _undone(error, writes[-1].operation_id if writes else "", stands=place.is_made) from error.__cause__
        return Written(committed=writes[-1], results=found)


def _undone(error: ResourceError, operation: str, *, stands: bool) -> ResourceError:
    """Return the error of a change that was made and does not hold, which says what became of it.

    Parameters:
        stands: whether it could not be undone; the error is that of the undoing then, raised because of the verdict.
    """
    if not operation:
        return error
    if not stands:
        text = f"It was judged in the project itself: made as {operation}, and undone."
        return error.altered(unchanged=False if error.unchanged else error.unchanged, hints=(*error.hints, text))
    verdict = error.__context__ if isinstance(error.__context__, ResourceError) else error
    hint = Call("undo", operation_id=operation, then="undoes it: that could not be done by itself.")
    reason = f"{verdict.clause}; the change stands as {operation}, since it could not be undone: {error.clause}"
    details = {**error.details, **verdict.details}
    return TransactionError("verify_failed", reason, unchanged=False, hints=(hint, *verdict.hints), details=details)


def checks_in(results: Found) -> tuple[Check, ...]:
    """Return the checks among what judges came to."""
    return tuple(each for each in results if isinstance(each, Check))


def notices_in(results: Found) -> tuple[Notice, ...]:
    """Return the notices among the results of judges."""
    return tuple(gathered(each for each in results if isinstance(each, Notice)))
