"""A replacement with holes: code that takes the place of a pattern's matches.

    http.get($URL, timeout=5)        $URL: the text that the pattern's hole of that name stands for
    with lock:                       $$$BODY: statements, moved to where the hole stands
        $$$BODY

Invariants:
- each hole of a replacement is one of the pattern, of the same kind.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.model.span import Span
from bae_source.model.text import listed
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.patterns.holes import MANY, ONE, UNBOUND, alike
from bae_source.syntax.patterns.match import UNTOLD
from bae_source.syntax.patterns.pattern import Pattern, parse_code
from bae_source.syntax.text.source import Lines

_HOLE = re.compile(rf"(\*{{0,2}})({ONE}|{MANY})(\w*)")


class Hole(Struct, frozen=True, kw_only=True):
    """A hole of a replacement.

    Parameters:
        span: of the name that stands for it, with the stars in front of one for any number of things.
        is_statement: whether it stands where a statement does.
        is_alone: whether no other statement stands in its suite.
    """

    name: str
    many: bool
    span: Span
    is_statement: bool = False
    is_alone: bool = False


class Template(Struct, frozen=True, kw_only=True):
    """A replacement.

    Parameters:
        code: with names in the place of holes.
        tree: that of the code.
        holes: in the order of their places.
        is_expression: whether an expression takes the place of an expression.
        is_compound: whether one of its statements has a suite.
        is_if: whether it is a single `if` statement, which may be an `elif`.
    """

    code: str
    tree: ast.Module
    holes: tuple[Hole, ...]
    is_expression: bool
    is_compound: bool
    is_if: bool


def parse_template(text: str, pattern: Pattern) -> Template:
    """Parse a replacement.

    Parameters:
        pattern: whose holes it may have.

    Raises:
        RequestError: `invalid_arguments` where it does not parse, or has holes that the pattern lacks.
    """
    parsed = parse_code(text, "replacement")
    standing = dict(_statements(parsed))
    holes = tuple(
        Hole(
            name=hole.name,
            many=hole.many,
            span=hole.span,
            is_statement=hole.span.start in standing,
            is_alone=standing.get(hole.span.start, False),
        )
        for hole in holes_of(parsed.code)
    )
    _check_holes(holes, pattern)
    body = parsed.tree.body
    return Template(
        code=parsed.code,
        tree=parsed.tree,
        holes=holes,
        is_expression=isinstance(pattern.nodes[0], ast.expr) and isinstance(parsed.nodes[0], ast.expr),
        is_compound=any(hasattr(each, "body") or isinstance(each, ast.Match) for each in body),
        is_if=len(body) == 1 and isinstance(body[0], ast.If),
    )


def holes_of(code: str) -> list[Hole]:
    """Return the holes of code with names in their places."""
    return [
        Hole(
            name=found[3],
            many=found[2] == MANY,
            span=Span(found.start() if found[2] == MANY else found.start(2), found.end()),
        )
        for found in _HOLE.finditer(code)
    ]


def reading(code: str, *, untold: bool = True) -> object | None:
    """Return a key that is equal for code that Python reads alike; None for code that does not parse.

    Parameters:
        untold: whether what a pattern may leave out counts: annotations, decorators and type parameters.
    """
    try:
        tree = parse_module(code)
        if not untold:
            for node, field in _untold(tree):
                setattr(node, field, [] if isinstance(getattr(node, field), list) else None)
        return alike(tuple(tree.body))
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return None


def untold_in(code: str) -> int:
    """Return how many annotations, decorators and type parameters stand in code that parses."""
    several = (getattr(node, field) for node, field in _untold(parse_module(code)))
    return sum(len(each) if isinstance(each, list) else 1 for each in several)


def _untold(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield the nodes and fields that hold what a pattern may leave out."""
    for node in ast.walk(tree):
        for kind, fields in UNTOLD.items():
            if isinstance(node, kind):
                yield from ((node, field) for field in fields if getattr(node, field, None))


def _statements(parsed: Pattern) -> Iterator[tuple[int, bool]]:
    """Yield where each name stands that is a statement, and whether it is the only one of its suite."""
    lines = Lines(parsed.code)
    for node in ast.walk(parsed.tree):
        for field in ("body", "orelse", "finalbody"):
            suite = getattr(node, field, None)
            suite = suite if isinstance(suite, list) else []
            for each in suite:
                if isinstance(each, ast.Expr) and isinstance(each.value, ast.Name):
                    start = lines.offset(each.lineno, each.col_offset)
                    yield start, len(suite) == 1 and not isinstance(node, ast.Module)


def depths(parsed: ast.AST, depth: int = 0) -> Iterator[tuple[str, int]]:
    """Yield the name of each hole that is a statement, and in how many suites it stands."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        suite = getattr(parsed, field, None)
        for each in suite if isinstance(suite, list) else ():
            if isinstance(each, ast.Expr) and isinstance(each.value, ast.Name):
                yield each.value.id, depth
            yield from depths(each, depth + (field not in ("handlers", "cases")))


def _check_holes(holes: tuple[Hole, ...], pattern: Pattern) -> None:
    known = {hole.name: hole.many for hole in holes_of(pattern.code) if hole.name not in UNBOUND}
    missing = [_written(hole) for hole in holes if hole.name not in known]
    if missing:
        has = listed(_written(hole) for hole in holes_of(pattern.code) if hole.name in known)
        raise RequestError(
            "invalid_arguments",
            f"The replacement has holes that the pattern lacks: {listed(missing)}.",
            hints=[f"The pattern has {has}." if has else "Name the holes of the pattern: $X, $$$ARGS."],
        )
    other = [_written(hole) for hole in holes if hole.many != known[hole.name]]
    if other:
        raise RequestError(
            "invalid_arguments",
            f"The replacement has {listed(other)}, which the pattern writes with another number of $.",
            hints=["$X stands for one thing, $$$X for any number of them, on both sides."],
        )


def _written(hole: Hole) -> str:
    return f"{'$$$' if hole.many else '$'}{hole.name}"
