"""A variable that a body returns, as the one that the call is assigned to.

    def total(rows):                     def f(items):
        sum_ = 0                             cost = 0
        for row in rows:                     for row in items:
            sum_ += row                          cost += row
        return sum_                          # instead of sum_ = 0 ... cost = sum_

Invariants:
- no code sees the variable before the body is through: it is bound nowhere else, and a body that raises ends all.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec import Struct

from bae_source.syntax.flow.graph import TRIES
from bae_source.syntax.flow.scopes import COMPREHENSIONS, FUNCTIONS, Named
from bae_source.syntax.inlining.body import Body, Shape
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.inlining.given import Given
from bae_source.syntax.inlining.scopes import names_read, words_in
from bae_source.syntax.outline.static_values import names_bound

_INNER = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)
_GOING_ON = (*TRIES, ast.With, ast.AsyncWith)
"""Statements behind which code may go on though something raised in them."""


class Site(Struct, frozen=True, kw_only=True):
    """One call.

    Parameters:
        code: of its file.
        call: the call.
        node: what gives way: the call, or the `await` of it.
    """

    code: Code
    call: ast.Call
    node: ast.expr

    @property
    def statement(self) -> ast.stmt:
        """The statement around the call."""
        return self.code.statement(self.call)


def direct_target(site: Site, body: Body, given: Sequence[Given]) -> tuple[str, str] | None:
    """Return the variable that a body returns, and the one that takes its place; None where none can.

    Parameters:
        given: the values that come into the body.
    """
    statement, result = site.statement, body.result
    if body.shape is not Shape.TAIL or not isinstance(result, ast.Name) or result.id not in body.locals:
        return None
    if not isinstance(statement, ast.Assign) or statement.value is not site.node or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or not _is_free(target.id, result.id, body, given):
        return None
    is_plain = all(isinstance(each.node, ast.Name) for each in body.uses if each.name == result.id)
    line = body.code.source.lines.cut(body.code.source.lines.number(body.code.span(result).end))
    return (result.id, target.id) if is_plain and "#" not in line and _is_unseen(site, target.id) else None


def _is_free(name: str, result: str, body: Body, given: Sequence[Given]) -> bool:
    """Return whether the body and the values that come into it do not have a name, but for the result."""
    is_read = any(name in names_read(each.value) for each in given)
    return not is_read and name not in body.free and (name == result or name not in body.own)


def _is_unseen(site: Site, name: str) -> bool:
    """Return whether no code can see a variable that a call is assigned to, before the call is through."""
    code, node = site.code, site.statement
    scope = code.scope(site.call)
    if not isinstance(scope, Named):
        return False
    around: ast.AST = node
    while around is not scope:
        around = code.parents[around]
        if isinstance(around, _GOING_ON):
            return False
    inside = [each for each in ast.walk(scope) if each is not scope]
    bindings = [each for each in inside if name in names_bound(each)]
    declared = [each for each in inside if isinstance(each, (ast.Global, ast.Nonlocal)) and name in each.names]
    is_kept = any(isinstance(each, _INNER) and name in words_in(each) for each in inside)
    return len(bindings) == 1 and not declared and not is_kept
