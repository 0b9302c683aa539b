"""What can be undone and redone, told from the entries alone.

Each caller has a stack of changes in effect and a stack of changes undone. A change goes on the first and empties the
second; an undo moves a change to the second, a redo moves it back on top of the first.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from bae_source.transaction.entry import Entry


class Timeline(Struct, frozen=True, kw_only=True):
    """Where the operations stand, as one caller sees them.

    Parameters:
        undoable: the caller's changes in effect, the next to undo last.
        redoable: the caller's changes that may be made again, the next one last.
        undone: for each change that is not in effect, anybody's, the entry that undid it.
    """

    undoable: tuple[Entry, ...]
    redoable: tuple[Entry, ...]
    undone: dict[str, Entry]


def timeline(entries: Sequence[Entry], who: str) -> Timeline:
    """Replay the entries, given newest first."""
    by_id = {entry.id: entry for entry in entries}
    undoable: list[Entry] = []
    redoable: list[Entry] = []
    undone: dict[str, Entry] = {}
    for entry in reversed(entries):
        change = entry if entry.of is None else by_id.get(entry.of)
        if change is None:
            continue  # of a change that is no longer in the history
        if entry.kind == "undo":
            undone[change.id] = entry
            undoable = [other for other in undoable if other is not change]
            if entry.who == who:
                redoable.append(change)
        elif entry.kind == "redo":
            undone.pop(change.id, None)
            redoable = [other for other in redoable if other is not change]
            if entry.who == who:
                undoable.append(change)
        elif entry.who == who:
            undoable.append(entry)
            redoable.clear()
    return Timeline(undoable=tuple(undoable), redoable=tuple(redoable), undone=undone)
