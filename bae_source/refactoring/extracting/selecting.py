"""The piece of code that lines or a text mean: whole statements of one suite, or one expression.

    10  if ready:                lines 11-12     both statements of the suite
    11      a = load()           lines 10-11     refused: line 10 begins a statement that line 12 ends
    12      b = clean(a)         clean(a)        the expression of line 12, wherever it stands alone

Invariants:
- nothing is cut in two: what is chosen is what Python reads as one expression, or as statements in a row;
- a text that stands nowhere, or several times, is an error that says where.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from bae_source.errors import LookupFailed, RequestError, SourceError
from bae_source.model.call import Call
from bae_source.model.span import Span
from bae_source.model.text import counted, listed
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.patterns.pattern import span_of
from bae_source.syntax.text.nearby import nearest
from bae_source.syntax.text.source import Source
from bae_source.system.collecting import collector_off

Again = Callable[..., Call]
"""Makes the call of the request with other parameters, as the next one after a refusal."""

_RANGE = re.compile(r"\s*(\d{1,9})(?:\s*-\s*(\d{1,9})|:(\d{1,9}))?\s*")
_BEHIND = re.compile(r"[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|\Z)")
_MOST_SHOWN = 10


class Piece(Struct, frozen=True, kw_only=True):
    """Code that is to be extracted.

    Parameters:
        nodes: statements of one suite in a row, or one expression.
        span: their text; whole lines where they share these with nothing else.
        on_own_lines: whether it is whole lines.
    """

    code: Code
    nodes: tuple[ast.AST, ...]
    span: Span
    on_own_lines: bool = False

    @property
    def is_expression(self) -> bool:
        """Return whether it is an expression."""
        return isinstance(self.nodes[0], ast.expr)

    @property
    def line(self) -> int:
        """The line that it begins on."""
        return first_line(self.nodes[0])


class Range(Struct, frozen=True):
    """Lines of a file, from 1; and where on the first one something begins, from 1, or 0."""

    first: int
    last: int
    column: int = 0


def read_code(name: str, source: Source) -> Code:
    """Return a module as it is looked into.

    Raises:
        SourceError: `not_lossless` where it is newer than this Python, or nested too deeply.
    """
    try:
        with collector_off():
            return Code(source)
    except (SyntaxError, RecursionError, MemoryError):
        raise SourceError(
            "not_lossless",
            "is newer than the Python that runs here, or nested too deeply to be followed.",
            subject=name,
            hints=["Run bae_source with a Python that knows the syntax, or edit the code."],
        ) from None


def parse_range(text: str) -> Range:
    """Return the lines that a text such as `10-14`, `12` or `12:5` means.

    Raises:
        RequestError: `invalid_arguments`.
    """
    match = _RANGE.fullmatch(text)
    first = int(match[1]) if match else 0
    last = int(match[2] or first) if match else 0
    if match is None or not first or last < first:
        raise _wrong(f"lines has {text!r}", "It takes lines as read shows them: 10-14, 12, or 12:5 with a column.")
    return Range(first, last, int(match[3] or 0))


def choose(
    code: Code,
    address: str,
    within: Span | None,
    lines: Range | None,
    text: str | None,
    *,
    again: Again,
    several: bool = False,
) -> Piece:
    """Return the piece that is meant.

    Parameters:
        address: of what it stands in, for messages.
        within: where that is; None for the whole module.
        lines: the lines that hold it.
        text: its code.
        again: offers the request with other parameters, where these mean no piece.
        several: whether the first is meant where it stands several times.

    Raises:
        RequestError: `invalid_arguments` for lines that cut a statement, hold none, or lie elsewhere; for no code.
        LookupFailed: the code stands nowhere, or several times.
    """
    whole = within or Span(0, len(code.source.text))
    if lines is not None:
        _check_inside(code, address, whole, lines)
    if text is None:
        assert lines is not None
        return _by_lines(code, lines, again)
    found = occurrences(code, whole, text)
    chosen = [each for each in found if lines is None or _is_at(code, each, lines)]
    if len(chosen) == 1 or (chosen and several):
        return chosen[0]
    if not found or not chosen:
        raise _nowhere(code, address, whole, text, found, again)
    shown = _places(code, chosen)
    raise LookupFailed(
        "ambiguous_symbol",
        f"The code stands {len(chosen)} times in {address}, on lines {listed(shown, _MOST_SHOWN)}.",
        hints=[
            again(lines=shown[0], then="takes the first."),
            again(similar=True, then="takes the first, and replaces the others as well."),
        ],
    )


def occurrences(code: Code, within: Span, text: str) -> list[Piece]:
    """Return where code stands, however it is laid out.

    Raises:
        RequestError: `invalid_arguments` where it is none.
    """
    wanted = _parsed(text)
    if len(wanted) == 1 and isinstance(wanted[0], ast.Expr):
        return [piece_of(code, [each]) for each in expressions_like(code, within, wanted[0].value)]
    return [piece_of(code, each) for each in runs_like(code, within, [ast.dump(each) for each in wanted])]


def expressions_like(code: Code, within: Span, wanted: ast.expr) -> list[ast.AST]:
    """Return the expressions that are the same; the statement where one is all of it."""
    dumped = ast.dump(wanted)
    found: list[ast.AST] = []
    for node in ast.walk(code.tree):
        if type(node) is type(wanted) and node in code.parents and ast.dump(node) == dumped:
            parent = code.parents[node]
            if not is_unplaced(code, node) and within.contains(span_of(code.source, node)):
                found.append(parent if isinstance(parent, ast.Expr) else node)
    return sorted(found, key=lambda each: span_of(code.source, each))


def runs_like(code: Code, within: Span, wanted: Sequence[str]) -> Iterator[list[ast.stmt]]:
    """Yield statements in a row that are the same as others, given as `ast.dump` has them."""
    for suite in suites(code.tree):
        number = 0
        while number + len(wanted) <= len(suite):
            run = suite[number : number + len(wanted)]
            is_same = all(ast.dump(each) == one for each, one in zip(run, wanted, strict=True))
            if is_same and within.contains(Span(span_of(code.source, run[0]).start, span_of(code.source, run[-1]).end)):
                yield run
                number += len(wanted)
            else:
                number += 1


def suites(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield every suite of a tree."""
    for node in ast.walk(tree):
        yield from suites_of(node)


