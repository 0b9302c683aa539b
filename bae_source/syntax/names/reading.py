"""Uses of a file, whatever its text is like: analysed where CPython's parser takes it, else listed word by word.

Invariants:
- a file has no uses only if neither parser takes it, which is an error, unless it is the suites of functions alone that
  they refuse, such as one that is being written: the rest is what it is without them;
- such suites, what lies too deep for a parser, and code in newer syntax are listed as mentions that are not analysed.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

from msgspec import structs

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.gathering import Gathering
from bae_source.syntax.names.leaving import Suite, suites_without, without
from bae_source.syntax.names.walk import Misplaced, add_suites, uses_of_ast
from bae_source.syntax.outline.pieces import statements_of
from bae_source.syntax.outline.tree import parse, parse_module
from bae_source.syntax.text.source import Source
from bae_source.system.collecting import collector_off

_WORD = re.compile(r"[^\W\d]\w*")
_MOST_TRIES = 4
"""How often a suite is put back that may not be broken after all."""
_CANNOT_BE_LEFT_OUT = (SyntaxError, RecursionError, MemoryError, Misplaced)


def uses_of(source: Source, words: Collection[str] | None = None) -> u.Uses:
    """Return what a file refers to.

    Parameters:
        words: what is looked for; suites of functions that hold none of these words may be left out, and need not
            parse. All is looked into where they are left out.

    Raises:
        SourceError: it does not parse, in more than the suites of some functions, or cannot be decoded.
    """
    text = _plain(source.text)
    with collector_off():
        if words is not None and (suites := suites_without(text, words)):
            try:
                return _around(text, suites)
            except _CANNOT_BE_LEFT_OUT:
                pass
        try:
            return uses_of_ast(statements_of(text), text.split("\n"))
        except SyntaxError:
            with suppress(*_CANNOT_BE_LEFT_OUT):
                from bae_source.syntax.names.newer import statements_of_newer  # hardly any code is

                return uses_of_ast(statements_of_newer(text), text.split("\n"))
            try:
                return _listed(_around_broken(text))
            except _CANNOT_BE_LEFT_OUT:
                return _partly(source)
        except (RecursionError, MemoryError):
            return _partly(source)


def _around(text: str, suites: Collection[Suite]) -> u.Uses:
    """Return what a file refers to without some suites, which are left out."""
    return uses_of_ast(statements_of(without(text, suites)), text.split("\n"), suites)


def looked_into(
    suites: Collection[u.LeftOut],
    scopes: list[u.Scope],
    expressions: list[u.Expression],
    owners: Sequence[str],
    imports: Sequence[u.Imported],
) -> Gathering:
    """Gather what suites hold that were left out before.

    Parameters:
        suites: of one file.
        scopes, expressions: of the file, as far as they are known; more are added.
        owners: qualnames of the definitions that are known.
        imports: of the file; suites that hold any are not left out.

    Raises:
        RecursionError, MemoryError: one is nested too deeply to be looked into from here; nothing is certain then.
    """
    ordered = sorted(suites, key=lambda suite: suite.line)
    lines: list[str] = []
    for suite in ordered:
        lines += [""] * (suite.line - 2 - len(lines))
        lines += ["if 1:", *suite.text.split("\n")]
    with collector_off():
        gathering = Gathering.behind(lines, scopes, expressions, owners, imports)
        try:
            blocks = parse_module("\n".join(lines)).body
        except SyntaxError:
            broken = [suite for suite in ordered if not _parses(suite.text)]
            if not broken:
                raise  # not what it was when it was left out
            sound = [suite for suite in ordered if suite not in broken]
            gathering = looked_into(sound, scopes, expressions, owners, imports)
            for suite in broken:
                _list_words(suite, scopes, gathering.mentions, gathering.bound)
            gathering.whole = False
            return gathering
        add_suites(gathering, ordered, [block.body for block in blocks if isinstance(block, ast.If)])
    return gathering


def _around_broken(text: str) -> u.Uses:
    """Return what a file refers to without the suites that the parser refuses, which are left out.

    Raises:
        SyntaxError, Misplaced: that is not all that it refuses.
        RecursionError, MemoryError: one is too deep for the parser.
    """
    broken = [suite for suite in suites_without(text, (), least=1) if not _parses(suite.text)]
    for _ in range(_MOST_TRIES):
        try:
            return _around(text, broken)
        except SyntaxError as error:
            above = [suite for suite in broken if suite.line <= (error.lineno or 0)]
            if not above:
                raise
            broken.remove(above[-1])  # it goes on in brackets, and is whole with what follows
    return _around(text, broken)


def _parses(suite: str) -> bool:
    try:
        parse_module(f"if 1:\n{suite}")
    except SyntaxError:
        return False
    return True


def _listed(found: u.Uses) -> u.Uses:
    """Return uses with the words of what was left out instead of it."""
    mentions, bound = defaultdict(list, found.mentions), defaultdict(list, found.bound)
    for suite in found.left_out:
        _list_words(suite, found.scopes, mentions, bound)
    return structs.replace(found, mentions=dict(mentions), bound=dict(bound), whole=False, left_out=())


def _list_words(
    suite: u.LeftOut,
    scopes: Sequence[u.Scope],
    mentions: defaultdict[str, list[u.Mention]],
    bound: defaultdict[str, list[u.Binding]],
) -> None:
    """Note each word of a suite as a mention that is not analysed, and that attributes may be anything there."""
    owner = scopes[suite.scope].owner
    for word, number, column, _ in (*_words(suite.text, suite.line), *_joined_words(suite)):
        name = u.mangled(word, suite.class_name)
        mentions[name].append((number, column, suite.scope, u.MENTION, u.OPAQUE, owner))
    for name in suite.attributes:
        scopes[suite.owner].attributes.setdefault(name, []).append((u.OTHER, 0, 0, suite.line))
    for name in suite.bound:
        bound[name].append((u.SET, u.OPAQUE, u.PLAIN, suite.line))
    scopes[suite.scope].returns.append(u.OPAQUE)


def _words(text: str, first: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield each word of a text with its line, its column in bytes, and its offset.

    Parameters:
        first: number of the first line.
    """
    start = 0
    for number, line in enumerate(text.split("\n"), first):
        column = counted = 0
        for word in _WORD.finditer(line):
            column += len(line[counted : word.start()].encode())
            counted = word.start()
            yield word[0], number, column, start + counted
        start += len(line) + 1


