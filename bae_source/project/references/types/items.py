"""Items that a loop over something binds, or brackets take out of it, where an annotation or the code itself says it.

def f(xs: list[Client], ys: "Iterable[Client] | None", by: dict[str, Client]):
    for x in xs: x.send()                   an instance of Client, or of a class below it
    [y.send() for y in ys]                  the same
    for x in (Client(),): …                 a Client
    xs[0].send(), xs[1:], xs.pop()          as above, as is `by["a"]`
    for name, x in by.items(): …            likewise, as with `enumerate(xs)`, `zip(xs, ys)`, `sorted(xs)`
    for z in made(): …                      what `made` is annotated to return a row of
    for z in self.rows: …                   what the attribute, or the property, is annotated to be a row of
    for text, style in segments: …          the fields of a named tuple
    for a in (b, c): …                      what `b` or `c` is

Invariants:
- a name counts if one annotation, or one value, is all that says what it holds;
- items of an attribute that a class below may bind otherwise have a `Rebound` with the step `ITEM`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.meaning.meanings import Outside, Symbol
from bae_source.project.references.types.values import (
    CALL,
    ITEM,
    NOT_KNOWN,
    Class,
    Function,
    Instance,
    Member,
    Rebound,
    Value,
    Values,
    class_around,
    union_of,
)
from bae_source.syntax.names import uses as u

_ROWS = frozenset(
    {"list", "set", "frozenset", "tuple", "dict", "List", "Set", "FrozenSet", "Tuple", "Dict", "AbstractSet", "deque",
     "Deque", "Sequence", "MutableSequence", "MutableSet", "Collection", "Container", "Iterable", "Iterator",
     "Generator", "Mapping", "MutableMapping", "KeysView", "ValuesView", "Reversible"}
)  # fmt: skip
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "DefaultDict", "OrderedDict"})
_WITH_KEYS = frozenset({"list", "List", "deque", "Deque", "Sequence", "MutableSequence"})
_MODULES = frozenset({"builtins", "typing", "typing_extensions", "collections", "collections.abc"})
_OF_MANY = ("tuple", "Tuple")
_OPTIONAL = ("Optional", "Union", "Final", "ClassVar")
_SAME_ITEMS = frozenset(
    f"builtins.{name}" for name in ("list", "tuple", "set", "frozenset", "sorted", "reversed", "iter")
)
_ONE_OF = frozenset({"builtins.next", "builtins.min", "builtins.max"})
_TAKING = ("pop", "popleft", "get", "popitem")
_ANNOTATED = (u.PARAMETER, u.ANNOTATED, u.DECLARED)
_ELLIPSIS = (u.LITERAL, "ellipsis")
_NONE = (u.LITERAL, "NoneType")
_NO_ITEMS = tuple((u.LITERAL, name) for name in ("NoneType", "list", "dict", "set"))
_END = (u.OPAQUE, u.OPAQUE)
"""The end of the form of a comprehension's value."""
_SLICE = (u.LITERAL, "slice")
_NAMED_TUPLES = frozenset({"typing.NamedTuple", "typing_extensions.NamedTuple"})
_DEEPEST = 8


class _Note(Struct, frozen=True):
    """The content of an annotation."""

    path: str
    number: int


class _Value(Struct, frozen=True):
    """The value of an expression."""

    path: str
    number: int


class _Either(Struct, frozen=True):
    """The value of any of several; with `in_order` a tuple of them."""

    parts: tuple[Shape, ...]
    in_order: bool = False


class _Row(Struct, frozen=True):
    """Something to loop over.

    Parameters:
        item: what a loop binds.
        value: what a key gives; None where there are no keys.
        is_mapping: whether it has `values()` and `items()`.
    """

    item: Shape
    value: Shape = None
    is_mapping: bool = False


class _Loose(Struct, frozen=True):
    """The declaration of a class for its attribute, which a class below may bind otherwise."""

    shape: Shape
    marks: Values


Shape = _Note | _Value | _Either | _Row | _Loose | None


