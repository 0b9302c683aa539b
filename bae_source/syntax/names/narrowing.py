"""The value that a test shows a name or an attribute to have: as long as it holds, that stands for another expression.

    if isinstance(x, A): …                  in the suite an `A`, behind `else` none
    if not isinstance(self.x, A): return    below the statement an `A`
    assert isinstance(x, (A, B))            likewise
    isinstance(x, A) and x.f()              behind the `and`, and so on with `or`, `if … else`, comprehensions

Invariants:
- where the name, or an attribute of that name of anything, is bound anew before the test has lost its meaning, the test
  says nothing at all, since code may run in circles;
- the suite of a class is left as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.gathering import Gathering, Place

TELLING = frozenset({ast.Call, ast.UnaryOp, ast.BoolOp})
"""Types of tests that may say something."""
_Tested = tuple[ast.expr, ast.expr, bool]
"""An expression, types, and whether it is an instance of one of them."""
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Narrowed(Struct, frozen=True):
    """An expression that stands for another one for a while.

    Parameters:
        place: where the test stands.
        node: the name, or the attribute.
        original: the number of it.
        number: that of the expression that stands for it.
        bound: how often it, or an attribute of that name, was bound before.
    """

    place: Place
    node: ast.Name | ast.Attribute
    original: int
    number: int
    bound: int


class Narrowing:
    """Expressions that stand for others as long as a test holds."""

    def __init__(self, gathering: Gathering) -> None:
        self.gathering = gathering
        self.open: list[Callable[[], None]] = []
        """Narrowed expressions that end with the suite around them, the innermost suite's last."""

    def begin(self, test: ast.expr, place: Place, *, holds: bool) -> list[Narrowed]:
        """Take account of a test that was visited.

        Parameters:
            holds: whether it is true, and not false.
        """
        tested = _tested(test, holds) if type(test) in TELLING else ()
        return list(self._begun(tested, place)) if tested and not self.gathering.is_class(place) else []

    def until_the_end(self, test: ast.expr, place: Place, *, holds: bool) -> None:
        """Take account of a test up to the end of the suite."""
        self.open += [partial(self.end, [each]) for each in self.begin(test, place, holds=holds)]

    def behind(self, node: ast.If, place: Place) -> None:
        """Take account of a test below the statement, where one of its branches never comes to its end."""
        for body, holds in ((node.body, False), (node.orelse, True)):
            if body and isinstance(body[-1], _LEAVING):
                self.until_the_end(node.test, place, holds=holds)

    def close(self, first: int) -> None:
        """End what lasts to the end of a suite, the last first.

        Parameters:
            first: how much there was at its beginning.
        """
        for end in reversed(self.open[first:]):
            end()
        del self.open[first:]

    def end(self, narrowed: list[Narrowed]) -> None:
        """Put back what stood there before; the last first."""
        for each in reversed(narrowed):
            self._stand(each.place, each.node, each.original)
            is_shared = isinstance(each.node, ast.Name) and self._stored(each.node.id) in self.gathering.shared
            if is_shared or self._bound(each.place, each.node) > each.bound:
                self.gathering.expressions[each.number] = (u.ANY_OF, each.original)

    def _begun(self, tested: Sequence[_Tested], place: Place) -> Iterator[Narrowed]:
        # if isinstance(x, Client):    18: `x`, 19: `Client`
        #     x.send()                 21: (NARROWED, 18, 19, 1) stands for `x`
        # else:
        #     x.stop()                 24: (NARROWED, 18, 19, 0) stands for `x`
        # x.go()                       18 again; had the suite bound `x`, `end` would make 21 (ANY_OF, 18)
        for node, types, is_one in tested:
            original, tested_types = self._number(node, place), self._number(types, place)
            if original and tested_types and isinstance(node, (ast.Name, ast.Attribute)):
                number = len(self.gathering.expressions)
                self.gathering.expressions.append((u.NARROWED, original, tested_types, int(is_one)))
                self._stand(place, node, number)
                yield Narrowed(place, node, original, number, self._bound(place, node))

    def _number(self, node: ast.expr, place: Place) -> int:
        """Return the number of a visited name or attribute, or of a tuple of them."""
        if isinstance(node, ast.Name):
            return place.numbers.get(self._stored(node.id), u.OPAQUE)
        if isinstance(node, ast.Tuple):
            form: u.Expression = (u.SEVERAL, *(self._number(each, place) for each in node.elts))
            return u.OPAQUE if u.OPAQUE in form[1:] else self.gathering.numbers.get(form, u.OPAQUE)
        before = self._number(node.value, place) if isinstance(node, ast.Attribute) else u.OPAQUE
        return self.gathering.numbers.get(self._form(node, before), u.OPAQUE) if before else u.OPAQUE

    def _stand(self, place: Place, node: ast.Name | ast.Attribute, number: int) -> None:
        if isinstance(node, ast.Name):
            place.numbers[self._stored(node.id)] = number
        else:
            self.gathering.numbers[self._form(node, self._number(node.value, place))] = number

    def _bound(self, place: Place, node: ast.expr) -> int:
        """Return how often a name of the scope, or an attribute of any name in a chain, was bound so far."""
        scopes, scope = self.gathering.scopes, place.scope
        if isinstance(node, ast.Name):
            return len(scopes[scope].names.get(self._stored(node.id), ()))
        if not isinstance(node, ast.Attribute):
            return 0
        while scope and scope not in self.gathering.selves:
            scope = scopes[scope].parent
        name, own = self._stored(node.attr), self.gathering.selves.get(scope)
        of_self = len(scopes[own[1]].attributes.get(name, ())) if own else 0
        return of_self + len(self.gathering.bound.get(name, ())) + self._bound(place, node.value)

    def _form(self, node: ast.expr, before: int) -> u.Expression:
        assert isinstance(node, ast.Attribute)
        return (u.ATTRIBUTE, before, self._stored(node.attr))

    def _stored(self, name: str) -> str:
        return self.gathering.words[name][0]


def _tested(test: ast.expr, holds: bool) -> Sequence[_Tested]:
    """Return the expressions and types that a test compares; none for most tests, which are many."""
    if isinstance(test, ast.Call):
        is_type_test = isinstance(test.func, ast.Name) and test.func.id == "isinstance" and len(test.args) == 2
        return ((test.args[0], test.args[1], holds),) if is_type_test else ()
    if isinstance(test, ast.UnaryOp):
        return _tested(test.operand, not holds) if isinstance(test.op, ast.Not) else ()
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
        return [each for value in test.values for each in _tested(value, holds)]
    return ()
