"""Which suites of an `if`, and which parts of an expression, run when a module is imported, told by them alone.

if TYPE_CHECKING:                       skipped, and so is `if TYPE_CHECKING and DEBUG`
if not TYPE_CHECKING:                   runs
if __name__ == "__main__":              skipped
if sys.version_info >= (3,):            runs, with any Python that this is for
if DEBUG:                               cannot be told
x and f()                               x runs, and f() may
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_OLDEST = (3, 6)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TYPE_CHECKING = frozenset({"TYPE_CHECKING"})


def type_checking_names(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Return the names under which a module knows `typing.TYPE_CHECKING`."""
    return _TYPE_CHECKING | {
        alias.asname
        for each in body
        if isinstance(each, ast.ImportFrom)
        for alias in each.names
        if alias.name in _TYPE_CHECKING and alias.asname
    }


def is_skipped(test: ast.expr, names: frozenset[str] = _TYPE_CHECKING) -> bool | None:
    """Say whether the suite of an `if` is skipped in an import; None where that cannot be told.

    Parameters:
        names: those of `typing.TYPE_CHECKING`.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        skipped = is_skipped(test.operand, names)
        return None if skipped is None else not skipped
    if isinstance(test, ast.BoolOp):
        deciding = isinstance(test.op, ast.And)
        found = {is_skipped(each, names) for each in test.values}
        return deciding if deciding in found else None if None in found else not deciding
    if isinstance(test, ast.Attribute):
        return True if test.attr in _TYPE_CHECKING else None
    if isinstance(test, ast.Name):
        return True if test.id in names else None
    if isinstance(test, ast.Constant):
        return not test.value
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides = (test.left, test.comparators[0])
        if isinstance(test.ops[0], ast.Eq):
            named = any(isinstance(each, ast.Name) and each.id == "__name__" for each in sides)
            main = any(isinstance(each, ast.Constant) and each.value == "__main__" for each in sides)
            return True if named and main else None
        return _is_skipped_by_version(test.left, test.ops[0], test.comparators[0])
    return None


def _is_skipped_by_version(left: ast.expr, how: ast.cmpop, right: ast.expr) -> bool | None:
    """Say whether no Python, or each, that may run the code has such a `sys.version_info`."""
    if chain_of(left)[0] != ("sys", "version_info") or not isinstance(right, ast.Tuple):
        return None
    version = [each.value if isinstance(each, ast.Constant) else None for each in right.elts]
    if not all(isinstance(each, int) for each in version) or tuple(version) > _OLDEST:
        return None
    if isinstance(how, (ast.Gt, ast.GtE)):
        return False
    return True if isinstance(how, ast.Lt) else None


def chain_of(node: ast.AST) -> tuple[tuple[str, ...], ast.AST | None]:
    """Return `a.b.c` in its pieces; nothing, and what stands before the attributes, where that is no name."""
    pieces: list[str] = []
    while isinstance(node, ast.Attribute):
        pieces.append(node.attr)
        node = node.value
    return ((node.id, *reversed(pieces)), None) if isinstance(node, ast.Name) else ((), node)


def called(function: ast.expr) -> tuple[str, ...]:
    """Return what a call calls, in its pieces; a method of an object that is made there is one of its class."""
    pieces: list[str] = []
    while isinstance(function, ast.Attribute):
        pieces.append(function.attr)
        function = function.value
    if isinstance(function, ast.Call) and len(pieces) == 1:  # A().f
        chain = chain_of(function.func)[0]
        return (*chain, *pieces) if chain else ()
    return (function.id, *reversed(pieces)) if isinstance(function, ast.Name) else ()


def parts_run(node: ast.AST) -> Iterator[tuple[ast.AST | None, bool]]:
    """Yield the parts of an expression that run with it, and whether they do for certain."""
    if isinstance(node, ast.Lambda):
        yield from ((each, True) for each in (*node.args.defaults, *node.args.kw_defaults))
    elif isinstance(node, _COMPREHENSIONS):
        first = node.generators[0].iter
        yield first, True
        yield from ((each, False) for part in ast.iter_child_nodes(node) for each in _parts(part) if each is not first)
    elif isinstance(node, ast.BoolOp):
        yield from ((each, number == 0) for number, each in enumerate(node.values))
    elif isinstance(node, ast.Compare):
        yield node.left, True
        yield from ((each, number == 0) for number, each in enumerate(node.comparators))
    elif isinstance(node, ast.IfExp):
        yield from ((node.test, True), (node.body, False), (node.orelse, False))
    else:
        yield from ((each, True) for each in ast.iter_child_nodes(node))


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a part of a comprehension, or what it consists of."""
    yield from ast.iter_child_nodes(node) if isinstance(node, ast.comprehension) else (node,)


BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.Match, getattr(ast, "TryStar", ast.Try))
"""Statements that hold others which run with them."""


def inside(node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statements that may run with one and hold no others; itself if it is such a one."""
    if not isinstance(node, BLOCKS):
        yield node
        return
    never = is_skipped(node.test) if isinstance(node, ast.If) else None
    around = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    body = getattr(node, "body", []) if never is not True else []
    orelse = getattr(node, "orelse", []) if never is not False else []
    for suite in (body, orelse, getattr(node, "finalbody", []), *(each.body for each in around)):
        for each in suite:
            yield from inside(each)
