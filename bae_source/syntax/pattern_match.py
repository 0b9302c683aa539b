"""Comparing a pattern's tree with code's, node by node, and what the holes stand for.

Invariants:
- bindings are never changed, only extended as copies, so that another way to match can be tried;
- what a pattern does not write must not be there, but for decorators, annotations and type parameters.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

ONE = "__bae_one_"
MANY = "__bae_many_"

Bindings = Mapping[str, tuple[Any, ...]]
"""What each named hole stands for: nodes, parameters or names."""

_UNTOLD = {
    ast.FunctionDef: ("decorator_list", "returns", "type_params"),
    ast.AsyncFunctionDef: ("decorator_list", "returns", "type_params"),
    ast.ClassDef: ("decorator_list", "type_params"),
    ast.arg: ("annotation",),
}
"""What does not matter where the pattern does not write it."""
_NEVER = ("ctx", "type_comment", "kind", "type_ignores")


class Parameter(Struct, frozen=True):
    """One parameter of a function, with its default."""

    kind: str
    node: ast.arg
    default: ast.expr | None


def one_hole(node: object) -> str | None:
    """Return the hole that a pattern's node is, if it stands for one thing."""
    return _hole(node, ONE)


def many_hole(node: object) -> str | None:
    """Return the hole that a pattern's node is, if it stands for any number of things."""
    return _hole(node.value if isinstance(node, ast.Starred) else node, MANY)


def _hole(node: object, lead: str) -> str | None:
    name: object = node
    if isinstance(node, ast.Expr):
        node = node.value
    if isinstance(node, ast.Name):
        name = node.id
    elif isinstance(node, Parameter):
        name = node.node.arg if node.kind == "plain" else None
    elif isinstance(node, ast.arg):
        name = node.arg
    elif isinstance(node, ast.alias):
        name = node.name if node.asname is None else None
    return name.removeprefix(lead) if isinstance(name, str) and name.startswith(lead) else None


def match(pattern: object, code: object, bound: Bindings) -> Iterator[Bindings]:
    """Yield the bindings with which code matches a pattern."""
    if isinstance(pattern, str):
        yield from _match_name(pattern, code, bound)
    elif isinstance(pattern, list):
        if isinstance(code, list):
            yield from match_row(pattern, code, bound)
    elif isinstance(pattern, Parameter):
        yield from _match_parameter(pattern, code, bound)
    elif not isinstance(pattern, ast.AST):
        if type(pattern) is type(code) and pattern == code:
            yield bound
    elif (hole := one_hole(pattern)) is not None and _fits(pattern, code):
        yield from _bind(hole, (code,), bound)
    elif type(pattern) is type(code):
        yield from _SPECIAL.get(type(pattern), _match_fields)(pattern, code, bound)


def match_row(pattern: Sequence[object], code: Sequence[object], bound: Bindings) -> Iterator[Bindings]:
    """Yield the bindings with which a row matches a whole row; as few things as possible for each `$$$` first."""
    if not pattern:
        if not code:
            yield bound
        return
    hole = many_hole(pattern[0])
    if hole is None:
        if code:
            for further in match(pattern[0], code[0], bound):
                yield from match_row(pattern[1:], code[1:], further)
        return
    for length in _lengths([many_hole(each) is not None for each in pattern[1:]], len(code)):
        for further in _bind(hole, tuple(code[:length]), bound):
            yield from match_row(pattern[1:], code[length:], further)


def match_run(
    pattern: Sequence[object], code: Sequence[object], start: int, places: Sequence[Sequence[int]], bound: Bindings
) -> Iterator[tuple[Bindings, int]]:
    """Yield the bindings with which a row matches what begins at a place of a longer one, and where that ends.

    Parameters:
        places: for each thing in the pattern the places in the code that it matches by itself, in their order.
    """
    if not pattern:
        yield bound, start
        return
    hole = many_hole(pattern[0])
    if hole is None:
        for further in match(pattern[0], code[start], bound) if start < len(code) else ():
            yield from match_run(pattern[1:], code, start + 1, places[1:], further)
        return
    last = len(pattern) == 1 or many_hole(pattern[1]) is not None
    ends = range(start, len(code) + 1) if last else places[1]
    for index in range(bisect_left(ends, start), len(ends)):
        for further in _bind(hole, tuple(code[start : ends[index]]), bound):
            yield from match_run(pattern[1:], code, ends[index], places[1:], further)


def _lengths(many: Sequence[bool], available: int) -> Sequence[int]:
    """Return how many things a `$$$` may stand for: with no other behind it, all that those leave that stand for one.

    Parameters:
        many: of what follows it in the pattern, whether it is another `$$$`.
        available: how many things there are for it and for what follows.
    """
    most = available - many.count(False)
    return range(0 if any(many) else max(most, 0), most + 1)


