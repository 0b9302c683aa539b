"""A place as code meets it: called, it is entered; its tools, and the places and modules in it, are attributes.

    source()                        enter it
    source.httpx._client()          enter a module
    source.read("httpx")            a tool of it, from anywhere

Invariants:
- a place's own words and tools win over modules of the same name, which `source["read"]` reaches;
- an unknown name is an error with close names, never one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bae_source.adapters.session.calls import Desk
from bae_source.adapters.session.displays import Display
from bae_source.adapters.session.places import PLACES, close_tools, everyday, inside, short_name, verb_of
from bae_source.adapters.session.profile import NotOffered
from bae_source.adapters.session.trail import Spot
from bae_source.adapters.session.transactions import Offering
from bae_source.adapters.session.words import Word
from bae_source.errors import LookupFailed, ResourceError
from bae_source.model.closest import closest

_LONGEST = 1000


class NoSuchPlace(LookupFailed, AttributeError):
    """There is no place, package, module or tool of that name here; `hasattr` says so too."""


class Way:
    """The way to a place.

    Parameters:
        spot: the place.
        desk: what every tool of the session shares.
        offering: the tools of places.
        enter: goes to a spot.
        nav: returns the word that draws the tree of places, as that of a spot.
    """

    __slots__ = ("__desk", "__enter", "__modules", "__nav", "__offering", "__spot")

    def __init__(
        self,
        spot: Spot,
        desk: Desk,
        offering: Offering,
        *,
        enter: Callable[[Spot], Display],
        nav: Callable[[Spot], Word],
    ) -> None:
        self.__spot = spot
        self.__desk = desk
        self.__modules = desk.modules
        self.__offering = offering
        self.__enter = enter
        self.__nav = nav

    @property
    def name(self) -> str:
        """Return the name as a caller writes it."""
        return self.__spot.name

    @property
    def description(self) -> str:
        """Return the description, in one line."""
        return self.__modules.line(self.__spot.module) if self.__spot.module else self.__spot.place.description

    @property
    def supported_tools(self) -> tuple[str, ...]:
        """The names of its tools."""
        return self.__offering.names(self.__spot)

    @property
    def children(self) -> tuple[str, ...]:
        """The names of the places, packages and modules in it."""
        spot = self.__spot
        places = () if spot.module else tuple(place.name for place in inside(spot.place.name))
        found = self.__modules.inside(spot.module) if spot.place.with_modules else ()
        return tuple(dict.fromkeys((*places, *(name.rpartition(".")[2] for name in found))))

    @property
    def enter(self) -> Word:
        """Enter it; what it shows is drawn when it is looked at."""
        return self.__entering(f"{self.name}.enter")

    @property
    def nav(self) -> Word:
        """Show the places as a tree, with where you are."""
        return self.__nav(self.__spot)

    def __call__(self, /, *given: Any, **named: Any) -> Display:
        """Enter it."""
        found: Display = self.__entering(self.name)(*given, **named)
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            return self.__special(name)
        place = self.__spot.place
        if (tool := short_name(place, verb_of(place, name))) in self.supported_tools:
            return self.__offering.of(self.__spot)[tool]
        return self[name]

    def __getitem__(self, name: str) -> Way:
        spot = self.__spot
        if not spot.module and any(place.name == name for place in inside(spot.place.name)):
            return self.__to(Spot(place=PLACES[name]))
        module = f"{spot.module}.{name}" if spot.module else str(name)
        if spot.place.with_modules and len(module) < _LONGEST and self.__modules.has(module):
            return self.__to(Spot(place=spot.place, module=module))
        behind = f"{spot.place.name}.{name}"  # a package that is called like the place
        above = PLACES.get(spot.place.above)
        if not spot.module and above is not None and above.with_modules and self.__modules.has(behind[:_LONGEST]):
            return self.__to(Spot(place=above, module=behind))
        raise self.__without(str(name)[:_LONGEST], module)

    def __dir__(self) -> list[str]:
        words = ["children", "description", "enter", "name", "nav", "supported_tools"]
        return sorted({*words, *self.supported_tools, *self.children})

    def __repr__(self) -> str:
        description = self.description
        return f"{description if self.__spot.module else f'{self.name} — {description}'}\n{self.name}() enters it."

    def __entering(self, name: str) -> Word:
        do = lambda: self.__enter(self.__spot)  # noqa: E731
        return Word(f"{name}()", "Enter it.", do, self.__desk, lambda: self.__spot)

    def __special(self, name: str) -> Way:
        """Return a module whose name looks like one of Python's own, such as `__version__`."""
        try:
            return self[name]
        except ResourceError:
            raise AttributeError(name) from None  # what Python asks of any object

    def __to(self, spot: Spot) -> Way:
        return Way(spot, self.__desk, self.__offering, enter=self.__enter, nav=self.__nav)

    def __without(self, name: str, module: str) -> NoSuchPlace | NotOffered:
        spot = self.__spot
        if (refusal := self.__desk.profile.refusal(name)) is not None:
            return refusal
        close = list(dict.fromkeys([*close_tools(name, self.supported_tools), *closest(name, self.children)]))
        meant = "" if spot.module else everyday(spot.place, name)
        hints = [f"Try {meant}."] if meant else [f"{spot.name}.{each}" for each in close]
        if spot.place.with_modules and len(module) < _LONGEST and self.__modules.knows(module):
            hints.append(f"It is no module, but code: source.read({module!r})")
        what = "package or module" if spot.place.with_modules else "place"
        return NoSuchPlace(
            "symbol_not_found",
            f"{spot.name} has no {what} {name!r}, and no tool of that name.",
            hints=[*hints, "nav() shows what there is."],
            candidates=[f"{spot.name}.{each}" for each in close],
        )
