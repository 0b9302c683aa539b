"""Proposals at the door: keep a planned change for a person, show it, wait for its fate.

    edit app.f … --propose "retry on timeouts"      pending: code_mod_1a2b3c4d, with digest, diff, risk and checks
    wait code_mod_1a2b3c4d                          applied as op_7f3a…; or rejected, and why

Invariants:
- a proposal is planned and judged as any change, in a copy, before it is kept; nothing of the project is written;
- what the same caller proposed already, and waits, is not kept twice;
- the proposer never decides: nothing here does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import replace

from bae_source.approval.plans import Plans, Summary
from bae_source.approval.proposals import Proposal, Risk, State
from bae_source.approval.requests import Pending, Show, Wait, Withdraw
from bae_source.engine.approving.gate import Verdict, after_of, base_of, digest_of_plan
from bae_source.engine.approving.notifying import notified
from bae_source.engine.approving.seeing import called_by
from bae_source.errors import HistoryError, Refused, ResourceError
from bae_source.model.call import Call
from bae_source.model.changeset import Contents, digest_of
from bae_source.model.context import Context, options_in
from bae_source.model.outcome import FOUND, WAITS, Check, Outcome, verdict
from bae_source.model.plan import Plan
from bae_source.model.text import is_text, listed
from bae_source.project.files.port import Disk
from bae_source.project.files.settings import own_settings
from bae_source.project.workspace import Workspace

if TYPE_CHECKING:
    from bae_source.history.record.history import History
    from bae_source.state.folders import StateFolders

HOW = ("verify", "tidy", "format", "cascade", "reload")
"""Parameters of the context that a proposal keeps, by which it is judged and made."""
_DAYS = 14.0
_PAUSE = 0.2
_REMEMBERED = timedelta(days=90)
"""The time for which the end of a proposal is remembered at least."""
_WAITING = (State.AWAITING, State.APPROVED, State.STALE, State.FAILED)
_OPEN = frozenset({State.AWAITING, State.APPROVED})
_MOST_NAMED = 100


class Maker(Protocol):
    """The part of what makes changes that proposals need."""

    root: Path
    environment: Mapping[str, str]
    folders: Callable[[], StateFolders]
    workspace: Callable[[Contents | None], Workspace]

    @property
    def history(self) -> History:
        """The record of what was done."""

    def now(self) -> datetime:
        """Return the time now."""

    def who(self, context: Context) -> str:
        """Return the caller's name."""

    def is_named(self, context: Context) -> bool:
        """Return whether the caller gave a name."""

    def note(self, event: str, facts: Mapping[str, Any]) -> None:
        """Add an entry to the ledger."""


