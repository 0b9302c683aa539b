"""Code patterns with holes, and where they match in a file.

    requests.get($URL, timeout=$T)       a call with these two arguments and no others; keywords in any order
    requests.get($URL, $$$REST)          with any further arguments
    $X == None                           any comparison of that kind
    if $C: $$$BODY                       a statement; an `else` that is not written must not be there
    $X = $X                              the same hole twice: the same code
    lambda $X: $X                        a parameter and the name that it binds are the same

A hole `$NAME` stands for one expression, one statement, one parameter or one name; `$$$NAME` for any number of
arguments, elements, parameters, bases or statements. `$_` and `$$$` match without being told.

Code is compared as CPython parses it: white space, comments, quotes, parentheses and the order of keyword arguments do
not matter; the value of a literal and its type do.

Invariants:
- a match's span is its code in the file's own text, whatever its encoding and line ends are;
- nothing is run; the time is linear in the file but for several `$$$` in one row, and for a `$$$` between things that
  have to be the same.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from keyword import iskeyword

from msgspec import Struct

from bae_source.errors import RequestError, SourceError
from bae_source.model.span import Span
from bae_source.model.text import is_text
from bae_source.syntax.names.placed_fields import place_fields
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.patterns.holes import MANY, ONE, Bindings, Parameter, many_hole, one_hole
from bae_source.syntax.patterns.match import UNTOLD, Places, match, match_run
from bae_source.syntax.text.lexer import lex
from bae_source.syntax.text.source import Source

MAX_PATTERN = 10_000
_HOLE = re.compile(r"\$\$\$([A-Za-z0-9_]*)|\$([A-Za-z_][A-Za-z0-9_]*)")
_WORD = re.compile(r"(?<![\w$])[^\W\d]\w*")
_NEEDS_STAR = "positional argument follows keyword argument"
_OPTIONAL = frozenset({"else", "elif", "finally"})
_SHAPE = "A pattern is Python code with holes, such as requests.get($URL, timeout=$T) or f($$$ARGS)."
_FIELDS_HAVE_PLACES = sys.version_info >= (3, 12)
"""True where the parser knows the place of a replacement field's code in an f-string."""


class Found(Struct, frozen=True, kw_only=True):
    """One match.

    Parameters:
        span: of the matched code; that of a decorated definition begins at its keyword.
        holes: the code that each named hole stands for, in the order in which they were met.
    """

    span: Span
    holes: tuple[tuple[str, str], ...]


class Pattern(Struct, frozen=True, kw_only=True):
    """A pattern, parsed.

    Parameters:
        text: as it was given.
        code: its code, with names in the place of holes.
        tree: that of its code.
        nodes: its expression, or its statements.
        words: the names and keywords that stand in every match.
    """

    text: str
    code: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    words: frozenset[str]

    @property
    def leaves_out(self) -> bool:
        """Return whether it has a definition, whose annotations and decorators it may leave out."""
        return any(isinstance(node, tuple(UNTOLD)) for each in self.nodes for node in ast.walk(each))


def parse_pattern(text: str) -> Pattern:
    """Parse a pattern.

    Raises:
        RequestError: `invalid_arguments`, with line and column of what does not parse.
    """
    pattern = parse_code(text, "pattern")
    if not any(one_hole(node) is None and many_hole(node) is None for node in pattern.nodes):
        raise RequestError(
            "invalid_arguments",
            "The pattern has no code of its own, so everything would match.",
            hints=[_SHAPE],
        )
    return pattern


def parse_code(text: str, what: str) -> Pattern:
    """Parse code with holes, which may be a hole alone.

    Parameters:
        what: how errors call it.

    Raises:
        RequestError: `invalid_arguments`, with line and column of what does not parse.
    """
    if not text.strip():
        raise RequestError("invalid_arguments", f"The {what} is empty.", hints=[_SHAPE])
    if not is_text(text):
        raise RequestError("invalid_arguments", f"The {what} holds what is no text.", hints=["Give it as UTF-8."])
    if len(text) > MAX_PATTERN:
        raise RequestError(
            "invalid_arguments", f"A {what} has at most {MAX_PATTERN:,} characters.", hints=["Search for less."]
        )
    code = textwrap.dedent(text).strip("\r\n")
    try:
        named, tree = _parsed(code)
    except SyntaxError as error:
        raise _refused(code, error, what) from None
    except (RecursionError, MemoryError):
        raise RequestError("invalid_arguments", f"The {what} is nested too deeply.", hints=[_SHAPE]) from None
    body = tree.body
    if not body:
        raise RequestError("invalid_arguments", f"The {what} has no code.", hints=[_SHAPE])
    nodes: list[ast.AST] = [body[0].value] if len(body) == 1 and isinstance(body[0], ast.Expr) else [*body]
    return Pattern(text=text, code=named, tree=tree, nodes=tuple(nodes), words=_words(code))


