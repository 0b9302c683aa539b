"""Changes: plan, commit, undo and redo; the half of the door that writes.

    plan on a snapshot -> judge the planned text -> (dry run: stop here) -> transaction -> outcome

Invariants:
- a change that was planned on bytes which are no longer there is planned anew, as long as the symbol it names is as it
  was, and refused as stale otherwise;
- "nothing to do" and "not there" are only said where no transaction under way may take back what they rest on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from bae_source.engine.approving.gate import Gate, Verdict
from bae_source.engine.approving.recording import Recording, entered_alone
from bae_source.engine.approving.seeing import caller
from bae_source.engine.attempts import Crowded, attempted
from bae_source.engine.operations import Exporting, Operation, Untangling, parsed_changes_of
from bae_source.engine.outcomes import outcome_of
from bae_source.errors import Refused, RequestError, ResourceError, TransactionError
from bae_source.model.call import Call, call_of
from bae_source.model.changeset import ChangeSet, Contents
from bae_source.model.context import Context
from bae_source.model.outcome import FOUND, UNRECORDED, Check, Notice, Outcome, with_checks
from bae_source.model.plan import Plan, recorded
from bae_source.model.request import as_mapping
from bae_source.model.text import Progress, listed
from bae_source.project.files.second_names import written_once
from bae_source.project.files.settings import own_settings
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.left_unread import UNREAD, losing, removing
from bae_source.refactoring.planning.still_used import with_users
from bae_source.state.journal_head import head_of
from bae_source.system.clock import now
from bae_source.system.programs import within_reach

if TYPE_CHECKING:
    from bae_source.engine.approving.governing import Governed
    from bae_source.engine.approving.proposing import Proposing
    from bae_source.engine.installing import InEnvironment
    from bae_source.engine.making import Making
    from bae_source.history.record.history import History as Store
    from bae_source.history.record.history import Limits
    from bae_source.state.folders import StateFolders
    from bae_source.transaction.commit.transaction import Transactions
    from bae_source.verification.judging import Found

_MOST_NAMED = 3
"""Files that a notice names; the report has all of them."""
_TOO_EARLY = "partially initialized module"  # so says Python where modules import each other in a circle
_DECIDE = "Read it again and decide anew."


def users_named(workspace: Workspace, plan: Plan, *, to_import: bool = False) -> Plan:
    """Return a plan that tells what still uses the names it takes away, unless others take their place."""
    is_refactoring = plan.report is not None and not plan.takes
    return plan if is_refactoring else with_users(workspace, plan, to_import=to_import)


def with_unread(workspace: Workspace, plan: Plan, *, tidy: bool = False) -> Plan:
    """Return a plan that names the imports it leaves unused, or takes them out if it is to be tidy."""
    modules = list(losing(workspace, plan))
    if not modules:
        return plan
    from bae_source.refactoring.planning.unneeded import unread_by  # names across files, which few changes need

    return unread_by(workspace, plan, modules, tidy=tidy)


class Changing:
    """Makes changes to one project.

    Parameters:
        root: the project's folder, links followed.
        environment: the caller's environment variables.
        workspace: makes a fresh snapshot, with planned content by path or None.
        folders: where our own state lies.
        undo: undoes an operation, as `undo` does.
        progress: called while a change is judged.
        policies: returns what governs some files, by their paths.
    """

    def __init__(
        self,
        root: Path,
        *,
        environment: Mapping[str, str],
        workspace: Callable[[Contents | None], Workspace],
        folders: Callable[[], StateFolders],
        undo: Callable[[Changing, str, Context], object],
        progress: Progress,
        policies: Callable[[Iterable[str]], Sequence[Governed]],
    ) -> None:
        self.root = root
        self.environment = environment
        self.workspace = workspace
        self.folders = folders
        self._undo = undo
        self._progress = progress
        self._installs = False
        self.gate = Gate(root, policies, environment)

    def change(self, request: Operation, context: Context, planned: Plan | None = None) -> Outcome:
        """Plan and commit; while another process writes the same file, plan anew.

        Parameters:
            planned: an earlier plan; what the change names must still be what it was then.
        """
        first = planned
        verdicts: dict[str, Found] = {}

        def attempt(alone: bool) -> Outcome:
            nonlocal first
            with self.transactions.locked() if alone else nullcontext():
                stands = self._standing()
                workspace = self.workspace(None)
                try:
                    plan = self._planned(request, workspace, first)
                except ResourceError as error:
                    if isinstance(error, RequestError) or alone or context.dry_run or stands():
                        raise
                    raise Crowded from error
                is_sure = alone or context.dry_run or stands()
            if not plan.changes and not is_sure:
                raise Crowded
            first = plan if is_sure else planned
            try:
                return self._carried_out(request, plan, workspace, context, first, verdicts)
            except TransactionError as error:  # of what writes nothing; half of another change may have been judged
                if alone or stands() or not (context.dry_run or context.propose or self.gate.is_in_force):
                    raise
                raise Crowded from error

        def locked() -> AbstractContextManager[object]:
            """Hold the lock for a whole attempt, unless it would have to wait for tests and the like."""
            return nullcontext() if _slow(context) - verdicts.keys() else self.transactions.locked()

        return attempted(attempt, locked)

    def _carried_out(
        self,
        request: Operation,
        plan: Plan,
        workspace: Workspace,
        context: Context,
        first: Plan | None,
        verdicts: dict[str, Found],
    ) -> Outcome:
        """Make what was planned, unless nothing is to be made; without its exports, if they alone fail."""
        try:
            finished = with_unread(workspace, self._without_same_modes(plan), tidy=context.tidy)
            finished = self._formatted(finished, workspace) if context.format else finished
            finished = self._resolved(finished, workspace) if finished.requirements is not None else finished
            if context.dry_run or not (finished.changes or finished.releases):
                return self._unmade(finished, workspace, context)
            given = {name: _written(each) for name, each in as_mapping(request).items()}  # type: ignore[arg-type]
            requests = parsed_changes_of(request)  # type: ignore[arg-type]
            return self.commit(finished, workspace, context, given, requests, verb=request.verb, verdicts=verdicts)  # type: ignore[attr-defined]
        except TransactionError as error:
            if not isinstance(request, Exporting) or error.code != "reload_failed":
                raise
            less = request.without_export()
            if less is None or less.plan(workspace).changes == plan.changes:
                raise  # it exports nothing, so that is not what fails
            return self._exporting_less(request, less, context, first, error)
        except Refused as error:
            if error.code == "stale":
                raise
            raise self._with_way_out(error, request, workspace, context) from None

    def _formatted(self, plan: Plan, workspace: Workspace) -> Plan:
        """Return a plan as the project's own formatter writes it."""
        from bae_source.engine.formatting import formatted  # few changes ask for it

        return formatted(plan, workspace)

    def _resolved(self, plan: Plan, workspace: Workspace) -> Plan:
        """Return a plan with what it installs, which is worked out and not installed."""
        from bae_source.engine.installing import resolved  # few changes are about dependencies

        return resolved(plan, workspace, self.folders(), self.environment, self.transactions.locked)

    @contextmanager
    def _installed(self, plan: Plan, workspace: Workspace, *, is_change: bool) -> Iterator[InEnvironment | None]:
        """Have the environment hold what a plan installs while the context lasts, and behind it unless that fails.

        It yields None where nothing is installed, or another plan of this request has it installed.
        """
        if not plan.releases or self._installs:
            yield None
            return
        from bae_source.engine.installing import installed  # as above

        self._installs = True
        try:
            with installed(
                plan, workspace, self.folders(), self.transactions, lambda: self.workspace(None), is_change=is_change
            ) as found:
                yield found
        finally:
            self._installs = False

    def _without_same_modes(self, plan: Plan) -> Plan:
        """Return a plan without files of which nothing changes but that they are programs, if they are so already."""
        modes = {file.path: file.executable for file in plan.changes.files if file.executable is not None}
        same = {path for path, runs in modes.items() if bool((self._mode_of(path) or 0) & 0o100) == runs}
        files = tuple(file for file in plan.changes.files if file.edits or file.path not in same)
        return plan if len(files) == len(plan.changes.files) else replace(plan, changes=ChangeSet(files))

    def _with_way_out(self, error: Refused, request: Operation, workspace: Workspace, context: Context) -> Refused:
        """Return a refusal for a circle of imports with the call that makes none, if there is one."""
        other = request.untangled() if "cycles" in error.details and isinstance(request, Untangling) else None
        if other is None:
            return error
        try:
            self.judged(other.plan(workspace), workspace, context)
        except ResourceError:
            return error
        then = "makes no circle, unless modules call the functions as they run: these import what they need."
        way = call_of(other).and_then(then)  # type: ignore[arg-type]
        hints = (error.hints[0], way, *error.hints[1:])
        return error.altered(hints=hints)

    def _standing(self) -> Callable[[], bool]:
        """Return a check, for after reading, of whether no transaction may take back the state that was read."""
        folders = self.folders()
        head, was_open = head_of(folders.base), folders.is_open()
        return lambda: not was_open and head_of(folders.base) == head

    def _planned(self, request: Operation, workspace: Workspace, first: Plan | None) -> Plan:
        """Plan, and see that what the change names is still what it was when it was planned first.

        Raises:
            Refused: `stale` if it is not.
        """
        try:
            plan = request.plan(workspace)
        except ResourceError as error:
            if first is None or isinstance(error, RequestError):  # which no change of the code makes
                raise
            raise Refused(
                "stale",
                "The code was changed from outside while the change was made; nothing was written.",
                hints=[error.message, _DECIDE],
            ) from error
        if first is not None and plan.seen != first.seen:
            raise _changed_meanwhile(first)
        return plan

    def _exporting_less(
        self, asked: Exporting, less: Operation, context: Context, first: Plan | None, error: TransactionError
    ) -> Outcome:
        """Make a change that failed with what it exports: exported behind all imports, if they came too early, or not.

        Parameters:
            less: the same without what it exports.
        """
        behind = asked.export_behind() if _TOO_EARLY in error.details.get("problem", "") else None
        if behind is not None:
            return self.change(behind, context, first)
        outcome = self.change(less, context, first)
        notice = Notice("export_left_out", f"The export was left out, since with it this happened: {error.clause}.")
        return replace(outcome, warnings=(*outcome.warnings, notice))

    def commit(
        self,
        plan: Plan,
        workspace: Workspace,
        context: Context,
        asked: dict[str, Any],
        requests: tuple[dict[str, Any], ...],
        *,
        verb: str,
        kind: Literal["change", "undo", "redo"] = "change",
        of: tuple[str, ...] = (),
        verdicts: dict[str, Found] | None = None,
    ) -> Outcome:
        """Make a planned change.

        Parameters:
            asked: the fields of the request, for the history.
            requests: the change as `apply` takes it, by which it can be planned anew.
            kind, of: for undo and redo, which changes it concerns.
            verdicts: of an earlier attempt of the same request; takes those of this one.

        Raises:
            Refused: nothing was written.
            TransactionError: it does not hold, or could not be written.
        """
        from bae_source.engine.making import Operated, checks_in, notices_in  # running code

        plan, checks = self.judged(plan, workspace, context)
        outcome = self.outcome(plan, workspace, status="applied", quiet=context.quiet)
        passing = self.gate.judge(plan, workspace, self.who(context), is_proposed=context.propose is not None)
        self.gate.check_approved(requests, plan, outcome.diff)
        if self.gate.approved is None and (passing.waits_for or context.propose is not None):
            return self._proposed(plan, workspace, context, requests, passing, outcome, checks)
        operated = Operated(
            who=self.who(context),
            why=context.why or asked.get("message", ""),
            request={
                "do": verb,
                **{key: value for key, value in asked.items() if value not in (None, ())},
                **recorded(plan),
                **self.gate.approval,
            },
            kind=kind,
            of=of,
            operation_id=self.gate.operation_id,
        )
        verdicts = {} if verdicts is None else verdicts
        with self._installed(plan, workspace, is_change=kind == "change") as environment:
            if environment is not None:
                plan = replace(plan, users=(*plan.users, *environment.users))
            making = self._making(plan, workspace, context, verdicts, environment)
            written = making.make(self.transactions, operated) if plan.changes else making.only_judged()
        installed = () if environment is None else environment.results
        if written.committed is None:
            alone = Notice("not_recorded", "No file changed, but the environment alone, so undo does not take it back.")
            notices = entered_alone(self.folders(), plan, who=operated.who, verb=verb, why=operated.why)
            notices = (alone, *notices, *notices_in((*written.results, *installed)))
            outcome = replace(outcome, warnings=(*outcome.warnings, *notices))
            checks = (*checks, *checks_in((*installed, *written.results)))
            return with_checks(outcome, checks, silent=not context.verify)
        committed = written.committed
        unrecorded = any(notice.code == UNRECORDED for notice in committed.warnings)
        ids = of if kind == "undo" else tuple(reversed(of)) or (committed.operation_id,)
        back = Call("redo" if kind == "undo" else "undo", operation_id=ids if len(ids) > 1 else ids[0])
        outcome = replace(
            outcome,
            operation_id=committed.operation_id,
            warnings=(*outcome.warnings, *notices_in(written.results), *committed.warnings, *notices_in(installed)),
            next_actions=(
                *(() if unrecorded else (back,)),
                *(removing(each) for each in plan.warnings if each.code == UNREAD),
            ),
        )
        found = (*checks, *checks_in(installed), *checks_in(written.results))
        return with_checks(outcome, found, silent=not context.verify)

    def _proposed(
        self,
        plan: Plan,
        workspace: Workspace,
        context: Context,
        requests: tuple[dict[str, Any], ...],
        passing: Verdict,
        outcome: Outcome,
        checks: tuple[Check, ...],
    ) -> Outcome:
        """Judge a change in a copy, and keep it for a person.

        Raises:
            TransactionError: it does not hold, so that it is not worth the person's time.
        """
        if plan.releases:
            why = "what it installs is installed with the approval"
            checks = (*checks, *(Check(name=each, result="not_run", detail=why) for each in context.verify))
        elif plan.changes and (context.reload != "off" or context.verify):
            from bae_source.engine.making import checks_in, notices_in  # running code

            verify = context.verify if context.reload == "off" else ("import", *context.verify)
            judging = replace(context, verify=tuple(dict.fromkeys(verify)))
            found = self._making(plan, workspace, judging, {}).judge()
            outcome = replace(outcome, warnings=(*outcome.warnings, *notices_in(found)))
            checks = (*checks, *checks_in(found))
        return self.proposing.proposed(plan, context, requests, passing, outcome, checks)

    @cached_property
    def proposing(self) -> Proposing:
        """The changes that wait for a person."""
        from bae_source.engine.approving.proposing import Proposing  # most changes do not wait

        return Proposing(self)

    def note(self, event: str, facts: Mapping[str, Any]) -> None:
        """Add an entry to the ledger."""
        Recording(self.folders()).enter(event, facts)

    def _making(
        self,
        plan: Plan,
        workspace: Workspace,
        context: Context,
        verdicts: dict[str, Found],
        environment: InEnvironment | None = None,
    ) -> Making:
        def undo(operation_id: str) -> object:
            usual = replace(context, verify=(), dry_run=False, tidy=False, format=False, propose=None)
            with self.gate.going_back():
                return self._undo(self, operation_id, usual)

        return self._maker()(
            self.folders(),
            self.environment,
            workspace,
            plan,
            context,
            verdicts=verdicts,
            undo=undo,
            progress=self._progress,
            turn=_still if environment is None else environment.turn,
            gate=lambda: self._pass_again(plan, workspace, context),
        )

    def _pass_again(self, plan: Plan, workspace: Workspace, context: Context) -> None:
        """See once more that a change may be made, right before it is written.

        Raises:
            Refused: `forbidden` or `stale` where the policy or the approval is another one by now.
        """
        passing = self.gate.judge(plan, workspace, self.who(context))
        if self.gate.approved is not None:
            self.proposing.check_still_approved(self.gate.approved)
        elif passing.waits_for:
            raise Refused(
                "stale",
                "The policy was changed while the change was made, and it has to wait now; nothing was written.",
                hints=["Make the change again: it is kept for a person then."],
            )

    def _maker(self) -> Callable[..., Making]:
        from bae_source.engine.making import Making  # running code, which a plain dry run needs not

        return Making

    def judged(self, plan: Plan, workspace: Workspace, context: Context) -> tuple[Plan, tuple[Check, ...]]:
        """Return a plan with the checks that need nothing written, as far as the caller wants them.

        Returns:
            The plan, and what was verified.

        Raises:
            Refused: `unsafe_change` for what the caller does not want to be made.
        """
        if len(plan.changes.files) > 1:
            plan = written_once(workspace.files, plan)
        plan = users_named(workspace, plan, to_import="import" in context.verify)
        if plan.circles and "cycles" not in context.verify:
            context = replace(context, verify=(*context.verify, "cycles"))
        takes_data = any(file.after is None and not file.path.endswith((".py", ".pyi")) for file in plan.changes.files)
        if not plan.changes or not (context.verify or takes_data):
            return plan, ()
        from bae_source.verification.choosing import foreseen  # which few changes ask for

        found = foreseen(workspace, plan, context)
        notices = (each for each in found if isinstance(each, Notice))
        return replace(plan, warnings=(*plan.warnings, *notices)), tuple(e for e in found if isinstance(e, Check))

    def _unmade(self, plan: Plan, workspace: Workspace, context: Context) -> Outcome:
        """Return the outcome of a dry run, or of a change that has nothing to do."""
        if context.dry_run:
            return self.planned(plan, workspace, context)
        return self.outcome(plan, workspace, status="unchanged", quiet=context.quiet)

    def planned(self, plan: Plan, workspace: Workspace, context: Context) -> Outcome:
        """Return the outcome of a dry run."""
        plan, checks = self.judged(plan, workspace, context)
        outcome = self.outcome(plan, workspace, status="planned", quiet=context.quiet)
        if waits_for := self.gate.judge(plan, workspace, self.who(context)).waits_for:
            rules = listed(dict.fromkeys(each.rule for each in waits_for), 3)
            notice = Notice("needs_approval", f"Made, it waits for a person: {rules}.")
            outcome = replace(outcome, warnings=(*outcome.warnings, notice))
        outcome = replace(outcome, exit_code=FOUND) if plan.finds and plan.changes else outcome
        if plan.releases and set(context.verify) - {"cycles"}:
            why = "a dry run installs nothing, so nothing can be judged with it"
            return with_checks(
                outcome, (*checks, *(Check(name=e, result="not_run", detail=why) for e in context.verify))
            )
        if plan.changes and set(context.verify) - {"cycles"}:
            from bae_source.engine.making import checks_in, notices_in  # running code

            found = self._making(plan, workspace, context, {}).judge()
            outcome = replace(outcome, warnings=(*outcome.warnings, *notices_in(found)))
            checks = (*checks, *checks_in(found))
        return with_checks(outcome, checks, silent=not context.verify)

    def outcome(
        self,
        plan: Plan,
        workspace: Workspace,
        *,
        status: Literal["planned", "applied", "unchanged"],
        quiet: bool = False,
    ) -> Outcome:
        """Return the outcome of a plan, before it is made or instead.

        Parameters:
            quiet: whether mentions are only counted.
        """
        return outcome_of(plan, workspace, status=status, quiet=quiet, mode_of=self._mode_of)

    def _mode_of(self, path: str) -> int | None:
        """Return the permission bits of a file; None where that is unknown."""
        return self.transactions.bits(path)[0]

    def who(self, context: Context) -> str:
        """Return the caller's name; what the environment has is cut, with escapes for what is not seen."""
        return caller(context.who, self.environment)

    @cached_property
    def history(self) -> Store:
        """The record of what was done."""
        from bae_source.history.record.history import History as Store

        folders = self.folders()
        search_path = within_reach(self.environment.get("PATH", os.defpath), folders.top)
        return Store(
            folders.history,
            project=folders.project,
            search_path=search_path,
            limits=self.limits,
            state_id=lambda: folders.id,
        )

    def limits(self) -> Limits:
        """Return the limits of the history from the project's settings."""
        from bae_source.history.record.history import Limits

        own = own_settings(self.workspace(None).files, only="history-")
        usual = Limits()
        return Limits(
            megabytes=_number(own, "history-megabytes", usual.megabytes),
            operations=_number(own, "history-operations", usual.operations),
        )

    def is_named(self, context: Context) -> bool:
        """Return whether the caller gave a name, and is not only known by the account."""
        return bool(context.who or self.environment.get("BAE_SOURCE_WHO"))

    def now(self) -> datetime:
        """Return the time now."""
        return now()

    def recovered(self) -> tuple[Notice, ...]:
        """Return the notices of recoveries that no answer has had yet."""
        return self.transactions.recovered() if "transactions" in self.__dict__ else ()

    @property
    def committed_id(self) -> str | None:
        """The operation that was made last, known from its commit point on; None if none was."""
        return self.transactions.committed_id if "transactions" in self.__dict__ else None

    @cached_property
    def transactions(self) -> Transactions:
        """Return the transactions that write the project."""
        from bae_source.transaction.commit.transaction import Transactions

        return Transactions(
            self.root,
            folders=self.folders(),
            history=self.history,
            clock=self.now,
            new_id=lambda: f"op_{os.urandom(6).hex()}",
            witness=Recording(self.folders(), is_required=lambda: self.gate.is_in_force),
        )


def _written(value: Any) -> Any:
    """Return a value as the history takes it: bytes of a patch that are no UTF-8 stand as escapes."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _slow(context: Context) -> set[str]:
    """Return the names of judges that may take long."""
    return {name.strip() for name in context.verify} - {"import", "cycles"}


def _still(with_change: bool) -> None:
    """Leave an environment that has no part in a change."""


def _number(settings: object, name: str, usual: Any) -> Any:
    """Return a number from the settings; the usual one where they have none, or nonsense."""
    found = settings.get(name) if isinstance(settings, dict) else None
    if isinstance(found, (int, float)) and not isinstance(found, bool) and found > 0:
        return found
    return usual


def _changed_meanwhile(planned: Plan) -> Refused:
    names = planned.changed
    what = names[0] if len(names) == 1 else f"One of {', '.join(names[:5])}{', …' if len(names) > 5 else ''}"
    return Refused(
        "stale",
        f"{what} was changed from outside while the change was made; nothing was written.",
        hints=[_DECIDE],
    )
