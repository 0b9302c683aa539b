"""Places of the code in f-strings, which parsers before Python 3.12 do not know.

    f"{a} {b!r:>{width}}"        the nodes of a, b and width get the lines and columns where they stand

Invariants:
- a literal whose fields are not found one by one keeps the places that the parser gave it.
"""

from __future__ import annotations

import ast

from bae_source.model.span import Span
from bae_source.syntax.names.fields import fields_in
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.text.source import Source


def place_fields(source: Source, text: ast.JoinedStr) -> bool:
    """Give the nodes in the fields of an f-string the places where they stand, and say whether that is done.

    Parameters:
        text: with a place of its own; adjacent literals are one.
    """
    lines = source.lines
    start = lines.offset(text.lineno, text.col_offset)
    literal = source.text[start : lines.offset(text.end_lineno or 0, text.end_col_offset or 0)]
    spans = [Span(each.start + start, each.end + start) for each in fields_in(literal)]
    values = _values(text)
    if len(spans) != len(values):
        return False
    placed = [_parsed(source, span) for span in spans]
    pairs = [
        (old, new)
        for value, parsed in zip(values, placed, strict=True)
        for old, new in zip(ast.walk(value), ast.walk(parsed) if parsed is not None else (), strict=False)
    ]
    if any(parsed is None or ast.dump(value) != ast.dump(parsed) for value, parsed in zip(values, placed, strict=True)):
        return False
    for old, new in pairs:
        ast.copy_location(old, new)
    inner = [each for value in values for each in _outermost(value)]
    return all(place_fields(source, each) for each in inner)


def _values(text: ast.JoinedStr) -> list[ast.expr]:
    """Return the expressions in the fields of a literal, each before those in its format specifier."""
    found: list[ast.expr] = []
    for each in text.values:
        if isinstance(each, ast.FormattedValue):
            found.append(each.value)
            found += _values(each.format_spec) if isinstance(each.format_spec, ast.JoinedStr) else []
    return found


def _outermost(node: ast.AST) -> list[ast.JoinedStr]:
    """Return the f-strings in an expression that stand in no other of it."""
    if isinstance(node, ast.JoinedStr):
        return [node]
    return [found for child in ast.iter_child_nodes(node) for found in _outermost(child)]


def _parsed(source: Source, span: Span) -> ast.expr | None:
    """Return the expression at a span, whose nodes have the places that they have in the file."""
    number = source.lines.number(span.start)
    column = len(source.text[source.lines.start(number) : span.start].encode())
    above = "\n" * (number - 1)
    try:
        tree = parse_module(f"({above}{' ' * (column - (not above))}{span.cut(source.text)}\n)")
    except (SyntaxError, ValueError):
        return None
    only = tree.body[0] if len(tree.body) == 1 else None
    return only.value if isinstance(only, ast.Expr) else None
