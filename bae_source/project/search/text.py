"""Regular expressions over source and data files.

    found = search_text(workspace, scope, expression, seconds=10)
    found.hits              in the order of the files' names, then of lines
    found.notices           what was not searched, and why; `complete` says whether that matters

Invariants:
- a line is what Python's tokenizer calls one: `\\r\\n`, `\\n` and a lone `\\r` end it, and are no part of it;
- a file that cannot be searched (unreadable, undecodable, gigantic) is named if it may hold a match;
- a binary file is searched like any other, and named if it holds a match; no line of it is shown;
- the symbol that a hit stands in is worked out only when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.text import listed
from bae_source.project.files.port import gone
from bae_source.project.search.answer import not_searched
from bae_source.project.search.expression import Expression
from bae_source.project.search.matching import Hit as Match
from bae_source.project.search.matching import Stopped
from bae_source.project.search.scope import Scope, Searched
from bae_source.project.search.sieve import MAX_DATA, Sieve
from bae_source.project.search.stoppable import matched
from bae_source.project.workspace import Workspace
from bae_source.syntax.text.source import Source

if TYPE_CHECKING:
    from bae_source.project.naming.listed_symbols import SymbolsByLine

_BINARY = 8000


class Hit:
    """A match, by the line that it begins on.

    Parameters:
        module: what it stands in: a module, `module@stub`, or `package:path/of/data`.
        line: from 1.
        column: from 1, in characters.
        text: the line, or the lines that the match goes over, without the last line end.
        symbols: of the file; or the address itself.
    """

    def __init__(self, module: str, line: int, column: int, text: str, symbols: Symbols | str) -> None:
        self.module = module
        self.line = line
        self.column = column
        self.text = text
        self._symbols = symbols

    @property
    def lines(self) -> int:
        """Over how many lines the match goes."""
        return self.text.count("\n") + 1

    @property
    def address(self) -> str:
        """The innermost symbol that the line lies in; the module itself outside all, and where it does not parse."""
        if isinstance(self._symbols, Symbols):
            self._symbols = self._symbols.at(self.line)
        return self._symbols

    def __repr__(self) -> str:
        return f"Hit({self.module}:{self.line}:{self.column} {self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hit) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __reduce__(self) -> tuple[type[Hit], tuple[str, int, int, str, str]]:
        return Hit, (self.module, self.line, self.column, self.text, self.address)

    def _fields(self) -> tuple[str, int, int, str]:
        return self.module, self.line, self.column, self.text


class Symbols:
    """The symbols of one file, worked out when the first of them is asked for.

    Parameters:
        file: the file.
        content: its bytes as they were searched.
    """

    def __init__(self, workspace: Workspace, file: Searched, content: bytes) -> None:
        self._workspace = workspace
        self._file = file
        self._content = content

    def at(self, line: int) -> str:
        """Return the address of the innermost symbol that a line lies in."""
        if self._by_line is None:
            return self._file.name
        from bae_source.project.naming.listed_symbols import address_in  # as below

        return address_in(self._workspace, self._file.name, self._file.path, self._by_line.at(line))

    @cached_property
    def _by_line(self) -> SymbolsByLine | None:
        """The symbols by their lines; None for data, and for code that does not parse."""
        if not self._file.python:
            return None
        from bae_source.project.naming.listed_symbols import SymbolsByLine, summary_for  # 4 ms, and few ask for symbols

        try:
            summary = summary_for(self._workspace, self._file.path, self._content)
        except ResourceError:
            return None
        return SymbolsByLine(summary, Source(self._content))


class FileHits(Struct, frozen=True, kw_only=True):
    """The hits in one file.

    Parameters:
        file: the file.
        text: all of it, every line ending in `\\n`.
        hits: in the order of their lines.
    """

    file: Searched
    text: str
    hits: tuple[Hit, ...]


class TextFound(Struct, frozen=True, kw_only=True):
    """The result of a search.

    Parameters:
        files: those that hold something and are text, in the order of their names.
        binary: the names of those that hold something and are no text.
        notices: what was not searched, and why; and what holds something that cannot be shown.
        complete: whether everything was searched that could hold a match.
    """

    files: tuple[FileHits, ...]
    binary: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    complete: bool = True


class _Text(Struct, frozen=True):
    """A file that may hold a match: its bytes, its text with plain line ends, and where the text of interest begins."""

    file: Searched
    content: bytes
    whole: str
    first: int
    text: str
    binary: bool = False


def search_text(
    workspace: Workspace, scope: Scope, expression: Expression, *, seconds: float, sieve: Sieve | None = None
) -> TextFound:
    """Search every file of a scope.

    Parameters:
        seconds: how long matching may take altogether.
        sieve: what the scope's files went through already; its time counts.
    """
    sieve = sieve or Sieve(workspace, expression, seconds=seconds)
    deadline = sieve.deadline
    skipped = _Skipped()
    texts = _texts(workspace, scope, expression, skipped, sieve)
    found: list[FileHits] = []
    binary: dict[str, None] = {}
    stopped: Stopped | None = None
    try:
        for text, matches in matched(texts, expression, deadline):
            if matches and text.binary:
                binary[text.file.name] = None
            elif matches:
                found.append(_file_hits(workspace, text, matches, expression))
    except Stopped as error:
        stopped = error
    notices = (*scope.notices, *skipped.notices())
    if binary:
        notices = (*notices, Notice("binary_matches", f"No text, and holds a match: {listed(tuple(binary))}."))
    if stopped is not None:
        notices = (*notices, _stopped_notice(stopped, scope, seconds))
    complete = stopped is None and not skipped.serious and scope.complete
    return TextFound(files=tuple(found), binary=tuple(binary), notices=notices, complete=complete)


def _texts(
    workspace: Workspace, scope: Scope, expression: Expression, skipped: _Skipped, sieve: Sieve
) -> Iterator[_Text]:
    """Read the files, and yield those that may hold a match; bytes of a data file that are no UTF-8 stay bytes."""
    for file in scope.files:
        try:
            if file.size > MAX_DATA:
                skipped.gigantic.append(file.name)
                continue
            content = sieve.taken(file.path)
            if content is None:
                content = workspace.glance(file.path)
            if content is None:
                raise gone()
            if not expression.may_match(content, python=file.python):
                continue
            if not file.python and b"\0" in content[:_BINARY]:
                yield from _of_binary(file, content, expression)
                continue
            text = Source(content).text if file.python else content.decode("utf-8-sig", "surrogateescape")
        except ResourceError as error:
            skipped.unread.append((file.name, error))
            continue
        yield _cut(file, content, text, scope)


def _of_binary(file: Searched, content: bytes, expression: Expression) -> Iterator[_Text]:
    """Yield the texts that a binary file's bytes may stand for; of bytes that are no UTF-8 nothing is shown."""
    for encoding in ("utf-8-sig", "latin-1") if expression.beyond_ascii else ("utf-8-sig",):
        plain = _plain(content.decode(encoding, "replace"))
        yield _Text(file, content, plain, 1, plain, binary=True)


