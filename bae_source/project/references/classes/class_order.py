"""The order in which the classes above a class are searched for an attribute, as far as code says it.

    class C(Mixin, TestCase): …        C, Mixin, TestCase, unittest.TestCase
    class D(make(), Base): …           D, and then it is not known
    class E(cls): …                    E, then unknown, and the class that `cls` is, or is below

Invariants:
- a class outside the project stands where it is searched; what it defines is not known, so what comes after it is not
  sure, but what comes before it is;
- a member for type checkers alone is found beside the one of a class above;
- classes outside the project are taken to have none of the project's above them;
- a base whose name nothing binds, such as one that `globals()` is given, may be any class.

Source: the C3 linearization, as `type.mro` has it.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from bae_source.project.references.meaning.meanings import Outside, Symbol
from bae_source.project.references.types.enumerations import ENUMERATIONS
from bae_source.project.references.types.values import (
    FITTED,
    NOT_KNOWN,
    STANDARD,
    Class,
    Derived,
    Member,
    OfClass,
    Value,
    Values,
    in_order,
    is_bound_nowhere,
)
from bae_source.syntax.names import uses as u

Node = Class | Outside

_DEEPEST = 40
"""Deepest nesting of questions for orders, as where a base is an attribute of a class."""
_EMPTY_BASES = frozenset(
    {"builtins.object", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol", "abc.ABC"}
)
"""Bases outside the project that bring no attributes of their own."""
_ABSTRACT = frozenset({Outside("abc.ABC"), Outside("abc.ABCMeta")})
_INTERFACE = "zope.interface.Interface"
"""The base of classes that nothing is an instance of: objects are said to provide them, and calls give such objects."""


class Order(Struct, frozen=True):
    """The classes in which an attribute is searched, in order.

    Parameters:
        nodes: of the project and outside it.
        sure: how many of them surely come first, in this order.
        whole: whether nothing is missing and nothing could be elsewhere.
    """

    nodes: tuple[Node, ...]
    sure: int
    whole: bool = False

    @property
    def classes(self) -> tuple[Class, ...]:
        """Those of the project."""
        return tuple(node for node in self.nodes if isinstance(node, Class))

    @property
    def outside(self) -> frozenset[str]:
        """Names of those outside the project."""
        return frozenset(node.name for node in self.nodes if isinstance(node, Outside))

    @property
    def complete(self) -> bool:
        """Return whether it is whole and every class's code is known."""
        return self.whole and not self.outside

    def behind(self, owner: Class) -> Order:
        """Return the order after one of its classes: where `super()` in that class leads."""
        start = self.nodes.index(owner) + 1
        return Order(self.nodes[start:], max(0, self.sure - start), self.whole)


