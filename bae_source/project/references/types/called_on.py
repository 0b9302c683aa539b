"""The value of a method by the class it is called on: what a class above returns of itself is of the class below.

    class Base:
        def __enter__(self): return self
        @classmethod
        def make(cls): return cls()
    with Sub() as sub: …          `sub` is exactly a Sub
    Sub.make().send               the `send` of Sub, where it has one, and not that of Base
    super().make()                what is made is of the class around, or of one below it
    class Sub(Base):
        build = Base.make         bound to Base before: `Sub.build()` is a Base

Invariants:
- only `self`, `cls` and what is made of them depend on the receiver; all else is what it is everywhere;
- a receiver counts only where its class gives it to the method, which is no bound method assigned to the class;
- a receiver without such a method tells nothing, nor does a class tell the `self` of its methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.references.classes.class_order import ClassOrders
from bae_source.project.references.meaning.bound_elsewhere import BoundElsewhere
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.meaning.meanings import Outside, Symbol
from bae_source.project.references.types.making import Making
from bae_source.project.references.types.values import (
    NOT_KNOWN,
    Above,
    Class,
    Function,
    Instance,
    Member,
    OfClass,
    Value,
    Values,
    class_around,
    class_of,
    is_bound,
    union_of,
)
from bae_source.syntax.names import uses as u

Receivers = Callable[[], Values]
"""A function that gives the values before the dot of a called attribute; `NOT_KNOWN` where there is no dot."""


def nothing() -> Values:
    """Return the values of a receiver that is not there."""
    return NOT_KNOWN


def self_of(receivers: Values) -> Values:
    """Return the value of `Self` in a call of a method, by its receivers."""
    return frozenset(
        Instance(of, False, is_bound(each)) if of else None
        for each, of in ((each, class_around(each)) for each in receivers)
    )


class Steps(Protocol):
    """The source of the values that expressions have, wherever they stand."""

    names: Names
    orders: ClassOrders
    making: Making
    elsewhere: BoundElsewhere

    def uses(self, path: str, /) -> u.Uses:
        """Return the references in a file."""

    def values(self, path: str, number: int) -> Values:
        """Return the possible values of an expression of a file."""

    def once(self, key: object, work: Callable[[], Values]) -> Values:
        """Return the result of some work, done once, and not in circles."""

    def members(self, value: Value, name: str) -> list[Member]:
        """Return where an attribute of a class, an instance or `super()` is bound."""

    def taken(self, path: str, receivers: Values, name: str) -> Values:
        """Return the values of an attribute that code of a file takes from any of several values."""

    def calls(self, called: Values, receivers: Receivers) -> Values:
        """Return the possible values of a call of any of several values."""


class _On(Struct, frozen=True):
    """A method, and what it is called on: an instance of the method's class or of one below it, or such a class."""

    method: Function
    owner: Class
    itself: Value

    @property
    def instance(self) -> Value:
        """Return the value of `self` in the method; of `Base.method(x)` it is not known."""
        return self.itself if isinstance(self.itself, Instance) else Instance(self.owner, False)

    @property
    def own_class(self) -> Value:
        """Return the value of `cls` in the method."""
        return class_of(self.itself) if isinstance(self.itself, Instance) else self.itself


