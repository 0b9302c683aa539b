"""A change taken back from a module that has changed since: its own symbols go back, all else stays.

    left    import json, f 1, g 1        what the change left
    now     import json, f 1, g 2, h     what is there
    aim     f 0, g 1                     what was there before the change

    f 0, g 2, h                          unless g or h uses json

Invariants:
- code that the change did not touch keeps its bytes, and code that it did touch must be as the change left it;
- the result is compared symbol by symbol with what it has to be, so it is right or there is none;
- a name that goes must not be in use in what has changed since.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.outline.listed_names import relisted
from bae_source.syntax.outline.tree import Tree, parse
from bae_source.syntax.outline.units import Unit, code_of, units_of
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.source import Source, newline_kinds

_NAME = re.compile(r"[^\W\d]\w*")


class TakenBack(Struct, frozen=True, kw_only=True):
    """Outcome of taking a change back.

    Parameters:
        splices: on the text that is there; none if something stands in the way.
        targets: spans of that text in which something changes.
        changed: qualnames of the change's own symbols that are no longer what it left; "" for other statements.
        used: names that would go, each with the qualname of what uses it and has changed since.
    """

    splices: tuple[tuple[Span, str], ...] = ()
    targets: tuple[Span, ...] = ()
    changed: tuple[str, ...] = ()
    used: tuple[tuple[str, str], ...] = ()


def taken_back(left: Tree, now: Tree, aim: Tree) -> TakenBack:
    """Plan to take a change back.

    Parameters:
        left: the module as the change left it.
        now: as it is.
        aim: as it was before the change.
    """
    return _Merge(left, now, aim).run()


class _Merge:
    """The three versions as units, and what becomes of those that are there."""

    def __init__(self, left: Tree, now: Tree, aim: Tree) -> None:
        self._tree = now
        self._left, self._now, self._aim = units_of(left), units_of(now), units_of(aim)
        self._same = _matched(self._left, self._now)
        self._instead: dict[int, list[str]] = {}
        self._behind: dict[int, list[str]] = {}
        self._changed: list[str] = []
        self._listed: dict[int, str] = {}
        """Lists of names of which only some go or come, by the unit after the change."""

    def run(self) -> TakenBack:
        """Go through what the change did, one difference after the other."""
        self._changed += self._classes_in_use()
        for tag, i1, i2, j1, j2 in _differences(self._left, self._aim):
            if tag == "equal":
                self._respace(range(i1, i2), range(j1, j2))
            else:
                self._replace(range(i1, i2), range(j1, j2))
        if self._changed:
            return TakenBack(changed=tuple(dict.fromkeys(self._changed)))
        splices, targets = self._splices()
        after = parse(Source.of_text(splice(self._tree.text, list(splices))))
        found = units_of(after)
        if wrong := self._unexpected(found):
            return TakenBack(changed=tuple(dict.fromkeys(wrong)))
        used = tuple(_used(self._tree, after, (*self._left, *self._aim), found))
        return TakenBack(used=used) if used else TakenBack(splices=splices, targets=targets)

    def _classes_in_use(self) -> list[str]:
        """Return the classes that would go and have got members since."""
        names = {unit.name for unit in self._left}
        going = names - {unit.name for unit in self._aim}
        since = {unit.name for unit in self._now} - names
        return sorted(name for name in going if name and any(each.startswith(f"{name}.") for each in since))

    def _respace(self, lefts: range, aims: range) -> None:
        """Give what the change only moved apart, or together, the blank lines that stood above it."""
        for i, j in zip(lefts, aims, strict=True):
            before, after = self._left[i].space, self._aim[j].space
            n = self._place(i) if before != after else None
            if n is None or self._now[n].space != before:
                continue
            if (n, i) == (0, 0) or (n and i and self._place(i - 1) == n - 1):
                self._instead[n] = [after + self._now[n].raw]

    def _place(self, i: int) -> int | None:
        """Return which unit is there of one that the change left, be it changed or not."""
        name = self._left[i].name
        if i not in self._same and name and len(found := [n for n, u in enumerate(self._now) if u.name == name]) == 1:
            return found[0]
        return self._same.get(i)

    def _replace(self, lefts: range, aims: range) -> None:
        """Put the units of before in the place of those that the change left."""
        places = {i: self._same[i] for i in lefts if i in self._same}
        fresh = [j for j in aims if not self._relist(lefts, j)]
        lost = [i for i in lefts if i not in places and not self._relist_without(i, aims)]
        if lost:
            self._changed += [self._left[i].name for i in lost]
            return
        for n in places.values():
            self._instead[n] = []
        free = {self._left[i].name: n for i, n in reversed(places.items()) if self._left[i].name}
        inside = False
        cursor = self._anchor(lefts, places)
        for j in fresh:
            unit = self._aim[j]
            if (at := free.pop(unit.name, None)) is not None:
                cursor, inside = at, True
            if cursor is None:
                self._changed.append(unit.name)
            else:
                into = self._instead if inside else self._behind
                into.setdefault(cursor, []).append(self._fresh(unit, at, lefts))
                self._join_imports(unit, cursor + 1)

    def _join_imports(self, unit: Unit, below: int) -> None:
        """Take away the blank lines between an import that comes back and one that came to its place since."""
        others = self._now[below : below + 1]
        if unit.is_import and others and others[0].is_import and below not in self._same.values():
            self._instead.setdefault(below, [others[0].raw])

    def _anchor(self, lefts: range, places: dict[int, int]) -> int | None:
        """Return the unit behind which something comes back: where it stood; -1 for the beginning."""
        if places:
            return next(iter(places.values())) - 1 if lefts.start in places else max(places.values())
        if lefts.start == 0:
            return -1
        above = (place for i in range(lefts.start - 1, -1, -1) if (place := self._place(i)) is not None)
        below = (place - 1 for i in range(lefts.stop, len(self._left)) if (place := self._place(i)) is not None)
        return next(above, next(below, None))

    def _fresh(self, unit: Unit, at: int | None, lefts: range) -> str:
        """Return a unit that comes back, with blank lines and line ends as they are there by now."""
        space = unit.space
        if at is not None:
            mine = next(i for i in lefts if self._same.get(i) == at)
            if self._now[at].space != self._left[mine].space:
                space = self._now[at].space
        text = space + unit.raw
        kinds = newline_kinds(self._tree.text)
        return re.sub(r"\r\n|\n|\r", self._tree.source.newline, text) if unit.uniform and len(kinds) == 1 else text

    def _relist(self, lefts: range, j: int) -> bool:
        """Take back what the change did to a list of names that others have changed since, as far as it is its own."""
        aim = self._aim[j]
        for i in lefts:
            if i not in self._same and self._left[i].head == aim.head and aim.head:
                n = self._counterpart(aim.head)
                relisted_text = None if n is None else relisted(self._left[i].text, self._now[n].text, aim.text)
                if n is not None and relisted_text is not None:
                    self._listed[i] = aim.name or aim.head
                    self._instead[n] = [self._fresh_list(n, relisted_text)]
                    return True
        return False

    def _relist_without(self, i: int, aims: range) -> bool:
        """Take names out of a list that the change made and others have changed since."""
        left = self._left[i]
        if i in self._listed:
            return True
        n = self._counterpart(left.head) if left.head and left.is_import else None
        relisted_text = None if n is None else relisted(left.text, self._now[n].text, None)
        if n is None or relisted_text is None or any(self._aim[j].head == left.head for j in aims):
            return False
        self._listed[i] = left.name or left.head
        self._instead[n] = [self._fresh_list(n, relisted_text)]
        return True

    def _counterpart(self, head: str) -> int | None:
        """Return the one list of names that begins so and is not what the change left."""
        known = set(self._same.values())
        found = [n for n, unit in enumerate(self._now) if unit.head == head and n not in known]
        return found[0] if len(found) == 1 else None

    def _fresh_list(self, n: int, text: str) -> str:
        unit = self._now[n]
        ended = unit.raw[len(unit.raw.rstrip("\r\n")) :]
        newline = self._tree.source.newline
        return unit.space + (text.replace("\n", newline) if unit.uniform else text) + ended

    def _splices(self) -> tuple[tuple[tuple[Span, str], ...], tuple[Span, ...]]:
        """Return the splices, and where they stand; what comes behind a last line without an end gets one."""
        self._close_gaps()
        splices: list[tuple[Span, str]] = []
        text, newline = self._tree.text, self._tree.source.newline
        if -1 in self._behind:
            splices.append((Span(0, 0), "".join(self._behind[-1])))
        for n, unit in enumerate(self._now):
            span = Span(unit.start, unit.end)
            old = span.cut(text)
            new = "".join(_ended(self._instead[n], newline)) if n in self._instead else old
            behind = "".join(_ended(self._behind.get(n, []), newline))
            if behind and new and not new.endswith(("\n", "\r")):
                new += newline
            if new + behind != old:
                splices.append((span, new + behind))
        return tuple(splices), tuple(span for span, _ in splices)

    def _close_gaps(self) -> None:
        """Give what was put behind a unit that goes the blank lines of that, where it has fewer; at the top, none."""
        known = set(self._same.values())
        for n, (unit, below) in enumerate(zip(self._now, self._now[1:], strict=False)):
            if self._instead.get(n) == [] and n + 1 not in known and n + 1 not in self._instead:
                space = unit.space if n == 0 else max(unit.space, below.space, key=len)
                self._instead[n + 1] = [space + below.raw]

    def _unexpected(self, found: Sequence[Unit]) -> list[str]:
        """Return the qualnames that are not as required: the change's own as before it, all others as they are."""
        lists = set(self._listed.values())
        versions = (self._left, self._now, self._aim, found)
        left, now, aim, after = (_by_name([u for u in units if (u.name or u.head) not in lists]) for units in versions)
        wrong = []
        for name in filter(None, dict.fromkeys((*now, *aim, *after))):
            own = left.get(name) != aim.get(name)
            if after.get(name) != (aim if own else now).get(name) or (own and left.get(name) != now.get(name)):
                wrong.append(name)
        there = Counter(now.get("", ()))
        there.subtract(left.get("", ()))
        there.update(aim.get("", ()))
        return wrong if Counter(after.get("", ())) == +there else [*wrong, ""]


