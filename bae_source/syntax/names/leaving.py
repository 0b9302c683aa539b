"""Which suites of functions may be left out while the uses of a file are gathered, told before it is parsed.

    class A:                          class A:
        def f(self):                      def f(self):
            x = self.go()                     pass
            return x                                            as many lines as before

Half of a file's price is its parser's and its tree's, and most suites hold none of the words that are looked for.

Invariants:
- a suite that is left out holds none of the words that are looked for, however it writes them;
- it imports nothing, defines no class, and binds nothing that is seen outside of its function but attributes, whose
  names are told by its text;
- it is not that of a `__new__` or `__call__`, which decide what a class gives;
- where what is left parses, and each suite is found in it as that of a function, they are those of the whole file.

Why that is so: a suite goes on to the first line that is indented no more than its function's, unless that line is
blank, a comment, or inside of a string; strings of several lines are found as Python finds them. If such a line stands
inside of brackets, it belongs to the suite, and what is left closes a bracket that it never opened. A header or a
function that is none is in a string, where no function is found, or has `pass` where no statement may stand.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from unicodedata import is_normalized

from msgspec import Struct

from bae_source.syntax.text.assigned import Assigned, assigned_in
from bae_source.syntax.text.literals import is_closed, literals_of

_OUTWARD = ("global", "nonlocal", "__class__", "setattr")
"""Words without which, and without `import`, a function reaches out of it in no other way than by assignments."""
_IMPORT = re.compile(r"import(?<!\wimport)(?=[\s\\(*])")
_ESCAPE = re.compile(r"\\[0-7xuUN\n]")
"""What a string may write a letter with, and what may stand in the middle of a word."""
_PREFIX = "[bBfFrRtTuU]{0,2}"
_JOINED = [
    re.compile(pattern)
    for quote, other in ("\"'", "'\"")
    for pattern in (
        rf"""{quote}(?<=\w.)(?:[ \t\\\n]*\#|[ \t\\\n]+{_PREFIX}["']"""
        rf"""|[bBfFrRtTuU]{{1,2}}["']|{quote}{{1,3}}\w|{other}[{other}\w])""",
        rf"""{quote * 3}(?<=\w...)[ \t\\\n]*(?:\#|{_PREFIX}["'])""",
    )
]
"""What may join two strings in the middle of a word; behind a comment any may follow. To look for one sign and then for
the other is three times as fast as to look for both."""
_BETWEEN = re.compile(rf"[ \t\\\n]*{_PREFIX}")
"""Code between two strings that are one."""
_MAKERS = ("def __new__", "def __call__")
_ODD = ("\t", "\f")
"""What may make other columns of an indentation than it has characters."""
_LEAST = 20
"""Characters of a suite; to parse less takes no longer than to leave it out."""
_SIGNATURE = re.compile(r"\s*#\s*type:")
_DEF = "def "
_FAR = 200
"""Characters of a line before the word that makes it a header, beyond which nobody looks."""
_LONGEST_HEADER = 4_000
_LONG_HEADER = re.compile(
    r"(?:(?>(?:[^\n]*[(\[{,](?: *#[^\n]*)?\n)*)|[^\n]*\(\n(?>(?:(?! *\))[^\n]*\n)*) *\))[^\n]*: *(?:#[^\n]*)?\n"
)
"""What follows `def` in a header of several lines, each but the last of which ends with a bracket or a comma; or the
first ends with a bracket, and the last begins with one."""
_QUOTES = ('"""', "'''")
_SHORT = re.compile(r"""(?:[^#"'\n]+|"(?!"")(?:[^"\\\n]|\\.)*"|'(?!'')(?:[^'\\\n]|\\.)*')*""")
"""Code of one line up to its end, a comment, or a string of several lines."""
_FORMATTED = re.compile(r"[fFtT][rR]?\Z")
_WITH_FIELDS = re.compile(r"""[fFtT][rR]?["']""")
"""What may hold strings inside of a string, from Python 3.12 on."""


class Suite(Struct, frozen=True):
    """The suite of a function that may be left out.

    Parameters:
        line: the number of its first line.
        text: whole lines, without the last line end.
        start: where it begins.
        column: in which its function begins.
        assigned: attributes that it may assign.
        joined: its text with strings that stand next to each other as one; "" where no word comes of that.
    """

    line: int
    text: str
    start: int
    column: int
    assigned: Assigned
    joined: str


def suites_without(text: str, words: Collection[str], *, least: int = _LEAST) -> list[Suite]:
    """Return the suites that hold none of some words, in their order; none of them is inside of another.

    Parameters:
        text: of a module, whose lines end with a line feed.
        least: how many characters one has at least.
    """
    bounds = None if any(odd in text for odd in _ODD) or not all(map(str.isascii, words)) else _long_strings(text)
    if bounds is None:
        return []
    wanted, found = _wanted(text, words), []
    line, counted, at = 1, 0, 0
    while header := _header(text, at):
        begin, start, column = header
        at = start
        if bisect_left(bounds, begin) % 2:
            continue
        at = max(start, _outdented(text, start, column, bounds))
        if at - start < least or bisect_left(wanted, start) < bisect_left(wanted, at):
            continue
        if any(maker in text[begin:start] for maker in _MAKERS):
            continue
        suite = text[start:at].rstrip()
        if _SIGNATURE.match(suite):  # it belongs to the function
            continue
        joined = _joined(suite)
        if not suite or suite.endswith("\\") or joined is None or any(word in joined for word in words):
            continue
        assigned = assigned_in(suite)
        if assigned is None:
            continue
        line += text.count("\n", counted, start)
        counted = start
        found.append(Suite(line, suite, start, column, assigned, joined))
    return found


