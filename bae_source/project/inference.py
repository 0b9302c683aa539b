"""What an expression gives, as far as code says it without being run: classes, instances, functions, modules.

    x = Client()            an instance of exactly Client
    def f(x: Client): x     an instance of Client or of a class below it
    self, cls               an instance of the class around it or below; the class itself or one below
    make().send             what `make` is annotated to return

Invariants:
- a value is known or it is `None`; a set of values holds everything that bindings tell, `None` included;
- inference is bounded: past a depth, and in circles, nothing is known.

Source of the order in which a class's bases are searched: the C3 linearization, as `type.mro` has it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.meaning import InFolder, InModule, Meaning, Names, Outside, Symbol
from bae_source.syntax import uses as u

_DEEPEST = 12
_EMPTY_BASES = frozenset(
    {"builtins.object", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol", "abc.ABC"}
)
"""Bases outside the project that bring no attributes of their own."""


class Class(Struct, frozen=True):
    """A class of the project, by the scope of its suite."""

    path: str
    scope: int


class Function(Struct, frozen=True):
    """A function of the project; `returns` is the number of its return annotation."""

    path: str
    scope: int
    returns: int


class Instance(Struct, frozen=True):
    """An instance of a class; `exact` says that it is of no class below it."""

    of: Class
    exact: bool


class OfClass(Struct, frozen=True):
    """The class itself, or with `exact` unset one below it."""

    of: Class
    exact: bool


class Above(Struct, frozen=True):
    """What `super()` gives in a method of a class."""

    of: Class


class OutsideInstance(Struct, frozen=True):
    """An instance of a class outside the project."""

    name: str


Value = Class | Function | Instance | OfClass | Above | OutsideInstance | InModule | InFolder | Outside | None
Values = frozenset[Value]
NOT_KNOWN: Values = frozenset({None})


class Order(Struct, frozen=True):
    """The classes in which an attribute is searched, in order.

    Parameters:
        classes: of the project.
        known: how many of them come before the first one about which nothing is known.
        outside: names of the bases outside the project.
    """

    classes: tuple[Class, ...]
    known: int
    outside: frozenset[str]

    @property
    def complete(self) -> bool:
        """Whether every base is known."""
        return self.known >= len(self.classes) and not self.outside


class Member(Struct, frozen=True):
    """Where an attribute of a class is bound; `sure` unless an unknown base could bind it first."""

    symbol: Symbol
    sure: bool


class Inference:
    """Tells what expressions give.

    Parameters:
        names: looks names up.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.uses = names.uses
        self._known: dict[tuple[str, int], Values] = {}
        self._running: set[object] = set()
        self._orders: dict[Class, Order] = {}

    def values(self, path: str, number: int) -> Values:
        """Return what an expression of a file may give."""
        if not number or len(self._running) > _DEEPEST:
            return NOT_KNOWN
        key = (path, number)
        if key in self._known:
            return self._known[key]
        if key in self._running:
            return NOT_KNOWN
        self._running.add(key)
        try:
            found = self._values(path, self.uses(path).expressions[number])
        except ResourceError:
            found = NOT_KNOWN
        finally:
            self._running.discard(key)
        if not self._running:
            self._known[key] = found
        return found

    def meant(self, path: str, number: int) -> frozenset[Meaning]:
        """Return the names that an expression stands for: what a name or an attribute means, before its value."""
        if not number:
            return frozenset({None})
        form = self.uses(path).expressions[number]
        if form[0] == u.NAME:
            return self.names.named(path, int(form[2]), str(form[1]))
        if form[0] == u.ATTRIBUTE:
            found: set[Meaning] = set()
            for value in self.values(path, int(form[1])):
                found |= self.attribute(value, str(form[2]))
            return frozenset(found)
        if form[0] in (u.SUBSCRIPT, u.AWAITED):
            return self.meant(path, int(form[1]))
        return frozenset({None})

    def attribute(self, value: Value, name: str) -> frozenset[Meaning]:
        """Return what an attribute of a value means."""
        if isinstance(value, InModule):
            return self.names.attribute(value.path, name) or frozenset({None})
        if isinstance(value, InFolder):
            return self.names.inside(value, name) or frozenset({None})
        if isinstance(value, Outside):
            return frozenset({Outside(f"{value.name}.{name}")})
        members = self.members(value, name)
        found: set[Meaning] = {member.symbol for member in members}
        if not members or not all(member.sure for member in members):
            found.add(None)
        return frozenset(found)

    def members(self, value: Value, name: str) -> list[Member]:
        """Return where an attribute of a class, an instance or `super()` is bound; nothing where no class binds it."""
        if isinstance(value, Class):
            return self._members(self.order(value), name)
        if isinstance(value, (Instance, OfClass)):
            return self._members(self.order(value.of), name)
        if isinstance(value, Above):
            order = self.order(value.of)
            return self._members(Order(order.classes[1:], max(0, order.known - 1), order.outside), name)
        return []

    def order(self, of: Class) -> Order:
        """Return the classes in which attributes of a class are searched."""
        if of not in self._orders:
            self._orders[of] = Order((of,), 1, frozenset())  # what a class in a circle of bases has to make do with
            self._orders[of] = self._order(of)
        return self._orders[of]

    def bases(self, of: Class) -> list[Values]:
        """Return what each base of a class may be."""
        uses = self.uses(of.path)
        return [self._base(of.path, uses.expressions, number) for number in uses.scopes[of.scope].bases]

    def _base(self, path: str, expressions: tuple[u.Expression, ...], number: int) -> Values:
        while number and expressions[number][0] == u.SUBSCRIPT:
            number = int(expressions[number][1])
        return self.values(path, number)

    def _order(self, of: Class) -> Order:
        lists: list[list[Class]] = []
        outside: set[str] = set()
        direct: list[Class] = []
        known = True
        for values in self.bases(of):
            classes = [value for value in values if isinstance(value, Class)]
            outer = {value.name for value in values if isinstance(value, Outside)} - _EMPTY_BASES
            outside |= outer
            for each in classes:
                above = self.order(each)
                lists.append(list(above.classes))
                direct.append(each)
                outside |= above.outside
                known = known and above.complete
            known = known and len(values) == 1 and None not in values and not outer
        merged = _merged([*lists, direct])
        searched = (of, *(merged if merged is not None else _flat(lists)))
        if known and merged is not None and not outside:
            return Order(searched, len(searched), frozenset())
        return Order(searched, self._surely_first(of), frozenset(outside))

    def _surely_first(self, of: Class) -> int:
        """Return how many classes come before anything unknown: the class, and what its first base brings surely.

        With several bases that is the first one alone, since another one could come before what is above it.
        """
        bases = self.bases(of)
        first = next(iter(bases[0])) if bases and len(bases[0]) == 1 else None
        if not isinstance(first, Class):
            return 1
        return 1 + (self.order(first).known if len(bases) == 1 else 1)

    def _members(self, order: Order, name: str) -> list[Member]:
        for number, owner in enumerate(order.classes):
            scope = self.uses(owner.path).scopes[owner.scope]
            if name in scope.names or name in scope.attributes:
                return [Member(Symbol(owner.path, owner.scope, name), number < order.known)]
        return []

    def _values(self, path: str, form: u.Expression) -> Values:
        what = form[0]
        if what in (u.NAME, u.ATTRIBUTE):
            return self._values_of_meanings(self._meant(path, form), self._receiver(path, form))
        if what == u.CALLED:
            return _union(self._called(value) for value in self.values(path, int(form[1])))
        if what == u.LITERAL:
            return frozenset({OutsideInstance(f"builtins.{form[1]}")})
        if what == u.AWAITED:
            return self._awaited(path, int(form[1]))
        if what == u.ANY_OF:
            return _union(self.values(path, int(number)) for number in form[1:])
        if what == u.SUPER:
            return self._above(path, int(form[1]), int(form[2]))
        return NOT_KNOWN

    def _meant(self, path: str, form: u.Expression) -> Iterable[Meaning]:
        if form[0] == u.NAME:
            return self.names.named(path, int(form[2]), str(form[1]))
        found: set[Meaning] = set()
        for value in self.values(path, int(form[1])):
            found |= self.attribute(value, str(form[2]))
        return found

    def _receiver(self, path: str, form: u.Expression) -> Values:
        return self.values(path, int(form[1])) if form[0] == u.ATTRIBUTE else frozenset()

    def _values_of_meanings(self, meanings: Iterable[Meaning], receivers: Values) -> Values:
        found: set[Value] = set()
        for meaning in meanings:
            if isinstance(meaning, Symbol):
                found |= self.held(meaning, through_instance=any(isinstance(each, Instance) for each in receivers))
            else:
                found.add(meaning)
        return frozenset(found)

    def held(self, symbol: Symbol, *, through_instance: bool = False) -> Values:
        """Return what a bound name may hold.

        Parameters:
            through_instance: whether it is taken from an instance, so that a property gives its value.
        """
        if symbol in self._running or len(self._running) > _DEEPEST:
            return NOT_KNOWN
        self._running.add(symbol)
        try:
            scope = self.uses(symbol.path).scopes[symbol.scope]
            bindings = [*scope.names.get(symbol.name, ()), *scope.attributes.get(symbol.name, ())]
            return _union(self._bound(symbol, binding, through_instance) for binding in bindings)
        except ResourceError:
            return NOT_KNOWN
        finally:
            self._running.discard(symbol)

    def _bound(self, symbol: Symbol, binding: u.Binding, through_instance: bool) -> Values:
        how, first, second, _ = binding
        path = symbol.path
        if how == u.CLASS:
            return frozenset({Class(path, first)})
        if how == u.FUNCTION:
            if through_instance and "property" in self.uses(path).scopes[first].flags:
                return self.annotated(path, second)
            return frozenset({Function(path, first, second)})
        if how == u.ASSIGNED:
            return self.values(path, first)
        if how in (u.ANNOTATED, u.PARAMETER):
            return self.annotated(path, first)
        if how == u.INSTANCE:
            return frozenset({Instance(Class(path, first), False)})
        if how == u.OWN_CLASS:
            return frozenset({OfClass(Class(path, first), False)})
        if how == u.CAUGHT:
            return self.annotated(path, first)
        if how == u.IMPORTED:
            return self._values_of_meanings(self.names.imported(path, first), frozenset())
        return NOT_KNOWN

    def annotated(self, path: str, number: int) -> Values:
        """Return what a variable with an annotation may hold."""
        if not number:
            return NOT_KNOWN
        form = self.uses(path).expressions[number]
        if form[0] == u.SUBSCRIPT:
            return self._subscripted(path, int(form[1]), int(form[2]))
        if form[0] == u.ANY_OF:
            return _union(self.annotated(path, int(each)) for each in form[1:]) - _NO_VALUE
        if form[0] == u.SEVERAL:
            return _union(self.annotated(path, int(each)) for each in form[1:])
        if form[0] == u.LITERAL:
            return _NO_VALUE if form[1] == "NoneType" else NOT_KNOWN
        return frozenset(_instance(value) for value in self.values(path, number))

    def _subscripted(self, path: str, base: int, inner: int) -> Values:
        found: set[Value] = set()
        for value in self.values(path, base):
            name = value.name.rpartition(".")[2] if isinstance(value, Outside) else ""
            if name in ("Optional", "Union", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly"):
                found |= self.annotated(path, inner) - _NO_VALUE
            elif name == "Annotated":
                form = self.uses(path).expressions[inner] if inner else ()
                found |= self.annotated(path, int(form[1])) if len(form) > 1 and form[0] == u.SEVERAL else NOT_KNOWN
            elif name in ("type", "Type"):
                found |= {
                    OfClass(each.of, each.exact) if isinstance(each, Instance) else None
                    for each in self.annotated(path, inner)
                }
            else:
                found.add(_instance(value))
        return frozenset(found)

    def _called(self, value: Value) -> Values:
        if isinstance(value, Class):
            return frozenset({Instance(value, True)})
        if isinstance(value, OfClass):
            return frozenset({Instance(value.of, value.exact)})
        if isinstance(value, Function):
            flags = self.uses(value.path).scopes[value.scope].flags
            if "wrapped" in flags:
                return NOT_KNOWN
            return frozenset({_COROUTINE}) if "async" in flags else self._returned(value)
        return NOT_KNOWN

    def _returned(self, function: Function) -> Values:
        """Return what a function gives: what it is annotated to, else what its `return` statements say."""
        if function.returns:
            return self.annotated(function.path, function.returns)
        scope = self.uses(function.path).scopes[function.scope]
        if not scope.returns or "generator" in scope.flags:
            return NOT_KNOWN
        return _union(self.values(function.path, number) for number in scope.returns)

    def _awaited(self, path: str, number: int) -> Values:
        form = self.uses(path).expressions[number]
        if form[0] != u.CALLED:
            return NOT_KNOWN
        called = self.values(path, int(form[1]))
        return _union(
            self._returned(value)
            if isinstance(value, Function) and "async" in self.uses(value.path).scopes[value.scope].flags
            else NOT_KNOWN
            for value in called
        )

    def _above(self, path: str, scope: int, named: int) -> Values:
        """Return what `super()` gives in a scope, or `super(C, self)` where `named` is the expression `C`."""
        if named:
            return frozenset(Above(each) if isinstance(each, Class) else None for each in self.values(path, named))
        owner = self._class_around(path, scope)
        return frozenset({Above(owner)}) if owner else NOT_KNOWN

    def _class_around(self, path: str, scope: int) -> Class | None:
        """Return the class in whose method a scope lies."""
        scopes = self.uses(path).scopes
        while scope >= 0:
            if scopes[scope].kind == u.CLASS_SCOPE:
                return Class(path, scope)
            scope = scopes[scope].parent
        return None


NO_VALUE = OutsideInstance("builtins.NoneType")
_NO_VALUE: Values = frozenset({NO_VALUE})
_COROUTINE = OutsideInstance("types.CoroutineType")


def _instance(value: Value) -> Value:
    """Return what an annotation that names `value` says."""
    if isinstance(value, Class):
        return Instance(value, False)
    if isinstance(value, Outside):
        last = value.name.rpartition(".")[2]
        return None if last in ("Any", "Self", "object", "TypeVar") else OutsideInstance(value.name)
    return None


def _union(several: Iterable[Values]) -> Values:
    found: frozenset[Value] = frozenset().union(*several)
    return found or NOT_KNOWN


def _merged(lists: list[list[Class]]) -> list[Class] | None:
    """Merge orders as C3 does; None where they contradict each other."""
    waiting = [list(each) for each in lists if each]
    merged: list[Class] = []
    while waiting:
        for each in waiting:
            head = each[0]
            if not any(head in other[1:] for other in waiting):
                break
        else:
            return None
        merged.append(head)
        waiting = [rest for each in waiting if (rest := [item for item in each if item != head])]
    return merged


def _flat(lists: list[list[Class]]) -> list[Class]:
    return list(dict.fromkeys(item for each in lists for item in each))
