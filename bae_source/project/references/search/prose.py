"""Places where comments, docstrings, other strings and text files mention a symbol.

    # see core.send                      the end of its dotted name
    \"\"\"Wrap `send`, or call send().\"\"\"   its bare name where it is written as code
    :README.md   Use `Client.send`.      likewise in a text file
    doc=":meth:`send`"                   likewise in a string that is more than a name
    b"cpack.core\\nClient\\n."             the dotted name of a module in bytes, such as those of a pickled object
    # send it again                      an ordinary word: not listed; `send_all` or `Client` would be

Invariants:
- a string that is a name, and code in a string, is left to the search for references, which decides what it means;
- a word that could be one of the language is listed only where it is written as code is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.reasons import Reason
from bae_source.model.reference import Kind, Reference
from bae_source.model.span import Span
from bae_source.project.files.data_listing import data_files
from bae_source.project.references.meaning.project import project_of, shown
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.search.expression import expression_of
from bae_source.project.search.scope import scope_of
from bae_source.project.search.sieve import Sieve
from bae_source.project.search.text import FileHits, Hit, search_text
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u
from bae_source.syntax.text.lexer import Lexed, lex
from bae_source.syntax.text.source import Lines

_LARGEST = 1_000_000
"""Bytes of a text file; a larger one is hardly written by hand."""
_PROSE = (".md", ".rst", ".txt", ".po")
"""Endings of files for people to read; other files, such as templates, may look up the names in them."""
_WORD = re.compile(r"[^\W\d]\w*")
_SECONDS = 10.0
_LONGEST_LEAD = 200
_DOCTEST = re.compile(r"[ \t]*(?:>>>|\.\.\.)[ \t]")
_BYTES = re.compile(r"[rR]?[bB][rR]?[\"']")
_WITH_FIELDS = re.compile(r"[rR]?[fFtT][rR]?[\"']")
_BRACES = re.compile(r"\{+|\}+")
_OWN = ("self", "cls")
_IMPORTED = re.compile(r"\bfrom[ \t]+([\w.]+)[ \t]+import[ \t]+(?:[\w \t]+,[ \t]*)*\Z")
_INNER = re.compile(r"\.[^\W\d]")
_IMPORT = re.compile(r"(?:^|>>>)[ \t]*(?:import|from)[ \t]+\Z", re.MULTILINE)
_OF_A_PATH = re.compile(r"[/\\@:-]\Z")
_WHY: dict[Kind, Reason] = {
    "comment": Reason.COMMENT,
    "docstring": Reason.DOCSTRING,
    "text": Reason.TEXT,
    "string": Reason.STRING,
}


class Spoken(Struct, frozen=True, kw_only=True):
    """One place that mentions the target.

    Parameters:
        path: the file.
        python: whether it is source code.
        dotted: whether what it belongs to stands before it, as in `Client.send`.
    """

    path: str
    python: bool
    dotted: bool
    reference: Reference


def in_prose(
    workspace: Workspace, sought: Sought, listed: Collection[tuple[str, int]]
) -> tuple[list[Reference], tuple[Notice, ...]]:
    """Return the places that mention the target, and what could not be searched.

    Parameters:
        listed: module and line of the strings that are known already.
    """
    found, notices = spoken_of(workspace, sought)
    lines = {(each.reference.module, each.reference.line): each.reference for each in reversed(found)}
    return [lines[place] for place in reversed(lines) if place not in listed], notices


def spoken_of(
    workspace: Workspace, sought: Sought, code: Mapping[str, Iterable[tuple[int, int]]] | None = None
) -> tuple[list[Spoken], tuple[Notice, ...]]:
    """Return every place that mentions the target, also several in a line, and what could not be searched.

    Parameters:
        code: lines from 1 and columns from 0, in bytes, of places that are known to be code, by path.
    """
    expression = expression_of(re.escape(sought.word), ignore_case=False, word=True, multi_line=False)
    naming = workspace.index.naming([sought.word])  # which is known already where code was searched for it
    holding = frozenset((*naming.paths, *(path for path, _ in naming.unreadable)))
    sieve = Sieve(workspace, expression, seconds=_SECONDS, holding=holding)
    scope = scope_of(workspace, None, stubs=True, data=True, sieve=sieve)
    searched = search_text(workspace, scope, expression, seconds=_SECONDS, sieve=sieve)
    known, uses = code or {}, project_of(workspace).uses
    spoken = [each for file in searched.files for each in _in_file(file, sought, known.get(file.file.path, ()), uses)]
    return spoken, searched.notices


def code_of(files: Iterable[tuple[str, Iterable[Mentioned]]]) -> dict[str, list[tuple[int, int]]]:
    """Return where the code of files mentions something, as far as that is neither a string nor a comment."""
    return {
        path: [each.mention[:2] for each in found if each.mention.kind not in (u.EXPORT, u.STRING, u.MENTION)]
        for path, found in files
    }


def text_files_about(workspace: Workspace, several: Iterable[Sought]) -> Iterator[Sought]:
    """Yield each of several things that a text file mentions, or has the name of, if it is not for people to read."""
    waiting: dict[str, list[Sought]] = {}
    for sought in several:
        waiting.setdefault(sought.word, []).append(sought)
    for file in data_files(workspace):
        try:
            content = workspace.glance(file.path) if file.size <= _LARGEST and waiting else None
        except ResourceError:
            continue
        text = (content or b"").decode("utf-8", "replace")
        found: set[str] = set()
        for match in _WORD.finditer(text) if any(word in text for word in waiting) else ():
            for sought in waiting.get(match[0], ()):
                if not file.path.endswith(_PROSE) or speaks(text, Span(*match.span()), sought):
                    found.add(sought.word)
                    yield sought
        for word in found:
            del waiting[word]


def _in_file(
    file: FileHits, sought: Sought, code: Iterable[tuple[int, int]], uses: Callable[[str], u.Uses]
) -> Iterator[Spoken]:
    text, known = file.text, set(code)
    word = re.compile(rf"(?<!\w){re.escape(sought.word)}(?!\w)")
    lines = Lines(text)
    prose = _Prose(text, lines, lambda: uses(file.file.path), sought) if file.file.python else None
    hits = [hit for hit in file.hits if not known.issuperset(_places(hit, word))]
    for hit in hits:
        start, end = lines.start(hit.line), lines.end(hit.line)
        for match in word.finditer(text, start, end):
            is_code = (hit.line, _column(text[start:end], match.start() - start)) in known
            how = "" if is_code else speaks(text, Span(*match.span()), sought)
            in_bytes = prose is not None and not is_code and prose.is_in_bytes(match.start())
            if is_code or not (how or in_bytes or _DOCTEST.match(text, start)):
                continue
            kind: Kind | None = "text" if prose is None else "string" if in_bytes else prose.kind_at(match.start())
            if not how and kind in ("docstring", "string"):
                how = "bare"  # it is code, or data
            if kind is not None and how:
                reference = Reference(
                    module=hit.module,
                    address=hit.address or hit.module,
                    line=hit.line,
                    column=match.start() - start + 1,
                    kind=kind,
                    certainty="mention",
                    why=(Reason.BYTES if in_bytes else _WHY[kind]).of(),
                    text=shown(hit.text),
                )
                yield Spoken(path=file.file.path, python=file.file.python, dotted=how == "dotted", reference=reference)


def _places(hit: Hit, word: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield line and column of each word on a line, the column in bytes."""
    return ((hit.line, _column(hit.text, match.start())) for match in word.finditer(hit.text))


