"""The result of a block of code, put together from its worker's messages and output, and kept within the budget.

Invariants:
- the values of a block's calls are within the budget together, and so is all else that it tells; what is left out is
  said where it is missing;
- the outcome of a call is as the one door gave it.
"""

from __future__ import annotations

import json

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bae_source.adapters.session.bounded import cut_note
from bae_source.adapters.session.child.messages import Done, Shown
from bae_source.adapters.session.child.process import Capture, Gone
from bae_source.adapters.session.displays import Entry
from bae_source.adapters.session.events import (
    Answered,
    Called,
    CallEvent,
    Event,
    LeftOut,
    Lost,
    Noted,
    Omitted,
    Panel,
    answer_text,
)
from bae_source.adapters.tools import Json
from bae_source.errors import ResourceError
from bae_source.model.outcome import Failure, Outcome, as_mapping, failed
from bae_source.model.page import cut_to, size_of

_BEGINS_ANEW = "The next block begins with a new one, in the same place."
_TAKEN_BACK = "If a change was being made, the next request takes it back or finishes it."
_CODE_LINES = 5
_CODE_WIDTH = 80
_MOST_SHOWN = 1 << 26
"""Characters that a block's values before its last one may have, whatever its calls asked for."""
_NOTE = 60
_LEAST = 200
"""Bytes that are there for output, however much else there is."""


class Ran(Struct, frozen=True, kw_only=True):
    """The result of a block of code.

    Parameters:
        events: its calls, what they showed, and transitions, in their order; then what else remains of it.
        outcome: of the call whose value it has; of a block with another value or none, an answer with that as text; or
            an error.
        answer: the same as JSON has it.
        is_shown: whether the outcome is to be shown: that of a call, or an error; the rest is in events.
        trail: the way from home to where the session is now.
        lost: whether the names of the session are gone.
        traceback: of the error that ended the block, for those who ask for it.
        entry: what the place shows that is the block's value; its text is the outcome's.
    """

    events: tuple[Event, ...]
    outcome: Outcome
    answer: Json
    is_shown: bool
    trail: tuple[str, ...]
    lost: bool = False
    traceback: str = ""
    entry: Entry | None = None

    @property
    def text(self) -> str:
        """Return the text for a model or a person: a line for each call, then the result; of `ast` JSON Lines."""
        parts = [event.line for event in self.events]
        if self.is_shown:
            parts.append(answer_text(self.outcome, self.answer))
        return "\n".join(part for part in parts if part)


class Telling:
    """Events as they come, those that there is room for; of the others it is known how many there were.

    Parameters:
        budget: of everything that the block tells, in bytes; half of it is for events.
    """

    def __init__(self, budget: int) -> None:
        self._room = budget // 2
        self._left = _MOST_SHOWN
        self._events: list[Event] = []
        self._omitted = self._failed = self._left_out = 0

    def note(self, text: str) -> None:
        """Take a fact to know before the block."""
        self._events.append(Noted(text=text))

    def show(self, shown: Shown) -> None:
        """Take the shown part of a call's value, which its worker keeps within the budget.

        Raises:
            ValueError: it is nothing that a call can have come to, or more than any has.
        """
        self._left -= len(shown.outcome) + len(shown.answer)
        if self._left < 0:
            raise ValueError("more than is ever shown")
        outcome = _outcome(shown)
        answer = _mapping(shown.answer) if shown.answer else as_mapping(outcome)
        self._events.append(Answered(outcome=outcome, answer=answer))

    def take(self, event: CallEvent) -> None:
        """Take an event."""
        self._room -= size_of(event.line) + 1
        if self._room >= 0:
            self._events.append(event)
            return
        is_value = isinstance(event, LeftOut)
        self._left_out += is_value
        self._omitted += not is_value
        self._failed += isinstance(event, Called) and event.failed

    def taken(self) -> list[Event]:
        """Return the events, and at their end how many more there were."""
        if not (self._omitted or self._left_out):
            return [*self._events]
        return [*self._events, Omitted(calls=self._omitted, failed=self._failed, left_out=self._left_out)]


