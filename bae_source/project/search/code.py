"""Code patterns over many files.

Invariants:
- only files that hold every word of the pattern are parsed;
- a file that cannot be read, or that the running Python does not parse, is named, and the answer is not complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.project.facts.mentions import Words, haystack_of
from bae_source.project.files.port import gone
from bae_source.project.naming.listed_symbols import SymbolsByLine, address_in, summary_for
from bae_source.project.search.answer import not_searched
from bae_source.project.search.scope import Scope, Searched
from bae_source.project.workspace import Workspace
from bae_source.syntax.patterns.pattern import Found, Pattern, find_matches
from bae_source.syntax.text.source import Source, parsable
from bae_source.system.collecting import collector_off

_MANY = 100
"""Files; fewer are opened one by one."""


class CodeMatch(Struct, frozen=True, kw_only=True):
    """A place where a pattern matches.

    Parameters:
        module: the module, or `module@stub`.
        address: the innermost symbol that it begins in, or the module.
        line: from 1.
        column: from 1, in characters.
        text: the matched code.
        holes: the code that each named hole stands for.
    """

    module: str
    address: str
    line: int
    column: int
    text: str
    holes: tuple[tuple[str, str], ...]


class CodeFound(Struct, frozen=True, kw_only=True):
    """The result of a search.

    Parameters:
        matches: by module, then by place.
        notices: what was not searched, and why.
    """

    matches: tuple[CodeMatch, ...]
    notices: tuple[Notice, ...]


def find_code(workspace: Workspace, scope: Scope, pattern: Pattern) -> CodeFound:
    """Search every file of a scope."""
    matches: list[CodeMatch] = []
    notices = list(scope.notices)
    with collector_off():
        for file, source in candidates(workspace, scope, pattern):
            try:
                if isinstance(source, ResourceError):
                    raise source
                matches += _in_file(workspace, file, source, pattern, scope)
            except ResourceError as error:
                notices.append(not_searched(file.name, error))
    return CodeFound(matches=tuple(matches), notices=tuple(notices))


def candidates(
    workspace: Workspace, scope: Scope, pattern: Pattern
) -> Iterator[tuple[Searched, Source | ResourceError]]:
    """Yield the files of a scope that may hold a match; for one that cannot be read the reason."""
    words = [Words([word]) for word in sorted(pattern.words, key=lambda word: (-len(word), word))]
    without = _without(workspace, scope, words)
    for file in scope.files:
        try:
            source = None if file.path in without else _candidate(workspace, file, words)
        except ResourceError as error:
            yield file, error
            continue
        if source is not None:
            yield file, source


def _without(workspace: Workspace, scope: Scope, words: list[Words]) -> Collection[str]:
    """Return files that are known to lack one of some words without being opened."""
    if len(scope.files) < _MANY or workspace.overlay or not all(word.ascii for word in words):
        return ()
    stamps, haystack = workspace.census.stamps, haystack_of(workspace)
    lacking: set[str] = set()
    for word in words:
        found, rest = haystack.look(workspace, stamps, word.encoded)
        lacking |= set(stamps) - found - set(rest)
    return lacking


def _candidate(workspace: Workspace, file: Searched, words: list[Words]) -> Source | None:
    """Return a file that may hold a match; None for any other."""
    content = workspace.glance(file.path)
    if content is None:
        raise gone()
    return parsable(content) if all(word.occur_in(content) for word in words) else None


def _in_file(
    workspace: Workspace, file: Searched, source: Source, pattern: Pattern, scope: Scope
) -> Iterator[CodeMatch]:
    found = find_matches(pattern, source)
    if scope.span is not None:
        found = [each for each in found if scope.span.contains(each.span)]
    if not found:
        return
    symbols = SymbolsByLine(summary_for(workspace, file.path, source.content), source)
    for each in found:
        place = source.lines.place(each.span.start)
        yield CodeMatch(
            module=file.name,
            address=address_in(workspace, file.name, file.path, symbols.at(place.line)),
            line=place.line,
            column=place.column,
            text=_plain(each.span.cut(source.text)),
            holes=_shown(each),
        )


def _shown(found: Found) -> tuple[tuple[str, str], ...]:
    return tuple((name, _plain(code)) for name, code in found.holes)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
