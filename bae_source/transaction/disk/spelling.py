"""The question whether the name of a new file, or of a folder for it, is there already in other letters.

Invariants:
- no new name differs from one that stays by its letters' case alone, or by how they are composed: on file systems that
  hold such names for one, the two would be one file, and no checkout could hold both;
- a folder in other letters goes only if all that is in it does, compiled code aside: then nothing holds it any more.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable
from unicodedata import normalize

from bae_source.errors import Refused
from bae_source.transaction.disk.folders import CACHE, compiled_in
from bae_source.transaction.disk.port import Disk
from bae_source.transaction.disk.targets import Content, Parts
from bae_source.transaction.disk.walk import Walk


class Spelling:
    """The names that are there while a change is checked, and those that go with it.

    Parameters:
        leaving: files that the change deletes.
        staying: other files that it touches.
    """

    def __init__(self, walk: Walk, disk: Disk, *, leaving: Iterable[Parts], staying: Iterable[Parts]) -> None:
        self._walk = walk
        self._disk = disk
        self._leaving = frozenset(leaving)
        self._needed = {parts[:length] for parts in staying for length in range(len(parts))}

    def has(self, content: Content) -> bool:
        """Return whether the name of a new file, or of its outermost new folder, is there already, letter by letter.

        The walk keeps folders.

        Raises:
            Refused: `name_collision`, if it is there in other letters, and stays.
            OSError: the disk failed.
        """
        depth = len(content.folder) - content.missing
        name, above = content.parts[depth], content.parts[:depth]
        found = self._disk.names(self._walk.at(above))
        for other in found:
            if other != name and _folded(other) == _folded(name) and not self._leaves((*above, other)):
                raise _collision(content, other, name)
        return name in found

    def _leaves(self, parts: Parts) -> bool:
        """Return whether a file goes with the change, or a folder with everything that is in it."""
        if parts in self._leaving or parts in self._needed:
            return parts not in self._needed
        if not stat.S_ISDIR(self._disk.lstat(parts[-1], self._walk.at(parts[:-1])).st_mode):
            return False
        names = self._disk.names(self._walk.at(parts))
        if CACHE in names and compiled_in(parts, self._walk, self._disk) is None:
            return False
        others = [name for name in names if name != CACHE]
        return bool(others) and all(self._leaves((*parts, name)) for name in others)


def _collision(content: Content, other: str, name: str) -> Refused:
    return Refused(
        "name_collision",
        f"{content.name} cannot be created: {other!r} is there already, and many file systems hold {name!r} "
        "for the same name",
        unchanged=True,
        hints=["Choose a name that differs by more than the case of its letters."],
    )


def _folded(name: str) -> str:
    return normalize("NFC", normalize("NFC", name).casefold())
