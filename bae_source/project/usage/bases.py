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
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec
from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.contents import content_of, contents_of
from bae_source.project.files import Stamp
from bae_source.project.mentions import Mentioning, closed_in
from bae_source.project.workspace import Workspace
from bae_source.syntax.source import Source, may_name_encoding

# Both begin with plain letters, which a search skips to much faster than to any word.
_CLASS = re.compile(rb"class[\s\\]+[\w\x80-\xff]+[\s\\]*(?:\(([^()#\"']*)\)[\s\\]*:|[(\[])")
"""A class header, and its bases; without them where it takes a closer look to tell where they end."""
_IMPORT = re.compile(rb"import(?:[\s\\]*\([^)#]*(?:#[^\r\n]*[^)#]*)*|[^\r\n\\]*(?:\\\s*[^\r\n\\]*)*)")
"""What is imported: in parentheses, or up to the end of the line."""
_STRING = rb'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\r\n]|\\.)*"'
_END = re.compile(rb"#[^\r\n]*|%b|%b|\)[\s\\]*:" % (_STRING, _STRING.replace(b'"', b"'")), re.DOTALL)
"""What is passed over on the way to the end of a class header, comments and strings, and what may be that end."""
_NO_WORD = re.compile(rb"#[^\r\n]*|[,;.()\\]")
_WORD = re.compile(r"[A-Za-z0-9_\x80-\U0010ffff]+")
_FEW = 20
"""Words; to look for each in the text takes less time than to take the text apart."""
_KIND = "bases"
"""What the table is kept under in the cache."""
_BETWEEN = "\0"

_Named = tuple[str, str]
"""What a file's class headers name, and what it imports under another name: names and aliases in turn."""
_Kept = tuple[str, msgspec.Raw, str, str]
"""Paths, their stamps, and of each what its headers name and its aliases; joined by NUL."""
_ENCODE = msgspec.msgpack.encode
_DECODE = msgspec.msgpack.Decoder(_Kept).decode
_STAMPS = msgspec.msgpack.Decoder(list[Stamp]).decode


class _Table(Struct, frozen=True):
    """What headers and imports of all files say.

    Parameters:
        paths: of the files.
        headers: what the headers of each file name, joined by NUL.
        aliases: by name, what it is imported as.
        unreadable: files that could not be read, with the reason.
    """

    paths: Sequence[str]
    headers: str
    aliases: dict[str, set[str]]
    unreadable: tuple[tuple[str, ResourceError], ...] = ()


class Bases:
    """Finds the files that may name a class as a base.

    Parameters:
        workspace: the project.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._asked = 0

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
        self._asked += len(words)
        if self._asked > _FEW:
            numbers = {number for word in words for number in self._numbers.get(word, ())}
        else:
            numbers = {number for word in words for number in _holding(table.headers, word)}
        return Mentioning(tuple(sorted(table.paths[number] for number in numbers)), table.unreadable)

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        """By word, the numbers of the files in whose headers it stands."""
        numbers: dict[str, list[int]] = {}
        for number, header in enumerate(self._table.headers.split(_BETWEEN)):
            for word in set(_WORD.findall(header)):
                numbers.setdefault(word, []).append(number)
        return numbers

    @cached_property
    def _table(self) -> _Table:
        """What all files say; only those are read of which it is not known from before."""
        workspace, census = self.workspace, self.workspace.census
        saved = None if workspace.overlay else workspace.kept.recall(_KIND)
        before = _loaded(saved) if saved else None
        if before is None:
            return self._renewed({})
        joined, stamps, headers, aliases = before
        now = _ENCODE([census.stamps[path] for path in census.paths])
        if joined == _joined(census.paths) and bytes(stamps) == now and self._still(headers, aliases):
            return _Table(census.paths, headers, _by_name(aliases), tuple(closed_in(census)))
        return self._renewed(_by_path(*before))

    def _still(self, headers: str, aliases: str) -> bool:
        """Say whether what is kept holds for the files that were read already, whatever their stamps say."""
        workspace, paths = self.workspace, self.workspace.census.paths
        read = [number for number, path in enumerate(paths) if workspace.is_read(path)]
        if not read:
            return True
        kept = headers.split(_BETWEEN), aliases.split(_BETWEEN)
        try:
            return all(
                _named_in(content_of(workspace, paths[number])) == (kept[0][number], kept[1][number]) for number in read
            )
        except ResourceError:
            return False

    def _renewed(self, known: Mapping[str, tuple[Stamp, _Named]]) -> _Table:
        """Look into each file of which that is not known, and keep what is found there.

        Parameters:
            known: by path, what was found under a stamp.
        """
        workspace, census = self.workspace, self.workspace.census
        fresh = {
            path: known[path]
            for path in census.paths
            if path in known and known[path][0] == census.stamps[path] and not workspace.is_read(path)
        }
        found = {path: named for path, (_, named) in fresh.items()}
        unreadable: list[tuple[str, ResourceError]] = []
        for content in contents_of(workspace, [path for path in census.paths if path not in fresh]):
            try:
                found[content.path] = named = _named_in(content.read())
            except ResourceError as error:
                unreadable.append((content.path, error))
                continue
            if content.stamp is not None:
                fresh[content.path] = content.stamp, named
        fresh = {path: fresh[path] for path in census.paths if path in fresh}
        if list(fresh.items()) != list(known.items()) and not workspace.overlay:
            workspace.kept.store(_KIND, _saved(fresh))
        headers, aliases = map(_joined, zip(*found.values(), strict=True)) if found else ("", "")
        return _Table(list(found), headers, _by_name(aliases), (*unreadable, *closed_in(census)))


def _named_in(content: bytes) -> _Named:
    """Return what the class headers in a file's bytes name, and what is imported there under another name."""
    if not content.isascii() or may_name_encoding(content):
        source = Source(content)
        content = content if source.encoding == "utf-8" else source.text.encode("utf-8", "surrogatepass")
    aliases: dict[str, None] = {}
    for imported in _IMPORT.findall(content):
        if b"as" in imported and (b"as" in imported.split() or b"as\\" in imported or b"as#" in imported):
            words = _text(_NO_WORD.sub(b" ", imported)).split()
            for name, word, alias in zip(words, words[1:], words[2:], strict=False):
                if word == "as" and name != alias:
                    aliases[f"{name} {alias}"] = None
    headers = _CLASS.findall(content)
    if b"" in headers:
        headers = list(_headers(content))
    return _text(b" ".join(headers)), " ".join(aliases)


