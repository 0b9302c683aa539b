"""One operation in the history, as data.

Invariant: an entry is complete by itself: with the files' content beside it, it says what was done, to what, by whom,
why, and how to take it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from bae_source.model.changeset import ChangeSet, FileChange, digest
from bae_source.model.edit import Edit

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


def changes_between(before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> ChangeSet:
    """Return the changeset that leads from one set of contents to the other, both by path.

    A file becomes one edit: what lies between the common head and the common tail. One that appears or goes is one
    edit of nothing, or to nothing, also where it is empty.
    """
    paths = sorted(before.keys() | after.keys())
    made = (_change(path, before.get(path), after.get(path)) for path in paths)
    return ChangeSet(tuple(change for change in made if change is not None))


def _change(path: str, before: bytes | None, after: bytes | None) -> FileChange | None:
    if before == after:
        return None
    return FileChange(
        path=path,
        before=None if before is None else digest(before),
        after=None if after is None else digest(after),
        edits=(_edit(before or b"", after or b""),),
    )


def _edit(before: bytes, after: bytes) -> Edit:
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    return Edit(start=head, old=before[head : len(before) - tail], new=after[head : len(after) - tail])


def _common(first: bytes, second: bytes) -> int:
    """Return how many bytes the two begin with in common, by halving: slices compare faster than a loop."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[:middle] == second[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
