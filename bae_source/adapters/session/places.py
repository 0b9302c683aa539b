"""The places of a session: each is one entry of `PLACES`, and its tools follow from the registry.

    home > source                   where code is read and changed; its packages and modules are places in it
    home > source > tests           where its tests are listed and run
    home > source > deps            where its dependencies are listed
    home > source > logs            where the logs of what it runs are read
    home > source > config          where its settings are read and changed
    home > source > ledger          where one sees what was done to it, and tried
    home > source > meta            the same as source, of bae_source itself

Adding a place is adding its entry; its tools are the requests that are declared in its areas of the package.

Invariants:
- only places whose requests exist are here;
- which tools a place has is decided by where their requests are declared.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from bae_source.engine.registry import REQUESTS
from bae_source.model.call import WITH_PLACE
from bae_source.model.closest import closest

HOME = "home"
SOURCE = "source"
TRANSACTION = "transaction"
SHOWN = f'{TRANSACTION}(why: str = "") -> transaction'
"""The call that begins one."""
TOGETHER = "Begin changes that are made together or not at all."
"""The use of a transaction, in one sentence."""

EVERYDAY = ("read", "write", "edit", "glob", "grep")
"""The words of everyday work, which a place has or says where to go for."""
_WAIT = "approval.requests.Wait"
_PROPOSALS = ("approval.requests.Pending", "approval.requests.Show", "approval.requests.Withdraw", _WAIT)
_TRAVEL = ("history.travel.commands.", _WAIT)
_CODE = ("queries.", "refactoring.", "engine.applying.", *_TRAVEL)
_PYPROJECT = ":pyproject.toml"
_GREP_PYPROJECT = f'{SOURCE}.grep(…, "{_PYPROJECT}")'
_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "remove": ("delete",),
    "replace": ("edit",),
    "create": ("write", "insert"),
    "list": ("glob", "outline"),
    "usages": ("references",),
}
"""Names that other tools have for some of ours."""
_CLOSE = 0.65
_LONGEST = 100


class Place(Struct, frozen=True, kw_only=True):
    """A place.

    Parameters:
        name: how it is called.
        description: what it is, in one sentence.
        above: the name of the place that it is in; empty for home.
        areas: where the requests are declared that are its tools: how the names of their classes begin.
        state: a request that reads, whose first line says what is the case there; empty for none.
        about: the address of what its tools change, whose last change is shown; empty for that of the whole project.
        everyday: names in it for words of everyday work, or the call elsewhere; what is left out is a tool of that name
            in it, or else of source.
        with_modules: whether the packages and modules of the project are places in it.
        with_transactions: whether changes can be made in transactions there.
        of_engine: whether it is about the engine's own source, and not about the project.
    """

    name: str
    description: str
    above: str = HOME
    areas: tuple[str, ...] = ()
    state: tuple[str, Mapping[str, Any]] | None = None
    everyday: Mapping[str, str] = {}
    with_modules: bool = False
    with_transactions: bool = False
    about: str = ""
    of_engine: bool = False

    @property
    def family(self) -> str:
        """The word that its verbs share, and that their names in it leave out; "" where they share none."""
        return self.name if self.name in WITH_PLACE else ""

    @property
    def tools(self) -> tuple[str, ...]:
        """The verbs of its tools, in the order of the registry."""
        return tuple(verb for verb, name in REQUESTS.declared if f"{name}.".startswith(self.areas))


def _of_family(
    name: str,
    description: str,
    everyday: Mapping[str, str],
    *,
    state: tuple[str, Mapping[str, Any]] | None = None,
    about: str = "",
) -> Place:
    """Return the place of a family's verbs; where these change something, its changes can be taken back in it."""
    return Place(
        name=name,
        description=description,
        above=SOURCE,
        areas=(f"resources.{name}.", *(_TRAVEL if about else ())),
        state=state,
        everyday=everyday,
        with_transactions=bool(about),
        about=about,
    )


