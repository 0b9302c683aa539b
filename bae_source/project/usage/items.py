"""Items that a loop over something binds, or brackets take out of it, where an annotation or the code itself says it.

def f(xs: list[Client], ys: "Iterable[Client] | None", by: dict[str, Client]):
    for x in xs: x.send()       an instance of Client, or of a class below it
    [y.send() for y in ys]      the same
    for x in (Client(),): …     a Client
    xs[0].send()                as above, as is `by["a"]`
    for z in made(): …          what `made` is annotated to return a row of
    for a in (b, c): …          what `b` or `c` is

Invariants:
- a name counts if one annotation is all that binds it, a call if one function is called: what else may be there, such
  as the attribute of a class below, is not looked for, and so nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable

from bae_source.project.usage.meaning import Names, Outside, Symbol
from bae_source.project.usage.values import NOT_KNOWN, Function, Values, union_of
from bae_source.syntax import uses as u
from bae_source.syntax.uses_growing import headers

_ROWS = frozenset(
    {"list", "set", "frozenset", "tuple", "dict", "List", "Set", "FrozenSet", "Tuple", "Dict", "AbstractSet", "deque",
     "Deque", "Sequence", "MutableSequence", "MutableSet", "Collection", "Container", "Iterable", "Iterator",
     "Generator", "Mapping", "MutableMapping", "KeysView", "ValuesView", "Reversible"}
)  # fmt: skip
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"})
_WITH_KEYS = _MAPPINGS | {"list", "List", "deque", "Deque", "Sequence", "MutableSequence"}
_MODULES = frozenset({"builtins", "typing", "typing_extensions", "collections", "collections.abc"})
_OF_MANY = ("tuple", "Tuple")
_OPTIONAL = ("Optional", "Union")
_ANNOTATED = (u.PARAMETER, u.ANNOTATED)
_ELLIPSIS = (u.LITERAL, "ellipsis")
_NONE = (u.LITERAL, "NoneType")


class Items:
    """Tells what loops bind.

    Parameters:
        uses: gives a file's uses.
        values: tells what an expression of a file may give.
        names: looks names up.
        annotated: tells what an annotation says.
    """

    def __init__(
        self,
        uses: Callable[[str], u.Uses],
        values: Callable[[str, int], Values],
        names: Names,
        annotated: Callable[[str, int], Values],
    ) -> None:
        self.uses = uses
        self.values = values
        self.names = names
        self.annotated = annotated

    def of(self, path: str, number: int) -> Values:
        """Return what a loop over an expression may bind."""
        form = self.uses(path).expressions[number]
        if form[:1] == (u.SEVERAL,):
            return union_of(self.values(path, int(each)) for each in form[1:])
        path, number = self._annotation(path, number)
        return self.inside(path, number) if number else NOT_KNOWN

    def at(self, path: str, number: int, key: int) -> Values:
        """Return what an expression gives with a key in brackets; a key that is not known may be a slice."""
        if not key:
            return NOT_KNOWN
        path, number = self._annotation(path, number)
        return self.inside(path, number, by_key=True) if number else NOT_KNOWN

    def _annotation(self, path: str, number: int) -> tuple[str, int]:
        """Return the file and the number of the only annotation that says what an expression gives; or 0."""
        form = self.uses(path).expressions[number]
        if form[:1] == (u.NAME,):
            meanings = self.names.named(path, int(form[2]), str(form[1]))
            [symbol] = meanings if len(meanings) == 1 else [None]
            if isinstance(symbol, Symbol) and symbol.scope:
                bindings = self.uses(symbol.path).scopes[symbol.scope].names[symbol.name]
                if len(bindings) == 1 and bindings[0][0] in _ANNOTATED:
                    return symbol.path, bindings[0][1]
        if form[:1] == (u.CALLED,):
            called = self.values(path, int(form[1]))
            [function] = called if len(called) == 1 else [None]
            if isinstance(function, Function):
                flags = headers(self.uses(function.path))[function.scope].flags
                return function.path, 0 if "wrapped" in flags or "async" in flags else function.returns
        return path, 0

    def inside(self, path: str, number: int, *, by_key: bool = False) -> Values:
        """Return what a row has, by its annotation; with a key a mapping gives what that stands for."""
        expressions = self.uses(path).expressions
        form = expressions[number]
        if form[:1] == (u.ANY_OF,):
            several = [int(each) for each in form[1:] if expressions[int(each)] != _NONE]
            return self.inside(path, several[0], by_key=by_key) if len(several) == 1 else NOT_KNOWN
        if form[:1] != (u.SUBSCRIPT,) or not form[2]:
            return NOT_KNOWN
        name, inner = self._row(path, int(form[1])), int(form[2])
        if name in _OPTIONAL:
            return self.inside(path, inner, by_key=by_key)
        parts = [int(each) for each in expressions[inner][1:]] if expressions[inner][:1] == (u.SEVERAL,) else [inner]
        rows = _ROWS
        if name in _OF_MANY:
            parts = [each for each in parts if expressions[each] != _ELLIPSIS]
        elif by_key:
            rows, parts = _WITH_KEYS, parts[1:2] if name in _MAPPINGS else parts[:1]
        else:
            parts = parts[:1]
        return union_of(self.annotated(path, each) for each in parts) if name in rows else NOT_KNOWN

    def _row(self, path: str, number: int) -> str:
        """Return the name of what is subscripted, if it is one that everybody knows."""
        values = self.values(path, number)
        [value] = values if len(values) == 1 else [None]
        module, _, name = value.name.rpartition(".") if isinstance(value, Outside) else ("", "", "")
        return name if module in _MODULES else ""
