"""What metaclasses do: their methods have classes before the dot, and their properties come before what classes have.

class Register(type):
    def __call__(cls): cls.params()      `params` of any class that Register makes
    @property
    def family(cls): …                   `Task.family` is this one, whatever Task has of that name
class Task(metaclass=Register): …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bae_source.project.usage.class_order import ClassOrders, Order
from bae_source.project.usage.meaning import Symbol
from bae_source.project.usage.values import Class, Values
from bae_source.syntax import uses as u

METACLASSES = frozenset({"builtins.type", "abc.ABCMeta", "enum.EnumMeta", "enum.EnumType"})
"""Metaclasses outside the project; what is below one is a metaclass too."""


def metaclasses(uses: Callable[[str], u.Uses], order: Order, values: Callable[[str, int], Values]) -> Iterator[Class]:
    """Yield the project's metaclasses that headers name, of a class and of those above it.

    Parameters:
        order: that of the class.
        values: tells what an expression of a file may give.
    """
    for each in order.classes:
        metaclass = uses(each.path).scopes[each.scope].metaclass
        for value in values(each.path, metaclass) if metaclass else ():
            if isinstance(value, Class):
                yield value


def properties(orders: ClassOrders, owner: Class, name: str) -> frozenset[Symbol]:
    """Return the properties that a class has from its metaclass, which are found before its own attributes."""
    above = metaclasses(orders.uses, orders.of(owner), orders.values)
    members = (member.symbol for each in above for member in orders.members(orders.of(each), name)[:1])
    return frozenset(each for each in members if orders.is_property(Class(each.path, each.scope), name))


def is_metaclass(orders: ClassOrders, owner: Class) -> bool:
    """Say whether the instances of a class are classes."""
    return not METACLASSES.isdisjoint(orders.of(owner).outside)


def may_make(orders: ClassOrders, metaclass: Class, classes: Iterable[Class] | None) -> bool:
    """Say whether one of some classes may be an instance of a metaclass; None are too many to look at."""
    return classes is None or any(_may_be_made(orders, metaclass, orders.of(each)) for each in classes)


def _may_be_made(orders: ClassOrders, metaclass: Class, order: Order) -> bool:
    above = metaclasses(orders.uses, order, orders.values)
    return not order.whole or any(metaclass in orders.of(each).nodes for each in above)