class ClassOrders:
    """The orders of classes, each worked out once.

    Parameters:
        uses: gives a file's uses.
        values: tells what an expression of a file may give.
    """

    def __init__(self, uses: Callable[[str], u.Uses], values: Callable[[str, int], Values]) -> None:
        self.uses = uses
        self.values = values
        self._known: dict[Class, Order] = {}
        self._intercepting: dict[Node, bool] = {}
        self._abstract: dict[Node, bool] = {}
        self._hooked: dict[Node, bool] = {}
        self._depth = 0

    def of(self, owner: Class) -> Order:
        """Return the classes in which attributes of a class are searched, itself first."""
        if owner not in self._known:
            if self._depth > _DEEPEST:
                return Order((owner,), 0)
            self._depth += 1
            try:
                self._work_out(owner)
            finally:
                self._depth -= 1
        return self._known[owner]

    def _work_out(self, owner: Class) -> None:
        """Work out the order of a class after those of the classes above it, however long their chain is."""
        bases: dict[Class, list[Values]] = {}
        waiting = [owner]
        while waiting:
            each = waiting[-1]
            if each in bases:
                self._known[waiting.pop()] = self._order(each, bases[each])
            elif each in self._known:
                waiting.pop()
            else:
                self._known[each] = Order((each,), 1)  # what a class in a circle of bases has to make do with
                bases[each] = self.bases(each)
                above = (_class_of(value) for values in reversed(bases[each]) for value in values)
                waiting += (found for found in above if isinstance(found, Class) and found not in self._known)

    def is_protocol(self, owner: Class) -> bool:
        """Return whether a class is a protocol (PEP 544) or an interface of zope: what fits it need not be below it.

        So it is with one that tells itself what is below it.
        """
        if _INTERFACE in self.of(owner).outside or any(map(self._has_hook, self.of(owner).nodes)):
            return True
        return any(
            isinstance(value, Outside) and value.name.rpartition(".")[2] == "Protocol"
            for values in self.bases(owner)
            for value in values
        )

    def is_abstract(self, owner: Class) -> bool:
        """Return whether classes may be registered with a class (PEP 3119), as far as its bases and metaclass say."""
        return any(map(self._is_registrable, self.of(owner).nodes))

    def _is_registrable(self, node: Node) -> bool:
        if isinstance(node, Outside):
            module = node.name.rpartition(".")[0]
            return module in FITTED or module.partition(".")[0] not in STANDARD
        known = self._abstract.get(node)
        if known is None:
            metaclass = self.uses(node.path).scopes[node.scope].metaclass
            named = [*self.bases(node), *([self.values(node.path, metaclass)] if metaclass else [])]
            known = self._abstract[node] = any(
                each in _ABSTRACT or (isinstance(each, Class) and "abc.ABCMeta" in self.of(each).outside)
                for values in named
                for each in values
            )
        return known

    def is_enumeration(self, owner: Class) -> bool:
        """Return whether the assignments in a class's suite make members of an enumeration."""
        return not ENUMERATIONS.isdisjoint(self.of(owner).outside)

    def class_around(self, path: str, scope: int) -> Class | None:
        """Return the class in whose method a scope lies."""
        scopes = self.uses(path).scopes
        while scope >= 0:
            if scopes[scope].kind == u.CLASS_SCOPE:
                return Class(path, scope)
            scope = scopes[scope].parent
        return None

    def _has_hook(self, node: Node) -> bool:
        return isinstance(node, Class) and "__subclasshook__" in self.uses(node.path).scopes[node.scope].names

    def intercepts(self, owner: Class) -> bool:
        """Return whether a class decides itself what each attribute of its instances is, by `__getattribute__`."""
        return any(map(self._has_getattribute, self.of(owner).nodes))

    def is_hooked(self, owner: Class) -> bool:
        """Return whether code may run when a class is made: metaclass, decorator, `__init_subclass__` of one above."""
        return any(map(self._has_hooks, self.of(owner).nodes))

    def _has_hooks(self, node: Node) -> bool:
        known = self._hooked.get(node)
        if known is None:
            known = self._hooked[node] = isinstance(node, Class) and self._runs_hook(node)
        return known

    def _runs_hook(self, owner: Class) -> bool:
        uses = self.uses(owner.path)
        scopes = uses.scopes
        scope = scopes[owner.scope]
        has_hook = bool(scope.metaclass) or "__init_subclass__" in scope.names
        return has_hook or decoration_of(scopes, uses.owners, owner.scope) != u.OPAQUE

    def _has_getattribute(self, node: Node) -> bool:
        known = self._intercepting.get(node)
        if known is None:
            names = self.uses(node.path).scopes[node.scope].names if isinstance(node, Class) else ()
            known = self._intercepting[node] = "__getattribute__" in names
        return known

    def members(self, order: Order, name: str, *, of_instance: bool = False) -> list[Member]:
        """Return the bindings of an attribute, the one that is found first in front; none where no class has any.

        Parameters:
            of_instance: whether an instance is asked, which has what methods of any of its classes assign to `self`;
                only a property is found before that.
        """
        hidden = has_suite = False
        found: list[Member] = []
        for number, node in enumerate(order.nodes):
            if isinstance(node, Outside):
                hidden = hidden or may_bind(node, name)
                continue
            scope = self.uses(node.path).scopes[node.scope]
            in_suite = name in scope.names and not has_suite
            if in_suite or name in scope.attributes:
                member = Member(Symbol(node.path, node.scope, name), number < order.sure and not hidden)
                if in_suite and (_is_for_types(scope, name) or u.is_partly(scope, name, u.ONE_WAY)):
                    in_suite = False  # when code runs, the one above is found, or may be
                if in_suite and self.is_property(node, name):
                    return [member]
                found.append(member)
                if in_suite and not of_instance:
                    return found
            has_suite = has_suite or in_suite
        return found

    def are_for_types(self, members: Iterable[Member]) -> bool:
        """Return whether some members are there for type checkers alone, each of them."""
        symbols = [(self.uses(each.symbol.path).scopes[each.symbol.scope], each.symbol.name) for each in members]
        return all(name in scope.names and _is_for_types(scope, name) for scope, name in symbols)

    def is_property(self, owner: Class, name: str) -> bool:
        """Return whether a class's suite makes a property of that name."""
        functions = self.uses(owner.path).scopes
        bindings = functions[owner.scope].names.get(name, ())
        return any(how == u.FUNCTION and u.Flag.PROPERTY in functions[first].flags for how, first, *_ in bindings)

    def bases(self, owner: Class) -> list[Values]:
        """Return the possible values of each base; `Base[int]` is `Base`; a name that nothing binds is not known."""
        uses = self.uses(owner.path)
        found: list[Values] = []
        for base in uses.scopes[owner.scope].bases:
            number = base
            while number and uses.expressions[number][0] == u.SUBSCRIPT:
                number = int(uses.expressions[number][1])
            if isinstance(owner, Derived) and self.is_parameter(owner.path, number):
                found.append(frozenset({owner.over}))
            else:
                found.append(_bound(self.values(owner.path, number)))
        return found

    def is_parameter(self, path: str, number: int) -> bool:
        """Return whether an expression is a parameter of the function that it stands in."""
        uses = self.uses(path)
        form = uses.expressions[number]
        names = uses.scopes[int(form[2])].names if form[:1] == (u.NAME,) else {}
        bindings = names.get(str(form[1]), ()) if names else ()
        return bool(bindings) and all(binding.how == u.PARAMETER for binding in bindings)

    def _order(self, owner: Class, bases: list[Values]) -> Order:
        # class A(X), class B(X)
        # class C(A, B)            lists (A, X), (B, X), direct (A, B): nodes C, A, B, X, all sure, and whole
        # class D(unknown(), B)    bases {None}, {B}: nodes D, B, X; D alone is sure, as any class may come before B
        # class E(A, unknown())    nodes E, A, X; E and A are sure, but the unknown base may come before X
        lists: list[tuple[Node, ...]] = []
        direct: list[Node] = []
        for values in bases:
            known = map(_class_of, values)
            for each in sorted({value for value in known if isinstance(value, (Class, Outside))}, key=in_order):
                if isinstance(each, Outside) and each.name in _EMPTY_BASES:
                    continue
                direct.append(each)
                lists.append(self.of(each).nodes if isinstance(each, Class) else (each,))
        merged = _merged([*lists, tuple(direct)])
        nodes = (owner, *(_flat(lists) if merged is None else merged))
        whole = merged is not None and all(len(values) == 1 and self._is_whole(values) for values in bases)
        return Order(nodes, len(nodes) if whole else self._surely_first(bases), whole)

    def _is_whole(self, values: Values) -> bool:
        [value] = values
        return isinstance(value, Outside) or (isinstance(value, Class) and self.of(value).whole)

    def _surely_first(self, bases: list[Values]) -> int:
        """Return the number of nodes surely first where not every base is known: the class, and its first base's.

        With several bases that is the first one alone, since another one could come before what is above it.
        """
        first = next(iter(bases[0])) if bases and len(bases[0]) == 1 else None
        if not isinstance(first, Class):
            return 1
        return 1 + (self.of(first).sure if len(bases) == 1 else 1)