def _fits(pattern: ast.AST, code: object) -> bool:
    """Say whether a hole may stand for a piece of code: a statement for one, an expression for another."""
    kinds = (ast.stmt, ast.expr, ast.arg, ast.alias)
    return any(isinstance(pattern, kind) and isinstance(code, kind) for kind in kinds)


def _match_name(pattern: str, code: object, bound: Bindings) -> Iterator[Bindings]:
    if not isinstance(code, str):
        return
    if pattern.startswith(ONE):
        yield from _bind(pattern.removeprefix(ONE), (code,), bound)
    elif pattern == code:
        yield bound


def _match_fields(pattern: ast.AST, code: ast.AST, bound: Bindings, skip: tuple[str, ...] = ()) -> Iterator[Bindings]:
    untold = _UNTOLD.get(type(pattern), ())
    fields = [
        field
        for field in pattern._fields
        if field not in _NEVER and field not in skip and not (field in untold and not getattr(pattern, field, None))
    ]
    yield from _match_each([(getattr(pattern, f, None), getattr(code, f, None)) for f in fields], bound)


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
    lengths = range(len(given) + 1)
    if all(many_hole(each) is None for each in args[:-1]):
        lengths = lengths[len(args) - 1 : len(args)]
    for length in lengths:
        for further in match_row(args[:-1], given[:length], bound):
            for bindings, left in _match_keywords(keywords, code.keywords, further):
                yield from _bind(rest, (*given[length:], *left), bindings)


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
        yield from _bind(hole, (code,), bound)
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
    rows = [list(zip(node.keys, node.values, strict=True)) for node in (pattern, code)]
    yield from _match_items(rows[0], rows[1], bound)


_Item = tuple[ast.expr | None, ast.expr]


def _match_items(pattern: Sequence[_Item], code: Sequence[_Item], bound: Bindings) -> Iterator[Bindings]:
    """Match a dictionary's items in order; `**$$$REST` stands for any number of them."""
    if not pattern:
        if not code:
            yield bound
        return
    key, value = pattern[0]
    hole = many_hole(value) if key is None else None
    if hole is not None:
        others = [key is None and many_hole(value) is not None for key, value in pattern[1:]]
        for length in _lengths(others, len(code)):
            items = tuple(node for item in code[:length] for node in item if node is not None)
            for further in _bind(hole, items, bound):
                yield from _match_items(pattern[1:], code[length:], further)
    elif code and (key is None) == (code[0][0] is None):
        for further in _match_each([(key, code[0][0]), (value, code[0][1])], bound):
            yield from _match_items(pattern[1:], code[1:], further)


def _bind(hole: str, things: tuple[Any, ...], bound: Bindings) -> Iterator[Bindings]:
    """Yield the bindings with one more, unless the hole stands for something else already."""
    if hole in ("", "_"):
        yield bound
    elif hole not in bound:
        yield {**bound, hole: things}
    elif _key(bound[hole]) == _key(things) or _same_names(bound[hole], things):
        yield bound


def _same_names(some: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    """Say whether what stands on one side are parameters, and on the other names with their spelling."""
    return len(some) == len(others) and all(
        _key(one) == _key(other) or _spelled(one) == _key(other) or _key(one) == _spelled(other)
        for one, other in zip(some, others, strict=True)
    )


def _spelled(thing: object) -> object:
    """Return the name that a parameter binds, whatever its annotation; an object equal to nothing for all else.

    One with a default, or behind the star, is more than its name where a hole stands for it as a whole.
    """
    if isinstance(thing, Parameter) and thing.default is None and thing.kind in ("plain", "positional"):
        return thing.node.arg
    return thing.arg if isinstance(thing, ast.arg) else object()


def _key(thing: object) -> object:
    """Return what is equal for equal code."""
    if isinstance(thing, (list, tuple)):
        return tuple(_key(each) for each in thing)
    if isinstance(thing, ast.Name):
        return thing.id
    if isinstance(thing, ast.Expr):
        return _key(thing.value)
    if isinstance(thing, Parameter):
        return thing.kind, _key(thing.node), _key(thing.default)
    if isinstance(thing, ast.Constant):
        return type(thing.value), repr(thing.value)
    if isinstance(thing, ast.AST):
        fields = [field for field in thing._fields if field not in _NEVER]
        return type(thing), *(_key(getattr(thing, field, None)) for field in fields)
    return thing


_SPECIAL: Mapping[type, Callable[[Any, Any, Bindings], Iterator[Bindings]]] = {
    ast.Constant: _match_constant,
    ast.Call: _match_call,
    ast.ClassDef: _match_call,
    ast.arguments: _match_parameters,
    ast.Dict: _match_dict,
}
