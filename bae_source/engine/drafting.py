"""A transaction in the making: changes are planned one by one, reads see what is planned, one commit makes them all.

Invariants:
- until `commit` nothing of it is written or recorded, and nothing is waited for; to drop a draft is to forget it;
- `commit` plans everything anew on what is on the disk then, and is refused as stale if a symbol that a change names is
  no longer what it was when the change was drafted;
- until the first change is planned each request sees what is on the disk then; from there on all see one snapshot;
- what a crash left is finished before anything is read;
- once it was made, or after `abandon`, a draft takes no more requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from bae_source.engine.applying import Apply, as_steps, check_unused, operation
from bae_source.engine.approving.seeing import called_by
from bae_source.engine.changing import Changing, users_named, with_unread
from bae_source.engine.operations import Operation, changes_of, check_makes
from bae_source.errors import HistoryError, RequestError, ResourceError
from bae_source.model.context import Context, checked, within_budget
from bae_source.model.outcome import Notice, Outcome, telling
from bae_source.model.plan import Plan
from bae_source.model.report import together
from bae_source.model.request import Effect, Request, as_mapping, parse
from bae_source.model.shortened import shortened
from bae_source.project.search.short_names import in_full
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.joining import joined
from bae_source.system.hashing import sha256

_NOTHING = "There is nothing to change."
_OF_THE_WHOLE = ("dry_run", "reload", "verify", "tidy", "format", "cascade", "why", "propose", "goal")
"""Parameters of the context that are for the commit."""
Read = Callable[[Workspace, Request, Context], Outcome]
Commit = Callable[[Apply, Context, Plan], Outcome]
Recover = Callable[[], tuple[Notice, ...]]


class Draft:
    """One transaction in the making.

    Parameters:
        changing: plans changes.
        read: answers a reading request from a workspace.
        commit: makes what was drafted, if it still comes to what the plan says.
        recover: finishes what a process left that died, and returns the notices of that.
        message: the reason, for the history.

    Attributes:
        requests: the changes so far, as `apply` takes them.
    """

    def __init__(self, changing: Changing, *, read: Read, commit: Commit, recover: Recover, message: str = "") -> None:
        self._changing = changing
        self._read = read
        self._commit = commit
        self._recover = recover
        self.message = message
        self.requests: list[dict[str, Any]] = []
        self._plans: list[Plan] = []
        self._first = changing.workspace(None)
        self._now = self._first
        self._closed = False

    def __len__(self) -> int:
        return len(self._plans)

    def run(self, request: Request, context: Context) -> Outcome:
        """Answer a reading request from the planned text, or plan a change on top of it.

        Raises:
            HistoryError: `handle_expired` after the end of the transaction.
            RequestError: `unknown_operation` for what can be no part of a transaction, `invalid_arguments` for a change
                that says how the commit is judged and made.
            ResourceError: what the request itself raises; the draft is as before then.
        """
        self._check_open()
        request, context = parse(type(request), as_mapping(request)), checked(context)
        if request.effect is not Effect.READS:
            _check_same_for_all(context)
        with called_by(context.who):
            return within_budget(request, context, lambda: self._telling(request, lambda: self._run(request, context)))

    def _telling(self, request: Request, do: Callable[[], Outcome]) -> Outcome:
        """Carry out a request on a project that was recovered first, with the notices of that."""
        notices = self._recovered(request)
        try:
            outcome = do()
        except ResourceError as error:
            if notices:
                raise telling(error, notices) from error.__cause__
            raise
        return replace(outcome, warnings=(*notices, *outcome.warnings)) if notices else outcome

    def _recovered(self, request: Request) -> tuple[Notice, ...]:
        """Bring the project in order, take a new snapshot while nothing is planned, and return what to tell."""
        notices = self._recover() if request.recovers else ()
        if not self._plans:
            self._first = self._now = self._changing.workspace(None)
        return notices

    def _run(self, request: Request, context: Context) -> Outcome:
        if request.effect is Effect.READS:
            return self._read(self._now, request, context)
        if not isinstance(request, Operation):
            raise RequestError(
                "unknown_operation",
                f"{request.verb} is no part of a transaction.",
                hints=["Commit or abandon the transaction first."],
            )
        request = as_steps(in_full(self._now, request)[0])
        assert isinstance(request, Operation)
        check_makes(request)
        before = self._now
        plan = self._planned(request)
        outcome = replace(
            self._changing.outcome(users_named(before, plan), before, status="planned"),
            text=f"Planned, to be written by the commit of the transaction: {plan.summary}",
        )
        self._take(plan, changes_of(request))
        return outcome

    def resume(self, requests: Sequence[dict[str, Any]]) -> None:
        """Plan changes that were planned before, by any process, without telling of each.

        Raises:
            ResourceError: one of them cannot be made any more.
        """
        for each in requests:
            request = operation(each)
            assert isinstance(request, Operation)
            self._take(self._planned(request), (each,))

    def _planned(self, request: Operation) -> Plan:
        self._now.lets_used_go = True
        return request.plan(self._now)

    def _take(self, plan: Plan, requests: Sequence[dict[str, Any]]) -> None:
        self.requests += requests
        self._plans.append(plan)
        self._now = self._now.after(plan.changes)

    @property
    def digest(self) -> str:
        """A digest of what the changes are about, as it is now, and of the reports on them."""
        seen = [etag for plan in self._plans for etag in plan.seen]
        report = together([plan.report for plan in self._plans if plan.report is not None])
        data = None if report is None else report.as_data()
        return sha256(msgspec.json.encode([seen, data], order="deterministic"))

    def preview(self, budget: int | None = None) -> Outcome:
        """Return the outcome of the draft, within a budget in bytes."""
        self._check_open()
        if not self._plans:
            return Outcome(status="planned", text=_NOTHING)
        request = self._as_request()
        outcome = self._telling(request, self._come_to)
        return shortened(outcome, budget, answer=False)

    def commit(self, context: Context) -> Outcome:
        """Make all that was drafted; the draft is closed once that is done.

        Raises:
            RequestError: the context is wrong.
            Refused: nothing was written: `stale`, `busy` and so on; `unsafe_change` where what was deleted is still
                used.
            TransactionError: it does not hold, or could not be written.
        """
        self._check_open()
        context = checked(context)
        check_unused(self._first, self._now, self._plans)
        if self._plans:
            with called_by(context.who):
                outcome = self._commit(self._as_request(), context, self._plan())
        else:
            outcome = Outcome(status="planned" if context.dry_run else "unchanged", text=_NOTHING)
        self._closed = not context.dry_run
        return outcome

    def abandon(self) -> None:
        """Forget what was drafted; nothing has been written."""
        self._closed = True

    def _come_to(self) -> Outcome:
        plan = with_unread(self._first, users_named(self._first, self._plan()))
        return self._changing.outcome(plan, self._first, status="planned")

    def _as_request(self) -> Apply:
        return Apply(requests=tuple(self.requests), message=self.message)

    def _plan(self) -> Plan:
        return joined(self._first, self._now, self._plans)

    def _check_open(self) -> None:
        if self._closed:
            raise HistoryError(
                "handle_expired", "The transaction has ended.", hints=["Begin another one: transaction(why)."]
            )


def _check_same_for_all(context: Context) -> None:
    usual = Context()
    if names := [name for name in _OF_THE_WHOLE if getattr(context, name) != getattr(usual, name)]:
        raise RequestError(
            "invalid_arguments",
            f"{', '.join(names)} is given once, for the whole transaction.",
            hints=["Give it to what commits: do, transaction(…), or commit."],
        )
