"""The stamps of many files, encoded: each request needs thousands, and mostly only compares them.

Invariants:
- equal bytes are equal stamps of the same files, in the same order;
- encoded stamps never change, and are decoded piece by piece, on demand.
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

import os
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from functools import cached_property

import msgspec

TICK = 2_000_000_000
"""Nanoseconds; the coarsest clock of a file system in use, FAT's, has ticks of two seconds."""
TOGETHER = 64
"""Stamps encoded as one piece."""


class Stamp(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The stamp of a file by `stat`: while it is the same, so is the content, unless it was just written.

    Parameters:
        size: in bytes.
        modified: nanoseconds since the epoch.
        changed: nanoseconds since the epoch; unlike `modified`, no program can set it back.
        inode: number of the file on its file system.
    """

    size: int
    modified: int
    changed: int
    inode: int


def is_settled(stamp: Stamp, now: int) -> bool:
    """Return whether a change from `now` on would show in the stamp: its own change is too long ago for one clock tick.

    Parameters:
        now: the moment at which content was read that shall be taken for the stamp's, in nanoseconds since the epoch.
    """
    then = now - TICK
    return stamp.modified < then and stamp.changed < then


encoded = msgspec.msgpack.encode
"""Encodes one piece: stamps, or tuples of the same."""
_decode = msgspec.msgpack.Decoder(list[Stamp | None]).decode


def decoded(piece: bytes) -> list[Stamp | None]:
    """Return the stamps of a piece, None where there is none; raise ValueError where it cannot be understood."""
    try:
        return _decode(piece)
    except msgspec.DecodeError as error:
        raise ValueError(*error.args) from None


def in_pieces(stamps: Sequence[Stamp | None]) -> list[bytes]:
    """Return stamps as pieces."""
    return [encoded(stamps[start : start + TOGETHER]) for start in range(0, len(stamps), TOGETHER)]


def from_pieces(pieces: Iterable[bytes]) -> list[Stamp | None]:
    """Return the stamps of pieces; raise ValueError where they cannot be understood."""
    return [stamp for piece in pieces for stamp in decoded(piece)]


class Stamps(Mapping[str, Stamp]):
    """Stamps by path.

    Parameters:
        paths: of files and folders, each of which has one.
        pieces: their stamps, in the same order.

    Attributes:
        known: stamps of the pieces that were decoded, by the number of the piece.
    """

    def __init__(self, paths: tuple[str, ...], pieces: list[bytes]) -> None:
        self.paths = paths
        self.pieces = pieces
        self.known: dict[int, list[Stamp | None]] = {}

    def __getitem__(self, path: str) -> Stamp:
        if "whole" in self.__dict__:
            return self.whole[path]
        number, place = divmod(self._places[path], TOGETHER)
        if number not in self.known:
            self.known[number] = decoded(self.pieces[number])
        stamp = self.known[number][place]
        assert stamp is not None
        return stamp

    def __contains__(self, path: object) -> bool:
        return path in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Stamps):
            return (self.pieces, self.paths) == (other.pieces, other.paths)
        return self.whole == other

    __hash__ = None  # type: ignore[assignment]  # as other mappings

    def items(self) -> ItemsView[str, Stamp]:
        """Return all paths with their stamps."""
        return self.whole.items()

    def values(self) -> ValuesView[Stamp]:
        """Return all stamps."""
        return self.whole.values()

    @cached_property
    def whole(self) -> dict[str, Stamp]:
        """All of them, for callers that go through them."""
        return {path: stamp for path, stamp in zip(self.paths, from_pieces(self.pieces), strict=True) if stamp}

    @cached_property
    def _places(self) -> dict[str, int]:
        return dict(zip(self.paths, range(len(self.paths)), strict=True))


def whole(stamps: Mapping[str, Stamp]) -> Mapping[str, Stamp]:
    """Return stamps in the form that is fastest to go through."""
    return stamps.whole if isinstance(stamps, Stamps) else stamps


class Written(msgspec.Struct, frozen=True, array_like=True):
    """Files with their stamps, as they are kept.

    Parameters:
        joined: the paths, joined by NUL.
        pieces: their stamps, in the same order.

    Attributes:
        known: stamps of the pieces that were decoded, by the number of the piece.
    """

    joined: str
    pieces: list[bytes]


Mark = tuple[int, int, int]
"""A mark that differs where the stamps of files differ: two checksums of different kinds, and the length.
To read all from a cache only to compare them takes longer, and so does a hash that withstands those who forge one."""

_decode_written = msgspec.msgpack.Decoder(Written).decode


def written(paths: tuple[str, ...], stamps: Mapping[str, Stamp]) -> Written:
    """Return some paths with their stamps as they are kept."""
    if isinstance(stamps, Stamps) and stamps.paths == paths:
        return Written("\0".join(paths), stamps.pieces)
    known = whole(stamps)
    return Written("\0".join(paths), in_pieces([known[path] for path in paths]))


def mark_of(files: Written) -> Mark:
    """Return the mark of files with their stamps."""
    from zlib import adler32, crc32  # 0.4 ms, which reading one symbol does without

    crc, adler, size = 0, 1, 0
    for piece in (os.fsencode(files.joined), *files.pieces):
        crc, adler, size = crc32(piece, crc), adler32(piece, adler), size + len(piece)
    return crc, adler, size


def marked(saved: bytes | None, mark: Mark) -> dict[str, Stamp]:
    """Return by path the stamps that were saved; nothing where they cannot be understood, or are not those of a mark.

    Parameters:
        saved: `Written` as MessagePack.
    """
    try:
        files = _decode_written(saved or b"")
        if mark_of(files) != mark:
            return {}
        found = zip(files.joined.split("\0"), from_pieces(files.pieces), strict=True)
        return {path: stamp for path, stamp in found if stamp}
    except (msgspec.DecodeError, ValueError):
        return {}
