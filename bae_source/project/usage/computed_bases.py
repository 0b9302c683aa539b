"""Classes whose bases are worked out by code, and so may be below others than the code shows.

    class A(make(Base)): …                            may be below Base
    class B(*BASES): …                                BASES = (Base,): likewise
    def made(base):
        class C(base): …                              may be below any class

Invariant: what a call gives that names no class of the project, as `declarative_base()`, is taken to be none of ours.
"""

from __future__ import annotations

from collections.abc import Iterator

from bae_source.project.usage.class_order import Order
from bae_source.project.usage.inference import Inference
from bae_source.project.usage.meaning import Outside, Symbol
from bae_source.project.usage.values import Class, OfClass
from bae_source.syntax import uses as u

_IN_HEADERS = (u.READ, u.CALL, u.BASE)


class ComputedBases:
    """Tells which classes may be below which, beside what their orders say.

    Parameters:
        inference: tells what names hold.
    """

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self._known: dict[Class, frozenset[Class | None]] = {}

    def may_lead_to(self, order: Order, above: Class) -> bool:
        """Say whether a class of an order may be below one that does not stand in it."""
        return not order.whole and any(
            named is None or above in self.inference.orders.of(named).nodes
            for owner in order.classes
            for named in self._named(owner)
        )

    def _named(self, owner: Class) -> frozenset[Class | None]:
        """Return the classes that the header names where a base is not known; None for what may be any class."""
        if owner not in self._known:
            self._known[owner] = frozenset(self._named_in_header(owner) if self._is_computed(owner) else ())
        return self._known[owner]

    def _is_computed(self, owner: Class) -> bool:
        bases = self.inference.orders.bases(owner)
        return any(not isinstance(value, (Class, Outside)) for values in bases for value in values)

    def _named_in_header(self, owner: Class) -> Iterator[Class | None]:
        uses = self.inference.uses(owner.path)
        scope = uses.scopes[owner.scope]
        for name, mentions in uses.mentions.items():
            for _, _, at, kind, receiver, by in mentions:
                if by == scope.owner and at == scope.parent and receiver == u.PLAIN and kind in _IN_HEADERS:
                    yield from self._held(owner.path, at, name)

    def _held(self, path: str, at: int, name: str) -> Iterator[Class | None]:
        """Yield the classes that a name holds, also several in a row, and None for one that is bound to anything."""
        names, inference = self.inference.names, self.inference
        number = names.scope_of(path, at, name)
        uses = inference.uses(path)
        for how, first, *_ in uses.scopes[number].names.get(name, ()) if number is not None else ():
            if how == u.OTHER or (how == u.PARAMETER and not first):
                yield None
            elif how == u.PARAMETER:
                yield from (each.of if isinstance(each, OfClass) else None for each in inference.annotated(path, first))
            elif how == u.ASSIGNED and uses.expressions[first][:1] == (u.SEVERAL,):
                for part in uses.expressions[first][1:]:
                    yield from (value for value in inference.values(path, int(part)) if isinstance(value, Class))
        for meaning in names.named(path, at, name):
            held = inference.held(meaning) if isinstance(meaning, Symbol) else ()
            yield from (value for value in held if isinstance(value, Class))
