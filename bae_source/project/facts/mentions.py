"""The files whose text holds one of some words: the candidates that a search for references has to look into.

    found = mentioning(workspace, {"send", "Client"})
    found.paths            files that may refer to one of them, sorted
    found.unreadable       files that could not be read, and why

Invariants:
- no file is missed: Python normalises identifiers (NFKC), so text outside ASCII is searched as Python would read it;
- a file may be named though it only mentions the word, in a comment or, unless it is searched for as a name, as a part
  of a longer one;
- a file that cannot be read or decoded is named as such, never left out in silence; nor is a `.pyw` file, a notebook or
  a script without an ending that holds a word, in which no references are searched for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from bae_source.errors import Refused, ResourceError
from bae_source.model.text import normalised
from bae_source.project.facts.haystack import Haystack, position
from bae_source.project.files.census import WINDOWED
from bae_source.project.files.contents import Content, contents_of
from bae_source.syntax.text.source import Source, source_of

if TYPE_CHECKING:
    from bae_source.project.facts.kept import FactSnapshot
    from bae_source.project.files.port import Stamp

_ASCII = bytes(range(128))
MANY = 500
"""Files; to read fewer takes less time than to remember what is in them."""
_MOST_READ = 3
"""Times that a short-lived process reads all files for new words and saves the answer for the next process."""
_ASCII_COMPATIBLE = ("utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252")
_ALONE = "\1"
"""First character of the key of a word that is searched for as a whole name."""
_LARGEST_WINDOWED = 10_000_000
_OUTSIDE = Refused(
    "outside_project",
    "is a link that leads out of the project.",
    subject="The file",
    hints=["Take a root that holds both."],
)
_WINDOWED = Refused(
    "forbidden", "ends in .pyw and is a module on Windows alone.", subject="The file", hints=["Let it end in .py."]
)
_SETTINGS = ("pyproject.toml", "setup.cfg")
"""Files that may name code, such as entry points."""
_CLOSED = Refused("forbidden", "may not be listed.", subject="The folder", hints=["Check its permissions."])


class Mentioning(Struct, frozen=True):
    """The files that hold one of some words.

    Parameters:
        paths: sorted.
        unreadable: each file, and each folder, that could not be read, sorted by path, and why.
    """

    paths: tuple[str, ...]
    unreadable: tuple[tuple[str, ResourceError], ...] = ()


Look = Callable[[Content], None]
"""Callback with a file that was read."""
Note = Callable[[str], None]
"""Callback with the path of a file in which a word was found."""


def mentioning(
    workspace: FactSnapshot,
    words: Collection[str],
    *,
    alone: bool = False,
    look: Look | None = None,
    note: Note | None = None,
) -> Mentioning:
    """Return the files whose text holds one of the words.

    Parameters:
        words: identifiers, or any other pieces of text; they are normalised as Python does it.
        alone: whether the words are names, so that a part of a longer name does not count.
        look: is shown each file that has to be read for this, so that it is not read again for something else.
        note: called with each file that has to be read and holds a word, as soon as that is known.
    """
    sought = Words(words, alone=alone)
    census = workspace.census
    unreadable = unseen_in(workspace, sought.occur_in)
    if sought.ascii and not workspace.overlay:
        if len(census.stamps) > MANY and (known := _remembered(workspace, sought, look, note)) is not None:
            return Mentioning(known.paths, tuple(sorted([*unreadable, *known.unreadable], key=lambda item: item[0])))
        holders, paths = haystack_of(workspace).look(workspace, census.stamps, sought.encoded)
        found = list(holders)
    else:
        found, paths = [], list(census.sources)
    for content in contents_of(workspace, paths):
        if look is not None:
            look(content)
        try:
            if sought.occur_in(content.read(), content.source):
                found.append(content.path)
                if note is not None:
                    note(content.path)
        except ResourceError as error:
            unreadable.append((content.path, error))
    return Mentioning(tuple(sorted(found)), tuple(sorted(unreadable, key=lambda item: item[0])))


def haystack_of(workspace: FactSnapshot) -> Haystack:
    """Return the contents of the project's sources."""
    return workspace.kept.haystack("sources", is_plain)


def unseen_in(workspace: FactSnapshot, may_matter: Callable[[bytes], bool]) -> list[tuple[str, ResourceError]]:
    """Return the folders that may not be listed and the files that are not searched, each with the reason.

    Parameters:
        may_matter: tells of the bytes of a `.pyw` file, a notebook or a script whether it has to be named.
    """
    census = workspace.census
    unseen: list[tuple[str, ResourceError]] = [(folder, _CLOSED) for folder in census.closed]
    for path in _SETTINGS:
        try:
            workspace.check_readable(path)
        except Refused as error:
            unseen.append((path, error))
    for path in census.outside:
        if not path.endswith(WINDOWED):
            unseen.append((path, _OUTSIDE))
        elif _is_unread_or(may_matter, workspace, path):
            unseen.append((path, _WINDOWED))
    if census.programs:
        unseen += workspace.programs.speaking(may_matter)
    return unseen


