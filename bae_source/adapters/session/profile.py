"""The profile of a session: which tools its places offer, and how a tool that they do not offer is called.

    full    every tool by its name; the usual one
    core    ten tools, and in every place `call` and `change`, which make the calls of all others
    read    the tools that change nothing

Invariants:
- names, trees, help, completion and hints ask it, so none of them offers a tool that the session does not have;
- with `read` no request that changes anything is carried out, whatever code made it;
- with `full` no request is loaded to find out.
"""

from __future__ import annotations

from collections.abc import Mapping

from bae_source.adapters.offer import CALL, CHANGE, FULL, Offer, Relay, offered
from bae_source.adapters.session.places import (
    PLACES,
    TRANSACTION,
    Place,
    call_name,
    close_tools,
    holders,
    short_name,
    verb_of,
)
from bae_source.engine.registry import REQUESTS
from bae_source.errors import RequestError
from bae_source.model.request import Effect, Request

_READ = "read"
_RETURNED: Mapping[str, str] = {CALL: "str | dict", CHANGE: "Outcome"}


class NotOffered(RequestError, AttributeError):
    """The session's profile leaves a tool out; `hasattr` says so too."""


class Profile:
    """The verbs and limits of a session.

    Parameters:
        name: `full`, `core` or `read`.

    Raises:
        RequestError: `unknown_operation`, for any other name.
    """

    def __init__(self, name: str = FULL) -> None:
        self.name = name
        self.only_reads = name == _READ
        self.offer: Offer = offered(profile=FULL if self.only_reads else name, read_only=self.only_reads)

    @property
    def note(self) -> str:
        """Return the way to tools that are not offered; empty where all are."""
        if self.only_reads:
            return "This session only reads: there are no tools that change the project."
        return "" if self.name == FULL else f'{CALL}(verb="help") lists all other verbs.'

    @property
    def through(self) -> Mapping[str, str]:
        """The tool that makes the calls of a verb which is no tool of its own, by verb; "" where none makes them."""
        return {} if self.name == FULL else self.offer.through

    @property
    def relays(self) -> Mapping[str, Relay]:
        """The tools that make the calls of others, by their names."""
        if self.name == FULL:
            return {}
        return {name: each for name, each in self.offer.tools.items() if isinstance(each, Relay)}

    def tools(self, place: Place) -> tuple[str, ...]:
        """Return the names of the tools that a place offers, those that make the calls of others last."""
        if self.name == FULL:
            return place.tools
        return (*(verb for verb in place.tools if verb in self.offer.tools), *self.relays)

    def names(self, place: Place) -> tuple[str, ...]:
        """Return the names of all that a place offers: its tools, and transactions."""
        return tuple(self.verbs(place))

    def verbs(self, place: Place) -> dict[str, str]:
        """Return the verbs of all that a place offers, by their names there."""
        has_transactions = place.with_transactions and not self.only_reads
        verbs = (*self.tools(place), *((TRANSACTION,) if has_transactions else ()))
        return {short_name(place, verb): verb for verb in verbs}

    def places(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return the places that offer a tool, by its verb or its name there, each with its call from anywhere."""
        found = []
        for place in map(PLACES.__getitem__, holders(name)):
            if (verb := verb_of(place, name)) in self.tools(place):
                found.append((call_name(place), f"{call_name(place)}.{short_name(place, verb)}"))
        return tuple(found)

    def close(self, name: str) -> list[str]:
        """Return the tools that a name which is none may stand for, as they are called from anywhere."""
        found: list[str] = []
        for verb in close_tools(name, REQUESTS.verbs):
            relayed = [_relayed(relay, verb)] if (relay := self.through.get(verb)) else []
            found += relayed or (call for _, call in self.places(verb))
        return found

    def refusal(self, name: str) -> NotOffered | None:
        """Return the error of using a tool by its name that no place offers so; None for any other name."""
        if relay := self.through.get(name):
            hints = [f"{_relayed(relay, name)} calls it."]
            return NotOffered("unknown_operation", f"{name} has no name of its own in this session.", hints=hints)
        if not self.only_reads or name not in (*REQUESTS.verbs, TRANSACTION) or name in self.offer.tools:
            return None
        hints = [
            'Session(root) in Python, or "bae-source shell" without --profile, opens one that changes the project.'
        ]
        return NotOffered("unknown_operation", f"{name} is not offered: this session only reads.", hints=hints)

    def check(self, request: Request) -> None:
        """Refuse a request that changes something, where the session only reads.

        Raises:
            NotOffered: `unknown_operation`.
        """
        if self.only_reads and request.effect is not Effect.READS and (refusal := self.refusal(request.verb)):
            raise refusal


def relay_shown(name: str) -> str:
    """Draw the signature of a tool that makes the calls of others."""
    return f"{name}(verb: str, arguments: dict = {{}}) -> {_RETURNED[name]}"


def _relayed(relay: str, verb: str) -> str:
    return f'{relay}(verb="{verb}", arguments={{…}})'