class CalledOn:
    """The values of methods by their receivers.

    Parameters:
        steps: tells what expressions give, wherever they stand.
    """

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self._known: dict[tuple[str, int], Values | None] = {}

    def itself(self, path: str, number: int) -> Values | None:
        """Return the values of `self` in the method around, the commonest receiver; None for any other expression."""
        key = (path, number)
        if key not in self._known:
            self._known[key] = self._itself(path, number)
        return self._known[key]

    def _itself(self, path: str, number: int) -> Values | None:
        try:
            uses = self.steps.uses(path)
        except ResourceError:
            return None
        form = uses.expressions[number] if number > 0 else ()
        if form[:1] != (u.NAME,):
            return None
        name, scope = str(form[1]), int(form[2])
        bindings = uses.scopes[scope].names.get(name, ())
        if len(bindings) != 1 or bindings[0].how != u.INSTANCE:
            return None
        if self.steps.elsewhere.changes_class(self.steps.names, Symbol(path, scope, name)):
            return None
        return frozenset({Instance(Class(path, bindings[0].first), False)})

    def returned(self, method: Function, receivers: Receivers) -> Values | None:
        """Return the values of a method's `return` statements; None where they do not depend on the receivers."""
        scopes = self.steps.uses(method.path).scopes
        scope = scopes[method.scope]
        if scopes[scope.parent].kind != u.CLASS_SCOPE or not any(
            binding.how in (u.INSTANCE, u.OWN_CLASS) for bindings in scope.names.values() for binding in bindings
        ):
            return None
        owner = Class(method.path, scope.parent)
        found = [_On(method, owner, itself) for itself in map(_called_on, receivers()) if self._has(itself, owner)]
        if all(each.itself == Instance(owner, False) for each in found):
            return None
        return union_of(self._seen(number, each) for each in found for number in scope.returns)

    def given(self, receivers: Values, name: str) -> Values:
        """Return those that a method is given as `self`, or whose class, which is taken from them by a name."""
        return frozenset(
            each
            for each in receivers
            if all(self._is_given(member.symbol) for member in self.steps.members(each, name))
        )

    def _is_given(self, symbol: Symbol) -> bool:
        """Return whether a class's suite alone binds an attribute, and to nothing that is bound to something else."""
        scope = self.steps.uses(symbol.path).scopes[symbol.scope]
        return symbol.name not in scope.attributes and all(
            how == u.FUNCTION or (how == u.ASSIGNED and self._is_plain(symbol, value))
            for how, value, *_ in scope.names[symbol.name]
        )

    def _is_plain(self, symbol: Symbol, number: int) -> bool:
        """Return whether a suite assigns a function of its own, or one that gets the instance."""
        uses = self.steps.uses(symbol.path)
        what, *rest = uses.expressions[number] or (None,)
        if what == u.NAME:
            bindings = uses.scopes[symbol.scope].names.get(str(rest[0]), ())
            return bool(bindings) and all(how == u.FUNCTION for how, *_ in bindings)
        is_of_class = what == u.ATTRIBUTE and all(
            isinstance(each, Class) for each in self.steps.values(symbol.path, int(rest[0]))
        )
        return is_of_class and not any(map(self._takes_class, self.steps.values(symbol.path, number)))

    def _takes_class(self, value: Value) -> bool:
        scope = self.steps.uses(value.path).scopes[value.scope] if isinstance(value, Function) else None
        return scope is None or any(each[0] == u.OWN_CLASS for found in scope.names.values() for each in found)

    def above(self, path: str, scope: int, named: int) -> Values:
        """Return the values of `super()` in a scope, or of `super(C, self)` where `named` is the expression `C`."""
        if named:
            classes = self.steps.values(path, named)
            return frozenset(Above(each) if isinstance(each, Class) else None for each in classes)
        around = self.steps.orders.class_around(path, scope)
        return frozenset({Above(around)}) if around else NOT_KNOWN

    def _has(self, itself: Value, owner: Class) -> bool:
        """Return whether a receiver is of a class, or of one below it."""
        of = itself.of if isinstance(itself, (Instance, OfClass)) else itself
        return isinstance(of, Class) and owner in self.steps.orders.of(of).nodes

    def _seen(self, number: int, on: _On) -> Values:
        """Return the values of an expression of a method in that call of it."""
        path = on.method.path
        form = self.steps.uses(path).expressions[number]
        if form[:1] == (u.NAME,):
            return self._named(number, form, on)
        if form[:1] == (u.ANY_OF,):
            return union_of(self._seen(int(each), on) for each in form[1:])
        if form[:1] not in ((u.ATTRIBUTE,), (u.CALLED,), (u.TYPE_OF,), (u.NEW,)):
            return self.steps.values(path, number)
        inner = int(form[2] if form[0] in (u.TYPE_OF, u.NEW) else form[1])
        return self.steps.once((number, on), lambda: self._worked_out(number, form, inner, on))

    def _worked_out(self, number: int, form: u.Expression, inner: int, on: _On) -> Values:
        steps, path = self.steps, on.method.path
        of = self._seen(inner, on)
        if form[0] == u.CALLED:
            receivers = self._before(inner, on)
            is_plain = of == steps.values(path, inner) and receivers is None
            return steps.values(path, number) if is_plain else steps.calls(of, lambda: receivers or NOT_KNOWN)
        if of == steps.values(path, inner):
            return steps.values(path, number)
        if form[0] == u.ATTRIBUTE:
            return steps.taken(path, of, str(form[2]))
        called = self._seen(int(form[1]), on)
        if form[0] == u.NEW:
            return steps.making.by_new(called, of)
        is_type = called == frozenset({Outside("builtins.type")})
        return frozenset(map(class_of, of)) if is_type else steps.values(path, number)

    def _before(self, number: int, on: _On) -> Values | None:
        """Return the values of the receiver, seen from the call; None where they are the same everywhere."""
        expressions = self.steps.uses(on.method.path).expressions
        form = expressions[number]
        if form[:1] != (u.ATTRIBUTE,):
            return None
        inner = int(form[1])
        if expressions[inner][:2] == (u.SUPER, on.method.scope):
            above = self.given(self.steps.values(on.method.path, inner), str(form[2]))
            return frozenset({on.itself}) if above else NOT_KNOWN
        seen = self._seen(inner, on)
        return None if seen == self.steps.values(on.method.path, inner) else self.given(seen, str(form[2]))

    def _named(self, number: int, form: u.Expression, on: _On) -> Values:
        """Return the values of a name: `self`, `cls`, or a variable of the method that only assignments bind."""
        path, name, scope = on.method.path, str(form[1]), int(form[2])
        bindings = self.steps.uses(path).scopes[scope].names.get(name, ()) if scope == on.method.scope else ()
        known = (u.ASSIGNED, u.INSTANCE, u.OWN_CLASS)
        if not bindings or not all(how in known for how, *_ in bindings):
            return self.steps.values(path, number)
        if self.steps.elsewhere.changes_class(self.steps.names, Symbol(path, scope, name)):
            return NOT_KNOWN
        return self.steps.once((number, on), lambda: union_of(self._bound(each, on) for each in bindings))

    def _bound(self, binding: u.Binding, on: _On) -> Values:
        how, number, *_ = binding
        if how == u.ASSIGNED:
            return self._seen(number, on)
        return frozenset({on.instance if how == u.INSTANCE else on.own_class})


def _called_on(receiver: Value) -> Value:
    """Return the receiver of a method; in `super().m()` it is the receiver of the method around."""
    return Instance(receiver.of, False) if isinstance(receiver, Above) else receiver
