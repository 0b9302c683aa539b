"""Decisions of a person about proposals: approve, reject, take parts out, have them expire; no request leads here.

    approve code_mod_1a2b3c4d, digest 9f2c…     approved -> the ordinary change, by the gate -> applied as op_7f3a…
    the base has changed                        planned anew, under a new digest, and waits again

Invariants:
- an approval is of one digest, and is used once: the operation has an id before it is written, and what is in the
  history under that id is not made again;
- a process that dies between approval and write leaves an approval, which can be carried on; one that dies behind the
  commit point leaves an operation, which the next look at the proposal finds;
- the person who proposed does not approve, where both have given names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bae_source.approval.proposals import MOVES, Part, Proposal, State, check_move
from bae_source.engine.applying import Apply, operation
from bae_source.engine.approving.parting import covers, rest_of
from bae_source.engine.approving.proposing import past
from bae_source.engine.approving.sections import File, files_of
from bae_source.engine.approving.seeing import called_by
from bae_source.engine.approving.touching.effects import is_public_at
from bae_source.engine.approving.touching.paths import folded
from bae_source.engine.changing import Changing
from bae_source.engine.operations import Operation
from bae_source.engine.travelling import travel
from bae_source.errors import Refused, RequestError, ResourceError
from bae_source.history.travel.commands import Redo, Undo
from bae_source.model.call import Call
from bae_source.model.context import Context
from bae_source.model.outcome import Outcome
from bae_source.model.request import parse
from bae_source.model.text import listed

__all__ = ("Deciding", "File", "Person", "Proposal", "State")

_IN_THE_PATCH = ("tidy", "format")
"""Parameters that are carried out in what is left of a change."""
_OUT_OF = ", out of: "
_MOST_NAMED = 5
_TRAVELS: Mapping[str, type[Undo | Redo]] = {Undo.verb: Undo, Redo.verb: Redo}


class Person(Struct, frozen=True, kw_only=True):
    """A person who decides.

    Parameters:
        name: for the record.
        is_named: whether that name was given, and is not only the account's.
    """

    name: str
    is_named: bool = False


class Deciding:
    """Decisions about the proposals of one project.

    Parameters:
        changing: plans and makes its changes, and has its proposals.
    """

    def __init__(self, changing: Changing) -> None:
        self._changing = changing
        self._proposing = changing.proposing
        self._plans = changing.proposing.plans

    def current(self, task: str) -> Proposal:
        """Return a proposal as it is now; one whose base has changed is planned anew, and has another digest then.

        Raises:
            LookupFailed: there is none.
            Refused: `stale` where it cannot be planned any more.
        """
        if not self._changing.folders().is_idle():
            self._changing.transactions.recover()  # what is planned anew must not be planned on half of a change
        self._proposing.expired()
        proposal = self._proposing.settled(self._plans.get(task))
        return self._renewed(proposal) if self.is_stale(proposal) else proposal

    def shown(self, task: str) -> Proposal:
        """Return a proposal as it stands, without planning it anew.

        Raises:
            LookupFailed: there is none.
        """
        self._proposing.expired()
        return self._proposing.settled(self._plans.get(task))

    def is_stale(self, proposal: Proposal) -> bool:
        """Return whether a proposal has to be planned anew before it can be approved."""
        has_to = proposal.state in (State.STALE, State.FAILED)
        return has_to or (proposal.state is State.AWAITING and self._proposing.has_moved(proposal))

    def files(self, proposal: Proposal) -> tuple[File, ...]:
        """Return the diff of a proposal in files and sections, by symbol."""
        return files_of(proposal, self._changing.workspace(None))

    def is_public(self, symbol: str) -> bool | None:
        """Return whether other projects may use a symbol as it is now; None for what is no code, or is not there."""
        return is_public_at(self._changing.workspace(None), symbol)

    def undo(self, operation_id: str, person: Person) -> Outcome:
        """Take an operation back, which a person decides and no policy has wait.

        Raises:
            Refused: `forbidden` for what may not be changed.
            HistoryError: the history cannot do it.
        """
        context = Context(who=person.name)
        with self._changing.gate.opened_by_person():
            return travel(self._changing, parse(Undo, {"operation_id": operation_id}), context)

    def foreseen(self, task: str, person: Person, parts: Sequence[str]) -> Proposal:
        """Return a proposal with some parts alone, as `keep_only` would make it; nothing is kept.

        Raises:
            RequestError: `invalid_arguments` for parts that it does not change.
            Refused: as `reject`.
        """
        proposal = self.current(task)
        less, taken = self._parted(proposal, person, "-", parts, others=True)
        return proposal if less is None or not taken else self._anew(less, taken)

    def approve(self, task: str, named: str, person: Person, reason: str = "") -> Outcome:
        """Approve exactly what a digest names, and make it.

        Parameters:
            named: the digest.
            reason: the person's, for the record.

        Raises:
            HistoryError: `proposal_closed` where it was decided already.
            Refused: `stale` where the digest is of something else; `forbidden` for the proposer.
            ResourceError: it was approved, and could not be made; nothing was written.
        """
        proposal = self.current(task)
        self.check_may(proposal, person)
        if named != proposal.digest:
            raise Refused(
                "stale",
                f"{proposal.id} has another digest than the given one; nothing was approved.",
                hints=[Call("show", task=proposal.id, then=f"shows what it comes to now: digest {proposal.digest}.")],
            )
        if proposal.state is State.AWAITING:
            proposal = self._plans.move(
                proposal.id,
                State.APPROVED,
                digest=named,
                decided_by=person.name,
                decided_at=past(self._changing.now()),
                decision=reason,
                operation_id=f"op_{os.urandom(6).hex()}",
                enter=self._proposing.entering("approved", by=person.name, why=reason),
            )
        return self._applied(proposal)

    def reject(self, task: str, person: Person, reason: str, parts: Sequence[str] = ()) -> Outcome:
        """Reject a proposal, or take parts out of it: the rest is planned and judged anew, and waits.

        Parameters:
            parts: addresses of symbols or files; none for all of it.

        Raises:
            RequestError: `invalid_arguments` without a reason, or for parts that it does not change.
            HistoryError: `proposal_closed`.
            Refused: the rest cannot be planned; the proposal is as before then.
        """
        if not any(each.isprintable() and not each.isspace() for each in reason):
            raise RequestError(
                "invalid_arguments", "A rejection needs a reason.", hints=["The proposer is given it: --reason TEXT."]
            )
        if parts:
            return self._without(task, person, reason, parts)
        moved = self._proposing.close(self._plans.get(task).id, State.REJECTED, by=person.name, reason=reason)
        return Outcome(status="answer", text=f"Rejected {moved.id}: {reason}", task_id=moved.id)

    def keep_only(self, task: str, person: Person, reason: str, parts: Sequence[str]) -> Outcome:
        """Take all but some parts out of a proposal.

        Raises:
            RequestError: `invalid_arguments` for parts that it does not change.
            Refused: as `reject`.
        """
        symbols = self.current(task).symbols
        if all(any(covers(each, symbol) for each in parts) for symbol in symbols):
            return Outcome(status="answer", text="There is nothing else in it.", task_id=task)
        return self._without(task, person, reason, parts, others=True)

    def waiting(self) -> tuple[str, ...]:
        """Return the proposals that wait, by name, the riskiest first."""
        return tuple(each.id for each in self._proposing.waiting())

    def expire(self, task: str, person: Person) -> Outcome:
        """Have a proposal expire.

        Raises:
            HistoryError: `proposal_closed`.
        """
        moved = self._proposing.close(self._plans.get(task).id, State.EXPIRED, by=person.name, reason="")
        return Outcome(status="answer", text=f"{moved.id} has expired; nothing was written.", task_id=moved.id)

    def check_may(self, proposal: Proposal, person: Person) -> None:
        """Check that a person may approve a proposal.

        Raises:
            HistoryError: `proposal_closed` where it was decided already.
            Refused: `forbidden` for its proposer.
        """
        if proposal.state is not State.APPROVED:
            check_move(proposal, State.APPROVED)
        if proposal.is_named and folded(person.name).strip() == folded(proposal.who).strip():
            raise Refused(
                "forbidden",
                f"{person.name} proposed {proposal.id}, and cannot approve it",
                unchanged=True,
                hints=["Another person has to."],
            )

    def _applied(self, proposal: Proposal) -> Outcome:
        """Make what is approved."""
        if self._proposing.is_made(proposal):
            return self._applied_before(proposal)
        try:
            with self._changing.gate.opened_for(proposal):
                outcome = self._replayed(proposal, Context(who=proposal.who, why=proposal.reason or None))
            if outcome.status != "applied":
                raise Refused("stale", f"{proposal.id} has nothing to change any more; nothing was written.")
        except ResourceError as error:
            return self._not_applied(proposal, error)
        moved = self._proposing.applied(proposal)
        return replace(outcome, task_id=moved.id, warnings=(*self._changing.recovered(), *outcome.warnings))

    def _applied_before(self, proposal: Proposal) -> Outcome:
        moved = self._proposing.applied(proposal)
        text = f"{moved.id} was applied already, as {moved.operation_id}."
        return Outcome(status="applied", text=text, operation_id=moved.operation_id, task_id=moved.id)

    def _not_applied(self, proposal: Proposal, error: ResourceError) -> Outcome:
        """Note why what was approved could not be made, unless another process made it meanwhile.

        Raises:
            ResourceError: the error, with what is next.
        """
        if error.code == "busy":
            again = f"{proposal.id} is approved, and not made yet: approve it again."
            raise error.altered(hints=(again, *error.hints)) from error.__cause__
        with self._changing.transactions.locked():  # so that no other process makes it now
            if self._proposing.is_in_effect(proposal):
                return self._applied_before(proposal)
            if error.code != "proposal_closed":
                to = State.STALE if error.code == "stale" else State.FAILED
                enter = self._proposing.entering(to, code=error.code)
                self._plans.move(proposal.id, to, digest=proposal.digest, note=error.message, enter=enter)
        then = "shows it as it is now; it is planned anew and needs a new approval."
        hint = Call("show", task=proposal.id, then=then)
        raise error.altered(hints=(hint, *error.hints)) from error.__cause__

    def _renewed(self, proposal: Proposal, *, refused: tuple[Part, ...] = ()) -> Proposal:
        """Plan and judge a proposal anew, which gives it another digest, and keep it.

        Raises:
            Refused: `stale` or `forbidden` where it cannot be made any more.
        """
        renewed = self._anew(proposal, refused)
        entering, parts = self._proposing.entering, [each.symbol for each in refused]
        enter = entering("renewed")
        if refused:
            enter = entering("parts_refused", parts=parts, by=refused[0].by, why=refused[0].reason)
        return self._plans.renewed(renewed, digest=proposal.digest, enter=enter)

    def _anew(self, proposal: Proposal, refused: tuple[Part, ...]) -> Proposal:
        """Return a proposal as it is planned and judged now.

        Raises:
            Refused: `stale` or `forbidden` where it cannot be made any more.
        """
        context = Context(who=proposal.who, why=proposal.reason or None, propose=proposal.reason or "-")
        try:
            with self._renewing(proposal):
                self._replayed(proposal, context)
                found = self._proposing.renewed
            if found is None:
                raise Refused("stale", "it has nothing to change any more")
        except ResourceError as error:
            raise self._not_planned(proposal, error, keeps=bool(refused)) from error
        kept = {name: getattr(proposal, name) for name in ("id", "reason", "goal", "who", "is_named", "at", "notified")}
        note = "" if refused else f"It was planned anew, {past(self._changing.now())}: its files had changed."
        summary = proposal.summary if proposal.refused else found.summary
        if refused:
            whole = proposal.summary.partition(_OUT_OF)[2] or proposal.summary
            summary = f"Only {listed(found.symbols, _MOST_NAMED)}{_OUT_OF}{whole}"
        refused = (*proposal.refused, *refused)
        return replace(found, **kept, planned_at=found.at, refused=refused, note=note, summary=summary)

    def _not_planned(self, proposal: Proposal, error: ResourceError, *, keeps: bool) -> Refused:
        """Return the error for a proposal that cannot be planned any more, which is noted.

        Parameters:
            keeps: whether it stays as it is, since only parts of it were to go.
        """
        if not keeps and State.STALE in MOVES[proposal.state]:
            enter = self._proposing.entering(State.STALE, code=error.code)
            self._plans.move(proposal.id, State.STALE, note=error.message, enter=enter)
        if error.code == "forbidden":
            reason = f"{proposal.id} may not be made any more: {error.clause}; nothing was written."
            return Refused("forbidden", reason, hints=[f"reject {proposal.id} with a reason."])
        return Refused(
            "stale",
            f"{proposal.id} cannot be made on the files as they are now: {error.clause}; nothing was written.",
            hints=[f"reject {proposal.id} with a reason, or have it proposed anew."],
        )

    @contextmanager
    def _renewing(self, proposal: Proposal) -> Iterator[None]:
        self._proposing.renewing, self._proposing.renewed = proposal, None
        try:
            yield
        finally:
            self._proposing.renewing = None

    def _replayed(self, proposal: Proposal, context: Context) -> Outcome:
        """Have the requests of a proposal planned, judged and made as any others, under its proposer's name."""
        context = replace(context, **{k: tuple(v) if k == "verify" else v for k, v in proposal.how.items()})
        request = _request_of(proposal.requests)
        with called_by(proposal.who):
            if isinstance(request, (Undo, Redo)):
                return travel(self._changing, request, context)
            return self._changing.change(request, context)

    def _without(
        self, task: str, person: Person, reason: str, parts: Sequence[str], *, others: bool = False
    ) -> Outcome:
        """Take parts out of a proposal, or all but them."""
        less, taken = self._parted(self.current(task), person, reason, parts, others=others)
        if less is None:
            return self.reject(task, person, reason)
        renewed = self._renewed(less, refused=taken)
        names = listed([each.symbol for each in taken], _MOST_NAMED)
        text = f"Took {names} out of {renewed.id}; the rest waits under a new digest: {renewed.digest}"
        return Outcome(status="answer", text=text, diff=renewed.diff, task_id=renewed.id)

    def _parted(
        self, proposal: Proposal, person: Person, reason: str, parts: Sequence[str], *, others: bool
    ) -> tuple[Proposal | None, tuple[Part, ...]]:
        """Return a proposal with what is left of it to be planned, and what was taken out; None where nothing is."""
        check_move(proposal, State.REJECTED)
        with self._renewing(proposal):
            context = Context(who=proposal.who, propose=proposal.reason or "-", reload="off")
            self._replayed(replace(proposal, how={**proposal.how, "verify": (), "reload": "off"}), context)
            plan = self._proposing.planned
        assert plan is not None
        changing = self._changing
        rest = rest_of(
            plan, changing.workspace(None), parts, lambda path: changing.transactions.bits(path)[0], others=others
        )
        if others:
            parts = [each for each in proposal.symbols if not any(covers(part, each) for part in parts)]
        taken = tuple(Part(symbol=each, reason=reason, by=person.name) for each in dict.fromkeys(parts))
        if not rest:
            return None, taken
        how = {name: value for name, value in proposal.how.items() if name not in _IN_THE_PATCH}
        return replace(proposal, requests=({"do": "patch", "patch": rest},), how=how), taken


def _request_of(requests: Sequence[dict[str, Any]]) -> Operation | Undo | Redo:
    """Return the request that a proposal stands for."""
    if len(requests) == 1:
        [given] = requests
        if (kind := _TRAVELS.get(given.get("do", ""))) is not None:
            return parse(kind, {name: value for name, value in given.items() if name != "do"})
        request = operation(given)
        assert isinstance(request, Operation)
        return request
    return Apply(requests=tuple(requests))
