"""Which files name a class as a base, told from the text of class headers: what a search for subclasses looks into.

    class A(core.Base, metaclass=M): …      names core, Base, metaclass, M
    from core import Base as B              whoever looks for `Base` has to look for `B` too

Invariants:
- a file that names a class in a header is found under every name that an import gives it; what is found so is only a
  candidate, and may mean something else;
- files are read once, and only text is looked at.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import cached_property

from msgspec import Struct

from bae_source.errors import ResourceError, SourceError
from bae_source.project.mentions import Mentioning
from bae_source.project.workspace import Workspace
from bae_source.syntax.source import Source

# Both begin with plain letters, which a search skips to much faster than to any word.
_HEADER = re.compile(r"class\s+\w+\s*(?:\[[^\]]*\]\s*)?\((.*?)\)\s*:", re.DOTALL)
_AS = re.compile(r"as[\s\\]+(\w+)")
_FURTHEST = 300
_WORD = re.compile(r"[^\W\d]\w*")


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
        for path in self.workspace.census.paths:
            try:
                self._enter(table, path)
            except ResourceError as error:
                table.unreadable[path] = error
        return table

    def _enter(self, table: _Table, path: str) -> None:
        content = self.workspace.glance(path)
        if content is None:
            raise SourceError("syntax_invalid", "The file has gone while it was read.", hints=["Ask again."])
        if b"class" not in content and b"import" not in content:
            return
        if content.isascii() and b"coding" not in content[:200]:
            text = content.decode("ascii")
        else:
            text = unicodedata.normalize("NFKC", Source(content).text)
        for header in _HEADER.finditer(text):
            for word in _WORD.findall(header[1]):
                table.files.setdefault(word, set()).add(path)
        for found in _AS.finditer(text):
            name = _last_word(text[max(0, found.start() - _FURTHEST) : found.start()])
            if name and name != found[1]:
                table.aliases.setdefault(name, set()).add(found[1])


def _last_word(text: str) -> str:
    """Return the word that text ends in, if white space or a joined line is behind it."""
    stripped = text.rstrip(" \t\f\\\r\n")
    if stripped == text:
        return ""
    start = len(stripped)
    while start and (stripped[start - 1].isalnum() or stripped[start - 1] == "_"):
        start -= 1
    return stripped[start:]
