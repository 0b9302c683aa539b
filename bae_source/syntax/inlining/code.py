"""A file's code as a tree whose nodes know their places and what they stand in.

Invariants:
- fields of f-strings have the places where they stand, or the tree is not made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from bae_source.model.reasons import Reason
from bae_source.model.span import Span
from bae_source.syntax.flow.evaluation import LOOPS
from bae_source.syntax.flow.scopes import DEFINITIONS, Named, Scopes
from bae_source.syntax.inlining.hazards import suite_of
from bae_source.syntax.names.placed_fields import place_fields
from bae_source.syntax.outline.static_values import names_bound
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.patterns.pattern import span_of
from bae_source.syntax.templates.surroundings import (
    compiles_at,
    fits_in_string,
    in_brackets_where_needed,
    may_be_out_of_place,
    shows_itself,
    statement_around,
)
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.lexer import lex
from bae_source.syntax.text.source import NEWLINE, Source

Scope = ast.Module | Named | ast.ClassDef
_BLANKS = " \t\f"


class Code:
    """The code of one file.

    Parameters:
        source: the file.
        running: attributes that run code when they are read, as `read_as` writes them.

    Raises:
        SyntaxError: the Python that runs here does not read it.
    """

    def __init__(self, source: Source, running: frozenset[str] = frozenset()) -> None:
        self.running = running
        self.source = source
        self.text = source.text
        self.tree = parse_module(source.text)
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            self.parents.update((child, node) for child in ast.iter_child_nodes(node))
        for node in self._strings():
            if not place_fields(source, node):
                self.unplaced.update(ast.walk(node))

    @cached_property
    def scopes(self) -> Scopes:
        """The scopes of the file."""
        return Scopes(self.tree)

    @cached_property
    def unplaced(self) -> set[ast.AST]:
        """Nodes in f-strings of which it is not known where they stand."""
        return set()

    def _strings(self) -> Iterator[ast.JoinedStr]:
        for node in ast.walk(self.tree):
            is_inner = isinstance(self.parents.get(node), (ast.JoinedStr, ast.FormattedValue))
            if isinstance(node, ast.JoinedStr) and not (is_inner and self.is_in_string(node)):
                yield node

    def is_in_string(self, node: ast.AST) -> bool:
        """Return whether a node stands in an f-string."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, ast.JoinedStr):
                return True
        return False

    def span(self, node: ast.AST) -> Span:
        """Return the span of a node."""
        return span_of(self.source, node)

    @cached_property
    def _by_end(self) -> dict[int, ast.expr]:
        return {
            self.span(node).end: node
            for node in ast.walk(self.tree)
            if isinstance(node, (ast.Name, ast.Attribute)) and node not in self.unplaced
        }

    def named_at(self, start: int, word: str) -> ast.Name | ast.Attribute | None:
        """Return the name, or the attribute, whose word begins at an offset; None where the tree has none there."""
        found = self._by_end.get(start + len(word))
        if isinstance(found, ast.Name):
            return found if self.span(found).start == start else None
        return found if isinstance(found, ast.Attribute) else None

    def statement(self, node: ast.AST) -> ast.stmt:
        """Return the innermost statement around a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def scope(self, node: ast.AST) -> Scope:
        """Return the innermost function, class or module around a node; a function's own header is around it."""
        child, around = node, self.parents.get(node, self.tree)
        while not isinstance(around, ast.Module):
            if isinstance(around, DEFINITIONS) and child in around.body:
                return around
            child, around = around, self.parents[around]
        return around

    def class_around(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the innermost class around a node, which private names belong to; None for none."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, ast.ClassDef):
                return node
        return None

    def is_within(self, node: ast.AST, around: ast.AST) -> bool:
        """Return whether a node stands in another one."""
        while node is not around and node in self.parents:
            node = self.parents[node]
        return node is around

    def inner_scopes(self, node: ast.AST) -> bool:
        """Return whether a lambda, a comprehension or a header stands between a node and its statement's suite."""
        return any(
            isinstance(each, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))
            for each in self.above(node)
        )

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield what stands around a node up to its statement."""
        while not isinstance(node, ast.stmt) and node in self.parents:
            node = self.parents[node]
            yield node

    @cached_property
    def bound(self) -> frozenset[str]:
        """Every name that the file binds, and attributes that run code."""
        return self.running.union(name for each in ast.walk(self.tree) for name in names_bound(each))

    @cached_property
    def loops(self) -> tuple[Span, ...]:
        """First and last line of each loop."""
        every = (each for each in ast.walk(self.tree) if isinstance(each, LOOPS))
        return tuple(Span(each.lineno, each.end_lineno or each.lineno) for each in every)

    @cached_property
    def shared(self) -> frozenset[str]:
        """Names that a function binds which are not its own, so that a call may bind them anew."""
        declared = (each for each in ast.walk(self.tree) if isinstance(each, (ast.Global, ast.Nonlocal)))
        return frozenset(name for each in declared for name in each.names)

    @cached_property
    def modules(self) -> frozenset[str]:
        """Names that `import` statements bind."""
        imports = (each for each in ast.walk(self.tree) if isinstance(each, ast.Import))
        return frozenset(name for each in imports for alias in each.names for name in names_bound(alias))

    def is_alone(self, statement: ast.stmt) -> bool:
        """Return whether a statement has its lines to itself, but for a comment."""
        span, lines = self.span(statement), self.source.lines
        before = self.text[lines.start(lines.number(span.start)) : span.start]
        behind = NEWLINE.split(self.text[span.end :], maxsplit=1)[0].strip(_BLANKS)
        return not before.strip(_BLANKS) and (not behind or behind.startswith("#"))

    def indentation(self, node: ast.AST) -> str:
        """Return the indentation of the line on which a node's statement begins."""
        return self.source.lines.indentation(self.source.lines.number(self.span(self.statement(node)).start))

    def fitted(self, node: ast.expr, text: str, value: ast.expr) -> tuple[str, str]:
        """Return an expression as it can stand in the place of another, and the reason why it cannot."""
        span = self.span(node)
        if isinstance(self.parents[node], ast.MatchValue) and not _is_pattern(value):
            return "", Reason.REPLACEMENT_UNREAD.of()
        if self.is_in_string(node):
            if shows_itself(self.source, node, self.parents):
                return "", Reason.SHOWS_ITSELF.of()
            text = self._requoted(node, span, text)
            if "\\" in text and not fits_in_string(self.source, node, self.parents, span, "\\"):
                return "", Reason.BACKSLASH_IN_F_STRING.of()
        around = statement_around(self.source, node, self.parents)
        fitting = in_brackets_where_needed(around, self.text, span, text)
        if fitting is None:
            return "", Reason.REPLACEMENT_UNREAD.of()
        if not fits_in_string(self.source, node, self.parents, span, fitting):
            return "", Reason.IN_F_STRING.of()
        if may_be_out_of_place(value) and not compiles_at(self.source, node, self.parents, span, f"({text})"):
            return "", Reason.OUT_OF_PLACE.of()
        return fitting, ""

    def _requoted(self, node: ast.expr, span: Span, text: str) -> str:
        """Return code whose strings have other quotes, where those of an f-string around do not let it stand."""
        if fits_in_string(self.source, node, self.parents, span, text):
            return text
        for quote in ("'", '"'):
            new = splice(text, [(each, _in_quotes(each.cut(text), quote)) for each in lex(text).strings])
            if fits_in_string(self.source, node, self.parents, span, new):
                return new
        return text

    def without(self, statement: ast.stmt) -> tuple[Span, str]:
        """Return the splice that takes a statement away, with the blank lines that only it needed."""
        span, lines = self.span(statement), self.source.lines
        suite = suite_of(statement, self.parents)
        if len(suite) == 1 and not isinstance(self.parents[statement], ast.Module):
            return span, "pass"
        number = suite.index(statement)
        if not self.is_alone(statement):
            if number + 1 < len(suite) and self._share_a_line(statement, suite[number + 1]):
                return Span(span.start, self.span(suite[number + 1]).start), ""
            return Span(self.span(suite[number - 1]).end if number else span.start, span.end), ""
        first, last = lines.number(span.start), lines.number(span.end)
        end = last + 1
        is_open = number == 0 or (first > 1 and not lines.cut(first - 1).strip())
        while is_open and end <= len(lines) and not lines.cut(end).strip() and lines.cut(end):
            end += 1
        start = lines.start(first)
        return Span(start, lines.start(end) if end <= len(lines) else len(self.text)), ""

    def _share_a_line(self, first: ast.stmt, second: ast.stmt) -> bool:
        return self.source.lines.number(self.span(first).end) == self.source.lines.number(self.span(second).start)


def parsed(text: str) -> ast.expr:
    """Return an expression of its text, which may have several lines."""
    return ast.parse(f"({text}\n)", mode="eval").body


def _in_quotes(literal: str, quote: str) -> str:
    """Return a string literal with other quotes, or as it is where these would give another value."""
    new = literal
    try:
        value = ast.literal_eval(literal)
        new = f"{quote}{value}{quote}" if isinstance(value, str) else literal
        return new if ast.literal_eval(new) == value else literal
    except (SyntaxError, ValueError):
        return literal


def _is_pattern(value: ast.expr) -> bool:
    """Return whether a pattern of an expression compares with `==`, as one of a dotted name does."""
    inner = value.operand if isinstance(value, ast.UnaryOp) else value
    return (
        isinstance(inner, ast.Constant)
        and isinstance(inner.value, (int, float, complex, str, bytes))
        and not (isinstance(inner.value, bool))
    )
