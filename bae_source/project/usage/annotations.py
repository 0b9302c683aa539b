"""What annotations say that a variable may hold.

x: Client                   an instance of Client or of a class below it
x: Optional[Client]         the same
x: type[Client]             the class itself or one below
x: Mapped[Client]           `Mapped` is of another distribution: nobody can say
"""

from __future__ import annotations

from collections.abc import Callable

from bae_source.project.usage.meaning import Outside
from bae_source.project.usage.values import (
    NO_VALUE,
    NOT_KNOWN,
    Instance,
    OfClass,
    Value,
    Values,
    instance_of,
    may_stand_for_another,
    union_of,
)
from bae_source.syntax import uses as u

_NO_VALUE: Values = frozenset({NO_VALUE})


class Annotations:
    """Reads annotations.

    Parameters:
        uses: gives a file's uses.
        values: tells what an expression of a file may give.
    """

    def __init__(self, uses: Callable[[str], u.Uses], values: Callable[[str, int], Values]) -> None:
        self.uses = uses
        self.values = values

    def held(self, path: str, number: int) -> Values:
        """Return what a variable with an annotation may hold."""
        if not number:
            return NOT_KNOWN
        form = self.uses(path).expressions[number]
        if form[0] == u.SUBSCRIPT:
            return self._subscripted(path, int(form[1]), int(form[2]))
        if form[0] == u.ANY_OF:
            return union_of(self.held(path, int(each)) for each in form[1:]) - _NO_VALUE
        if form[0] == u.SEVERAL:
            return union_of(self.held(path, int(each)) for each in form[1:])
        if form[0] == u.LITERAL:
            return _NO_VALUE if form[1] == "NoneType" else NOT_KNOWN
        return frozenset(instance_of(value) for value in self.values(path, number))

    def _subscripted(self, path: str, base: int, inner: int) -> Values:
        found: set[Value] = set()
        for value in self.values(path, base):
            name = value.name.rpartition(".")[2] if isinstance(value, Outside) else ""
            if name in ("Optional", "Union", "ClassVar", "Final", "InitVar", "Required", "NotRequired", "ReadOnly"):
                found |= self.held(path, inner) - _NO_VALUE
            elif name == "Annotated":
                form = self.uses(path).expressions[inner] if inner else ()
                found |= self.held(path, int(form[1])) if len(form) > 1 and form[0] == u.SEVERAL else NOT_KNOWN
            elif name in ("type", "Type"):
                found |= {
                    OfClass(each.of, each.exact) if isinstance(each, Instance) else None
                    for each in self.held(path, inner)
                }
            else:
                found.add(None if may_stand_for_another(value) else instance_of(value))
        return frozenset(found)