def _ended(pieces: Sequence[str], newline: str) -> Iterator[str]:
    """Yield pieces of which all but the last end their line."""
    for number, piece in enumerate(pieces, 1):
        yield piece if number == len(pieces) or piece.endswith(("\n", "\r")) else piece + newline


def _by_name(units: Sequence[Unit]) -> dict[str, list[str]]:
    """Return the texts of units by qualname."""
    found: dict[str, list[str]] = {}
    for unit in units:
        if unit.text:
            found.setdefault(unit.name, []).append(unit.text)
    return found


def _key(unit: Unit) -> tuple[str, str]:
    return unit.name, unit.text


def _differences(first: Sequence[Unit], second: Sequence[Unit]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, [*map(_key, first)], [*map(_key, second)], autojunk=False).get_opcodes()


def _matched(left: Sequence[Unit], now: Sequence[Unit]) -> dict[int, int]:
    """Return which units of one version stand unchanged in another, by their numbers; moved symbols too."""
    found: dict[int, int] = {}
    for tag, i1, i2, j1, _ in _differences(left, now):
        if tag == "equal":
            found.update(zip(range(i1, i2), range(j1, j1 + i2 - i1), strict=True))
    taken = set(found.values())
    elsewhere: dict[tuple[str, str], list[int]] = {}
    for n, unit in enumerate(now):
        if n not in taken and unit.name:
            elsewhere.setdefault(_key(unit), []).append(n)
    for i, unit in enumerate(left):
        if i not in found and len(places := elsewhere.get(_key(unit), [])) == 1:
            found[i] = places[0]
    return found


def _used(before: Tree, after: Tree, known: Sequence[Unit], found: Sequence[Unit]) -> Iterator[tuple[str, str]]:
    """Yield names that go and are in use in what has changed since, each with the qualname of its user."""
    gone = names_bound(before) - names_bound(after)
    old = {_key(unit) for unit in known}
    for unit in found if gone else ():
        if _key(unit) not in old:
            used = gone.intersection(_NAME.findall(code_of(unit.text)))
            yield from ((name, unit.name) for name in sorted(used))


def names_bound(tree: Tree) -> set[str]:
    """Return every name that a module's definitions and imports bind."""
    outline = tree.outline
    defined = {name for definition in outline.definitions for name in definition.names}
    return defined | {each.name for each in (*outline.imports, *outline.class_imports)}