def may_bind(base: Outside, name: str) -> bool:
    """Return whether a class from outside may have an attribute; the built-in ones are there to be asked."""
    module, _, last = base.name.rpartition(".")
    found = getattr(builtins, last, None) if module == "builtins" else None
    return not isinstance(found, type) or hasattr(found, name)


def _class_of(value: Value) -> Value:
    """Return the class that a base is, or is below."""
    return value.of if isinstance(value, OfClass) else value


def _bound(values: Values) -> Values:
    """Return the values of bases; a name that neither code nor Python binds counts as not known."""
    missing = [each for each in values if isinstance(each, Outside) and is_bound_nowhere(each)]
    return values.difference(missing) | NOT_KNOWN if missing else values


def decoration_of(scopes: Sequence[u.Scope], owners: Sequence[str], number: int) -> int:
    """Return the expression that stands for the calls of a class's decorators; OPAQUE where it has none."""
    scope = scopes[number]
    around = scopes[scope.parent]
    if around.kind == u.TYPE_SCOPE:
        around = scopes[around.parent]
    name = owners[scope.owner].rpartition(".")[2].partition("[")[0]
    return next((calls for how, first, calls, _ in around.names.get(name, ()) if (how, first) == (u.CLASS, number)), 0)


def _is_for_types(scope: u.Scope, name: str) -> bool:
    """Return whether a class has a name for type checkers alone, and not when code runs."""
    return u.is_partly(scope, name, u.FOR_TYPES) or all(binding.how == u.DECLARED for binding in scope.names[name])


def _merged(lists: list[tuple[Node, ...]]) -> list[Node] | None:
    """Merge orders as C3 does; None where they contradict each other.

    Parameters:
        lists: the orders of the bases, and the bases.
    """
    if len(lists) == 2:
        return list(lists[0])  # one base
    behind: dict[Node, int] = {}
    for node in (node for each in lists for node in each[1:]):
        behind[node] = behind.get(node, 0) + 1
    waiting = [list(reversed(each)) for each in lists if each]  # what is next comes last
    merged: list[Node] = []
    while waiting:
        head = next((each[-1] for each in waiting if not behind.get(each[-1])), None)
        if head is None:
            return None
        merged.append(head)
        for each in waiting:
            if each[-1] == head:
                each.pop()
                if each:
                    behind[each[-1]] -= 1
        waiting = [each for each in waiting if each]
    return merged


def _flat(lists: Iterable[tuple[Node, ...]]) -> list[Node]:
    return list(dict.fromkeys(item for each in lists for item in each))
