"""Which names the suite of a class may lack that it binds: Python looks for these outside of the class.

    class C:
        if new:
            go = other           bound on one way alone
        run = go                 the class's `go`, or that of the module

Invariants:
- a name is lacking from the end of the statement that may bind it to the end of the one that surely does;
- what is told is lines; a name that is bound on each way, as in `try` and all its handlers, is not told of.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence
from typing import get_args

from msgspec import Struct

_Compound = ast.If | ast.For | ast.AsyncFor | ast.While | ast.With | ast.AsyncWith | ast.Match | ast.Try | ast.TryStar
_COMPOUND = get_args(_Compound)
_DEFINING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LOOSENING = frozenset({*_COMPOUND, ast.Delete})
_INNER = (*_DEFINING, ast.Lambda)
_LEAVING = (ast.Raise, ast.Break, ast.Continue)


class Lacking(Struct, frozen=True):
    """Where a suite may lack a name.

    Parameters:
        first, last: lines, both included.
    """

    name: str
    first: int
    last: int


def lacking(body: Sequence[ast.stmt]) -> list[Lacking]:
    """Return where the suite of a class may lack names that it binds above."""
    if _LOOSENING.isdisjoint(map(type, body)):
        return []  # as in most classes
    suite = _Suite()
    suite.visit(body, frozenset())
    return [*suite.found, *(Lacking(name, first, sys.maxsize) for name, first in suite.since.items())]


class _Suite:
    """Follows the statements of a suite; each step takes the names that are surely bound, and returns those behind it.

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
            names = _bound(node)
            for name in names & self.since.keys():
                self.found.append(Lacking(name, self.since.pop(name), end))
            return sure | names
        after = self._behind_compound(node, sure, end)
        if after is not None:
            self._without(_bound(node) - after, after, end)
        return after

    def _behind_compound(self, node: _Compound, sure: frozenset[str], end: int) -> frozenset[str] | None:
        if isinstance(node, ast.If):
            return _on_both(self.visit(node.body, sure), self._other_way(node.body, node.orelse, sure, end))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            own = _bound(node.target) if not isinstance(node, ast.While) else frozenset[str]()
            self.visit(node.body, sure | own)
            return self._other_way(node.body, node.orelse, sure, end) or sure
        if isinstance(node, (ast.With, ast.AsyncWith)):  # what is entered may let the suite end early
            names = [_bound(item.optional_vars) for item in node.items if item.optional_vars is not None]
            self.visit(node.body, sure.union(*names))
            return sure.union(*names)
        if isinstance(node, ast.Match):
            for case in node.cases:
                self.visit(case.body, sure | _bound(case.pattern))
            return sure
        return self._behind_try(node, sure, end)

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


def _bound(node: ast.AST) -> frozenset[str]:
    """Return the names that a node binds in its own scope."""
    found: set[str] = set()
    waiting: list[ast.AST] = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.AnnAssign) and each.value is None:
            continue
        if isinstance(each, _DEFINING):
            found.add(each.name)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found.add(each.id)
        elif isinstance(each, (ast.Import, ast.ImportFrom)):
            found.update(alias.asname or alias.name.partition(".")[0] for alias in each.names)
        elif isinstance(each, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)) and each.name:
            found.add(each.name)
        elif isinstance(each, ast.MatchMapping) and each.rest:
            found.add(each.rest)
        if not isinstance(each, (*_INNER, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            waiting.extend(ast.iter_child_nodes(each))
    return frozenset(found)
