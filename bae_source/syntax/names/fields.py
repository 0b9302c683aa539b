"""f-strings whose fields hold what the running Python does not let them have, as the expressions in their fields.

    f"{row["name"]!r:>{width}} of"     (  row["name"],     width,     )
    f"{a}" "b"                         (  a,)  (  )           what follows is called, since it cannot be joined

Invariants:
- the answer has the length and the line ends of the text, and each expression stands where it stood.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator

from bae_source.model.span import Span
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.text.lexer import LineKind, end_of_string, lex

_OPENING = re.compile(r"([A-Za-z]{0,2})(\"\"\"|'''|\"|')")
_STOP = re.compile(r"""[#'"()\[\]{}:!=]""")
_DEBUG = re.compile(r"\s*[}!:]")
_BETWEEN = re.compile(r"(?:\s|\\|#[^\n]*)*")
_TEMPLATES_SINCE = (3, 14)
_MOST_NESTED = 5


def converted(text: str) -> str:
    """Return a text with such f-strings as tuples of their expressions."""
    for _ in range(_MOST_NESTED):
        before = text
        text = _converted_once(text)
        if text == before:
            break
    return text


def fields_in(text: str) -> list[Span]:
    """Return the expressions in the fields of f-strings; those of a format specifier stand behind its own one."""
    return [field for string in lex(text).strings for field in _of_literal(text, string)]


def no_code_in(text: str) -> Iterator[Span]:
    """Yield what is no code: comments and strings; of an f-string what stands outside the code in its fields."""
    lexed = lex(text)
    yield from lexed.comments
    for string in lexed.strings:
        position = string.start
        for field in sorted(_of_literal(text, string)):
            yield Span(position, field.start)
            for inner in no_code_in(field.cut(text)):
                yield Span(inner.start + field.start, inner.end + field.start)
            position = field.end
        yield Span(position, string.end)


def _of_literal(text: str, string: Span) -> list[Span]:
    """Return the expressions in the fields of a literal; nothing for one that has no fields."""
    match = _OPENING.match(text, string.start)
    if match is None or set("ft").isdisjoint(match[1].lower()):
        return []
    return list(_fields(text, string, match))


def _converted_once(text: str) -> str:
    lexed = lex(text)
    characters = list(text)
    behind = 0
    for string in lexed.strings:
        match = _OPENING.match(text, string.start)
        if match is None:
            continue
        is_next = bool(behind) and _BETWEEN.fullmatch(text, behind, string.start) is not None
        number = _line(lexed.starts, string.start)
        follows = is_next and (lexed.kinds[number] is not LineKind.LOGICAL or lexed.starts[number] < behind)
        if not follows and not _is_newer(text, string, match[1].lower()):
            continue
        fields = list(_fields(text, string, match)) if set("ft") & set(match[1].lower()) else []
        for at in range(string.start, string.end):
            characters[at] = text[at] if text[at] == "\n" else " "
        characters[string.start], characters[string.end - 1] = "(", ")"
        for field in fields:
            characters[field.start : field.end] = text[field.start : field.end]
            characters[field.end] = ","
        behind = string.end
    return "".join(characters)


def _line(starts: tuple[int, ...], offset: int) -> int:
    return bisect_right(starts, offset) - 1


def _is_newer(text: str, string: Span, prefix: str) -> bool:
    if "t" in prefix:
        return sys.version_info[:2] < _TEMPLATES_SINCE
    if "f" not in prefix:
        return False
    try:
        parse_module(f"({string.cut(text)})")
    except SyntaxError:
        return True
    return False


def _fields(text: str, string: Span, opening: re.Match[str]) -> Iterator[Span]:
    """Yield the expressions in the fields of a literal, also those in their format specifiers."""
    position, end = opening.end(), string.end - len(opening[2])
    is_raw = "r" in opening[1].lower()
    while position < end:
        if not is_raw and text.startswith("\\N{", position):
            position = text.find("}", position) + 1 or end
        elif text.startswith("{{", position) or (text[position] == "\\" and not is_raw):
            position += 2 if text[position] == "{" or text[position + 1 : position + 2] not in "{}" else 1
        elif text[position] == "{":
            spans, position = _field(text, position + 1, end)
            yield from spans
        else:
            position += 1


def _field(text: str, start: int, end: int) -> tuple[list[Span], int]:
    """Return the expressions in a field that begins behind its brace, and where it ends."""
    stop = _end_of_expression(text, start, end)
    found = [Span(start, stop)]
    position = stop
    while position < end and text[position] != "}":
        if text[position] == "{":
            spans, position = _field(text, position + 1, end)
            found += spans
        else:
            position += 1
    return found, position + 1


def _end_of_expression(text: str, start: int, end: int) -> int:
    nesting, position = 0, start
    while match := _STOP.search(text, position, end):
        char, position = match[0], match.end()
        if char in "([{":
            nesting += 1
        elif char in ")]}":
            if nesting == 0:
                return match.start()
            nesting -= 1
        elif char == "#":
            newline = text.find("\n", position, end)
            position = newline if newline >= 0 else end
        elif char in "'\"":
            position = end_of_string(text, match.start())
        elif text[match.start() : match.start() + 2] in ("==", "!="):
            position += 1
        elif nesting == 0 and (char in ":!" or _DEBUG.match(text, position)):
            return match.start()
    return end
