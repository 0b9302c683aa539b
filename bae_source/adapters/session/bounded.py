"""What a block's value or error may tell within the session's budget, whoever made it.

A call through the desk keeps to its own budget; code can make an outcome or raise an error by other ways, of any size.

Invariants:
- whatever is left out is said where it is missing;
- what comes out is plain data, as JSON has it, whatever classes it was made of.
"""

from __future__ import annotations

import json

import msgspec
from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.model.outcome import Failure, Notice, Outcome, as_mapping, failed
from bae_source.model.page import cut_to, size_of
from bae_source.model.selection import answered
from bae_source.model.shortened import shortened, shortened_error

_LONGEST_ID = 1_000
_SLACK = 2_000
"""Bytes that what is short already may have beyond its budget, for saying what was left out."""
_SELECTED = 64_000
"""Bytes of a selection, which has limits of its own."""


def fits(outcome: Outcome, budget: int) -> bool:
    """Say whether an outcome keeps to a budget: its text, and all the rest together."""
    ids = (outcome.operation_id, outcome.etag, outcome.address)
    return (
        size_of(outcome.text) <= budget + (_SLACK if outcome.errors else 0)
        and shortened(outcome, budget + _SLACK, answer=True) is outcome
        and all(size_of(each) <= _LONGEST_ID for each in ids if each is not None)
    )


def plain(outcome: Outcome) -> Outcome:
    """Return an outcome as its JSON tells it.

    Raises:
        ValueError: a field of it is not what an outcome has there.
        TypeError: likewise.
    """
    told = json.loads(json.dumps({**as_mapping(outcome), "address": outcome.address, "exit_code": outcome.exit_code}))
    return msgspec.convert(told, Outcome)


def exact(text: str) -> str:
    """Return a text as one of Python's own, without the methods of whatever class it is of."""
    return str.__str__(text)


def selected(outcome: Outcome) -> str:
    """Return the JSON that a call is answered with where that is no outcome's; empty for any other.

    Raises:
        ValueError: it is too long for one.
    """
    answer = answered(outcome)
    if "text" in answer:
        return ""
    told = msgspec.json.encode(answer)
    if len(told) > _SELECTED:
        raise ValueError(f"The selection has {len(told):,} bytes, more than {_SELECTED:,}.")
    return told.decode()


def bounded(outcome: Outcome, budget: int) -> Outcome:
    """Return a plain outcome that keeps to a budget."""
    if fits(outcome, budget):
        return outcome
    less = replace(outcome, errors=tuple(_bounded(each, budget) for each in outcome.errors[:1]))
    less = shortened(_with_short_ids(less), budget, answer=True)
    if size_of(less.text) <= budget:
        return less
    kept = cut_to(less.text, budget)
    notice = Notice("shortened", f"Shown: {size_of(kept):,} of {size_of(less.text):,} bytes of the text.")
    return replace(less, text=kept, complete=False, warnings=(*less.warnings, notice))


def bounded_error(error: ResourceError, budget: int) -> Outcome:
    """Return the outcome of an error of the engine's, within a budget."""
    outcome = plain(failed(error))
    if fits(outcome, budget):
        return outcome
    return bounded(plain(failed(shortened_error(error, budget))), budget)


def _bounded(failure: Failure, budget: int) -> Failure:
    """Return a failure with the beginning of its message, hints and candidates, as far as they fit."""
    size = sum(map(size_of, (failure.message, *failure.hints, *failure.candidates)))
    if size <= budget + _SLACK and len(failure.code) <= _LONGEST_ID:
        return failure
    message = cut_to(failure.message, max(budget // 4, _SLACK // 4))
    hint = f"Shown: the beginning of an error of {size:,} bytes."
    return Failure(code=failure.code[:_LONGEST_ID], message=message, hints=(hint,))


def _with_short_ids(outcome: Outcome) -> Outcome:
    """Return an outcome without ids that are too long to be any of ours."""
    ids = {"operation_id": outcome.operation_id, "etag": outcome.etag, "address": outcome.address}
    dropped = [name for name, value in ids.items() if value is not None and size_of(value) > _LONGEST_ID]
    if not dropped:
        return outcome
    notice = Notice("shortened", f"Left out, of more than {_LONGEST_ID:,} bytes each: {', '.join(dropped)}.")
    return replace(outcome, **dict.fromkeys(dropped), complete=False, warnings=(*outcome.warnings, notice))
