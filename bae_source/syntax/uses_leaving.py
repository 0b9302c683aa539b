"""Which suites of functions may be left out while the uses of a file are gathered.

Invariants:
- a suite that is left out holds none of the words that are looked for, however it writes them;
- it imports nothing, defines no class, and binds nothing that is seen outside of its function but attributes of its own
  `self` or `cls`, which are told by its text (`uses_growing`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from unicodedata import is_normalized

_OUTWARD = ("global", "nonlocal", "import", "__class__", "setattr")
"""Words without which a function reaches out of it in no other way than by assignments."""
_ESCAPE = re.compile(r"\\[0-7xuUN\n]")
"""What a string may write a letter with, and what may stand in the middle of a word."""
_JOINED = [
    re.compile(rf"""{quote}(?<=\w.)[ \t\\\n]*(?:\#|[bBfFrRtTuU]{{0,2}}(?:\"""|\'{{3}}|["'])\w)""") for quote in "\"'"
]
"""What may join two strings in the middle of a word; behind a comment any may follow. To look for one sign and then for
the other is three times as fast as to look for both."""


def wanted(text: str, words: Collection[str]) -> list[int] | None:
    """Return the numbers of the lines that make a suite that holds them one to look into; None for all of them."""
    if not all(map(str.isascii, words)):
        return None
    places = [place for word in {*words, *_OUTWARD} for place in _places(text, word)]
    places += [place for place in _places(text, "class") if not text[text.rfind("\n", 0, place) + 1 : place].strip()]
    if "\\" in text:
        places += [escape.start() for escape in _ESCAPE.finditer(text)]
    numbers = {*_numbers(text, sorted(places))}
    if not text.isascii():
        lines = enumerate(text.split("\n"), 1)  # those that Python takes for something else than what is written
        numbers |= {number for number, line in lines if not line.isascii() and not is_normalized("NFKC", line)}
    return sorted(numbers)


def _places(text: str, word: str) -> Iterator[int]:
    """Yield where a word stands, perhaps as a part of another."""
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _numbers(text: str, places: Iterable[int]) -> Iterator[int]:
    """Yield the number of the line of each place; they are sorted."""
    number, counted = 1, 0
    for place in places:
        number += text.count("\n", counted, place)
        counted = place
        yield number


def joins_words(text: str) -> bool:
    """Say whether strings may stand next to each other in a text that are one string, and one word in it."""
    return any(joined.search(text) for joined in _JOINED)


def binds_elsewhere(suite: Sequence[ast.stmt], itself: str) -> bool:
    """Say whether a suite assigns to an attribute of anything but `self` or `cls`.

    Parameters:
        itself: what the function calls that; "" where it has none.
    """
    waiting = list(suite)
    while waiting:
        statement = waiting.pop()
        type_ = type(statement)
        if type_ in _PLAIN:
            continue
        for target in _targets(statement):
            if type(target) is not ast.Name and _is_elsewhere(target, itself):
                return True
        for field in _SUITES.get(type_, ()):
            waiting += getattr(statement, field)
        for field in _PARTS.get(type_, ()):
            for part in getattr(statement, field):
                waiting += part.body
    return False


_PLAIN = frozenset({ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Pass, ast.Delete})
"""Statements that bind nothing and hold no others."""
_SUITES, _PARTS = (
    {
        type_: held
        for type_ in ast.stmt.__subclasses__()
        if (held := tuple(field for field in fields if field in type_._fields))
    }
    for fields in (("body", "orelse", "finalbody"), ("handlers", "cases"))
)
"""By type of statement, the fields with suites, and those with parts that have one."""


def _targets(statement: ast.stmt) -> Sequence[ast.expr]:
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor)):
        return (statement.target,)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return [item.optional_vars for item in statement.items if item.optional_vars is not None]
    return ()


def _is_elsewhere(target: ast.expr, itself: str) -> bool:
    if isinstance(target, ast.Attribute):
        return not (isinstance(target.value, ast.Name) and target.value.id == itself)
    if isinstance(target, (ast.Tuple, ast.List)):
        return any(_is_elsewhere(each, itself) for each in target.elts)
    return isinstance(target, ast.Starred) and _is_elsewhere(target.value, itself)
