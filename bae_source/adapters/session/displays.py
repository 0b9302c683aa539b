"""The entry that a place shows, and the tree of all places.

    source — The project's code, addressed by dotted names: read, search and change it.
    home > source
    State: 2 packages and modules; last change: op_7f3a… edit httpx._client.Client.send

Invariants:
- an answer is drawn when it is looked at, not when a place is entered;
- whatever is left out is counted: `+N more`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from textwrap import wrap
from typing import Any

from msgspec import Struct

from bae_source.adapters.session.arguments import signature
from bae_source.adapters.session.calls import Desk
from bae_source.adapters.session.events import breadcrumb, speakable
from bae_source.adapters.session.modules import Modules
from bae_source.adapters.session.places import HOME, SHOWN, TOGETHER, TRANSACTION, call_name, inside
from bae_source.adapters.session.profile import Profile, relay_shown
from bae_source.adapters.session.trail import Spot, Trail, labels
from bae_source.engine.registry import REQUESTS, request
from bae_source.errors import ResourceError
from bae_source.model.context import Context
from bae_source.model.request import summary

_WIDTH = 100
_LONGEST_CALL = 76
"""Characters of a call in the table of tools, which `help` shows in full."""
_LEAST_TEXT = 8
_MOST_LISTED = 24
_MOST_BRANCHES = 12
DEPTH = 3
"""Levels that a tree shows."""


class Section(Struct, frozen=True, kw_only=True):
    """One part of what a place shows.

    Parameters:
        title: what it is about.
        rows: the names, each with its description.
        more: how much more there is.
    """

    title: str
    rows: tuple[tuple[str, str], ...] = ()
    more: int = 0


class Entry(Struct, frozen=True, kw_only=True):
    """An entry of a place's display.

    Parameters:
        name: how a caller writes the place.
        headline: what it is.
        trail: the way from home to it.
        state: what is the case there now.
        sections: its tools, and what is in it.
    """

    name: str
    headline: str
    trail: tuple[str, ...]
    state: str
    sections: tuple[Section, ...]

    def __str__(self) -> str:
        parts = [f"{self.headline}\n{breadcrumb(self.trail)}\nState: {self.state}", *map(_section, self.sections)]
        return "\n\n".join(parts)


class Display:
    """A place that was entered, and shows itself when it is looked at.

    Parameters:
        trail: the way to it, as a breadcrumb has it.
        find: finds what it shows.
    """

    def __init__(self, trail: tuple[str, ...], find: Callable[[], Entry]) -> None:
        self.trail = trail
        self._find = find

    @cached_property
    def entry(self) -> Entry:
        """Return the entry of this place."""
        return self._find()

    def __str__(self) -> str:
        return str(self.entry)

    __repr__ = __str__


def entry(trail: Trail, desk: Desk) -> Entry:
    """Return the display of the place to which a way leads."""
    spot, modules = trail[-1], desk.modules
    return Entry(
        name=spot.name,
        headline=_headline(spot, modules),
        trail=labels(trail),
        state=_state(spot, desk),
        sections=(_tools(spot, desk.profile), *_places(spot), *_modules(spot, modules)),
    )


def tree(trail: Trail, of: Spot, desk: Desk, depth: int) -> str:
    """Draw the places as a tree, with where the session is, and the names of the tools of a spot."""
    lines = [_marked(HOME, trail[-1].name == HOME)]
    for place in inside(HOME):
        spot = Spot(place=place)
        lines.append(f"  {_marked(place.name, trail[-1] == spot)}")
        lines += [f"    {_marked(each.name, trail[-1] == Spot(place=each))}" for each in inside(place.name)]
        if place.with_modules:
            lines += _branches(desk.modules, "", trail[-1], depth, "    ")
    return "\n".join([*lines, "", *_tool_names(of, desk.profile)])


def _tool_names(spot: Spot, profile: Profile) -> list[str]:
    """Return the lines that name the tools of a place."""
    names = ", ".join(profile.names(spot.place))
    own = wrap(f"Tools of {spot.place.name}: {names}", _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    how = f"help({call_name(spot.place)}) shows how each is called; help(NAME) tells all of one."
    return [*own, how, *([profile.note] if profile.note else [])]


def _branches(modules: Modules, name: str, here: Spot, depth: int, indent: str) -> list[str]:
    """Draw the content of a package: down to the session's place, and else to the depth of the call."""
    lines: list[str] = []
    found = modules.inside(name)
    on_the_way = [each for each in found if f"{here.module}.".startswith(f"{each}.")]
    shown = [each for each in found if each in found[:_MOST_BRANCHES] or each in on_the_way]
    for each in shown:
        lines.append(indent + _marked(each.rpartition(".")[2], here.module == each))
        if depth > 1 or each in on_the_way:
            lines += _branches(modules, each, here, depth - 1, f"{indent}  ")
    return lines + _more(len(found) - len(shown), indent)


