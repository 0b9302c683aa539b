"""The value of a name in a part of a function, whatever else the function binds it to before or after.

    for k, v in pairs: k.f()        in the suite of the loop what that binds
    for k in others: k.f()          likewise
    url = URL(url)                  below an assignment, up to the next one or the end of its suite, what is assigned
    url.join(…)

Invariants:
- a name bound within such a part counts there as well, since code may run in circles;
- a name that is bound once is left as it is, since its scope says the same, and so is one that `global` or `nonlocal`
  shares with other functions.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from msgspec import Struct

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.gathering import Gathering, Place
from bae_source.syntax.names.targets import names_of


class Region(Struct):
    """A part of a function in which a name is bound first.

    Parameters:
        name: as Python stores it.
        place: where it is bound.
        line: of the statement that binds it.
        outer: number of its expression outside; None where it has none so far.
        first: how often the scope has bound it before.
        until: how often when it is bound anew in the same suite; None where it is not.
        own: number of its expression inside, once the region has ended; `OPAQUE` where it has none.
    """

    name: str
    place: Place
    line: int
    outer: int | None
    first: int
    until: int | None = None
    own: int = u.OPAQUE


class Regions:
    """The values of a name, kept apart by the region that binds it.

    Parameters:
        closing: takes what ends at the end of a suite.
    """

    def __init__(self, gathering: Gathering, closing: list[Callable[[], None]]) -> None:
        self.gathering = gathering
        self.closing = closing
        self.open: dict[str, Region] = {}
        """By name, the last one that lasts to the end of the suite that is visited."""
        self._seen: defaultdict[tuple[int, str], list[Region]] = defaultdict(list)
        """By scope and name, regions that have ended."""

    def begin(self, target: ast.expr, place: Place, line: int) -> list[Region]:
        """Take account of names that are about to be bound, at the beginning of a region."""
        if not place.in_function:
            return []
        stored = dict.fromkeys(self.gathering.words[name][0] for name in names_of(target))
        return [self._begun(name, place, line) for name in stored]

    def until_the_end(self, target: ast.expr, place: Place, line: int) -> None:
        """Take account of a name that a function is about to assign to, up to the end of the suite."""
        if type(target) is not ast.Name:
            return
        name = self.gathering.words[target.id][0]
        region = self._begun(name, place, line)
        if region.first and (before := self.open.get(name)):
            before.until = region.first
        self.open[name] = region
        self.closing.append(partial(self.end, (region,)))

    def _begun(self, name: str, place: Place, line: int) -> Region:
        bound = self.gathering.scopes[place.scope].names.get(name)
        return Region(name, place, line, place.numbers.pop(name, None), len(bound) if bound else 0)

    def end(self, regions: Iterable[Region]) -> None:
        """Leave regions."""
        # 19  for k in a: k.f()    Region(first=0, until=1), own: expression 31
        # 20  for k in b: k.g()    Region(first=1, until=2), own: 36; the name is bound again, so both are split:
        # 31 becomes (NAME, "k@19") and 36 (NAME, "k@20"), and the scope gets both names, with one binding each
        for each in regions:
            each.own = each.place.numbers.pop(each.name, u.OPAQUE)
            if each.outer is not None:
                each.place.numbers[each.name] = each.outer
            bindings = self.gathering.scopes[each.place.scope].names[each.name]
            each.until = len(bindings) if each.until is None else each.until
            is_again = len(bindings) > each.until - each.first
            if not (each.own or is_again):
                continue
            seen = self._seen[each.place.scope, each.name]
            seen += [each] if each.own else []
            if is_again and not self._is_shared(each.name, bindings):
                self._split(seen, bindings)

    def _is_shared(self, name: str, bindings: Sequence[u.Binding]) -> bool:
        return name in self.gathering.shared or any(how in (u.GLOBAL, u.NONLOCAL) for how, *_ in bindings)

    def _split(self, seen: list[Region], bindings: Sequence[u.Binding]) -> None:
        for each in seen:
            here, scope = f"{each.name}@{each.line}", each.place.scope
            self.gathering.expressions[each.own] = (u.NAME, here, scope)
            names = self.gathering.scopes[scope].names.setdefault(here, [])
            names += [binding for binding in bindings[each.first : each.until] if binding not in names]
        seen.clear()
