"""Whether a class below a receiver's leads to what is looked for, where the receiver's own does not.

class A: …                        what is looked for: A.m
class B: def m(self): …           x: B
class C(A, B): …                  `x.m` may be A.m, since C is below B, and comes to A first

Invariants:
- where each class comes to is worked out once, however many receivers there are: a family of some hundred classes, one
  below the other, has as many receivers, each with as many classes below it, and each of these with as many above it.
"""

from __future__ import annotations

from collections.abc import Iterable

from bae_source.project.usage.inference import Inference
from bae_source.project.usage.meaning import Meaning
from bae_source.project.usage.values import Above, Class, Instance, Value


class Reaching:
    """Tells what classes come to for one search.

    Parameters:
        inference: tells which classes are above which.
        meanings: what is looked for.
    """

    def __init__(self, inference: Inference, meanings: frozenset[Meaning]) -> None:
        self.inference = inference
        self.meanings = meanings
        self._known: dict[tuple[Class, str, bool], bool] = {}

    def below(self, value: Value, of: Class, name: str, family: Iterable[Class]) -> bool:
        """Say whether an attribute of a value is what is looked for, if it is of one of a family's classes below `of`.

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
        )

    def _may_be_below(self, owner: Class, of: Class) -> bool:
        order = self.inference.orders.of(owner)
        return of in order.nodes or self.inference.computed.may_lead_to(order, of)

    def _leads(self, owner: Class, name: str, of_instance: bool) -> bool:
        """Say whether an attribute of a class is what is looked for."""
        key = (owner, name, of_instance)
        if key not in self._known:
            orders = self.inference.orders
            members = orders.members(orders.of(owner), name, of_instance=of_instance)
            self._known[key] = any(member.symbol in self.meanings for member in members)
        return self._known[key]

    def _passes_on(self, owner: Class, of: Class, name: str) -> bool:
        """Say whether `super()` in a class leads to what is looked for where it stands in the order of another one."""
        orders = self.inference.orders
        order, own = orders.of(owner), orders.of(of).nodes
        if order.nodes[-len(own) :] == own:
            return False  # what comes behind it is what comes behind it in its own order
        if of not in order.nodes:
            return self._leads(owner, name, False) and self.inference.computed.may_lead_to(order, of)
        members = orders.members(order.behind(of), name)
        return any(member.symbol in self.meanings for member in members)
