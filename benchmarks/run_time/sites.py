"""Calls as their instructions have them, turned into the places that answers name."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

_Place = tuple[int, int, int, int]


class Site(Struct, frozen=True, kw_only=True):
    """A place in code that makes something run.

    Parameters:
        line: of the name, counted from 1; of what is called where that has none.
        column: likewise, counted from 1 in characters.
        end: the last line of what is called, and the column behind it.
        name: by which it is called; "" where it has none.
        kind: `call`, `decorator`, `attribute`, or `other` for what Python does by itself.
    """

    line: int
    column: int
    end: tuple[int, int]
    name: str
    kind: str


@cache
def _nodes(path: str) -> tuple[dict[_Place, list[ast.expr]], list[str], set[int]]:
    """Return the expressions of a file by their place, its lines, and which expressions are decorators."""
    text = Path(path).read_bytes()
    tree = ast.parse(text)
    found: dict[_Place, list[ast.expr]] = {}
    decorators: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            found.setdefault(_place(node), []).append(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            decorators.update(id(each) for each in node.decorator_list)
            _keep.append(node)
    return found, text.decode(errors="replace").split("\n"), decorators


_keep: list[ast.AST] = []
"""Trees, so that no number of a node is used again."""


def site(path: str, place: _Place, name: str, *, steps: bool) -> Site:
    """Return what stands at the place of an instruction that calls.

    Parameters:
        place: first and last line, first column and the one behind the last, as the compiler counts them.
        name: of what is called.
        steps: whether that is a generator or a coroutine, which is called within what the instruction stands for.
    """
    first, last, column, end = place
    nodes, lines, decorators = _nodes(path)
    here = nodes.get((first, column, last, end), [])
    applied = next((each for each in here if id(each) in decorators), None)
    call = next((each for each in here if isinstance(each, ast.Call)), None)
    if steps and not (call and _last(call.func) == name):
        made = [
            each
            for (a, b, c, d), several in nodes.items()
            if (first, column) <= (a, b) and (c, d) <= (last, end)
            for each in several
            if isinstance(each, ast.Call) and _last(each.func) == name
        ]
        call = made[0] if made else None
        if call is None:
            return Site(line=first, column=column + 1, end=(last, end + 1), name="", kind="other")
    if call is not None:
        return _site(call.func, lines, "call")
    if applied is not None:
        return _site(applied, lines, "decorator")
    taken = next((each for each in here if isinstance(each, ast.Attribute)), None)
    if taken is not None:
        return _site(taken, lines, "attribute")
    return Site(line=first, column=column + 1, end=(last, end + 1), name="", kind="other")


def _site(of: ast.expr, lines: list[str], kind: str) -> Site:
    name = _last(of)
    assert of.end_lineno is not None
    assert of.end_col_offset is not None
    line, column = of.lineno, of.col_offset
    if isinstance(of, ast.Attribute):
        line, column = of.end_lineno, of.end_col_offset - len(of.attr.encode())
    end = (of.end_lineno, _characters(lines, of.end_lineno, of.end_col_offset))
    return Site(line=line, column=_characters(lines, line, column), end=end, name=name, kind=kind)


def _characters(lines: list[str], line: int, column: int) -> int:
    return len(lines[line - 1].encode()[:column].decode(errors="ignore")) + 1


def _last(of: ast.expr) -> str:
    if isinstance(of, ast.Attribute):
        return of.attr
    return of.id if isinstance(of, ast.Name) else ""


def _place(node: Any) -> _Place:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
