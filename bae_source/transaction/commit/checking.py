"""The checks before writing: every target may be written, and holds the bytes that were planned on.

Invariant: deletions come first in the order of the targets, and new files last, so that a file may be moved to a name
that some file systems hold for the one that it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from stat import S_IMODE

from msgspec import structs

from bae_source.errors import Refused
from bae_source.history.record.entry import TouchedFile
from bae_source.model.changeset import ChangeSet, FileChange, digest, digest_of
from bae_source.model.text import listed
from bae_source.transaction.commit.failures import unreadable
from bae_source.transaction.disk.folders import modes_above
from bae_source.transaction.disk.names import Speak
from bae_source.transaction.disk.port import Disk
from bae_source.transaction.disk.spelling import Spelling
from bae_source.transaction.disk.targets import Attributes, Content, read_target, runnable
from bae_source.transaction.disk.walk import Walk


def check(changes: ChangeSet, walk: Walk, disk: Disk, speak: Speak) -> tuple[Content, ...]:
    """Read every target and return it with what it will hold; the walk keeps folders.

    Raises:
        Refused: one changed since the plan was made, or may not be written.
        ValueError: the plan contradicts itself; a mistake of ours.
    """
    found = [(change, _target(change, walk, disk, speak)) for change in changes.files]
    if any(change.before is None for change in changes.files):
        leaving = [content.parts for change, content in found if change.after is None]
        staying = [content.parts for change, content in found if change.after is not None]
        spelling = Spelling(walk, disk, leaving=leaving, staying=staying)
        found = [(change, _named(change, content, spelling)) for change, content in found]
    _refuse_stale(found, speak)
    _refuse_shared([content for _, content in found])
    attributes = {content.path: content.attributes for _, content in found}
    before = {change.path: change.before for change, _ in found}
    contents = []
    for change, content in found:
        after = _after(change, content)
        came = None
        if change.origin is not None:
            came = attributes.get(change.origin) or attributes_of(change.origin, walk, disk, speak)
        mode, owner = change.mode, change.owner
        if mode is None and came is not None and change.before is not None:
            mode, owner = S_IMODE(came.mode), came.owner
        model = content.attributes or came
        if model is not None and change.executable is not None:
            usual = S_IMODE(model.mode) if mode is None else mode
            mode, owner = runnable(usual, may=change.executable), owner or model.owner
        edited = change.origin is not None and before.get(change.origin, change.after) != change.after
        given = {"mode": mode, "owner": owner, "anew": change.anew, "edited": edited, "runs": change.executable}
        contents.append(structs.replace(content, after=after, attributes=model, **given))
    return tuple(sorted(contents, key=_order))


def attributes_of(path: str, walk: Walk, disk: Disk, speak: Speak) -> Attributes | None:
    """Return the attributes of a file that stays as it is; None where they cannot be read."""
    try:
        return read_target(walk, disk, speak, path).attributes
    except (OSError, Refused):
        return None


def folders_left(contents: Iterable[Content], walk: Walk, disk: Disk) -> dict[str, int]:
    """Return the permission bits of the folders above files that are deleted, by path: they may go with them.

    The walk keeps folders.

    Raises:
        Refused: one of them is not there any more, or cannot be looked at.
    """
    left: dict[str, int] = {}
    for content in contents:
        if content.after is None:
            try:
                left |= modes_above(content, walk, disk)
            except OSError as error:
                raise unreadable(content.name, error) from error
    return left


def touched(change: FileChange, content: Content) -> TouchedFile:
    """Return the history's record of a file, besides its content."""
    is_other = change.after is None or content.mode is not None or content.anew
    lost = content.attributes if change.before is not None and is_other else None
    return TouchedFile(
        path=change.path,
        name=content.name,
        before=change.before,
        after=change.after,
        origin=change.origin if change.executable is None else None,  # undone as another file, whose mode comes back
        mode=S_IMODE(lost.mode) if lost else None,
        owner=lost.owner if lost else None,
    )


def _order(content: Content) -> int:
    return 0 if content.after is None else 2 if content.before is None else 1


def _target(change: FileChange, walk: Walk, disk: Disk, speak: Speak) -> Content:
    try:
        return read_target(walk, disk, speak, change.path)
    except OSError as error:
        raise unreadable(speak(change.path), error) from error


def _named(change: FileChange, content: Content, spelling: Spelling) -> Content:
    """Refuse a new name that is there in other letters; where the file system takes that one for it, see through it."""
    if change.before is not None:
        return content
    try:
        if spelling.has(content) or content.before is None:
            return content
    except OSError as error:
        raise unreadable(content.name, error) from error
    return structs.replace(content, before=None, attributes=None)


def _refuse_stale(found: Iterable[tuple[FileChange, Content]], speak: Speak) -> None:
    stale = [change.path for change, content in found if digest_of(content.before) != change.before]
    if stale:
        names = listed(map(speak, stale))
        raise Refused(
            "stale",
            f"{names} changed on disk after the change was planned; nothing was written.",
            hints=["Read it again and plan the change anew."],
            details={"paths": stale, "modules": [speak(path) for path in stale]},
        )


def _refuse_shared(contents: Sequence[Content]) -> None:
    alike: dict[object, list[Content]] = {}
    for content in contents:
        alike.setdefault(content.parts if content.attributes is None else content.attributes.inode, []).append(content)
    if shared := [several for several in alike.values() if len(several) > 1]:
        pairs = "; ".join(listed(content.name for content in several) for several in shared)
        raise Refused(
            "unsafe_change",
            f"{pairs} share a file through a link.",
            hints=["Change one of them at a time."],
        )


def _after(change: FileChange, content: Content) -> bytes | None:
    if change.after is None:
        if content.link:
            raise Refused(
                "unsafe_change",
                f"{content.name} is a link, which could not be brought back by undo; it was not deleted.",
                hints=["Delete its target, or remove the link by hand."],
            )
        return None
    after = change.apply(content.before or b"")
    if digest(after) != change.after:
        raise ValueError(f"the plan's edits of {content.path} do not lead where the plan says")
    return after
