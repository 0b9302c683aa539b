"""The strings and comments of some code, told by its text, where that is certain.

    x = f("a", 'b')  # so        x = f(  "a"  ,   'b'  )   # so

Invariants:
- if the code parses, each literal that is given is one of its strings, or of its comments, and there are no others.
"""

from __future__ import annotations

import re

_QUOTED = r'"""(?>(?:[^"\\]++|\\.|"(?!""))*)"""|"(?>(?:[^"\\\n]++|\\.)*)"'
_LITERAL = re.compile(rf"\#[^\n]*|{_QUOTED}|" + _QUOTED.replace('"', "'"), re.DOTALL)
_BEGINNING = re.compile(r"[\s(\\]*[rRbBuUfFtT]{0,2}[\"']")
_FORMATTED = frozenset("fFtT")


def _with_fields(piece: str) -> re.Pattern[str]:
    """Return what is inside of a formatted string whose fields are made of pieces, and perhaps one field more each."""
    return re.compile(rf"(?>(?:[^{{}}]++|\{{\{{|\}}\}}|\{{(?>(?:{piece}|\{{(?>{piece}*)\}})*)\}})*)")


_PLAIN = r"""[^{}#\\"']"""
_PLAIN_FIELDS = _with_fields(_PLAIN)
_CLOSED_FIELDS = _with_fields(rf"""(?:{_PLAIN}|'{_PLAIN}*+'|"{_PLAIN}*+")""")


def literals_of(code: str) -> list[tuple[str, str]] | None:
    """Return each literal behind the code that stands before it; None where it is not certain what they are.

    Parameters:
        code: whole lines, the first of which begins outside of any string, with blanks before it.

    Returns:
        Pairs that make up the code together. A literal is a comment without its line end, or a string without what
        stands before its quotes; that of the last pair is empty.
    """
    found: list[tuple[str, str]] = []
    done = 0
    for literal in _LITERAL.finditer(code):
        start = literal.start()
        if code[start] != "#" and _may_have_fields(code, start) and not _has_plain_fields(literal[0]):
            return None
        found.append((code[done:start], literal[0]))
        done = literal.end()
    found.append((code[done:], ""))
    if any('"' in before or "'" in before for before, _ in found):
        return None  # from Python 3.12 on, a field may go on in the next line
    return found


def begins_literal(code: str) -> bool:
    """Say whether some code begins like a string, whether it ends or not."""
    return _BEGINNING.match(code) is not None


def is_closed(inner: str) -> bool:
    """Say whether every field of a formatted string surely ends before what seems to be the end of the string.

    From Python 3.12 on, those may else be quotes, or in a comment, in a field.
    """
    return _CLOSED_FIELDS.fullmatch(inner) is not None


def _may_have_fields(code: str, start: int) -> bool:
    """Say whether a string that begins there is formatted."""
    return code[start - 1] in _FORMATTED or (code[start - 1] in "rR" and code[start - 2] in _FORMATTED)


def _has_plain_fields(literal: str) -> bool:
    """Say whether the fields of a formatted string surely hold neither strings nor loops."""
    inner = literal.strip(literal[0])
    if "{" not in inner:
        return True
    return "for" not in inner and _PLAIN_FIELDS.fullmatch(inner) is not None
