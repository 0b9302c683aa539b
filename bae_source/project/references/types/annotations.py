"""The values of a variable by its annotations.

x: Client                   an instance of Client or of a class below it
x: Optional[Client]         the same
x: type[Client]             the class itself or one below
x: Alias                    what `Alias = Optional[Client]`, `type Alias = Client`, `TypeVar("Alias", bound=Client)` say
-> Self                     an instance of the class whose method is called, or of one below it
x: Mapped[Client]           `Mapped` is of another distribution: not known
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.meaning.meanings import InModule, Meanings, Outside, Symbol
from bae_source.project.references.types.values import (
    NO_VALUE,
    NOT_KNOWN,
    SELF,
    Function,
    Instance,
    OutsideInstance,
    Value,
    Values,
    bound_by,
    class_below,
    class_of,
    instance_of,
    may_stand_for_another,
    union_of,
)
from bae_source.syntax.names import uses as u

_NO_VALUE: Values = frozenset({NO_VALUE})
_TYPE: Values = frozenset({Outside("builtins.type")})
_TYPES = ((u.NAME,), (u.ATTRIBUTE,), (u.SUBSCRIPT,), (u.ANY_OF,), (u.TYPED,))
"""Forms of an alias; of other expressions, such as calls, the form says nothing."""
ANNOTATED = (u.ANNOTATED, u.DECLARED, u.PARAMETER)
"""Bindings that may have an annotation."""
_MOST_ALIASES = 8
"""Longest chain of aliases that is followed."""
_TYPING = ("typing", "typing_extensions")
_NAMING_TYPES = frozenset({"TypeVar", "NewType", "TypeAliasType"})
LEFT_TO_THE_VALUE: Values = frozenset(
    OutsideInstance(f"{module}.{name}") for module in _TYPING for name in ("Final", "TypeAlias")
)
"""Annotations that leave it to the value what a name holds."""
CALLABLES: Values = frozenset(OutsideInstance(f"{module}.Callable") for module in (*_TYPING, "collections.abc"))
"""Annotations that say no more than that what a function returns can be called."""
Solved = Callable[[Symbol], Values]
"""A function that gives the values of a type variable in a call; none where they are not known."""


class Annotations:
    """A reader of annotations.

    Parameters:
        uses: gives a file's uses.
        values: tells what an expression of a file may give.
        names: looks names up.
        variable: tells which type variable an expression names.
    """

    def __init__(
        self,
        uses: Callable[[str], u.Uses],
        values: Callable[[str, int], Values],
        names: Names,
        variable: Callable[[str, int], Symbol | None],
    ) -> None:
        self.uses = uses
        self.values = values
        self.names = names
        self.variable = variable
        self._aliases = 0

    def declared(self, path: str, number: int) -> Values:
        """Return the possible values of a variable with an annotation."""
        values = self._valued(path, number)
        return values - {SELF} | NOT_KNOWN if SELF in values else values

    def fitting(self, path: str, bindings: Iterable[u.Binding], values: Values) -> Values:
        """Return the values of a name: a given value that is not known fits one of its annotations.

        Parameters:
            bindings: all that bind the name in a scope.
            values: what these give, by themselves.
        """
        numbers = [binding.first for binding in bindings if binding.how in ANNOTATED and binding.first]
        annotated = union_of(self.declared(path, number) for number in numbers)
        is_narrower = bool(annotated) and all(isinstance(each, (Instance, OutsideInstance)) for each in annotated)
        return values - NOT_KNOWN if is_narrower and annotated.isdisjoint(LEFT_TO_THE_VALUE) else values

    def returned(self, function: Function, itself: Callable[[], Values], solved: Solved) -> Values:
        """Return the values of a function with an annotation.

        Parameters:
            itself: tells what `Self` is.
            solved: tells what a type variable stands for, nothing where that is not known.
        """
        values = self._valued(function.path, function.returns, solved)
        return values - {SELF} | itself() if SELF in values else values

    def class_of(self, path: str, called: Values, number: int) -> Values | None:
        """Return the values of `type(x)`; None if something else is called."""
        return frozenset(map(class_of, self.values(path, number))) if called == _TYPE else None

    def typing_call(self, path: str, called: Values, number: int) -> Values | None:
        """Return the values of a function of `typing` that takes a type; None if something else is called."""
        parts = [each.name.rpartition(".") for each in called if isinstance(each, Outside)]
        names = {name for module, _, name in parts if module in _TYPING}
        if len(names) != len(called):
            return None
        values = self.declared(path, number)
        if names == {"cast"}:
            return values
        if names <= _NAMING_TYPES:
            return frozenset(map(bound_by if "TypeVar" in names else class_below, values))
        return NOT_KNOWN

    def _valued(self, path: str, number: int, solved: Solved | None = None) -> Values:
        if not number:
            return NOT_KNOWN
        form = self.uses(path).expressions[number]
        if solved and (variable := self.variable(path, number)):
            found = solved(variable)
            return found if found and None not in found else found | self._valued(path, number)
        if form[0] == u.SUBSCRIPT:
            return self._subscripted(path, int(form[1]), int(form[2]), solved)
        if form[0] == u.ANY_OF:
            return union_of(self._valued(path, int(each), solved) for each in form[1:]) - _NO_VALUE
        if form[0] == u.SEVERAL:
            return union_of(self._valued(path, int(each), solved) for each in form[1:])
        if form[0] == u.LITERAL:
            return _NO_VALUE if form[1] == "NoneType" else NOT_KNOWN
        instances = frozenset(instance_of(value) for value in self.values(path, number))
        return instances if None not in instances else self._by_alias(path, form) or instances

    def _by_alias(self, path: str, form: u.Expression) -> Values:
        """Return the values that an alias of a type stands for; none if it is no alias, or bound in several ways."""
        if self._aliases >= _MOST_ALIASES:
            return frozenset()
        self._aliases += 1
        try:
            alias = self.aliased(path, form)
            return self._valued(*alias) if alias else frozenset()
        finally:
            self._aliases -= 1

    def aliased(self, path: str, form: u.Expression) -> tuple[str, int] | None:
        """Return the expression that a name for a type stands for; None if it is none, or bound in several ways."""
        meanings = self._meant(path, form)
        [meaning] = meanings if len(meanings) == 1 else [None]
        if not isinstance(meaning, Symbol):
            return None
        bindings = self.uses(meaning.path).scopes[meaning.scope].names.get(meaning.name, ())
        if len(bindings) != 1 or bindings[0].how not in (u.ASSIGNED, u.ANNOTATED):
            return None
        how, first, second, _ = bindings[0]
        if how == u.ANNOTATED and not self._valued(meaning.path, first) <= LEFT_TO_THE_VALUE:
            return None
        number = first if how == u.ASSIGNED else second
        return (meaning.path, number) if self.uses(meaning.path).expressions[number][:1] in _TYPES else None

    def _meant(self, path: str, form: u.Expression) -> Meanings:
        if form[0] == u.NAME:
            return self.names.named(path, int(form[2]), str(form[1]))
        if form[0] != u.ATTRIBUTE:
            return frozenset()
        modules = [each for each in self.values(path, int(form[1])) if isinstance(each, InModule)]
        return self.names.attribute(modules[0].path, str(form[2])) if len(modules) == 1 else frozenset()

    def _subscripted(self, path: str, base: int, inner: int, solved: Solved | None) -> Values:
        found: set[Value] = set()
        for value in self.values(path, base):
            name = value.name.rpartition(".")[2] if isinstance(value, Outside) else ""
            if name in ("Optional", "Union", "ClassVar", "Final", "InitVar", "Required", "NotRequired", "ReadOnly"):
                found |= self._valued(path, inner, solved) - _NO_VALUE
            elif name == "Annotated":
                form = self.uses(path).expressions[inner] if inner else ()
                is_known = len(form) > 1 and form[0] == u.SEVERAL
                found |= self._valued(path, int(form[1]), solved) if is_known else NOT_KNOWN
            elif name in ("type", "Type"):
                found |= {class_of(each) for each in self._valued(path, inner, solved)}
            else:
                found.add(None if may_stand_for_another(value) else instance_of(value))
        return frozenset(found)
