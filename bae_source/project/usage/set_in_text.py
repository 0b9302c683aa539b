"""What the text around a class's name says is done with it, told without parsing: assigned, returned, given to `type`.

    Alias = Base                       set
    return Base                        set
    D = type("D", (Base,), {})         set, and a later argument
    Base()                             neither

Invariants:
- nothing that is set is overlooked; more may be said to be, and is looked at more closely then.
"""

from __future__ import annotations

import re

_SETS = re.compile(rb"=|\breturn\b|\b(?:type|new_class)[ \t]*\(|[\"'][ \t]*,[ \t]*\(|\b[Tt]ype(?=\[)")
"""What stands in a line before a name that is assigned, returned, given to `type` or behind the name of a class that is
to be made, or annotated as the class itself."""
_SETS_IN_BRACKETS = re.compile(rb"(?:%b)[ \t]*[\w.]*[\[({]" % _SETS.pattern)
"""The same, where a bracket opens behind it that holds the name, maybe lines below."""
_GIVEN = re.compile(r"(\w+)[^,=()]*=[ \t]*[\w.]*$")
_RETURNS = re.compile(rb"\s*return\b")


def is_set(content: bytes, place: int) -> bool:
    """Say whether what stands at a place seems to be assigned, returned, or given to `type`."""
    if _SETS.search(content, content.rfind(b"\n", 0, place) + 1, place):
        return True
    last = max(content.rfind(sign, 0, place) for sign in (b"=", b"]", b")", b"}"))
    return _SETS_IN_BRACKETS.search(content, max(0, last), place) is not None


def is_later_argument(text: bytes) -> bool:
    """Say whether what follows a call's name and its first comma is still inside its parentheses."""
    depth, has_comma = 0, False
    for sign in re.findall(rb"[()\[\]{},]", text):
        if sign in b"([{":
            depth += 1
        elif sign == b",":
            has_comma = has_comma or depth == 1
        else:
            depth -= 1
            if not depth:
                return False
    return has_comma


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
