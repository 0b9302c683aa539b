"""Which files name a class as a base, told from the text of class headers: what a search for subclasses looks into.

    class A(core.Base, metaclass=M): …      names core, Base, metaclass, M
    from core import Base as B              whoever looks for `Base` has to look for `B` too

Invariants:
- a file that names a class in a header is found under every name that an import gives it; what is found so is only a
  candidate, and may mean something else;
- only text is looked at, and a file that was read once is not read again while its stamp is the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import cached_property

import msgspec
from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.files import Stamp
from bae_source.project.mentions import Mentioning
from bae_source.project.workspace import Workspace
from bae_source.syntax.source import Source

# Both begin with plain letters, which a search skips to much faster than to any word.
_HEADER = re.compile(r"class\s+\w+\s*(?:\[[^\]]*\]\s*)?\((.*?)\)\s*:", re.DOTALL)
_AS = re.compile(r"as[\s\\]+(\w+)")
_SPACE = " \t\f\\\r\n"
_FURTHEST = 300
_WORD = re.compile(r"[^\W\d]\w*")
_KIND = "bases"
"""What the table is kept under in the cache."""
_BETWEEN = "\0"

_Headers = tuple[str, str]
"""Words in a file's class headers, and what it imports under another name: names and aliases in turn."""
_DECODE = msgspec.msgpack.Decoder(tuple[str, list[tuple[Stamp, str, str]]]).decode


class _Table(Struct, frozen=True):
    """What headers and imports of all files say.

    Parameters:
        files: by word, the files in whose class headers it stands.
        aliases: by name, what it is imported as.
        unreadable: files that could not be read, with the reason.
    """

    files: dict[str, set[str]]
    aliases: dict[str, set[str]]
    unreadable: dict[str, ResourceError]


class Bases:
    """Finds the files that may name a class as a base.

    Parameters:
        workspace: the project.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def names(self, name: str) -> tuple[str, ...]:
        """Return a class's name and every name that imports may give it."""
        found = {name: None}
        waiting = [name]
        while waiting:
            for alias in sorted(self._table.aliases.get(waiting.pop(), ())):
                if alias not in found:
                    found[alias] = None
                    waiting.append(alias)
        return tuple(found)

    def mentioning(self, words: Collection[str]) -> Mentioning:
        """Return the files that have one of the words in a class header."""
        table = self._table
        paths = set().union(*(table.files.get(word, ()) for word in words))
        return Mentioning(tuple(sorted(paths)), tuple(sorted(table.unreadable.items())))

    @cached_property
    def _table(self) -> _Table:
        table = _Table({}, {}, {})
        for path, (words, aliases) in self._headers(table).items():
            for word in words.split():
                table.files.setdefault(word, set()).add(path)
            for name, alias in zip(*[iter(aliases.split())] * 2, strict=True):
                table.aliases.setdefault(name, set()).add(alias)
        return table

    def _headers(self, table: _Table) -> dict[str, _Headers]:
        """Return what the headers and imports of each file say; read only what is not known from before."""
        workspace, census = self.workspace, self.workspace.census
        saved = None if workspace.overlay else workspace.kept.recall(_KIND)
        known, stamps = _loaded(saved) if saved else ({}, {})
        found: dict[str, _Headers] = {}
        fresh: dict[str, Stamp] = {}
        for path in census.paths:
            stamp = census.stamps[path]
            if stamps.get(path) == stamp and not workspace.is_read(path):
                found[path], fresh[path] = known[path], stamp
                continue
            try:
                content, read = workspace.stamped(path)
                found[path] = _headers_of(content)
                if read is not None:
                    fresh[path] = read
            except ResourceError as error:
                table.unreadable[path] = error
        if fresh != stamps and not workspace.overlay:
            workspace.kept.store(_KIND, _saved({path: (found[path], stamp) for path, stamp in fresh.items()}))
        return found


def _headers_of(content: bytes) -> _Headers:
    if b"class" not in content and b"import" not in content:
        return "", ""
    is_plain = content.isascii() and b"coding" not in content[:200]
    text = content.decode("ascii") if is_plain else Source(content).text
    words = {_normalised(word) for header in _HEADER.finditer(text) for word in _WORD.findall(header[1])}
    aliases: dict[str, None] = {}
    for found in _AS.finditer(text):
        if text[found.start() - 1] not in _SPACE:
            continue  # the end of a longer word: most are
        name = _last_word(text[max(0, found.start() - _FURTHEST) : found.start()])
        pair = _normalised(name), _normalised(found[1])
        if all(map(str.isidentifier, pair)) and name != found[1]:
            aliases[" ".join(pair)] = None
    return " ".join(sorted(filter(str.isidentifier, words))), " ".join(aliases)


def _normalised(word: str) -> str:
    """Return a word as Python reads it."""
    return word if word.isascii() else unicodedata.normalize("NFKC", word)


def _saved(known: Mapping[str, tuple[_Headers, Stamp]]) -> bytes | None:
    rows = [(stamp, *headers) for headers, stamp in known.values()]
    try:
        return msgspec.msgpack.encode((_BETWEEN.join(known), rows))
    except UnicodeEncodeError:
        return None  # a path that is no text


def _loaded(saved: bytes) -> tuple[dict[str, _Headers], dict[str, Stamp]]:
    try:
        joined, rows = _DECODE(saved)
        paths = joined.split(_BETWEEN)
        stamps = {path: row[0] for path, row in zip(paths, rows, strict=True)}
    except (msgspec.DecodeError, ValueError):
        return {}, {}
    return {path: row[1:] for path, row in zip(paths, rows, strict=True)}, stamps


def _last_word(text: str) -> str:
    """Return the word that text ends in, if white space or a joined line is behind it."""
    stripped = text.rstrip(_SPACE)
    if stripped == text:
        return ""
    start = len(stripped)
    while start and (stripped[start - 1].isalnum() or stripped[start - 1] == "_"):
        start -= 1
    return stripped[start:]
