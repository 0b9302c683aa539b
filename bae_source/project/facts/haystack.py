"""The contents of many files in a few pieces, in which a word is found without opening a file.

    a piece of stamps (`files.stamps`)   stamps of 64 files
    the part that belongs to it          their contents behind each other, and those that a word may hide in

It is put together when a project is searched again, or where many searches are to come, and is brought up to date by
the stamps of each search: a part whose stamps are the same stays, and in one that differs only what differs is read.

Invariants:
- a content is used only for the stamp that it was read under, and kept only if that stamp will tell of every change;
- a file that cannot be read, is too large or hides words is handed back, to be read by itself;
- so many bytes are kept at most.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.files.snapshot import Snapshot
from bae_source.project.files.stamps import TOGETHER, Stamp, Stamps, decoded, is_settled

LARGEST = 64_000_000
"""Bytes of all parts together; files beyond them are read each time."""
_LARGEST_FILE = 10_000_000
_MOST_WORDS = 32
_LONGEST_ESCAPE = len("\\U0000002e")

Encoded = Iterable[tuple[bytes, bool]]
"""Words as bytes, and whether each is searched for as a name, so that a part of a longer one does not count."""


class Haystack:
    """The contents of some files.

    Parameters:
        is_plain: tells of a file's bytes whether a word that it holds stands in them as it is written; raises
            ResourceError where they cannot be read.
        at_once: whether they are worth putting together before the second search.
    """

    def __init__(self, is_plain: Callable[[bytes], bool], *, at_once: bool = False) -> None:
        self._is_plain = is_plain
        self._asked = 1_000 if at_once else 0
        self._parts: list[_Part] = []

    def is_worth(self, read: int = 1) -> bool:
        """Return whether files were read often enough before to be piled up; from then on once more."""
        self._asked += 1
        return self._asked > read

    def look(self, snapshot: Snapshot, stamps: Mapping[str, Stamp], words: Encoded) -> tuple[set[str], list[str]]:
        """Return the files that hold one of the words, and the files that have to be read.

        Parameters:
            stamps: of the files, as they are now.
        """
        if not self.is_worth() or not isinstance(stamps, Stamps):
            return set(), list(stamps)
        self._parts = parts = self._renewed(snapshot, stamps)  # whole at once: other threads look meanwhile
        found = {path for word in words for part in parts for path in part.having(word)}
        return found, [path for part in parts for path in part.others]

    def _renewed(self, snapshot: Snapshot, stamps: Stamps) -> list[_Part]:
        """Return the parts as the files are now."""
        before, parts, room = self._parts, list[_Part](), LARGEST
        known: dict[str, tuple[_Part, int]] | None = None
        for number, piece in enumerate(stamps.pieces):
            paths = stamps.paths[number * TOGETHER : (number + 1) * TOGETHER]
            part = before[number] if number < len(before) else None
            if part is None or not part.is_whole or part.piece != piece or part.paths != paths:
                if known is None:
                    known = {path: (part, n) for part in before for n, path in enumerate(part.plain)}
                part = self._read(snapshot, paths, piece, known, room)
            room -= len(part.text)
            parts.append(part)
        return parts

    def _read(
        self,
        snapshot: Snapshot,
        paths: Sequence[str],
        piece: bytes,
        known: Mapping[str, tuple[_Part, int]],
        room: int,
    ) -> _Part:
        """Put the contents of some files together, those that are known already without reading them."""
        now, is_whole = snapshot.clock(), True
        plain, others, contents, ends, taken = (
            list[str](),
            list[str](),
            list[bytes](),
            list[int](),
            list[Stamp | None](),
        )
        end = 0
        for path, stamp in zip(paths, decoded(piece), strict=True):
            content = None
            if stamp is None or stamp.size > min(_LARGEST_FILE, room - end):
                pass
            elif snapshot.is_read(path) or not is_settled(stamp, now):
                is_whole = False  # next time it may be plain
            elif path in known and known[path][0].stamps[known[path][1]] == stamp:
                content = known[path][0].content(known[path][1])
            else:
                content = self._plain(snapshot, path, stamp.size)
            if content is None:
                others.append(path)
                continue
            plain.append(path)
            taken.append(stamp)
            contents.append(content)
            end += len(content) + 1
            ends.append(end)
        return _Part(paths, piece, b"\n".join(contents), plain, taken, ends, others, is_whole)

    def _plain(self, snapshot: Snapshot, path: str, size: int) -> bytes | None:
        try:
            content = snapshot.files.glance(path, size)
            return content if self._is_plain(content) else None
        except (ResourceError, FileNotFoundError):
            return None


class _Part(Struct, frozen=True):
    """The contents of some files.

    Parameters:
        paths: of all of them.
        piece: their stamps.
        text: of the plain ones, each behind a line end.
        plain: their paths.
        stamps: theirs.
        ends: where each ends, with its line end.
        others: the files that have to be read.
        is_whole: whether that is so as long as the stamps are the same.
        known: files by words that were searched for last.
    """

    paths: Sequence[str]
    piece: bytes
    text: bytes
    plain: list[str]
    stamps: list[Stamp | None]
    ends: list[int]
    others: list[str]
    is_whole: bool
    known: dict[tuple[bytes, bool], tuple[str, ...]] = {}

    def having(self, word: tuple[bytes, bool]) -> tuple[str, ...]:
        """Return the files in which a word stands."""
        found = self.known.get(word)
        if found is None:
            if len(self.known) >= _MOST_WORDS:
                self.known.clear()
            found = self.known[word] = tuple(self._having(*word))
        return found

    def _having(self, word: bytes, alone: bool) -> Iterator[str]:
        at = position(self.text, word, alone)
        while at >= 0:
            number = bisect_right(self.ends, at)
            yield self.plain[number]
            at = position(self.text, word, alone, self.ends[number])

    def content(self, number: int) -> bytes:
        """Return the content of one of the plain files."""
        return self.text[self.ends[number - 1] if number else 0 : self.ends[number] - 1]


def position(text: bytes, word: bytes, alone: bool, start: int = 0) -> int:
    """Return where a word stands next; -1 where it does not.

    Parameters:
        alone: whether it counts only where no letter is next to it; one that an escape in a string may end in
            (`"pkg\\u002esend"`) is none.
    """
    at = text.find(word, start)
    while alone and at >= 0:
        end = at + len(word)
        if not _is_letter(text[end : end + 1]) and (
            not _is_letter(text[max(0, at - 1) : at]) or b"\\" in text[max(0, at - _LONGEST_ESCAPE) : at]
        ):
            break
        at = text.find(word, end)
    return at


def _is_letter(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_"
