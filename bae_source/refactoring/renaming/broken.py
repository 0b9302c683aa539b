"""Imports of the renamed symbol in files that do not parse, which change; every other word there is a mention.

    from app.core import (         the statement is whole in itself, so it is known what it takes, and from where
        send,
    )
    def f(:
        send()                     its meaning is not known any more

Invariants:
- a statement counts if it parses by itself, wherever its first line stands.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.span import Span
from bae_source.project.references.classes.family import Family
from bae_source.project.references.meaning.meanings import Meaning
from bae_source.project.references.meaning.project import Project, shown
from bae_source.refactoring.renaming.places import Place
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.text.lexer import end_of_line, lex
from bae_source.syntax.text.source import Lines, Source

_IMPORT = re.compile(r"^[ \t\f]*(?=(?:from|import)\b)", re.MULTILINE)


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
        text = source.text
    except ResourceError:
        return [], []
    word, starts = family.sought.word, set(_imported(project, family, path, text))
    changed = [
        Place(path=path, span=Span(start, start + len(word)), new=new, line=source.lines.number(start))
        for start in sorted(starts)
    ]
    return changed, list(words_left(project, path, source, word, starts))


def words_left(project: Project, path: str, source: Source, word: str, changed: Collection[int]) -> Iterator[Reference]:
    """Yield where code of a file that does not parse has a word, but for places that change."""
    text, module = source.text, project.workspace.census.module(path)
    hidden = [*(lexed := lex(text)).strings, *lexed.comments]
    for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text) if module is not None else ():
        start = match.start()
        if module is None or start in changed or any(each.start <= start < each.end for each in hidden):
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


def module_imports(text: str, old: str, new: str) -> Iterator[Span]:
    """Yield where statements that are whole in themselves name a module by its dotted name, up to its last component.

    Parameters:
        old, new: dotted names with as many components, so that one stands for the other.
    """
    if old.count(".") != new.count("."):
        return
    for start, statement, parsed in _statements(text):
        lines = Lines(statement)
        if isinstance(parsed, ast.Import):
            named = [(lines.offset(each.lineno, each.col_offset), each.name) for each in parsed.names]
        elif isinstance(parsed, ast.ImportFrom) and not parsed.level:
            named = [(len(statement) - len(statement[len("from") :].lstrip()), parsed.module or "")]
        else:
            continue
        for at, name in named:
            if f"{name}.".startswith(f"{old}.") and statement.startswith(old, at):
                yield Span(start + at, start + at + len(old))


def _statements(text: str) -> Iterator[tuple[int, str, ast.stmt]]:
    """Yield the imports that are whole in themselves, with their text and where that begins."""
    for match in _IMPORT.finditer(text):
        statement = text[match.end() : end_of_line(text, match.end())]
        try:
            [parsed] = parse_module(statement).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        yield match.end(), statement, parsed


def _imported(project: Project, family: Family, path: str, text: str) -> Iterator[int]:
    """Yield where statements that are whole in themselves import the renamed symbol."""
    word = family.sought.word
    for start, statement, parsed in _statements(text) if not family.classes and not family.is_local else ():
        taken = [each for each in parsed.names if each.name == word] if isinstance(parsed, ast.ImportFrom) else []
        if not isinstance(parsed, ast.ImportFrom) or not taken:
            continue
        files = project.names.files(path, parsed.module or "", parsed.level)
        meanings = frozenset[Meaning]().union(*(project.names.attribute(file, word) for file in files))
        if meanings and meanings <= frozenset[Meaning](family.symbols):
            yield from (start + Lines(statement).offset(each.lineno, each.col_offset) for each in taken)
