"""The files that hold a word searched for before, so that not every file is read to find it again.

    known = Occurrences()
    known.outdated(census, {"send"})      files of which that is not known, since they changed or the word is new
    known.noted(…)                        the same with what was found in them
    known.holding(census, {"send"})       files that hold it

Invariants:
- the facts of a file are kept under its stamp, and are true as long as the file has that stamp;
- nothing is kept of a file whose stamp might not tell of another change, or that cannot be read;
- it is bounded: the words searched for last stay;
- the saved bytes are decoded on demand: mostly nothing has changed, and one word alone is requested.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from bae_source.project.files.census import Census
from bae_source.project.files.stamps import Mark, Stamp, mark_of, marked, whole, written

MOST_WORDS = 64
"""Words that are kept: those of the latest questions."""
_Kept = tuple[Mark, dict[str, bytes]]
"""The mark of the files; for each word the sorted numbers of the files that hold it. Values decoded on demand are
encoded twice, so that the decoder passes over them at once."""

_ENCODE = msgspec.msgpack.encode
_DECODE = msgspec.msgpack.Decoder(_Kept).decode
_NUMBERS = msgspec.msgpack.Decoder(list[int]).decode


class Occurrences:
    """The known occurrences of words in files; never changes.

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
        known, now = self.stamps, whole(census.stamps)
        return [path for path in census.sources if known.get(path) != now[path]]

    def holding(self, census: Census, words: Collection[str]) -> set[str]:
        """Return the files that are as they were and hold one of the words."""
        holders = frozenset().union(*(self.words.get(word, ()) for word in words))
        if self._are_of(census):
            return set(holders)
        known, now = self.stamps, whole(census.stamps)
        return {path for path in holders if path in now and known.get(path) == now[path]}

    def asked_for(self, words: Collection[str]) -> tuple[str, ...]:
        """Return the words to look for in a file that is read: all of these, and those that were searched for last."""
        return tuple(dict.fromkeys([*words, *self.words]))[: max(len(words), MOST_WORDS)]

    def noted(
        self,
        stamps: Mapping[str, Stamp | None],
        words: Mapping[str, Collection[str]],
        searched: Mapping[str, Collection[str]],
    ) -> Occurrences:
        """Return the occurrences known after some files were read.

        Parameters:
            stamps: of these files; None for one of which nothing can be kept.
            words: for each word that was searched for those that hold it; other words are not known any longer.
            searched: for each of these words all files in which it was searched for.
        """
        kept = {path: stamp for path, stamp in {**self.stamps, **stamps}.items() if stamp is not None}
        found = {
            word: self.words.get(word, frozenset()).difference(searched[word]).union(holding)
            for word, holding in words.items()
        }
        return Occurrences(kept, found)

    def _are_of(self, census: Census) -> bool:
        """Return whether this is known of all files, as they are."""
        return self.stamps == census.stamps


class SavedWords(Mapping[str, frozenset[str]]):
    """For each word the files that hold it; what makes no sense is not there.

    Attributes:
        decoded: those of the words that were looked up.
    """

    def __init__(self, paths: Sequence[str], saved: Mapping[str, bytes]) -> None:
        self._paths = paths
        self._saved = saved
        self.decoded: dict[str, frozenset[str]] = {}

    def __getitem__(self, word: str) -> frozenset[str]:
        if word not in self.decoded:
            try:
                self.decoded[word] = frozenset(map(self._paths.__getitem__, _NUMBERS(self._saved[word])))
            except (msgspec.DecodeError, ValueError, IndexError):
                raise KeyError(word) from None
        return self.decoded[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._saved)

    def __len__(self) -> int:
        return len(self._saved)


def save(known: Occurrences) -> tuple[bytes, bytes] | None:
    """Return the occurrences as bytes, and their files; None where a path is no text."""
    paths = tuple(sorted(known.stamps))
    numbers = {path: number for number, path in enumerate(paths)}
    words = {word: _ENCODE([numbers[path] for path in own if path in numbers]) for word, own in known.words.items()}
    files = written(paths, known.stamps)
    try:
        return _ENCODE((mark_of(files), words)), _ENCODE(files)
    except UnicodeEncodeError:
        return None


def load(saved: bytes, census: Census, files: Callable[[], bytes | None]) -> Occurrences:
    """Return the saved occurrences; none where they cannot be understood.

    Parameters:
        census: the files that there are; mostly it is of them.
        files: returns the files of which it was saved, where they are others.
    """
    try:
        mark, words = _DECODE(saved)
    except msgspec.DecodeError:
        return Occurrences()
    if mark == census.mark:
        return Occurrences(census.stamps, SavedWords(census.sources, words))
    stamps = marked(files(), mark)
    return Occurrences(stamps, SavedWords(tuple(stamps), words)) if stamps else Occurrences()
