"""What a place offers: its tools, and transactions, whose tools plan and whose commit makes everything.

    with transaction("retry on timeouts") as tx:
        tx.edit("app.client.Client.send", new_source)

Invariants:
- until the commit nothing is written, so a session that ends before has changed nothing;
- an exception in its block abandons it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from msgspec.structs import replace

from bae_source.adapters.session.arguments import drawn
from bae_source.adapters.session.calls import Desk, Tool, watched
from bae_source.adapters.session.places import SHOWN, TOGETHER, TRANSACTION
from bae_source.adapters.session.trail import Spot
from bae_source.adapters.session.words import Word
from bae_source.engine.registry import REQUESTS
from bae_source.model.context import Context, checked, steering
from bae_source.model.outcome import Outcome
from bae_source.model.request import Request, values_of

if TYPE_CHECKING:
    from bae_source.engine.drafting import Draft


class Offering:
    """The tools of places.

    Parameters:
        begin: begins a transaction with a reason.
        desk: where calls go.
    """

    def __init__(self, begin: Callable[[str], Draft], desk: Desk) -> None:
        self._begin = begin
        self._desk = desk

    def names(self, spot: Spot) -> tuple[str, ...]:
        """Return the names of the tools of a place."""
        return (*spot.place.tools, *((TRANSACTION,) if spot.place.with_transactions else ()))

    def of(self, spot: Spot) -> dict[str, Any]:
        """Return the tools of a place."""
        found: dict[str, Any] = {verb: Tool(verb, self._desk, spot) for verb in spot.place.tools}
        if spot.place.with_transactions:

            def transaction(why: str = "", /, **how: Any) -> Changes:
                return self._begun(spot, why, how)

            takes = tuple(signature(transaction).parameters.values())
            found[TRANSACTION] = Word(SHOWN, TOGETHER, transaction, self._desk, lambda: spot, takes=takes)
        return found

    def _begun(self, spot: Spot, why: str, how: Mapping[str, Any]) -> Changes:
        def begun() -> Changes:
            kind = REQUESTS.named("apply")
            assert kind is not None, "transactions are committed by it"
            values = values_of(kind, steering(kind), {"why": why, **how})
            context = checked(replace(self._desk.context, **values))
            return Changes(self._begin(context.why or ""), self._desk, spot, context)

        told = lambda: drawn(TRANSACTION, (why,) if why else (), how)  # noqa: E731
        found: Changes = watched(self._desk, spot, told, begun)
        return found


class Changes:
    """Several changes that are made together or not at all.

    Parameters:
        draft: takes the requests.
        desk: where calls are told.
        spot: the place in which it was begun; names are understood as those written there.
        context: how it is committed.

    Attributes:
        outcome: what the commit came to; None before.
        told: what an event says of it.
    """

    told = "Changes (made at its end; tools that are not its own change at once)"

    def __init__(self, draft: Draft, desk: Desk, spot: Spot, context: Context) -> None:
        self._draft = draft
        self._desk = desk
        self._spot = spot
        self._context = context
        self._ended = False
        self.outcome: Outcome | None = None

    def __getattr__(self, verb: str) -> Tool:
        if verb not in self._spot.place.tools:
            raise AttributeError(f"A transaction has no {verb}; it has the tools of {self._spot.place.name}.")
        return Tool(verb, self._desk, self._spot, run=self._planned, shown=f"{TRANSACTION}.{verb}")

    def __dir__(self) -> list[str]:
        return ["abandon", "commit", "diff", "outcome", "preview", *self._spot.place.tools]

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
        """Return what all that was planned so far comes to."""
        return self._allowed("preview", self._previewed)

    def diff(self) -> str:
        """Return what all that was planned so far comes to, as a unified diff."""
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

    def _planned(self, asked: Request, context: Context) -> Outcome:
        with self._desk.alone():
            return self._draft.run(asked, context)

    def _previewed(self) -> Outcome:
        with self._desk.alone():
            return self._draft.preview(self._context.budget)

    def _allowed(self, name: str, do: Callable[[], Outcome]) -> Outcome:
        outcome: Outcome = self._watched(name, do)
        self._desk.allow(outcome, self._context)
        return outcome

    def _watched(self, name: str, do: Callable[[], Any]) -> Any:
        return watched(self._desk, self._spot, lambda: f"{TRANSACTION}.{name}()", do)
