"""The trail of a session: the places on the way from home to where it is now.

    home > source > httpx._client          source.httpx._client() entered from anywhere outside httpx
    home > source > httpx > _client        the same, entered from httpx

Going elsewhere replaces the way from the common ancestor; going back takes the last step off.

Invariant: the first step is home, and each step lies inside the one before.
"""

from __future__ import annotations

from msgspec import Struct

from bae_source.adapters.session.places import HOME, PLACES, SOURCE, Place


class Spot(Struct, frozen=True, kw_only=True):
    """A place, or a package or module in it.

    Parameters:
        place: the place.
        module: dotted name of the package or module; empty for the place itself.
    """

    place: Place
    module: str = ""

    @property
    def name(self) -> str:
        """Return the name as a caller writes it."""
        return f"{self.place.name}.{self.module}" if self.module else self.place.name

    @property
    def prefix(self) -> str:
        """Return the prefix of a call that is made there; empty at home."""
        return "" if self.place.name == HOME else self.name


def spot_named(name: str) -> Spot:
    """Return the spot of a name that `Spot.name` gave."""
    place, _, module = name.partition(".")
    return Spot(place=PLACES[place], module=module)


Trail = tuple[Spot, ...]
START: Trail = (Spot(place=PLACES[HOME]),)
OPENING: Trail = (*START, Spot(place=PLACES[SOURCE]))
"""The place in which a session begins."""


def trail_named(names: tuple[str, ...]) -> Trail:
    """Return the way whose steps have these names; home for none.

    Raises:
        ValueError: there is no such way.
    """
    try:
        trail = tuple(map(spot_named, names)) or START
    except KeyError:
        raise ValueError("a step that is no place") from None
    if trail[0] != START[0]:
        raise ValueError("a way that does not begin at home")
    return trail


def going(trail: Trail, to: Spot) -> Trail:
    """Return the way to a spot, from where the session is."""
    kept = tuple(step for step in trail if _is_around(step, to))
    there = {step.name for step in kept}
    between = tuple(Spot(place=place) for place in _around(to.place) if place.name not in there)
    return (*kept, *(step for step in between if step != to), to)


def backward(trail: Trail) -> Trail:
    """Return the way without its last step; home stays."""
    return trail[:-1] or trail


def labels(trail: Trail) -> tuple[str, ...]:
    """Return the steps as a breadcrumb shows them, each without what the one before says already."""
    shown, before = [], ""
    for step in trail:
        if step.module:
            inner = step.module.removeprefix(f"{before}.") if before else step.module
            shown.append(inner)
        else:
            shown.append(step.place.name)
        before = step.module
    return tuple(shown)


def _is_around(outer: Spot, inner: Spot) -> bool:
    """Return whether a spot has another one inside, which it has not in itself."""
    if outer == inner:
        return False
    if outer.module:
        return outer.place == inner.place and inner.module.startswith(f"{outer.module}.")
    return outer.place in _around(inner.place)


def _around(place: Place) -> list[Place]:
    """Return a place and those that it is in, the outermost first."""
    found = [place]
    while found[0].above:
        found.insert(0, PLACES[found[0].above])
    return found