def suites_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the suites that a node itself has."""
    for field in ("body", "orelse", "finalbody"):
        suite = getattr(node, field, None)
        if isinstance(suite, list) and suite:
            yield suite


def first_line(node: ast.AST) -> int:
    """Return the line that a node begins on, with its decorators."""
    lines: list[int] = [each.lineno for each in (node, *getattr(node, "decorator_list", ()))]
    return min(lines)


def last_line(node: ast.AST) -> int:
    """Return the line that a node ends on."""
    end: int = node.end_lineno  # type: ignore[attr-defined]
    return end


def piece_of(code: Code, nodes: Sequence[ast.AST], lines: Range | None = None) -> Piece:
    """Return the piece that some nodes are.

    Parameters:
        lines: those that were given: comments on them belong to it.
    """
    source, text = code.source, code.source.text
    start, end = span_of(source, nodes[0]).start, span_of(source, nodes[-1]).end
    if isinstance(nodes[0], ast.expr):
        return Piece(code=code, nodes=tuple(nodes), span=Span(start, end))
    if decorators := getattr(nodes[0], "decorator_list", ()):
        start = text.rfind("@", 0, span_of(source, decorators[0]).start)
    line_start = source.lines.start(source.lines.number(start))
    behind = _BEHIND.match(text, end)
    is_whole = behind is not None and not text[line_start:start].strip(" \t\f") and not source.lines.joined(line_start)
    if not is_whole or behind is None:
        return Piece(code=code, nodes=tuple(nodes), span=Span(start, end))
    if lines is not None:
        line_start = min(line_start, source.lines.start(lines.first))
    below = max(behind.end(), source.lines.end(min(lines.last, len(source.lines)))) if lines else behind.end()
    return Piece(code=code, nodes=tuple(nodes), span=Span(line_start, below), on_own_lines=True)


def _by_lines(code: Code, lines: Range, again: Again) -> Piece:
    suite: list[ast.stmt] = code.tree.body
    source = code.source.lines
    is_bare = all(_is_bare(source.cut(each)) for each in range(lines.first, min(lines.last, len(source)) + 1))
    while True:
        met = [each for each in suite if first_line(each) <= lines.last and lines.first <= last_line(each)]
        if not met or is_bare:
            raise _wrong(
                f"lines {_shown(lines)} hold no statement", "Give the lines of whole statements, as read shows them."
            )
        if all(lines.first <= first_line(each) and last_line(each) <= lines.last for each in met):
            return piece_of(code, met, _trimmed(code, lines, met))
        inner = _inner(code, met[0], lines) if len(met) == 1 else None
        if inner is None:
            raise _cut(met, lines, again)
        suite = inner


def _trimmed(code: Code, lines: Range, met: Sequence[ast.stmt]) -> Range:
    """Return the lines without blank ones at either end; comments that are indented otherwise are not taken."""
    source = code.source.lines
    first, last = lines.first, min(lines.last, len(source))
    indent = source.indentation(first_line(met[0]))
    while first < first_line(met[0]) and not source.cut(first).startswith(f"{indent}#"):
        first += 1
    while last > last_line(met[-1]) and not source.cut(last).startswith(f"{indent}#"):
        last -= 1
    return Range(first, last)


def _inner(code: Code, node: ast.stmt, lines: Range) -> list[ast.stmt] | None:
    """Return the suite of a statement that holds all of some lines; None where they are part of several, or none."""
    owners: list[ast.AST] = [node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    every = [suite for owner in owners for suite in suites_of(owner)]
    met = [s for s in every if first_line(s[0]) <= lines.last and lines.first <= last_line(s[-1])]
    if len(met) != 1:
        return None
    first, last = first_line(met[0][0]), last_line(met[0][-1])
    around = [*range(lines.first, first), *range(last + 1, lines.last + 1)]
    return met[0] if all(_is_bare(code.source.lines.cut(each)) for each in around) else None


def _is_bare(line: str) -> bool:
    """Return whether a line holds nothing but a comment, if that."""
    return not line.strip() or line.lstrip().startswith("#")


def _cut(met: Sequence[ast.stmt], lines: Range, again: Again) -> RequestError:
    first, last = min(map(first_line, met)), max(map(last_line, met))
    cut = next(each for each in met if first_line(each) < lines.first or last_line(each) > lines.last)
    where = f"{first_line(cut)}-{last_line(cut)}"
    whole = again(lines=f"{first}-{last}", then="takes whole statements.")
    return RequestError(
        "invalid_arguments",
        f"lines {_shown(lines)} cut the statement of lines {where}",
        unchanged=True,
        hints=[whole, *(["For an expression, give its code (code) instead."] if len(met) == 1 else [])],
    )


def _shown(lines: Range) -> str:
    return f"{lines.first}-{lines.last}" if lines.last > lines.first else str(lines.first)


def _check_inside(code: Code, address: str, within: Span, lines: Range) -> None:
    source = code.source.lines
    first, last = source.number(within.start), source.number(max(within.start, within.end - 1))
    if lines.first < first or lines.last > last:
        raise _wrong(
            f"lines {_shown(lines)} are not in {address}, which has lines {first}-{last}",
            f"Give lines of {address} between {first} and {last}, or name what these stand in.",
        )


def _is_at(code: Code, piece: Piece, lines: Range) -> bool:
    span = span_of(code.source, piece.nodes[0])
    place = code.source.lines.place(span.start)
    if lines.column:
        return (place.line, place.column) == (lines.first, lines.column)
    return lines.first <= place.line and last_line(piece.nodes[-1]) <= lines.last


def is_unplaced(code: Code, node: ast.AST) -> bool:
    """Say whether a node has no place in the text: it is in an f-string that is not read, or a bare part of one."""
    around = code.parents.get(node)
    is_format = isinstance(around, ast.FormattedValue) and node is around.format_spec
    return is_format or isinstance(around, ast.JoinedStr) or node in code.unplaced


def _parsed(text: str) -> list[ast.stmt]:
    """Return the statements of a text, which may be indented, or but for its first line."""
    bare = text.strip("\r\n").rstrip()
    indents = dict.fromkeys(re.findall(r"^[ \t\f]*(?=\S)", bare, flags=re.MULTILINE))
    tries = [bare, f"({bare}\n)", f"if 1:\n{bare}", *(f"if 1:\n{indent}{bare}" for indent in indents if indent)]
    for each in tries:
        try:
            body = parse_module(each).body
        except (SyntaxError, RecursionError, MemoryError):
            continue
        found = body[0].body if each.startswith("if 1:\n") and isinstance(body[0], ast.If) else body
        if found:
            return found
    raise _wrong("code is no expression and no statements of Python", "Copy the code as read shows it.")


def _nowhere(code: Code, address: str, within: Span, text: str, found: Sequence[Piece], again: Again) -> LookupFailed:
    if found:
        lines = "lines" if len(found) > 1 else "line"
        return LookupFailed(
            "symbol_not_found",
            f"The code does not stand there; {address} has it on {lines} {listed(_places(code, found), _MOST_SHOWN)}.",
            hints=[again(lines=str(found[0].line), then="takes it there.")],
        )
    near = nearest(within.cut(code.source.text), text.strip())
    offset = code.source.lines.number(within.start) - 1
    where = f" The nearest is on line {near[0] + offset}." if near is not None else ""
    return LookupFailed(
        "symbol_not_found",
        f"{address} has no whole expression or statements that are this code ({counted(len(text), 'character')})."
        f"{where}",
        hints=[Call("read", target=address, then="shows the code to copy, or its lines.")],
    )


def _places(code: Code, pieces: Sequence[Piece]) -> list[str]:
    places = (code.source.lines.place(span_of(code.source, each.nodes[0]).start) for each in pieces)
    return [f"{each.line}:{each.column}" for each in places]


def _wrong(what: str, hint: str) -> RequestError:
    return RequestError("invalid_arguments", what, unchanged=True, hints=[hint])