def _cut(file: Searched, content: bytes, text: str, scope: Scope) -> _Text:
    plain = _plain(text)
    if scope.span is None:
        return _Text(file, content, plain, 1, plain)
    before = _plain(text[: scope.span.start])
    start = before.rfind("\n") + 1
    end = len(_plain(text[: scope.span.end]))
    return _Text(file, content, plain, before.count("\n") + 1, plain[start:end])


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _file_hits(workspace: Workspace, text: _Text, matches: Sequence[Match], expression: Expression) -> FileHits:
    symbols = Symbols(workspace, text.file, text.content)
    hits = []
    for line, column, start, end in matches:
        first = text.text.rfind("\n", 0, start) + 1
        last = text.text.find("\n", max(start, end - 1) if expression.spanning else start)
        shown = text.text[start:end] if expression.every else text.text[first : last if last >= 0 else len(text.text)]
        hits.append(Hit(text.file.name, line + text.first - 1, column, shown, symbols))
    return FileHits(file=text.file, text=text.whole, hits=tuple(hits))


def _stopped_notice(stopped: Stopped, scope: Scope, seconds: float) -> Notice:
    names = [file.name for file in scope.files]
    name = stopped.text.file.name if isinstance(stopped.text, _Text) else names[0]
    when = "before its time was up" if stopped.in_time else f"after {seconds:g} s"
    behind = len(names) - names.index(name) - 1
    return Notice(
        "timed_out",
        f"The search was stopped {when} in {name}; that and what comes behind it ({behind} files) was not searched "
        "to its end.",
    )


class _Skipped:
    """Files that were not searched, and why."""

    def __init__(self) -> None:
        self.unread: list[tuple[str, ResourceError]] = []
        self.gigantic: list[str] = []

    @property
    def serious(self) -> bool:
        """Return whether a match may have been missed."""
        return bool(self.unread or self.gigantic)

    def notices(self) -> tuple[Notice, ...]:
        notices = [not_searched(name, error) for name, error in self.unread]
        if self.gigantic:
            names = listed(self.gigantic)
            notices.append(Notice("too_large", f"Larger than {MAX_DATA:,} bytes, and not searched: {names}."))
        return tuple(notices)