def _joined_words(suite: u.LeftOut) -> Iterator[tuple[str, int, int, int]]:
    """Yield each word that only strings which are joined make, as `_words` does, at the beginning of the suite."""
    known = set(_WORD.findall(suite.text))
    for word in dict.fromkeys(_WORD.findall(suite.joined)):
        if word not in known:
            yield word, suite.line, 0, len(suite.text)


def made_shallow(suite: u.LeftOut, owner: int) -> tuple[u.LeftOut, dict[str, list[u.Mention]]]:
    """Return a suite without what is too deep in it, and every word of that as a mention that is not analysed.

    Parameters:
        owner: number of the definition that it is of.
    """
    from bae_source.syntax.text.depth import shallow  # seldom needed

    before = "if 1:\n"
    reduced = shallow(before + suite.text)[len(before) :]
    mentions: dict[str, list[u.Mention]] = {}
    for word, number, column, start in (*_words(suite.text, suite.line), *_joined_words(suite)):
        if not reduced.startswith(word, start):
            mentions.setdefault(word, []).append((number, column, suite.scope, u.MENTION, u.OPAQUE, owner))
    return structs.replace(suite, text=reduced), mentions


def binds(source: Source, name: str) -> bool:
    """Say whether a module binds a name in any way but by an import: in a loop too, or by a function's `global`.

    Raises:
        SourceError: as `uses_of`.
    """
    if name not in source.text:  # most names that are new nobody mentions, and nothing need be analysed
        return False
    return any(binding[0] != u.IMPORTED for binding in uses_of(source).scopes[0].names.get(name, ()))


def _plain(text: str) -> str:
    """Return a text with lines that end as Python's parser has them end."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _partly(source: Source) -> u.Uses:
    """Return what can be said of a file that is too deep, or newer than the parser."""
    from bae_source.syntax.text.depth import shallow  # seldom needed

    parse(source)  # refuses what neither parser takes
    text = source.text
    reduced = shallow(text)
    try:
        found = uses_of_ast(parse_module(reduced).body, _plain(text).split("\n"))
    except (SyntaxError, RecursionError, MemoryError):
        found, reduced = uses_of_ast((), ()), " " * len(text)
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
        found.exported, found.exports_known, whole=False, bound=found.bound, listed=found.listed,
    )  # fmt: skip


def _is_changed(source: Source, reduced: str, mention: u.Mention) -> bool:
    line_start = source.lines.start(mention[0])
    offset = line_start + len(source.lines.cut(mention[0]).encode()[: mention[1]].decode(errors="ignore"))
    return source.text[offset : offset + 1] != reduced[offset : offset + 1]
