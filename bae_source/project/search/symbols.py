"""Symbols by their names and docstrings.

Invariants:
- only files that hold the beginning of one of the words are read; all others could not have been found;
- every file that was to be read and could not be is named, and the answer is not complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.project.files.port import gone
from bae_source.project.naming.listed_symbols import address_in, is_method, symbols_of
from bae_source.project.search.answer import not_searched
from bae_source.project.search.ranking import Document, Ranked, ranked
from bae_source.project.search.scope import Scope, Searched
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.wording import Passage, Wording
from bae_source.syntax.text.source import Source

_QUOTES = re.compile(r"\s*\(*\s*[rRuU]?(\"\"\"|'''|\"|')")
_TEST = re.compile(r"tests?|test_.*|.*_tests?|conftest")
_LONGEST_ABOUT = 120
_SILENT = Passage(MODULE, "", "")


class WordsFound(Struct, frozen=True, kw_only=True):
    """The result of a search.

    Parameters:
        symbols: the best first.
        notices: what was not searched, and why.
    """

    symbols: tuple[Ranked, ...]
    notices: tuple[Notice, ...]


def find_words(workspace: Workspace, scope: Scope, words: Sequence[str]) -> WordsFound:
    """Rank the symbols of a scope by stems of words."""
    notices = list(scope.notices)
    paths = list(_candidates(workspace, scope, words, notices))
    names = {file.path: file.name for file in scope.files}
    documents: list[Document] = []
    total = 0
    for path, wording in workspace.index.wordings(paths):
        if isinstance(wording, ResourceError):
            notices.append(not_searched(names[path], wording))
            continue
        kept = _kept(workspace, scope, path, wording)
        total += len(wording.summary.entries) + 1 if kept is None else len(kept)
        documents += _documents(workspace, names[path], path, wording, _holding(names[path], wording, words, kept))
    return WordsFound(symbols=tuple(ranked(documents, words, total)), notices=tuple(notices))


def _candidates(workspace: Workspace, scope: Scope, words: Sequence[str], notices: list[Notice]) -> Iterator[str]:
    sought = [word.encode("utf-8", "surrogatepass") for word in words]
    ascii_only = all(word.isascii() for word in words)
    for file in scope.files:
        try:
            content = workspace.glance(file.path)
            if content is None:
                raise gone()
        except ResourceError as error:
            notices.append(not_searched(file.name, error))
            continue
        if _may_hold(content, sought, file, ascii_only=ascii_only):
            yield file.path


def _may_hold(content: bytes, sought: Sequence[bytes], file: Searched, *, ascii_only: bool) -> bool:
    """Return whether one of the words may stand in a file's text, or in the module's own name."""
    if any(word in file.name.lower().encode("utf-8", "surrogatepass") for word in sought):
        return True
    lower = content.lower()
    if any(word in lower for word in sought):
        return True
    return b"coding" in content[:4096] or (not ascii_only and not content.isascii())


def _kept(workspace: Workspace, scope: Scope, path: str, wording: Wording) -> set[int] | None:
    """Return the entries that lie in the scope's lines; None for all of them and the module itself."""
    if scope.span is None:
        return None
    lines = Source(workspace.glance(path) or b"").lines
    first, last = lines.number(scope.span.start), lines.number(max(scope.span.start, scope.span.end - 1))
    return {n for n, entry in enumerate(wording.summary.entries) if first <= entry.first and entry.last <= last}


def _holding(module: str, wording: Wording, words: Sequence[str], kept: set[int] | None) -> set[int]:
    """Return the entries, and `MODULE`, that hold one of the words in any field: most hold none."""

    def holds(text: str) -> bool:
        lower = text.lower()
        return any(word in lower for word in words)

    entries = wording.summary.entries
    found = {each.index for each in wording.passages if holds(each.docstring) or holds(each.comments)}
    if holds(module):
        found.add(MODULE)
    in_path = [holds(module.rpartition(".")[2])]  # of the module, then of each entry
    for index, entry in enumerate(entries):
        in_path.append(in_path[entry.parent + 1] or holds(" ".join(entry.names)))
        if in_path[-1]:
            found.add(index)
    return found if kept is None else found & kept


def _documents(workspace: Workspace, module: str, path: str, wording: Wording, wanted: set[int]) -> Iterator[Document]:
    summary = wording.summary
    passages = {passage.index: passage for passage in wording.passages}
    in_tests = any(_TEST.fullmatch(part) for part in module.split("."))
    outer, _, last = module.rpartition(".")
    if MODULE in wanted:
        passage = passages.get(MODULE, _SILENT)
        texts = (last, outer, _inner(passage.docstring), passage.comments)
        yield _document(module, "module", module, 1, texts, in_tests=in_tests)
    for named in symbols_of(summary) if wanted - {MODULE} else ():
        if named.index not in wanted:
            continue
        entry, passage = summary.entries[named.index], passages.get(named.index, _SILENT)
        around = f"{last} {' '.join(named.path[:-1])}"
        yield _document(
            address_in(workspace, module, path, named.address),
            "method" if is_method(summary, entry) else entry.kind,
            module,
            entry.first,
            (named.path[-1], around, _inner(passage.docstring), passage.comments),
            in_tests=in_tests,
        )


def _document(
    address: str, kind: str, module: str, line: int, texts: tuple[str, str, str, str], *, in_tests: bool
) -> Document:
    name, path, docstring, comments = texts
    first, _, rest = docstring.partition("\n\n")
    about = first.split("\n")[0].strip()
    return Document(
        address=address,
        kind=kind,
        module=module,
        line=line,
        about=about if len(about) <= _LONGEST_ABOUT else f"{about[:_LONGEST_ABOUT].rstrip()}…",
        texts=(name, path, first, rest, comments),
        in_tests=in_tests,
    )


def _inner(literal: str) -> str:
    """Return what stands between the quotes of a docstring, with plain line ends."""
    quotes = _QUOTES.match(literal)
    inner = literal[quotes.end() :].removesuffix(quotes[1]) if quotes else literal
    return re.sub(r"\r\n?", "\n", inner).strip()
