"""The events of a block of code, while it runs and when it has ended: frozen values, one line each to read.

    [source] ◆ read(httpx) -> str (42 lines)        a call, and what came of it
    [source] ◆ read(nope) -> LookupFailed           a call that failed
    ◆ source() -> home > source                     a transition
    def send(self): …                               the value of a call that is a statement
    ◆ left out, 9,120 bytes: read("app") shows it   one for which there was no room

Invariants:
- one call is one event, and holds no more than a line;
- what travels between processes holds text and numbers only.
"""

from __future__ import annotations

import json

from msgspec import Struct

from bae_source.adapters.tools import Json, as_text
from bae_source.model.outcome import Outcome
from bae_source.model.text import counted

MARK = "◆"
_NAMES = 5


class Called(Struct, frozen=True, kw_only=True, tag="called"):
    """A call of a tool.

    Parameters:
        place: where the session was; empty at home.
        call: the call, with arguments that are long shortened.
        returned: what it returned, or the class of the error that it raised.
        failed: whether it raised one.
    """

    place: str
    call: str
    returned: str
    failed: bool = False

    @property
    def line(self) -> str:
        """The call in one line."""
        prefix = f"[{self.place}] " if self.place else ""
        return f"{prefix}{MARK} {self.call} -> {self.returned}"


class Entered(Struct, frozen=True, kw_only=True, tag="entered"):
    """A transition to another place.

    Parameters:
        call: what led there.
        trail: the way from home to where the session is now.
        replaced: names of the caller's that are those of tools again.
    """

    call: str
    trail: tuple[str, ...]
    replaced: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The transition in one line."""
        names = ", ".join(self.replaced[:_NAMES]) + (", …" if len(self.replaced) > _NAMES else "")
        note = f"  ({names}: tools again, no names of yours)" if names else ""
        return f"{MARK} {self.call} -> {breadcrumb(self.trail)}{note}"


class LeftOut(Struct, frozen=True, kw_only=True, tag="left out"):
    """The value of a call that is a statement, for which the block's budget has no room.

    Parameters:
        call: shows it.
        size: how many bytes it has.
    """

    call: str
    size: int

    @property
    def line(self) -> str:
        """Return the values that are left out, in one line."""
        return f"{MARK} left out, {self.size:,} bytes: {self.call} shows it"


class Noted(Struct, frozen=True, kw_only=True, tag="noted"):
    """A fact to know before a session's code imports anything; each is reported once.

    Parameters:
        text: the fact.
    """

    text: str

    @property
    def line(self) -> str:
        """The fact in one line."""
        return f"{MARK} imports: {self.text}"


class Answered(Struct, frozen=True, kw_only=True, tag="answered"):
    """The value of a call that is a statement, and not the last one of its block.

    Parameters:
        outcome: of the call, as much of it as there is room for.
        answer: the same as JSON has it.
    """

    outcome: Outcome
    answer: Json

    @property
    def line(self) -> str:
        """The value as text."""
        return answer_text(self.outcome, self.answer).removesuffix("\n")


class Panel(Struct, frozen=True, kw_only=True, tag="panel"):
    """The rest of a block besides its calls: what it printed, and a value that is not a call's.

    Parameters:
        code: the block, shortened.
        output: what was written to standard output and error.
        value: the value of its last expression.
        cut: how many bytes of output are left out.
    """

    code: str
    output: str = ""
    value: str = ""
    cut: int = 0

    @property
    def line(self) -> str:
        """Return the rest as text: the code, then what it printed, then the value."""
        first, *more = self.code.split("\n")
        lines = [f">>> {first}", *(f"... {each}" for each in more)]
        return "\n".join([*lines, *(part.rstrip("\n") for part in (self.output, self.value) if part)])


class Lost(Struct, frozen=True, kw_only=True, tag="lost"):
    """The process that held the names has ended, and they are gone with it.

    Parameters:
        reason: why it ended, in one sentence.
    """

    reason: str

    @property
    def line(self) -> str:
        """The loss in one line."""
        return f"{MARK} the namespace is lost: {self.reason}"


class Omitted(Struct, frozen=True, kw_only=True, tag="omitted"):
    """Events that are counted and not reported, because they are too many.

    Parameters:
        calls: how many.
        failed: how many of them failed.
        left_out: how many values there are besides that are left out.
    """

    calls: int
    failed: int = 0
    left_out: int = 0

    @property
    def line(self) -> str:
        """Their number in one line."""
        failed = f", {self.failed:,} of them failed" if self.failed else ""
        values = f", {counted(self.left_out, 'value')} left out" if self.left_out else ""
        return f"{MARK} +{counted(self.calls, 'more call')}{failed}{values}"


CallEvent = Called | Entered | LeftOut
"""The events of a block that runs."""
Event = CallEvent | Answered | Noted | Panel | Lost | Omitted


def answer_text(outcome: Outcome, answer: Json) -> str:
    """Return the outcome of a call as text: of `ast` the lines of JSON that it prints."""
    if "text" in answer:
        return as_text(outcome)
    several = answer.get("answers")
    return "".join(f"{json.dumps(each)}\n" for each in (several if isinstance(several, list) else [answer]))


def breadcrumb(trail: tuple[str, ...]) -> str:
    """Draw the way to a place: `home > source > httpx`."""
    return " > ".join(trail)


def speakable(text: str) -> str:
    """Return a text that JSON can hold: surrogates, which are no characters, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
