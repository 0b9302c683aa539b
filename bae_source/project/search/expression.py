"""A regular expression made ready to search many files: the literal pieces to search first, and the care that it needs.

    \\bmark_safe\\(      holds the piece `mark_safe(`: a file without these bytes need not be decoded
    ^\\s*class\\s        may match line ends, so each line is looked at by itself
    (a+)+$             may backtrack without end, so it runs in a process that can be stopped

Invariants:
- every judgement is on the safe side: what is not understood is searched slowly, never wrongly;
- the expression itself is `re`'s, and means what Python's documentation says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.syntax.text.source import may_name_encoding
from bae_source.system.silence import unwarned

MAX_PATTERN = 10_000
_PLAIN_ESCAPES = frozenset("wdbS")
_SAFE_OPTIONS = 8
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_LONG_ESCAPE = re.compile(r"\\[xuUN0-9]")
_PERL = re.compile(r"\\[KQERXGzhHVpP]|\(\?(?:\||R\)|[+-]?\d+\))|\(\*[A-Z]+")
"""Syntax of other programs that Python's expressions lack."""
_INSTEAD = {
    "K": "A look-behind, (?<=…), leaves out of the match what stands before it.",
    "Q": "fixed takes a text as it is.",
    "R": r"\n is a line end; multi_line lets a match go on over it.",
    "z": r"\Z is the end of the text.",
    "h": r"[ \t] is a space or tab.",
    "p": r"[^\W\d_] is a letter.",
}
_REPEAT = re.compile(r"[*+?]|\{\d*,?\d*\}")


class Expression(Struct, frozen=True, kw_only=True):
    """The expression to search for.

    Parameters:
        compiled: the expression.
        by_line: whether each line has to be searched by itself to keep matches inside it.
        spanning: whether matches may go on over several lines.
        every: whether all matches of a line are wanted, and not the line.
        inverted: whether the lines without a match are wanted.
        pieces: ASCII bytes of which one stands in every text with a match, in lower case if case is ignored; none where
            that is not known.
        ignore_case: whether case is ignored.
        endless: whether matching may take so long that it has to be stopped.
        beyond_ascii: whether characters outside ASCII are named.
    """

    compiled: re.Pattern[str]
    by_line: bool
    spanning: bool
    every: bool
    inverted: bool
    pieces: tuple[bytes, ...]
    ignore_case: bool
    endless: bool
    beyond_ascii: bool

    @property
    def how(self) -> dict[str, bool]:
        """Return how a text is searched, as `matching.hits_in` takes it."""
        return {"by_line": self.by_line, "spanning": self.spanning, "every": self.every, "inverted": self.inverted}

    def may_match(self, content: bytes, *, python: bool) -> bool:
        """Return whether a file's bytes may hold a match.

        Parameters:
            python: whether the file may name its encoding, which may hide ASCII.
        """
        if not self.pieces:
            return True
        searched = content.lower() if self.ignore_case else content
        for piece in self.pieces:  # a generator would take twice as long
            if piece in searched:
                return True
        # Some letters outside ASCII are equal to one of ASCII when case is ignored.
        return (python and may_name_encoding(content)) or (self.ignore_case and not content.isascii())


def expression_of(
    patterns: str | Sequence[str],
    *,
    ignore_case: bool,
    word: bool,
    multi_line: bool,
    fixed: bool = False,
    every: bool = False,
    inverted: bool = False,
) -> Expression:
    """Compile a pattern, or several of which any may match.

    Parameters:
        fixed: whether they are texts, and no expressions.
        every, inverted: as `Expression` has them.
        word: whether no word character may stand before or behind a match.
        multi_line: whether a match may go on over several lines.

    Raises:
        RequestError: `invalid_arguments`, with the position of what is wrong where the text itself may be meant.
    """
    given = (patterns,) if isinstance(patterns, str) else tuple(patterns)
    if not all(given) or not given:
        raise RequestError("invalid_arguments", "The pattern is empty.", hints=["Give a regular expression."])
    if fixed:
        given = tuple(map(re.escape, given))
    pattern = given[0]
    if len(given) > 1:
        pattern = _any_of(given)
    if len(pattern) > MAX_PATTERN:
        raise RequestError(
            "invalid_arguments",
            f"A pattern of {len(pattern):,} characters is longer than {MAX_PATTERN:,}.",
            hints=["Search for a part of it."],
        )
    if "\n" in pattern and not multi_line:
        raise RequestError(
            "invalid_arguments",
            "The pattern holds a line end, which no line does.",
            hints=["multi_line lets a match go on over several lines."],
        )
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else re.NOFLAG)
    compiled = _compiled(pattern, flags)
    pieces = () if inverted else _pieces(given)
    return Expression(
        compiled=_compiled(_as_word(pattern, verbose=bool(compiled.flags & re.VERBOSE)), flags) if word else compiled,
        by_line=inverted or (not multi_line and not all(map(_is_simple, given))),
        spanning=multi_line,
        every=every,
        inverted=inverted,
        pieces=tuple(piece.lower() for piece in pieces) if ignore_case else pieces,
        ignore_case=ignore_case,
        endless=_may_be_endless(pattern),
        beyond_ascii=not pattern.isascii() or _LONG_ESCAPE.search(pattern) is not None,
    )