class Proposing:
    """The proposals of one project.

    Parameters:
        maker: makes its changes.

    Attributes:
        renewing: the proposal that is planned anew, which is not kept as another one then.
        renewed: how it comes out.
        planned: its plan.
    """

    def __init__(self, maker: Maker) -> None:
        self._maker = maker
        self.plans = Plans(maker.folders())
        self.renewing: Proposal | None = None
        self.renewed: Proposal | None = None
        self.planned: Plan | None = None

    def proposed(
        self,
        plan: Plan,
        context: Context,
        requests: tuple[dict[str, Any], ...],
        passing: Verdict,
        outcome: Outcome,
        checks: Sequence[Check],
    ) -> Outcome:
        """Keep a change for a person.

        Parameters:
            requests: the change, as `apply` takes it.
            passing: what the gate found.
            outcome: what the change would come to.
            checks: what was verified.

        Raises:
            Refused: `forbidden` where it cannot be kept.
        """
        maker, now = self._maker, self._maker.now()
        if plan.ran_code and plan.requirements is None:
            requests = _as_patch(outcome.diff)
        proposal = Proposal(
            id=self.plans.new_id(),
            requests=requests,
            how=options_in(context, HOW),
            reason=context.propose or context.why or "",
            goal=context.goal or "",
            who=maker.who(context),
            is_named=maker.is_named(context),
            at=now.isoformat(timespec="seconds"),
            summary=plan.summary,
            symbols=tuple(dict.fromkeys(each.name for each in passing.subjects)),
            waits_for=tuple(dict.fromkeys(each.rule for each in passing.waits_for)),
            digest=digest_of_plan(requests, plan),
            base=base_of(plan),
            after=after_of(plan),
            diff=outcome.diff,
            warnings=tuple(each.message for each in outcome.warnings),
            checks=tuple(checks),
            expires=(now + timedelta(days=self._days())).isoformat(timespec="seconds"),
            risk=passing.risk or Risk(),
        )
        if self.renewing is not None:
            self.renewed, self.planned = proposal, plan
            return _waiting(proposal, outcome)
        for each in self.plans.listed((State.AWAITING,), who=proposal.who):
            if each.digest == proposal.digest:
                return _waiting(self.plans.get(each.id), outcome, already=True)
        self.plans.add(proposal, enter=self.entering("scheduled"))
        self.plans.removed(past(now - _REMEMBERED))
        self.notify()
        return _waiting(proposal, outcome)

    def notify(self) -> None:
        """Notify the user of a change that waits, and of those whose notification failed before."""
        for each in notified([*self.plans.unnotified()], self._maker.root, self._maker.environment):
            self.plans.note(each, notified=True)

    def answer(self, request: Pending | Show | Wait) -> Outcome:
        """Answer a request about proposals, and send the notifications that failed before."""
        self.notify()
        if isinstance(request, Pending):
            return self.pending(request)
        return self.show(request) if isinstance(request, Show) else self.wait(request)

    def pending(self, request: Pending) -> Outcome:
        """List proposals."""
        self.expired()
        name = request.state
        states = _WAITING if name == "waiting" else tuple(State) if name == "all" else _state(name)
        found = _by_risk(self.plans.listed(states, who=request.who))
        shown = found[: request.limit]
        lines = [_line(each) for each in shown]
        if len(found) > len(shown):
            lines.append(f"… and {len(found) - len(shown)} more: --limit says how many are listed.")
        return Outcome(
            status="answer", text="\n".join(lines) if lines else "(nothing waits)", found=tuple(map(_data, shown)),
            counts={str(state): count for state, count in self.plans.counts().items()},
            warnings=self.plans.notices(),
        )  # fmt: skip

    def waiting(self) -> list[Any]:
        """Return the proposals that wait, the riskiest first."""
        self.expired()
        return _by_risk(self.plans.listed(_WAITING))

    def show(self, request: Show) -> Outcome:
        """Show one proposal whole."""
        self.expired()
        proposal = self.settled(self.plans.get(request.task))
        has_moved = self.has_moved(proposal)
        text = (
            drawn(proposal) + (f"\n{_MOVED}" if has_moved else "") + (f"\n\n{proposal.diff}" if proposal.diff else "")
        )
        found = (_whole(proposal, has_moved=has_moved),)
        return Outcome(
            status="answer", text=text, diff=proposal.diff, task_id=proposal.id, found=found, counts={"proposals": 1}
        )

    def wait(self, request: Wait, sleep: Callable[[float], None] = time.sleep) -> Outcome:
        """Wait until a proposal is decided about."""
        until = time.monotonic() + request.seconds
        while True:
            self.expired()
            proposal = self.settled(self.plans.get(request.task))
            left = until - time.monotonic()
            if proposal.state not in _OPEN or left <= 0:
                return _decided(proposal, has_moved=self.has_moved(proposal))
            sleep(min(_PAUSE, left))

    def expired(self) -> None:
        """Have those expire whose time is over."""
        for each in self.plans.due(past(self._maker.now())):
            self.close(each.id, State.EXPIRED, by="", reason="its time was over")

    def close(self, task: str, to: State, *, by: str, reason: str) -> Proposal:
        """End a proposal without making it.

        Raises:
            HistoryError: `proposal_closed`.
        """
        enter, at = self.entering(to, by=by, why=reason), past(self._maker.now())
        return self.plans.move(task, to, enter=enter, decided_by=by, decided_at=at, decision=reason)

    def entering(self, step: str, **facts: Any) -> Callable[[Proposal], None]:
        """Return a function that enters a step of a proposal in the ledger, with more facts on it."""

        def enter(proposal: Proposal) -> None:
            self._maker.note(f"code_modification_{step}", {**facts_of(proposal), **facts})

        return enter

    def has_moved(self, proposal: Proposal) -> bool:
        """Return whether what a proposal was planned on has changed since."""
        if proposal.state is not State.AWAITING:
            return False
        with called_by(proposal.who):
            workspace = self._maker.workspace(None)
            try:
                return any(digest_of(workspace.content(path)) != was for path, was in proposal.base.items())
            except ResourceError:
                return True

    def withdraw(self, request: Withdraw, context: Context) -> Outcome:
        """End a proposal that its proposer does not want any more.

        Raises:
            HistoryError: `proposal_closed`.
            Refused: `forbidden` for another caller's.
        """
        proposal, who = self.plans.get(request.task), self._maker.who(context)
        if proposal.who != who:
            raise Refused(
                "forbidden",
                f"{proposal.id} is not {who}'s, but was proposed by {proposal.who}",
                unchanged=True,
                hints=["Its proposer withdraws it; a person rejects it."],
            )
        if context.dry_run:
            text = f"Dry run, nothing was changed: withdrew {proposal.id}: {proposal.summary}"
            return Outcome(status="planned", text=text, task_id=proposal.id)
        moved = self.close(proposal.id, State.EXPIRED, by=who, reason="withdrawn")
        return Outcome(status="applied", text=f"Withdrew {moved.id}: {moved.summary}", task_id=moved.id)

    def settled(self, proposal: Proposal) -> Proposal:
        """Return a proposal as it really stands: what was made by a process that died then is applied."""
        if proposal.state is not State.APPROVED or not self.is_made(proposal):
            return proposal
        return self.applied(proposal)

    def is_made(self, proposal: Proposal) -> bool:
        """Return whether the operation that makes a proposal is in the history."""
        if not proposal.operation_id:
            return False
        try:
            return self._maker.history.entry(proposal.operation_id).id == proposal.operation_id
        except HistoryError:
            return False

    def is_in_effect(self, proposal: Proposal) -> bool:
        """Return whether a proposal is made, and was not undone since, as what does not hold in the project itself."""
        if not self.is_made(proposal):
            return False
        later = takewhile(lambda each: each.id != proposal.operation_id, self._maker.history.walk())
        return not any(each.kind == "undo" and proposal.operation_id in each.of for each in later)

    def check_still_approved(self, proposal: Proposal) -> None:
        """Check that an approval was not used or taken back meanwhile.

        Raises:
            HistoryError: `proposal_closed`.
        """
        found = self.plans.get(proposal.id)
        if found.state is not State.APPROVED or found.operation_id != proposal.operation_id or self.is_made(found):
            raise HistoryError(
                "proposal_closed",
                f"{proposal.id} {_STATES[found.state]} meanwhile; nothing was written.",
                hints=[Call("show", task=proposal.id, then="says what became of it.")],
            )

    def applied(self, proposal: Proposal) -> Proposal:
        """Note that a proposal was made; another process may have noted it."""
        enter = self.entering("applied", operation_id=proposal.operation_id)
        try:
            return self.plans.move(proposal.id, State.APPLIED, enter=enter)
        except HistoryError:
            found = self.plans.get(proposal.id)
            if found.state is not State.APPLIED:
                raise
            return found

    def _days(self) -> float:
        found = own_settings(Disk(self._maker.root), only="proposal-days").get("proposal-days")
        return float(found) if isinstance(found, (int, float)) and 0 < found <= 3650 else _DAYS


