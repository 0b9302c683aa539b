"""Meaning of type variables in a call: what the arguments of a call are that parameters are annotated with them.

    T = TypeVar("T", bound=Client)
    def same(x: T) -> T: …             `same(Low())` is a Low
    def make(kind: type[T]) -> T: …    `make(Low)` is a Low
    def first(xs: list[T]) -> T: …     what `xs` is a list of
    class Client:
        def copy(self: T) -> T: …      `Low().copy()` is a Low

Invariants:
- an argument behind one with `*` is not matched, nor is what a parameter of a function has as its default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from msgspec import Struct

from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.meaning.meanings import Outside, Symbol
from bae_source.project.references.types.values import NO_VALUE, NOT_KNOWN, Function, Values, new_instance
from bae_source.syntax.names import uses as u

_VARIABLES = frozenset({"typing.TypeVar", "typing_extensions.TypeVar"})
_OF_CLASSES = ("type", "Type")
_OF_EITHER = ("Optional", "Union")
_NOTHING: Values = frozenset()


class Call(Struct, frozen=True):
    """A call.

    Parameters:
        path: of the file that it stands in.
        form: the expression.
        receivers: gives the values of the receiver; `NOT_KNOWN` where there is no dot.
    """

    path: str
    form: u.Expression
    receivers: Callable[[], Values]


class _Argument(Struct, frozen=True):
    """Argument of a parameter: what that may be, and what a loop over it may give."""

    values: Callable[[], Values]
    items: Callable[[], Values]


class TypeVariables:
    """The values that type variables stand for.

    Parameters:
        names: looks names up.
        values: tells what an expression of a file may give.
        items: tells what a loop over one may give.
    """

    def __init__(self, names: Names, values: Callable[[str, int], Values], items: Callable[[str, int], Values]) -> None:
        self.names = names
        self.uses = names.uses
        self.values = values
        self.items = items

    def named(self, path: str, number: int) -> Symbol | None:
        """Return the type variable that an expression names; None if it names something else."""
        form = self.uses(path).expressions[number]
        if form[:1] != (u.NAME,):
            return None
        meanings = self.names.named(path, int(form[2]), str(form[1]))
        [symbol] = meanings if len(meanings) == 1 else [None]
        if not isinstance(symbol, Symbol):
            return None
        scope = self.uses(symbol.path).scopes[symbol.scope]
        if scope.kind == u.TYPE_SCOPE:
            return symbol
        bindings = scope.names.get(symbol.name, ())
        if len(bindings) != 1 or bindings[0].how != u.ASSIGNED:
            return None
        form = self.uses(symbol.path).expressions[bindings[0].first]
        if form[:1] not in ((u.TYPED,), (u.CALLED,)):
            return None
        called = self.values(symbol.path, int(form[1]))
        return symbol if all(isinstance(each, Outside) and each.name in _VARIABLES for each in called) else None

    def solved(self, function: Function, variable: Symbol, call: Call) -> Values:
        """Return the values of a type variable in a call of a function; none where its arguments do not show them."""
        found = (self._matched(function.path, note, variable, given) for note, given in self._arguments(function, call))
        return _NOTHING.union(*found)

    def _arguments(self, function: Function, call: Call) -> Iterator[tuple[int, _Argument]]:
        """Yield the annotations of parameters, with their arguments."""
        scopes = self.uses(function.path).scopes
        scope = scopes[function.scope]
        parameters = [(name, *bindings[0][:2]) for name, bindings in scope.names.items() if bindings]
        given = list(call.form[2:])
        is_method = bool(call.receivers() - NOT_KNOWN) and self.is_method(function.path, function.scope)
        if is_method and parameters:
            _, how, note = parameters.pop(0)
            if how == u.PARAMETER and note:
                yield note, _Argument(call.receivers, lambda: NOT_KNOWN)
        for _, how, note in parameters:
            if how != u.PARAMETER or not given or not isinstance(given[0], int):
                break
            yield note, self._argument(call.path, given.pop(0))
        named = {str(name): number for name, number in pairwise(given) if isinstance(name, str)}
        for name, how, note in parameters:
            if how == u.PARAMETER and name in named:
                yield note, self._argument(call.path, named[name])

    def _argument(self, path: str, number: int | str) -> _Argument:
        return _Argument(lambda: self.values(path, int(number)), lambda: self.items(path, int(number)))

    def is_method(self, path: str, number: int) -> bool:
        """Return whether a function takes an instance, or its class, first."""
        scopes = self.uses(path).scopes
        around = scopes[scopes[number].parent]
        if around.kind == u.TYPE_SCOPE:
            around = scopes[around.parent]
        return around.kind == u.CLASS_SCOPE and u.Flag.STATIC not in scopes[number].flags

    def _matched(self, path: str, number: int, variable: Symbol, given: _Argument) -> Values:
        """Return the values of a type variable in an annotation, by an argument."""
        form = self.uses(path).expressions[number]
        if form[:1] == (u.NAME,):
            return given.values() - {NO_VALUE} if self.named(path, number) == variable else _NOTHING
        if form[:1] == (u.ANY_OF,) or form[:1] == (u.SEVERAL,):
            return _NOTHING.union(*(self._matched(path, int(each), variable, given) for each in form[1:]))
        if form[:1] != (u.SUBSCRIPT,) or not form[2]:
            return _NOTHING
        names = {each.name.rpartition(".")[2] for each in self.values(path, int(form[1])) if isinstance(each, Outside)}
        if names and names.issubset(_OF_EITHER):
            return self._matched(path, int(form[2]), variable, given)
        if self.named(path, int(form[2])) != variable:
            return _NOTHING
        return frozenset(map(new_instance, given.values())) if names and names.issubset(_OF_CLASSES) else given.items()
