"""The f-string fields that only Python 3.12 and newer allow (PEP 701); older parsers are not at hand.

    f"{row["name"]}"      f"{"\n".join(rows)}"      f"{rows  # all of them      its own quotes, a backslash, a comment,
                                                     }"                         a line end where the quotes stand alone

Invariants:
- the text parses on the Python that runs here, which is 3.12 or newer: only its tokens have fields;
- text whose f-strings are plain, as nearly all are, is not cut into tokens.
"""

from __future__ import annotations

import io
import re
import tokenize

from bae_source.system.silence import unwarned

_START = re.compile(r"""(?<!\w)(?:f|fr|rf)("{3}|'{3}|"|')""", re.IGNORECASE)
_BODY = {
    "'": r"(?>(?:[^'\\\r\n]|\\(?:\r\n|.))*)",
    '"': r'(?>(?:[^"\\\r\n]|\\(?:\r\n|.))*)',
    "'''": r"(?>(?:[^'\\]|\\.|'(?!''))*)",
    '"""': r'(?>(?:[^"\\]|\\.|"(?!""))*)',
}
"""Text between the quotes as older Pythons read it, which take fields for text."""
_PLAIN = r"(?>(?:[^{}]|\{\{|\}\}|\{[^{}\\#]*+(?>(?:\{[^{}\\#]*+\}[^{}\\#]*+)*)\})*)"
_REASON = (
    "Own quotes, backslashes and comments in the fields of f-strings are only supported in Python 3.12 and greater"
)


def newer_field(text: str) -> SyntaxError | None:
    """Return the error for the first f-string that Pythons before 3.12 refuse; None if there is none."""
    if all(_is_plain(text, start) for start in _START.finditer(text)):
        return None
    with unwarned():
        place = _first_newer(text)
    return None if place is None else SyntaxError(_REASON, ("", place[0], place[1] + 1, None))


def _is_plain(text: str, start: re.Match[str]) -> bool:
    """Return whether a literal ends where older Pythons see its end, and its fields hold nothing that they refuse."""
    body = re.compile(_BODY[start[1]], re.DOTALL).match(text, start.end())
    return body is not None and re.compile(_PLAIN).fullmatch(text, *body.span()) is not None


def _first_newer(text: str) -> tuple[int, int] | None:
    """Return line and column of the first token in a field that older Pythons do not let stand there."""
    around: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            name, shown = tokenize.tok_name[token.type], token.string
            is_text = name in ("FSTRING_MIDDLE", "FSTRING_END")
            if _is_refused(name, shown, around[:-1] if is_text else around):
                return token.start
            if name == "FSTRING_START":
                around.append(shown.lstrip("fFrR"))
            elif name == "FSTRING_END":
                around.pop()
    except (tokenize.TokenError, SyntaxError, SystemError):  # it has limits and faults of its own
        return None
    return None


def _is_refused(name: str, shown: str, around: list[str]) -> bool:
    """Return whether older Pythons refuse a token in the fields of f-strings with these quotes."""
    if not around:
        return False
    one_line = any(len(quotes) == 1 for quotes in around)
    return (
        name == "COMMENT"
        or "\\" in shown
        or any(quotes in shown for quotes in around)
        or (one_line and ("\n" in shown or "\r" in shown or name == "NL"))
    )
