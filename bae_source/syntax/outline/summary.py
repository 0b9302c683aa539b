"""The definitions of a module without their code: small enough to be kept for every file of a project.

Invariants:
- a summary depends on the file's bytes alone, so it can be kept by their digest;
- lines are 1-based and inclusive; a decorated definition begins at its first decorator;
- entries stand in the order of `Outline.definitions`, one for each, so an index is good for both;
- its size is bounded by names and headers, not by values: a long assignment is cut.
"""

from __future__ import annotations

import re

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import Definition, ImportBinding, Kind, Outline
from bae_source.syntax.outline.locate import has_parts, runs_of, segments_of
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.lexer import end_of_header
from bae_source.syntax.text.one_line import in_one_line

_KINDS = {kind: kind.value for kind in Kind}
_LONGEST_STATEMENT = 100
_LONGEST_DOC = 300
_SIMPLE = re.compile(r"(?:async )?(?:def|class) \w+(?:\([^()'\"#\\\r\n]*\))?(?: -> [\w.]+(?:\[[\w., |\[\]]*\])?)?(?=:)")
"""A header on one line without anything that could hide its colon; nine of ten are like that, and need no scanner."""
_LINE_END = re.compile(r"[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_QUOTES = re.compile(r"\A\s*\(*\s*[rRuU]?(\"\"\"|'''|\"|')")


class Entry(Struct, frozen=True, array_like=True, gc=False):
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
        signature: its header in one line, without the colon; of a statement the first 100 characters.
        doc: the first line of its docstring.
        component: what names it alone within its parent where its name does not, such as `f[1]` or `x@setter`.
        group: index of the first entry of the run that its name means, its own where it stands alone; -1 for that.
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
    component: str = ""
    group: int = -1

    @property
    def leads(self) -> bool:
        """Return whether it is the first, or the only one, of the definitions of its name there."""
        return self.group < 0


class Summary(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """One module.

    Parameters:
        doc: the first line of its docstring.
        lines: how many lines the file has.
        entries: its definitions, in source order.
        imports: what import statements of its own scope bind.
        class_imports: what those in its classes bind, which run when it does.
        exported: the names in a static `__all__`; None where there is none, or it cannot be read off.
        exports_known: whether `exported` says it all.
    """

    doc: str
    lines: int
    entries: tuple[Entry, ...]
    imports: tuple[ImportBinding, ...]
    class_imports: tuple[ImportBinding, ...]
    exported: tuple[str, ...] | None
    exports_known: bool


def summarise(tree: Tree) -> Summary:
    """Return the summary of a parsed file."""
    outline, lines = tree.outline, tree.source.lines
    groups, components = _shared_names(outline)
    entries = tuple(
        _entry(tree, definition, components.get(index, ""), groups.get(index, -1))
        for index, definition in enumerate(outline.definitions)
    )
    return Summary(
        doc=_first_line(tree.text, outline.docstring),
        lines=lines.number(len(tree.text)),
        entries=entries,
        imports=outline.imports,
        class_imports=outline.class_imports,
        exported=outline.exported,
        exports_known=outline.exports_known,
    )


def _entry(tree: Tree, definition: Definition, component: str, group: int) -> Entry:
    text, lines = tree.text, tree.source.lines
    return Entry(
        definition.names,
        _KINDS[definition.kind],
        definition.parent,
        definition.role,
        definition.decorators,
        lines.number(definition.span.start),
        lines.number(definition.keyword),
        lines.number(max(definition.keyword, definition.end - 1)),
        _header(text, definition) if has_parts(definition) else _statement(text, definition),
        _first_line(text, definition.docstring),
        component,
        group,
    )


def _shared_names(outline: Outline) -> tuple[dict[int, int], dict[int, str]]:
    """Return, for definitions that share their name, where their run begins and the component that names each alone."""
    same: dict[tuple[int, str], list[int]] = {}
    for index, definition in enumerate(outline.definitions):
        same.setdefault((definition.parent, definition.names[0]), []).append(index)
    groups: dict[int, int] = {}
    components: dict[int, str] = {}
    for indices in same.values():
        if len(indices) == 1:
            continue
        for run in runs_of(outline, indices):
            names = outline.definitions[run[0]].names  # `a, b = …` and `a = …` beside it are not all of each other
            groups.update((index, run[0]) for index in run[1:] if outline.definitions[index].names == names)
        named = segments_of(outline, indices, outline.definitions[indices[0]].names[0])
        components.update((index, str(segment)) for index, segment in named.items())
    return groups, components


def _header(text: str, definition: Definition) -> str:
    simple = _SIMPLE.match(text, definition.keyword)
    if simple and simple[0].isprintable():
        return simple[0]
    code = text[definition.keyword : end_of_header(text, definition.keyword)]
    return _flat(code).removesuffix(":").rstrip()


def _statement(text: str, definition: Definition) -> str:
    code = text[definition.keyword : min(definition.end, definition.keyword + 4 * _LONGEST_STATEMENT)]
    code = _flat(code)
    cut = definition.end - definition.keyword > 4 * _LONGEST_STATEMENT or len(code) > _LONGEST_STATEMENT
    return f"{code[:_LONGEST_STATEMENT].rstrip()} …" if cut else code


def _flat(code: str) -> str:
    """Return code in one line, by any reader's rules; line ends inside its strings become escapes."""
    if code.isprintable():
        return code
    code = in_one_line(code) if "\n" in code or "\r" in code else code
    return _LINE_END.sub(lambda match: match[0].encode("unicode_escape").decode(), code)


def _first_line(text: str, docstring: Span | None) -> str:
    if docstring is None:
        return ""
    literal = docstring.cut(text)
    match = _QUOTES.match(literal)
    if not match:
        return ""
    inner = literal[match.end() :].partition(match[1])[0].strip()
    return inner.splitlines()[0].rstrip()[:_LONGEST_DOC] if inner else ""
