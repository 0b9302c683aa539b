"""Imports of what is renamed in files that do not parse, which change; every other word there is a mention.

    from app.core import (         the statement is whole in itself, so it is known what it takes, and from where
        send,
    )
    def f(:
        send()                     nobody can tell what this means

Invariants:
- a statement counts if it parses by itself, wherever its first line stands.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.span import Span
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meaning import Meaning
from bae_source.project.references.meaning.project import Project, shown
from bae_source.refactoring.renaming.places import Place
from bae_source.syntax.importing.statements import whole_imports
from bae_source.syntax.text.lexer import lex
from bae_source.syntax.text.source import Source


def broken_places(project: Project, family: Family, new: str, path: str) -> tuple[list[Place], list[Reference]]:
    """Return the places that change in a file that does not parse, and the mentions that stay."""
    try:
        project.uses(path)
    except ResourceError:
        pass
    else:
        return [], []  # it is known but for some suites
    try:
        source = Source(project.workspace.content(path) or b"")
    except ResourceError:
        return [], []
    word = family.sought.word
    spans = [Span(start, start + len(word)) for start in sorted(set(_imported(project, family, path, source)))]
    changed = [Place(path=path, span=span, new=new, line=source.lines.number(span.start)) for span in spans]
    return changed, list(words_left(project, path, source, word, spans))


def words_left(project: Project, path: str, source: Source, word: str, changed: Iterable[Span]) -> Iterator[Reference]:
    """Yield where code of a file that does not parse has a word, but for places that change."""
    text, module = source.text, project.workspace.census.module(path)
    hidden = [*(lexed := lex(text)).strings, *lexed.comments, *changed]
    for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text) if module is not None else ():
        start = match.start()
        if module is None or any(each.start <= start < each.end for each in hidden):
            continue
        place = source.lines.place(start)
        yield Reference(
            module=module.name,
            address=module.name,
            line=place.line,
            column=place.column,
            kind="mention",
            certainty="mention",
            why=Reason.NOT_ANALYSED.of(),
            text=shown(project.lines(path).cut(place.line)),
        )


def _imported(project: Project, family: Family, path: str, source: Source) -> Iterator[int]:
    """Yield where statements that are whole in themselves import what is renamed."""
    word = family.sought.word
    found = whole_imports(source.text, source.lines) if not family.classes and not family.is_local else ()
    for statement in found:
        taken = [each for each in statement.names if each.name == word]
        if not isinstance(statement, ast.ImportFrom) or not taken:
            continue
        files = project.names.files(path, statement.module or "", statement.level)
        meanings = frozenset[Meaning]().union(*(project.names.attribute(file, word) for file in files))
        if meanings and meanings <= frozenset[Meaning](family.symbols):
            yield from (source.lines.offset(each.lineno, each.col_offset) for each in taken)
