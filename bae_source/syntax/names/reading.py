"""Uses of a file, whatever its text is like: analysed where CPython's parser takes it, else listed word by word.

Invariants:
- a file has no uses only if neither parser takes it, which is an error, unless it is the suites of functions alone that
  they refuse, such as one that is being written: the rest is what it is without them;
- such suites, what lies too deep for a parser, and code in newer syntax are listed as mentions that are not analysed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from msgspec import structs

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.gathering import words_in
from bae_source.syntax.names.walk import uses_of_ast
from bae_source.syntax.outline.tree import parse, parse_module
from bae_source.syntax.text.source import Source
from bae_source.system.collecting import collector_off

_TOO_MUCH = (SyntaxError, RecursionError, MemoryError)


def uses_of(source: Source) -> u.Uses:
    """Return the references in a file.

    Raises:
        SourceError: it does not parse, in more than the suites of some functions, or cannot be decoded.
    """
    text = _plain(source.text)
    others: list[Callable[[str], u.Uses]] = [_newer, _around_broken]
    with collector_off():
        try:
            return uses_of_ast(parse_module(text).body, text.split("\n"))
        except SyntaxError:
            for other in others:
                with suppress(*_TOO_MUCH):
                    return other(text)
        except (RecursionError, MemoryError):
            pass
        return _partly(source)


def _newer(text: str) -> u.Uses:
    from bae_source.syntax.names.newer import statements_of_newer  # hardly any code is

    return uses_of_ast(statements_of_newer(text), text.split("\n"))


def _around_broken(text: str) -> u.Uses:
    """Return the references in a file, with the words of those suites of functions that the parser refuses.

    Raises:
        SyntaxError: that is not all that it refuses.
    """
    from bae_source.syntax.outline.broken import suites_of  # as above

    lines = text.split("\n")
    sound = lines.copy()
    broken = {
        first: last for first, last in suites_of(text) if not _parses("\n".join(["if 1:", *lines[first - 1 : last]]))
    }
    for first, last in broken.items():
        indent = sound[first - 1][: -len(sound[first - 1].lstrip(" \t\f"))]
        sound[first - 1 : last] = [f"{indent}pass", *[""] * (last - first)]
    return uses_of_ast(parse_module("\n".join(sound)).body, lines, broken)


def _parses(code: str) -> bool:
    try:
        parse_module(code)
    except SyntaxError:
        return False
    return True


def binds(source: Source, name: str) -> bool:
    """Return whether a module binds a name in any way but by an import: in a loop too, or by a function's `global`.

    Raises:
        SourceError: as `uses_of`.
    """
    if name not in source.text:  # most new names are not mentioned, and nothing need be analysed
        return False
    return any(binding.how != u.IMPORTED for binding in uses_of(source).scopes[0].names.get(name, ()))


def _plain(text: str) -> str:
    """Return a text with lines that end as Python's parser has them end."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _partly(source: Source) -> u.Uses:
    """Return the uses that are known of a file that is too deep, or newer than the parser."""
    from bae_source.syntax.text.depth import shallow  # seldom needed

    parse(source)  # refuses what neither parser takes
    text = _plain(source.text)
    reduced = _plain(shallow(source.text))
    try:
        found = uses_of_ast(parse_module(reduced).body, text.split("\n"))
    except _TOO_MUCH:
        found, reduced = uses_of_ast((), ()), "\n" * text.count("\n")
    return _with_words(found, text.split("\n"), reduced.split("\n"))


def _with_words(found: u.Uses, lines: list[str], reduced: list[str]) -> u.Uses:
    """Add every word where `reduced` is not the text, and drop what was found there."""
    mentions: dict[str, list[u.Mention]] = {}
    for number, (line, left) in enumerate(zip(lines, reduced, strict=True), 1):
        for word, start, column in words_in(line):
            if not left.startswith(word, start):
                mentions.setdefault(word, []).append(u.Mention(number, column, 0, u.MENTION, u.OPAQUE, 0))

    def is_there(mention: u.Mention) -> bool:
        line, left = lines[mention.line - 1], reduced[mention.line - 1]
        start = len(line.encode()[: mention.column].decode(errors="ignore"))
        return line[start : start + 1] == left[start : start + 1]

    for name, known in found.mentions.items():
        if kept := list(filter(is_there, known)):
            mentions.setdefault(name, []).extend(kept)
    return structs.replace(found, mentions=mentions, whole=False)
