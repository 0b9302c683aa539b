"""The parts of a module, and what a piece of text that is replaced in it drops and adds.

    \"\"\"Docstring.\"\"\"                  docstring: its literals

    import os                         imports: from the first to the last one above the first class or function,
    if TYPE_CHECKING:                 in whole statements
        import numpy

    def f(): ...

    if __name__ == "__main__":        main: the statement with its suites
        f()

Statements are told apart by their lines alone, so this works for syntax that is newer than the running Python.
"""

from __future__ import annotations

import re
from collections import Counter

from bae_source.errors import LookupFailed, Refused, SourceError
from bae_source.model.address import Part
from bae_source.model.span import Span
from bae_source.syntax.importing.placing import end_of_header_comments, top_of
from bae_source.syntax.outline.definitions import MODULE, Definition, Outline
from bae_source.syntax.outline.locate import comments_above, kept_above, unit_for
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.altered import Altered, compared_modules
from bae_source.syntax.rewrite.blank_lines import end_of_gap, start_of_gap
from bae_source.syntax.rewrite.given import begins_literal, understand
from bae_source.syntax.rewrite.splice import Splices, ended_like
from bae_source.syntax.text.lexer import LineKind, lex
from bae_source.syntax.text.source import with_newlines

_BLOCK = re.compile(r"\f*(?:(?:if|try|with|for|while|match|def|class|async)\b|@)")
_CLAUSE = re.compile(r"(?:else|elif|except|finally)\b")
_MAIN = re.compile(
    r"""if\b[\s(\\]*(?:__name__[\s\\]*==[\s\\]*(['"])__main__\1|(['"])__main__\2[\s\\]*==[\s\\]*__name__\b)"""
)
_SHAPES = {
    Part.DOCSTRING: 'a string literal such as """Text."""',
    Part.IMPORTS: "import statements, and what decides about them",
    Part.MAIN: 'one statement such as if __name__ == "__main__": main()',
}


def module_part_span(tree: Tree, part: Part) -> Span | None:
    """Return the span of a part of a module; None where it has none.

    Raises:
        LookupFailed: `ambiguous_symbol` if it has several main blocks.
    """
    if part is Part.DOCSTRING:
        return tree.outline.docstring
    if part is Part.IMPORTS:
        return _imports_span(tree)
    return _main_span(tree)


def replace_module_part(tree: Tree, part: Part, new_source: str) -> Splices:
    """Plan to put `new_source` in the place of a part of a module, or to give the module one.

    Raises:
        SourceError: `syntax_invalid`, with line and column in `new_source`.
        Refused: `unsafe_change` if it is something else than that part.
    """
    span = module_part_span(tree, part)
    newline = tree.source.newline
    if span is not None and with_newlines(new_source, newline) == with_newlines(span.cut(tree.text), newline):
        return []
    text = _understood(tree, part, new_source)
    if span is not None:
        return [(span, ended_like(text, span.cut(tree.text), newline))]
    text = text.rstrip("\r\n") + newline
    at = _place(tree, part)
    before, behind = tree.text[:at], tree.text[at:]
    if before and not before.endswith(("\n", "\r")):
        text = newline + text
    apart = 2 if part is Part.MAIN else 1
    above, below = start_of_gap(tree.text, at), end_of_gap(tree.text, at)
    if before.strip() and part is not Part.DOCSTRING:
        text = newline * (apart - _blank(tree.text, above, at)) + text
    if behind.strip():
        apart = 2 if part is Part.IMPORTS and _BLOCK.match(tree.text, below) else apart
        text += newline * (apart - _blank(tree.text, at, below))
    return [(Span(at, at), text)]


