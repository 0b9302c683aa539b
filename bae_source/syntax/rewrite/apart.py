"""A module's text in two: the imports that it begins with or has in between, and all else that it does.

    \"\"\"Sends.\"\"\"               gone: it is about the module
    import re                     imports
    if TYPE_CHECKING:
        from .base import Base    imports, as they are
    __all__ = ["send"]            gone: a list is no statement of its own
    LIMIT = 3                     rest
    try: …                        rest, with the imports that it holds

Invariants:
- the rest is the text as it was, less whole lines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.outline.exported import listing_of
from bae_source.syntax.outline.static_values import is_typing_test
from bae_source.syntax.text.source import Lines

_LINE_ENDS = "\r\n"


class Apart(Struct, frozen=True, kw_only=True):
    """A module's text in two.

    Parameters:
        imports: statements, those for type checkers alone under their `if`.
        rest: the text of all else; empty where there is nothing.
        blocked: the reason why a statement cannot stand in another module; empty where all can.
    """

    imports: tuple[str, ...]
    rest: str
    blocked: str = ""


def apart(text: str, without: frozenset[str] = frozenset()) -> Apart:
    """Return a module's text in two.

    Parameters:
        text: of the module; it parses.
        without: names whose assignments are left out of the rest.
    """
    lines = Lines(text)
    body = ast.parse(text).body
    gone: list[Span] = []
    imports: list[str] = []
    blocked = ""
    for number, node in enumerate(body):
        found = list(_imports(node))
        blocked = blocked or _blocked(node)
        imports += found
        if not (found or listing_of(node) or _assigns(node, without) or (number == 0 and _is_docstring(node))):
            continue
        shares = any(each.lineno == node.end_lineno or each.end_lineno == node.lineno for each in body if each != node)
        blocked = blocked or (f"line {node.lineno} has several statements" if shares else "")
        gone.append(_whole(lines, node, text, is_first=number == 0))
    rest = text
    for span in reversed(gone):
        rest = rest[: span.start] + rest[span.end :]
    return Apart(imports=tuple(imports), rest=rest.strip(_LINE_ENDS), blocked=blocked)


def _imports(node: ast.stmt) -> Iterator[str]:
    """Yield the imports of a statement that is nothing else."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield ast.unparse(node)
    elif _is_for_checkers(node):
        yield from (f"if TYPE_CHECKING:\n    {ast.unparse(each)}" for each in node.body)


def _is_for_checkers(node: ast.stmt) -> TypeGuard[ast.If]:
    """Return whether a statement holds imports for type checkers, and nothing else."""
    return (
        isinstance(node, ast.If)
        and not node.orelse
        and is_typing_test(node.test)
        and all(isinstance(each, (ast.Import, ast.ImportFrom)) for each in node.body)
    )


def _blocked(node: ast.stmt) -> str:
    """Return the reason why a statement cannot stand in another module; empty where it can."""
    if isinstance(node, ast.If) and any(isinstance(e, ast.Name) and e.id == "__name__" for e in ast.walk(node.test)):
        return f"line {node.lineno} begins what runs where it is the main program"
    if isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__dir__"):
        return f"its {node.name} answers for all names of the module"
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        return f"line {node.lineno} takes all names of a module"
    return ""


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _assigns(node: ast.stmt, names: frozenset[str]) -> bool:
    """Return whether a statement assigns to one of some names, and to nothing else."""
    if isinstance(node, ast.Assign):
        return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id in names
    return isinstance(node, (ast.AnnAssign, ast.AugAssign)) and ast.unparse(node.target) in names


def _whole(lines: Lines, node: ast.stmt, text: str, *, is_first: bool) -> Span:
    """Return the lines of a statement, with the comments right above it, and the blank lines below it."""
    assert node.end_lineno is not None
    number = node.lineno
    while number > 1 and lines.cut(number - 1).lstrip().startswith("#"):
        number -= 1
    start = 0 if is_first else lines.start(number)
    end = lines.end(lines.number(lines.offset(node.end_lineno, node.end_col_offset or 0)))
    while end < len(text) and not text[end : lines.end(lines.number(end))].strip():
        end = lines.end(lines.number(end))
    return Span(start, end)
