"""The files that name a class as a base, by the text of class headers: what a search for subclasses looks into.

    class A(core.Base, metaclass=M): …      names core, Base, metaclass, M
    from core import Base as B              a search for `Base` has to include `B`

Invariants:
- a file that names a class in a header is found under every name that an import gives it; what is found so is only a
  candidate, and may mean something else;
- only text is looked at, and a file that was read once is not read again while its stamp is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.facts.mentions import Mentioning, Words, unseen_in
from bae_source.project.files.contents import Content, contents_of
from bae_source.project.files.stamps import Mark, Stamp, Written, in_pieces, mark_of, marked, whole
from bae_source.project.workspace import Workspace
from bae_source.system.graphs import reached

if TYPE_CHECKING:
    from bae_source.syntax.text.class_headers import Named
    from bae_source.syntax.text.source import Source

_WORD = r"[^\x00-/:-@\[-^`{-\x7f]+"
FEW = 20
"""Words; to look for each in the text takes less time than to take the text apart."""
_KIND, _OF = "bases", "bases of"
"""Keys in the cache of the table and of its files."""
_BETWEEN = "\0"

_Kept = tuple[Mark, str, str]
"""The mark of the files, then the bases and the aliases that `class_headers` finds in each, joined by NUL."""
_ENCODE = msgspec.msgpack.encode
_DECODE = msgspec.msgpack.Decoder(_Kept).decode


class _Table(Struct, frozen=True):
    """The contents of the headers and imports of all files.

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
    """The files that may name a class as a base.

    Parameters:
        workspace: the project.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._asked = 0
        self._noted: dict[str, tuple[Stamp, Named]] = {}

    @property
    def are_unknown(self) -> bool:
        """Return whether every file will have to be read, unless `note` is shown it before."""
        return "_table" not in self.__dict__ and not self._saved

    def note(self, content: Content) -> None:
        """Look at a file that is read for something else, so that it need not be read again."""
        if content.stamp is None:
            return
        try:
            self._noted[content.path] = content.stamp, self._named_in(content.read(), content.source())
        except ResourceError:
            return  # it is reported when the table is made

    def names(self, name: str) -> tuple[str, ...]:
        """Return a class's name and every name that imports may give it."""
        return tuple(reached([name], lambda each: sorted(self._table.aliases.get(each, ()))))

    @property
    def aliases(self) -> set[str]:
        """Every name that an import gives to something else."""
        return set[str]().union(*self._table.aliases.values())

    @property
    def words(self) -> Collection[str]:
        """Every word in a class header."""
        return self._numbers.keys()

    def mentioning(self, words: Collection[str]) -> Mentioning:
        """Return the files that have one of the words in a class header."""
        table = self._table
        self._asked += len(words)
        if self._asked > FEW:
            numbers = {number for word in words for number in self._numbers.get(word, ())}
        else:
            numbers = {number for word in words for number in _holding(table.headers, word)}
        unreadable = (*table.unreadable, *unseen_in(self.workspace, Words(words, alone=True).occur_in))
        return Mentioning(tuple(sorted(table.paths[number] for number in numbers)), unreadable)

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        """By word, the numbers of the files in whose headers it stands."""
        numbers: dict[str, list[int]] = {}
        for number, header in enumerate(self._table.headers.split(_BETWEEN)):
            for word in set(re.findall(_WORD, header)):
                numbers.setdefault(word, []).append(number)
        return numbers

    @cached_property
    def _table(self) -> _Table:
        """Return the contents of all files; only those are read of which it is not known from before."""
        census = self.workspace.census
        before = _loaded(self._saved) if self._saved else None
        del self._saved  # it takes as much room as what is made of it
        if before is None:
            return self._renewed({})
        mark, headers, aliases = before
        is_whole = headers.count(_BETWEEN) == aliases.count(_BETWEEN) == len(census.sources) - 1
        if mark == census.mark and is_whole and self._still():
            return _Table(census.sources, headers, _by_name(aliases))
        return self._renewed(_by_path(marked(self.workspace.kept.recall(_OF), mark), headers, aliases))

    @cached_property
    def _saved(self) -> bytes | None:
        """Return the kept table, none of which is known to hold still."""
        return None if self.workspace.overlay else self.workspace.kept.recall(_KIND)

    @cached_property
    def _named_in(self) -> Callable[[bytes, Source | None], Named]:
        """A reader of the names in a file's class headers and of its aliases."""
        from bae_source.syntax.text.class_headers import named_in  # 5 ms, saved where nothing changed

        return named_in

    def _still(self) -> bool:
        """Return whether the files that were read already hold what their stamps say."""
        workspace, stamps = self.workspace, self.workspace.census.stamps
        return all(workspace.stamp_of(path) is not None for path in workspace.read_paths if path in stamps)

    def _renewed(self, kept: Mapping[str, tuple[Stamp, Named]]) -> _Table:
        """Look into each file of which that is not known, and keep what is found there.

        Parameters:
            kept: by path, what was found under a stamp.
        """
        workspace, census = self.workspace, self.workspace.census
        known, now = {**kept, **self._noted}, whole(census.stamps)
        self._noted = {}
        fresh = {
            path: known[path]
            for path in census.sources
            if path in known and known[path][0] == now[path] and not workspace.is_read(path)
        }
        found = {path: named for path, (_, named) in fresh.items()}
        unreadable: list[tuple[str, ResourceError]] = []
        for content in contents_of(workspace, [path for path in census.sources if path not in fresh]):
            try:
                found[content.path] = named = self._named_in(content.read(), content.source())
            except ResourceError as error:
                unreadable.append((content.path, error))
                continue
            if content.stamp is not None:
                fresh[content.path] = content.stamp, named
        fresh = {path: fresh[path] for path in census.sources if path in fresh}
        if list(fresh.items()) != list(kept.items()) and not workspace.overlay:
            workspace.kept.store(_as_bytes(fresh))
        headers, aliases = map(_joined, zip(*found.values(), strict=True)) if found else ("", "")
        return _Table(list(found), headers, _by_name(aliases), tuple(unreadable))


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
    """Return the aliases of imports, by the imported name."""
    found: dict[str, set[str]] = {}
    words = aliases.replace(_BETWEEN, " ").split()
    for name, alias in zip(words[::2], words[1::2], strict=False):
        found.setdefault(name, set()).add(alias)
    return found


def _joined(texts: Collection[str]) -> str:
    return _BETWEEN.join(texts)


def _as_bytes(known: Mapping[str, tuple[Stamp, Named]]) -> dict[str, bytes]:
    """Return what to keep, by kind; nothing where a path is no text."""
    files = Written(_joined(known), in_pieces([stamp for stamp, _ in known.values()]))
    headers, aliases = map(_joined, zip(*(named for _, named in known.values()), strict=True)) if known else ("", "")
    try:
        return {_KIND: _ENCODE((mark_of(files), headers, aliases)), _OF: _ENCODE(files)}
    except UnicodeEncodeError:
        return {}


def _loaded(saved: bytes) -> _Kept | None:
    try:
        mark, headers, aliases = _DECODE(saved)
    except msgspec.DecodeError:
        return None
    return mark, headers, aliases


def _by_path(stamps: Mapping[str, Stamp], headers: str, aliases: str) -> dict[str, tuple[Stamp, Named]]:
    """Return the kept entries by path; none where they cannot be understood."""
    try:
        named = zip(headers.split(_BETWEEN), aliases.split(_BETWEEN), strict=True)
        return dict(zip(stamps, zip(stamps.values(), named, strict=True), strict=True))
    except ValueError:
        return {}
