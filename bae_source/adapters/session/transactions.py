"""The offer of a place: its tools, those that make the calls of others, and transactions.

The tools of a transaction plan, and its commit makes everything.

    with transaction("retry on timeouts") as tx:
        tx.edit("app.client.Client.send", new_source)

Invariants:
- until the commit nothing is written, so a session that ends before has changed nothing;
- an exception in its block abandons it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from msgspec.structs import replace

from bae_source.adapters.offer import HELP
from bae_source.adapters.session.arguments import drawn
from bae_source.adapters.session.calls import Desk, Tool, watched
from bae_source.adapters.session.modules import Run
from bae_source.adapters.session.places import PLACES, SHOWN, TOGETHER, TRANSACTION, short_name, verb_of
from bae_source.adapters.session.profile import relay_shown
from bae_source.adapters.session.trail import Spot
from bae_source.adapters.session.words import Word
from bae_source.engine.registry import REQUESTS
from bae_source.model.context import Context, checked, steering
from bae_source.model.outcome import Outcome, Text
from bae_source.model.request import Request, values_of
from bae_source.model.text import listed

if TYPE_CHECKING:
    from bae_source.engine.drafting import Draft


class Offering:
    """The tools of places.

    Parameters:
        desk_of: returns where calls go that are made in a place.
    """

    def __init__(self, desk_of: Callable[[Spot], Desk]) -> None:
        self._desk_of = desk_of

    def names(self, spot: Spot) -> tuple[str, ...]:
        """Return the names of the tools of a place."""
        return self._desk_of(spot).profile.names(spot.place)

    def of(self, spot: Spot) -> dict[str, Any]:
        """Return the tools of a place."""
        desk = self._desk_of(spot)
        return {
            name: self._transaction(spot) if verb == TRANSACTION else tool(verb, desk, spot)
            for name, verb in desk.profile.verbs(spot.place).items()
        }

    def _transaction(self, spot: Spot) -> Word:
        def transaction(why: str = "", /, **how: Any) -> Changes:
            return self._begun(spot, why, how)

        takes = tuple(signature(transaction).parameters.values())
        return Word(SHOWN, TOGETHER, transaction, self._desk_of(spot), lambda: spot, takes=takes)

    def _begun(self, spot: Spot, why: str, how: Mapping[str, Any]) -> Changes:
        desk = self._desk_of(spot)

        def begun() -> Changes:
            kind = REQUESTS.named("apply")
            assert kind is not None, "transactions are committed by it"
            values = values_of(kind, steering(kind), {"why": why, **how})
            context = checked(replace(desk.context, **values))
            return Changes(desk.begin(context.why or ""), desk, spot, context)

        call = lambda: drawn(TRANSACTION, (why,) if why else (), how)  # noqa: E731
        found: Changes = watched(desk, spot, call, begun)
        return found


def tool(name: str, desk: Desk, spot: Spot, run: Run | None = None, before: str = "") -> Tool | Word:
    """Return a tool that the session's profile has.

        call("outline", {"target": "app"})     an event `call(outline, target=app)`, and what outline("app") returns

    Parameters:
        spot: the place that it is a tool of; names are understood as those written there, in relayed calls, too.
        run: carries out its requests, where that is not the desk.
        before: stands before its name in events.
    """
    relay = desk.profile.relays.get(name)
    if relay is None:
        return Tool(name, desk, spot, run=run, shown=f"{before}{short_name(spot.place, name)}")

    def relayed(**given: Any) -> Any:
        def answered() -> Any:
            verb, arguments = desk.profile.offer.opened(name, given)
            if verb == HELP:
                return Text(desk.profile.offer.helped(arguments))
            return Tool(verb, desk, spot, run=run).perform((), arguments)

        arguments = given.get("arguments", {})
        has_names = isinstance(arguments, dict)
        placed = [value for key, value in given.items() if not (has_names and key == "arguments")]
        return watched(desk, spot, lambda: drawn(f"{before}{name}", placed, arguments if has_names else {}), answered)

    how = Parameter.POSITIONAL_OR_KEYWORD
    takes = (Parameter("verb", how, annotation=str), Parameter("arguments", how, default={}, annotation=dict))
    return Word(relay_shown(name), relay.description, relayed, desk, lambda: spot, takes=takes)


class Changes:
    """Several changes that are made together or not at all.

    Parameters:
        draft: takes the requests.
        desk: where calls are reported.
        spot: the place in which it was begun; names are understood as those written there.
        context: how it is committed.

    Attributes:
        outcome: what the commit came to; None before.
        in_events: the text that stands for it in events.
    """

    in_events = "Changes (made at its end; tools that are not its own change at once)"

    def __init__(self, draft: Draft, desk: Desk, spot: Spot, context: Context) -> None:
        self._draft = draft
        self._desk = desk
        self._spot = spot
        self._context = context
        self._ended = False
        self.outcome: Outcome | None = None

    def __getattr__(self, verb: str) -> Tool | Word:
        profile, place = self._desk.profile, self._spot.place
        verb = verb_of(place, verb)
        others = [each for each in PLACES.values() if each.with_transactions and each.of_engine is place.of_engine]
        if all(verb not in profile.tools(each) for each in (place, *others)):
            message = f"A transaction has no {verb}; it has the tools of {listed(each.name for each in others)}."
            raise profile.refusal(verb) or AttributeError(message)
        return tool(verb, self._desk, self._spot, self._planned, before=f"{TRANSACTION}.")

    def __dir__(self) -> list[str]:
        return ["abandon", "commit", "diff", "outcome", "preview", *self._desk.profile.names(self._spot.place)]

    def __repr__(self) -> str:
        return f"a transaction of {len(self._draft)} changes{', ended' if self._ended else ''}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._ended:
            return
        if kind is not None:
            self.abandon()
        else:
            self.commit()

    def preview(self) -> Outcome:
        """Return the outcome of the plan so far."""
        return self._allowed("preview", self._previewed)

    def diff(self) -> str:
        """Return the plan so far as a unified diff."""
        return self.preview().diff

    def commit(self) -> Outcome:
        """Make what was planned, and end the transaction.

        Raises:
            ResourceError: it was not made; the class says why.
        """
        self._ended = True
        self.outcome = self._allowed("commit", lambda: self._draft.commit(self._context))
        return self.outcome

    def abandon(self) -> None:
        """Forget what was planned, and end the transaction; nothing has been written."""
        self._ended = True
        self._watched("abandon", self._draft.abandon)

    def _planned(self, request: Request, context: Context) -> Outcome:
        with self._desk.alone():
            return self._draft.run(request, context)

    def _previewed(self) -> Outcome:
        with self._desk.alone():
            return self._draft.preview(self._context.budget)

    def _allowed(self, name: str, do: Callable[[], Outcome]) -> Outcome:
        outcome: Outcome = self._watched(name, do)
        self._desk.allow(outcome, self._context)
        return outcome

    def _watched(self, name: str, do: Callable[[], Any]) -> Any:
        return watched(self._desk, self._spot, lambda: f"{TRANSACTION}.{name}()", do)
