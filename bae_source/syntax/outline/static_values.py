"""Values that can be read off an expression without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def static_strings(node: ast.expr | None) -> list[str] | None:
    """Return the strings of a static `__all__`: a list, a tuple, or a sum of them; None for anything else."""
    if isinstance(node, (ast.List, ast.Tuple)):
        values = [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        return values if len(values) == len(node.elts) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = static_strings(node.left), static_strings(node.right)
        return None if left is None or right is None else left + right
    return None


def listed_strings(value: ast.expr) -> Iterator[ast.Constant]:
    """Yield the strings that an expression lists: in lists and tuples, sums of them, and behind stars."""
    if isinstance(value, (ast.List, ast.Tuple)):
        for element in value.elts:
            if isinstance(element, ast.Constant) and isinstance(element.value, str):
                yield element
            elif isinstance(element, ast.Starred):
                yield from listed_strings(element.value)
    elif isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        yield from listed_strings(value.left)
        yield from listed_strings(value.right)


def listed_in(node: ast.expr) -> tuple[list[str], list[ast.expr]] | None:
    """Return the strings of an `__all__` and the lists of others that it is made of; None for anything else.

    ["f", *m.__all__]        `f`, and all that `m` lists
    m.__all__ + names        all that `m` lists, and what `names` holds
    """
    if isinstance(node, (ast.Attribute, ast.Name)):
        return [], [node]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [listed_in(node.left), listed_in(node.right)]
    elif isinstance(node, (ast.List, ast.Tuple)):
        parts = [listed_in(each.value) if isinstance(each, ast.Starred) else _string(each) for each in node.elts]
    else:
        return None
    strings, others = list[str](), list[ast.expr]()
    for part in parts:
        if part is None:
            return None
        strings += part[0]
        others += part[1]
    return strings, others


def _string(node: ast.expr) -> tuple[list[str], list[ast.expr]] | None:
    return ([node.value], []) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