def _marked(name: str, is_here: bool) -> str:
    return f"{name}  <- you are here" if is_here else name


def _more(count: int, indent: str) -> list[str]:
    return [f"{indent}+{count:,} more"] if count > 0 else []


def _headline(spot: Spot, modules: Modules) -> str:
    return speakable(modules.line(spot.module)) if spot.module else f"{spot.name} — {spot.place.description}"


def _state(spot: Spot, desk: Desk) -> str:
    """Return the present state: the content, and the last changes."""
    stated = [] if spot.place.state is None or spot.module else [_stated(spot.place.state, desk)]
    if stated and not spot.place.with_transactions:
        return stated[0]
    answer = desk.run(request("history", {"target": spot.module or spot.place.about, "limit": 1}), Context())
    last = (
        f"last change: {speakable(answer.text).strip().splitlines()[0].strip()}" if answer.found else "no changes yet"
    )
    if not spot.place.with_modules:
        return "; ".join([*stated, last])
    count = len(desk.modules.inside(spot.module))
    return f"{count:,} package{'' if count == 1 else 's'} and modules inside; {last}" if count else last


def _stated(state: tuple[str, Mapping[str, Any]], desk: Desk) -> str:
    """Return the sentence that a place has about itself, or what is wrong with it now."""
    verb, given = state
    try:
        text = desk.run(request(verb, given), Context()).text
    except ResourceError as error:
        text = error.message
    return speakable(text.partition("\n")[0]).rstrip(".")


def _tools(spot: Spot, profile: Profile) -> Section:
    """Return the table of tools; in a package or module there is none, since they are those of its place."""
    if spot.module:
        title = f"Tools: those of {spot.place.name}; a name is looked for in {spot.module} first, and read() reads it"
        return Section(title=title)
    rows = tuple(_tool(name, verb, profile) for name, verb in profile.verbs(spot.place).items())
    title = "Tools (help(NAME) tells all of one)"
    return Section(title=f"{title}. {profile.note}" if profile.note else title, rows=rows)


def _tool(name: str, verb: str, profile: Profile) -> tuple[str, str]:
    """Return the call of a tool, and its sentence."""
    if verb == TRANSACTION:
        return SHOWN, TOGETHER
    if (relay := profile.relays.get(verb)) is not None:
        return relay_shown(verb), relay.summary
    kind = REQUESTS.named(verb)
    assert kind is not None, "verbs come from the registry"
    return signature(verb, _LONGEST_CALL, name), summary(kind)


def _places(spot: Spot) -> Iterator[Section]:
    if not spot.module and (found := inside(spot.place.name)):
        yield Section(title="Places", rows=tuple((f"{place.name}()", place.description) for place in found))


def _modules(spot: Spot, modules: Modules) -> Iterator[Section]:
    """Yield the packages and modules of a place, each with its line."""
    if not spot.place.with_modules:
        return
    try:
        lines = modules.lines(spot.module)
    except ResourceError:
        lines = list(modules.inside(spot.module))  # something there cannot be read; its name can
    if lines:
        rows = tuple(_parted(_cut(speakable(line))) for line in lines[:_MOST_LISTED])
        more = len(lines) - len(rows)
        yield Section(title=f"Inside ({spot.name}.NAME() enters one)", rows=rows, more=more)


def _section(section: Section) -> str:
    lines = [section.title]
    for name, text in section.rows:
        if text.startswith("("):
            lines.append(f"  {name} {text}")
        elif len(name) + len(text) + 5 > _WIDTH:
            lines += [f"  {name}", f"      {text}"]
        else:
            lines.append(f"  {name} — {text}")
    return "\n".join([*lines, *_more(section.more, "  ")])


def _parted(line: str) -> tuple[str, str]:
    """Return the name in a line, and what the line says of it."""
    name, _, text = line.partition(" ")
    return name, text.removeprefix("— ")


def _cut(line: str) -> str:
    """Return a module's line within the width: its description is shortened, its name and counts never."""
    over = len(line) - (_WIDTH - 2)
    if over <= 0:
        return line
    head, _, counts = line.rpartition(" (")
    name, dash, text = head.partition(" — ")
    kept = text[: max(0, len(text) - over - 1)].rstrip()
    return f"{name}{dash}{kept}… ({counts}" if len(kept) >= _LEAST_TEXT else f"{name} ({counts}"
