"""The comparison of a pattern's tree with code's, node by node, and the code that holes stand for.

Invariants:
- code that a pattern does not write must not be there, but for decorators, annotations and type parameters; decorators
  that it writes may have others around them.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from bae_source.syntax.patterns.holes import (
    NEVER,
    ONE,
    UNBOUND,
    Bindings,
    Item,
    Parameter,
    alike,
    bind,
    has_many,
    holes_in,
    many_hole,
    one_hole,
    things_of,
)

UNTOLD = {
    ast.FunctionDef: ("decorator_list", "returns", "type_params"),
    ast.AsyncFunctionDef: ("decorator_list", "returns", "type_params"),
    ast.ClassDef: ("decorator_list", "type_params"),
    ast.arg: ("annotation",),
}
"""Fields that do not matter where the pattern does not write them."""
_DECORATORS = "decorator_list"
_MOST_WAYS = 6
"""Most ways to match at one place that are looked up by the values of the holes."""


def match(pattern: object, code: object, bound: Bindings) -> Iterator[Bindings]:
    """Yield the bindings with which code matches a pattern."""
    if isinstance(pattern, str):
        yield from _match_name(pattern, code, bound)
    elif isinstance(pattern, list):
        if isinstance(code, list):
            yield from match_row(pattern, code, bound)
    elif isinstance(pattern, Parameter):
        yield from _match_parameter(pattern, code, bound)
    elif isinstance(pattern, Item):
        yield from _match_item(pattern, code, bound)
    elif not isinstance(pattern, ast.AST):
        if type(pattern) is type(code) and pattern == code:
            yield bound
    elif (hole := one_hole(pattern)) is not None and _fits(pattern, code):
        yield from bind(hole, (code,), bound)
    elif type(pattern) is type(code):
        yield from _SPECIAL.get(type(pattern), _match_fields)(pattern, code, bound)


def match_row(pattern: Sequence[object], code: Sequence[object], bound: Bindings) -> Iterator[Bindings]:
    """Yield the bindings with which a row matches a whole row; as few things as possible for each `$$$` first."""
    yield from _Row(pattern, code).ways(len(code), bound)


class _Row:
    """A row of a pattern beside one of code.

    What was tried is remembered, so that time does not multiply with each `$$$`: where the rest of the pattern did not
    match from a place on, it does not match there either with other things in front, unless a hole of the rest is bound
    to another thing.
    """

    def __init__(self, pattern: Sequence[object], code: Sequence[object]) -> None:
        self.pattern = pattern
        self.code = code
        self.places = Places(pattern, code)
        self.many = self.places.many
        self._holes: list[frozenset[str]] = []
        self._failed: dict[object, set[int]] = {}
        self._failed_from: dict[object, int] = {}

    def ways(self, end: int, bound: Bindings) -> Iterator[Bindings]:
        """Yield the bindings with which the pattern matches the code up to a place."""
        if sum(hole is not None for hole in self.many) > 1:
            if not all(self.places.alone):
                return
            self._holes = [frozenset(holes_in(self.pattern[index:])) for index in range(len(self.pattern) + 1)]
            self._failed, self._failed_from = {}, {}
        yield from self._rest(0, 0, end, bound)

    def _rest(self, index: int, start: int, end: int, bound: Bindings) -> Iterator[Bindings]:
        """Yield the bindings with which the pattern from a thing on matches the code from a place on."""
        if index == len(self.pattern):
            if start == end:
                yield bound
            return
        if not self._holes:
            yield from self._step(index, start, end, bound)
            return
        rest = (index, *((hole, *map(id, bound[hole])) for hole in sorted(self._holes[index] & bound.keys())))
        failed = self._failed.setdefault(rest, set())
        if start in failed or start >= self._failed_from.get(rest, end + 1):
            return
        found = False
        for further in self._step(index, start, end, bound):
            found = True
            yield further
        if found:
            return
        hole = self.many[index]
        if hole is not None and hole not in bound and hole not in self._holes[index + 1]:
            self._failed_from[rest] = start  # further on it could only end where it ends from here
        else:
            failed.add(start)

    def _step(self, index: int, start: int, end: int, bound: Bindings) -> Iterator[Bindings]:
        # [$$$A, 1, $$$B, 1] on [0, 1, 2, 1, 1]: the thing behind `$$$A`, which is `1`, fits at 1, 3 and 4
        #   $$$A ends at 1: A = 0; `1` matches at 1; `_ends` gives 4 alone for $$$B, as one thing has to be left
        #                   B = 2, 1; `1` matches at 4, and the row is at its end: yielded first
        #   $$$A ends at 3: A = 0, 1, 2; `1` matches at 3; B is empty; `1` matches at 4: yielded next
        hole = self.many[index]
        if hole is None:
            for further in match(self.pattern[index], self.code[start], bound) if start < end else ():
                yield from self._rest(index + 1, start + 1, end, further)
            return
        for place in self._ends(index, start, end, bound):
            for further in bind(hole, things_of(self.code[start:place]), bound):
                yield from self._rest(index + 1, place, end, further)

    def _ends(self, index: int, start: int, end: int, bound: Bindings) -> Iterator[int]:
        """Yield where a `$$$` may end: with no other behind it, at all that those leave that stand for one."""
        others = self.many[index + 1 :]
        last = end - others.count(None)
        length = self._length(index, last - start, bound)
        if length is not None:
            yield from (start + length,) if 0 <= length <= last - start else ()
            return
        if len(others) == others.count(None):
            yield from (last,) if start <= last else ()
            return
        places = self.places.fitting(index + 1, bound)
        for number in range(bisect_left(places, start), bisect_right(places, last)):
            yield places[number]

    def _length(self, index: int, left: int, bound: Bindings) -> int | None:
        """Return how many things a `$$$` stands for where that is settled; negative where no number fits.

        One that is bound stands for as many again; what is left to it and others of its name is theirs in equal parts.

        Parameters:
            left: how many things are left to it, and to those behind it.
        """
        hole = self.many[index]
        if hole is None or hole in UNBOUND or (self.code and isinstance(self.code[0], Item)):
            return None
        if hole in bound:
            return len(bound[hole])
        parts = 1
        for other in self.many[index + 1 :]:
            if other is None:
                continue
            if other == hole:
                parts += 1
            elif other in bound:
                left -= len(bound[other])
            else:
                return None
        return left // parts if left % parts == 0 else -1


def match_run(places: Places, index: int, start: int, bound: Bindings) -> Iterator[tuple[Bindings, int]]:
    """Yield the bindings with which a row from a thing on matches what begins at a place of a longer one, and its end.

    Parameters:
        places: of the row in the longer one.
    """
    pattern, code = places.pattern, places.code
    if index == len(pattern):
        yield bound, start
        return
    hole = places.many[index]
    if hole is None:
        for further in match(pattern[index], code[start], bound) if start < len(code) else ():
            yield from match_run(places, index + 1, start + 1, further)
        return
    last = index + 1 == len(pattern) or places.many[index + 1] is not None
    ends = range(start, len(code) + 1) if last else places.fitting(index + 1, bound)
    if hole in bound:
        ends = [end for end in (start + len(bound[hole]),) if end <= len(code)]
    for number in range(bisect_left(ends, start), len(ends)):
        for further in bind(hole, tuple(code[start : ends[number]]), bound):
            yield from match_run(places, index + 1, ends[number], further)


class Places:
    """The matches of each thing of a pattern in a row; each is looked up once, since there may be many of both."""

    def __init__(self, pattern: Sequence[object], code: Sequence[object]) -> None:
        self.pattern = pattern
        self.code = code
        self.many = [many_hole(each) for each in pattern]
        self._ways: dict[int, list[tuple[int, Bindings]]] = {}
        self._fitting: dict[tuple[int, tuple[str, ...]], dict[object, list[int]]] = {}

    @cached_property
    def alone(self) -> list[Sequence[int]]:
        """For each thing in the pattern the places in the code that it matches by itself, in their order."""
        return [
            range(len(self.code) + 1) if hole is not None else self._alone(thing)
            for thing, hole in zip(self.pattern, self.many, strict=True)
        ]

    def _alone(self, thing: object) -> list[int]:
        return [place for place, each in enumerate(self.code) if next(match(thing, each, {}), None) is not None]

    def fitting(self, index: int, bound: Bindings) -> Sequence[int]:
        """Return the places that a thing may match with present bindings: those where its holes stand for the same."""
        ways = self._ways_of(index) if bound else ()
        holes = tuple(sorted(ways[0][1].keys() & bound.keys())) if ways else ()
        if not holes:
            return self.alone[index]
        table = self._fitting.get((index, holes))
        if table is None:
            table = self._fitting[index, holes] = {}
            for place, way in ways:
                places = table.setdefault(tuple(alike(way[hole]) for hole in holes), [])
                if places[-1:] != [place]:
                    places.append(place)
        return table.get(tuple(alike(bound[hole]) for hole in holes), ())

    def lasts(self) -> list[int]:
        """Return the places of the last thing, but for those before which another thing cannot match with the same."""
        last = len(self.pattern) - 1
        others = [index for index, hole in enumerate(self.many[:last]) if hole is None]
        ways = self._ways_of(last)
        places = [place for place, way in ways if all(self._first(index, way) < place for index in others)]
        return list(dict.fromkeys(places)) if ways else list(self.alone[last])

    def _first(self, index: int, bound: Bindings) -> int:
        places = self.fitting(index, bound)
        return places[0] if places else len(self.code)

    def _ways_of(self, index: int) -> Sequence[tuple[int, Bindings]]:
        """Return how a thing matches by itself; nothing where there may be many ways at one place."""
        if index not in self._ways:
            thing = self.pattern[index]
            found: list[tuple[int, Bindings]] = []
            for place in () if has_many(thing) else self.alone[index]:
                ways = list(islice(match(thing, self.code[place], {}), _MOST_WAYS + 1))
                if len(ways) > _MOST_WAYS:
                    found = []
                    break
                found += [(place, way) for way in ways]
            self._ways[index] = found
        return self._ways[index]


def _fits(pattern: ast.AST, code: object) -> bool:
    """Return whether a hole may stand for a piece of code: a statement for one, an expression for another."""
    kinds = (ast.stmt, ast.expr, ast.arg, ast.alias)
    return any(isinstance(pattern, kind) and isinstance(code, kind) for kind in kinds)


def _match_name(pattern: str, code: object, bound: Bindings) -> Iterator[Bindings]:
    if not isinstance(code, str):
        return
    if pattern.startswith(ONE):
        yield from bind(pattern.removeprefix(ONE), (code,), bound)
    elif pattern == code:
        yield bound


def _match_fields(pattern: ast.AST, code: ast.AST, bound: Bindings, skip: tuple[str, ...] = ()) -> Iterator[Bindings]:
    untold = UNTOLD.get(type(pattern), ())
    fields = [
        field
        for field in pattern._fields
        if field not in NEVER and field not in skip and not (field in untold and not getattr(pattern, field, None))
    ]
    others = [(getattr(pattern, f, None), getattr(code, f, None)) for f in fields if f != _DECORATORS]
    if _DECORATORS not in fields:
        yield from _match_each(others, bound)
        return
    for further in _match_among(getattr(pattern, _DECORATORS), getattr(code, _DECORATORS), bound):
        yield from _match_each(others, further)


def _match_among(pattern: Sequence[object], code: Sequence[object], bound: Bindings) -> Iterator[Bindings]:
    """Yield the bindings with which things match some of a row, in their order, whatever stands around them."""
    if any(many_hole(each) is not None for each in pattern):
        yield from match_row(pattern, code, bound)
        return
    if not pattern:
        yield bound
        return
    for number, each in enumerate(code):
        for further in match(pattern[0], each, bound):
            yield from _match_among(pattern[1:], code[number + 1 :], further)


def _match_each(pairs: Sequence[tuple[object, object]], bound: Bindings) -> Iterator[Bindings]:
    if not pairs:
        yield bound
        return
    for further in match(*pairs[0], bound):
        yield from _match_each(pairs[1:], further)


def _match_constant(pattern: ast.Constant, code: ast.Constant, bound: Bindings) -> Iterator[Bindings]:
    if type(pattern.value) is type(code.value) and pattern.value == code.value:
        yield bound


def _match_call(pattern: Any, code: Any, bound: Bindings) -> Iterator[Bindings]:
    """Match a call, or a class with its bases: keyword arguments in any order."""
    positional = "args" if isinstance(pattern, ast.Call) else "bases"
    for first in _match_fields(pattern, code, bound, skip=(positional, "keywords")):
        yield from _match_arguments(getattr(pattern, positional), pattern.keywords, code, positional, first)


def _match_arguments(
    args: list[ast.expr], keywords: list[ast.keyword], code: Any, positional: str, bound: Bindings
) -> Iterator[Bindings]:
    rest = many_hole(args[-1]) if args else None
    if rest is None:
        for further in match_row(args, getattr(code, positional), bound):
            for bindings, left in _match_keywords(keywords, code.keywords, further):
                if not left:
                    yield bindings
        return
    # The last `$$$` stands for what is left over of both kinds.
    given = getattr(code, positional)
    row = _Row(args[:-1], given)
    lengths: Iterable[int] = range(len(given) + 1)
    if all(hole is None for hole in row.many):
        lengths = [len(row.many)] if len(row.many) <= len(given) else []
    elif row.many[-1] is None:
        lengths = [place + 1 for place in row.places.lasts()]
    for length in lengths:
        for further in row.ways(length, bound):
            for bindings, left in _match_keywords(keywords, code.keywords, further):
                yield from bind(rest, (*given[length:], *left), bindings)


def _match_keywords(
    pattern: Sequence[ast.keyword], code: Sequence[ast.keyword], bound: Bindings
) -> Iterator[tuple[Bindings, tuple[ast.keyword, ...]]]:
    """Yield the bindings, and the keyword arguments that are left over."""
    if not pattern:
        yield bound, tuple(code)
        return
    first, *others = pattern
    for index, keyword in enumerate(code):
        if (first.arg is None) != (keyword.arg is None):
            continue
        for further in _match_fields(first, keyword, bound):
            yield from _match_keywords(others, [*code[:index], *code[index + 1 :]], further)


def _match_parameters(pattern: ast.arguments, code: ast.arguments, bound: Bindings) -> Iterator[Bindings]:
    yield from match_row(_parameters(pattern), _parameters(code), bound)


def _match_parameter(pattern: Parameter, code: object, bound: Bindings) -> Iterator[Bindings]:
    assert isinstance(code, Parameter)
    hole = one_hole(pattern)
    if hole is not None and pattern.default is None and code.kind in ("plain", "positional"):
        yield from bind(hole, (code,), bound)
    elif pattern.kind == code.kind:
        yield from _match_each([(pattern.node, code.node), (pattern.default, code.default)], bound)


def _parameters(arguments: ast.arguments) -> list[Parameter]:
    """Return the parameters in their order in the source."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(plain) - len(arguments.defaults)), *arguments.defaults]
    count = len(arguments.posonlyargs)
    found = [
        Parameter("positional" if index < count else "plain", node, default)
        for index, (node, default) in enumerate(zip(plain, defaults, strict=True))
    ]
    if arguments.vararg:
        found.append(Parameter("star", arguments.vararg, None))
    found += [Parameter("keyword", *pair) for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    if arguments.kwarg:
        found.append(Parameter("stars", arguments.kwarg, None))
    return found


def _match_dict(pattern: ast.Dict, code: ast.Dict, bound: Bindings) -> Iterator[Bindings]:
    """Match a dictionary's items in order; `**$$$REST` stands for any number of them."""
    rows = [[Item(*item) for item in zip(node.keys, node.values, strict=True)] for node in (pattern, code)]
    yield from match_row(rows[0], rows[1], bound)


def _match_item(pattern: Item, code: object, bound: Bindings) -> Iterator[Bindings]:
    assert isinstance(code, Item)
    if (pattern.key is None) == (code.key is None):
        yield from _match_each([(pattern.key, code.key), (pattern.value, code.value)], bound)


_SPECIAL: Mapping[type, Callable[[Any, Any, Bindings], Iterator[Bindings]]] = {
    ast.Constant: _match_constant,
    ast.Call: _match_call,
    ast.ClassDef: _match_call,
    ast.arguments: _match_parameters,
    ast.Dict: _match_dict,
}
