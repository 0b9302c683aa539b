"""Tools as plain callables: each call is validated, carried out through the one door, bounded and reported as an event.

    [source] ◆ read(httpx) -> str (42 lines)

Invariants:
- a call is reported once, whether it succeeds, fails or is interrupted;
- what a call returns to code is whole, unless the call has a budget; the session's own is for what is shown;
- nothing here knows a single verb; a tool is its name, and where its calls go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from inspect import Signature, cleandoc
from typing import Any

from msgspec import Struct, field

from bae_source.adapters.python.methods import Selection, Selections, named, valued
from bae_source.adapters.session.arguments import declared, drawn, gathered, signature, taken
from bae_source.adapters.session.bounded import fits
from bae_source.adapters.session.events import Called, CallEvent
from bae_source.adapters.session.modules import Modules, Run
from bae_source.adapters.session.naming import placed
from bae_source.adapters.session.places import short_name
from bae_source.adapters.session.profile import Profile
from bae_source.adapters.session.trail import Spot
from bae_source.engine.registry import called
from bae_source.errors import RequestError
from bae_source.model.context import Context
from bae_source.model.outcome import Outcome, Text
from bae_source.model.request import Request, check_none, parameters, summary, values_of

Report = Callable[[CallEvent], None]
_REMEMBERED = 16
_REQUEST = "request"
"""The attribute of a text that has what it answers."""


class Desk(Struct, frozen=True, kw_only=True):
    """The objects that all tools of a session share.

    Parameters:
        run: carries out a request through the one door.
        context: how requests are run where a call says nothing.
        report: takes events.
        modules: the project's packages and modules.
        profile: which tools there are.
        lock: held while a call is carried out; the engine is for one thread at a time.
        budget: bytes of a page where a call asks for one.
        alone: within which no module of the project's is imported here.
        begin: begins a transaction with a reason, and returns its draft.
        of_engine: whether it is about the engine's own source.
        allowed: the outcomes of the last calls that had a budget of their own.
    """

    run: Run
    context: Context
    report: Report
    modules: Modules
    profile: Profile
    lock: AbstractContextManager[Any]
    budget: int
    alone: Callable[[], AbstractContextManager[Any]]
    begin: Callable[[str], Any]
    of_engine: bool = False
    allowed: deque[Outcome] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))

    def allow(self, outcome: Outcome, context: Context) -> None:
        """Remember of an outcome, which may be shown whole, that its call had a budget of its own."""
        if context.budget is not None and not fits(outcome, self.budget):
            self.allowed.append(outcome)

    def is_allowed(self, outcome: Outcome) -> bool:
        """Return whether an outcome is that of one of the last calls with a budget of their own."""
        return any(each is outcome for each in tuple(self.allowed))


class Tool:
    """One tool.

    Parameters:
        verb: its verb.
        desk: where its calls go.
        spot: the place that it is a tool of; names are understood as those written there.
        run: carries out its requests, where that is not the desk.
        shown: the name of its calls in events, if not its verb.
    """

    def __init__(self, verb: str, desk: Desk, spot: Spot, *, run: Run | None = None, shown: str | None = None) -> None:
        self.verb = verb
        self.__name__ = self.__qualname__ = short_name(spot.place, verb)
        self._desk = desk
        self._spot = spot
        self._run = run or desk.run
        self._shown = shown or self.__name__

    def __call__(self, /, *given: Any, **named: Any) -> Any:
        """Call the tool: a text, a selection or an outcome comes back, or a `ResourceError` is raised."""
        call = lambda: drawn(self._shown, given, named)  # noqa: E731
        return watched(self._desk, self._spot, call, lambda: self.perform(given, named))

    def __repr__(self) -> str:
        return f"{signature(self.verb, name=self.__name__)}\n    {summary(self._kind)}"

    @property
    def __signature__(self) -> Signature:
        """Return the signature for `inspect` and completion."""
        return Signature(list(taken(self.verb)))

    @property
    def help(self) -> str:
        """The tool in full: how it is called, what it does, and its parameters."""
        lines = [signature(self.verb, name=self.__name__), *(f"    {line}".rstrip() for line in _about(self._kind))]
        lines += [f"    {each.name}: {each.help}" for each in declared(self.verb)]
        return "\n".join(lines)

    @cached_property
    def _kind(self) -> type[Request]:
        return named(self.verb)

    def perform(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Make a call of which no event tells, and return its value."""
        arguments, problems = gathered(self.verb, given, named)
        if problems:
            raise self._wrong(arguments, problems)
        check_none(self._kind, arguments)
        if self._spot.module:
            accepted = frozenset(each.name for each in parameters(self._kind))
            arguments = placed(self.verb, arguments, accepted, self._spot.module, self._desk.modules)
        if arguments.get("cursor") is not None and arguments.get("budget") is None:
            arguments = {**arguments, "budget": self._desk.budget}
        try:
            asked, context = called(self.verb, arguments, self._desk.context)
        except RequestError as error:
            if "problems" not in error.details:
                raise
            raise self._wrong(arguments, problems) from None
        outcome = self._run(asked, context)
        self._desk.allow(outcome, context)
        value = valued(asked, outcome)
        if isinstance(value, Text) and context.budget is None and not self._desk.of_engine:
            vars(value)[_REQUEST] = asked
        return value

    def _wrong(self, arguments: Mapping[str, Any], problems: list[str]) -> RequestError:
        """Return the error of a call's arguments, with the signature that a session has for it."""
        try:
            values_of(self._kind, declared(self.verb), arguments, wrong=problems)
        except RequestError as error:
            hint = f"{signature(self.verb, name=self.__name__)}: {summary(self._kind)}"
            return error.altered(hints=[hint])
        raise AssertionError("arguments that were found wrong are")


def watched(desk: Desk, spot: Spot, call: Callable[[], str], do: Callable[[], Any]) -> Any:
    """Do something, and tell of it in one event."""
    try:
        with desk.lock:
            value = do()
    except BaseException as error:
        desk.report(Called(place=spot.prefix, call=call(), returned=type(error).__name__, failed=True))
        raise
    desk.report(Called(place=spot.prefix, call=call(), returned=described(value)))
    return value


def outcome_of(value: Any) -> Outcome | None:
    """Return the outcome that a value of a call carries; None for any other value."""
    if isinstance(value, Outcome):
        return value
    found = getattr(value, "outcome", None) if isinstance(value, (Text, Selection, Selections)) else None
    return found if isinstance(found, Outcome) else None  # the code may have put something else there


def request_of(value: Any) -> Request | None:
    """Return the request behind a text, of which pages can be shown; None for any other value, and for a page."""
    found = vars(value).get(_REQUEST) if isinstance(value, Text) else None
    return found if isinstance(found, Request) else None


def described(value: Any) -> str:
    """Return a short description of a call's result."""
    if isinstance(value, str):
        lines = value.count("\n") + (not value.endswith("\n") and value != "")
        return f"str ({lines} line{'' if lines == 1 else 's'})"
    if isinstance(value, Outcome):
        return f"Outcome ({value.status}{f', {value.operation_id}' if value.operation_id else ''})"
    if isinstance(value, Selections):
        return f"list ({len(value)} answers)"
    if isinstance(value, Selection):
        return f"dict ({value['status']})"
    return "None" if value is None else getattr(value, "in_events", type(value).__name__)


def _about(kind: type[Request]) -> list[str]:
    return cleandoc(kind.__doc__ or "").splitlines()