def _column(line: str, column: int) -> int:
    return column if line.isascii() else len(line[:column].encode("utf-8", "surrogatepass"))


class _Prose:
    """Comments, docstrings and other strings of source code.

    Parameters:
        uses: returns what the code refers to.
    """

    def __init__(self, text: str, lines: Lines, uses: Callable[[], u.Uses], sought: Sought) -> None:
        self._text = text
        self._lines = lines
        self._uses = uses
        self._sought = sought

    @cached_property
    def _lexed(self) -> Lexed:
        return lex(self._text)

    @cached_property
    def _decided(self) -> frozenset[tuple[int, int]]:
        """Lines, and columns in bytes, of words and strings that the search for references decides about."""
        try:
            uses = self._uses()
        except ResourceError:
            return frozenset()
        word = self._sought.word
        names = (mention[:2] for mention in uses.mentions.get(word, ()))
        return frozenset((*names, *((each.line, each.column) for each in uses.strings.get(word, ()))))

    def kind_at(self, at: int) -> Kind | None:
        """Return what kind of prose stands at an offset; None where it is code, or a name."""
        if _around(self._lexed.comments, at) is not None:
            return "comment"
        string = _around(self._lexed.strings, at)
        if string is None:
            return None
        if is_docstring(self._text, string) and not self._is_inside(string):
            return "docstring"
        places = map(self._place, (string.start, string.start + 1, at))
        return None if self._is_in_field(string, at) or not self._decided.isdisjoint(places) else "string"

    def is_in_bytes(self, at: int) -> bool:
        """Return whether a module's name that begins at an offset stands in bytes, with its package before it."""
        package = self._sought.dotted.rpartition(".")[0]
        if not self._sought.is_module or not self._text.endswith(f"{package}." if package else "", 0, at):
            return False
        string = _around(self._lexed.strings, at)
        return string is not None and _BYTES.match(self._text, string.start) is not None

    def _is_in_field(self, string: Span, at: int) -> bool:
        """Return whether an offset in a string lies between the braces of an f-string."""
        if _WITH_FIELDS.match(self._text, string.start) is None:
            return False
        depth = 0
        for braces in _BRACES.finditer(self._text, string.start, at):
            count = len(braces[0])
            is_opening = braces[0].startswith("{")
            depth = max(depth - count, 0) if not is_opening else depth + count if depth else count % 2
        return depth > 0

    def _place(self, at: int) -> tuple[int, int]:
        line = self._lines.number(at)
        start = self._lines.start(line)
        return line, _column(self._text[start:at], at - start)

    def _is_inside(self, string: Span) -> bool:
        """Return whether a string stands in brackets, where no docstring does."""
        return any(span.start < string.start < span.end for span, _ in self._lexed.brackets)


