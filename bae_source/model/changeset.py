"""The changes that a plan hands to a transaction: edits by file, in bytes, disjoint and sorted.

Invariants, checked when a value is made:
- the edits of a file do not overlap and are sorted by their start;
- a file appears once in a changeset.

A changeset knows nothing of Python and nothing of the disk. It applies only to the very bytes that it was planned
on: `FileChange.apply` compares every replaced byte, and `before` holds the digest of the whole file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from bae_source.system.hashing import sha256


class Edit(Struct, frozen=True, order=True):
    """Replace the bytes `old`, which stand at offset `start`, by `new`."""

    start: int
    old: bytes
    new: bytes

    @property
    def end(self) -> int:
        """Offset just behind the replaced bytes."""
        return self.start + len(self.old)

    @property
    def growth(self) -> int:
        """By how many bytes everything behind this edit moves."""
        return len(self.new) - len(self.old)


Contents = Mapping[str, bytes | None]
"""Contents of files, by project-relative path; None where there is no file."""


def digest(content: bytes) -> str:
    """Return the SHA-256 of `content` in hexadecimal."""
    return sha256(content)


def digest_of(content: bytes | None) -> str | None:
    """Return the digest of a file's content; None where there is no file."""
    return None if content is None else digest(content)


class FileChange(Struct, frozen=True, kw_only=True):
    """The edits of one file.

    Parameters:
        path: project-relative, with forward slashes.
        before: digest of the bytes that the edits were planned on; None if the file is created.
        after: digest of the bytes that the edits lead to; None if the file is deleted.
        edits: disjoint, sorted. A creation is one edit of nothing, a deletion one edit to nothing.
        origin: the file of the same changeset that it was moved from; it passes on its mode and owner, also where
            something else takes its place.
        mode: permission bits that the file shall have; None for those that it has, those of its origin, or the usual
            ones. With a mode it may have no edits.
        owner: user and group that it shall have as far as the system lets us; None as with `mode`.
        executable: whether all who may read it shall be able to run it, or none; None where that stays as it is.
        anew: whether it is another file than the one that has its name now, and so looks as a new one does.
    """

    path: str
    before: str | None
    after: str | None
    edits: tuple[Edit, ...]
    origin: str | None = None
    mode: int | None = None
    owner: tuple[int, int] | None = None
    anew: bool = False
    executable: bool | None = None

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


class ChangeSet(Struct, frozen=True):
    """All edits of one plan.

    Parameters:
        files: one `FileChange` a file, sorted by path.
        folders: paths of folders that may be created, each with the permission bits that it shall have; others get
            those of the folders that their files were moved from, or the usual ones.
    """

    files: tuple[FileChange, ...] = ()
    folders: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        paths = [file.path for file in self.files]
        if paths != sorted(set(paths)):
            raise ValueError("a changeset names each file once, sorted by path")

    def __bool__(self) -> bool:
        return bool(self.files)

    @property
    def digest(self) -> str:
        """The digest of what the files hold afterwards."""
        return digest(repr([(file.path, file.after) for file in self.files]).encode("utf-8", "surrogatepass"))


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


def between(before: Contents, after: Contents, origins: Mapping[str, str] | None = None) -> ChangeSet:
    """Return the changeset that leads from one set of contents to the other, both by path.

    A file becomes one edit: what lies between the common head and the common tail. One that appears or goes is one
    edit of nothing, or to nothing, also where it is empty.

    Parameters:
        origins: where each moved file came from, by the path that it has afterwards.
    """
    came = origins or {}
    paths = sorted(before.keys() | after.keys())
    changes = (_change(path, before.get(path), after.get(path), came.get(path)) for path in paths)
    return ChangeSet(tuple(change for change in changes if change is not None))


def _change(path: str, before: bytes | None, after: bytes | None, origin: str | None) -> FileChange | None:
    if before == after:
        return None
    return FileChange(
        path=path,
        before=None if before is None else digest(before),
        after=None if after is None else digest(after),
        edits=(edit_between(before or b"", after or b""),),
        origin=None if after is None else origin,
    )


def edit_between(before: bytes, after: bytes) -> Edit:
    """Return the one edit that leads from some bytes to others: what lies between the equal head and the equal tail."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    return Edit(start=head, old=before[head : len(before) - tail], new=after[head : len(after) - tail])


def _common(first: bytes, second: bytes) -> int:
    """Return the length of the common beginning, by halving: slices compare faster than a loop."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[:middle] == second[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class Obstacle(Struct, frozen=True, kw_only=True):
    """Obstacles that keep a change of one file from being taken back, where the file has changed since.

    Parameters:
        changed: addresses of the change's own symbols that are no longer what it left, or of their file.
        used: names that would go, each with the address of what uses it and has changed since.
        reason: another reason, as a clause; "" for none.
    """

    changed: tuple[str, ...] = ()
    used: tuple[tuple[str, str], ...] = ()
    reason: str = ""
