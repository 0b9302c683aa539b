"""One operation in the history, as data.

Invariant: an entry is complete by itself: with the files' content beside it, it says what was done, to what, by whom,
why, and how to take it back.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Kind = Literal["change", "undo", "redo"]
SCHEMA = 1


class TouchedFile(Struct, frozen=True, kw_only=True):
    """A file that an operation changed.

    Parameters:
        path: project-relative, with forward slashes.
        name: its module, or what else it is called in messages.
        before: digest of the content before; None where there was no file.
        after: likewise, afterwards.
    """

    path: str
    name: str
    before: str | None
    after: str | None


class Entry(Struct, frozen=True, kw_only=True):
    """One operation.

    Parameters:
        id: the id that callers know it by.
        kind: whether it made a change, undid one, or made one again.
        of: for `undo` and `redo` the id of the change.
        who: the caller.
        when: ISO 8601, UTC.
        why: the caller's reason, or "".
        request: the request, as a mapping.
        summary: one line for people.
        files: the files that it changed.
        changed: addresses of the symbols that it was about.
        project: the project's root relative to the top of its repository; "" at the top.
        schema: version of this shape.
    """

    id: str
    kind: Kind
    of: str | None = None
    who: str
    when: str
    why: str = ""
    request: dict[str, Any] = {}
    summary: str
    files: tuple[TouchedFile, ...]
    changed: tuple[str, ...] = ()
    project: str = ""
    schema: int = SCHEMA
