"""The text of a body where it goes: with values for parameters, and other names for what would clash.

Invariants:
- comments of the body stay, but for its docstring; what strings hold does not move.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.syntax.inlining.body import Body
from bae_source.syntax.inlining.given import Given
from bae_source.syntax.inlining.hazards import Hazard
from bae_source.syntax.templates.statements import block_of, continued_at, moved_to
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.lexer import lex

_AS = re.compile(r"(?:[\s\\,)]|#[^\n]*)*as[\s\\]+(\w+)")
Splices = list[tuple[Span, str]]


class Written:
    """A body with its values.

    Parameters:
        body: as it stands in its file.
        put: the values that stand where it reads them, by the names of parameters.
        names: new names of what it binds, by the old ones.
        indent: indentation of the place where it goes.
    """

    def __init__(self, body: Body, put: Sequence[Given], names: Mapping[str, str], indent: str) -> None:
        self.body = body
        self.code = body.code
        self.put = {each.name: each for each in put}
        self.names = names
        self.indent = indent

    def splices(self, span: Span) -> Splices | Hazard:
        """Return the splices on a part of the file that put values and names into it."""
        found: Splices = []
        for use in self.body.uses:
            node = use.node
            if not use.is_own or not (use.name in self.put or use.name in self.names):
                continue
            if isinstance(node, ast.ExceptHandler):
                name = self._handled(node)
                found += [(name, self.names[use.name])] if use.name in self.names and span.contains(name) else []
                continue
            if not isinstance(node, ast.Name) or node in self.code.unplaced:
                if use.name in self.put or self._lies_in(span, node):
                    return Hazard(Reason.CAPTURED.of(name=use.name), True)
                continue
            place = self.code.span(node)
            if not span.contains(place):
                continue
            if use.name in self.names:
                found.append((place, self.names[use.name]))
                continue
            given = self.put[use.name]
            own = self.code.indentation(node)
            new, why = self.code.fitted(node, continued_at(given.text, self.indent, own), given.value)
            if why:
                return Hazard(why, True)
            found.append((place, new))
        return found

    def _handled(self, node: ast.ExceptHandler) -> Span:
        """Return the name that a handler gives to an exception: `except (KeyError) as name`."""
        assert node.type is not None
        name = _AS.match(self.code.text, self.code.span(node.type).end)
        assert name is not None
        return Span(*name.span(1))

    def _lies_in(self, span: Span, node: ast.AST) -> bool:
        return not hasattr(node, "lineno") or span.contains(self.code.span(node))

    def expression(self, node: ast.expr) -> str | Hazard:
        """Return an expression of the body."""
        span = self._with_brackets(node)
        splices = self.splices(span)
        return splices if isinstance(splices, Hazard) else _spliced(self.code.text, span, splices)

    def _with_brackets(self, node: ast.expr) -> Span:
        """Return the span of what a `return` gives, with the brackets around several lines."""
        span, statement = self.code.span(node), self.code.parents[node]
        if not isinstance(statement, ast.Return) or not set("\r\n") & set(span.cut(self.code.text)):
            return span
        whole = self.code.span(statement)
        start = whole.start + len("return")
        inner = Span(start, whole.end).cut(self.code.text)
        return Span(start + len(inner) - len(inner.lstrip(" \t\f")), whole.end)

    def statements(self, replaced: Mapping[ast.stmt, str | None]) -> str | Hazard:
        """Return all statements at the place where they go, the first without its indentation.

        Parameters:
            replaced: the text of statements that others take the place of; None for those that go.
        """
        first, last = self.body.statements[0], self.body.statements[-1]
        block = block_of(self.code.source, lex(self.code.text), first, last, is_last=True)
        splices = self.splices(block.span)
        if isinstance(splices, Hazard):
            return splices
        for statement, text in replaced.items():
            span, new = self.code.without(statement) if text is None else (self.code.span(statement), text)
            splices = [each for each in splices if not span.contains(each[0])] + [(span, new)]
        text = _spliced(self.code.text, block.span, splices)
        if not block.on_own_lines:
            return text.strip(" \t;")
        moved = moved_to(text, block.indent, self.indent)
        if moved is None:
            return Hazard(Reason.REPLACEMENT_UNREAD.of(), True)
        return moved.strip("\r\n").removeprefix(self.indent).rstrip()


def _spliced(text: str, span: Span, splices: Splices) -> str:
    inside = [(Span(each.start - span.start, min(each.end, span.end) - span.start), new) for each, new in splices]
    return splice(span.cut(text), sorted(inside))
