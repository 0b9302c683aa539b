"""The value of a name that a test shows to be an instance of some classes, or of none of them.

    def f(x, y: Shape, z: Shape | None):
        isinstance(x, Tri)          `x` was not known: a `Tri`
        isinstance(y, Tri)          a `Tri`, where that is below `Shape`; else what the annotation says
        isinstance(y, Base)         what the annotation says, where that is below `Base`
        not isinstance(z, Shape)    `None`

Invariants:
- nothing is taken for known that is not: unknown classes leave a value as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bae_source.project.references.classes.class_order import Order
from bae_source.project.references.types.values import Class, Instance, OutsideInstance, Value, Values

_CLASS = OutsideInstance("builtins.type")
"""Value that every class of the project is an instance of."""
Orders = Callable[[Class], Order]
"""A function that gives the classes above one."""


def narrowed(values: Values, types: Values, orders: Orders, *, is_one: bool) -> Values:
    """Return those of some values that pass a test.

    Parameters:
        types: instances of the classes that it asks for.
        is_one: whether a value is an instance of one of them, and not of none.
    """
    if not all(isinstance(each, (Instance, OutsideInstance)) and each != _CLASS for each in types):
        return values
    if not is_one:
        return frozenset(each for each in values if not _is_one_of(each, types, orders)) or values
    found = {each for value in values for each in _passing(value, types, orders)}
    return frozenset(found) or values


def _passing(value: Value, types: Values, orders: Orders) -> Iterator[Value]:
    """Yield the values that pass for one: itself, or instances of classes below its own."""
    if value is None:
        yield from types
    elif _is_one_of(value, types, orders):
        yield value
    elif isinstance(value, (Instance, OutsideInstance)) and not value.exact:
        yield from (each for each in types if _may_be_below(each, value, orders))


def _is_one_of(value: Value, types: Values, orders: Orders) -> bool:
    """Return whether a value is an instance of one of some types, whatever class below its own it is of."""
    if isinstance(value, Instance):
        above = orders(value.of)
        return any(
            each.of in above.nodes if isinstance(each, Instance) else each.name in above.outside
            for each in types
            if isinstance(each, (Instance, OutsideInstance))
        )
    return isinstance(value, OutsideInstance) and any(
        isinstance(each, OutsideInstance) and each.name == value.name for each in types
    )


def _may_be_below(type_: Value, value: Instance | OutsideInstance, orders: Orders) -> bool:
    if isinstance(value, Instance):
        return isinstance(type_, Instance) and value.of in orders(type_.of).nodes
    return True