def finished(
    done: Done, trail: tuple[str, ...], code: str, telling: Telling, output: Capture, budget: int, why: Gone
) -> Ran:
    """Put together what a block came to that has ended.

    Parameters:
        trail: the way from home to where the session is now.
        why: why it was interrupted, if it was.

    Raises:
        ValueError: what the worker says of it is nothing that can have come of a block; all the output is still there.
    """
    outcome = _ended(_outcome(done), why)
    answer = _mapping(done.answer) if done.answer else as_mapping(outcome)
    events = telling.taken()
    room = budget - sum(size_of(event.line) + 1 for event in events if not isinstance(event, Answered))
    room -= _CODE_LINES * (_CODE_WIDTH + 5)
    value = _cut(done, max(_LEAST, room - min(output.size, room // 2)))
    printed, left_out = output.taken(max(_LEAST, room - size_of(value)))
    if printed or value:
        events.append(Panel(code=_shortened(code), output=printed, value=value, cut=left_out))
    return Ran(
        events=tuple(events),
        outcome=outcome,
        answer=answer,
        is_shown=done.is_call or bool(outcome.errors),
        trail=trail,
        traceback=done.traceback,
        entry=done.entry,
    )


def refused(error: ResourceError, trail: tuple[str, ...]) -> Ran:
    """Return the outcome of a block that was not run."""
    outcome = failed(error)
    return Ran(events=(), outcome=outcome, answer=as_mapping(outcome), is_shown=True, trail=trail)


def lost(gone: Gone, code: str, telling: Telling, output: str, left_out: int, trail: tuple[str, ...]) -> Ran:
    """Put together what a block came to whose worker has ended."""
    events = telling.taken()
    if output:
        events.append(Panel(code=_shortened(code), output=output, cut=left_out))
    message = f"The namespace is lost: {gone.reason}."
    hints = (_TAKEN_BACK,) if gone.code == "handle_expired" else (_BEGINS_ANEW, _TAKEN_BACK)
    outcome = Outcome(
        status="error",
        text=message,
        complete=False,
        errors=(Failure(code=gone.code, message=message, hints=hints),),
        next_actions=hints,
        exit_code=1,
    )
    return Ran(
        events=(*events, Lost(reason=gone.reason)),
        outcome=outcome,
        answer=as_mapping(outcome),
        is_shown=True,
        trail=trail,
        lost=True,
    )


def _outcome(answer: Done | Shown) -> Outcome:
    found = {**_mapping(answer.outcome), "address": answer.address, "exit_code": answer.exit_code}
    return msgspec.convert(found, Outcome)


def _ended(outcome: Outcome, why: Gone) -> Outcome:
    if not why.reason or not outcome.errors or outcome.errors[0].code != "interrupted":
        return outcome
    message = f"{why.reason[:1].upper()}{why.reason[1:]}, and was ended; the names are as it left them."
    return replace(outcome, text=message, errors=(Failure(code=why.code, message=message),))


def _mapping(text: str) -> Json:
    """Return the value of a worker's JSON, which the caller's code in it may have written.

    Raises:
        ValueError: it is no object, or no JSON.
    """
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise ValueError("JSON that is too deep") from error
    if not isinstance(found, dict):
        raise ValueError("JSON that is no object")
    return found


def _shortened(code: str) -> str:
    """Return the first lines of a block, and how many more there are."""
    lines = code.strip("\n").split("\n")
    shown = [line if len(line) <= _CODE_WIDTH else f"{line[: _CODE_WIDTH - 1]}…" for line in lines[:_CODE_LINES]]
    return "\n".join([*shown, *([f"# +{len(lines) - _CODE_LINES:,} more lines"] if len(lines) > _CODE_LINES else [])])


def _cut(done: Done, room: int) -> str:
    """Return the value that is not a call's, within a room, with how long it is."""
    is_whole = size_of(done.value) <= room and len(done.value) == done.value_length
    shown = done.value if is_whole else cut_to(done.value, max(0, room - _NOTE))
    return cut_note(shown, done.value_length)
