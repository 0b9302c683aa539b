"""The source that a caller hands over: at any indentation, with imports before it, with its first line stripped.

    import os                        <- leading imports go to the module, and those for type checkers alone
    # why                            <- a leading comment block replaces the owned one
        def f(self):                 <- the first statement's indentation is taken off, whatever it is
            return os.sep

    def f(self):                     <- the commonest paste: the first line lost its indentation,
            return os.sep            <- the others kept theirs

Errors give line and column in the very text that was handed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from msgspec import Struct

from bae_source.errors import RequestError, SourceError
from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import Definition, Outline
from bae_source.syntax.outline.tree import Tree, parse_text
from bae_source.syntax.text.lexer import Lexed, LineKind, lex
from bae_source.syntax.text.source import NEWLINE, Lines, Source, with_newlines

_SPACE = re.compile(r"[ \t\f]*")
_IMPORT = re.compile(r"[ \t\f]*(?:import\b|from\b(?=[ \t\\.\w]))")
_FOR_CHECKERS = re.compile(r"[ \t\f]*if[ \t]+(?:\w+\.)?TYPE_CHECKING[ \t]*:[ \t]*(?=([^\s#])?)")
_ELSE = re.compile(r"[ \t\f]*(?:else|elif)\b")
_CLOSING = re.compile(r"[ \t]*[)\]}]")
_COMMON_UNITS = ("  ", "    ", "\t")
_LITERAL = re.compile(r"[\s(\\]*[rRbBuUfFtT]{0,2}[\"']")
WRAPPER = "if 1:\n"


class Given(Struct, frozen=True, kw_only=True):
    """Source that was handed over, understood.

    Parameters:
        tree: the statements, wrapped in an `if` where they are indented, without leading imports.
        indent: the text that indents the first statement.
        unit: by what its first suite is indented; None where it has none.
        imports: the leading import statements, as source.
        lead: span of the comment block above the first statement, in `tree.text`; None where there is none.
        statements: how many statements there are.
        definitions: indices of those that are definitions, in `tree.outline`.
        dropped: comments that belong to no statement and are left out.
    """

    tree: Tree
    indent: str
    unit: str | None
    imports: str
    lead: Span | None
    statements: int
    definitions: tuple[int, ...]
    dropped: bool

    @property
    def outline(self) -> Outline:
        """The outline of the statements."""
        return self.tree.outline

    @property
    def text(self) -> str:
        """The text that all offsets refer to."""
        return self.tree.text


def understand(
    given: str, *, unit: str, newline: str = "\n", target_indent: str = "", lift_imports: bool = True
) -> Given:
    """Parse source that was handed over.

    Parameters:
        given: the source.
        unit: by what suites are indented where it will stand; it tells a stripped first line from a wide indentation.
        newline: the line end in use where it will stand.
        target_indent: by what the code is indented where it will stand.
        lift_imports: whether leading import statements are for the module.

    Raises:
        SourceError: `syntax_invalid`, with line and column in `given`.
        RequestError: `invalid_arguments` if it cannot be encoded.
    """
    text = with_newlines(given.removeprefix("\ufeff"), newline)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        place = Lines(text).place(error.start)
        raise RequestError(
            "invalid_arguments",
            f"The given source holds a lone surrogate at {place}.",
            hints=["Give text that can be encoded as UTF-8."],
        ) from None
    imports, start = _leading_imports(text) if lift_imports and "import" in text else ("", 0)
    body = text[start:]
    lines_above = len(NEWLINE.findall(text[:start]))
    return _parse_body(body, imports, lines_above, unit=unit, target_indent=target_indent)


def begins_literal(code: str) -> bool:
    """Return whether some code begins like a string, whether it ends or not."""
    return _LITERAL.match(code) is not None


def _leading_imports(text: str) -> tuple[str, int]:
    """Return the import statements that lead the source, and the offset behind them; a lone import stays."""
    lexed = lex(text)
    logical = [start for start, kind in zip(lexed.starts, lexed.kinds, strict=True) if kind is LineKind.LOGICAL]
    heads: list[int] = []
    count = 0
    while found := _lines_of_import(text, logical[count:]):
        heads.append(logical[count])
        count += found
    if not heads:
        return "", 0
    end = len(text) if count == len(logical) else _start_of_comments(lexed, logical[count])
    starts = [_start_of_comments(lexed, each) for each in heads]
    pieces = [(text[a:b], _space(text, own)) for a, b, own in zip(starts, [*starts[1:], end], heads, strict=True)]
    stray = [text[: starts[0]]] if "#" in text[: starts[0]] else []
    return "\n".join([*stray, *(_unindented(piece, indent) for piece, indent in pieces)]), end


def _lines_of_import(text: str, logical: Sequence[int]) -> int:
    """Return how many logical lines an import has, or an `if TYPE_CHECKING` of nothing but imports; 0 for all else."""
    if not logical or _IMPORT.match(text, logical[0]):
        return len(logical[:1])
    header = _FOR_CHECKERS.match(text, logical[0])
    if header is None:
        return 0
    outer = len(_space(text, logical[0]))
    inside = list(takewhile(lambda start: len(_space(text, start)) > outer, logical[1:]))
    after = logical[1 + len(inside) :][:1]
    imports = all(_IMPORT.match(text, start) for start in ([header.end()] if header[1] else inside))
    if not imports or bool(header[1]) == bool(inside) or (after and _ELSE.match(text, after[0])):
        return 0
    return 1 + len(inside)


def _unindented(piece: str, indent: str) -> str:
    """Return the lines of an import statement without what indents the first of them."""
    return "\n".join(line.removeprefix(indent) for line in NEWLINE.split(piece)).strip(" \t\f\n")


def _start_of_comments(lexed: Lexed, start: int) -> int:
    """Return the offset of the comment block directly above the line at `start`."""
    line = lexed.starts.index(start)
    while line and lexed.kinds[line - 1] is LineKind.COMMENT:
        line -= 1
    return lexed.starts[line]


def _parse_body(body: str, imports: str, lines_above: int, *, unit: str, target_indent: str) -> Given:
    lexed = lex(body)
    first = next((n for n, kind in enumerate(lexed.kinds) if kind is LineKind.LOGICAL), None)
    if first is None:
        return _empty(imports)
    indent = _space(body, lexed.starts[first]).rpartition("\f")[2]
    error: SourceError | None = None
    plain: Given | None = None
    try:
        plain = _parsed(body, lexed, indent, imports)
    except SourceError as refused:
        error = refused
    if not indent and (plain is None or _lost_first_indent(body, lexed, plain, unit, target_indent)):
        restored = _with_first_line_restored(body, lexed, first, imports, unit, target_indent)
        if restored is not None:
            return restored
    if plain is None:
        assert error is not None
        raise _moved(error, lines_above, wrapped=bool(indent))
    return plain


def _lost_first_indent(body: str, lexed: Lexed, plain: Given, unit: str, target_indent: str) -> bool:
    """Return whether source that parses as it stands is rather meant with its first line indented.

    It is if its first suite stands deeper than any suite would: while those inside it are indented by the unit of the
    place, or, where there are none, by an uncommon number of spaces.

        def f(self):             class C:
                if self:             def f(self):         <- where it was copied
                    return 1             if self: …
    """
    if plain.unit is None:
        return _closing_is_indented(body, lexed, target_indent)
    if plain.unit == unit or len(plain.unit) <= len(unit) or not plain.unit.endswith(unit):
        return False
    inner = _increments(body, lexed)[1:]
    if inner:
        return all(step == len(unit) for step in inner)
    return plain.unit not in _COMMON_UNITS and len(plain.unit) % len(unit) == 0


def _increments(body: str, lexed: Lexed) -> list[int]:
    """Return the indentation of each suite against the one around it, in characters and in source order."""
    levels, steps = [0], []
    for start, kind in zip(lexed.starts, lexed.kinds, strict=True):
        if kind is not LineKind.LOGICAL:
            continue
        column = len(_space(body, start).rpartition("\f")[2])
        while column < levels[-1]:
            levels.pop()
        if column > levels[-1]:
            steps.append(column - levels[-1])
            levels.append(column)
    return steps


def _with_first_line_restored(
    body: str, lexed: Lexed, first: int, imports: str, unit: str, target_indent: str
) -> Given | None:
    """Parse `body` as if its first line had been stripped of the indentation that the rest still has."""
    # def f(self):                12 characters before `return` with a unit of 4: tried are 12, as for a decorator and
    #             return 1        its function, which does not parse, and then 8, which does: `f` was copied at 8.
    for indent in _possible_indents(body, lexed, first, unit, target_indent):
        start = lexed.starts[first]
        try:
            whole = body[:start] + indent + body[start:]
            return _parsed(whole, lex(whole), indent, imports)
        except SourceError:
            continue
    return None


def _possible_indents(body: str, lexed: Lexed, first: int, unit: str, target_indent: str) -> Iterator[str]:
    following = [
        _space(body, start).rpartition("\f")[2]
        for start, kind in list(zip(lexed.starts, lexed.kinds, strict=True))[first + 1 :]
        if kind is LineKind.LOGICAL
    ]
    if following and following[0]:
        yield following[0]  # the next line stands beside the first one: a decorator's function, the next statement
        if following[0].endswith(unit) and following[0] != unit:
            yield following[0][: -len(unit)]
    elif not following and target_indent:
        yield target_indent


def _closing_is_indented(body: str, lexed: Lexed, target_indent: str) -> bool:
    """Return whether a lone bracket that closes the statement stands at the indentation it would have in its place."""
    lines = [start for start, kind in zip(lexed.starts, lexed.kinds, strict=True) if kind is LineKind.CONTINUATION]
    logical = sum(kind is LineKind.LOGICAL for kind in lexed.kinds)
    if not target_indent or logical != 1 or not lines or not _CLOSING.match(body, lines[-1]):
        return False
    return _space(body, lines[-1]) == target_indent


def _parsed(body: str, lexed: Lexed, indent: str, imports: str) -> Given:
    text = WRAPPER + body if indent else body
    outline, newer = parse_text(text)
    tree = Tree(Source.of_text(text), outline, newer=newer)
    top = 1 if indent else 0  # the wrapper's suite is the first one inside the module's
    module = outline.suites[0]
    suite = outline.suites[top] if top < len(outline.suites) else None
    if indent and module is not None and module.size > 1:
        raise _outdented(tree)
    definitions = tuple(n for n, d in enumerate(outline.definitions) if d.suite == top)
    unit = _unit(body, lexed, indent)
    lead = _lead(tree, outline.definitions[definitions[0]]) if definitions else None
    return Given(
        tree=tree,
        indent=indent,
        unit=unit,
        imports=imports,
        lead=lead,
        statements=suite.size if suite is not None else 0,
        definitions=definitions,
        dropped=_has_stray_comments(tree, definitions, lead),
    )


def _unit(body: str, lexed: Lexed, indent: str) -> str | None:
    """Return the indentation of the first suite against the statements around it."""
    for start, kind in zip(lexed.starts, lexed.kinds, strict=True):
        if kind is LineKind.LOGICAL:
            space = _space(body, start).rpartition("\f")[2]
            if space != indent and space.startswith(indent):
                return space[len(indent) :]
    return None


def _empty(imports: str) -> Given:
    outline, newer = parse_text("")
    tree = Tree(Source.of_text(""), outline, newer=newer)
    return Given(
        tree=tree, indent="", unit=None, imports=imports, lead=None, statements=0, definitions=(), dropped=False
    )


def _lead(tree: Tree, first: Definition) -> Span | None:
    """Return the lines of the last comment block above the first statement, blank lines between them or not."""
    lines, text = tree.source.lines, tree.text
    last = lines.number(first.span.start) - 1
    floor = 1 if text.startswith(WRAPPER) else 0
    while last > floor and not lines.cut(last).strip():
        last -= 1
    top = last
    while top > floor and lines.cut(top).lstrip(" \t\f").startswith("#"):
        top -= 1
    return Span(lines.start(top + 1), lines.end(last)) if top < last else None


def _has_stray_comments(tree: Tree, definitions: tuple[int, ...], lead: Span | None) -> bool:
    if not definitions:
        return False
    first, last = tree.outline.definitions[definitions[0]], tree.outline.definitions[definitions[-1]]
    above = tree.text[: lead.start if lead else first.span.start].removeprefix(WRAPPER)
    return bool(above.strip()) or bool(tree.text[last.span.end :].strip())


def _outdented(tree: Tree) -> SourceError:
    """Return the error for a later statement that is indented less than the first one."""
    wrapper_end = tree.outline.suites[0]
    assert wrapper_end is not None
    place = tree.source.lines.place(wrapper_end.end - 1)
    return SourceError(
        "syntax_invalid",
        f"The given source ends at line {place.line - 1} with a statement indented less than its first one.",
        hints=["Give all statements at one indentation."],
        details={"line": place.line, "column": 1, "reason": "unindent"},
    )


def _moved(error: SourceError, lines_above: int, *, wrapped: bool) -> SourceError:
    """Return a parser's error with line and column in the source as it was handed over."""
    if error.code != "syntax_invalid":
        return error
    details = dict(error.details)
    details["line"] = max(1, details.get("line", 1) + lines_above - (1 if wrapped else 0))
    return SourceError(
        "syntax_invalid",
        f"The given source does not parse: line {details['line']}, column {details['column']}: {details['reason']}.",
        hints=["Nothing was changed; give the source again, corrected."],
        details=details,
    )


def _space(text: str, start: int) -> str:
    match = _SPACE.match(text, start)
    return match[0] if match else ""
