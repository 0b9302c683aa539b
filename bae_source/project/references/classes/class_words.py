"""The files that name a class of the project otherwise than by calling it, for all classes by one look at each file.

    Alias = Base             names Base
    isinstance(x, Base)      likewise
    Base()                   does not, nor does `Based`

Invariants:
- no file is missed: one whose bytes do not say each ASCII name as it stands is read as Python reads names.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from bae_source.errors import ResourceError
from bae_source.model.text import normalised
from bae_source.project.facts.mentions import Mentioning, Words, is_plain, unseen_in
from bae_source.project.files.contents import contents_of
from bae_source.project.references.classes.bases import Bases
from bae_source.project.references.classes.set_in_text import around, calls_in, functions_around
from bae_source.project.workspace import Workspace
from bae_source.syntax.text.source import Source

_CLASS = re.compile(rb"class[\s\\]+([A-Za-z_]\w*)")
_MAKES = re.compile(
    rb"class (?<=[ \t]class )(?=\w+[ \t]*\()|type\((?<!\wtype\()[^()\n]*,|, \((?=[\w.]+,\), )"
    rb"|new_class\(|make_dataclass\(|make_class\(|defstruct\(|create_model\("
)
"""A class statement with bases in something else, and calls that make a class, be it of a metaclass."""
_IN_TUPLE = re.compile(rb",\s*\((?:[\w.]+,\s*)*[\w.]*\Z")
_ASKING = ("isinstance", "issubclass")
_ATTRIBUTE = re.compile(rb"\.[ \t]*(\w+)[ \t]*(?::[^=\n]*)?=(?!=)")
_WORDS = bytes(each if chr(each) in "_(" or chr(each).isalnum() or each > 127 else 32 for each in range(256))


class ClassWords:
    """The files to search for one class after the other.

    Parameters:
        workspace: the project.
        bases: tells what imports call classes.

    Attributes:
        odd: the files whose bytes do not say each ASCII name as it stands.
        makers: the names of functions that hold a class statement, or a call that makes a class.
    """

    def __init__(self, workspace: Workspace, bases: Bases) -> None:
        names = {alias.encode() for alias in bases.aliases if alias.isascii()}
        self.odd: set[str] = set()
        self.makers: set[bytes] = set()
        self._making: set[str] = set()
        self._around: dict[tuple[str, int], tuple[bytes, bytes, int]] = {}
        self._headed = bases.words
        self._unreadable: list[tuple[str, ResourceError]] = []
        for each in contents_of(workspace, workspace.census.sources):
            try:
                if not is_plain(each.read()):
                    self.odd.add(each.path)
                names.update(_CLASS.findall(each.read()))
                self._note_makers(each.path, each.read())
            except ResourceError as error:
                self._unreadable.append((each.path, error))
        self._paths: dict[bytes, list[str]] = {name: [] for name in names}
        unreadable = dict(self._unreadable)
        for each in contents_of(workspace, [path for path in workspace.census.sources if path not in unreadable]):
            content = each.read()
            if each.path in self.odd:
                content = normalised(Source(content).text).encode("utf-8", "surrogatepass")
            for name in names.intersection(content.translate(_WORDS).replace(b"(", b"( ").split()):
                self._paths[name].append(each.path)

    def naming(self, workspace: Workspace, words: Collection[str]) -> Mentioning | None:
        """Return the files that name one of some words; None where one is no class's, as far as text tells."""
        encoded = [word.encode() for word in words]
        if not all(word in self._paths for word in encoded):
            return None
        paths = {path for word in encoded for path in self._paths[word]}
        unseen = unseen_in(workspace, Words(words, alone=True).occur_in)
        return Mentioning(tuple(sorted(paths)), tuple(sorted([*self._unreadable, *unseen], key=lambda each: each[0])))

    def _note_makers(self, path: str, content: bytes) -> None:
        starts = {content.rfind(b"\n", 0, match.start()) + 1 for match in _MAKES.finditer(content)}
        if makers := functions_around(content, starts):
            self.makers |= makers
            self._making.add(path)

    def may_matter(self, path: str, content: bytes, start: int, place: int) -> bool:
        """Return whether a class that is set at a place may come to be a base: what functions hold mostly does not.

        Parameters:
            start: where the text begins that sets it.
        """
        if path in self._making:
            return True
        if (path, start) not in self._around:  # a place of many names is often the same
            self._around[path, start] = around(content, start)
        kind, name, _ = self._around[path, start]
        if kind != b"def":
            return True
        text = content[start:place]
        for _, called, argument in calls_in(text)[:1]:
            is_base = argument in (1, "bases") and called not in _ASKING and _IN_TUPLE.search(text)
            if is_base or called.encode() in self.makers:
                return True
        if b"return" in text and name.decode("utf-8", "replace") in self._headed:
            return True
        return any(each.decode("utf-8", "replace") in self._headed for each in _ATTRIBUTE.findall(text))
