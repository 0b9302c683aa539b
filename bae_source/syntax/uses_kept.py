"""Uses as they are kept: bytes of which only that is decoded which is asked for.

A search looks into many files, and in most of them at one name. To decode all that is known of a file takes five times
as long as to find where the name is in it.

Invariants:
- what comes out is what went in, whatever is asked for first;
- several threads may ask at once: each piece is decoded to the same value by all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar, cast, overload

from msgspec import Raw, Struct
from msgspec.msgpack import Decoder

from bae_source.syntax.uses import Expression, Imported, Mention, Scope, Text, Uses

T = TypeVar("T")


class _Kept(Struct, frozen=True, array_like=True):
    """The fields of `Uses`, those that are large undecoded."""

    scopes: list[Raw]
    imports: tuple[Imported, ...]
    stars: tuple[int, ...]
    expressions: Raw
    mentions: dict[str, Raw]
    strings: dict[str, Raw]
    owners: tuple[str, ...]
    exported: tuple[str, ...] | None
    exports_known: bool


_DECODE = Decoder(_Kept).decode
_SCOPE = Decoder(Scope).decode
_EXPRESSIONS = Decoder(tuple[Expression, ...]).decode
_MENTIONS = Decoder(list[Mention]).decode
_TEXTS = Decoder(list[Text]).decode


def recalled(content: bytes | memoryview) -> Uses:
    """Return uses that were encoded as MessagePack.

    Raises:
        ValueError: these are no uses.
    """
    found = _DECODE(content)
    return Uses(
        scopes=_Pieces(found.scopes, _SCOPE),
        imports=found.imports,
        stars=found.stars,
        expressions=_Whole(found.expressions, _EXPRESSIONS),
        mentions=_ByName(found.mentions, _MENTIONS),
        strings=_ByName(found.strings, _TEXTS),
        owners=found.owners,
        exported=found.exported,
        exports_known=found.exports_known,
    )


class _Decoded(Sequence[T]):
    """A sequence that equals any other with the same elements."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


class _Pieces(_Decoded[T]):
    """A sequence whose elements are decoded one by one."""

    def __init__(self, pieces: list[Raw], decode: Callable[[Raw], T]) -> None:
        self._pieces: list[Raw | T] = list(pieces)
        self._decode = decode

    @overload
    def __getitem__(self, number: int) -> T: ...
    @overload
    def __getitem__(self, number: slice) -> list[T]: ...
    def __getitem__(self, number: int | slice) -> T | list[T]:
        if isinstance(number, slice):
            return [self[each] for each in range(len(self))[number]]
        found = self._pieces[number]
        if type(found) is Raw:
            found = self._pieces[number] = self._decode(found)
        return found

    def __len__(self) -> int:
        return len(self._pieces)


class _Whole(_Decoded[T]):
    """A sequence that is decoded when it is looked at first."""

    def __init__(self, piece: Raw, decode: Callable[[Raw], tuple[T, ...]]) -> None:
        self._found: Raw | tuple[T, ...] = piece
        self._decode = decode

    @property
    def _values(self) -> tuple[T, ...]:
        found = self._found
        if isinstance(found, Raw):
            found = self._found = self._decode(found)
        return found

    @overload
    def __getitem__(self, number: int) -> T: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[T, ...]: ...
    def __getitem__(self, number: int | slice) -> T | tuple[T, ...]:
        return self._values[number]

    def __len__(self) -> int:
        return len(self._values)


class _ByName(Mapping[str, T], Generic[T]):
    """A mapping whose values are decoded one by one."""

    def __init__(self, pieces: dict[str, Raw], decode: Callable[[Raw], T]) -> None:
        self._pieces = cast("dict[str, Raw | T]", pieces)
        self._decode = decode

    def __getitem__(self, name: str) -> T:
        found = self._pieces[name]
        if type(found) is Raw:
            found = self._pieces[name] = self._decode(found)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._pieces

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces)

    def __len__(self) -> int:
        return len(self._pieces)
