"""The places of a session: each is one entry of `PLACES`, and its tools follow from the registry.

    home > source                   where code is read and changed; its packages and modules are places in it
    home > source > tests           where its tests are listed and run
    home > source > deps            where its dependencies are listed

Adding a place is adding its entry; its tools are the requests that are declared in its areas of the package.

Invariants:
- only places whose requests exist are here;
- which tools a place has is decided by where their requests are declared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from bae_source.engine.registry import REQUESTS

HOME = "home"
SOURCE = "source"
TRANSACTION = "transaction"
SHOWN = f'{TRANSACTION}(why: str = "") -> transaction'
"""How one is begun."""
TOGETHER = "Begin changes that are made together or not at all."
"""What a transaction is for, in one sentence."""

_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "remove": ("delete",),
    "replace": ("edit",),
    "create": ("write", "insert"),
    "list": ("glob", "outline"),
    "usages": ("references",),
}
"""What other tools call some of ours."""
_CLOSE = 0.65
_LONGEST = 100


class Place(Struct, frozen=True, kw_only=True):
    """A place.

    Parameters:
        name: how it is called.
        description: what it is, in one sentence.
        above: the name of the place that it is in; empty for home.
        areas: where the requests are declared that are its tools: how the names of their classes begin.
        with_modules: whether the packages and modules of the project are places in it.
        with_transactions: whether changes can be made in transactions there.
        state: the verb whose answer, asked to be brief, says what is the case there; "" for none.
    """

    name: str
    description: str
    above: str = HOME
    areas: tuple[str, ...] = ()
    with_modules: bool = False
    with_transactions: bool = False
    state: str = ""

    @property
    def tools(self) -> tuple[str, ...]:
        """The verbs of its tools, in the order of the registry."""
        return tuple(verb for verb, name in REQUESTS.declared if f"{name}.".startswith(self.areas))


PLACES: Mapping[str, Place] = {
    place.name: place
    for place in (
        Place(
            name=HOME,
            description="The project as a whole: what was done to it, and how to take it back.",
            above="",
            areas=("history.", "engine.usage.", "doctor.", "verification."),
        ),
        Place(
            name=SOURCE,
            description="The project's code, addressed by dotted names: read, search and change it.",
            areas=("queries.", "refactoring.", "engine.applying.", "history.travel.commands."),
            with_modules=True,
            with_transactions=True,
        ),
        Place(
            name="tests",
            description="The project's tests: which there are, run all or some of them, and how the last runs went.",
            above=SOURCE,
            areas=("resources.tests.",),
        ),
        Place(
            name="deps",
            description="What the project needs: declared, locked, installed and imported.",
            above=SOURCE,
            areas=("resources.deps.",),
            state="deps_list",
        ),
    )
}
"""Every place that there is."""


def inside(name: str) -> tuple[Place, ...]:
    """Return the places directly in a place."""
    return tuple(place for place in PLACES.values() if place.above == name)


def call_name(place: Place) -> str:
    """Return what a caller writes for a place, wherever he is: `source.tests`."""
    return place.name if place.above in ("", HOME) else f"{call_name(PLACES[place.above])}.{place.name}"


def holders(verb: str) -> tuple[str, ...]:
    """Return the names of the places that have a tool."""
    return tuple(place.name for place in PLACES.values() if verb in place.tools)


def close_tools(name: str, tools: Sequence[str]) -> list[str]:
    """Return the tools that a name which is none may stand for."""
    from difflib import get_close_matches  # 10 ms, only for what is not there

    meant = [verb for verb in _ELSEWHERE.get(name, ()) if verb in tools]
    return list(dict.fromkeys([*meant, *get_close_matches(name[:_LONGEST], tools, cutoff=_CLOSE)]))


def table() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return which tool is supported by which places, for the reference."""
    return tuple((verb, holders(verb)) for verb in REQUESTS.verbs)
