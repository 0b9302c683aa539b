"""Classes whose bases are worked out by code, and so may be below others than the code shows.

    class A(make(Base)): …                            may be below Base
    class B(*BASES): …                                BASES = (Base,): likewise
    def made(base):
        class C(base): …                              may be below any class
    class D(made(Base)):
        def __init__(self): self.x = X()              `self.x` may be what an unknown base binds it to
    class E(with_metaclass(Meta, Base)): …            of another distribution: it gives what it is given, Base
    class F(View): …                                  of another distribution: none of ours, `self.x` is what F binds

Invariant: what a call gives of what lies outside the project, as `declarative_base()`, is taken to be none of our
classes but those that are named beside it; what our own code gives may be any, where its values do not say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bae_source.project.references.classes.class_order import ClassOrders, Order
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.meaning.meanings import InModule, Meaning, Meanings, Outside, Symbol
from bae_source.project.references.types.values import NO_VALUE, Class, Member, OfClass, Value, Values
from bae_source.syntax.names import uses as u

_IN_HEADERS = (u.READ, u.CALL, u.BASE)
_LINKS = (u.ATTRIBUTE, u.CALLED, u.AWAITED, u.SUBSCRIPT, u.NEW, u.TYPED, u.TYPE_OF)
_NOT_ASSIGNED = frozenset({u.FUNCTION, u.CLASS, u.ANNOTATED, u.DECLARED})
"""Bindings of an attribute other than assignments in methods and the suite."""
_DEEPEST = 20


class ComputedBases:
    """The classes that may be above a class, beside those of its order.

    Parameters:
        names: looks names up.
        orders: tells where classes have their members.
        annotated: tells what an annotation of a file says.
        values_of: tells what a name may hold.
    """

    def __init__(
        self,
        names: Names,
        orders: ClassOrders,
        annotated: Callable[[str, int], Values],
        values_of: Callable[[Symbol], Values],
    ) -> None:
        self.names = names
        self.uses = names.uses
        self.orders = orders
        self.annotated = annotated
        self.values_of = values_of
        self._known: dict[Class, frozenset[Class | None]] = {}
        self._brought: dict[Class, frozenset[Class | None]] = {}
        self._depth = 0

    def may_lead_to(self, order: Order, above: Class) -> bool:
        """Return whether a class of an order may be below one that does not stand in it."""
        return not order.whole and any(
            named is None or above in self.orders.of(named).nodes
            for owner in order.classes
            for named in self._named(owner)
        )

    def bound(self, order: Order, members: Iterable[Member], name: str) -> Meanings:
        """Return what else an attribute may mean that methods or the suite of a class assign, and a base may, too.

        Parameters:
            members: where the order's own classes bind it.
        """
        scopes = ((self.uses(each.symbol.path).scopes[each.symbol.scope], each.symbol.name) for each in members)
        if any(how in _NOT_ASSIGNED for scope, bound in scopes for how, *_ in scope.names.get(bound, ())):
            return frozenset()
        found: set[Meaning] = set()
        for each in frozenset[Class | None]().union(*map(self._bringing, order.classes)):
            if each is None:
                found.add(None)
            elif each not in order.nodes:
                above = self.orders.members(self.orders.of(each), name, of_instance=True)
                found.update(member.symbol for member in above)
        return frozenset(found)

    def _bringing(self, owner: Class) -> frozenset[Class | None]:
        """Return the classes that bases may be that are not known; None where it may be any class."""
        if owner not in self._brought:
            if self._depth > _DEEPEST:
                return frozenset({None})
            self._brought[owner] = frozenset()  # in a circle
            self._depth += 1
            try:
                self._brought[owner] = frozenset(self._brought_by(owner))
            finally:
                self._depth -= 1
        return self._brought[owner]

    def _brought_by(self, owner: Class) -> Iterator[Class | None]:
        bases = self.uses(owner.path).scopes[owner.scope].bases
        for number, values in zip(bases, self.orders.bases(owner), strict=True):
            if any(not isinstance(each, (Class, Outside)) for each in values - {NO_VALUE}):
                if self._is_from_outside(owner.path, number):
                    yield from self._named(owner)
                else:
                    yield None

    def _is_from_outside(self, path: str, number: int, depth: int = 0) -> bool:
        """Return whether an expression gives what other distributions make, as far as names are followed."""
        if not number or depth > _DEEPEST:
            return False
        values = self.orders.values(path, number)
        if all(isinstance(each, Outside) or each == NO_VALUE for each in values):
            return True
        what, *rest = self.uses(path).expressions[number]
        if what == u.ANY_OF:
            return all(self._is_from_outside(path, int(each), depth + 1) for each in rest)
        meanings = self._meant(path, what, rest)
        if meanings:
            return all(isinstance(each, Outside) or self._is_given_so(each, depth) for each in meanings)
        return what in _LINKS and self._is_from_outside(path, int(rest[0]), depth + 1)

    def _meant(self, path: str, what: int | str, rest: list[int | str]) -> Meanings:
        """Return what a name means, or an attribute of modules; nothing for anything else."""
        if what == u.NAME:
            return self.names.named(path, int(rest[1]), str(rest[0]))
        modules = self.orders.values(path, int(rest[0])) if what == u.ATTRIBUTE else ()
        found: set[Meaning] = set()
        for each in modules:
            if not isinstance(each, InModule):
                return frozenset()
            found |= self.names.attribute(each.path, str(rest[1])) or {None}
        return frozenset(found)

    def _is_given_so(self, meaning: Meaning, depth: int) -> bool:
        """Return whether all that a name is assigned comes from outside, and no class of ours is named beside it."""
        if not isinstance(meaning, Symbol):
            return False
        bindings = self.uses(meaning.path).scopes[meaning.scope].names.get(meaning.name, ())
        return all(
            how == u.ASSIGNED
            and self._is_from_outside(meaning.path, value, depth + 1)
            and not any(self._classes_at(meaning.path, meaning.scope, line))
            for how, value, _, line in bindings
        )

    def _classes_at(self, path: str, scope: int, line: int) -> Iterator[Value]:
        """Yield the project's classes that a line of a scope names."""
        for name, mentions in self.uses(path).mentions.items():
            if any(each[0] == line and each[2] == scope and each[4] == u.PLAIN for each in mentions):
                yield from self._classes_of(self.names.named(path, scope, name))

    def _named(self, owner: Class) -> frozenset[Class | None]:
        """Return the classes that the header names where a base is not known; None where it may be any class."""
        if owner not in self._known:
            self._known[owner] = frozenset(self._named_in_header(owner) if self._is_computed(owner) else ())
        return self._known[owner]

    def _is_computed(self, owner: Class) -> bool:
        return any(not isinstance(value, (Class, Outside)) for values in self.orders.bases(owner) for value in values)

    def _named_in_header(self, owner: Class) -> Iterator[Class | None]:
        uses = self.uses(owner.path)
        scope = uses.scopes[owner.scope]
        for name, mentions in uses.mentions.items():
            for _, _, at, kind, receiver, by in mentions:
                if by == scope.owner and at == scope.parent and receiver == u.PLAIN and kind in _IN_HEADERS:
                    yield from self._classes_named(owner.path, at, name)

    def _classes_named(self, path: str, at: int, name: str) -> Iterator[Class | None]:
        """Yield the classes that a name holds, also several in a row, and None for one that is bound to anything."""
        number = self.names.scope_of(path, at, name)
        uses = self.uses(path)
        for how, first, *_ in uses.scopes[number].names.get(name, ()) if number is not None else ():
            if how == u.OTHER or (how == u.PARAMETER and not first):
                yield None
            elif how == u.PARAMETER:
                yield from (each.of if isinstance(each, OfClass) else None for each in self.annotated(path, first))
            elif how == u.ASSIGNED and uses.expressions[first][:1] == (u.SEVERAL,):
                for part in uses.expressions[first][1:]:
                    yield from (each for each in self.orders.values(path, int(part)) if isinstance(each, Class))
        yield from self._classes_of(self.names.named(path, at, name))

    def _classes_of(self, meanings: Meanings) -> Iterator[Class]:
        for meaning in meanings:
            values = self.values_of(meaning) if isinstance(meaning, Symbol) else ()
            yield from (value for value in values if isinstance(value, Class))
