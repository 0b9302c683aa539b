"""Names of a function as its own scope and those inside of it have them.

def f(a, b):
c = [a for a in b]       own names: a, b, c; reads of its own: b; of an inner scope: `a`, which is another one
return c, len            free: len
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from msgspec import Struct

from bae_source.syntax.flow.scopes import Named, Scope, Scopes
from bae_source.syntax.outline.static_values import names_bound


class Use(Struct, frozen=True):
    """One place of a name in a body.

    Parameters:
        name: what is named.
        node: the place.
        is_own: whether the function's own scope binds it; it is free otherwise.
        hidden: names that inner scopes around the place bind.
    """

    name: str
    node: ast.AST
    is_own: bool
    hidden: frozenset[str]


def uses_in(scopes: Scopes, own: Scope) -> Iterator[Use]:
    """Yield the places in the body of a function that name something which no scope inside of it binds."""
    for node, scope in scopes.around.items():
        for name in _named_by(node) if own in scope.chain else ():
            found = scope.find(name)
            if found is own or found is None or own not in found.chain:
                inner = takewhile(lambda each: each is not own, scope.chain)
                yield Use(name, node, found is own, frozenset().union(*(each.bound for each in inner)))


def names_read(node: ast.expr) -> set[str]:
    """Return the names that an expression takes from around it."""
    scopes = Scopes(ast.Module([ast.Expr(node)], []))
    return {each.name for each in uses_in(scopes, scopes.module)}


def words_in(node: ast.AST, but: ast.AST | None = None) -> set[str]:
    """Return every name that code binds or reads, whatever the scope.

    Parameters:
        but: a function whose names do not count, as they are its own.
    """
    found: set[str] = set()
    skipped = ast.dump(but) if but is not None else None
    waiting = [node]
    while waiting:
        each = waiting.pop()
        found.update(_named_by(each))
        if skipped is None or not isinstance(each, Named) or ast.dump(each) != skipped:
            waiting += ast.iter_child_nodes(each)
    return found


def _named_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node itself reads, binds or declares."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from node.names
    else:
        yield from names_bound(node)
