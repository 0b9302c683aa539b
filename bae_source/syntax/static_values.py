"""Values that can be read off an expression without running it."""

from __future__ import annotations

import ast


def static_strings(node: ast.expr | None) -> list[str] | None:
    """Return the strings of a static `__all__`: a list, a tuple, or a sum of them; None for anything else."""
    if isinstance(node, (ast.List, ast.Tuple)):
        values = [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        return values if len(values) == len(node.elts) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = static_strings(node.left), static_strings(node.right)
        return None if left is None or right is None else left + right
    return None
