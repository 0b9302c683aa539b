"""Entries of a docstring that document a parameter or an attribute, in the three ways in which they are written.

    Args:                    Google: the entries are indented deeper than their section's header
        item: Text.
        *rest (int): Text.
    Parameters               NumPy: a line of dashes, then entries that are not indented
    ----------
    item, other : int
        Text.
    :param int item: text    Sphinx, and `@param` of Epytext
    :type item: int

Invariants:
- an entry is told by its form alone: a sentence with a colon in a section is one only where a single name stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from bae_source.model.span import Span

What = Literal["parameter", "attribute"]

_SECTIONS: dict[str, What] = {
    **dict.fromkeys(
        ("args", "arguments", "parameters", "params", "other parameters", "keyword args", "keyword arguments",
         "other args", "keyword parameters"),
        "parameter",
    ),
    **dict.fromkeys(("attributes", "attrs", "variables", "class attributes", "fields"), "attribute"),
}  # fmt: skip
_ATTRIBUTE = frozenset({"ivar", "cvar", "var", "vartype", "attr"})
_LINE = re.compile(r"[^\r\n]*")
_GOOGLE = re.compile(r"(\*{0,2})([^\W\d]\w*)[ \t]*(?:\([^\r\n]*?\))?:(?!\S)")
_NUMPY = re.compile(r"\*{0,2}[^\W\d]\w*(?:[ \t]*,[ \t]*\*{0,2}[^\W\d]\w*)*[ \t]*(?::(?:[ \t][^\r\n]*)?)?\Z")
_SPHINX = re.compile(
    r"[:@](param|parameter|arg|argument|key|keyword|kwarg|type|ivar|cvar|var|vartype|attr)[ \t]+"
    r"(?:[^\r\n:]*[ \t])?\\?\*{0,2}([^\W\d]\w*)[ \t]*:"
)
_NAME = re.compile(r"[^\W\d]\w*")
_OPENING = re.compile(r"[A-Za-z]{0,2}(?:\"\"\"|'''|\"|')")


def entries(text: str, docstring: Span, word: str) -> Iterator[tuple[Span, What]]:
    """Yield where the entries of a docstring have a name, and what they document.

    Parameters:
        text: of the file.
        docstring: where the literal stands in it.
    """
    opening = _OPENING.match(text, docstring.start, docstring.end)
    start = opening.end() if opening else docstring.start
    lines = [
        (match.start(), match[0])
        for match in _LINE.finditer(text, start, docstring.end)
        if match.start() in (start, docstring.end) or text[match.start() - 1] in "\r\n"
    ]
    for at, line in lines:
        begins = len(line) - len(line.lstrip())
        field = _SPHINX.match(line, begins)
        if field and field[2] == word:
            yield Span(at + field.start(2), at + field.end(2)), _what(field[1])
    yield from _in_sections(lines, word)


def _what(field: str) -> What:
    return "attribute" if field in _ATTRIBUTE else "parameter"


def _in_sections(lines: list[tuple[int, str]], word: str) -> Iterator[tuple[Span, What]]:
    for number, (_, line) in enumerate(lines):
        header = line.strip()
        what = _SECTIONS.get(header.removesuffix(":").lower())
        if what is None:
            continue
        indent = len(line) - len(line.lstrip()) if number else -1
        rest = lines[number + 1 :]
        if rest and re.fullmatch(r"\s*-{3,}\s*", rest[0][1]):
            yield from ((span, what) for span in _numpy(rest[1:], word))
        elif header.endswith(":"):
            yield from ((span, what) for span in _google(rest, indent, word))


def _google(lines: list[tuple[int, str]], indent: int, word: str) -> Iterator[Span]:
    """Yield the entries below a header that is indented so far; -1 where it stands behind the quotes."""
    deep: int | None = None
    for at, line in lines:
        own = len(line) - len(line.lstrip())
        if not line.strip():
            continue
        deep = own if deep is None else deep
        if own <= indent or own < deep:
            return
        match = _GOOGLE.match(line, own) if own == deep else None
        if match and match[2] == word:
            yield Span(at + match.start(2), at + match.end(2))


def _numpy(lines: list[tuple[int, str]], word: str) -> Iterator[Span]:
    base: int | None = None
    for number, (at, line) in enumerate(lines):
        own = len(line) - len(line.lstrip())
        if not line.strip():
            continue
        base = own if base is None else base
        if own < base or (number + 1 < len(lines) and re.fullmatch(r"\s*[-=]{3,}\s*", lines[number + 1][1])):
            return
        if own == base and _NUMPY.match(line[own:].rstrip()):
            names = line[own:].partition(":")[0]
            found = (match for match in _NAME.finditer(names) if match[0] == word)
            yield from (Span(at + own + match.start(), at + own + match.end()) for match in found)
