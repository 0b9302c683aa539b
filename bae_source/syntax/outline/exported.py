"""Exports of a module by its `__all__`: the one reader of the statements that make it.

__all__ = ["f", *m.__all__] + names     `f`, all that `m` lists, and what `names` holds
__all__ += ["g"]; __all__.append("h")   and `g` and `h`
__all__.remove("f")                     not known
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from bae_source.model.text import is_text

ALL = "__all__"
How = Literal["=", "+=", "append", "extend", "?"]


def listing_of(node: ast.stmt) -> tuple[How, ast.expr | None] | None:
    """Return how a statement makes or changes `__all__`, and the list that it does so by; None where it does not.

    It is `?` where that is done in a way that cannot be read off; there is no list in `__all__: list[str]`.
    """
    if isinstance(node, ast.Assign):
        return ("=", node.value) if any(map(is_all, node.targets)) else None
    if isinstance(node, ast.AnnAssign):
        return ("=", node.value) if is_all(node.target) else None
    if isinstance(node, ast.AugAssign):
        return ("+=" if isinstance(node.op, ast.Add) else "?", node.value) if is_all(node.target) else None
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not is_all(call.func.value):
        return None
    if len(call.args) != 1 or call.keywords or call.func.attr not in ("append", "extend"):
        return "?", None
    return ("append", ast.List(call.args)) if call.func.attr == "append" else ("extend", call.args[0])


def is_all(node: ast.AST) -> bool:
    """Return whether a node is the name `__all__`."""
    return isinstance(node, ast.Name) and node.id == ALL


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


class Exports:
    """Value of `__all__`, while the statements of a module are met one after the other.

    Attributes:
        bindings: how many of the statements bind it.
    """

    def __init__(self) -> None:
        self.bindings = 0
        self._is_read = True
        self._names: list[str] | None = None
        self._taken: list[int] = []

    @property
    def known(self) -> bool:
        """True where it is static, or absent."""
        return self._is_read and not self._taken

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names; None where there is no `__all__`, or it cannot be read off."""
        return tuple(self._names) if self.known and self._names is not None else None

    @property
    def listed(self) -> tuple[tuple[str, ...], tuple[int, ...]] | None:
        """The names, and what stands for the lists of other modules, where it is made of these; else None."""
        return (tuple(self._names or ()), tuple(self._taken)) if self._is_read and self._taken else None

    def read(self, node: ast.stmt, number: Callable[[ast.expr], int] = lambda _: 0) -> None:
        """Note a statement about `__all__`.

        Parameters:
            number: gives the number of what stands for the list of another module, 0 where that is not known.
        """
        listing = listing_of(node)
        if listing is None or (listing[0] == "=" and listing[1] is None):
            return
        how, value = listing
        is_alone = not isinstance(node, ast.Assign) or len(node.targets) == 1  # else the list has another name as well
        found = _listed_in(value) if value is not None and how != "?" and is_alone else None
        taken = [number(each) for each in found[1]] if found else []
        names = found[0] if found and all(taken) else None
        if isinstance(node, ast.Expr):
            self._add(names, taken, more=True)
        else:
            self.bind(names, taken, more=how != "=")

    def bind(self, names: Sequence[str] | None, taken: Sequence[int] = (), *, more: bool = False) -> None:
        """Note that `__all__` is bound.

        Parameters:
            names: None where its value is not static; what is no text, as half a pair of surrogates, names nothing.
            taken: numbers of what stands for the lists of other modules, all of whose names it lists as well.
            more: whether the names are added to those before.
        """
        self.bindings += 1
        if self.bindings > 1 and not more:
            names = None  # in another branch, perhaps: it is not known which list counts
        self._add(names, taken, more=more or self.bindings > 1)

    def lose(self) -> None:
        """Note that `__all__` is bound in a way that cannot be read off."""
        self._add(None, (), more=True)

    def _add(self, names: Sequence[str] | None, taken: Sequence[int], *, more: bool) -> None:
        if names is not None and not all(map(is_text, names)):
            names = None
        self._is_read = names is not None and (self._is_read or not more)
        self._names = [*((self._names or ()) if more else ()), *(names or ())]
        self._taken = [*(self._taken if more else ()), *taken]


def _listed_in(node: ast.expr) -> tuple[list[str], list[ast.expr]] | None:
    """Return the strings of a list, and the lists of others that it is made of; None for anything else."""
    if isinstance(node, (ast.Attribute, ast.Name)):
        return [], [node]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_listed_in(node.left), _listed_in(node.right)]
    elif isinstance(node, (ast.List, ast.Tuple)):
        parts = [_listed_in(each.value) if isinstance(each, ast.Starred) else _string(each) for each in node.elts]
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