class Match(Struct, frozen=True, kw_only=True):
    """One match, by nodes of the file's tree.

    Parameters:
        span: of the matched code; that of a decorated definition begins at its keyword.
        first: its first node, or its only one.
        last: its last statement, or its only node.
        bound: what its holes stand for.
        in_string: whether it lies in an f-string, which is its span then, since its own place is not known.
    """

    span: Span
    first: ast.AST
    last: ast.AST
    bound: Bindings
    in_string: bool


def find_matches(pattern: Pattern, source: Source) -> list[Found]:
    """Return the matches in a file, in the order of their places.

    Raises:
        SourceError: as `matches_in`.
    """
    _, matches = matches_in(pattern, source)
    return [
        Found(
            span=match.span,
            holes=tuple((name, _code(source, things, in_text=match.in_string)) for name, things in match.bound.items()),
        )
        for match in matches
    ]


def matches_in(pattern: Pattern, source: Source, *, in_fields: bool = False) -> tuple[ast.Module, list[Match]]:
    """Return the tree of a file and the matches in it, in the order of their places.

    Parameters:
        in_fields: whether those in f-strings get places of their own where the parser has none.

    Raises:
        SourceError: `syntax_invalid` if the running Python does not parse the file; `not_lossless` if it is too deep.
    """
    try:
        tree = parse_module(source.text)
        raw = list(_matches(pattern, tree, _lines_with(pattern, source)))
        texts = {text for *_, text in raw if text is not None} if in_fields else ()
        placed = {text for text in texts if place_fields(source, text)}
        found = [
            _match(source, first, last, bound, None if text in placed else text) for first, last, bound, text in raw
        ]
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        raise SourceError(
            "syntax_invalid",
            f"does not parse: line {line}, column {column}: {error.msg}.",
            subject="The code",
            details={"line": line, "column": column, "reason": error.msg},
        ) from None
    except (RecursionError, MemoryError):
        raise SourceError(
            "not_lossless", "is nested too deeply to be compared with a pattern.", subject="The code"
        ) from None
    return tree, sorted(found, key=lambda each: (each.span.start, -each.span.end))


def _parsed(code: str) -> tuple[str, ast.Module]:
    """Return a pattern with names in the place of holes, and its tree.

    `$$$` behind a keyword argument, where only a starred one may stand, gets a star.

    Raises:
        SyntaxError: it does not parse.
    """
    starred: set[int] = set()
    candidates = [hole.start() for hole in _HOLE.finditer(code) if hole[2] is None and _behind_comma(code, hole)]
    while True:
        try:
            named = _with_names(code, starred)
            return named, parse_module(named)
        except SyntaxError as error:
            if not candidates or not str(error.msg).startswith(_NEEDS_STAR):
                raise
        starred.add(candidates.pop())


def _behind_comma(code: str, hole: re.Match[str]) -> bool:
    return code[: hole.start()].rstrip().endswith(",")


def _with_names(code: str, starred: Collection[int] = ()) -> str:
    """Return the pattern with a name for each hole; what stands in a string is no hole, but for an f-string's field.

    Parameters:
        starred: offsets of the holes that get a star.
    """
    strings = lex(code).strings
    result, position = "", 0
    for hole in _HOLE.finditer(code):
        inside = next((span for span in strings if span.start <= hole.start() < span.end), None)
        if inside is not None and not _is_field(code, inside, hole.start()):
            continue
        name = f"{MANY}{hole[1]}" if hole[2] is None else f"{ONE}{hole[2]}"
        result += code[position : hole.start()] + ("*" if hole.start() in starred else "") + name
        position = hole.end()
    return result + code[position:]


def _is_field(code: str, string: Span, offset: int) -> bool:
    prefix = re.match(r"\w*", code[string.start :])
    return prefix is not None and "f" in prefix[0].lower() and code[:offset].rstrip().endswith("{")


def _words(code: str) -> frozenset[str]:
    lexed = lex(code)
    kept, position = "", 0
    for span in sorted((*lexed.strings, *lexed.comments)):
        kept += f"{code[position : max(position, span.start)]} "
        position = max(position, span.end)
    kept = _HOLE.sub(" ", kept + code[position:])
    return frozenset(_WORD.findall(kept)) - _OPTIONAL


def _refused(code: str, error: SyntaxError, what: str) -> RequestError:
    line = error.lineno or 1
    shown = code.split("\n")[line - 1].strip() if line <= code.count("\n") + 1 else code
    return RequestError(
        "invalid_arguments",
        f"The {what} does not parse as Python: line {line}, {shown!r}: {error.msg}.",
        hints=[_SHAPE, "A clause such as except or else needs its whole statement."],
        details={"line": line, "reason": error.msg},
    )


_Raw = tuple[ast.AST, ast.AST, Bindings, ast.JoinedStr | None]
"""The first and the last node of a match, what the holes stand for, and the f-string that it lies in."""


