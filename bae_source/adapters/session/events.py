"""What a session tells of a block of code while it runs and when it has ended: frozen values, one line each to read.

    [source] ◆ read(httpx) -> str (42 lines)        a call, and what came of it
    [source] ◆ read(nope) -> LookupFailed           a call that failed
    ◆ source() -> home > source                     a transition

Invariants:
- one call is one event, and holds no more than a line;
- events hold text and numbers only, so they travel between processes as JSON.
"""

from __future__ import annotations

from msgspec import Struct

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


class Panel(Struct, frozen=True, kw_only=True, tag="panel"):
    """What remains of a block besides its calls: what it printed, and a value that is not a call's.

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
        """What remains, as text: the code, then what it printed, then the value."""
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
    """Events that are not told one by one, because they are too many.

    Parameters:
        calls: how many.
        failed: how many of them failed.
    """

    calls: int
    failed: int = 0

    @property
    def line(self) -> str:
        """Their number in one line."""
        failed = f", {self.failed:,} of them failed" if self.failed else ""
        return f"{MARK} +{self.calls:,} more call{'' if self.calls == 1 else 's'}{failed}"


Told = Called | Entered
"""What is told while a block runs."""
Event = Told | Panel | Lost | Omitted


def breadcrumb(trail: tuple[str, ...]) -> str:
    """Draw the way to a place: `home > source > httpx`."""
    return " > ".join(trail)


def speakable(text: str) -> str:
    """Return a text that JSON can hold: surrogates, which are no characters, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
