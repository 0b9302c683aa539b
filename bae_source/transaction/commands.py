"""Requests on the history: undo, redo, list; and what each of them comes to, as values.

Invariants:
- an undo is exact: it applies only while every file it touches is what the operation left, to the byte;
- nothing is written here: `plan_undo` and `plan_redo` return a changeset, which a transaction makes as an operation of
  its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from bae_source.errors import HistoryError
from bae_source.model.changeset import ChangeSet, digest
from bae_source.model.request import Effect, Request, described
from bae_source.transaction.entry import Entry, TouchedFile
from bae_source.transaction.names import listed
from bae_source.transaction.timeline import Timeline, timeline

if TYPE_CHECKING:
    from bae_source.transaction.history import History as Store

Read = Callable[[str, Mapping[str, str]], bytes | None]
OperationId = Annotated[
    str | None, described("Id of the operation, or its unique beginning; your own last one if left out.")
]


class Undo(Request, frozen=True):
    """Take back your last change, or the one of the given id.

    The files must still be exactly what that change left; otherwise nothing happens, and the error names what came
    after. An undo is an operation itself, and `redo` takes it back.
    """

    verb: ClassVar[str] = "undo"
    effect: ClassVar[Effect] = Effect.WRITES

    operation_id: OperationId = None


class Redo(Request, frozen=True):
    """Make the change again that was undone last, or the one of the given id.

    Possible until you make another change, and only while the files are exactly as the undo left them.
    """

    verb: ClassVar[str] = "redo"
    effect: ClassVar[Effect] = Effect.WRITES

    operation_id: OperationId = None


class History(Request, frozen=True):
    """List the operations on this project, the newest first.

    Each line has the id, the time, who made it, what it did, and whether it has been undone.
    """

    verb: ClassVar[str] = "history"
    effect: ClassVar[Effect] = Effect.READS

    limit: Annotated[int, described("At most that many operations.", ge=1, le=10_000)] = 20
    who: Annotated[str | None, described("Only the operations of this caller.")] = None


def plan_undo(request: Undo, history: Store, who: str, read: Read) -> tuple[ChangeSet, Entry]:
    """Return the changeset that takes a change back, and the change.

    Parameters:
        read: the content of a file by project-relative path, None where there is no file; what files are called in
            messages comes with it.

    Raises:
        HistoryError: `nothing_to_undo`, `undo_conflict`, `handle_expired`.
    """
    entries = history.entries()
    line = timeline(entries, who)
    if request.operation_id is None:
        if not line.undoable:
            raise HistoryError(
                "nothing_to_undo",
                "There is no change of yours to undo.",
                hints=_others(entries, who) or ["history lists what was done."],
            )
        entry = line.undoable[-1]
    else:
        entry = _change(history.entry(request.operation_id), history)
        _refuse_undone(entry, line)
    _check(entry, {file.path: file.after for file in entry.files}, read, entries, line, "undone")
    return history.changes(entry).inverted(), entry


def plan_redo(request: Redo, history: Store, who: str, read: Read) -> tuple[ChangeSet, Entry]:
    """Return the changeset that makes an undone change again, and the change.

    Raises:
        HistoryError: `nothing_to_undo`, `undo_conflict`, `handle_expired`.
    """
    entries = history.entries()
    line = timeline(entries, who)
    if request.operation_id is None:
        if not line.redoable:
            raise HistoryError(
                "nothing_to_undo",
                "There is nothing to redo: no undo of yours came after your last change.",
                hints=["redo(operation_id) makes an earlier change again."] if line.undone else [],
            )
        entry = line.redoable[-1]
    else:
        entry = _change(history.entry(request.operation_id), history)
        if entry.id not in line.undone:
            raise HistoryError(
                "nothing_to_undo",
                f"{entry.id} is in effect; there is nothing to redo.",
                hints=["history lists what was undone."],
            )
    _check(entry, {file.path: file.before for file in entry.files}, read, entries, line, "made again")
    return history.changes(entry), entry


def plan_history(request: History, history: Store) -> tuple[Entry, ...]:
    """Return the entries that were asked for, newest first; none where nothing was recorded yet.

    Raises:
        HistoryError: `nothing_to_undo`, if the history cannot be read.
    """
    return history.entries(request.limit, request.who)


def draw(entries: Sequence[Entry], undone: Mapping[str, Entry]) -> str:
    """Draw entries as lines of text.

    Parameters:
        undone: as in `Timeline`.
    """
    return "\n".join(
        "  ".join(
            [
                entry.id,
                entry.when.replace("+00:00", "Z"),
                entry.who,
                entry.summary + (f" ({entry.why})" if entry.why else ""),
                *(["[undone]"] if entry.id in undone else []),
            ]
        )
        for entry in entries
    )


def _change(entry: Entry, history: Store) -> Entry:
    """Return the change that an entry is about: itself, or the one that it undid or made again."""
    return entry if entry.of is None else history.entry(entry.of)


def _refuse_undone(entry: Entry, line: Timeline) -> None:
    if entry.id in line.undone:
        raise HistoryError(
            "nothing_to_undo",
            f"{entry.id} has been undone already, by {line.undone[entry.id].id}.",
            hints=[f"redo({entry.id!r}) makes it again."],
        )


def _others(entries: Sequence[Entry], who: str) -> list[str]:
    other = next((entry for entry in entries if entry.who != who and entry.kind == "change"), None)
    return [f"The last change is {other.who}'s: undo({other.id!r}) takes it back."] if other else []


def _check(
    entry: Entry, expected: Mapping[str, str | None], read: Read, entries: Sequence[Entry], line: Timeline, verb: str
) -> None:
    """Refuse if a file is not, to the byte, what it must be for the change to be undone or made again."""
    names = {file.path: file.name for file in entry.files}
    changed = [file for file in entry.files if _digest(read(file.path, names)) != expected[file.path]]
    if not changed:
        return
    later = _later(entry, changed, entries, line)
    because = f"{later.id} ({later.summary}) came later" if later else "somebody changed it outside bae_source"
    raise HistoryError(
        "undo_conflict",
        f"{entry.id} cannot be {verb}: {listed(file.name for file in changed)} is no longer as it left it; {because}.",
        hints=[f"undo({later.id!r}) first."] if later else ["Take the outside change back, or edit the code by name."],
        details={"modules": [file.name for file in changed], "later": later.id if later else None},
    )


def _later(entry: Entry, changed: Sequence[TouchedFile], entries: Sequence[Entry], line: Timeline) -> Entry | None:
    """Return the newest change in effect, made after `entry`, that touched one of the files."""
    paths = {file.path for file in changed}
    for other in entries:
        if other.id == entry.id:
            return None
        in_effect = other.kind == "change" and other.id not in line.undone
        if in_effect and any(file.path in paths for file in other.files):
            return other
    return None


def _digest(content: bytes | None) -> str | None:
    return None if content is None else digest(content)
