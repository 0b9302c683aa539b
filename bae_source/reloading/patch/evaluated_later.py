"""The parts of a class's body that are evaluated later: `type` statements, bounds of type parameters (PEP 695).

    class C:
        type Pair = tuple[Item, Item]          Item is looked up in the dictionary of the class that the body made
        def swap[T: Item](self, other: T): …

Invariant: nothing of the project is called, and nothing is evaluated.
"""

from __future__ import annotations

import gc
import typing
from collections.abc import Iterator
from types import CellType, FunctionType
from typing import Any

from bae_source.reloading.patch.inside import direct_functions

ALIASES: tuple[type, ...] = tuple(getattr(typing, name) for name in ("TypeAliasType",) if hasattr(typing, name))
"""The type of the values of `type` statements, where Python has them."""
_NAMESPACE = "__classdict__"


def look_up_in(old: type, new: type) -> None:
    """Have what the body of `new` left to be evaluated look names up in `old`; else it would keep `new` alive."""
    for value in vars(new).values():
        for name, cell in _cells(value):
            if name == _NAMESPACE:
                cell.cell_contents = vars(old)
                return  # one cell for the whole body


def _cells(value: object) -> Iterator[tuple[str, CellType]]:
    """Yield the cells of the functions that evaluate an alias, or the type parameters of a definition."""
    for each in _left(value):
        for function in gc.get_referents(each):  # no attribute leads to them
            if type(function) is FunctionType:
                yield from zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)


def _left(value: Any) -> Iterator[object]:
    if isinstance(value, type):
        yield from vars(value).get("__type_params__", ())
    elif type(value) in ALIASES:
        yield from (value, *value.__type_params__)
    for function in direct_functions(value):
        yield from getattr(function, "__type_params__", ())
