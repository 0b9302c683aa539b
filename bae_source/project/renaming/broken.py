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
from collections.abc import Iterator

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.model.span import Span
from bae_source.project.renaming.family import Family
from bae_source.project.renaming.places import Place
from bae_source.project.usage.meaning import Meaning
from bae_source.project.usage.project import Project, shown
from bae_source.syntax.lexer import end_of_line, lex
from bae_source.syntax.source import Lines, Source
from bae_source.syntax.tree import parse_module

_IMPORT = re.compile(r"^[ \t\f]*(?=from\b)", re.MULTILINE)


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
    word, module = family.sought.word, project.workspace.census.module(path)
    hidden = [*(lexed := lex(text)).strings, *lexed.comments]
    imported = set(_imported(project, family, path, text))
    changed: list[Place] = []
    left: list[Reference] = []
    for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text):
        place = source.lines.place(match.start())
        if match.start() in imported:
            span = Span(match.start(), match.end())
            changed.append(Place(path=path, span=span, new=new, line=place.line))
        elif module is not None and not any(each.start <= match.start() < each.end for each in hidden):
            left.append(
                Reference(
                    module=module.name,
                    address=module.name,
                    line=place.line,
                    column=place.column,
                    kind="mention",
                    certainty="mention",
                    why=Reason.NOT_ANALYSED.of(),
                    text=shown(project.lines(path).cut(place.line)),
                )
            )
    return changed, left


def _imported(project: Project, family: Family, path: str, text: str) -> Iterator[int]:
    """Yield where statements that are whole in themselves import what is renamed."""
    word = family.sought.word
    for match in _IMPORT.finditer(text) if not family.classes and not family.is_local else ():
        start = match.end()
        statement = text[start : end_of_line(text, start)]
        try:
            [parsed] = parse_module(statement).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        taken = [each for each in parsed.names if each.name == word] if isinstance(parsed, ast.ImportFrom) else []
        if not isinstance(parsed, ast.ImportFrom) or not taken:
            continue
        files = project.names.files(path, parsed.module or "", parsed.level)
        meanings = frozenset[Meaning]().union(*(project.names.attribute(file, word) for file in files))
        if meanings and meanings <= frozenset[Meaning](family.symbols):
            yield from (start + Lines(statement).offset(each.lineno, each.col_offset) for each in taken)
