"""Values that can be read off an expression without running it."""

from __future__ import annotations

import ast
from collections.abc import Sequence


class Exports:
    """What `__all__` comes to, while its statements are met one after the other.

    Attributes:
        known: whether it is static, or absent.
    """

    def __init__(self) -> None:
        self.known = True
        self._names: list[str] | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names; None where there is no `__all__`, or it cannot be read off."""
        return tuple(self._names) if self.known and self._names is not None else None

    def add(self, names: Sequence[str] | None, *, more: bool) -> None:
        """Note an assignment to `__all__`.

        Parameters:
            names: None where its value is not static.
            more: whether the names are added to those before.
        """
        self.known = names is not None and (self.known or not more)
        self._names = [*((self._names or ()) if more else ()), *(names or ())]


def static_strings(node: ast.expr | None) -> list[str] | None:
    """Return the strings of a static `__all__`: a list, a tuple, or a sum of them; None for anything else."""
    if isinstance(node, (ast.List, ast.Tuple)):
        values = [item.value for item in node.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        return values if len(values) == len(node.elts) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = static_strings(node.left), static_strings(node.right)
        return None if left is None or right is None else left + right
    return None