def remove_module_part(tree: Tree, part: Part) -> Splices:
    """Plan to take a part of a module away, with the blank lines that only it needed.

    Raises:
        Refused: `unsafe_change` if it shares a line with other code.
    """
    span = module_part_span(tree, part)
    assert span is not None
    lines, text = tree.source.lines, tree.text
    start, end = lines.start(lines.number(span.start)), span.end
    if part is Part.DOCSTRING:
        start, end = _statement_around(tree, span)
        if not re.fullmatch(r"[\s()\\;]*(?:#[^\r\n]*)?[\r\n]*", text[start : span.start] + text[span.end : end]):
            raise Refused(
                "unsafe_change",
                "The docstring shares its line with other code, and cannot be taken out alone.",
                hints=["Edit the module with old and new."],
            )
    if not text[end:].strip():
        return [(Span(start_of_gap(text, start), len(text)), "")]
    return [(Span(start, end_of_gap(text, end)), "")]


def altered_module(before: Tree, after: Tree) -> Altered:
    """Compare a module before and after a piece of its text was replaced.

    Raises:
        Refused: `name_collision` if the text defines a class or function of a name that the module defines as well.
    """
    found = compared_modules(before, after)
    for path in found.gained:
        if _is_second(after.outline, path):
            raise Refused(
                "name_collision",
                f"The new text also defines {'.'.join(path)}, which exists already.",
                hints=[f"Leave it out, or edit {'.'.join(path)} on its own."],
            )
    return found


def touched(outline: Outline, span: Span) -> list[int]:
    """Return the definitions that a change of some text is about: the innermost around it, else those it overlaps."""
    inside = [n for n, each in enumerate(outline.definitions) if _holds(each, span)]
    if inside:
        return [max(inside, key=lambda n: outline.definitions[n].span.start)]
    return [
        n
        for n, each in enumerate(outline.definitions)
        if each.parent == MODULE and each.span.start < span.end and span.start < each.span.end
    ]


def insertion_end(tree: Tree) -> int:
    """Return where the last statements of a module go: before its main block, unless definitions come behind that."""
    try:
        span = _main_span(tree)
    except LookupFailed:
        span = None
    definitions = tree.outline.definitions
    if span is None or any(each.parent == MODULE and each.span.start >= span.end for each in definitions):
        return len(tree.text)
    lines = tree.source.lines
    line = lines.number(span.start)
    top = comments_above(lines, line)
    suite = tree.outline.suites[0]
    at_head = suite is not None and suite.start >= span.start
    return lines.start(top + kept_above(lines, top, line, at_head=at_head))


def insertion_start(tree: Tree) -> int:
    """Return where the first statements of a module go: behind its docstring and all of its imports."""
    span = _imports_span(tree)
    return span.end if span is not None else top_of(tree)


def blocks_beside(tree: Tree, start: int, end: int) -> tuple[bool, bool]:
    """Return whether the statement of a module above a range is a block of several lines, and the one below."""
    found = _statements(tree.text)
    above = next((each for each in reversed(found) if each.end <= start), None)
    below = next((each for each in found if each.start >= end), None)
    return _is_block(tree.text, above), _is_block(tree.text, below)


def _is_block(text: str, statement: Span | None) -> bool:
    shown = statement.cut(text).strip() if statement is not None else ""
    return bool(_BLOCK.match(shown)) and len(shown.splitlines()) > 1


def _holds(definition: Definition, span: Span) -> bool:
    """Return whether a change stays inside a definition; what begins behind its last statement is beside it."""
    return definition.span.start <= span.start < definition.end and span.end <= definition.span.end


def _is_second(outline: Outline, path: tuple[str, ...]) -> bool:
    """Return whether a class or function has the name of another definition of its suite, or of an import beside it."""
    found = [each for n, each in enumerate(outline.definitions) if outline.qualname(n) == path]
    if any(each.role for each in found):
        return False  # accessors and overloads share their name
    suites = Counter(each.suite for each in found)
    imported = len(path) == 1 and any(binding.top and binding.name == path[0] for binding in outline.imports)
    return any(each.body is not None and (suites[each.suite] > 1 or (imported and not each.suite)) for each in found)