def _is_unread_or(may_matter: Callable[[bytes], bool], workspace: FactSnapshot, path: str) -> bool:
    """Return whether a `.pyw` file cannot be read, or may matter."""
    try:
        stamp = workspace.files.stamp(path)
        content = workspace.glance(path) if stamp is not None and stamp.size <= _LARGEST_WINDOWED else None
        return content is None or may_matter(content)
    except ResourceError:
        return True


def _remembered(workspace: FactSnapshot, sought: Words, look: Look | None, note: Note | None) -> Mentioning | None:
    """Return the files that hold a word, reading those of which that is not known; None where to pile up is better.

    What was not known is known, and kept, from then on.
    """
    kept, census = workspace.kept, workspace.census
    known = kept.occurrences(census)
    todo = known.outdated(census, sought.keys)
    is_unknown = len(todo) == len(census.stamps)
    if is_unknown and haystack_of(workspace).is_worth(_MOST_READ if kept.process_is_ours else 1):
        return None
    stamps: dict[str, Stamp | None] = {}
    unreadable: list[tuple[str, ResourceError]] = []
    paths: dict[str, list[str]] = {word: [] for word in known.asked_for(sought.keys)}
    words = [(Words.of_key(word), holding) for word, holding in paths.items()]
    asked = words[: len(sought.keys)]
    changed: set[str] = set()
    for content in contents_of(workspace, todo):
        if look is not None:
            look(content)
        path, stamp = content.path, content.stamp
        stamps[path] = stamp
        is_new = stamp is None or known.stamps.get(path) != stamp
        if is_new:
            changed.add(path)
        try:
            text, found = content.read(), False
            for word, holding in words if is_new else asked:
                if word.occur_in(text, content.source):
                    holding.append(path)
                    found = True
            if found and note is not None and any(holding[-1:] == [path] for _, holding in asked):
                note(path)
        except ResourceError as error:
            stamps[path] = None
            changed.add(path)
            if not any(path in paths[word][-1:] for word in sought.keys):
                unreadable.append((path, error))
    if any(stamps.values()):
        kept.remember(known.noted(stamps, paths, {word: todo if word in sought.keys else changed for word in paths}))
    holders = known.holding(census, sought.keys).difference(todo).union(*(paths[word] for word in sought.keys))
    return Mentioning(tuple(sorted(holders)), tuple(unreadable))


class Words:
    """Words to look for in files.

    Parameters:
        words: normalised here.
        alone: whether a part of a longer name does not count; a private name counts as a part of what it is mangled to.

    Attributes:
        keys: what tells each word from the same one that is searched for in the other way.
    """

    def __init__(self, words: Collection[str], *, alone: bool = False) -> None:
        self.texts = tuple(sorted({normalised(word) for word in words}))
        self.encoded = tuple((_encoded(word), alone and word[:2] != "__") for word in self.texts)
        self.ascii = all(word.isascii() for word in self.texts)
        self.keys = tuple(_ALONE + word if alone else word for word in self.texts)

    @classmethod
    def of_key(cls, key: str) -> Words:
        """Return the word that has a key."""
        return cls([key.removeprefix(_ALONE)], alone=key.startswith(_ALONE))

    def occur_in(self, content: bytes, decoded: Callable[[], Source | None] | None = None) -> bool:
        """Return whether a file's text holds one of the words.

        Parameters:
            decoded: gives what `source_of` gives for the content, where others ask for that too.

        Raises:
            SourceError: `encoding_invalid` if it cannot be decoded.
        """
        for word, alone in self.encoded:
            if word in content and (not alone or position(content, word, alone) >= 0):
                return True
        source = decoded() if decoded is not None else source_of(content)
        if source is None:
            return False
        if not self.ascii:
            text = normalised(source.text)
        else:
            hidden = _hidden_ascii(source)
            if not hidden and source.encoding in _ASCII_COMPATIBLE:
                return False
            text = source.text
            for character in hidden:
                text = text.replace(character, normalised(character))
        return any(word in text for word in self.texts)


def _encoded(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")


def is_plain(content: bytes) -> bool:
    """Return whether an ASCII word that the text holds stands in its bytes as it is written.

    Raises:
        SourceError: `encoding_invalid` if it cannot be decoded.
    """
    source = source_of(content)
    return source is None or (source.encoding in _ASCII_COMPATIBLE and not _hidden_ascii(source))


def _hidden_ascii(source: Source) -> set[str]:
    """Return the characters in a text that become ASCII ones where Python reads an identifier."""
    if source.encoding == "utf-8":
        other = source.content.translate(None, _ASCII).decode("utf-8", "replace")
    else:
        other = source.text
    return set(filter(_becomes_ascii, set(other)))


@lru_cache(maxsize=4096)
def _becomes_ascii(character: str) -> bool:
    if character.isascii() or not f"a{character}".isidentifier():
        return False
    return any(each.isascii() for each in normalised(character))
