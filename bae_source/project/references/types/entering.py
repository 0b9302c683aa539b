"""The value that `with` binds where code says it otherwise than by a class's `__enter__`.

    with pytest.raises(Refused) as caught:      `caught.value` is a Refused, or of a class below it
    with self.assertRaises(Refused) as caught:  `caught.exception` likewise, in a test case
    @contextmanager
    def opened() -> Iterator[Client]: …
    with opened() as client:                    a Client: what the function yields

Invariants:
- a decorator of the standard library is believed as `syntax/names/decorators` does.
"""

from __future__ import annotations

from collections.abc import Callable

from bae_source.project.references.classes.class_order import ClassOrders
from bae_source.project.references.meaning.meanings import Outside
from bae_source.project.references.types.items import Items
from bae_source.project.references.types.values import (
    NOT_KNOWN,
    Function,
    Instance,
    Raised,
    Values,
    raised_of,
    union_of,
)
from bae_source.syntax.names import uses as u

METHODS = ("__enter__", "__aenter__")
_EXPECTING = frozenset({"pytest.raises", "pytest.warns"})
_ASSERTING = frozenset({"assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex"})


class Entering:
    """The values that `with` binds.

    Parameters:
        uses: gives a file's uses.
        orders: tells which classes are above which.
        values: tells what an expression of a file may give.
        annotated: tells what an annotation says.
        items: tells what something has that is looped over.
    """

    def __init__(
        self,
        uses: Callable[[str], u.Uses],
        orders: ClassOrders,
        values: Callable[[str, int], Values],
        annotated: Callable[[str, int], Values],
        items: Items,
    ) -> None:
        self.uses = uses
        self.orders = orders
        self.values = values
        self.annotated = annotated
        self.items = items

    def entered(self, path: str, manager: int) -> Values:
        """Return the values that `with` binds for a manager; `NOT_KNOWN` where its class decides them."""
        managers = self.values(path, manager)
        form = self.uses(path).expressions[manager]
        if raised := raised_of(managers):
            return raised
        if form[:1] != (u.CALLED,):
            return NOT_KNOWN
        return union_of(
            self._yielded(each) if isinstance(each, Function) else NOT_KNOWN for each in self.values(path, int(form[1]))
        )

    def expecting(self, path: str, form: u.Expression) -> Values:
        """Return the values that hold an exception which a call expects."""
        given = form[2] if len(form) > 2 else ""
        if not isinstance(given, int) or not self._is_expecting(path, int(form[1])):
            return NOT_KNOWN
        return frozenset({Raised("pytest.raises", True, self.annotated(path, given))})

    def _is_expecting(self, path: str, called: int) -> bool:
        form = self.uses(path).expressions[called]
        if form[:1] != (u.ATTRIBUTE,) or form[2] not in _ASSERTING:
            return all(isinstance(each, Outside) and each.name in _EXPECTING for each in self.values(path, called))
        owners = [each.of for each in self.values(path, int(form[1])) if isinstance(each, Instance)]
        return bool(owners) and all(
            any(base.endswith("TestCase") for base in self.orders.of(owner).outside)
            and not self.orders.members(self.orders.of(owner), str(form[2]))
            for owner in owners
        )

    def _yielded(self, function: Function) -> Values:
        """Return the values that a generator yields which a decorator makes a manager."""
        if u.Flag.ENTERED not in self.uses(function.path).scopes[function.scope].flags:
            return NOT_KNOWN
        values = self.items.inside(function.path, function.returns) if function.returns else NOT_KNOWN
        scope = self.uses(function.path).scopes[function.scope]
        return union_of(self.values(function.path, each) for each in scope.returns) if None in values else values
