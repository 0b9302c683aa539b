"""Which files hold one of some words in their text: the candidates that a search for references has to look into.

    found = mentioning(workspace, {"send", "Client"})
    found.paths            files that may refer to one of them, sorted
    found.unreadable       files that nobody could look into, and why

Invariants:
- no file is missed: Python normalises identifiers (NFKC), so text outside ASCII is searched as Python would read it;
- a file may be named though it only speaks of the word, in a comment or as a part of a longer one;
- a file that cannot be read or decoded is named as such, never left out in silence.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from bae_source.errors import Refused, ResourceError, SourceError
from bae_source.syntax.source import Source

if TYPE_CHECKING:
    from bae_source.project.workspace import Workspace

_ASCII = bytes(range(128))
_ASCII_COMPATIBLE = ("utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252")
_LARGEST_HAYSTACK = 64_000_000
_CLOSED = Refused("forbidden", "The folder may not be listed.", hints=["Check its permissions."])


class Mentioning(Struct, frozen=True):
    """The files that hold one of some words.

    Parameters:
        paths: sorted.
        unreadable: each file, and each folder, that could not be looked into, sorted by path, and why.
    """

    paths: tuple[str, ...]
    unreadable: tuple[tuple[str, ResourceError], ...] = ()


def mentioning(workspace: Workspace, words: Collection[str], paths: Iterable[str] | None = None) -> Mentioning:
    """Return the files whose text holds one of the words.

    Parameters:
        words: identifiers, or any other pieces of text; they are normalised as Python does it.
        paths: where to look; every Python file of the project if left out.
    """
    sought = Words(words)
    found: list[str] = []
    unreadable: list[tuple[str, ResourceError]] = [(folder, _CLOSED) for folder in workspace.census.closed]
    if paths is None and sought.ascii:
        found, paths = workspace.derived.get(Haystack, Haystack).look(workspace, sought)
    for path in sorted(workspace.census.paths if paths is None else paths):
        try:
            if sought.occur_in(_glance(workspace, path)):
                found.append(path)
        except ResourceError as error:
            unreadable.append((path, error))
    return Mentioning(tuple(sorted(found)), tuple(sorted(unreadable, key=lambda item: item[0])))


class Haystack:
    """The plain files of a project in one piece, in which a word is found without looking at each file.

    It is put together when a project that has not changed is searched again. Plain is a file in whose bytes an ASCII
    word stands as it is written; the others have to be looked into one by one.
    """

    def __init__(self) -> None:
        self._asked = 0
        self._text = b""
        self._paths: list[str] = []
        self._ends: list[int] = []
        self._others: list[str] = []

    def look(self, workspace: Workspace, sought: Words) -> tuple[list[str], list[str]]:
        """Return the files that hold one of the words, and the files that have to be looked into."""
        self._asked += 1
        if self._asked == 1:
            return [], list(workspace.census.paths)
        if not self._ends:
            self._pile(workspace)
        found = {path for word in sought.encoded for path in self._with(word)}
        return list(found), self._others

    def _with(self, word: bytes) -> Iterator[str]:
        position = self._text.find(word)
        while position >= 0:
            number = bisect_right(self._ends, position)
            yield self._paths[number]
            position = self._text.find(word, self._ends[number])

    def _pile(self, workspace: Workspace) -> None:
        pieces: list[bytes] = []
        end = 0
        for path in workspace.census.paths:
            try:
                content = _glance(workspace, path)
                if end + len(content) > _LARGEST_HAYSTACK or not _is_plain(content):
                    self._others.append(path)
                    continue
            except ResourceError:
                self._others.append(path)
                continue
            pieces.append(content)
            end += len(content) + 1
            self._paths.append(path)
            self._ends.append(end)
        self._text = b"\n".join(pieces)


def _glance(workspace: Workspace, path: str) -> bytes:
    workspace.check_size(path)
    content = workspace.glance(path)
    if content is None:
        raise SourceError("syntax_invalid", "The file has gone while it was read.", hints=["Ask again."])
    return content


class Words:
    """Words to look for in files.

    Parameters:
        words: normalised here.
    """

    def __init__(self, words: Collection[str]) -> None:
        normalised = sorted({unicodedata.normalize("NFKC", word) for word in words})
        self.texts = tuple(normalised)
        self.encoded = tuple(word.encode("utf-8", "surrogatepass") for word in normalised)
        self.ascii = all(word.isascii() for word in normalised)

    def occur_in(self, content: bytes) -> bool:
        """Say whether a file's text holds one of the words.

        Raises:
            SourceError: `encoding_invalid` if it cannot be decoded.
        """
        for word in self.encoded:
            if word in content:
                return True
        if (self.ascii or content.isascii()) and _is_plain(content):
            return False
        text = unicodedata.normalize("NFKC", Source(content).text)
        return any(word in text for word in self.texts)


def _is_plain(content: bytes) -> bool:
    """Say whether an ASCII word that the text holds stands in its bytes as it is written.

    Raises:
        SourceError: `encoding_invalid` if it cannot be decoded.
    """
    if content.isascii() and not _names_encoding(content):
        return True
    source = Source(content)
    return source.encoding in _ASCII_COMPATIBLE and not _hides_ascii(source)


def _names_encoding(content: bytes) -> bool:
    """Say whether a file may name its encoding: only there could ASCII bytes stand for anything else."""
    return content.find(b"coding", 0, 4096) >= 0


def _hides_ascii(source: Source) -> bool:
    """Say whether the text holds a character that becomes an ASCII one where Python reads an identifier."""
    if source.encoding == "utf-8":
        return any(map(_becomes_ascii, set(source.content.translate(None, _ASCII).decode("utf-8", "replace"))))
    return any(map(_becomes_ascii, set(source.text)))


@lru_cache(maxsize=4096)
def _becomes_ascii(character: str) -> bool:
    if character.isascii() or not f"a{character}".isidentifier():
        return False
    return any(each.isascii() for each in unicodedata.normalize("NFKC", character))
