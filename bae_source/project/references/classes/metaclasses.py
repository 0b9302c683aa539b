"""The effect of metaclasses: their methods have classes before the dot, and their properties precede what classes have.

class Register(type):
    def __call__(cls): cls.params()      `params` of any class that Register makes
    @property
    def family(cls): …                   `Task.family` is this one, whatever Task has of that name
class Task(metaclass=Register): …
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property

from bae_source.project.references.classes.class_order import ClassOrders, Node, Order
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.references.types.values import Class, Instance, Value, Values
from bae_source.syntax.names import uses as u

METACLASSES = frozenset({"builtins.type", "abc.ABCMeta", "enum.EnumMeta", "enum.EnumType"})
"""Metaclasses outside the project; what is below one is a metaclass too."""


def metaclasses(uses: Callable[[str], u.Uses], order: Order, values: Callable[[str, int], Values]) -> Iterator[Class]:
    """Yield the project's metaclasses that headers name, of a class and of those above it.

    Parameters:
        order: that of the class.
        values: tells what an expression of a file may give.
    """
    return (value for value in _named(uses, order, values) if isinstance(value, Class))


def properties(orders: ClassOrders, owner: Class, name: str) -> frozenset[Symbol]:
    """Return the properties that a class has from its metaclass, which are found before its own attributes."""
    above = metaclasses(orders.uses, orders.of(owner), orders.values)
    members = (member.symbol for each in above for member in orders.members(orders.of(each), name)[:1])
    return frozenset(each for each in members if orders.is_property(Class(each.path, each.scope), name))


def may_come_before(orders: ClassOrders, properties: Collection[Symbol], sought: Sought, *, exact: bool) -> bool:
    """Return whether a property of a class's metaclass may be the target.

    Parameters:
        exact: whether it is that class, and none below it: that may have a metaclass with another such property.
    """
    if not sought.meanings.isdisjoint(properties):
        return True
    above = {Class(each.path, each.scope) for each in properties}
    return not exact and any(not above.isdisjoint(orders.of(owner).nodes) for owner in sought.classes)


def is_metaclass(orders: ClassOrders, owner: Class) -> bool:
    """Return whether the instances of a class are classes, as its bases show."""
    return not METACLASSES.isdisjoint(orders.of(owner).outside)


class Makers:
    """The question whether an instance may be one of the classes that the target is a member of.

    Parameters:
        classes: these.
        family: every class below them too, or None where there are too many to look at; asked only when needed.
    """

    def __init__(self, orders: ClassOrders, classes: Iterable[Class], family: Callable[[], Iterable[Class] | None]):
        self._orders = orders
        self._classes = classes
        self._family = family

    def may_make(self, value: Instance) -> bool:
        """Return whether a class may be the receiver, as in the methods of its metaclass."""
        is_known = is_metaclass(self._orders, value.of)
        if value.exact and not is_known:
            return False
        return value.of in self._known or (is_known and None in self._known)

    @cached_property
    def _known(self) -> frozenset[Node | None]:
        """The metaclasses, and the classes above these; None where there may be others."""
        family = self._family()
        found: set[Node | None] = {None} if family is None else set()
        for order in map(self._orders.of, self._classes if family is None else family):
            named = frozenset(_named(self._orders.uses, order, self._orders.values))
            for value in named:
                found.update(self._orders.of(value).nodes if isinstance(value, Class) else ())
            if None in named or not order.whole:
                found.add(None)
        return frozenset(found)


def _named(uses: Callable[[str], u.Uses], order: Order, values: Callable[[str, int], Values]) -> Iterator[Value]:
    """Yield what headers name as metaclass of a class, and of those above it."""
    for each in order.classes:
        metaclass = uses(each.path).scopes[each.scope].metaclass
        yield from values(each.path, metaclass) if metaclass else ()
