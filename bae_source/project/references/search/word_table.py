"""Which files of a project hold each of many words as names: one look into every file, whatever the number of words.

    WordTable(workspace, {"send", "Client"}).files("send")        files whose text has `send`, not `send_all`

Invariants:
- no file is missed: text that Python reads otherwise than it is written is normalised as `mentions` does;
- a file that cannot be read or decoded is in `unreadable`.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from bae_source.errors import ResourceError
from bae_source.model.text import normalised
from bae_source.project.facts.mentions import is_plain, unseen_in
from bae_source.project.files.contents import contents_of
from bae_source.project.workspace import Workspace

_WORD = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_ANY_WORD = re.compile(r"[^\W\d]\w*")
_ESCAPED = re.compile(rb"\\(?:[abfnrtv]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-7]{1,3})(?=[A-Za-z_])")
"""Escapes in strings; what follows one is a word of its own."""


class WordTable:
    """Tells which files hold a word.

    Parameters:
        workspace: the project.
        words: those that will be asked for.
    """

    def __init__(self, workspace: Workspace, words: Collection[str]) -> None:
        wanted = {normalised(word): word for word in words}
        encoded = {word.encode("utf-8", "surrogatepass"): word for word in wanted}
        self._files: dict[str, list[str]] = {word: [] for word in wanted}
        is_wanted, wanted_words = encoded.keys(), wanted.keys()
        holds_one = lambda text: not is_wanted.isdisjoint(_WORD.findall(text))  # noqa: E731
        self.unreadable: dict[str, ResourceError] = dict(unseen_in(workspace, holds_one))
        for content in contents_of(workspace, workspace.census.sources):
            try:
                text = content.read()
                held: set[str] = {encoded[each] for each in is_wanted & set(_WORD.findall(text))}
                if b"\\" in text:
                    held |= {encoded[each] for each in is_wanted & set(_WORD.findall(_ESCAPED.sub(b" ", text)))}
                if not (text.isascii() and is_plain(text)):
                    source = content.source()
                    held |= wanted_words & set(_ANY_WORD.findall(normalised(source.text))) if source else set()
            except ResourceError as error:
                self.unreadable[content.path] = error
                continue
            for word in held:
                self._files[word].append(content.path)

    def files(self, word: str) -> list[str]:
        """Return the files that hold a word, sorted."""
        return self._files.get(normalised(word), [])
