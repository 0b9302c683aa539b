"""Statements of code that is newer than the running Python, from its own parser: what is new is overwritten for it.

    def f[T: int](x: T): …         def f        (x: T): …         and the parameters are put into the tree
    type Pair[T] = tuple[T, T]     0;   Pair    = tuple[T, T]     and the assignment becomes an alias
    f"{row["name"]:>{width}}"      (  row["name"],  width, )      since the names are all that matters

Invariants:
- overwritten text keeps its length and its line ends, so each node stands where its code does;
- a text that is not understood so is refused, as the parser refused it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from bae_source.model.span import Span
from bae_source.syntax.names.fields import converted
from bae_source.syntax.names.targets import ALIAS
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.text.lexer import Lexed, LineKind, lex
from bae_source.syntax.text.source import Lines

_HEADER = re.compile(
    r"[ \t\f]*(?:(?:(?:async[ \t]+)?def|class)[ \t]+[^\W\d]\w*[ \t]*(?=\[)"
    r"|type[ \t]+(?P<alias>[^\W\d]\w*)[ \t]*(?=[\[=]))"
)
_PARAMETER = re.compile(r"\s*(\*{0,2})\s*([^\W\d]\w*)\s*(?P<colon>:)?")
_DEFAULT = re.compile(r"(?<![=<>!])=(?!=)")
_HAS_ALIASES = hasattr(ast, "TypeAlias")


class TypeParameter(ast.AST):
    """A type parameter, likewise."""

    _fields = ("name", "bound", "default_value")


def statements_of_newer(text: str) -> list[ast.stmt]:
    """Return the statements of a module.

    Parameters:
        text: whose lines end with a line feed.

    Raises:
        SyntaxError: it is not understood.
        RecursionError, MemoryError: it is too deep for the parser.
    """
    reduced = converted(text)
    headers = list(_headers(reduced, lex(reduced)))
    if reduced == text and not headers:
        raise SyntaxError("nothing in it is known to be newer")
    characters = list(reduced)
    for header in headers:
        header.overwrite(characters)
    module = parse_module("".join(characters))
    for header in headers:
        header.parse(reduced)
    _put_in(module, {each.place: each for each in headers})
    return module.body


class _Header:
    """A definition with type parameters, or an alias.

    Parameters:
        place: line and column of its statement in the tree.
        start: where the statement begins.
        alias: where the name of an alias begins; -1 for a definition.
        brackets: of its parameters; empty for an alias without.
    """

    def __init__(self, place: tuple[int, int], start: int, alias: int, brackets: Span) -> None:
        self.place = place
        self.start = start
        self.alias = alias
        self.brackets = brackets
        self.parameters: list[TypeParameter] = []

    def overwrite(self, characters: list[str]) -> None:
        """Overwrite what the running Python does not know."""
        if self.alias >= 0:
            characters[self.start : self.alias] = list("0;" + " " * (self.alias - self.start - 2))
        for at in range(self.brackets.start, self.brackets.end):
            if characters[at] != "\n":
                characters[at] = " "
            elif at == self.brackets.start or characters[at - 1] not in " \\":
                raise SyntaxError("a line without room for a backslash")
            else:
                characters[at - 1] = "\\"

    def parse(self, text: str) -> None:
        """Parse the parameters.

        Raises:
            SyntaxError: one is none.
        """
        lines = Lines(text)
        for span in _parts(text, self.brackets):
            match = _PARAMETER.match(text, span.start, span.end)
            if match is None:
                continue
            parameter = TypeParameter()
            parameter.name, parameter.lineno = match[2], lines.number(match.start(2))  # type: ignore[attr-defined]
            equals = _equals(text, Span(match.end(), span.end))
            if match["colon"]:
                parameter.bound = _expression(text, Span(match.end(), equals), lines)  # type: ignore[attr-defined]
            if equals < span.end:
                default = Span(equals + 1, span.end)
                parameter.default_value = _expression(text, default, lines)  # type: ignore[attr-defined]
            self.parameters.append(parameter)


def _headers(text: str, lexed: Lexed) -> Iterator[_Header]:
    brackets = {span.start: span for span, _ in lexed.brackets}
    for number, (start, kind) in enumerate(zip(lexed.starts, lexed.kinds, strict=True), 1):
        match = _HEADER.match(text, start) if kind is LineKind.LOGICAL else None
        if match is None:
            continue
        first = start + len(match[0]) - len(match[0].lstrip())
        alias = match.start("alias")
        if alias >= 0 and _HAS_ALIASES and text[match.end()] == "=":
            continue
        column = len(text[start : first if alias < 0 else alias].encode())
        span = brackets.get(match.end(), Span(match.end(), match.end()))
        yield _Header((number, column), first, alias, span)


def _parts(text: str, brackets: Span) -> Iterator[Span]:
    """Yield the pieces between the commas in brackets."""
    inner = Span(brackets.start + 1, brackets.end - 1)
    start = inner.start
    for at in _bare(text, inner, ","):
        yield Span(start, at)
        start = at + 1
    if start < inner.end:
        yield Span(start, inner.end)


def _bare(text: str, span: Span, sign: str) -> Iterator[int]:
    """Yield where a sign stands in a span, outside brackets and strings in it."""
    piece = text[span.start : span.end]
    lexed = lex(f"({piece})")
    hidden = [*lexed.strings, *lexed.comments, *(each for each, depth in lexed.brackets if depth > 1)]
    for match in re.finditer(sign, piece):
        if not any(each.start <= match.start() + 1 < each.end for each in hidden):
            yield span.start + match.start()


def _equals(text: str, span: Span) -> int:
    """Return where the default of a parameter begins; the end of the span where it has none."""
    return next((at for at in _bare(text, span, "=") if _DEFAULT.match(text, at)), span.end)


def _expression(text: str, span: Span, lines: Lines) -> ast.expr:
    """Return the tree of an expression, each node of which stands where it does in the text."""
    place = lines.place(span.start)
    before = len(text[lines.start(place.line) : span.start].encode())
    lead = f"({' ' * (before - 1)}" if place.line == 1 else f"({chr(10) * (place.line - 1)}{' ' * before}"
    is_starred = span.cut(text).lstrip().startswith("*")
    [statement] = parse_module(f"{lead}{span.cut(text)}{',' * is_starred})").body
    assert isinstance(statement, ast.Expr)
    return statement.value.elts[0] if is_starred and isinstance(statement.value, ast.Tuple) else statement.value


def _put_in(module: ast.Module, headers: dict[tuple[int, int], _Header]) -> None:
    """Put the parameters into the definitions of a tree, and aliases in the place of assignments."""
    waiting: list[ast.AST] = [module]
    while waiting:
        node = waiting.pop()
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                value[:] = list(_statements(value, headers))
                waiting += value
            elif isinstance(value, list):
                waiting += [each for each in value if isinstance(each, (ast.excepthandler, ast.match_case))]


def _statements(body: list[ast.stmt], headers: dict[tuple[int, int], _Header]) -> Iterator[ast.stmt]:
    for number, statement in enumerate(body):
        following = body[number + 1] if number + 1 < len(body) else None
        if following is not None and _is_filler(statement, following, headers):
            continue
        header = headers.get((statement.lineno, statement.col_offset))
        if header is None:
            yield statement
        elif isinstance(statement, ast.Assign) and header.alias >= 0:
            name, value = statement.targets[0], statement.value
            alias = ALIAS(name=name, type_params=header.parameters, value=value)  # type: ignore[call-arg]
            yield ast.copy_location(alias, statement)
        else:
            statement.type_params = header.parameters  # type: ignore[attr-defined]
            yield statement


def _is_filler(statement: ast.stmt, following: ast.stmt, headers: dict[tuple[int, int], _Header]) -> bool:
    """Return whether a statement is the `0` that stands for the word `type`."""
    header = headers.get((following.lineno, following.col_offset))
    return header is not None and header.alias >= 0 and isinstance(statement, ast.Expr)
