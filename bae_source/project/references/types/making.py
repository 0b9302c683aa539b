"""The value of a call of a class that gives no instance of it, and of a class that a decorator exchanges.

class Shape:
    def __new__(cls): return object.__new__(Circle)      `Shape()` gives a Circle
class Point(metaclass=Cached): …                         what `__call__` of the metaclass returns, where it has one
Node = Cached("Node", (Base,), {})                       a class whose members are not known
Repo[int]                                                the class Repo, unless code says what the brackets give
@wrapped
class Client: …                                          what `wrapped` returns

Invariants:
- an unknown value that is returned counts as the expected one: an instance of the class or of one below it, the class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bae_source.project.references.classes.class_order import ClassOrders, Order
from bae_source.project.references.classes.metaclasses import METACLASSES, metaclasses
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.types.values import (
    NOT_KNOWN,
    Above,
    Class,
    Derived,
    Function,
    Instance,
    Member,
    OfClass,
    Value,
    Values,
    new_instance,
    union_of,
)
from bae_source.syntax.names import uses as u


class Making:
    """The values of calls and subscripts of classes.

    Parameters:
        names: looks names up.
        orders: tells where classes have their members.
        values: tells what an expression of a file may give.
        called: tells what a call of something may give.
    """

    def __init__(
        self,
        names: Names,
        orders: ClassOrders,
        values: Callable[[str, int], Values],
        called: Callable[[Value], Values],
    ) -> None:
        self.uses = names.uses
        self.orders = orders
        self.values = values
        self.called = called

    def by_new(self, functions: Values, first: Values) -> Values:
        """Return the values of a call of one of some `__new__`, whose first argument is known."""
        own = (self.called(each) for each in functions if isinstance(each, Function))
        return union_of([frozenset(map(new_instance, first)), *own])

    def by_brackets(self, value: Value) -> Values:
        """Return the values of `value[…]`: of a class the class itself, of an enumeration one of its members."""
        if not isinstance(value, (Class, OfClass)):
            return NOT_KNOWN
        owner = value if isinstance(value, Class) else value.of
        if self.orders.is_enumeration(owner):
            return frozenset({Instance(owner, True)})
        order = self.orders.of(owner)
        found = self.orders.members(order, "__class_getitem__")
        for above in map(self.orders.of, metaclasses(self.uses, order, self.values)):
            found += self.orders.members(above, "__getitem__")
        results = [self.called(each) for each in self.functions(found)]  # what a suite assigns is Python's own
        return union_of(results) if results else frozenset({value})

    def by_class(self, owner: Class, *, exact: bool) -> Values:
        """Return the values of a call of a class: an instance of it, and what its makers return besides.

        Makers are its `__new__`, and `__call__` of its metaclass. Where their value is not known, the instance may be
        of a class below.

        Parameters:
            exact: whether it is that class which is called, and none below it.
        """
        order = self.orders.of(owner)
        makers = [(each, order) for each in self.functions(self.orders.members(order, "__new__"))]
        for above in map(self.orders.of, metaclasses(self.uses, order, self.values)):
            makers += [(each, above) for each in self.functions(self.orders.members(above, "__call__"))]
        results = union_of(self.called(maker) for maker, _ in makers) if makers else ()
        others = (each for each in results if not self._is_expected(each, owner, makers))
        instance = Instance(owner, exact and not any(self._may_choose(maker, above) for maker, above in makers))
        created = {instance} if METACLASSES.isdisjoint(order.outside) else {instance, None}  # None: which class
        return frozenset(each for each in others if each is not None) | created

    def takes_others(self, owner: Class) -> bool:
        """Return whether a class decides by its own code which values `isinstance` takes for its instances."""
        order = self.orders.of(owner)
        above = map(self.orders.of, metaclasses(self.uses, order, self.values))
        own = self.orders.members(order, "__subclasshook__")
        return bool(own) or any(self.orders.members(each, "__instancecheck__") for each in above)

    def _is_expected(self, value: Value, owner: Class, makers: Iterable[tuple[Function, Order]]) -> bool:
        """Return whether a value from the makers of a class may be its instance, and not exactly one of a class above.

        But for what is below the class of a maker: this makes it where it is called itself.
        """
        if not isinstance(value, Instance) or value.of not in self.orders.of(owner).nodes:
            return False
        if not value.exact or value.of == owner:
            return True
        around = (self.orders.class_around(maker.path, maker.scope) for maker, _ in makers)
        return any(each != value.of and each in self.orders.of(value.of).nodes for each in around)

    def _may_choose(self, maker: Function, order: Order) -> bool:
        """Return whether a function's `return` statements give unknown values, whatever its annotation says.

        Parameters:
            order: that of the class whose method it is, or of one below it.
        """
        path, scope = maker.path, self.uses(maker.path).scopes[maker.scope]
        for number in scope.returns:
            what, *rest = self.uses(path).expressions[number] or (None,)
            found = scope.names.get(str(rest[0]), ()) if what == u.NAME and rest[1] == maker.scope else ()
            given = [value if how == u.ASSIGNED else u.OPAQUE for how, value, *_ in found] or [number]
            if None in self.values(path, number) and not all(self._is_by_type(path, each, order) for each in given):
                return True
        return False

    def _is_by_type(self, path: str, number: int, order: Order) -> bool:
        """Return whether an expression is `super().__call__(…)` of a metaclass, and what that leads to `type` has."""
        expressions = self.uses(path).expressions
        form = expressions[number]
        called = expressions[int(form[1])] if form[:1] == (u.CALLED,) else ()
        if called[:1] != (u.ATTRIBUTE,) or called[2] != "__call__":
            return False
        return all(
            isinstance(each, Above) and each.of in order.nodes and self._is_type(order.behind(each.of))
            for each in self.values(path, int(called[1]))
        )

    def _is_type(self, order: Order) -> bool:
        """Return whether what is searched after a metaclass has no `__call__` but that of `type`."""
        is_known = order.whole and order.outside and METACLASSES.issuperset(order.outside)
        return bool(is_known) and not self.orders.members(order, "__call__")

    def instead_of_class(self, owner: Class, number: int) -> Values:
        """Return the values that decorators put in place of a class: other classes, or an instance that wraps it.

        Parameters:
            number: the expression that stands for the decorators' calls.
        """
        found: set[Value] = set()
        for value in self.values(owner.path, number):
            if isinstance(value, Instance):
                found.add(value)
            elif isinstance(value, Class) and self._is_below_parameter(value):
                found.add(Derived(value.path, value.scope, owner))
            elif isinstance(value, Class) and self.orders.of(value).whole:
                found.add(value)
        return frozenset(found - {owner})

    def _is_below_parameter(self, owner: Class) -> bool:
        """Return whether a class has a base that is a parameter of the function around it."""
        bases = self.uses(owner.path).scopes[owner.scope].bases
        return any(self.orders.is_parameter(owner.path, base) for base in bases)

    def functions(self, members: Iterable[Member]) -> Iterable[Function]:
        """Yield the functions that members are."""
        for symbol in (member.symbol for member in members):
            for how, first, second, _ in self.uses(symbol.path).scopes[symbol.scope].names.get(symbol.name, ()):
                if how == u.FUNCTION:
                    yield Function(symbol.path, first, second)
