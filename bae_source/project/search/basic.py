"""Expressions that mean something else to grep than to Python's re: grep's basic syntax, and POSIX's classes.

    foo\\|bar          two alternatives to grep, and to re the text foo|bar
    [[:space:]]+      white space to grep -E, and to re one of `[:aceps` and then `]`

Invariant: a translation matches what grep matches; where there is none, no notice is given.
"""

from __future__ import annotations

import re

_BASIC = r"\\[|(){}+?]"
_POSIX = {
    "alpha": r"^\W\d_", "digit": "0-9", "alnum": r"^\W_", "upper": "A-Z", "lower": "a-z", "space": r"\s",
    "blank": r" \t", "xdigit": "0-9A-Fa-f", "punct": r"!-/:-@\[-`{-~", "word": r"\w",
}  # fmt: skip
"""The content of the brackets for each class; letters beyond ASCII are letters."""
_ASCII = {"alpha": "a-zA-Z", "alnum": "0-9a-zA-Z"}
"""The same for brackets that hold something else, too."""
_TOKEN = re.compile(
    r"(?P<word>\\[<>])|(?P<escape>\\.)|(?P<class>\[\^?\]?(?:\[:\w+:\]|[^\]\[]|\[)*\])|(?P<operator>[|(){}+?])|(?P<other>.)",
    re.DOTALL,
)
_WORDS = {r"\<": r"\b(?=\w)", r"\>": r"\b(?<=\w)"}


def as_grep(pattern: str) -> str | None:
    """Return the expression of Python's re that matches what grep would have matched; None where that is the same one.

    With a basic operator such as `\\|` it is grep's basic syntax, in which `|` alone is a character; without, what
    `grep -E` has.
    """
    if "\\" not in pattern and "[:" not in pattern:  # as most have it
        return None
    basic = re.search(_BASIC, re.sub(r"\\\\", "", pattern)) is not None
    pieces = [_translated(match, basic=basic) for match in _TOKEN.finditer(pattern)]
    if any(piece is None for piece in pieces):
        return None
    found = "".join(map(str, pieces))
    try:
        re.compile(found)
    except re.error:
        return None
    return None if found == pattern else found


def is_surely_basic(pattern: str) -> bool:
    """Return whether an expression has something that is hardly ever meant literally: `\\|`, `\\<`, `[[:alpha:]]`.

    `\\(`, `\\{`, `\\+` and `\\?` are what Python's re, and grep -E, match the character itself by.
    """
    return re.search(r"\\[|<>]|\[\[?\^?\[:\w+:\]", re.sub(r"\\\\", "", pattern)) is not None


def _translated(match: re.Match[str], *, basic: bool) -> str | None:
    text = match[0]
    if match["word"]:
        return _WORDS[text]
    if match["class"]:
        return _bracket(text)
    if match["escape"]:
        return text[1:] if basic and re.fullmatch(_BASIC, text) else text
    return f"\\{text}" if basic and match["operator"] else text


def _bracket(text: str) -> str | None:
    """Return a class in brackets with POSIX's classes in it spelt out; None for one that there is not."""
    names = re.findall(r"\[:(\w+):\]", text)
    if any(name not in _POSIX for name in names):
        return None
    if len(names) == 1 and text == f"[[:{names[0]}:]]":
        return f"[{_POSIX[names[0]]}]"
    return re.sub(r"\[:(\w+):\]", lambda each: _ASCII.get(each[1], _POSIX[each[1]]), text)
