"""Uses as they are kept: bytes of which only that is decoded which is asked for.

A search looks into many files, and in most of them at one name. To decode all that is known of a file takes many times
as long as to find where the name is in it, and even to find where each piece begins takes most of what is left.

    names    "\\nclient\\nBase\\nsend\\n"       the number of a name's value is that of the lines above it
    ends     [9, 17, 33]                    where each piece ends, as numbers of four bytes that need not be decoded
    content  …                              the pieces, one behind the other: each is one value, or some expressions

Invariants:
- decoded facts equal the encoded ones, whatever part is requested first;
- several threads may ask at once: all of them have the same value of each piece.
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Generic, TypeVar, overload

from msgspec import Raw, Struct
from msgspec.msgpack import Decoder, Encoder

from bae_source.syntax.names.uses import Binding, Expression, Imported, Mention, Scope, Text, Uses

T = TypeVar("T")


class _Row(Struct, frozen=True, array_like=True):
    """Values, each a piece of its own.

    Parameters:
        ends: where each piece ends.
        content: the pieces, one behind the other.
    """

    ends: memoryview
    content: memoryview


class _Table(Struct, frozen=True, array_like=True):
    """Values with names."""

    names: str
    row: _Row


class KeptUses(Struct, frozen=True, array_like=True):
    """The fields of `Uses`, those that are large undecoded."""

    scopes: _Row
    imports: tuple[Imported, ...]
    stars: tuple[int, ...]
    expressions: _Row
    mentions: _Table
    strings: _Table
    owners: Raw
    exported: tuple[str, ...] | None
    exports_known: bool
    whole: bool
    bound: _Table
    listed: tuple[tuple[str, ...], tuple[int, ...]] | None


_EXPRESSIONS_TOGETHER = 8
"""Expressions in one piece: pieces of this size are encoded faster, and decoded not much slower."""
_ENCODER = Encoder()
_DECODE = Decoder(KeptUses).decode
_SCOPE = Decoder(Scope).decode
_EXPRESSIONS = Decoder(list[Expression]).decode
_MENTIONS = Decoder(list[Mention]).decode
_TEXTS = Decoder(list[Text]).decode
_BINDINGS = Decoder(list[Binding]).decode
_OWNERS = Decoder(tuple[str, ...]).decode


def kept(uses: Uses) -> KeptUses:
    """Return uses in the form in which they are encoded."""
    return KeptUses(
        scopes=_row(uses.scopes),
        imports=uses.imports,
        stars=uses.stars,
        expressions=_row(
            uses.expressions[start : start + _EXPRESSIONS_TOGETHER]
            for start in range(0, len(uses.expressions), _EXPRESSIONS_TOGETHER)
        ),
        mentions=_table(uses.mentions),
        strings=_table(uses.strings),
        owners=Raw(_ENCODER.encode(tuple(uses.owners))),
        exported=uses.exported,
        exports_known=uses.exports_known,
        whole=uses.whole,
        bound=_table(uses.bound),
        listed=uses.listed,
    )


def recalled(content: bytes | memoryview) -> Uses:
    """Return uses whose kept form was encoded as MessagePack.

    Raises:
        ValueError: these are no uses.
    """
    found = _DECODE(content)
    return Uses(
        scopes=_Pieces(found.scopes, _SCOPE),
        imports=found.imports,
        stars=found.stars,
        expressions=_Groups(_Pieces(found.expressions, _EXPRESSIONS), _EXPRESSIONS_TOGETHER),
        mentions=_ByName(found.mentions, _MENTIONS),
        strings=_ByName(found.strings, _TEXTS),
        owners=_Whole(found.owners, _OWNERS),
        exported=found.exported,
        exports_known=found.exports_known,
        whole=found.whole,
        bound=_ByName(found.bound, _BINDINGS),
        listed=found.listed,
    )


def _row(values: Iterable[object]) -> _Row:
    content = bytearray()
    ends = array("I")
    for value in values:
        _ENCODER.encode_into(value, content, -1)
        ends.append(len(content))
    return _Row(memoryview(ends.tobytes()), memoryview(content))


def _table(values: Mapping[str, object]) -> _Table:
    return _Table("\n".join(("", *values, "")), _row(values.values()))


class _Decoded(Sequence[T]):
    """A sequence of the elements that `decoded` gives; it equals any other with the same elements."""

    def __init__(self) -> None:
        self._found: dict[int, T] = {}

    @abstractmethod
    def decoded(self, place: int) -> T:
        """Return an element; raise IndexError where there is none."""

    @overload
    def __getitem__(self, number: int) -> T: ...
    @overload
    def __getitem__(self, number: slice) -> list[T]: ...
    def __getitem__(self, number: int | slice) -> T | list[T]:
        if isinstance(number, slice):
            return [self[each] for each in range(len(self))[number]]
        found = self._found.get(number)
        if found is None:
            decoded = self.decoded(number if number >= 0 else range(len(self))[number])
            found = self._found.setdefault(number, decoded)  # one for all, as more may be noted in it
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


class _Pieces(_Decoded[T]):
    """A sequence whose elements are decoded one by one."""

    def __init__(self, row: _Row, decode: Callable[[memoryview], T]) -> None:
        super().__init__()
        self._row = row
        self._decode = decode

    @cached_property
    def _ends(self) -> Sequence[int]:
        return self._row.ends.cast("I")

    def decoded(self, place: int) -> T:
        """Return an element."""
        start = self._ends[place - 1] if place else 0
        return self._decode(self._row.content[start : self._ends[place]])

    def __len__(self) -> int:
        return len(self._ends)


class _Groups(_Decoded[T]):
    """A sequence of which so many elements are decoded at once."""

    def __init__(self, groups: _Pieces[list[T]], together: int) -> None:
        super().__init__()
        self._groups = groups
        self._together = together

    def decoded(self, place: int) -> T:
        """Return an element; those of its group are decoded with it."""
        group, within = divmod(place, self._together)
        return self._groups[group][within]

    def __len__(self) -> int:
        return (len(self._groups) - 1) * self._together + len(self._groups[-1]) if self._groups else 0


class _Whole(_Decoded[T]):
    """A sequence that is decoded when it is looked at first."""

    def __init__(self, piece: Raw, decode: Callable[[Raw], tuple[T, ...]]) -> None:
        super().__init__()
        self._piece = piece
        self._decode = decode

    @cached_property
    def _values(self) -> tuple[T, ...]:
        return self._decode(self._piece)

    def decoded(self, place: int) -> T:
        """Return an element; all are decoded at once."""
        return self._values[place]

    def __len__(self) -> int:
        return len(self._values)


class _ByName(Mapping[str, T], Generic[T]):
    """A mapping whose values are decoded one by one."""

    def __init__(self, table: _Table, decode: Callable[[memoryview], T]) -> None:
        self._names = table.names
        self._pieces = _Pieces(table.row, decode)

    def __getitem__(self, name: str) -> T:
        above = self._names.find(f"\n{name}\n")
        if above < 0 or "\n" in name:
            raise KeyError(name)
        return self._pieces[self._names.count("\n", 0, above)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and f"\n{name}\n" in self._names and "\n" not in name

    def __iter__(self) -> Iterator[str]:
        return iter(self._names.split("\n")[1:-1])

    def __len__(self) -> int:
        return self._names.count("\n") - 1
