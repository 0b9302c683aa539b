"""What the text around a class's name says is done with it, told without parsing: assigned, returned, given to `type`.

    Alias = Base                       set
    return Base                        set
    D = type("D", (Base,), {})         set, and the second argument
    KINDS = (                          set
        made(Other),
        Base,
    )
    Base()                             neither

Invariants:
- nothing that is set is overlooked; more may be said to be, and is looked at more closely then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_SETS = rb"=|\breturn\b|[\"'][ \t]*,\s*\(|\b[Tt]ype(?=\[)|\b(?:%b)\s*\("
"""What stands in a statement before a name that is assigned, returned, given to what makes classes or behind the name
of a class that is to be made, or annotated as the class itself."""
_GOES_ON = re.compile(rb"(?:[,(\[{\\=+*/|&%@-]|\b(?:and|or|not|if|else|in|is|return))\s*(?:#[^\n]*)?\Z")
"""The end of a line behind which its statement goes on."""
_IS_NONE = re.compile(rb"\s*(?:#[^\n]*)?\Z")
_GOES_ON_HERE = re.compile(
    rb"[ \t]*(?:[)\]}|+&.]|(?:and|or|in|is)\b|else\b(?!\s*:)|(?:for|if|async)\b(?![^\n]*:\s*(?:#[^\n]*)?(?:\n|\Z)))"
)
"""The beginning of a line with which the statement above it goes on."""
_MOST_LINES = 200
"""Lines of a statement that are looked through; a longer one is taken to set what stands in it."""
_GIVEN = re.compile(r"(\w+)[^,=()]*=[ \t]*[\w.]*$")
_RETURNS = re.compile(rb"\s*return\b")
_SIGNS = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|[()\[\]{},]|\b(\w+)[ \t]*=(?!=)", re.DOTALL)
"""What tells arguments of a call apart, and what may look like that: strings and comments."""
_IS_CALL = re.compile(rb"[\w\x80-\xff]+\s*\(")

Argument = int | str
"""Which argument of a call: its number, or its keyword."""


def setting(functions: Iterable[str]) -> re.Pattern[bytes]:
    """Return what stands before a name that is set.

    Parameters:
        functions: those that set what they are given: they make classes of it.
    """
    return re.compile(_SETS % b"|".join(re.escape(name.encode()) for name in functions))


def is_set(content: bytes, place: int, sets: re.Pattern[bytes]) -> bool:
    """Say whether what stands at a place seems to be assigned, returned, or given to what makes classes."""
    line = content.rfind(b"\n", 0, place) + 1
    if sets.search(content, line, place):
        return True
    start = line
    for _ in range(_MOST_LINES):
        above = _line_above(content, start)
        if above is None or not (_GOES_ON.search(content, above, start) or _GOES_ON_HERE.match(content, start)):
            return start < line and sets.search(content, start, place) is not None
        start = above
    return True


def _line_above(content: bytes, start: int) -> int | None:
    """Return where the line of code above one begins; None where there is none."""
    while start:
        end, start = start, content.rfind(b"\n", 0, start - 1) + 1
        if not _IS_NONE.match(content, start, end):
            return start
    return None


def argument_in(text: bytes) -> Argument | None:
    """Return which argument of a call is behind a text; None where the call has ended, or is none.

    Parameters:
        text: from the name of what is called on.
    """
    if not _IS_CALL.match(text):
        return None
    depth, number, keyword = 0, 0, ""
    for match in _SIGNS.finditer(text):
        sign = match[0]
        if match[1]:
            keyword = match[1].decode("utf-8", "replace") if depth == 1 else keyword
        elif sign in (b"(", b"[", b"{"):
            depth += 1
        elif sign == b"," and depth == 1:
            number, keyword = number + 1, ""
        elif sign in (b")", b"]", b"}"):
            depth -= 1
            if not depth:
                return None
    return (keyword or number) if depth else None


def is_returned(line: bytes) -> bool:
    """Say whether a line begins a `return` statement."""
    return _RETURNS.match(line) is not None


def parameter_given(text: bytes) -> str:
    """Return the name that what follows a text would be the default of, if it is a parameter's; else nothing.

    Parameters:
        text: of the line, up to the class's name.
    """
    match = _GIVEN.search(text.decode("utf-8", "replace"))
    return match[1] if match else ""