def _statements(text: str) -> list[Span]:
    """Return the spans of a module's own statements, in whole lines; those that share a line are one."""
    lexed = lex(text)
    found: list[list[int]] = []
    decorated = False
    for number, (start, kind) in enumerate(zip(lexed.starts, lexed.kinds, strict=True)):
        end = lexed.starts[number + 1] if number + 1 < len(lexed.starts) else len(text)
        first = text[start:end].lstrip("\f")
        own = kind is LineKind.LOGICAL and first[:1] not in (" ", "\t")
        if own and not decorated and not (found and _CLAUSE.match(first)):
            found.append([start, end])
        elif found and (
            kind not in (LineKind.BLANK, LineKind.COMMENT)
            or (kind is LineKind.COMMENT and first[:1] in (" ", "\t") and _BLOCK.match(text, found[-1][0]))
        ):
            found[-1][1] = end
        if own:
            decorated = first.startswith("@")
    return [Span(start, end) for start, end in found]


def _statement_around(tree: Tree, span: Span) -> tuple[int, int]:
    return next((each.start, each.end) for each in _statements(tree.text) if each.start <= span.start < each.end)


def _imports_span(tree: Tree) -> Span | None:
    outline = tree.outline
    first = min(
        (
            each.span.start
            for each in outline.definitions
            if each.body is not None and each.parent == MODULE and each.suite == 0
        ),
        default=len(tree.text),
    )
    starts = [binding.start for binding in outline.imports if binding.start < first]
    all_ = _statements(tree.text)
    found = [each for each in all_ if any(each.start <= n < each.end for n in starts) and not _is_main(tree.text, each)]
    return Span(found[0].start, found[-1].end) if found else None


def _main_span(tree: Tree) -> Span | None:
    if "__main__" not in tree.text:
        return None
    found = [each for each in _statements(tree.text) if _is_main(tree.text, each)]
    if len(found) > 1:
        numbers = ", ".join(str(tree.source.lines.number(each.start)) for each in found)
        raise LookupFailed(
            "ambiguous_symbol",
            f"The module has {len(found)} main blocks, on its lines {numbers}.",
            hints=["Edit the module with old and new."],
        )
    return found[0] if found else None


def _is_main(text: str, statement: Span) -> bool:
    return _MAIN.match(statement.cut(text).lstrip("\f")) is not None


def _place(tree: Tree, part: Part) -> int:
    """Return where a part that is missing goes."""
    if part is Part.MAIN:
        return len(tree.text)
    return top_of(tree) if part is Part.IMPORTS else end_of_header_comments(tree)


def _understood(tree: Tree, part: Part, new_source: str) -> str:
    """Return the new source of a part as it shall stand."""
    try:
        given = understand(new_source, unit=unit_for(tree, ()), newline=tree.source.newline, lift_imports=False)
    except SourceError:
        if part is Part.DOCSTRING and not begins_literal(new_source):
            raise _not_just(part) from None
        raise
    outline, text = given.outline, given.text
    statements = _statements(text)
    if part is Part.DOCSTRING:
        fits = outline.docstring is not None and given.statements == 1 and not lex(text).comments
    elif part is Part.IMPORTS:
        own = [each for each in outline.definitions if each.body is not None and each.suite == 0]
        fits = bool(outline.imports) and not own and not given.indent
    else:
        fits = len(statements) == 1 and bool(_MAIN.match(text, statements[0].start)) and not given.indent
    if not fits:
        raise _not_just(part)
    if part is Part.DOCSTRING:
        assert outline.docstring is not None
        return outline.docstring.cut(text)
    return text.strip("\r\n")


def _not_just(part: Part) -> Refused:
    return Refused(
        "unsafe_change",
        f"The given source is not just the {part.value} of a module.",
        hints=[f"Give {_SHAPES[part]} and nothing else, or edit the module with old and new."],
    )


def _blank(text: str, start: int, end: int) -> int:
    return len(re.findall(r"\r\n|\n|\r", text[start:end]))
