"""Names of a function as its own scope and those inside of it have them.

    def f(a, b):
        c = [a for a in b]       own names: a, b, c; reads of its own: b; of an inner scope: `a`, which is another one
        return c, len            free: len

Invariants:
- a name is resolved as Python does it, but for classes in functions, whose names no function inside sees.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bae_source.syntax.inlining.evaluation import COMPREHENSIONS, FUNCTIONS, bound_by

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef, *COMPREHENSIONS)


class Use(Struct, frozen=True):
    """One place of a name in a body.

    Parameters:
        name: what is named.
        node: the place.
        is_own: whether the function's own scope binds it; it is free otherwise.
        hidden: names that inner scopes around the place bind.
        inside: the innermost scope around the place that is not the function itself; None for none.
    """

    name: str
    node: ast.AST
    is_own: bool
    hidden: frozenset[str]
    inside: ast.AST | None


def own_names(node: ast.AST) -> set[str]:
    """Return the names that a scope binds, less what it declares to be another's."""
    bound: set[str] = set()
    elsewhere: set[str] = set()
    for each in _in_scope(node):
        if isinstance(each, (ast.Global, ast.Nonlocal)):
            elsewhere.update(each.names)
        bound.update(bound_by(each))
    if isinstance(node, (*FUNCTIONS, ast.Lambda)):
        bound.update(each.arg for each in parameters_of(node.args))
    return bound - elsewhere


def parameters_of(args: ast.arguments) -> Iterator[ast.arg]:
    """Yield all parameters, in their order."""
    yield from (*args.posonlyargs, *args.args)
    if args.vararg:
        yield args.vararg
    yield from args.kwonlyargs
    if args.kwarg:
        yield args.kwarg


def _in_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope, without those of the scopes inside, but what these bind and evaluate around them."""
    waiting = list(_parts_inside(node))
    while waiting:
        each = waiting.pop(0)
        yield each
        if isinstance(each, _SCOPES):
            waiting[:0] = [*_parts_around(each), *_walrus_in(each)]
        else:
            waiting[:0] = list(ast.iter_child_nodes(each))


def _walrus_in(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the targets of `:=` in a comprehension, which the scope around it binds."""
    if isinstance(node, COMPREHENSIONS):
        yield from (each.target for each in ast.walk(node) if isinstance(each, ast.NamedExpr))


def _parts_inside(node: ast.AST) -> Sequence[ast.AST]:
    """Return what is evaluated in the scope of a node."""
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return node.body
    if isinstance(node, ast.Lambda):
        return [node.body]
    if isinstance(node, COMPREHENSIONS):
        first, *others = node.generators
        several = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return [first.target, *first.ifs, *others, *several]
    return list(ast.iter_child_nodes(node))


def _parts_around(node: ast.AST) -> Sequence[ast.AST]:
    """Return what belongs to a scope and is evaluated around it."""
    if isinstance(node, FUNCTIONS):
        annotations = [each.annotation for each in parameters_of(node.args) if each.annotation is not None]
        several = [*node.decorator_list, *node.args.defaults, *node.args.kw_defaults, *annotations, node.returns]
    elif isinstance(node, ast.Lambda):
        several = [*node.args.defaults, *node.args.kw_defaults]
    elif isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    elif isinstance(node, COMPREHENSIONS):
        several = [node.generators[0].iter]
    else:
        several = []
    return [each for each in several if each is not None]


def uses_in(function: ast.AST) -> Iterator[Use]:
    """Yield the places in the body of a function, or in an expression, that name something."""
    own = own_names(function) if isinstance(function, _SCOPES) else set()
    yield from _uses(function, own, (), None)


def _uses(node: ast.AST, own: set[str], hiding: tuple[set[str], ...], inside: ast.AST | None) -> Iterator[Use]:
    for each in _parts_inside(node) if node is not None else ():
        yield from _uses_at(each, own, hiding, inside)


def _uses_at(node: ast.AST, own: set[str], hiding: tuple[set[str], ...], inside: ast.AST | None) -> Iterator[Use]:
    names = [node.id] if isinstance(node, ast.Name) else list(bound_by(node))
    for name in names:
        if not any(name in each for each in hiding):
            yield Use(name, node, name in own, frozenset().union(*hiding), inside)
    if isinstance(node, _SCOPES):
        for part in _parts_around(node):
            yield from _uses_at(part, own, hiding, inside)
        here = own_names(node)
        if isinstance(node, COMPREHENSIONS):
            here -= {each.id for each in _walrus_in(node) if isinstance(each, ast.Name)}
        yield from _uses(node, own, (*hiding, here), node)
        return
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from (Use(name, node, False, frozenset(), inside) for name in node.names)
    for part in ast.iter_child_nodes(node):
        yield from _uses_at(part, own, hiding, inside)


def names_read(node: ast.AST) -> set[str]:
    """Return the names that an expression takes from around it."""
    return {each.name for each in uses_in(ast.Expression(node) if isinstance(node, ast.expr) else node)}


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
        found.update([each.id] if isinstance(each, ast.Name) else bound_by(each))
        if isinstance(each, FUNCTIONS) and skipped is not None and ast.dump(each) == skipped:
            continue
        if isinstance(each, ast.arg):
            found.add(each.arg)
        elif isinstance(each, (ast.Global, ast.Nonlocal)):
            found.update(each.names)
        waiting += ast.iter_child_nodes(each)
    return found
