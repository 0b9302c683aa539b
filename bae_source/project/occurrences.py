"""Which files hold a word that was looked for before, so that not every file is read to find it again.

    known = Occurrences()
    known.outdated(census, {"send"})      files of which that is not known, since they changed or the word is new
    known.noted(…)                        the same with what was found in them
    known.holding(census, {"send"})       files that hold it

Invariants:
- what is known of a file is known under its stamp, and is true as long as the file has that stamp;
- nothing is kept of a file whose stamp might not tell of another change, or that cannot be read;
- it is bounded: the words looked for last stay;
- what was saved is decoded when somebody asks: mostly nothing has changed, and of one word alone is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

import msgspec

from bae_source.project.census import Census
from bae_source.project.files import Stamp

_MOST_WORDS = 64
_BETWEEN = "\0"
_Kept = tuple[str, bytes, dict[str, bytes]]
"""Paths, sorted and joined; their stamps; for each word the numbers of the files that hold it. What is decoded when
somebody asks is encoded twice, so that it is passed over at once."""

_ENCODE = msgspec.msgpack.encode
_DECODE = msgspec.msgpack.Decoder(_Kept).decode
_STAMPS = msgspec.msgpack.Decoder(list[Stamp]).decode
_NUMBERS = msgspec.msgpack.Decoder(list[int]).decode


class Occurrences:
    """What is known of words in files; never changes.

    Parameters:
        stamps: the stamp under which each file was read.
        words: for each word the files that hold it.
    """

    def __init__(self, stamps: Mapping[str, Stamp] | None = None, words: Mapping[str, frozenset[str]] | None = None):
        self.stamps = stamps or {}
        self.words = words or {}

    def outdated(self, census: Census, words: Collection[str]) -> list[str]:
        """Return the files that have to be read to tell which of them hold the words, sorted."""
        if not all(word in self.words for word in words):
            return list(census.sources)
        if self._are_of(census):
            return []
        known, now = self.stamps, census.stamps
        return [path for path in census.sources if known.get(path) != now[path]]

    def holding(self, census: Census, words: Collection[str]) -> set[str]:
        """Return the files that are as they were and hold one of the words."""
        held = frozenset().union(*(self.words.get(word, ()) for word in words))
        if self._are_of(census):
            return set(held)
        known, now = self.stamps, census.stamps
        return {path for path in held if path in now and known.get(path) == now[path]}

    def asked_for(self, words: Collection[str]) -> tuple[str, ...]:
        """Return the words to look for in a file that is read: all of these, and those that were looked for last."""
        return tuple(dict.fromkeys([*words, *self.words]))[: max(len(words), _MOST_WORDS)]

    def noted(
        self,
        stamps: Mapping[str, Stamp | None],
        words: Mapping[str, Collection[str]],
        looked_into: Mapping[str, Collection[str]],
    ) -> Occurrences:
        """Return what is known after some files were read.

        Parameters:
            stamps: of these files; None for one of which nothing can be kept.
            words: for each word that was looked for those that hold it; other words are not known any longer.
            looked_into: for each of these words all files in which it was looked for.
        """
        kept = {path: stamp for path, stamp in {**self.stamps, **stamps}.items() if stamp is not None}
        found = {
            word: self.words.get(word, frozenset()).difference(looked_into[word]).union(holding)
            for word, holding in words.items()
        }
        return Occurrences(kept, found)

    def _are_of(self, census: Census) -> bool:
        """Say whether this is known of all files, as they are."""
        return self.stamps == census.stamps


class _Saved(Occurrences):
    """What was saved.

    Parameters:
        joined: paths.
        stamps: theirs.
        words: for each word the numbers of the files that hold it.
    """

    def __init__(self, joined: str, stamps: bytes, words: Mapping[str, bytes]) -> None:
        self.words = _Words(joined, words)
        self._written = joined, stamps

    @cached_property
    def stamps(self) -> Mapping[str, Stamp]:  # type: ignore[override]  # which nobody sets
        """The stamp under which each file was read; nothing where it cannot be understood."""
        joined, stamps = self._written
        try:
            return dict(zip(joined.split(_BETWEEN), _STAMPS(stamps), strict=True))
        except (msgspec.DecodeError, ValueError):
            return {}

    def _are_of(self, census: Census) -> bool:
        return self._written == census.written


class _Words(Mapping[str, frozenset[str]]):
    """For each word the files that hold it; what makes no sense is not there."""

    def __init__(self, joined: str, saved: Mapping[str, bytes]) -> None:
        self._joined = joined
        self._saved = saved
        self._found: dict[str, frozenset[str]] = {}

    @cached_property
    def _paths(self) -> list[str]:
        return self._joined.split(_BETWEEN)

    def __getitem__(self, word: str) -> frozenset[str]:
        if word not in self._found:
            try:
                self._found[word] = frozenset(map(self._paths.__getitem__, _NUMBERS(self._saved[word])))
            except (msgspec.DecodeError, ValueError, IndexError):
                raise KeyError(word) from None
        return self._found[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._saved)

    def __len__(self) -> int:
        return len(self._saved)


def save(known: Occurrences) -> bytes | None:
    """Return what is known as bytes; None where a path is no text."""
    paths = sorted(known.stamps)
    numbers = {path: number for number, path in enumerate(paths)}
    words = {word: _ENCODE([numbers[path] for path in held if path in numbers]) for word, held in known.words.items()}
    try:
        return _ENCODE((_BETWEEN.join(paths), _ENCODE([known.stamps[path] for path in paths]), words))
    except UnicodeEncodeError:
        return None


def load(saved: bytes) -> Occurrences:
    """Return what was saved; nothing where it cannot be understood."""
    try:
        return _Saved(*_DECODE(saved))
    except (msgspec.DecodeError, ValueError):
        return Occurrences()
