"""One more name in a `from … import …` that is there.

    from other import a              from other import a, b
    from other import (              each name keeps its line, its comma and its comment
        a,  # why
    )

Invariants:
- what the statement holds already keeps every byte, but where its line would become too long for it: then each name
  gets a line of its own, between brackets.
"""

from __future__ import annotations

import ast
import re

from bae_source.model.span import Span
from bae_source.syntax.importing.wanted import alias_source
from bae_source.syntax.outline.ast_walk import span_of
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.text.items import Items, items_of, place_of, put_in
from bae_source.syntax.text.revision import Splices
from bae_source.syntax.text.source import Lines

_OPENING = re.compile(r"\bimport\b(?:[ \t\f]|\\(?:\r\n|\n|\r))*(\(?)")
_WIDE = 88


def merged(text: str, span: Span, alias: ast.alias, *, newline: str, unit: str) -> Splices | None:
    """Return the splices that put a name into a statement; None where it is better imported by another one.

    Parameters:
        span: the statement, a `from … import …`.
        unit: by what a line between brackets is indented.
    """
    items = imported_items(text, span)
    if items is None:
        return None
    shown, at = alias_source(alias), place_of(items.keys, alias.name)
    if items.bracketed or not _too_wide(text, span, shown):
        return put_in(text, items, shown, at, newline)
    lines = Lines(text)
    start, end = lines.start(lines.number(span.start)), lines.end(lines.number(span.end - 1))
    if text[start : span.start].strip() or text[span.end : end].strip() or "\\" in span.cut(text):
        return None
    names = [each.cut(text) for each in items.spans]
    indent = text[start : span.start]
    rows = "".join(f"{indent}{unit}{name},{newline}" for name in [*names[:at], shown, *names[at:]])
    return [(items.inside, f"({newline}{rows}{indent})")]


def imported_items(text: str, span: Span) -> Items | None:
    """Return the places of a statement's imported names; None for a star, and for an unusual form."""
    piece = span.cut(text)
    try:
        (node,) = parse_module(piece).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    opening = _OPENING.search(piece)
    if not isinstance(node, ast.ImportFrom) or opening is None or node.names[0].name == "*":
        return None
    lines = Lines(piece)
    inner = [span_of(lines, each) for each in node.names]
    spans = [Span(span.start + each.start, span.start + each.end) for each in inner]
    inside = Span(spans[0].start, spans[-1].end)
    if opening[1]:
        inside = Span(span.start + opening.end(), span.end - 1)
    return items_of(text, spans, [each.name for each in node.names], inside, bracketed=bool(opening[1]))


def _too_wide(text: str, span: Span, shown: str) -> bool:
    lines = Lines(text)
    return len(lines.cut(lines.number(span.end - 1)).rstrip("\r\n")) + len(shown) + 2 > _WIDE
