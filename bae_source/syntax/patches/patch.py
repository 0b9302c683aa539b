"""A patch as values: a section for each file, with its hunks, whatever form it was written in.

Invariant: nothing here is known of the project; names are those that the patch has.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from msgspec import Struct

from bae_source.errors import RequestError

Action = Literal["change", "create", "delete", "rename", "copy"]
USUAL = "Give a unified diff (git diff), or *** Begin Patch … *** End Patch, as a whole."
"""The next call for a text that is no patch."""


class Line(Struct, frozen=True):
    """One line of a hunk.

    Parameters:
        mark: a space for context, `-` for what goes, `+` for what comes.
        text: without its line feed; a carriage return is part of it.
        ended: whether a line feed follows it in the file.
    """

    mark: str
    text: str
    ended: bool = True


class Hunk(Struct, frozen=True, kw_only=True, dict=True):
    """One hunk.

    Parameters:
        number: from 1, in its section.
        at: the line of the patch that it begins on.
        lines: its lines.
        start: the line of the file that it is named for, from 0; of a hunk without old lines the one it comes before.
        heading: what stands behind its numbers: for git, the line that opens what it stands in.
        anchors: lines that stand above it in this order, where it has no numbers.
        at_end: whether it ends where the file does.
        miscounted: whether its header counts other lines than there are.
    """

    number: int
    at: int
    lines: tuple[Line, ...]
    start: int | None = None
    heading: str = ""
    anchors: tuple[str, ...] = ()
    at_end: bool = False
    miscounted: bool = False

    @cached_property
    def old(self) -> tuple[Line, ...]:
        """The lines that it finds."""
        return tuple(line for line in self.lines if line.mark != "+")

    @cached_property
    def new(self) -> tuple[Line, ...]:
        """The lines that it leaves."""
        return tuple(line for line in self.lines if line.mark != "-")

    @property
    def adds(self) -> bool:
        """True if any line comes."""
        return len(self.new) > self.kept

    @property
    def kept(self) -> int:
        """The number of lines that are context."""
        return sum(line.mark == " " for line in self.lines)


class Section(Struct, frozen=True, kw_only=True):
    """One file of a patch.

    Parameters:
        action: what becomes of the file.
        at: the line of the patch that it begins on.
        old, new: its names before and after, as they are written; None where there is no file.
        prefixed: whether they begin with `a/` and `b/`, or what git may write instead.
        hunks: in their order.
        executable: whether it is to be a program; None where that is not said.
        blobs: beginnings of the names that git has for its content before and after; None where they are not said.
        series: the number of the commit, where a text holds several; in `*** Begin Patch` of the file.
    """

    action: Action
    at: int
    old: str | None
    new: str | None
    prefixed: bool = False
    hunks: tuple[Hunk, ...] = ()
    executable: bool | None = None
    blobs: tuple[str, str] | None = None
    series: int = 0

    @property
    def name(self) -> str:
        """The name by which messages call it before its file is found."""
        return self.new or self.old or "a file"


def malformed(reason: str, at: int | None = None, *hints: str) -> RequestError:
    """Return the error of a text that is no patch as it stands.

    Parameters:
        reason: as a clause.
        at: the line of the text.
    """
    place = "" if at is None else f"Line {at} of the patch: "
    return RequestError(
        "invalid_arguments",
        f"{place}{reason}",
        unchanged=True,
        hints=hints or [USUAL],
        details={} if at is None else {"patch_line": at},
    )
