"""Places where comments, docstrings and text files speak of a symbol.

    # see core.send                      the end of its dotted name
    \"\"\"Wrap `send`, or call send().\"\"\"   its bare name where it is written as code
    :README.md   Use `Client.send`.      likewise in a text file
    # send it again                      an ordinary word: not listed; `send_all` or `Client` would be

Invariants:
- what the search for references lists already, as a string that is a name, is not listed twice;
- a word that could be one of the language is listed only where it is written as code is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence

from bae_source.model.outcome import Notice
from bae_source.model.reasons import Reason
from bae_source.model.reference import Kind, Reference
from bae_source.model.span import Span
from bae_source.project.search.expression import expression_of
from bae_source.project.search.scope import scope_of
from bae_source.project.search.sieve import Sieve
from bae_source.project.search.text import FileHits, search_text
from bae_source.project.usage.project import shown
from bae_source.project.usage.sought import Sought
from bae_source.project.workspace import Workspace
from bae_source.syntax.lexer import lex

_SECONDS = 10.0
_LONGEST_LEAD = 200
_OWN = ("self", "cls")
_WHY: dict[Kind, Reason] = {"comment": Reason.COMMENT, "docstring": Reason.DOCSTRING, "text": Reason.TEXT}


def in_prose(
    workspace: Workspace, sought: Sought, listed: Collection[tuple[str, int]]
) -> tuple[list[Reference], tuple[Notice, ...]]:
    """Return the places that speak of what is looked for, and what could not be searched.

    Parameters:
        listed: module and line of the strings that are known already.
    """
    expression = expression_of(re.escape(sought.word), ignore_case=False, word=True, multi_line=False)
    sieve = Sieve(workspace, expression, seconds=_SECONDS)
    scope = scope_of(workspace, None, stubs=True, data=True, sieve=sieve)
    searched = search_text(workspace, scope, expression, seconds=_SECONDS, sieve=sieve)
    found = [each for file in searched.files for each in _in_file(file, sought)]
    return [each for each in found if (each.module, each.line) not in listed], searched.notices


def _in_file(file: FileHits, sought: Sought) -> Iterator[Reference]:
    text = file.text
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    lexed = lex(text) if file.file.python else None
    docstrings = [each for each in lexed.strings if _is_docstring(text, each)] if lexed else []
    for hit in file.hits:
        at = starts[hit.line - 1] + hit.column - 1
        kind: Kind | None = "text"
        if lexed is not None:
            kind = "comment" if _within(lexed.comments, at) else "docstring" if _within(docstrings, at) else None
        if kind is not None and _speaks(text, Span(at, at + len(sought.word)), sought):
            yield Reference(
                module=hit.module,
                address=hit.address or hit.module,
                line=hit.line,
                column=hit.column,
                kind=kind,
                certainty="mention",
                why=_WHY[kind].of(),
                text=shown(hit.text),
            )


def _is_docstring(text: str, string: Span) -> bool:
    """Say whether a string begins its line, as docstrings do and hardly any other."""
    return not text[text.rfind("\n", 0, string.start) + 1 : string.start].strip()


def _within(spans: Sequence[Span], at: int) -> bool:
    number = bisect_right(spans, at, key=lambda span: span.start) - 1
    return number >= 0 and at < spans[number].end


def _speaks(text: str, word: Span, sought: Sought) -> bool:
    """Say whether a word of prose is the symbol's name, and not one of the language."""
    before = re.search(r"[\w.]*\Z", text[max(0, word.start - _LONGEST_LEAD) : word.start])
    lead = before[0].lstrip(".") if before else ""
    if lead.endswith("."):
        return _leads(lead[:-1], sought)
    is_code = text[word.end : word.end + 1] in ("(", "`") or text[max(0, word.start - 1) : word.start] == "`"
    if is_code or not sought.word.isalpha() or sought.word != sought.word.capitalize():
        return is_code or not (sought.word.isalpha() and sought.word.islower())
    return text[max(0, word.start - 2) : word.start - 1].isalnum()  # `Client` in a sentence, and not at its beginning


def _leads(owner: str, sought: Sought) -> bool:
    """Say whether what stands before the dot may be what the symbol belongs to."""
    around, _, _ = sought.dotted.rpartition(".")
    if around == owner or around.endswith(f".{owner}"):
        return True
    last = around.rpartition(".")[2].replace("_", "").lower()
    return bool(sought.classes) and (owner in _OWN or owner.rpartition(".")[2].replace("_", "").lower() == last)