def _any_of(patterns: Sequence[str]) -> str:
    """Return the expression that matches where one of several does.

    Raises:
        RequestError: `invalid_arguments` if one is none, or refers to a group by its number, which would be another's.
    """
    for each in patterns:
        _compiled(each, re.NOFLAG)
        if re.search(r"(?<!\\)(?:\\\\)*\\[1-9]|\(\?\(\d", each):
            message = f"{each} refers to a group by its number, which several expressions together do not keep."
            raise RequestError("invalid_arguments", message, hints=["Name the group: (?P<name>…) and (?P=name)."])
    return "|".join(map(_scoped, patterns))


def _scoped(pattern: str) -> str:
    """Return a pattern as one of several: in a group, for which alone its leading flags hold."""
    flags = re.match(r"\(\?([aimsx]+)\)", pattern)
    return f"(?{flags[1]}:{pattern[flags.end() :]})" if flags else f"(?:{pattern})"


def _as_word(pattern: str, *, verbose: bool) -> str:
    """Return the pattern between places where no word character stands; leading flags stay in front."""
    if not verbose and pattern == re.escape(_piece(pattern).decode()):
        return rf"{pattern}(?<!\w{pattern})(?!\w)"  # what begins with plain text is found ten times as fast
    flags = re.match(r"(?:\(\?[aiLmsux]+\))?", pattern)
    assert flags is not None
    closing = "\n)" if verbose else ")"  # a comment at the end would swallow it
    return rf"{flags[0]}(?<!\w)(?:{pattern[flags.end() :]}{closing}(?!\w)"


def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    try:
        with unwarned():  # re warns of what will mean something else one day
            return re.compile(pattern, flags)
    except re.error as error:
        place = f" at position {error.pos}" if error.pos is not None else ""
        message = f"The pattern is no regular expression: {error.msg}{place}"
        if perl := _PERL.search(pattern):
            message += f"; {perl[0]} is Perl's, and Python's re does not have it"
            hint, details = _INSTEAD.get(perl[0][1:2], "Write it without."), {}
        else:
            hint, details = f"To find the text itself, search for {re.escape(pattern)}", {"position": error.pos}
        raise RequestError("invalid_arguments", f"{message}.", hints=[hint], details=details) from None
    except (RecursionError, OverflowError):
        raise RequestError(
            "invalid_arguments", "The pattern is nested too deeply, or repeats too often.", hints=["Simplify it."]
        ) from None


def _is_simple(pattern: str) -> bool:
    """Return whether a whole text gives the same matches as its lines: nothing looks around or at a line's end."""
    if re.search(r"[\x00-\x1f]|\(\?(?!:)|\[\^|\[\[", pattern) or "--" in pattern:
        return False
    escaped = re.findall(r"\\(.)", pattern)
    if any(char.isalnum() and char not in _PLAIN_ESCAPES for char in escaped):
        return False
    return not any(re.search(r"[\x00-\x20\\]-|-\\", found[0]) for found in _CLASS.finditer(pattern))


def _may_be_endless(pattern: str) -> bool:
    """Return whether matching may take more than a moment: anything is repeated, or there are many ways to match."""
    if re.search(r"[*+]|\{", re.sub(r"\\.", "", pattern)):
        return True
    return pattern.count("?") + pattern.count("|") > _SAFE_OPTIONS


def _pieces(patterns: Sequence[str]) -> tuple[bytes, ...]:
    """Return for each alternative the longest piece that stands in all its matches; none if one has no such piece.

    `a|b` is two alternatives; in groups there may be others, which make no piece.
    """
    alternatives = [each for pattern in patterns for each in _alternatives(pattern)]
    pieces = tuple(dict.fromkeys(map(_piece, alternatives)))
    return pieces if all(pieces) else ()


def _alternatives(pattern: str) -> list[str]:
    """Split a pattern at the bars that stand in no group, of which it may have none then."""
    if "|" not in pattern or "(" in pattern or "[" in pattern or "\\" in pattern:
        return [pattern]
    return pattern.split("|")


def _piece(pattern: str) -> bytes:
    """Return the longest piece of ASCII text that stands in every match as it stands in the pattern.

    A line end is no part of it, since files have others.
    """
    if "|" in pattern or "(?" in pattern or not pattern.isascii() or _LONG_ESCAPE.search(pattern):
        return b""
    pieces, current, depth, position = [""], "", 0, 0
    while position < len(pattern):
        char = pattern[position]
        literal, length = "", 1
        if char == "\\":
            following = pattern[position + 1 : position + 2]
            literal, length = ("" if following.isalnum() else following), 2
        elif char == "[":
            found = _CLASS.match(pattern, position)
            length = len(found[0]) if found else 1
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char not in ".^$*+?{":
            literal = char
        repeat = _REPEAT.match(pattern, position + length)
        position += length
        kept = depth == 0 and char != ")" and literal and not (repeat and not repeat[0].startswith("+"))
        current = current + literal if kept else ""
        pieces.append(current)
        if repeat:
            current, position = "", repeat.end()
    return max((line for piece in pieces for line in piece.split("\n")), key=len).encode()
