"""Entries of docstrings, by their form alone."""

from __future__ import annotations

import pytest

from bae_source.model.span import Span
from bae_source.syntax.outline.docstring_entries import entries


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ('"""Args:\n    x: It.\n    y (int): x: no.\n"""', ["parameter"]),
        ('"""Text.\n\n    Arguments:\n      *x (list of str, optional): It.\n"""', ["parameter"]),
        ('"""Text.\r\n\r\nKeyword Args:\r\n    x:\r\n        It.\r\n"""', ["parameter"]),
        ('"""Text.\n\nArgs:\nx: not indented\n"""', []),
        ('"""Args:\n    x is not one.\n    see x: not one.\n"""', []),
        ('"""Args:\n    y: It.\nNote:\n    x: not one.\n"""', []),
        ('"""Parameters\n----------\ny, x\n    It.\n\nReturns\n-------\nx\n"""', ["parameter"]),
        ('"""Attributes\n----------\nx : {a, b}\n"""', ["attribute"]),
        ('"""\n:param  int  x: it\n:type x: int\n:ivar x: it\n:raises x: no\n@param x: it\n"""',
         ["parameter", "parameter", "attribute", "parameter"]),
        ('r"""\n:param \\*x: it\n"""', ["parameter"]),
        ('"x"', []),
        ('""', []),
        ('"""Args:"""', []),
    ],
)  # fmt: skip
def test_an_entry_is_found_by_its_form(docstring: str, expected: list[str]) -> None:
    text = f"def f(x): {docstring}; x"
    span = Span(10, 10 + len(docstring))
    found = list(entries(text, span, "x"))
    assert [text[each.start : each.end] for each, _ in found] == ["x"] * len(expected)
    assert [what for _, what in found] == expected
    assert all(10 < each.start < span.end for each, _ in found)