def without(text: str, suites: Iterable[Suite]) -> str:
    """Return a text with `pass` for each of some suites; every other line stays under its number."""
    parts: list[str] = []
    done = 0
    for suite in suites:
        parts += text[done : suite.start], " " * (suite.column + 1), "pass", "\n" * suite.text.count("\n")
        done = suite.start + len(suite.text)
    return "".join([*parts, text[done:]])


def _wanted(text: str, words: Collection[str]) -> list[int]:
    """Return, in their order, places that make a suite that holds them one to look into."""
    places = [place for word in {*words, *_OUTWARD} for place in _places(text, word)]
    places += [place for place in _places(text, "class") if not _before(text, place).strip()]
    places += [word.start() for word in _IMPORT.finditer(text)]
    if "\\" in text:
        places += [escape.start() for escape in _ESCAPE.finditer(text)]
    if not text.isascii() and not is_normalized("NFKC", text):
        places += _places_of_others(text)
    return sorted(places)


def _places(text: str, word: str) -> Iterator[int]:
    """Yield where a word stands, perhaps as a part of another."""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _before(text: str, place: int) -> str:
    """Return what stands before a place in its line, or the last of it."""
    return text[max(place - _FAR, 0) : place].rpartition("\n")[2]


def _places_of_others(text: str) -> Iterator[int]:
    """Yield the beginnings of lines that Python takes for something else than what is written."""
    start = 0
    for line in text.split("\n"):
        if not line.isascii() and not is_normalized("NFKC", line):
            yield start
        start += len(line) + 1


def _joined(text: str) -> str | None:
    """Return a text with strings that stand next to each other as one, without their signs.

    "" is returned where no word comes of that that is not in the text, and None where that is not certain.
    """
    if not any(joined.search(text) for joined in _JOINED):
        return ""
    literals = literals_of(text)
    if literals is None:
        return None
    parts: list[str] = []
    for before, literal in literals:
        if not _BETWEEN.fullmatch(before):
            parts += before, " "
        if not literal.startswith("#"):
            parts.append(literal.strip("\"'"))
    return "".join(parts)


def _header(text: str, at: int) -> tuple[int, int, int] | None:
    """Return where the next line begins that may be a function's header, where its suite does, and its column."""
    while (at := text.find(_DEF, at)) >= 0:
        indented = _before(text, at)
        before = indented.lstrip(" ")
        begin, column = at - len(indented), len(indented) - len(before)
        at += len(_DEF)
        if before and before.rstrip(" ") != "async":
            continue
        end = text.find("\n", at)
        if end < 0:
            return None
        if text[end - 1] == ":":
            return begin, end + 1, column
        if whole := _LONG_HEADER.match(text, at, at + _LONGEST_HEADER):
            return begin, whole.end(), column
    return None


def _outdented(text: str, start: int, column: int, bounds: Sequence[int]) -> int:
    """Return where the line ends behind which code is indented by no more than a column.

    Parameters:
        start: where a line begins.
        bounds: of the strings of several lines.
    """
    at = start - 1
    while found := _outdent(column).search(text, at):
        behind = bisect_left(bounds, found.start() + 1)
        if behind % 2 == 0:
            return found.start()
        at = bounds[behind]
    return len(text)


@lru_cache(maxsize=64)
def _outdent(column: int) -> re.Pattern[str]:
    return re.compile(rf"\n(?! {{{column + 1}}}) *(?=[^ \n#])")


def _long_strings(text: str) -> list[int] | None:
    """Return where strings in three quotes begin and end, by turns; None where that is not certain."""
    bounds: list[int] = []
    at = 0
    following = {quotes: text.find(quotes) for quotes in _QUOTES}
    while places := [place for place in following.values() if place >= 0]:
        place = min(places)
        begin = max(at, text.rfind("\n", at, place) + 1)
        if text.endswith("\\\n", at, begin):
            return None  # perhaps a string that went on
        code = _code_until(text, begin, place)
        if code == place:
            code = _closed(text, place)
            bounds += place, code
        if code < 0:
            return None
        at = code
        following = {
            quotes: known if known < 0 or known >= at else text.find(quotes, at) for quotes, known in following.items()
        }
    return bounds


def _code_until(text: str, begin: int, place: int) -> int:
    """Return the place of three quotes if a string begins there, else one behind them; -1 where that cannot be told.

    Parameters:
        begin: in the same line, outside of strings and comments, as what is returned.
    """
    before = text[begin:place]
    if not before or before.isspace():
        return place
    if "}" in before and _WITH_FIELDS.search(text, 0, begin):
        return -1  # perhaps of a field that began in a line above, and a string goes on behind it
    match = _SHORT.match(text, begin)
    code = match.end() if match else begin
    if "{" in before and _WITH_FIELDS.search(before):
        return -1
    if code >= place:
        return code
    return text.find("\n", place) if text[code] == "#" else -1  # else a string that goes on in the next line


def _closed(text: str, place: int) -> int:
    """Return where a string in three quotes ends; -1 where that cannot be told."""
    quotes = text[place : place + 3]
    end = text.find(quotes, place + 3)
    while end >= 0 and _is_escaped(text, end):
        end = text.find(quotes, end + 1)
    is_formatted = _FORMATTED.search(text[max(place - 2, 0) : place])
    if is_formatted and end >= 0 and not is_closed(text[place + 3 : end]):
        return -1  # a field goes on behind the quotes, with a string of its own
    return end + 3 if end >= 0 else -1


def _is_escaped(text: str, place: int) -> bool:
    """Say whether an odd number of backslashes stands before a place."""
    start = place
    while text[start - 1] == "\\":
        start -= 1
    return (place - start) % 2 == 1
