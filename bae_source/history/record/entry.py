"""One operation in the history, as data.

Invariant: an entry is complete by itself: with the files' content beside it, it says what was done, to what, by whom,
why, and how to take it back.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Kind = Literal["change", "undo", "redo"]
Bits = tuple[int | None, tuple[int, int] | None]
"""Permission bits, user and group; None where unknown."""
MOST_BITS = 0o777
"""Permission bits that a file gets from what is written of it: not those by which it runs as its owner or group."""
SCHEMA = 2


class TouchedFile(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that an operation changed.

    Parameters:
        path: project-relative, with forward slashes.
        name: its module, or what else it is called in messages.
        before: digest of the content before; None where there was no file.
        after: likewise, afterwards.
        origin: path of the file that it was moved from in the same operation; None unless it was created.
        mode: permission bits that it had, if it was deleted or got others; undoing gives them back.
        owner: likewise user and group; None in older entries.
    """

    path: str
    name: str
    before: str | None
    after: str | None
    origin: str | None = None
    mode: int | None = None
    owner: tuple[int, int] | None = None


class Entry(Struct, frozen=True, kw_only=True):
    """One operation.

    Parameters:
        id: the id that callers know it by.
        kind: whether it made a change, undid some, or made some again.
        of: for `undo` and `redo` the ids of the changes, in the order in which they were undone or made again.
        who: the caller.
        when: ISO 8601, UTC.
        why: the caller's reason, or "".
        request: the request, as a mapping; the history gives it for a single operation only.
        summary: one line for people.
        files: the files that it changed.
        changed: addresses of the symbols that it was about.
        folders: permission bits of the folders above the files that it deleted, by path, where links lead nowhere else;
            undoing gives them to those that went with their last file.
        passed: where several changes were undone or made again at once, mode and owner that files had on the way, by
            the change that took them away, and by path; `files` holds those that they had in the beginning.
        project: the project's root relative to the top of its repository; "" at the top.
        schema: version of this shape.
    """

    id: str
    kind: Kind
    of: tuple[str, ...] = ()
    who: str
    when: str
    why: str = ""
    request: dict[str, Any] = {}
    summary: str
    files: tuple[TouchedFile, ...]
    changed: tuple[str, ...] = ()
    folders: dict[str, int] = {}
    passed: dict[str, dict[str, Bits]] = {}
    project: str = ""
    schema: int = SCHEMA
