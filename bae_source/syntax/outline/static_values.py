"""Values that can be read off an expression without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

TYPE_CHECKING = "TYPE_CHECKING"


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


def is_typing_test(test: ast.expr) -> bool:
    """Say whether a condition is `TYPE_CHECKING`, by itself or of a module."""
    return (test.id if isinstance(test, ast.Name) else getattr(test, "attr", "")) == TYPE_CHECKING


def is_skipped(test: ast.expr) -> bool | None:
    """Say whether an import of the module skips the suite of an `if`; None where that cannot be told.

    if TYPE_CHECKING:                       skipped, and so is `if TYPE_CHECKING and DEBUG`
    if not TYPE_CHECKING:                   runs
    if __name__ == "__main__":              skipped
    if DEBUG:                               cannot be told
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        skipped = is_skipped(test.operand)
        return None if skipped is None else not skipped
    if isinstance(test, ast.BoolOp):
        deciding = isinstance(test.op, ast.And)
        found = {is_skipped(each) for each in test.values}
        return deciding if deciding in found else None if None in found else not deciding
    if isinstance(test, (ast.Attribute, ast.Name)):
        return is_typing_test(test) or None
    if isinstance(test, ast.Constant):
        return not test.value
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq):
        sides = (test.left, *test.comparators)
        named = any(isinstance(each, ast.Name) and each.id == "__name__" for each in sides)
        main = any(isinstance(each, ast.Constant) and each.value == "__main__" for each in sides)
        return True if named and main else None
    return None


def chain_of(node: ast.AST) -> tuple[tuple[str, ...], ast.AST | None]:
    """Return `a.b.c` in its pieces; nothing, and what stands before the attributes, where that is no name."""
    pieces: list[str] = []
    while isinstance(node, ast.Attribute):
        pieces.append(node.attr)
        node = node.value
    return ((node.id, *reversed(pieces)), None) if isinstance(node, ast.Name) else ((), node)
