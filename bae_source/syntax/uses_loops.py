"""What a loop binds a name to, in its own suite: whatever else the function binds that name to before or after.

    for k, v in pairs: k.f()        of `pairs`
    for k in others: k.f()          of `others`
    k.f()                           of either

Invariants:
- what the suite itself binds the name to counts there as well;
- a name that one loop alone binds is left as it is, since its scope says the same.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from bae_source.syntax import uses as u
from bae_source.syntax.uses_gathering import Gathering, Place
from bae_source.syntax.uses_targets import names_of


class Looped(Struct, frozen=True):
    """A name that a loop is about to bind.

    Parameters:
        name: as Python stores it.
        number: of its expression outside of the loop; None where it has none so far.
        bound: how often the scope has bound it before.
    """

    name: str
    number: int | None
    bound: int


class Loops:
    """Keeps what loops bind apart."""

    def __init__(self, gathering: Gathering) -> None:
        self.gathering = gathering
        self._seen: defaultdict[tuple[int, str], list[tuple[int, int, list[u.Binding]]]] = defaultdict(list)
        """By scope and name: the expression in a loop's suite, the loop's line, and what binds the name there."""

    def begin(self, target: ast.expr, place: Place) -> Sequence[Looped]:
        """Take account of a loop whose target is about to be bound."""
        scope = self.gathering.scopes[place.scope]
        if scope.kind != u.FUNCTION_SCOPE:
            return ()
        stored = dict.fromkeys(self.gathering.words[name][0] for name in names_of(target))
        return [Looped(name, place.numbers.pop(name, None), len(scope.names.get(name, ()))) for name in stored]

    def end(self, looped: Sequence[Looped], place: Place, line: int) -> None:
        """Leave the suite of a loop that begins in a line."""
        for each in looped:
            number = place.numbers.pop(each.name, None)
            if each.number is not None:
                place.numbers[each.name] = each.number
            seen = self._seen[place.scope, each.name]
            if number is not None:
                names = self.gathering.scopes[place.scope].names
                seen.append((number, line, names[each.name][each.bound :]))
            if each.bound:
                self._split(place.scope, each.name, seen)

    def _split(self, scope: int, name: str, seen: list[tuple[int, int, list[u.Binding]]]) -> None:
        names = self.gathering.scopes[scope].names
        for number, line, bindings in seen:
            here = f"{name}@{line}"
            self.gathering.expressions[number] = (u.NAME, here, scope)
            names.setdefault(here, []).extend(each for each in bindings if each not in names.get(here, ()))
        seen.clear()
