"""The uses of a class's name by the text around it, without parsing: assigned, returned, given to `type`.

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
from collections.abc import Callable, Iterable

_SETS = rb"(?<![=!<>])=(?!=)|\breturn\b|[\"'][ \t]*,\s*\(|\b[Tt]ype(?=\[)|\b(?:%b)\s*\("
"""Text before a name that is assigned, returned, given to a call that makes classes or behind the name
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
_SPACE = re.compile(rb"[ \t]*")
_HEADER = re.compile(rb"[ \t]*(?:async[ \t]+)?(def|class)[ \t]+([\w\x80-\xff]+)")
_LINE = re.compile(rb"^([ \t]*)(?=[^\s#])(?:(?:async[ \t]+)?(?:def[ \t]+([\w\x80-\xff]+))?)", re.MULTILINE)
"""The beginning of a line of code, with the name of the function that it begins."""
_GIVEN = re.compile(r"(\w+)[^,=()]*=[ \t]*[\w.]*$")
_SIGNS = re.compile(
    rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|(?P<called>[\w\x80-\xff]++)\s*\(|[()\[\]{},]"
    rb"|(?<!\w)(?P<keyword>[\w\x80-\xff]++)[ \t]*=(?!=)",
    re.DOTALL,
)
"""Separators of a call's arguments, and the strings and comments that may contain the same characters."""

Argument = int | str
"""One argument of a call: its number, or its keyword."""


def setting(functions: Iterable[str]) -> re.Pattern[bytes]:
    """Return what stands before a name that is set.

    Parameters:
        functions: those that set what they are given: they make classes of it.
    """
    return re.compile(_SETS % b"|".join(re.escape(name.encode()) for name in functions))


def setting_at(content: bytes, place: int, sets: re.Pattern[bytes]) -> int | None:
    """Return where the text begins that seems to assign or return a place, or to give it to what makes classes.

    None where nothing does.
    """
    line = content.rfind(b"\n", 0, place) + 1
    if sets.search(content, line, place):
        return line
    start = line
    for _ in range(_MOST_LINES):
        above = _line_above(content, start)
        if above is None or not (_GOES_ON.search(content, above, start) or _GOES_ON_HERE.match(content, start)):
            return start if start < line and sets.search(content, start, place) else None
        start = above
    return start


def around(content: bytes, start: int) -> tuple[bytes, bytes, int]:
    """Return what the line at a place is in, by indentation: `def` or `class`, its name, and where its line begins.

    The first is empty in a module's own code.
    """
    indentation = _indentation(content, start)
    while indentation:
        above = _line_above(content, start)
        if above is None:
            break
        start = above
        if _indentation(content, start) < indentation:
            indentation = _indentation(content, start)
            if header := _HEADER.match(content, start):
                return header[1], header[2], start
    return b"", b"", start


def functions_around(content: bytes, starts: Iterable[int]) -> set[bytes]:
    """Return the names of the functions that some lines are in, by indentation.

    Parameters:
        starts: where the lines begin.
    """
    found: set[bytes] = set()
    stack: list[tuple[int, bytes | None]] = []
    waiting = sorted(starts, reverse=True)
    for line in _LINE.finditer(content):
        if not waiting:
            break
        indentation = line.end(1) - line.start()
        while stack and stack[-1][0] >= indentation:
            stack.pop()
        if line.start() >= waiting[-1]:
            found.update(name for _, name in stack if name)
            while waiting and waiting[-1] <= line.start():
                waiting.pop()
        stack.append((indentation, line[2]))
    return found


def _indentation(content: bytes, start: int) -> int:
    match = _SPACE.match(content, start)
    return match.end() - start if match else 0


def _line_above(content: bytes, start: int) -> int | None:
    """Return where the line of code above one begins; None where there is none."""
    while start:
        end, start = start, content.rfind(b"\n", 0, start - 1) + 1
        if not _IS_NONE.match(content, start, end):
            return start
    return None


def statement_before(cut: Callable[[int], str], line: int, column: int) -> tuple[int, bytes]:
    """Return the first line of the statement that a place is in, and its text up to there.

    Parameters:
        cut: gives a line with its newline.
        column: in bytes.
    """
    here = cut(line).encode("utf-8", "surrogateescape")
    parts, first, waiting = [here[:column]], line, list[bytes]()
    for number in range(line - 1, max(0, line - _MOST_LINES), -1):
        above = cut(number).encode("utf-8", "surrogateescape")
        waiting.append(above)
        if _IS_NONE.match(above):
            continue
        if not (_GOES_ON.search(above) or _GOES_ON_HERE.match(here)):
            break
        parts += waiting
        first, here, waiting = number, above, []
    else:
        parts.append(b"= ")  # of a statement that is too long to be looked through
    return first, b"".join(reversed(parts))


def calls_in(text: bytes) -> list[tuple[int, str, Argument]]:
    """Return the calls that are open at the end of a text, the innermost first.

    Of each: where its name stands, the name, and which argument comes.
    """
    stack: list[tuple[int, str, Argument, str]] = []
    for match in _SIGNS.finditer(text):
        sign = match[0]
        if match["keyword"]:
            if stack:
                stack[-1] = (*stack[-1][:3], match["keyword"].decode("utf-8", "replace"))
        elif sign[-1:] in (b"(", b"[", b"{"):
            name = match["called"] or b""
            stack.append((match.start(), name.decode("utf-8", "replace"), 0, ""))
        elif sign == b"," and stack:
            place, name_, number, _ = stack[-1]
            stack[-1] = (place, name_, int(number) + 1, "")
        elif sign in (b")", b"]", b"}") and stack:
            stack.pop()
    return [(place, name, keyword or number) for place, name, number, keyword in reversed(stack) if name]


def parameter_given(text: bytes) -> str:
    """Return the name that what follows a text would be the default of, if it is a parameter's; else nothing.

    Parameters:
        text: of the line, up to the class's name.
    """
    match = _GIVEN.search(text.decode("utf-8", "replace"))
    return match[1] if match else ""