def _headers(content: bytes) -> Iterator[bytes]:
    """Yield what stands between the parentheses of each class header, and perhaps more."""
    position = 0
    while found := _CLASS.search(content, position):
        bases = found[1]
        position = found.end()
        if bases is None:
            bases = _closer(content, position)
            position += len(bases)
        if bases:
            yield bases


def _closer(content: bytes, start: int) -> bytes:
    """Return what follows the first bracket of a class header, up to where the header may end at the earliest."""
    depth = content.count(b"(", start - 1, start)
    position = start
    for end in _END.finditer(content, start):
        depth += content.count(b"(", position, end.start()) - content.count(b")", position, end.start())
        position = end.end()
        if content.startswith(b")", end.start()):
            depth -= 1
            if depth <= 0:
                return content[start : end.start()]
    return content[start:]


def _text(content: bytes) -> str:
    """Return a piece of text as Python reads the names in it."""
    text = content.decode("utf-8", "surrogatepass").replace(_BETWEEN, " ")
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _holding(headers: str, word: str) -> Iterator[int]:
    """Yield the number of each file in whose headers a name stands."""
    number = counted = 0
    position = headers.find(word)
    while position >= 0:
        end = position + len(word)
        if not _is_letter(headers[end : end + 1]) and not _is_letter(headers[max(0, position - 1) : position]):
            number += headers.count(_BETWEEN, counted, position)
            yield number
            counted = end = headers.find(_BETWEEN, end)
            if end < 0:
                return
        position = headers.find(word, end)


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


def _by_name(aliases: str) -> dict[str, set[str]]:
    """Return by name what it is imported as."""
    found: dict[str, set[str]] = {}
    words = aliases.replace(_BETWEEN, " ").split()
    for name, alias in zip(words[::2], words[1::2], strict=False):
        found.setdefault(name, set()).add(alias)
    return found


def _joined(texts: Collection[str]) -> str:
    return _BETWEEN.join(texts)


def _saved(known: Mapping[str, tuple[Stamp, _Named]]) -> bytes | None:
    stamps = [stamp for stamp, _ in known.values()]
    headers, aliases = map(_joined, zip(*(named for _, named in known.values()), strict=True)) if known else ("", "")
    try:
        return _ENCODE((_joined(known), stamps, headers, aliases))
    except UnicodeEncodeError:
        return None  # a path that is no text


def _loaded(saved: bytes) -> _Kept | None:
    try:
        joined, stamps, headers, aliases = _DECODE(saved)
    except msgspec.DecodeError:
        return None
    is_whole = joined.count(_BETWEEN) == headers.count(_BETWEEN) == aliases.count(_BETWEEN)
    return (joined, stamps, headers, aliases) if is_whole else None


def _by_path(joined: str, stamps: msgspec.Raw, headers: str, aliases: str) -> dict[str, tuple[Stamp, _Named]]:
    """Return what was kept by path; nothing where it cannot be understood."""
    try:
        named = zip(headers.split(_BETWEEN), aliases.split(_BETWEEN), strict=True)
        return dict(zip(joined.split(_BETWEEN), zip(_STAMPS(stamps), named, strict=True), strict=True))
    except (msgspec.DecodeError, ValueError):
        return {}
