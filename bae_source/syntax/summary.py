"""What a module defines, without its code: small enough to be kept for every file of a project.

Invariants:
- a summary depends on the file's bytes alone, so it can be kept by their digest;
- lines are 1-based and inclusive; a decorated definition begins at its first decorator.
"""

from __future__ import annotations

import re

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.lexer import end_of_header
from bae_source.syntax.locate import has_parts
from bae_source.syntax.outline import ImportBinding
from bae_source.syntax.tree import Tree

_SPACE = re.compile(r"\s+")
_QUOTES = re.compile(r"\A\s*\(*\s*[rRuU]?(\"\"\"|'''|\"|')")


class Entry(Struct, frozen=True, array_like=True):
    """One definition.

    Parameters:
        names: what it binds.
        kind: `class`, `function`, `assignment` or `type alias`.
        parent: index of the enclosing entry; -1 at the module's own level.
        role: `getter`, `setter`, `deleter`, `overload`, or None.
        decorators: what decorates it, without `@` and arguments.
        first: the line that its span starts on.
        keyword: the line of `def`, `class` or the statement.
        last: the line of its last token.
        signature: its header or statement in one line, without the colon.
        doc: the first line of its docstring.
    """

    names: tuple[str, ...]
    kind: str
    parent: int
    role: str | None
    decorators: tuple[str, ...]
    first: int
    keyword: int
    last: int
    signature: str
    doc: str


class Summary(Struct, frozen=True, kw_only=True):
    """One module.

    Parameters:
        doc: the first line of its docstring.
        lines: how many lines the file has.
        entries: its definitions, in source order.
        imports: what import statements of its own scope bind.
        exported: the names in a static `__all__`; None where there is none, or it cannot be read off.
        exports_known: whether `exported` says it all.
    """

    doc: str
    lines: int
    entries: tuple[Entry, ...]
    imports: tuple[ImportBinding, ...]
    exported: tuple[str, ...] | None
    exports_known: bool


def summarise(tree: Tree) -> Summary:
    """Return the summary of a parsed file."""
    text, lines, outline = tree.text, tree.source.lines, tree.outline
    entries = tuple(
        Entry(
            definition.names,
            definition.kind.value,
            definition.parent,
            definition.role,
            definition.decorators,
            lines.number(definition.span.start),
            lines.number(definition.keyword),
            lines.number(max(definition.keyword, definition.end - 1)),
            _in_one_line(
                text[definition.keyword : end_of_header(text, definition.keyword) - 1]
                if has_parts(definition)
                else text[definition.keyword : definition.end]
            ),
            _first_line(text, definition.docstring),
        )
        for definition in outline.definitions
    )
    return Summary(
        doc=_first_line(text, outline.docstring),
        lines=lines.number(len(text)),
        entries=entries,
        imports=outline.imports,
        exported=outline.exported,
        exports_known=outline.exports_known,
    )


def _in_one_line(code: str) -> str:
    return _SPACE.sub(" ", code).strip()


def _first_line(text: str, docstring: Span | None) -> str:
    if docstring is None:
        return ""
    literal = docstring.cut(text)
    match = _QUOTES.match(literal)
    if not match:
        return ""
    inner = literal[match.end() :].partition(match[1])[0].strip()
    return inner.splitlines()[0].rstrip() if inner else ""
