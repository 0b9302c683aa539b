"""Proposals: changes that wait for a person, and how each of them ends.

    awaiting_approval -> approved -> applied
                      -> rejected, expired, stale        approved -> stale, failed

What is approved is named by its digest: of the requests, of the bytes that they were planned on, and of the bytes that
they lead to. So an approval is of exactly one change, and of no other that has the same name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from bae_source.errors import HistoryError
from bae_source.model.outcome import Check
from bae_source.system.hashing import sha256

PREFIX = "code_mod_"
"""The beginning of a proposal's name."""


class State(StrEnum):
    """The state of a proposal."""

    AWAITING = "awaiting_approval"
    APPROVED = "approved"
    APPLIED = "applied"
    REJECTED = "rejected"
    STALE = "stale"
    FAILED = "failed"
    EXPIRED = "expired"


MOVES: Mapping[State, frozenset[State]] = {
    State.AWAITING: frozenset({State.APPROVED, State.REJECTED, State.EXPIRED, State.STALE}),
    State.APPROVED: frozenset({State.APPLIED, State.STALE, State.FAILED}),
    State.STALE: frozenset({State.AWAITING, State.REJECTED, State.EXPIRED}),
    State.FAILED: frozenset({State.AWAITING, State.REJECTED, State.EXPIRED}),
    State.APPLIED: frozenset(),
    State.REJECTED: frozenset(),
    State.EXPIRED: frozenset(),
}
"""Every move that there is. A stale or failed one that is planned anew waits again, under a new digest."""


class Part(Struct, frozen=True, kw_only=True):
    """A symbol that a person took out of a proposal.

    Parameters:
        symbol: its address.
        reason: the person's.
        by: the person's name.
    """

    symbol: str
    reason: str
    by: str


class Risk(Struct, frozen=True, kw_only=True):
    """The damage that a change may do, as the engine worked it out.

    Parameters:
        level: `low`, `medium` or `high`.
        reasons: clauses, the gravest first, such as `app.core.send, which is public, goes`.
        counts: numbers by kind: `files`, `lines_added`, `lines_removed`, `symbols`, `public`, `deleted`, `tests`,
            `dependencies`, `unsure`.
        kind: of a low one, which several may be approved by one decision: `comments`, `texts` or `tests`, where it
            touches nothing but comments and docstrings, texts, or new tests; "" for all others.
    """

    level: str = "low"
    reasons: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}
    kind: str = ""


class Proposal(Struct, frozen=True, kw_only=True):
    """A change that waits for a person.

    Parameters:
        id: `code_mod_` and eight hexadecimal digits.
        state: where it stands.
        requests: the changes, as `apply` takes them.
        how: by name, how the proposer wants them judged and made.
        reason: why, in the proposer's words.
        goal: what it is a step to; "" for nothing.
        who: the proposer.
        is_named: whether the proposer gave that name, and it is not only the account's.
        at: when it was proposed, ISO 8601, UTC.
        planned_at: when it was planned anew; "" where it was not.
        summary: one line on what it does, in our words.
        symbols: addresses of what it changes, in the order of the diff.
        risk: how much it may break.
        waits_for: rules of the policy by which it waits; none where the proposer wanted it.
        digest: names exactly this change.
        base: by path, the digest of the bytes that it was planned on; None for a file that is created.
        after: the digest of the bytes that it leads to.
        diff: as it is shown; bytes that are no UTF-8 stand as surrogate escapes.
        warnings: what else there is to know, a sentence each.
        checks: what was verified when it was proposed, of these very bytes.
        refused: parts that were taken out.
        decided_by, decided_at, decision: who decided, when, and with which reason.
        operation_id: the operation that makes it, chosen before it is written; "" before that.
        note: why it is stale or failed, a sentence.
        notified: whether the user was notified of it.
        expires: when it expires, ISO 8601, UTC.
    """

    id: str
    state: State = State.AWAITING
    requests: tuple[dict[str, Any], ...]
    how: dict[str, Any] = {}
    reason: str
    goal: str = ""
    who: str
    is_named: bool = False
    at: str
    planned_at: str = ""
    summary: str = ""
    symbols: tuple[str, ...] = ()
    risk: Risk = Risk()
    waits_for: tuple[str, ...] = ()
    digest: str = ""
    base: dict[str, str | None] = {}
    after: str = ""
    diff: str = ""
    warnings: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    refused: tuple[Part, ...] = ()
    decided_by: str = ""
    decided_at: str = ""
    decision: str = ""
    operation_id: str = ""
    note: str = ""
    notified: bool = False
    expires: str = ""


def digest_of(requests: tuple[dict[str, Any], ...], base: Mapping[str, str | None], after: str) -> str:
    """Return the digest that names a change: of its requests, of what it was planned on and of what it leads to."""
    text = json.dumps([requests, base, after], sort_keys=True, default=list)  # which escapes what is no UTF-8
    return sha256(text.encode("ascii"))


def check_move(proposal: Proposal, to: State) -> None:
    """Check that a proposal may come to stand there.

    Raises:
        HistoryError: `proposal_closed`.
    """
    if to in MOVES[proposal.state]:
        return
    by = f" by {proposal.decided_by}" if proposal.decided_by else ""
    raise HistoryError(
        "proposal_closed",
        f"{proposal.id} is {proposal.state}{by}, so it cannot become {to}; nothing was changed.",
        hints=[f"show {proposal.id} says what became of it."],
    )
