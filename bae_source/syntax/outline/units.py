"""A module cut into units, each of which changes as one: symbols, headers of classes, and other statements.

    import a                    a statement
                                blank lines belong to what follows
    class A(Base):              a header, with its docstring
        def f(self): ...        a symbol, with all that is in it

Invariant: the units of a text, one after the other, are the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE, Definition, Kind, width
from bae_source.syntax.outline.listed_names import head_of
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.lexer import Lexed, LineKind, end_of_header, end_of_line, lex
from bae_source.syntax.text.source import NEWLINE, newline_kinds

_IMPORT = re.compile(r"[ \t\f]*(?:from|import)\b")
_LEADING = re.compile(r"[ \t\f]*")
_ANNOTATION = re.compile(r"(['\"])[\w.\[\]]+(?: ?[|,] ?[\w.\[\]]+)*\1")


class Unit(Struct, frozen=True, kw_only=True):
    """One unit.

    Parameters:
        name: its qualname; "" for a statement that defines nothing, and behind the last unit for what ends the text.
        text: what it says, without the last line end, line ends alike where the file's are.
        raw: the same as it stands, last line end included.
        space: the blank lines above.
        start, end: where space and raw stand.
        uniform: whether its file has one kind of line end.
        head: what tells a list of names from others: a `from … import`, an `__all__`; "" for all else.
    """

    name: str
    text: str
    raw: str
    space: str
    start: int
    end: int
    uniform: bool
    head: str = ""

    @property
    def is_import(self) -> bool:
        """True for an import statement."""
        return not self.name and _IMPORT.match(self.text) is not None


def units_of(tree: Tree) -> list[Unit]:
    """Return the units of a module, in order."""
    text = tree.text
    lexed, uniform = lex(text), len(newline_kinds(text)) <= 1
    units: list[Unit] = []
    begun = position = 0
    for span, name in _spans(tree):
        for piece, called in (
            *((each, "") for each in _statements(text, lexed, Span(position, span.start))),
            (span, name),
        ):
            begun = _add(units, text, begun, piece, called, uniform=uniform)
        position = span.end
    return units


def code_of(text: str) -> str:
    """Return a piece of code without its comments, and without strings that are prose."""
    lexed = lex(text)
    pieces, position = [], 0
    for span in sorted((*lexed.strings, *lexed.comments)):
        if span.start >= position:
            pieces.append(text[position : span.start])
            literal = span.cut(text)
            is_code = not literal.startswith("#") and (_ANNOTATION.fullmatch(literal) or literal[0] in "fFrRtT")
            pieces.append(literal if is_code else " ")
            position = span.end
    return "".join((*pieces, text[position:]))


def _add(units: list[Unit], text: str, begun: int, piece: Span, name: str, *, uniform: bool) -> int:
    """Add a unit, with the blank lines above it, and return where it ends."""
    raw = piece.cut(text)
    bare = NEWLINE.sub("\n", raw) if uniform else raw
    bare = bare.rstrip("\r\n") if bare.strip() else bare
    units.append(
        Unit(
            name=name,
            text=bare,
            raw=raw,
            space=text[begun : piece.start],
            start=begun,
            end=piece.end,
            uniform=uniform,
            head=head_of(bare),
        )
    )
    return piece.end


def _spans(tree: Tree) -> Iterator[tuple[Span, str]]:
    """Yield the spans of symbols and headers with their qualnames, in order, and the text's end."""
    outline, text = tree.outline, tree.text
    opened: set[int] = {MODULE}
    position = 0
    for index, definition in enumerate(outline.definitions):
        if definition.inline or definition.parent not in opened or definition.span.start < position:
            continue
        span = definition.span
        head = _end_of_head(definition, text) if definition.kind is Kind.CLASS else span.end
        if head < definition.end:
            opened.add(index)
            span = Span(span.start, head)
        yield span, ".".join(outline.qualname(index))
        position = span.end
    yield Span(len(text), len(text)), ""


def _end_of_head(definition: Definition, text: str) -> int:
    """Return where the header of a class ends; its docstring belongs to it."""
    if definition.docstring is not None:
        return end_of_line(text, definition.docstring.end)
    return end_of_line(text, end_of_header(text, definition.keyword))


def _statements(text: str, lexed: Lexed, gap: Span) -> Iterator[Span]:
    """Yield the statements between symbols; what is indented belongs to the statement above, but for imports."""
    if not gap.cut(text).strip():
        return
    first = bisect_left(lexed.starts, gap.start)
    last = bisect_left(lexed.starts, gap.end)
    start = end = gap.start
    column, begun = 0, False
    for number in range(first, last):
        at = lexed.starts[number]
        below = lexed.starts[number + 1] if number + 1 < len(lexed.starts) else len(text)
        kind = lexed.kinds[number]
        if kind is LineKind.BLANK:
            continue
        if kind in (LineKind.LOGICAL, LineKind.COMMENT):
            indent = width(_LEADING.match(text, at)[0])  # type: ignore[index]  # it may be empty
            if begun and (indent <= column or _IMPORT.match(text, at)):
                yield Span(start, end)
                begun = False
            if not begun:
                start, column, begun = at, indent, True
        end = min(below, gap.end)
    if begun:
        yield Span(start, end)
