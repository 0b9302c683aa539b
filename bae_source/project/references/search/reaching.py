"""The question whether a class below a receiver's leads to the target, where the receiver's own does not.

class A: …                        the target: A.m
class B: def m(self): …           x: B
class C(A, B): …                  `x.m` may be A.m, since C is below B, and comes to A first

class T: def m(self): …           `B.register(T)`: `x.m` may be T.m
class D: …                        `run = B.run`: `self.m` in B.run may be D.m
                                  `if isinstance(x, D): x.m()` may be D.m, whatever `x` is annotated as

Invariants:
- where each class comes to is worked out once, however many receivers there are: a family of some hundred classes, one
  below the other, has as many receivers, each with as many classes below it, and each of these with as many above it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from bae_source.project.references.classes.class_order import Order
from bae_source.project.references.meaning.meanings import Meaning, Symbol
from bae_source.project.references.types.inference import Inference
from bae_source.project.references.types.values import Above, Class, Function, Instance, Value
from bae_source.syntax.names import uses as u

_TEST = "isinstance"
_ANNOTATED = (u.PARAMETER, u.ANNOTATED)


class Reaching:
    """The classes through which one search may reach its target.

    Parameters:
        inference: tells which classes are above which.
        meanings: the target.
        registered: tells which classes stand for one without being below it, None for what may be any; asked only of
            abstract ones.
    """

    def __init__(
        self,
        inference: Inference,
        meanings: frozenset[Meaning],
        registered: Callable[[Class | str], Collection[Class | None]],
    ) -> None:
        self.inference = inference
        self.meanings = meanings
        self.registered = registered
        self._known: dict[tuple[Class, str, bool], bool] = {}
        self._assigned: dict[Class, tuple[tuple[str, int, str], ...]] = {}

    def below(self, value: Value, of: Class, name: str, family: Iterable[Class]) -> bool:
        """Return whether an attribute is the one searched for, if its value is of a class of the family below `of`.

        Parameters:
            of: the class of the value, whose own order does not lead there.
        """
        if isinstance(value, Above):
            return any(self._passes_on(owner, of, name) for owner in family)
        of_instance = isinstance(value, Instance)
        return any(
            self._known.get((owner, name, of_instance), True)
            and self._may_be_below(owner, of)
            and self._leads(owner, name, of_instance)
            for owner in family
        ) or self._beside(of, name, family, of_instance)

    def fits(self, kind: str, needed: str, family: Iterable[Class]) -> bool:
        """Return whether one of a family's classes may be what an annotation asks for that says what a value can do.

        Parameters:
            kind: name of the class that it is annotated with.
            needed: a method that whatever fits that class has, but for what is registered with it.
        """
        orders = self.inference.orders
        several = [orders.of(owner) for owner in family]
        if any(not order.whole or order.outside or orders.members(order, needed) for order in several):
            return True
        registered = self.registered(f"collections.abc.{kind}")
        return bool(registered) and any(_is_among(order, registered) for order in several)

    def _beside(self, of: Class, name: str, family: Iterable[Class], of_instance: bool) -> bool:
        """Return whether one of a family's classes stands for a class, or has methods of it, without being below it."""
        orders = self.inference.orders
        registered = self.registered(of) if orders.is_abstract(of) else ()
        return any(
            self._known.get((owner, name, of_instance), True)
            and (self._borrows(owner, of) or (registered and _is_among(orders.of(owner), registered)))
            and self._leads(owner, name, of_instance)
            for owner in family
        )

    def _borrows(self, owner: Class, of: Class) -> bool:
        """Return whether the suite of a class, or one above it, has a method that is defined in another one."""
        if owner not in self._assigned:
            classes = self.inference.orders.of(owner).classes
            self._assigned[owner] = tuple(each for around in classes for each in _assigned(self.inference, around))
        if not self._assigned[owner]:
            return False
        scopes = self.inference.uses(of.path).scopes
        return any(
            name in scopes[of.scope].names
            and any(
                isinstance(value, Function) and value.path == of.path and scopes[value.scope].parent == of.scope
                for value in self.inference.values(path, number)
            )
            for path, number, name in self._assigned[owner]
        )

    def _may_be_below(self, owner: Class, of: Class) -> bool:
        order = self.inference.orders.of(owner)
        return of in order.nodes or self.inference.computed.may_lead_to(order, of)

    def _leads(self, owner: Class, name: str, of_instance: bool) -> bool:
        """Return whether an attribute of a class is the target."""
        key = (owner, name, of_instance)
        if key not in self._known:
            orders = self.inference.orders
            members = orders.members(orders.of(owner), name, of_instance=of_instance)
            self._known[key] = any(member.symbol in self.meanings for member in members)
        return self._known[key]

    def _passes_on(self, owner: Class, of: Class, name: str) -> bool:
        """Return whether `super()` in a class leads to the member searched for in the order of another class."""
        orders = self.inference.orders
        order, own = orders.of(owner), orders.of(of).nodes
        if order.nodes[-len(own) :] == own:
            return False  # what comes behind it is what comes behind it in its own order
        if of not in order.nodes:
            return self._leads(owner, name, False) and self.inference.computed.may_lead_to(order, of)
        members = orders.members(order.behind(of), name)
        return any(member.symbol in self.meanings for member in members)


