"""What a name is in a part of a function, whatever else the function binds it to before or after.

    for k, v in pairs: k.f()        in the suite of the loop what that binds
    for k in others: k.f()          likewise
    url = URL(url)                  below an assignment, up to the next one or the end of its suite, what is assigned
    url.join(…)

Invariants:
- what is bound within such a part counts there as well, since code may run in circles;
- a name that is bound once is left as it is, since its scope says the same, and so is one that `global` or `nonlocal`
  shares with other functions.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct

from bae_source.syntax import uses as u
from bae_source.syntax.uses_gathering import Gathering, Place
from bae_source.syntax.uses_targets import names_of

_SHARED = (u.GLOBAL, u.NONLOCAL)


class Region(Struct, frozen=True):
    """A part of a function in which a name is bound first.

    Parameters:
        name: as Python stores it.
        place: where it is bound.
        line: of the statement that binds it.
        number: of its expression outside; None where it has none so far.
        bound: how often the scope has bound it before.
    """

    name: str
    place: Place
    line: int
    number: int | None
    bound: int


class Regions:
    """Keeps apart what a name is."""

    def __init__(self, gathering: Gathering) -> None:
        self.gathering = gathering
        self.open: dict[str, Region] = {}
        """By name, those that last to the end of the suite that is visited."""
        self._seen: defaultdict[tuple[int, str], list[tuple[int, int, list[u.Binding]]]] = defaultdict(list)
        """By scope and name: the expression in a region, its line, and what binds the name there."""

    def begin(self, target: ast.expr, place: Place, line: int) -> list[Region]:
        """Take account of names that are about to be bound, at the beginning of a region."""
        scope = self.gathering.scopes[place.scope]
        if scope.kind != u.FUNCTION_SCOPE:
            return []
        stored = dict.fromkeys(self.gathering.words[name][0] for name in names_of(target))
        return [
            Region(name, place, line, place.numbers.pop(name, None), len(scope.names.get(name, ()))) for name in stored
        ]

    def until_the_end(self, target: ast.expr, place: Place, line: int) -> None:
        """Take account of a name that is about to be assigned to, up to the end of the suite."""
        if type(target) is ast.Name and (again := self.open.pop(self.gathering.words[target.id][0], None)):
            self.end([again])
        if type(target) is ast.Name:
            self.open.update({region.name: region for region in self.begin(target, place, line)})

    def end(self, regions: Iterable[Region]) -> None:
        """Leave regions."""
        for each in regions:
            number = each.place.numbers.pop(each.name, None)
            if each.number is not None:
                each.place.numbers[each.name] = each.number
            scope = each.place.scope
            bindings = self.gathering.scopes[scope].names[each.name]
            seen = self._seen[scope, each.name]
            if number is not None:
                seen.append((number, each.line, bindings[each.bound :]))
            if each.bound and each.name not in self.gathering.shared and bindings[0][0] not in _SHARED:
                self._split(scope, each.name, seen)

    def _split(self, scope: int, name: str, seen: list[tuple[int, int, list[u.Binding]]]) -> None:
        names = self.gathering.scopes[scope].names
        for number, line, bindings in seen:
            here = f"{name}@{line}"
            self.gathering.expressions[number] = (u.NAME, here, scope)
            names.setdefault(here, []).extend(each for each in bindings if each not in names.get(here, ()))
        seen.clear()
