"""Move code to another indentation, token by token, without touching what a string holds.

Invariants:
- where neither the indentation nor its unit changes, nothing changes;
- the inside a string never moves, except a docstring's, and that only by the rule of `_movable_docstrings`; the
  string below an attribute is none to Python, and does not move;
- lines of white space alone never move; continuation lines keep their place relative to their statement.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import Definition, Outline, width
from bae_source.syntax.text.lexer import LineKind, lex

_SPACE = re.compile(r"[ \t\f]*")


class Shift(Struct, frozen=True, kw_only=True):
    """The change of an indentation.

    Parameters:
        old: the text that indents the first statement now.
        new: the text that shall indent it.
        old_unit: by what a suite is indented now; None where the unit stays as it is.
        new_unit: by what a suite shall be indented; None where the unit stays as it is.
    """

    old: str
    new: str
    old_unit: str | None = None
    new_unit: str | None = None

    @property
    def idle(self) -> bool:
        """Return whether nothing changes."""
        return self.old == self.new and not self.rescaled

    @property
    def rescaled(self) -> bool:
        """Return whether the unit changes, so that every level has to be measured anew."""
        return self.old_unit is not None and self.new_unit is not None and self.old_unit != self.new_unit


def reindent(
    text: str, span: Span, outline: Outline, shift: Shift, kept: Mapping[int, str] | None = None
) -> list[tuple[Span, str]]:
    """Return the splices that move the lines of `span` to another indentation.

    Parameters:
        text: valid source, wherever it is indented.
        span: whole lines of it.
        outline: the outline of `text`, for its docstrings.
        kept: docstrings that stand as given here instead of moving, by the offset that they start at.
    """
    kept = kept or {}
    splices = [
        (definition.docstring, kept[definition.docstring.start])
        for definition in outline.definitions
        if definition.docstring and definition.docstring.start in kept and span.contains(definition.docstring)
    ]
    if shift.idle:
        return splices
    return splices + _Mover(text, span, outline, shift, kept).splices()


class _Docstring(Struct, frozen=True):
    """A docstring whose lines move: the definition that it belongs to, and what its lines start with."""

    definition: Definition
    indents: tuple[str, ...]


class _Mover:
    """A walk of the lines of a span that knows the old and the new indentation of the statement around.

    Only the span is scanned: it begins at a line's start, outside strings and brackets. All offsets in here count from
    its start.
    """

    def __init__(self, text: str, span: Span, outline: Outline, shift: Shift, kept: Mapping[int, str]) -> None:
        self.text = span.cut(text)
        self.base = span.start
        self.shift = shift
        self.lexed = lex(self.text)
        self.levels: list[tuple[str, str]] = [(shift.old, shift.new)]
        self.statement = (shift.old, shift.new)
        self.statements: dict[int, tuple[str, str]] = {}  # by the offset of the line that the statement begins on
        self.docstrings = self._movable_docstrings(outline, span, kept)

    def splices(self) -> list[tuple[Span, str]]:
        # Shift(old="  ", new="    ", old_unit="  ", new_unit="    ")
        #   def f(self):             LOGICAL: levels [("  ", "    ")]
        #     """Send.               LOGICAL: levels + ("    ", "        "), which is now the statement
        #     Twice."""              STRING of a docstring whose lines all stand in its suite: alongside the statement
        #     # why                  COMMENT: lines up with the statement below, so it goes with that
        #     x = g(1,               LOGICAL: "        "
        #           2)               CONTINUATION: six columns to the right of its statement, as before
        result: list[tuple[Span, str]] = []
        for line, (start, kind) in enumerate(zip(self.lexed.starts, self.lexed.kinds, strict=True)):
            old = self._indent_of(line)
            if old is None:
                continue
            new = self._moved(line, kind, old)
            if new != old:
                end = self.base + start + len(_space(self.text, start))
                result.append((Span(end - len(old), end), new))
        return result

    def _moved(self, line: int, kind: LineKind, old: str) -> str:
        if kind is LineKind.LOGICAL:
            self.statement = self.statements[self.lexed.starts[line]] = (old, self._logical(old))
            return self.statement[1]
        if kind is LineKind.COMMENT:
            return self._comment(line, old)
        if kind is LineKind.STRING:
            docstring = self.docstrings.get(line)
            return self._inside(docstring, old) if docstring else old
        return _alongside(old, *self.statement)

    def _logical(self, old: str) -> str:
        if not self.shift.rescaled:
            return _alongside(old, self.shift.old, self.shift.new)
        while len(self.levels) > 1 and width(self.levels[-1][0]) > width(old):
            self.levels.pop()
        if width(self.levels[-1][0]) < width(old):
            self.levels.append((old, self.levels[-1][1] + (self.shift.new_unit or "")))
        return self.levels[-1][1]

    def _comment(self, line: int, old: str) -> str:
        """Move a comment with the statement below it where they line up, else with the suite that it stands in."""
        if not self.shift.rescaled:
            return _alongside(old, self.shift.old, self.shift.new)
        below = next(
            (n for n in range(line + 1, len(self.lexed.kinds)) if self.lexed.kinds[n] is LineKind.LOGICAL), None
        )
        if below is not None and self._indent_of(below) == old:
            return self._logical(old)
        level = next((pair for pair in reversed(self.levels) if width(pair[0]) <= width(old)), self.levels[0])
        return _alongside(old, *level)

    def _inside(self, docstring: _Docstring, old: str) -> str:
        """Move a docstring's line with its suite if all its lines stand in it, else with its definition."""
        if all(indent.startswith(self.statement[0]) for indent in docstring.indents):
            return _alongside(old, *self.statement)
        keyword = self.lexed.starts[self._line_of(docstring.definition.keyword) - 1]
        return _alongside(old, *self.statements.get(keyword, (old, old)))

    def _line_of(self, offset: int) -> int:
        """Return the number of the line, from 1, that an offset of the whole text is on."""
        return bisect_right(self.lexed.starts, offset - self.base)

    def _movable_docstrings(self, outline: Outline, inside: Span, kept: Mapping[int, str]) -> dict[int, _Docstring]:
        """Return the lines inside docstrings that may move.

        A docstring moves only if every line of it that is not blank starts with its definition's indentation, none
        mixes tabs and spaces, and none follows a backslash at a line's end.
        """
        movable: dict[int, _Docstring] = {}
        for definition in outline.definitions:
            span = definition.docstring
            if span is None or definition.body is None or not inside.contains(span) or span.start in kept:
                continue
            lines = range(self._line_of(span.start), self._line_of(span.end - 1))
            indents = tuple(indent for line in lines if (indent := self._indent_of(line)) is not None)
            if all(indent.startswith(definition.indent) and not _mixed(indent) for indent in indents) and not any(
                self._behind_backslash(line) for line in lines
            ):
                movable.update(dict.fromkeys(lines, _Docstring(definition, indents)))
        return movable

    def _indent_of(self, line: int) -> str | None:
        """Return the white space that a line starts with, after its last form feed; None if there is nothing else."""
        start = self.lexed.starts[line]
        space = _space(self.text, start)
        rest = self.text[start + len(space) : start + len(space) + 1]
        return None if rest in ("", "\r", "\n") else space.rpartition("\f")[2]

    def _behind_backslash(self, line: int) -> bool:
        start = self.lexed.starts[line]
        return self.text[max(0, start - 3) : start].rstrip("\r\n").endswith("\\")


def _space(text: str, start: int) -> str:
    match = _SPACE.match(text, start)
    return match[0] if match else ""


def _mixed(indent: str) -> bool:
    return " " in indent and "\t" in indent


def _alongside(indent: str, old: str, new: str) -> str:
    """Return `indent` moved as far as what was indented by `old` and is now by `new`."""
    if indent.startswith(old):
        return new + indent[len(old) :]
    if new.startswith(old):
        return new[len(old) :] + indent
    if old.startswith(new) and indent.startswith(old[len(new) :]):
        return indent[len(old) - len(new) :]
    return " " * max(0, width(indent) + width(new) - width(old))