class Items:
    """The values that loops bind.

    Parameters:
        uses: gives a file's uses.
        values: tells what an expression of a file may give.
        names: looks names up.
        annotated: tells what an annotation says.
        members: tells where an attribute of a value is bound.
        outside: tells which classes outside the project a class is below.
        aliased: tells which expression a name for a type stands for.
    """

    def __init__(
        self,
        uses: Callable[[str], u.Uses],
        values: Callable[[str, int], Values],
        names: Names,
        annotated: Callable[[str, int], Values],
        members: Callable[[Value, str], list[Member]],
        outside: Callable[[Class], Iterable[str]],
        aliased: Callable[[str, u.Expression], tuple[str, int] | None],
    ) -> None:
        self.uses = uses
        self.values = values
        self.names = names
        self.annotated = annotated
        self.members = members
        self.outside = outside
        self.aliased = aliased
        self._deep = 0

    def of(self, path: str, number: int) -> Values:
        """Return the values that a loop over an expression binds."""
        return self._values_of(self._item(self._shape(path, number)))

    def at(self, path: str, number: int, key: int) -> Values:
        """Return the values of an expression with a key in brackets."""
        return self._values_of(self._by_key(path, self._shape(path, number), key))

    def bound(self, path: str, form: u.Expression) -> Values:
        """Return the values that a loop binds, or a target of an unpacking."""
        return self._values_of(self._shaped(path, form))

    def called(self, path: str, form: u.Expression) -> Values:
        """Return the values of a call that takes an item out: `rows.pop()`, `next(rows)`."""
        return self._values_of(self._taken(path, form))

    def inside(self, path: str, note: int) -> Values:
        """Return the items of a row, by its annotation."""
        return self._values_of(self._item(_Note(path, note)))

    def below(self, symbol: Symbol, steps: tuple[str, ...]) -> Values:
        """Return the items of the value that a class binds a name to, or of the value of its call.

        Parameters:
            steps: nothing, or the call.
        """
        if not steps:
            return self._values_of(self._item(self._of_member(symbol)))
        bindings = self.uses(symbol.path).scopes[symbol.scope].names.get(symbol.name, ())
        flags = [self.uses(symbol.path).scopes[scope].flags for how, scope, *_ in bindings if how == u.FUNCTION]
        if steps != (CALL,) or len(bindings) != 1 or not flags or {u.Flag.WRAPPED, u.Flag.ASYNC}.intersection(flags[0]):
            return NOT_KNOWN
        return self.inside(symbol.path, bindings[0].second)

    def _values_of(self, shape: Shape) -> Values:
        if isinstance(shape, _Note):
            return self.annotated(shape.path, shape.number)
        if isinstance(shape, _Value):
            return self.values(shape.path, shape.number)
        if isinstance(shape, _Either) and not shape.in_order:
            return union_of(map(self._values_of, shape.parts))
        if isinstance(shape, _Loose):
            return self._values_of(shape.shape) | shape.marks
        return NOT_KNOWN

    def _shape(self, path: str, number: int) -> Shape:
        """Return the shape of an expression: something to loop over, or bound by a loop."""
        if not number or self._deep >= _DEEPEST:
            return None
        self._deep += 1
        try:
            return self._shaped(path, self.uses(path).expressions[number])
        finally:
            self._deep -= 1

    def _shaped(self, path: str, form: u.Expression) -> Shape:
        if form[0] == u.SEVERAL:  # which `()` is, too
            return _Either(tuple(_Value(path, int(each)) for each in form[1:]), in_order=True)
        what, first = form[0], form[1]
        if what == u.NAME:
            return self._named(path, form)
        if what == u.ATTRIBUTE:
            return self._of_attribute(self.values(path, int(first)), str(form[2]))
        if what == u.CALLED:
            return self._given(path, form)
        if what == u.SUBSCRIPT:
            return self._by_key(path, self._shape(path, int(first)), int(form[2]))
        if what == u.ANY_OF:
            several = [each for each in map(int, form[1:]) if self.uses(path).expressions[each] not in _NO_ITEMS]
            return _only(self._shape(path, each) for each in several)
        if what == u.NARROWED:
            tested = self.annotated(path, int(form[2])) if form[3] else NOT_KNOWN
            return self._shape(path, int(first)) or self._by_class(tested)
        if what == u.ITEM:
            return self._item(self._shape(path, int(first)))
        return self._part(self._shape(path, int(first)), int(form[2])) if what == u.PART else None

    def _named(self, path: str, form: u.Expression) -> Shape:
        meanings = self.names.named(path, int(form[2]), str(form[1]))
        [symbol] = meanings if len(meanings) == 1 else [None]
        if not isinstance(symbol, Symbol) or not symbol.scope:
            return None
        return self._bound(symbol.path, self.uses(symbol.path).scopes[symbol.scope].names[symbol.name])

    def _bound(self, path: str, bindings: Iterable[u.Binding]) -> Shape:
        """Return the shape that bindings give: one annotation, which known values fit, or values that are alike."""
        notes, found = list[Shape](), list[Shape]()
        for how, first, *_ in bindings:
            form = self.uses(path).expressions[first] if how in (u.ASSIGNED, u.OTHER) else ()
            if how in _ANNOTATED and first:
                notes.append(_Note(path, first))
            elif how not in (u.ASSIGNED, u.OTHER) or (form[:1] == (u.LITERAL,) and form[2:] and form[-2:] != _END):
                return None  # among them displays of unknown values
            elif form not in _NO_ITEMS:
                found.append(self._shape(path, first))
        if not notes:
            return _only(found)
        note = notes[0] if len({self._values_of(self._item(each)) for each in notes}) == 1 else _only(notes)
        items = self._values_of(self._item(note)) if note and any(found) else NOT_KNOWN
        return note if all(self._values_of(self._item(each)) <= items for each in found if each) else None

    def _of_attribute(self, receivers: Values, name: str) -> Shape:
        """Return the shape by the annotation of an attribute or a property."""
        found, marks = [], set[Value]()
        for value in receivers:
            if isinstance(value, Rebound):
                marks |= {further for each in value.then(name) for further in each.then(ITEM)}
                continue
            members = self.members(value, name)
            if len(members) != 1 or not members[0].sure:
                return None
            found.append(self._of_member(members[0].symbol))
            owner = class_around(value)
            if owner is not None and not getattr(value, "exact", True):
                marks |= Rebound(owner, name).then(ITEM)
        shape = _only(found)
        return _Loose(shape, frozenset(marks)) if shape and marks else shape

    def _of_member(self, symbol: Symbol) -> Shape:
        scope = self.uses(symbol.path).scopes[symbol.scope]
        bindings = [*scope.names.get(symbol.name, ()), *scope.attributes.get(symbol.name, ())]
        if len(bindings) == 1 and bindings[0].how == u.FUNCTION:
            flags = self.uses(symbol.path).scopes[bindings[0].first].flags
            note = bindings[0].second if u.Flag.PROPERTY in flags and u.Flag.WRAPPED not in flags else 0
            return _Note(symbol.path, note) if note else None
        return self._bound(symbol.path, bindings) if any(how in _ANNOTATED for how, *_ in bindings) else None

    def _given(self, path: str, form: u.Expression) -> Shape:
        """Return the shape of a call's value."""
        function = self.uses(path).expressions[int(form[1])]
        if function[:1] == (u.ATTRIBUTE,) and function[2] in ("values", "items", "keys", "copy"):
            row = self._read(self._shape(path, int(function[1])))
            inner = row.shape if isinstance(row, _Loose) else row
            if isinstance(inner, _Row) and (inner.is_mapping or function[2] == "copy"):
                seen = {"keys": inner.item, "values": inner.value, "items": _Either((inner.item, inner.value), True)}
                result = inner if function[2] == "copy" else _Row(seen[str(function[2])])
                return _Loose(result, row.marks) if isinstance(row, _Loose) else result
        called = self.values(path, int(form[1]))
        rebound = frozenset(each for each in called if isinstance(each, Rebound))
        [value] = called - rebound if len(called - rebound) == 1 else [None]
        arguments = [self._shape(path, each) for each in form[2:] if isinstance(each, int)]
        if isinstance(value, Outside) and arguments:
            if value.name in _SAME_ITEMS:
                return _Row(self._item(arguments[0]), self._item(arguments[0]))
            if value.name == "builtins.enumerate":
                return _Row(_Either((None, self._item(arguments[0])), in_order=True))
            if value.name == "builtins.zip":
                return _Row(_Either(tuple(map(self._item, arguments)), in_order=True))
        if isinstance(value, Function):
            flags = self.uses(value.path).scopes[value.scope].flags
            is_annotated = value.returns and u.Flag.WRAPPED not in flags and u.Flag.ASYNC not in flags
            marks = frozenset[Value]().union(*(further.then(ITEM) for each in rebound for further in each.then(CALL)))
            note = _Note(value.path, value.returns) if is_annotated else None
            return _Loose(note, marks) if note and marks else note
        return self._taken(path, form)

    def _taken(self, path: str, form: u.Expression) -> Shape:
        function = self.uses(path).expressions[int(form[1])]
        if function[:1] == (u.ATTRIBUTE,) and function[2] in _TAKING:
            row = self._read(self._shape(path, int(function[1])))
            inner = row.shape if isinstance(row, _Loose) else row
            found = inner.value if isinstance(inner, _Row) and (inner.is_mapping or function[2] != "get") else None
            return _Loose(found, row.marks) if found and isinstance(row, _Loose) else found
        first = form[2] if len(form) == 3 else 0
        if isinstance(first, int) and first and function[:1] == (u.NAME,):
            called = self.values(path, int(form[1]))
            if all(isinstance(each, Outside) and each.name in _ONE_OF for each in called):
                return self._item(self._shape(path, first))
        return None

    def _item(self, shape: Shape) -> Shape:
        """Return the shape of the items of a shape."""
        shape = self._read(shape)
        if isinstance(shape, _Loose):
            item = self._item(shape.shape)
            return _Loose(item, shape.marks) if item else None
        if isinstance(shape, _Row):
            return shape.item
        return _Either(shape.parts) if isinstance(shape, _Either) and shape.in_order else None

    def _by_key(self, path: str, shape: Shape, key: int) -> Shape:
        """Return the shape of the value under a key; a slice has the shape of the whole."""
        shape = self._read(shape)
        if isinstance(shape, _Loose):
            found = self._by_key(path, shape.shape, key)
            return _Loose(found, shape.marks) if found else None
        if not isinstance(shape, _Row):
            return None
        return shape if self.uses(path).expressions[key] == _SLICE else shape.value

    def _part(self, shape: Shape, index: int) -> Shape:
        """Return the shape of one target, by its number, of an unpacking."""
        shape = self._read(shape)
        if isinstance(shape, _Loose):
            part = self._part(shape.shape, index)
            return _Loose(part, shape.marks) if part else None
        if isinstance(shape, _Either) and shape.in_order:
            return shape.parts[index] if index < len(shape.parts) else None
        if isinstance(shape, _Row):
            return shape.item
        return None

    def _read(self, shape: Shape) -> Shape:
        """Return the rows that an annotation or a value stands for; any other shape as it is."""
        if isinstance(shape, _Value):
            return self._read(self._shape(shape.path, shape.number)) or shape
        if isinstance(shape, _Loose):
            inner = self._read(shape.shape)
            return _Loose(inner, shape.marks) if inner else None
        if not isinstance(shape, _Note):
            return shape
        return (
            self._by_generic(shape.path, shape.number)
            or self._by_alias(shape)
            or self._by_class(self.annotated(shape.path, shape.number))
        )

    def _by_alias(self, note: _Note) -> Shape:
        """Return the shape of an annotation that is an alias of a type."""
        form = self.uses(note.path).expressions[note.number]
        if form[:1] not in ((u.NAME,), (u.ATTRIBUTE,)) or self._deep >= _DEEPEST:
            return None
        self._deep += 1
        try:
            alias = self.aliased(note.path, form)
            return self._by_generic(*alias) or self._by_alias(_Note(*alias)) if alias else None
        finally:
            self._deep -= 1

    def _by_generic(self, path: str, number: int) -> Shape:
        expressions = self.uses(path).expressions
        form = expressions[number]
        if form[:1] == (u.ANY_OF,):
            several = [int(each) for each in form[1:] if expressions[int(each)] != _NONE]
            return self._read(_Note(path, several[0])) if len(several) == 1 else None
        if form[:1] != (u.SUBSCRIPT,) or not form[2]:
            return None
        name, inner = self._generic(path, int(form[1])), int(form[2])
        if name in _OPTIONAL:
            return self._read(_Note(path, inner))
        parts = [int(each) for each in expressions[inner][1:]] if expressions[inner][:1] == (u.SEVERAL,) else [inner]
        notes = [_Note(path, each) for each in parts]
        if name in _OF_MANY:
            is_long = expressions[parts[-1]] == _ELLIPSIS
            return _Row(notes[0], notes[0]) if is_long else _Either(tuple(notes), in_order=True)
        if name in _MAPPINGS:
            return _Row(notes[0], notes[1], is_mapping=True) if len(notes) == 2 else None
        return _Row(notes[0], notes[0] if name in _WITH_KEYS else None) if name in _ROWS else None

    def _generic(self, path: str, number: int) -> str:
        """Return the name of a subscripted generic of `typing`, `collections` and the like; "" for others."""
        values = self.values(path, number)
        [value] = values if len(values) == 1 else [None]
        module, _, name = value.name.rpartition(".") if isinstance(value, Outside) else ("", "", "")
        return name if module in _MODULES else ""

    def _by_class(self, values: Values) -> Shape:
        """Return the shape of a class's instances: a named tuple, or by their `__iter__` and `__getitem__`."""
        [value] = values if len(values) == 1 else [None]
        if not isinstance(value, Instance):
            return None
        if not _NAMED_TUPLES.isdisjoint(self.outside(value.of)):
            bound = self.uses(value.of.path).scopes[value.of.scope].names.values()
            fields = (first for (how, first, *_), *_ in bound if how in (u.ANNOTATED, u.DECLARED))
            return _Either(tuple(_Note(value.of.path, each) for each in fields), in_order=True)
        row = self._item(self._returned(value, "__iter__"))
        return _Row(row, self._returned(value, "__getitem__")) if row else None

    def _returned(self, value: Value, name: str) -> Shape:
        members = self.members(value, name)
        symbol = members[0].symbol if len(members) == 1 and members[0].sure else None
        bindings = self.uses(symbol.path).scopes[symbol.scope].names.get(symbol.name, []) if symbol else []
        is_annotated = symbol and len(bindings) == 1 and bindings[0].how == u.FUNCTION and bindings[0].second
        return _Note(symbol.path, bindings[0].second) if symbol and is_annotated else None


def _only(several: Iterable[Shape]) -> Shape:
    """Return the one shape that several things have; None where they differ, or nothing is known of one."""
    found = set(several)
    return found.pop() if len(found) == 1 else None
