"""The representations of a block's values and of its error, kept within the session's budget.

Values are whole where code uses them; here they are cut for being shown. An answer that is too long is shown by its
first page, with the call of the next one; of a change the diff goes first, and the verdict stays. What a block shows by
several calls has one budget, a fourth of which is kept for its last expression.

Invariants:
- a note stands where something is left out;
- what comes out is plain data, as JSON has it, whatever classes it was made of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.model.call import written
from bae_source.model.outcome import Failure, Notice, Outcome, as_mapping, failed
from bae_source.model.page import FIRST, cut_to, size_of, within
from bae_source.model.request import SMALLEST_BUDGET, Request
from bae_source.model.selection import answered
from bae_source.model.shortened import shortened, shortened_error

_FOR_LAST = 4
"""The part of a block's budget that is kept for its last value: a fourth."""
_LEAST = 2_000
"""Bytes of a page that is worth showing."""
_LONGEST_ID = 1_000
_SLACK = 2_000
"""Bytes that what is short already may have beyond its budget, for saying what was left out."""
_SELECTED = 64_000
"""Bytes of a selection, which has limits of its own."""


class Room:
    """The bytes that the values of a block have for being shown.

    Parameters:
        budget: how many; None for any number.
        has_last: whether the block ends with an expression, whose value comes last.
        through: the tool that makes the calls of a verb which is no tool of its own, by verb.
    """

    def __init__(self, budget: int | None, *, has_last: bool, through: Mapping[str, str]) -> None:
        self._budget = budget
        self._through = through
        self._kept = budget // _FOR_LAST if budget is not None and has_last else 0
        self._left = (budget or 0) - self._kept

    def of_statement(self, outcome: Outcome, request: Request | None) -> Outcome | None:
        """Return as much as can be shown of a value that is not the last; None where that is nothing.

        Parameters:
            request: the request that it answers, if that has pages.
        """
        if self._budget is None:
            return plain(outcome)
        least = min(_LEAST, self._budget // _FOR_LAST)
        is_answer = outcome.status == "answer"
        if is_answer and not fits(outcome, self._left) and (self._left < least or "text" not in answered(outcome)):
            return None
        return self._taken(outcome, request, max(self._left, least))

    def of_last(self, outcome: Outcome, request: Request | None) -> Outcome:
        """Return as much as can be shown of the value of the block's last expression."""
        if self._budget is None:
            return plain(outcome)
        return self._taken(outcome, request, max(self._left, 0) + self._kept)

    def take(self, outcome: Outcome) -> Outcome:
        """Return an outcome that is shown whole, whatever room there is."""
        self._left -= size_of(outcome.text) + size_of(outcome.diff)
        return plain(outcome)

    def _taken(self, outcome: Outcome, request: Request | None, room: int) -> Outcome:
        if request is not None and not fits(outcome, room):
            outcome = within(outcome, request, budget=max(room, SMALLEST_BUDGET), cursor=FIRST)
            outcome = replace(outcome, next_actions=written(outcome.next_actions, "session", self._through))
        return self.take(bounded(plain(outcome), room))


def fits(outcome: Outcome, budget: int) -> bool:
    """Return whether an outcome keeps to a budget: its text, and all the rest together."""
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
    values = json.loads(json.dumps({**as_mapping(outcome), "address": outcome.address, "exit_code": outcome.exit_code}))
    return msgspec.convert(values, Outcome)


def cut_note(shown: str, length: int) -> str:
    """Return a text with a note behind it if it is only the beginning of a longer one.

    Parameters:
        length: how many characters there are in all.
    """
    return shown if len(shown) == length else f"{shown}… ({length:,} characters in all)"


def exact(text: str) -> str:
    """Return a text as one of Python's own, without the methods of its class."""
    return str.__str__(text)


def selected(outcome: Outcome) -> str:
    """Return the JSON that a call is answered with where that is no outcome's; empty for any other.

    Raises:
        ValueError: it is too long for one.
    """
    answer = answered(outcome)
    if "text" in answer:
        return ""
    encoded = msgspec.json.encode(answer)
    if len(encoded) > _SELECTED:
        raise ValueError(f"The selection has {len(encoded):,} bytes, more than {_SELECTED:,}.")
    return encoded.decode()


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