def _around(spans: Sequence[Span], at: int) -> Span | None:
    """Return the one of some spans that an offset lies in."""
    number = bisect_right(spans, at, key=lambda span: span.start) - 1
    return spans[number] if number >= 0 and at < spans[number].end else None


def is_docstring(text: str, string: Span) -> bool:
    """Return whether a string begins its line, as docstrings do and hardly any other."""
    return not text[text.rfind("\n", 0, string.start) + 1 : string.start].strip()


def speaks(text: str, word: Span, sought: Sought) -> Literal["", "bare", "dotted"]:
    """Return how a word of prose is the symbol's name; nothing where it is one of the language."""
    before = re.search(r"[\w.]*\Z", text[max(0, word.start - _LONGEST_LEAD) : word.start])
    lead = before[0].lstrip(".") if before else ""
    if lead.endswith("."):
        return "dotted" if _leads(lead[:-1], sought) else ""
    if (imported := _IMPORTED.search(text, max(0, word.start - _LONGEST_LEAD), word.start)) and not lead:
        return "dotted" if _leads(imported[1], sought) else ""
    if sought.is_module and sought.dotted == sought.word:
        if _OF_A_PATH.search(text, max(0, word.start - 1), word.start):
            return ""  # of an address, a file, or another name
        if _INNER.match(text, word.end) or _IMPORT.search(text, max(0, word.start - _LONGEST_LEAD), word.start):
            return "dotted"
    is_code = text[word.end : word.end + 1] in ("(", "`") or text[max(0, word.start - 1) : word.start] == "`"
    if is_code or not sought.word.isalpha() or sought.word != sought.word.capitalize():
        return "bare" if is_code or not (sought.word.isalpha() and sought.word.islower()) else ""
    is_inside = text[max(0, word.start - 2) : word.start - 1].isalnum()  # `Client` in a sentence, not at its beginning
    return "bare" if is_inside else ""


def _leads(owner: str, sought: Sought) -> bool:
    """Return whether the receiver may be what the symbol belongs to."""
    return (bool(sought.classes) and owner in _OWN) or any(_leads_to(owner, each, sought) for each in sought.every)


def _leads_to(owner: str, dotted: str, sought: Sought) -> bool:
    around, _, _ = dotted.rpartition(".")
    if around == owner or around.endswith(f".{owner}"):
        return True
    last = around.rpartition(".")[2].replace("_", "").lower()
    return bool(sought.classes) and owner.rpartition(".")[2].replace("_", "").lower() == last
