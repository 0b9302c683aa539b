"""The form of patch that models write: `*** Begin Patch`.

    *** Begin Patch
    *** Update File: app/core.py
    *** Move to: app/base.py
    @@ class A:                 lines that stand above the hunk, the outer one first
    @@     def f(self):
         old = 1
    -    return old
    +    return 2
    *** End of File             the hunk ends where the file does
    *** Add File: docs/new.md
    +text
    *** Delete File: app/gone.py
    *** End Patch

Invariant: a text that breaks off before `*** End Patch` is refused, since more of it may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from bae_source.syntax.patches.hunk_text import hunk_at
from bae_source.syntax.patches.patch import Hunk, Line, Section, malformed

BEGIN = "*** Begin Patch"
_END = "*** End Patch"
_FILE = re.compile(r"\*\*\* (Add|Update|Delete) File: *(.*?)\s*")
_MOVE = re.compile(r"\*\*\* Move to: *(.*?)\s*")
_END_OF_FILE = "*** End of File"


class Reader:
    """A reader of patches of this form.

    Parameters:
        lines: of the text.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines

    def sections(self) -> Iterator[Section]:
        """Yield the files of every such patch in the text.

        Raises:
            RequestError: `invalid_arguments`.
        """
        at = series = 0
        while at < len(self._lines):
            if self._lines[at].strip() != BEGIN:
                at += 1
                continue
            at += 1
            while self._stripped(at) != _END:
                section, at = self._section(at)
                if section is not None:
                    yield replace(section, series=series)  # each begins with what the one before left
                    series += 1
            at += 1

    def _stripped(self, at: int) -> str:
        if at >= len(self._lines):
            raise malformed(f"it ends without {_END}, so more of it may be missing", None, "Give the whole patch.")
        return self._lines[at].strip()

    def _section(self, at: int) -> tuple[Section | None, int]:
        if not self._stripped(at):
            return None, at + 1
        match = _FILE.fullmatch(self._lines[at])
        if match is None:
            raise malformed(
                f"{self._lines[at].strip()[:60]!r} is none of Add File, Update File, Delete File and End Patch", at + 1
            )
        word, name = match[1], match[2]
        if not name:
            raise malformed("the file has no name", at + 1)
        begun, at = at + 1, at + 1
        if word == "Delete":
            return Section(action="delete", at=begun, old=name, new=None), at
        if word == "Add":
            hunk, at = self._added(at)
            return Section(action="create", at=begun, old=None, new=name, hunks=hunk), at
        moved = _MOVE.fullmatch(self._lines[at]) if at < len(self._lines) else None
        hunks, at = self._hunks(at + (moved is not None))
        if not hunks and moved is None:
            raise malformed(f"{name} is named, and no hunk follows", begun)
        if moved is None:
            return Section(action="change", at=begun, old=name, new=name, hunks=hunks), at
        return Section(action="rename", at=begun, old=name, new=moved[1], hunks=hunks), at

    def _added(self, at: int) -> tuple[tuple[Hunk, ...], int]:
        """Return the hunk of a new file, all of whose lines come."""
        begun, found = at, list[Line]()
        while not self._stripped(at).startswith("*** "):
            line = self._lines[at]
            if line.strip() and not line.startswith("+"):
                raise malformed(f"{line.strip()[:60]!r} of a new file does not begin with +", at + 1)
            found.append(Line("+", line[1:]))
            at += 1
        while found and not found[-1].text and not self._lines[at - 1].startswith("+"):
            found.pop()
            at -= 1
        end = at
        while not self._stripped(end):
            end += 1
        return ((Hunk(number=1, at=begun + 1, lines=tuple(found), start=0),) if found else ()), end

    def _hunks(self, at: int) -> tuple[tuple[Hunk, ...], int]:
        hunks: list[Hunk] = []
        while True:
            line = self._stripped(at)
            if line == _END_OF_FILE:
                if hunks:
                    hunks[-1] = replace(hunks[-1], at_end=True)
                at += 1
            elif line.startswith("*** "):
                return tuple(hunks), at
            elif not line and not self._lines[at].startswith(" "):
                at += 1
            else:
                hunk, at = hunk_at(self._lines, at, len(hunks) + 1, self._ends)
                hunks.append(hunk)

    def _ends(self, at: int) -> bool:
        return self._lines[at].startswith(("@@", "*** "))
