"""Of what code sets attributes by names that do not stand in it.

    setattr(app.state, name, 1)              app.state
    vars(state).update(new)                  state
    state.__dict__[name] = 1                 state
    for each in (state, cache):              state and cache: what a name is bound to counts for the name
        setattr(each, name, 1)
    setattr(state, "db", 1)                  nothing: the name stands there
    for name in vars(state): …               nothing: it is only read

Invariants:
- scopes are not told apart, and a name counts for everything that it is bound to anywhere in the file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from bae_source.syntax.outline.tree import parse_module

Chain = tuple[str, ...]
"""A name with attributes behind it: `("app", "state")`."""

_READS = frozenset({"items", "keys", "values", "get", "copy", "__contains__", "__getitem__"})
_READERS = frozenset({"dict", "frozenset", "getattr", "isinstance", "iter", "len", "list", "repr", "set", "sorted",
                      "str", "tuple", "type"})  # fmt: skip
_BINDERS = (ast.Assign, ast.AnnAssign, ast.NamedExpr)
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


def set_by_unknown_names(text: str) -> frozenset[Chain]:
    """Return what a text sets attributes of by names that do not stand in it.

    Raises:
        SyntaxError: it does not parse.
        RecursionError, MemoryError: it is too deep for the parser.
    """
    tree = parse_module(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    todo = [chain for node in parents for target in _targets(node, parents) for chain in _chains(target)]
    bound = _bound(parents) if todo else {}
    found: set[Chain] = set()
    while todo:
        chain = todo.pop()
        if chain not in found:
            found.add(chain)
            for each in bound.get(chain[0], ()):
                further = (*each, *chain[1:])
                if len(each) == 1:
                    todo.append(further)
                else:
                    found.add(further)  # it is followed no further: `a = b.c` and `b = a.c` would have no end
    return frozenset(found)


def _targets(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[ast.expr]:
    """Yield what a node sets attributes of."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        if _is_written(node, parents):
            yield node.value
    elif isinstance(node, ast.Call):
        word = _word(node.func)
        if word == "vars" and node.args and _is_written(node, parents):
            yield node.args[0]
        elif word == "setattr" and not _is_constant(node.args[1:2]):
            yield from node.args[:1]
        elif word == "__setattr__" and isinstance(node.func, ast.Attribute):
            bare = len(node.args) < 3  # `state.__setattr__(name, 1)`, and not `object.__setattr__(state, name, 1)`
            if not _is_constant(node.args[:1] if bare else node.args[1:2]):
                yield node.func.value if bare else node.args[0]
        elif any(_word(each) == "setattr" for each in node.args):
            yield from (each for each in node.args if _word(each) != "setattr")  # `partial(setattr, state)`


def _is_constant(name: list[ast.expr]) -> bool:
    return bool(name) and isinstance(name[0], ast.Constant)


def _is_written(names: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
    """Say whether a module's dict may be written where it stands, with keys that do not stand there."""
    parent = parents[names]
    if isinstance(parent, ast.Subscript):
        return not isinstance(parent.ctx, ast.Load) and not isinstance(parent.slice, ast.Constant)
    if isinstance(parent, ast.Attribute):
        return parent.attr not in _READS
    if isinstance(parent, ast.Call):
        return _word(parent.func) not in _READERS
    return not isinstance(parent, (ast.Compare, ast.For, ast.comprehension, ast.Expr, ast.FormattedValue))


def _bound(nodes: dict[ast.AST, ast.AST]) -> dict[str, list[Chain]]:
    """Return what names are bound to, as far as that begins with a name."""
    found: dict[str, list[Chain]] = {}
    for node in nodes:
        if isinstance(node, _BINDERS):
            targets, value = node.targets if isinstance(node, ast.Assign) else [node.target], node.value
        elif isinstance(node, _LOOPS):
            targets, value = [node.target], node.iter
        else:
            continue
        chains = list(_chains(value)) if value is not None else []
        names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        for name in names if chains else ():
            found.setdefault(name, []).extend(chains)
    return found


def _chains(expression: ast.expr) -> Iterator[Chain]:
    """Yield the names, with their attributes, that an expression may stand for; no call's result."""
    if isinstance(expression, (ast.Tuple, ast.List, ast.Set)):
        for each in expression.elts:
            yield from _chains(each)
    elif isinstance(expression, ast.BoolOp):
        for each in expression.values:
            yield from _chains(each)
    elif isinstance(expression, ast.IfExp):
        yield from _chains(expression.body)
        yield from _chains(expression.orelse)
    elif isinstance(expression, (ast.Starred, ast.NamedExpr)):
        yield from _chains(expression.value)
    else:
        names: list[str] = []
        while isinstance(expression, ast.Attribute):
            names.append(expression.attr)
            expression = expression.value
        if isinstance(expression, ast.Name):
            yield (expression.id, *reversed(names))


def _word(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