PLACES: Mapping[str, Place] = {
    place.name: place
    for place in (
        Place(
            name=HOME,
            description="The project as a whole: what was done to it, and how to take it back.",
            above="",
            areas=("history.", "engine.measuring.usage.", "doctor.", "verification.", *_PROPOSALS),
        ),
        Place(
            name=SOURCE,
            description="The project's code, addressed by dotted names: read, search and change it.",
            areas=_CODE,
            with_modules=True,
            with_transactions=True,
        ),
        _of_family(
            "tests",
            "The project's tests: which there are, run all or some of them, and how the last runs went.",
            {"read": "list", "glob": "list", "grep": f'{SOURCE}.grep(…, "tests")'},
        ),
        _of_family(
            "deps",
            "What the project needs: declared, locked, installed and imported.",
            {"read": "list", "write": "add", "edit": "upgrade", "glob": "list", "grep": _GREP_PYPROJECT},
            state=("deps_list", {"brief": True}),
            about=_PYPROJECT,
        ),
        _of_family(
            "logs",
            "The logs of the project: which there are, their last lines, and what comes while one waits.",
            {"glob": "list", "grep": f"{SOURCE}.logs.read(…, search=…)"},
            state=("logs_list", {}),
        ),
        _of_family(
            "config",
            "The project's pyproject.toml, by sections and keys: read and changed without losing a byte.",
            {"write": "set", "edit": "set", "glob": "read", "grep": _GREP_PYPROJECT},
            state=("config_read", {}),
            about=_PYPROJECT,
        ),
        Place(
            name="ledger",
            description="What was done to the project, and tried: by whom, when, and whether that record holds.",
            above=SOURCE,
            areas=("approval.requests.Ledger",),
            state=("ledger_show", {"limit": 1}),
            everyday={"read": "show", "glob": "show", "grep": "show"},
        ),
        Place(
            name="meta",
            description="bae_source itself: read and change the engine in use; names begin with bae_source.",
            above=SOURCE,
            areas=_CODE,
            with_transactions=True,
            of_engine=True,
        ),
    )
}
"""Every place that there is."""


def inside(name: str) -> tuple[Place, ...]:
    """Return the places directly in a place."""
    return tuple(place for place in PLACES.values() if place.above == name)


def short_name(place: Place, verb: str) -> str:
    """Return the name of a tool in a place: `add` for `deps_add` in `deps`; `deps_list`, since `list` is Python's."""
    short = _rest(place, verb)
    return verb if hasattr(builtins, short) else short


def verb_of(place: Place, name: str) -> str:
    """Return the verb of a tool of a place, by what stands behind the family's word, or by itself."""
    return next((verb for verb in place.tools if name in (_rest(place, verb), verb)), name)


def _rest(place: Place, verb: str) -> str:
    return verb.removeprefix(f"{place.family}_") if place.family else verb


def call_name(place: Place) -> str:
    """Return the name of a place as written anywhere: `source.tests`."""
    return place.name if place.above in ("", HOME) else f"{call_name(PLACES[place.above])}.{place.name}"


def holders(name: str) -> tuple[str, ...]:
    """Return the names of the project's places that have a tool of a verb; where none has, those that call one so."""
    places = [place for place in PLACES.values() if not place.of_engine]
    exact = tuple(place.name for place in places if name in place.tools)
    return exact or tuple(
        place.name for place in places if any(name == short_name(place, verb) for verb in place.tools)
    )


def everyday(place: Place, name: str) -> str:
    """Return the call for an everyday word in a place, or elsewhere; "" for no such word.

    source.deps has no `edit`: `source.deps.upgrade(…)`; and no `grep`: `source.grep(…, ":pyproject.toml")`
    """
    if name not in EVERYDAY:
        return ""
    is_tool = verb_of(place, name) in place.tools
    found = place.everyday.get(name, name if is_tool else f"{SOURCE}.{name}(…)")
    return found if "(" in found else f"{call_name(place)}.{found}(…)"


def close_tools(name: str, tools: Sequence[str]) -> list[str]:
    """Return the tools that an unknown name may stand for."""
    meant = [verb for verb in _ELSEWHERE.get(name, ()) if verb in tools]
    return list(dict.fromkeys([*meant, *closest(name[:_LONGEST], tools, cutoff=_CLOSE)]))


def everyday_table() -> tuple[tuple[str, ...], ...]:
    """Return the meanings of the everyday words by place, for the reference."""
    return tuple(
        (word, *(f"`{everyday(place, word)}`" for place in PLACES.values() if place.above)) for word in EVERYDAY
    )


def table() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the places of each tool, for the reference."""
    return tuple((verb, tuple(each.name for each in PLACES.values() if verb in each.tools)) for verb in REQUESTS.verbs)
