"""What a plan hands to a transaction: edits by file, in bytes, disjoint and sorted.

Invariants, checked when a value is made:
- the edits of a file do not overlap and are sorted by their start;
- a file appears once in a changeset.

A changeset knows nothing of Python and nothing of the disk. It applies only to the very bytes that it was planned
on: `FileChange.apply` compares every replaced byte, and `before` holds the digest of the whole file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec import Struct

from bae_source.model.edit import Edit


def digest(content: bytes) -> str:
    """Return the SHA-256 of `content` in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


class FileChange(Struct, frozen=True, kw_only=True):
    """The edits of one file.

    Parameters:
        path: project-relative, with forward slashes.
        before: digest of the bytes that the edits were planned on; None if the file is created.
        after: digest of the bytes that the edits lead to; None if the file is deleted.
        edits: disjoint, sorted. A creation is one edit of nothing, a deletion one edit to nothing.
    """

    path: str
    before: str | None
    after: str | None
    edits: tuple[Edit, ...]

    def __post_init__(self) -> None:
        for first, second in zip(self.edits, self.edits[1:], strict=False):
            if second.start < first.end or (second.start == first.start and not first.old):
                raise ValueError(f"overlapping edits in {self.path}")

    def apply(self, content: bytes) -> bytes:
        """Return `content` with the edits made; raise ValueError where it is not what they were planned on."""
        pieces: list[bytes] = []
        position = 0
        for edit in self.edits:
            if content[edit.start : edit.end] != edit.old:
                raise ValueError(f"{self.path} is not what the change was planned on")
            pieces += (content[position : edit.start], edit.new)
            position = edit.end
        pieces.append(content[position:])
        return b"".join(pieces)

    def inverted(self) -> FileChange:
        """Return the change that takes the file back."""
        moved = 0
        edits = []
        for edit in self.edits:
            edits.append(Edit(start=edit.start + moved, old=edit.new, new=edit.old))
            moved += edit.growth
        return FileChange(path=self.path, before=self.after, after=self.before, edits=tuple(edits))


class ChangeSet(Struct, frozen=True):
    """All edits of one plan, one `FileChange` a file, sorted by path."""

    files: tuple[FileChange, ...] = ()

    def __post_init__(self) -> None:
        paths = [file.path for file in self.files]
        if paths != sorted(set(paths)):
            raise ValueError("a changeset names each file once, sorted by path")

    def __bool__(self) -> bool:
        return bool(self.files)

    def inverted(self) -> ChangeSet:
        """Return the changeset that takes every file back."""
        return ChangeSet(tuple(file.inverted() for file in self.files))


def file_change(path: str, before: bytes, edits: Iterable[Edit], *, known: str | None = None) -> FileChange:
    """Make the change of an existing file from its bytes and the edits, in any order; empty edits are dropped.

    Parameters:
        known: the digest of `before`, if it is known already.
    """
    kept = tuple(sorted(edit for edit in edits if edit.old != edit.new))
    draft = FileChange(path=path, before=known or digest(before), after=None, edits=kept)
    return FileChange(path=path, before=draft.before, after=digest(draft.apply(before)), edits=kept)


def changeset(changes: Iterable[FileChange]) -> ChangeSet:
    """Make a changeset of the files that really change, sorted by path."""
    return ChangeSet(tuple(sorted((change for change in changes if change.edits), key=lambda change: change.path)))
