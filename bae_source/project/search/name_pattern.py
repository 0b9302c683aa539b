"""Patterns over dotted names.

    httpx.*               what stands directly in httpx: its modules, and what its own file defines
    httpx.**              everything below httpx
    **.Client.send        any method `send` of a class `Client`
    app.test_?[0-9]*      one character; one of some; any within one component
    app.net@stub.*        what a stub says; stubs match only where the pattern says so

`*`, `?` and `[…]` (`[!…]` for none of them) match within one component, `**` as a whole component any number of them,
none included, except at the end, where it stands for at least one.

A pattern is a list of components, and matching a walk over them: a `State` is the set of places where the walk may be.
"""

from __future__ import annotations

import re

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.model.address import MAX_LENGTH, MAX_PARTS, is_selector
from bae_source.model.selector import parse_selector

State = frozenset[int]
"""Numbers of the components that may come next; one behind the last means that all of them have been matched."""

_ANY = "**"
_BRACKET = re.compile(r"(!?)(\]?[^\]]*)\]")
_MARKER = re.compile(r"@(?!stub(?:\.|\Z))[^.]*")
_BRACES = re.compile(r"([^{}\[\]]*)\{([^{}\[\]]+)\}([^{}\[\]]*)")
_MOST_HINTS = 5
_SHAPE = "A pattern looks like pkg.*, **.Client.send or pkg.test_?[0-9]*."


class NamePattern(Struct, frozen=True, kw_only=True):
    """A pattern, by components.

    Parameters:
        text: as it was given.
        components: a regular expression for each; None for any number of components.
        last: the last component, if it is a plain name.
        stubs: whether it is stubs that are meant, and not code.
    """

    text: str
    components: tuple[re.Pattern[str] | None, ...]
    last: str | None
    stubs: bool = False

    @property
    def start(self) -> State:
        """Return the state in which a walk begins."""
        return self._spread({0})

    def step(self, state: State, name: str) -> State:
        """Return where a walk may be after one more component of a name."""
        following: set[int] = set()
        for place in state:
            if place == len(self.components):
                continue
            component = self.components[place]
            if component is None:
                following.add(place)
            elif component.fullmatch(name):
                following.add(place + 1)
        return self._spread(following)

    def walk(self, state: State, names: tuple[str, ...]) -> State:
        """Return where a walk may be after several components."""
        for name in names:
            state = self.step(state, name)
        return state

    def ended(self, state: State) -> bool:
        """Return whether the name so far matches as a whole."""
        return len(self.components) in state

    def _spread(self, places: set[int]) -> State:
        """Add the places behind `**`, which may stand for nothing."""
        for place in sorted(places):
            while place < len(self.components) and self.components[place] is None:
                place += 1
                places.add(place)
        return frozenset(places)


def name_pattern(text: str) -> NamePattern:
    """Parse a pattern.

    Raises:
        RequestError: `invalid_arguments` with what is wrong; `invalid_name` for a path, a selector or a data file.
    """
    if not text:
        raise RequestError("invalid_arguments", "The pattern is empty.", hints=[_SHAPE])
    if len(text) > MAX_LENGTH or text.count(".") >= MAX_PARTS:
        raise RequestError("invalid_arguments", "The pattern is longer than any name.", hints=[_SHAPE])
    if is_selector(text):
        raise _is_selector(text)
    if "/" in text or "\\" in text:
        meant = re.sub(r"\.py$", "", re.sub(r"[\\/]+", ".", text)).strip(".")
        raise RequestError(
            "invalid_name", f"{text!r} is a path; code is addressed by dotted name.", hints=[f"Try {meant}."]
        )
    if marker := _MARKER.search(text):
        raise RequestError(
            "invalid_arguments",
            f"{text!r} has the marker {marker[0]!r}, and a pattern is over names; only @stub can be asked for.",
            hints=[f"Try {_MARKER.sub('', text)}." if _MARKER.sub("", text) else _SHAPE],
        )
    parts = _split(text)
    if any(not part for part in parts):
        raise RequestError("invalid_arguments", f"{text!r} has an empty component.", hints=[_SHAPE])
    if parts[-1] == _ANY:
        parts[-1:] = ["*", _ANY]
    components = tuple(None if part == _ANY else re.compile(_translated(part, text), re.DOTALL) for part in parts)
    plain = not re.search(r"[*?\[\]]", parts[-1])
    last = parts[-1] if plain else None
    return NamePattern(text=text, components=components, last=last, stubs="@stub" in text)


def _is_selector(text: str) -> RequestError:
    try:
        asked = parse_selector(text)
    except RequestError:
        hints = [_SHAPE]
    else:
        path = asked.path[:-1] if asked.path[-1] == "__init__" else asked.path
        hints = [f"Try {'.'.join((_ANY, *path, *asked.names))}.", f"ast symbols {text} shows what it names."]
    return RequestError(
        "invalid_name", f"{text!r} is a selector, and a pattern is over the dotted names of code.", hints=hints
    )


def _has_braces(text: str) -> RequestError:
    braces = _BRACES.fullmatch(text)
    ways = [f"{braces[1]}{way.strip()}{braces[3]}" for way in braces[2].split(",")] if braces else []
    hints = [f"Try {way}." for way in ways[:_MOST_HINTS]] or [_SHAPE]
    return RequestError("invalid_arguments", f"{text!r} has braces, which no pattern knows; ask for each.", hints=hints)


def _split(text: str) -> list[str]:
    """Split at dots outside brackets."""
    pieces, inside = [""], False
    for char in text:
        if char == "." and not inside:
            pieces.append("")
            continue
        inside = char == "[" or (inside and char != "]")
        pieces[-1] += char
    return pieces


def _translated(part: str, text: str) -> str:
    """Return a component as a regular expression.

    What stands between two stars is taken where it comes first, and never given back: so matching takes no longer for
    many stars, as in the standard library's `fnmatch`.
    """
    first, *others = _between_stars(part, text)
    middle, last = others[:-1], others[-1:]
    result = first + "".join(f"(?>.*?{each})" for each in middle if each) + "".join(f".*{each}" for each in last)
    try:
        re.compile(result)
    except re.error as error:
        raise RequestError(
            "invalid_arguments", f"{text!r} has a range that is none: {error.msg}.", hints=[_SHAPE]
        ) from None
    return result


def _between_stars(part: str, text: str) -> list[str]:
    """Return what stands between the stars of a component, as regular expressions."""
    pieces, position = [""], 0
    while position < len(part):
        char = part[position]
        position += 1
        if char == "*":
            pieces.append("")
        elif char == "?":
            pieces[-1] += "."
        elif char == "[":
            found = _BRACKET.match(part, position)
            if found is None:
                raise RequestError(
                    "invalid_arguments", f"{text!r} opens a bracket that nothing closes.", hints=[_SHAPE]
                )
            inner = re.sub(r"([\\\[&~|^])", r"\\\1", found[2])
            pieces[-1] += f"[{'^' if found[1] else ''}{inner}]"
            position = found.end()
        elif char in "{}":
            raise _has_braces(text)
        else:
            pieces[-1] += re.escape(char)
    return pieces
