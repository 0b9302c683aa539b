"""The names that the suite of a class binds but may lack: Python looks for these outside the class.

    class C:
        if new:
            go = other           bound on one way alone
        new and (do := other)    likewise
        run = go, do             those of the class, or of the module

Invariants:
- a name is lacking from the end of the statement that may bind it to the end of the one that surely does;
- the answer is lines; a name that is bound on each branch, as in `try` and all its handlers, has none.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import get_args

from msgspec import Struct

from bae_source.syntax.outline.static_values import names_bound

_Compound = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Match | ast.Try | ast.TryStar
_COMPOUND = get_args(_Compound)
_LOOSENING = frozenset({*_COMPOUND, ast.Delete})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LEAVING = (ast.Raise, ast.Break, ast.Continue)


class Lacking(Struct, frozen=True):
    """The places where a suite may lack a name.

    Parameters:
        first, last: lines, both included.
    """

    name: str
    first: int
    last: int


def lacking(body: Sequence[ast.stmt], *, in_expressions: bool = False) -> list[Lacking]:
    """Return where the suite of a class may lack names that it binds above.

    Parameters:
        in_expressions: whether expressions bind names of the suite.
    """
    if not in_expressions and _LOOSENING.isdisjoint(map(type, body)):
        return []  # as in most classes
    suite = _Suite()
    suite.visit(body, frozenset())
    return [*suite.found, *(Lacking(name, first, sys.maxsize) for name, first in suite.since.items())]


class _Suite:
    """A walk of a suite; each step takes the names that are surely bound, and returns those behind it.

    None stands for a way that leaves the suite.
    """

    def __init__(self) -> None:
        self.since: dict[str, int] = {}
        """By each name that may be lacking, the line from which on it may."""
        self.found: list[Lacking] = []

    def visit(self, body: Iterable[ast.stmt], sure: frozenset[str] | None) -> frozenset[str] | None:
        """Follow statements."""
        for statement in body:
            if sure is None:
                return None
            sure = self._behind(statement, sure)
        return sure

    def _behind(self, node: ast.stmt, sure: frozenset[str]) -> frozenset[str] | None:
        if isinstance(node, _LEAVING):
            return None
        end = node.end_lineno or node.lineno
        if isinstance(node, ast.Delete):
            gone = {target.id for target in node.targets if isinstance(target, ast.Name)}
            return self._without(gone, sure, end)
        if not isinstance(node, _Compound):
            names = _bound(node, _evaluated)
            for name in names & self.since.keys():
                self.found.append(Lacking(name, self.since.pop(name), end))
            self._without(_bound(node) - names - sure, sure, node.lineno - 1)
            return sure | names
        after = self._behind_compound(node, sure, end)
        if after is not None:
            self._without(_bound(node) - after, after, end)
        return after

    def _behind_compound(self, node: _Compound, sure: frozenset[str], end: int) -> frozenset[str] | None:
        if isinstance(node, (ast.If, ast.While)):
            return self._behind_test(node, sure, end)
        if isinstance(node, (ast.For, ast.AsyncFor)):
            given = sure | _bound(node.iter, _evaluated)
            self._other_way([node.iter], node.body, given | _bound(node.target), end)
            return self._other_way([node.iter, *node.body], node.orelse, given, end) or given
        if isinstance(node, (ast.With, ast.AsyncWith)):  # what is entered may let the suite end early
            entered = sure.union(*(_bound(item, _evaluated) for item in node.items))
            self._other_way(node.items, node.body, entered, end)
            return entered
        if isinstance(node, ast.Match):
            given = sure | _bound(node.subject, _evaluated)
            for case in node.cases:
                self._other_way([node.subject], case.body, given | _bound(case.pattern), end)
            return given
        return self._behind_try(node, sure, end)

    def _behind_test(self, node: ast.If | ast.While, sure: frozenset[str], end: int) -> frozenset[str] | None:
        last = node.body[-1].end_lineno or end
        after = self._other_way([node.test], node.body, sure | _bound_when(node.test, True), last)
        other = self._other_way([node.test, *node.body], node.orelse, sure | _bound_when(node.test, False), end)
        if isinstance(node, ast.If):
            return _on_both(after, other)
        return sure | _bound(node.test, _evaluated) if other is None else other

    def _behind_try(self, node: ast.Try | ast.TryStar, sure: frozenset[str], end: int) -> frozenset[str] | None:
        tried = self.visit(node.body, sure)
        after = None if tried is None else self.visit(node.orelse, tried)
        for handler in node.handlers:
            inner = self._other_way(node.body, handler.body, sure, handler.end_lineno or end)
            if inner is not None and handler.name:
                inner = self._without({handler.name}, inner, handler.end_lineno or end)
            after = _on_both(after, inner)
        if not node.finalbody:
            return after
        last = self._other_way([*node.body, *node.handlers], node.finalbody, sure, end)
        return None if after is None or last is None else after | last

    def _other_way(
        self, instead: Sequence[ast.AST], body: Sequence[ast.stmt], sure: frozenset[str], end: int
    ) -> frozenset[str] | None:
        """Follow statements that are run where others were not, or not to their end."""
        if body:
            names = frozenset[str]().union(*map(_bound, instead)) - sure
            self.found.extend(Lacking(name, body[0].lineno, end) for name in sorted(names))
        return self.visit(body, sure)

    def _without(self, names: Iterable[str], sure: frozenset[str], end: int) -> frozenset[str]:
        for name in names:
            self.since.setdefault(name, end + 1)
        return sure - frozenset(names)


def _on_both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    return other if one is None else one if other is None else one & other


def _in_scope(node: ast.AST) -> Iterable[ast.AST]:
    """Return the nodes directly in a node, but for what is a scope of its own."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        given = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        return given if isinstance(node, ast.Lambda) else [*node.decorator_list, *given]
    return () if isinstance(node, _COMPREHENSIONS) else ast.iter_child_nodes(node)


def _bound(node: ast.AST, inner: Callable[[ast.AST], Iterable[ast.AST]] = _in_scope) -> frozenset[str]:
    """Return the names that a node binds in its own scope.

    Parameters:
        inner: gives the nodes in a node that are looked at.
    """
    found: set[str] = set()
    waiting: list[ast.AST] = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.AnnAssign) and each.value is None:
            continue
        if not isinstance(getattr(each, "ctx", None), ast.Del):
            found.update(names_bound(each))
        waiting.extend(inner(each))
    return frozenset(found)


def _bound_when(test: ast.expr, outcome: bool) -> frozenset[str]:
    """Return the names that a test has surely bound where it came to be true, or false."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _bound_when(test.operand, not outcome)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == outcome:
        return frozenset[str]().union(*(_bound_when(each, outcome) for each in test.values))
    return _bound(test, _evaluated)


def _evaluated(node: ast.AST) -> Iterable[ast.AST]:
    """Return those nodes directly in a node that are evaluated whatever the values of the others are."""
    if isinstance(node, ast.BoolOp):
        return node.values[:1]
    if isinstance(node, ast.IfExp):
        return (node.test,)
    if isinstance(node, ast.Compare):
        return (node.left, node.comparators[0])
    return () if isinstance(node, ast.Assert) else _in_scope(node)  # which Python leaves out with -O