def _as_patch(diff: str) -> tuple[dict[str, Any], ...]:
    """Return a change as the patch that makes its very bytes, so that the code which planned it need not run again."""
    if is_text(diff):
        return ({"do": "patch", "patch": diff, "encoding": "utf-8"},)
    return ({"do": "patch", "patch": diff.encode("utf-8", "surrogateescape").decode("latin-1"), "encoding": "latin-1"},)


def facts_of(proposal: Proposal) -> dict[str, Any]:
    """Return facts on a proposal for the ledger: no source text."""
    return {
        "task_id": proposal.id,
        "file_path": next(iter(proposal.base), ""),
        "reason": proposal.reason,
        "goal_id": proposal.goal or None,
        "who": proposal.who,
        "digest": proposal.digest,
    }


_LEVELS = {"high": 2, "medium": 1, "low": 0}


def _by_risk(found: Iterable[Any]) -> list[Any]:
    oldest_first = sorted(found, key=lambda each: each.at)
    return sorted(oldest_first, key=lambda each: _LEVELS.get(each.risk.level, 0), reverse=True)


def _state(name: str) -> tuple[State, ...]:
    return (State(name),)


def _waiting(proposal: Proposal, outcome: Outcome, *, already: bool = False) -> Outcome:
    why = f" Because of {listed(proposal.waits_for, 3)}." if proposal.waits_for else ""
    waits = "Waits already" if already else "Waits"
    text = f"{waits} for approval as {proposal.id}, nothing was written: {proposal.summary}{why}"
    checks = f" {verdict(proposal.checks)}" if proposal.checks else ""
    return replace(
        outcome,
        status="pending",
        text=f"{text}{checks} Risk: {proposal.risk.level}.",
        changed=(),
        etag=None,
        task_id=proposal.id,
        checks=proposal.checks,
        exit_code=WAITS,
        next_actions=(Call("wait", task=proposal.id),),
    )


def _line(proposal: Any) -> str:
    state = "" if proposal.state is State.AWAITING else f" [{proposal.state}]"
    reason = f" — {proposal.reason}" if proposal.reason else ""
    line = f"{proposal.id}  {proposal.risk.level:6}  {proposal.at}  {proposal.who}{state}: {proposal.summary}{reason}"
    return " | ".join(line.splitlines())


