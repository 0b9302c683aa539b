"""Uses inside the patterns of `match`: what they compare with, and what they capture.

case Point(x=0, y=other):        mentions Point, and x and y of an instance of it; binds `other`
case {"k": v, **rest}:           binds `v` and `rest`
"""

from __future__ import annotations

import ast

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.expressions import Expressions
from bae_source.syntax.names.gathering import Gathering, Place


class Patterns:
    """Visits patterns."""

    def __init__(self, gathering: Gathering, expressions: Expressions) -> None:
        self.gathering = gathering
        self.value = expressions.value

    def visit(self, node: ast.pattern, place: Place) -> None:
        """Visit a pattern and those inside it."""
        name = getattr(node, "name", None)
        if name is not None:
            end = node.end_lineno or node.lineno
            column = self.gathering.column_before(end, node.end_col_offset or 0, name)
            self.gathering.capture(name, end, column, place)
        if isinstance(node, ast.MatchMapping) and node.rest is not None:
            after = (node.patterns or node.keys or [node])[-1]
            at = (after.end_lineno, after.end_col_offset) if after is not node else (node.lineno, node.col_offset)
            last = node.end_lineno or node.lineno
            line, column = self.gathering.column(node.rest, at[0] or last, last, at[1] or 0)
            self.gathering.capture(node.rest, line, column, place)
        if isinstance(node, ast.MatchClass):
            self._class_pattern(node, place)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.pattern):
                self.visit(child, place)
            elif isinstance(child, ast.expr):
                self.value(child, place)

    def _class_pattern(self, node: ast.MatchClass, place: Place) -> None:
        instance = self.gathering.expression(u.CALLED, self.value(node.cls, place))
        line, column = node.cls.end_lineno or node.lineno, node.cls.end_col_offset or 0
        for attribute, inner in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            line, column = self.gathering.column(attribute, line, inner.lineno, column)
            self.gathering.mention(attribute, line, column, place, u.READ, instance)
            self.visit(inner, place)
        for inner in node.patterns:
            self.visit(inner, place)