def _is_among(order: Order, registered: Collection[Class | None]) -> bool:
    """Return whether a class is registered, or one above it, by its order; any may be where `None` is."""
    return None in registered or any(node in registered for node in order.classes)


def _assigned(inference: Inference, owner: Class) -> Iterator[tuple[str, int, str]]:
    """Yield what a class's suite assigns that is an attribute: its file, its number, and what it is called."""
    uses = inference.uses(owner.path)
    for bindings in uses.scopes[owner.scope].names.values():
        for how, value, *_ in bindings:
            if how == u.ASSIGNED and uses.expressions[value][:1] == (u.ATTRIBUTE,):
                yield owner.path, value, str(uses.expressions[value][2])


def is_tested(
    inference: Inference, path: str, form: u.Expression, family: Callable[[], Iterable[Class] | None]
) -> bool:
    """Return whether code asks if an annotated name, or an attribute, holds an instance of one of a family's classes.

    The test stands in the same function, the name and the class on one line of it.

    Parameters:
        path: of the file.
        form: the expression that is the name, or an attribute of one; of anything else it is not said.
        family: the classes; None where they are too many.
    """
    uses = inference.uses(path)
    while form[:1] == (u.NARROWED,):
        form = uses.expressions[int(form[1])]
    if form[:1] == (u.NAME,):
        name, scope = str(form[1]), int(form[2])
        number = inference.names.scope_of(path, scope, name)
        if not number or not any(each[0] in _ANNOTATED and each[1] for each in uses.scopes[number].names[name]):
            return False
    else:
        first = uses.expressions[int(form[1])] if form[:1] == (u.ATTRIBUTE,) else ()
        if first[:1] != (u.NAME,):
            return False
        name, scope = str(form[2]), int(first[2])
    return any(_is_tested_for(inference, path, scope, name, each) for each in family() or ())


def _is_tested_for(inference: Inference, path: str, scope: int, name: str, owner: Class) -> bool:
    there, uses = inference.uses(owner.path), inference.uses(path)
    called = there.owners[there.scopes[owner.scope].owner].rpartition(".")[2].partition("[")[0]
    for line, column, at, kind, receiver, _ in uses.mentions.get(called, ()):
        if at != scope or kind != u.READ or not _are_on(uses, scope, (line, column), name):
            continue
        if receiver != u.PLAIN:
            return True
        meanings = inference.names.named(path, scope, called)
        if any(owner in inference.values_of(each) for each in meanings if isinstance(each, Symbol)):
            return True
    return False


def _are_on(uses: u.Uses, scope: int, place: tuple[int, int], name: str) -> bool:
    """Return whether the test and the name stand before a place on its line."""
    return all(
        any(each[:1] == place[:1] and each[1] < place[1] and each[2] == scope for each in uses.mentions.get(word, ()))
        for word in (_TEST, name)
    )
