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
- an entry is recognised by its form: a sentence with a colon in a section is one only where a single name precedes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from bae_source.model.span import Span

What = Literal["parameter", "attribute"]
Style = Literal["google", "numpy", "sphinx"]

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
_GOOGLE = re.compile(r"\*{0,2}([^\W\d]\w*)[ \t]*(?:\(([^\r\n]*?)\))?:(?!\S)")
_NUMPY = re.compile(r"\*{0,2}[^\W\d]\w*(?:[ \t]*,[ \t]*\*{0,2}[^\W\d]\w*)*[ \t]*(?::(?:[ \t]([^\r\n]*))?)?\Z")
_SPHINX = re.compile(
    r"[:@](param|parameter|arg|argument|key|keyword|kwarg|type|ivar|cvar|var|vartype|attr)[ \t]+"
    r"(?:[^\r\n:]*[ \t])?\\?\*{0,2}([^\W\d]\w*)[ \t]*:[ \t]*([^\r\n]*)"
)
_NAME = re.compile(r"[^\W\d]\w*")
_OPENING = re.compile(r"[A-Za-z]{0,2}(\"\"\"|'''|\"|')")
_UNDERLINE = re.compile(r"\s*-{3,}\s*")

_Line = tuple[int, str]
"""Offset of a line in the text, and the line without its end."""


class Entry(Struct, frozen=True, kw_only=True):
    """One entry.

    Parameters:
        names: where it has the names that it documents.
        block: all of its lines, with the line end behind them if there is one.
        type: where it says a type; None where it says none.
        what: what it documents.
    """

    names: tuple[Span, ...]
    block: Span
    type: Span | None
    what: What


class Section(Struct, frozen=True, kw_only=True):
    """Entries that follow each other.

    Parameters:
        style: how they are written.
        header: the lines of the header; an empty span where there is none.
        entries: at least one.
    """

    style: Style
    header: Span
    entries: tuple[Entry, ...]


def entries(text: str, docstring: Span, word: str) -> Iterator[tuple[Span, What]]:
    """Yield where the entries of a docstring have a name, and what they document.

    Parameters:
        text: of the file.
        docstring: where the literal stands in it.
    """
    for section in sections(text, docstring):
        for entry in section.entries:
            yield from ((span, entry.what) for span in entry.names if span.cut(text) == word)


def sections(text: str, docstring: Span) -> Iterator[Section]:
    """Yield the runs of entries of a docstring.

    Parameters:
        text, docstring: as of `entries`.
    """
    opening = _OPENING.match(text, docstring.start, docstring.end)
    start = opening.end() if opening else docstring.start
    end = max(start, docstring.end - len(opening[1]) if opening else docstring.end)
    lines = [
        (match.start(), match[0])
        for match in _LINE.finditer(text, start, end)
        if match.start() == start or text[match.start() - 1] in "\r\n"
    ]
    yield from _fields(lines, end)
    yield from _in_sections(lines, end)


def _fields(lines: Sequence[_Line], end: int) -> Iterator[Section]:
    """Yield the fields of Sphinx and Epytext as one run."""
    found: list[Entry] = []
    for number, (at, line) in enumerate(lines):
        begins = _indent(line)
        field = _SPHINX.match(line, begins)
        if field:
            has_type = field[1] in ("type", "vartype") and field[3]
            found.append(
                Entry(
                    names=(Span(at + field.start(2), at + field.end(2)),),
                    block=_block(lines, number, len(lines), end),
                    type=Span(at + field.start(3), at + len(line.rstrip())) if has_type else None,
                    what="attribute" if field[1] in _ATTRIBUTE else "parameter",
                )
            )
    if found:
        yield Section(style="sphinx", header=Span(found[0].block.start, found[0].block.start), entries=tuple(found))


def _in_sections(lines: Sequence[_Line], end: int) -> Iterator[Section]:
    for number, (at, line) in enumerate(lines):
        header = line.strip()
        what = _SECTIONS.get(header.removesuffix(":").lower())
        if what is None:
            continue
        indent = _indent(line) if number else -1
        is_numpy = number + 1 < len(lines) and _UNDERLINE.fullmatch(lines[number + 1][1]) is not None
        if is_numpy:
            places = list(_numpy(lines, number + 2))
        elif header.endswith(":"):
            places = list(_google(lines, number + 1, indent))
        else:
            continue
        found: list[Entry] = []
        behind_each = [*(each[0] for each in places), len(lines)][1:]
        for (first, names, kind), behind in zip(places, behind_each, strict=True):
            found.append(Entry(names=names, block=_block(lines, first, behind, end), type=kind, what=what))
        if found:
            style: Style = "numpy" if is_numpy else "google"
            yield Section(style=style, header=Span(at, found[0].block.start), entries=tuple(found))


def _google(lines: Sequence[_Line], first: int, indent: int) -> Iterator[tuple[int, tuple[Span, ...], Span | None]]:
    """Yield the entries from a line on, below a header that is indented so far; -1 where it stands behind the quotes.

    Returns:
        Of each its line, its name, and its type.
    """
    deep: int | None = None
    for number, (at, line) in enumerate(lines[first:], first):
        own = _indent(line)
        if not line.strip():
            continue
        deep = own if deep is None else deep
        if own <= indent or own < deep:
            return
        match = _GOOGLE.match(line, own) if own == deep else None
        if match:
            kind = Span(at + match.start(2), at + match.end(2)) if match[2] else None
            yield number, (Span(at + match.start(1), at + match.end(1)),), kind


def _numpy(lines: Sequence[_Line], first: int) -> Iterator[tuple[int, tuple[Span, ...], Span | None]]:
    """Yield the entries from a line on, as `_google` does."""
    base: int | None = None
    for number, (at, line) in enumerate(lines[first:], first):
        own = _indent(line)
        if not line.strip():
            continue
        base = own if base is None else base
        if own < base or (number + 1 < len(lines) and re.fullmatch(r"\s*[-=]{3,}\s*", lines[number + 1][1])):
            return
        match = _NUMPY.match(line[own:].rstrip()) if own == base else None
        if match:
            names = line[own:].partition(":")[0]
            spans = tuple(Span(at + own + each.start(), at + own + each.end()) for each in _NAME.finditer(names))
            kind = Span(at + own + match.start(1), at + own + match.end(1)) if match[1] else None
            yield number, spans, kind


def _block(lines: Sequence[_Line], first: int, behind: int, end: int) -> Span:
    """Return the lines of an entry with the line end behind them: those that are indented deeper than its first.

    Parameters:
        behind: a line that is none of it, such as the next entry's.
    """
    own, last = _indent(lines[first][1]), first + 1
    for number in range(first + 1, behind):
        line = lines[number][1]
        if line.strip() and _indent(line) <= own:
            break
        if line.strip():
            last = number + 1
    return Span(lines[first][0], lines[last][0] if last < len(lines) else end)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