def _lines_with(pattern: Pattern, source: Source) -> list[int] | None:
    """Return the lines on which a name stands that every match holds; None where the text does not show them."""
    names = [word for word in pattern.words if not iskeyword(word)]
    if not names or not source.text.isascii():
        return None
    return sorted({source.lines.place(each.start()).line for each in re.finditer(max(names, key=len), source.text)})


def _matches(pattern: Pattern, tree: ast.Module, lines: Sequence[int] | None) -> Iterator[_Raw]:
    """Yield the matches.

    Parameters:
        lines: those on which a name stands that every match holds, if they are known.
    """
    if len(pattern.nodes) > 1:
        yield from _rows(pattern, tree)
        return
    sought = pattern.nodes[0]
    for node, text in _of_kind(tree, type(sought), lines):
        bound = next(match(sought, node, {}), None)
        if bound is not None:
            yield node, node, bound, text


def _of_kind(
    tree: ast.AST, kind: type[ast.AST], lines: Sequence[int] | None, text: ast.JoinedStr | None = None
) -> Iterator[tuple[ast.AST, ast.JoinedStr | None]]:
    """Yield every node of a kind, with the f-string that it lies in where the parser does not know its place.

    This is `ast.walk` without its generators, since most of the time is spent here; what lies on none of the lines is
    not entered. An f-string's fields may have wrong lines, and are.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if lines is not None and not _lies_on(node, lines):
            continue
        if node.__class__ is kind:
            yield node, text
        if node.__class__ is ast.JoinedStr and text is None:
            for value in node.values:
                yield from _of_kind(value, kind, None, None if _FIELDS_HAVE_PLACES else node)
            continue
        for value in node.__dict__.values():
            if value.__class__ is list:
                waiting += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                waiting.append(value)


def _lies_on(node: ast.AST, lines: Sequence[int]) -> bool:
    """Return whether a node, with its decorators, goes over one of some lines; one without a place may."""
    place = node.__dict__
    first, last = place.get("lineno"), place.get("end_lineno")
    if first is None or last is None:  # as a comment that tells type checkers to look away
        return True
    if decorators := place.get("decorator_list"):
        first = min(first, decorators[0].lineno)
    number = bisect_left(lines, first)
    return number < len(lines) and lines[number] <= last


def _rows(pattern: Pattern, tree: ast.Module) -> Iterator[_Raw]:
    """Find runs of statements; runs that overlap count once."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            suite = getattr(node, field, None)
            if isinstance(suite, list):
                yield from _runs(pattern.nodes, suite)


def _runs(sought: Sequence[ast.AST], suite: list[ast.stmt]) -> Iterator[_Raw]:
    """Find the runs of one suite, each from as far above and as short as can be.

    Where each statement of the pattern matches by itself is looked up once, so most starts cost one comparison.
    """
    places = Places(sought, suite)
    if not all(places.alone):
        return
    several = sum(many_hole(each) is not None for each in sought) > 1
    start = 0
    while start < len(suite):
        ways = match_run(places, 0, start, {})
        way = min(ways, key=lambda each: each[1], default=None) if several else next(ways, None)
        if way is not None:
            bound, end = way
            yield suite[start], suite[end - 1], bound, None
            start = end - 1
        start += 1


def _match(source: Source, first: ast.AST, last: ast.AST, bound: Bindings, text: ast.JoinedStr | None) -> Match:
    start, end = (text, text) if text is not None else (first, last)
    span = Span(span_of(source, start).start, span_of(source, end).end)
    return Match(span=span, first=first, last=last, bound=bound, in_string=text is not None)


def span_of(source: Source, node: ast.AST) -> Span:
    """Return the span of a node that has a place."""
    lines = source.lines
    return Span(
        lines.offset(node.lineno, node.col_offset),  # type: ignore[attr-defined]  # every matched node has a place
        lines.offset(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
    )


def _code(source: Source, things: Sequence[object], *, in_text: bool) -> str:
    """Return the code that a hole stands for, as it stands in the file."""
    if not things:
        return ""
    if isinstance(things[0], str):
        return things[0]
    if isinstance(things[0], Parameter):
        return ", ".join(_parameter(source, thing) for thing in things if isinstance(thing, Parameter))
    nodes = [thing for thing in things if isinstance(thing, ast.AST)]
    if in_text:
        return ", ".join(map(ast.unparse, nodes))
    spans = sorted(span_of(source, node) for node in nodes)
    if any(isinstance(node, ast.keyword) for node in nodes):  # others that the pattern names may stand between them
        return ", ".join(span.cut(source.text) for span in spans)
    return Span(spans[0].start, max(span.end for span in spans)).cut(source.text)


def _parameter(source: Source, parameter: Parameter) -> str:
    stars = {"star": "*", "stars": "**"}.get(parameter.kind, "")
    default = f"={span_of(source, parameter.default).cut(source.text)}" if parameter.default is not None else ""
    return f"{stars}{span_of(source, parameter.node).cut(source.text)}{default}"
