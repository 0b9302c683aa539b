"""The matter of holes: names of one thing or of any number of things, and what each is bound to.

Invariants:
- bindings are never changed, only extended as copies, so that another way to match can be tried;
- a hole that is bound stands for equal code from then on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

ONE = "__bae_one_"
MANY = "__bae_many_"
UNBOUND = ("", "_")
"""Holes that stand for something else each time."""

Bindings = Mapping[str, tuple[Any, ...]]
"""Nodes, parameters or names that each named hole stands for."""

NEVER = ("ctx", "type_comment", "kind", "type_ignores")
"""Fields of nodes that say nothing of the code."""


class Parameter(Struct, frozen=True):
    """One parameter of a function, with its default."""

    kind: str
    node: ast.arg
    default: ast.expr | None


class Item(Struct, frozen=True):
    """One item of a dictionary; without a key what stands behind `**`."""

    key: ast.expr | None
    value: ast.expr


def one_hole(node: object) -> str | None:
    """Return the hole that a pattern's node is, if it stands for one thing."""
    return _hole(node, ONE)


def many_hole(node: object) -> str | None:
    """Return the hole that a pattern's node is, if it stands for any number of things."""
    if isinstance(node, Item):
        node = node.value if node.key is None else None
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


def bind(hole: str, things: tuple[Any, ...], bound: Bindings) -> Iterator[Bindings]:
    """Yield the bindings with one more, unless the hole stands for something else already."""
    if hole in UNBOUND:
        yield bound
    elif hole not in bound:
        yield {**bound, hole: things}
    elif _are_same(bound[hole], things):
        yield bound


def _are_same(some: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    """Return whether equal things stand on both sides, or a parameter and a name with its spelling."""
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
    """Return a key that is equal for equal code."""
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
        fields = [field for field in thing._fields if field not in NEVER]
        return type(thing), *(_key(getattr(thing, field, None)) for field in fields)
    return thing


def things_of(code: Sequence[object]) -> tuple[object, ...]:
    """Return the code that a `$$$` stands for; of a dictionary's items the nodes."""
    if not code or not isinstance(code[0], Item):
        return tuple(code)
    pairs = [(item.key, item.value) for item in code if isinstance(item, Item)]
    return tuple(node for pair in pairs for node in pair if node is not None)


def alike(things: tuple[Any, ...]) -> object:
    """Return a key that is equal wherever `bind` takes things for equal, though maybe for others too."""
    return tuple(name if isinstance(name := _spelled(each), str) else _key(each) for each in things)


def holes_in(pattern: object) -> Iterator[str]:
    """Yield the names of the holes in a pattern."""
    for name in _names_in(pattern):
        yield name.removeprefix(ONE if name.startswith(ONE) else MANY)


def has_many(pattern: object) -> bool:
    """Return whether a hole in a pattern stands for any number of things."""
    return any(name.startswith(MANY) for name in _names_in(pattern))


def _names_in(pattern: object) -> Iterator[str]:
    waiting = [pattern]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, (list, tuple)):
            waiting += each
        elif isinstance(each, (Parameter, Item)):
            waiting += [getattr(each, field) for field in each.__struct_fields__]
        elif isinstance(each, ast.AST):
            waiting += [getattr(each, field, None) for field in each._fields]
