"""The names of a session: the places to go to, and the tools of the place where it is.

    read("httpx._client")       a tool of source, where a session begins
    source.httpx._client()      enter a module
    read("Client")              means what is in it
    home()                      enter a place: its tools are names now, those of the place before are none
    back(), nav()

Invariants:
- to enter a place gives its tools' names, and those that lead around, their meaning back, whatever they were bound to;
  a notice has the names of the caller's that gave way. Until then a name that was bound anew stays so, and one that was
  deleted is back with the next block;
- leaving takes the tools away, and nothing that the caller bound;
- of all threads of the code's, one at a time is in the engine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from inspect import Parameter
from typing import Any

from msgspec.structs import replace

from bae_source.adapters.session.arguments import drawn
from bae_source.adapters.session.calls import Desk, Report, watched
from bae_source.adapters.session.displays import DEPTH, Display, Entry, entry, tree
from bae_source.adapters.session.events import Entered
from bae_source.adapters.session.modules import Modules
from bae_source.adapters.session.places import HOME, PLACES, inside
from bae_source.adapters.session.profile import Profile
from bae_source.adapters.session.trail import (
    OPENING,
    START,
    Spot,
    Trail,
    backward,
    going,
    labels,
    spot_named,
    trail_named,
)
from bae_source.adapters.session.transactions import Offering
from bae_source.adapters.session.ways import Way
from bae_source.adapters.session.words import Word
from bae_source.engine.meta.service import Meta
from bae_source.engine.service import Service
from bae_source.model.context import Context
from bae_source.model.outcome import Outcome, Text
from bae_source.model.page import USUAL
from bae_source.model.request import Effect, Request


class Namespace:
    """The names, and where the session is.

    Parameters:
        service: the engine on the project.
        report: takes the events.
        names: the mapping that holds the names.
        who: the caller, for the history.
        budget: bytes of a page where a call asks for one.
        alone: within which no module of the project's is imported here.
        profile: which tools there are; all of them if left out.

    Attributes:
        trail: the way from home to where the session is.
        words: the names that are the same everywhere.
    """

    def __init__(
        self,
        service: Service,
        report: Report,
        names: MutableMapping[str, Any] | None = None,
        *,
        who: str | None = None,
        budget: int = USUAL,
        alone: Callable[[], AbstractContextManager[Any]] = nullcontext,
        profile: Profile | None = None,
    ) -> None:
        lock = threading.RLock()
        profile = profile or Profile()

        def run(request: Request, context: Context) -> Outcome:
            profile.check(request)
            with lock, nullcontext() if _loads_code(request, context) else alone():
                return service.run(request, context)

        self.desk = Desk(
            run=run,
            context=Context(who=who, calls="session", through=dict(profile.through)),
            report=report,
            modules=Modules(run),
            profile=profile,
            lock=lock,
            budget=budget,
            alone=alone,
            begin=service.draft,
        )
        self._service = service
        self.names: MutableMapping[str, Any] = {} if names is None else names
        self.trail: Trail = OPENING
        self._offering = Offering(self._desk_of)
        outermost = (PLACES[HOME], *inside(HOME))
        self.words: dict[str, Any] = {place.name: self._way(Spot(place=place)) for place in outermost}
        self.words |= {"back": self._word("back()", "Go back: the last step of the way is taken off.", self._back)}
        self.words |= {"nav": self._nav()}
        self._tools: dict[str, Any] = {}
        self._settle()

    def restore(self, names: tuple[str, ...]) -> None:
        """Go where a session was, without a word, as far as that is still there.

        Parameters:
            names: of the steps, as `Spot.name` gives them.
        """
        trail = trail_named(names)
        while trail and trail[-1].module and not self.desk.modules.has(trail[-1].module):
            trail = trail[:-1]
        self.trail = trail or START
        self._settle()

    def described(self, name: str) -> str:
        """Return all that a place shows, wherever the session is.

        Parameters:
            name: how a caller writes the place.
        """
        return str(self._shown(going(self.trail, spot_named(name))))

    def complete(self) -> None:
        """Bring names back that were deleted; those that were bound to something else stay so.

        Where the engine was changed meanwhile, names are those of the tools that it has now.
        """
        if self._tools.keys() != set(self._offering.names(self.trail[-1])):
            self._settle()
        for name, tool in (*self.words.items(), *self._tools.items()):
            self.names.setdefault(name, tool)

    def _way(self, spot: Spot) -> Way:
        return Way(spot, self.desk, self._offering, enter=self._enter, nav=self._nav)

    def _word(self, shown: str, sentence: str, do: Callable[..., Any], *takes: Parameter) -> Word:
        return Word(shown, sentence, do, self.desk, lambda: self.trail[-1], takes=takes)

    def _enter(self, spot: Spot) -> Display:
        return self._go(going(self.trail, spot), f"{spot.name}()")

    def _back(self) -> Display:
        return self._go(backward(self.trail), "back()")

    def _nav(self, spot: Spot | None = None) -> Word:
        """Return the word that shows the places, that of a spot or of where the session is."""
        depth = Parameter("depth", Parameter.POSITIONAL_OR_KEYWORD, default=DEPTH, annotation=int)
        shown = f"{f'{spot.name}.' if spot else ''}nav({depth}) -> str"
        text = "Show the places as a tree, with where you are, and which tools there are."
        word = self._word(shown, text, lambda depth=DEPTH: self._navigated(spot or self.trail[-1], depth, word), depth)
        return word

    def _go(self, trail: Trail, call: str) -> Display:
        self.trail = trail
        replaced = self._settle()
        self.desk.report(Entered(call=call, trail=labels(trail), replaced=replaced))
        return Display(labels(trail), lambda: self._shown(trail))

    def _shown(self, trail: Trail) -> Entry:
        return entry(trail, self._desk_of(trail[-1]))

    def _desk_of(self, spot: Spot) -> Desk:
        return self._of_engine if spot.place.of_engine else self.desk

    @cached_property
    def _engine(self) -> Service:
        return Meta(environment=self._service.environment, stays=True)

    @cached_property
    def _of_engine(self) -> Desk:
        """The desk of calls about the engine's own source, which is found with the first of them."""

        def run(request: Request, context: Context) -> Outcome:
            self.desk.profile.check(request)
            with self.desk.lock, self.desk.alone():
                return self._engine.run(request, context)

        begin = lambda why: self._engine.draft(why)  # noqa: E731
        return replace(self.desk, run=run, modules=Modules(run), begin=begin, of_engine=True)

    def _settle(self) -> tuple[str, ...]:
        """Make the names those of the current place, and return which of the caller's own had to give way."""
        before = {**self.words, **self._tools}
        for name, tool in self._tools.items():
            if self.names.get(name) is tool:
                del self.names[name]
        self._tools = self._offering.of(self.trail[-1])
        now = {**self.words, **self._tools}
        own = tuple(name for name in now if name in self.names and self.names[name] is not before.get(name))
        self.names.update(now)
        return own

    def _navigated(self, spot: Spot, depth: int, word: Word) -> Text:
        def seen() -> Text:
            if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
                raise word.wrong([f"depth: {depth!r} is no number from 1"])
            text = tree(self.trail, spot, self.desk, depth)
            return Text(Outcome(status="answer", text=text))

        found: Text = watched(self.desk, spot, lambda: drawn("nav", () if depth == DEPTH else (depth,), {}), seen)
        return found


def _loads_code(request: Request, context: Context) -> bool:
    """Return whether a request may load code of the project in this process."""
    return request.effect is not Effect.READS and not context.dry_run and context.reload not in ("off", "child")