def _data(found: Summary) -> dict[str, Any]:
    """Return the row of a proposal in a list, as data."""
    return {
        **_facts(found),
        "risk": found.risk.level,
        "symbols": found.symbols,
        "names": found.names,
        "checks": dict(found.results),
    }


def _whole(proposal: Proposal, *, has_moved: bool) -> dict[str, Any]:
    """Return a proposal as data, but for its diff."""
    return {
        **_facts(proposal),
        "risk": {
            "level": proposal.risk.level,
            "reasons": list(proposal.risk.reasons),
            "counts": dict(proposal.risk.counts),
        },
        "symbols": list(proposal.symbols),
        "checks": {each.name: each.result for each in proposal.checks},
        "waits_for": list(proposal.waits_for),
        "refused": [{"symbol": each.symbol, "reason": each.reason, "by": each.by} for each in proposal.refused],
        "stale": has_moved or proposal.state in (State.STALE, State.FAILED),
        "decided_by": proposal.decided_by,
        "decided_at": proposal.decided_at,
        "decision": proposal.decision,
        "operation_id": proposal.operation_id if proposal.state is State.APPLIED else "",
        "note": proposal.note,
    }


def _facts(found: Summary | Proposal) -> dict[str, Any]:
    return {
        "task_id": found.id,
        "state": str(found.state),
        "who": found.who,
        "at": found.at,
        "reason": found.reason,
        "goal": found.goal,
        "summary": found.summary,
        "kind": found.risk.kind,
        "files": found.risk.counts.get("files", 0),
        "added": found.risk.counts.get("lines_added", 0),
        "removed": found.risk.counts.get("lines_removed", 0),
        "digest": found.digest,
        "expires": found.expires,
    }


def drawn(proposal: Proposal) -> str:
    """Return a proposal as text: the verdict, caller, reason and risk first, then the change."""
    counts = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in proposal.risk.counts.items() if value)
    lines = [
        f"{proposal.id} {_STATES[proposal.state]}: {proposal.summary}",
        f"risk: {proposal.risk.level}{f' ({counts})' if counts else ''}",
        *(f"    {each}" for each in proposal.risk.reasons),
        f"by {proposal.who}, {proposal.at}: {proposal.reason or '(no reason given)'}",
    ]
    lines += [f"goal: {proposal.goal}"] if proposal.goal else []
    lines += [f"waits because of {each}" for each in proposal.waits_for] if proposal.state in _WAITING else []
    lines += [f"changes {listed(proposal.symbols, _MOST_NAMED)}"] if proposal.symbols else []
    lines += [verdict(proposal.checks)] if proposal.checks else []
    lines += [f"note: {each}" for each in proposal.warnings]
    lines += [f"{each.symbol} was taken out by {each.by}: {each.reason}" for each in proposal.refused]
    if proposal.decided_at:
        by = f" by {proposal.decided_by}" if proposal.decided_by else ""
        lines.append(f"decided{by}, {proposal.decided_at}: {proposal.decision or '(no reason given)'}")
    lines += [f"made as {proposal.operation_id}"] if proposal.state is State.APPLIED else []
    lines += [proposal.note] if proposal.note else []
    lines.append(f"digest: {proposal.digest}")
    lines += [f"expires {proposal.expires}"] if proposal.state is State.AWAITING else []
    return "\n".join("\n    | ".join(each.splitlines()) for each in lines)  # no caller's text begins a line of ours


_MOVED = "What it was planned on has changed since; it is planned anew when a person decides about it."
_STATES = {
    State.AWAITING: "waits for approval",
    State.APPROVED: "is approved and not made yet",
    State.APPLIED: "was applied",
    State.REJECTED: "was rejected",
    State.STALE: "is stale: it cannot be made as it is",
    State.FAILED: "was approved and failed",
    State.EXPIRED: "has expired",
}


def _decided(proposal: Proposal, *, has_moved: bool) -> Outcome:
    """Return the fate of a proposal, for the caller that waits for it."""
    is_open = proposal.state in _OPEN
    ends = f"\n{_MOVED}" if has_moved else ""
    return Outcome(
        status="pending" if is_open else "answer",
        text=f"{drawn(proposal)}{ends}",
        task_id=proposal.id,
        found=(_whole(proposal, has_moved=has_moved),),
        counts={"proposals": 1},
        operation_id=proposal.operation_id or None if proposal.state is State.APPLIED else None,
        exit_code=WAITS if is_open else 0 if proposal.state is State.APPLIED else FOUND,
        next_actions=(Call("wait", task=proposal.id),) if is_open else (),
    )


def past(now: datetime) -> str:
    """Return a time as proposals have it."""
    return now.isoformat(timespec="seconds")
