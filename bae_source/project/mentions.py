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
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from bae_source.errors import Refused, ResourceError, SourceError
from bae_source.syntax.source import Source

if TYPE_CHECKING:
    from bae_source.project.workspace import Workspace

_ASCII = bytes(range(128))
_ASCII_COMPATIBLE = ("utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252")
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
    for path in sorted(workspace.census.paths if paths is None else paths):
        try:
            workspace.check_size(path)
            content = workspace.glance(path)
            if content is None:
                raise SourceError("syntax_invalid", "The file has gone while it was read.", hints=["Ask again."])
            if sought.occur_in(content):
                found.append(path)
        except ResourceError as error:
            unreadable.append((path, error))
    return Mentioning(tuple(found), tuple(sorted(unreadable, key=lambda item: item[0])))


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
        if content.isascii() and not _names_encoding(content):
            return False
        source = Source(content)
        if self.ascii and source.encoding in _ASCII_COMPATIBLE and not _hides_ascii(source):
            return False
        text = unicodedata.normalize("NFKC", source.text)
        return any(word in text for word in self.texts)


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
