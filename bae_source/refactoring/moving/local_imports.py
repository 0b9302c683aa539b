"""Imports inside the functions that need them, so that two modules need not import each other as they load.

    def run():                          def run():
        return LIMIT                        from app.core import LIMIT
                                            return LIMIT
    def stop(x: Mail): …                if TYPE_CHECKING:
                                            from app.core import Mail

Invariants:
- names needed while the module loads, as in a base, a decorator or a default, are not imported in a function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from bae_source.model.span import Span
from bae_source.syntax.outline.ast_walk import span_of
from bae_source.syntax.text.source import Lines

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def inside_functions(text: str, places: Mapping[int, str], newline: str) -> list[tuple[Span, str]] | None:
    """Return splices that import names in the functions that need them; None if one is needed outside all functions.

    Parameters:
        text: of a module, which parses.
        places: import statements by the offsets of the names that need them.
    """
    lines = Lines(text)
    wanted: dict[int, dict[str, None]] = {}
    functions = list(_functions(ast.parse(text).body))
    for offset, statement in places.items():
        inside = (each for each in functions if _start(lines, each.body[0]) <= offset < span_of(lines, each).end)
        around = next(inside, None)
        if around is None:
            return None
        has_docstring = ast.get_docstring(around, clean=False) is not None and len(around.body) > 1
        start = _start(lines, around.body[1 if has_docstring else 0])
        wanted.setdefault(start, {})[statement] = None
    return [(Span(start, start), _written(text, lines, start, list(each), newline)) for start, each in wanted.items()]


def for_checkers(statements: Iterable[str]) -> list[str]:
    """Return imports for annotations alone, which are not evaluated then: `from __future__`, and under an `if`."""
    found = [f"if TYPE_CHECKING:\n    {each}" for each in dict.fromkeys(statements)]
    return ["from __future__ import annotations", *found] if found else []


def _functions(body: list[ast.stmt]) -> Iterator[_Function]:
    """Yield the outermost functions of a module, and of the classes and suites in it."""
    for node in body:
        if isinstance(node, _Function):
            yield node
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _functions(getattr(node, name, None) or [])
        for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _functions(each.body)


def _start(lines: Lines, node: ast.stmt) -> int:
    first = min([node, *getattr(node, "decorator_list", ())], key=lambda each: each.lineno)
    offset = lines.offset(first.lineno, first.col_offset)
    return offset if first is node else offset - 1  # the `@`


def _written(text: str, lines: Lines, start: int, statements: list[str], newline: str) -> str:
    indent = text[lines.start(lines.number(start)) : start]
    between = "; " if indent.strip() else f"{newline}{indent}"
    return "".join(f"{each}{between}" for each in statements)
