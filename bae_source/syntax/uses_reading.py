"""Uses of a file, whatever its text is like: analysed where CPython's parser takes it, else listed word by word.

Invariants:
- a file has no uses only if neither parser takes it, which is an error;
- what lies too deep for a parser, and all of a file in newer syntax, is listed as mentions that are not analysed;
- a suite that is left out could not bind, import or define anything that is seen outside of its function, nor mention
  one of the words that are looked for, however it writes them.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence

from bae_source.syntax import uses as u
from bae_source.syntax.collecting import collector_off
from bae_source.syntax.source import Source
from bae_source.syntax.tree import parse, parse_module
from bae_source.syntax.uses_gathering import Gathering
from bae_source.syntax.uses_walk import add_suites, uses_of_ast

_WORD = re.compile(r"[^\W\d]\w*")
_OUTWARD = ("global", "nonlocal", "import", "__class__")
"""Words without which a function binds nothing outside of it, imports nothing, and changes the class of nothing."""
_ESCAPE = re.compile(r"\\[0-7xuUN\n]")
"""What a string may write a letter with, and what may stand in the middle of a word."""


def uses_of(source: Source, words: Collection[str] | None = None) -> u.Uses:
    """Return what a file refers to.

    Parameters:
        words: what is looked for; suites of functions that hold none of these words may be left out. All is looked
            into where they are left out.

    Raises:
        SourceError: it does not parse or cannot be decoded.
    """
    text = source.text
    with collector_off():
        try:
            lines = _lines(source)
            return uses_of_ast(parse_module(text), lines, None if words is None else _wanted(lines, words))
        except (SyntaxError, RecursionError, MemoryError):
            return _partly(source)


def looked_into(
    suites: Collection[u.LeftOut], scopes: list[u.Scope], expressions: list[u.Expression], owners: Sequence[str]
) -> Gathering:
    """Gather what suites hold that were left out before.

    Parameters:
        suites: of one file.
        scopes, expressions: of the file, as far as they are known; more are added.
        owners: qualnames of the definitions that are known.

    Raises:
        RecursionError, MemoryError: one is nested too deeply to be looked into from here; nothing is certain then.
    """
    ordered = sorted(suites, key=lambda suite: suite.line)
    lines: list[str] = []
    for suite in ordered:
        lines += [""] * (suite.line - 2 - len(lines))
        lines += ["if 1:", *suite.text.split("\n")]
    with collector_off():
        gathering = Gathering.behind(lines, scopes, expressions, owners)
        blocks = parse_module("\n".join(lines)).body
        add_suites(gathering, ordered, [block.body for block in blocks if isinstance(block, ast.If)])
    return gathering


def binds(source: Source, name: str) -> bool:
    """Say whether a module binds a name in any way but by an import: in a loop too, or by a function's `global`.

    Raises:
        SourceError: as `uses_of`.
    """
    if name not in source.text:  # most names that are new nobody mentions, and nothing need be analysed
        return False
    return any(binding[0] != u.IMPORTED for binding in uses_of(source).scopes[0].names.get(name, ()))


def _wanted(lines: Sequence[str], words: Collection[str]) -> list[int] | None:
    """Return the numbers of the lines that make a suite that holds them one to look into; None for all of them."""
    if not all(map(str.isascii, words)):
        return None
    text = "\n".join(lines)
    places = [place for word in {*words, *_OUTWARD} for place in _places(text, word)]
    places += [place for place in _places(text, "class") if not text[text.rfind("\n", 0, place) + 1 : place].strip()]
    if "\\" in text:
        places += [escape.start() for escape in _ESCAPE.finditer(text)]
    wide = [] if text.isascii() else [number for number, line in enumerate(lines, 1) if not _is_plain(line)]
    return sorted({*_numbers(text, sorted(places)), *wide})


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


def _is_plain(line: str) -> bool:
    """Say whether Python takes the identifiers in a line for what they are written as."""
    return line.isascii() or unicodedata.is_normalized("NFKC", line)


def _lines(source: Source) -> list[str]:
    text = source.text
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


def _partly(source: Source) -> u.Uses:
    """Return what can be said of a file that is too deep, or newer than the parser."""
    from bae_source.syntax.depth import shallow  # seldom needed

    parse(source)  # refuses what neither parser takes
    text = source.text
    reduced = shallow(text)
    try:
        found = uses_of_ast(parse_module(reduced), _lines(source))
    except (SyntaxError, RecursionError, MemoryError):
        found, reduced = uses_of_ast(ast.Module([], []), ()), " " * len(text)
    return _with_words(found, source, reduced)


def _with_words(found: u.Uses, source: Source, reduced: str) -> u.Uses:
    """Add every word where `reduced` is not the text, and drop what was found there."""
    mentions: dict[str, list[u.Mention]] = {}
    text, lines = source.text, source.lines
    changed: set[tuple[int, int]] = set()
    for word in _WORD.finditer(text):
        start = word.start()
        if reduced[start : word.end()] == word[0]:
            continue
        place = lines.place(start)
        line_start = lines.start(place.line)
        column = len(text[line_start:start].encode())
        changed.add((place.line, column))
        mentions.setdefault(word[0], []).append((place.line, column, 0, u.MENTION, u.OPAQUE, 0))
    for name, known in found.mentions.items():
        kept = [mention for mention in known if not _is_changed(source, reduced, mention)]
        if kept:
            mentions.setdefault(name, []).extend(kept)
    return u.Uses(
        found.scopes, found.imports, found.stars, found.expressions, mentions, found.strings, found.owners,
        found.exported, found.exports_known, whole=False,
    )  # fmt: skip


def _is_changed(source: Source, reduced: str, mention: u.Mention) -> bool:
    line_start = source.lines.start(mention[0])
    offset = line_start + len(source.lines.cut(mention[0]).encode()[: mention[1]].decode(errors="ignore"))
    return source.text[offset : offset + 1] != reduced[offset : offset + 1]
