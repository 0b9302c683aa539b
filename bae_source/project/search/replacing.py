"""Every match of an expression in source and data files, with its replacement.

Invariants:
- a text is searched with plain line ends, and its places are those of the file's own text;
- a file that holds the expression and is no text, or cannot be decoded, is reported without places;
- a search that is stopped before its end has no outcome.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec import Struct

from bae_source.errors import ResourceError, SourceError
from bae_source.model.changeset import FileChange, file_change
from bae_source.model.span import Span
from bae_source.project.files.port import gone
from bae_source.project.search.expression import Expression
from bae_source.project.search.matching import Replacement, Stopped, replacements_in
from bae_source.project.search.scope import Scope, Searched
from bae_source.project.search.sieve import MAX_DATA, Sieve
from bae_source.project.workspace import Workspace
from bae_source.syntax.text.byte_edits import byte_edits
from bae_source.syntax.text.source import Source, codec_of, dominant_newline

Edits = list[tuple[Span, str]]
_OTHERWISE = "Leave that file out of the scope, or convert it to UTF-8 first."


class Text:
    """A file that may hold a match.

    Parameters:
        file: the file.
        content: its bytes.
        source: its text, in the encoding in which that is read.
    """

    def __init__(self, file: Searched, content: bytes, source: Source) -> None:
        self.file = file
        self.content = content
        self.source = source
        self.text = source.text

    @cached_property
    def newline(self) -> str:
        """The line end that the file uses most."""
        return dominant_newline(self.text) or "\n"

    @cached_property
    def plain(self) -> str:
        """The text with plain line ends."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in self.text else self.text

    @cached_property
    def _pairs(self) -> list[int]:
        """Offsets in the plain text of line ends that are two characters in the file."""
        return [each.start() - number for number, each in enumerate(re.finditer("\r\n", self.text))]

    def span(self, start: int, end: int) -> Span:
        """Return where a place of the plain text stands in the file's own."""
        return Span(start + bisect_left(self._pairs, start), end + bisect_left(self._pairs, end))

    def change(self, edits: Edits) -> FileChange:
        """Return the change of the file that puts other text in some places.

        Raises:
            SourceError: `encoding_invalid` if it cannot hold that text.
        """
        try:
            return file_change(self.file.path, self.content, byte_edits(self.source, edits))
        except SourceError as error:
            hints = error.hints if self.file.python else [_OTHERWISE]
            raise error.altered(subject=self.file.name, hints=hints) from None


class Found(Struct, frozen=True, kw_only=True):
    """Outcome of a search.

    Parameters:
        files: those with matches, each with its places and what takes them.
        binary: names of files that are no text and hold a match.
        unread: names of files that may hold a match and could not be read, with the reason.
    """

    files: tuple[tuple[Text, Edits], ...]
    binary: tuple[str, ...]
    unread: tuple[tuple[str, ResourceError], ...]


def find_replacements(
    workspace: Workspace, scope: Scope, expression: Expression, new: str | None, sieve: Sieve
) -> Found:
    """Search every file of a scope.

    Parameters:
        new: the replacement with its groups, as `re` has it; None where it has none.
        sieve: what the scope's files went through already; its time counts.

    Raises:
        Stopped: the time is up.
    """
    reading = _Reading(workspace, scope, expression, sieve)
    found = []
    for text, places in _searched(reading.texts(), expression, new, sieve.deadline):
        spans = [(text.span(start, end), taking) for start, end, taking in places]
        if scope.span is not None:
            spans = [each for each in spans if scope.span.contains(each[0])]
        if spans:
            found.append((text, spans))
    return Found(files=tuple(found), binary=tuple(reading.binary), unread=tuple(reading.unread))


def _searched(
    texts: Iterable[Text], expression: Expression, new: str | None, deadline: float
) -> Iterator[tuple[Text, list[Replacement]]]:
    if expression.endless:
        from bae_source.project.search.child import replacements_elsewhere  # processes cost 6 ms, and most need none

        yield from replacements_elsewhere(texts, lambda text: text.plain, expression, new, deadline)
        return
    for text in texts:
        if time.monotonic() > deadline:
            raise Stopped(text, in_time=False)
        yield text, replacements_in(expression.compiled, text.plain, new)


class _Reading:
    """The files of a scope that may hold a match, and those that cannot be read."""

    def __init__(self, workspace: Workspace, scope: Scope, expression: Expression, sieve: Sieve) -> None:
        self._workspace = workspace
        self._scope = scope
        self._expression = expression
        self._sieve = sieve
        self.binary: list[str] = []
        self.unread: list[tuple[str, ResourceError]] = []

    def texts(self) -> Iterator[Text]:
        """Yield the texts."""
        for file in self._scope.files:
            try:
                text = self._text(file)
            except ResourceError as error:
                self.unread.append((file.name, error))
                continue
            if text is not None:
                yield text

    def _text(self, file: Searched) -> Text | None:
        """Return a file's text; None where it is none, or holds no match."""
        if file.size > MAX_DATA:
            raise SourceError("not_lossless", f"has {file.size:,} bytes, more than {MAX_DATA:,}.", subject="The file")
        content = self._sieve.taken(file.path)
        if content is None:
            content = self._workspace.glance(file.path)
        if content is None:
            raise gone()
        if not self._expression.may_match(content, python=file.python):
            return None
        if file.python:
            return Text(file, content, Source(content))
        codec = codec_of(content)
        if codec is not None:
            source = Source.of_text(content.decode(codec), codec)
            source.content = content
            return Text(file, content, source)
        if self._expression.compiled.search(content.decode("latin-1")):
            self.binary.append(file.name)
        return None
