"""The listing of the history: the operations that a call means, and each as lines for a person.

Invariant: operations are read from the newest one back, and no more of them than are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct

from bae_source.history.record.entry import Entry
from bae_source.history.travel.timeline import marked

_AFTER_A_NAME = (".", "@", "[", ":")
Holds = Callable[[Entry, str], bool]


class ListedOperation(Struct, frozen=True, kw_only=True):
    """An operation as it stands now.

    Parameters:
        entry: the operation.
        undone_by: id of the operation that undid it; None if it is in effect, or no change.
        diff: the change as a diff, if requested.
    """

    entry: Entry
    undone_by: str | None = None
    diff: str = ""

    def as_data(self) -> dict[str, Any]:
        """Return it as plain values."""
        entry = self.entry
        return {
            "id": entry.id,
            "kind": entry.kind,
            "of": entry.of,
            "who": entry.who,
            "at": entry.when,
            "why": entry.why,
            "summary": entry.summary,
            "symbols": entry.changed,
            "files": [each.name for each in entry.files],
            "undone_by": self.undone_by or "",
            "diff": self.diff,
        }


def select(
    entries: Iterable[Entry],
    *,
    limit: int,
    who: str | None = None,
    since: datetime | None = None,
    target: str = "",
    touches: Holds = lambda _entry, _target: True,
) -> tuple[ListedOperation, ...]:
    """Return the selected operations, newest first.

    Parameters:
        entries: newest first, none of the newest left out.
        limit: at most that many.
        who: only those of this caller.
        since: only those made at that time or later.
        target: only those that changed the symbol of this name, or anything in it.
        touches: decides on an operation that changed something around the target: whether the target changed with it.
    """
    return tuple(islice(_selected(entries, who, since, target, touches), limit))


def _selected(
    entries: Iterable[Entry], who: str | None, since: datetime | None, target: str, touches: Holds
) -> Iterator[ListedOperation]:
    names = {target} if target else set()
    for entry, undo in marked(entries):
        if since is not None and datetime.fromisoformat(entry.when) < since:
            return
        around = [name for name in names if _changed(entry, name, touches)]
        names |= {earlier for name in names for earlier in _earlier(entry, name)}
        if (who is None or entry.who == who) and (not target or around):
            yield ListedOperation(entry=entry, undone_by=undo.id if undo else None)


def _changed(entry: Entry, name: str, touches: Holds) -> bool:
    """Return whether an operation changed the symbol of a name, by its symbols or by the files that it touched."""
    if any(is_in(changed, name) for changed in entry.changed) or any(is_in(file.name, name) for file in entry.files):
        return True
    return any(is_in(name, changed) for changed in entry.changed) and touches(entry, name)


def _earlier(entry: Entry, name: str) -> Iterator[str]:
    """Yield the earlier names of a symbol, before an operation moved its file."""
    names = {file.path: file.name for file in entry.files}
    for file in entry.files:
        if file.origin in names and is_in(name, file.name):
            yield names[file.origin] + name.removeprefix(file.name)


def is_in(address: str, name: str) -> bool:
    """Return whether an address is the name itself or something in it."""
    return address == name or (address.startswith(name) and address[len(name) :].startswith(_AFTER_A_NAME))


def draw(operations: Sequence[ListedOperation]) -> str:
    """Draw operations as lines of text, each with its diff where it has one."""
    return "\n".join(_line(each) + (f"\n{each.diff}" if each.diff else "") for each in operations)


def draw_whole(operation: ListedOperation) -> str:
    """Draw all there is to say of one operation.

    Parameters:
        operation: with its request and its diff.
    """
    entry = operation.entry
    facts = [
        ("when", _when(entry)),
        ("who", entry.who),
        ("what", entry.summary),
        ("why", entry.why),
        ("of", " ".join(entry.of)),
        ("undone by", operation.undone_by or ""),
        ("changed", "\n             ".join(entry.changed)),
        ("files", "\n             ".join(dict.fromkeys(file.name for file in entry.files))),
    ]
    lines = [f"{entry.id}  {entry.kind}", *(f"  {name:<11}{value}" for name, value in facts if value)]
    request = msgspec.json.format(msgspec.json.encode(entry.request), indent=2).decode()
    return "\n".join([*lines, "  request", *(f"    {line}" for line in request.splitlines()), "", operation.diff])


def _line(operation: ListedOperation) -> str:
    entry = operation.entry
    summary = entry.summary + (f" ({entry.why})" if entry.why else "")
    pieces = [entry.id, _when(entry), entry.who, summary, *(["[undone]"] if operation.undone_by else [])]
    return "  ".join(" ".join(piece.split()) for piece in pieces)  # whatever a caller says, it is one line


def _when(entry: Entry) -> str:
    return entry.when.replace("+00:00", "Z")
