"""Changes that an undo or a redo means: the caller's last ones, those of some ids, or those later than some time.

Invariants:
- "my last change" is never another caller's; that of another one is only meant where its id is given;
- a time that names no zone is in UTC, as all times of the history are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from bae_source.errors import HistoryError, RequestError
from bae_source.history.record.entry import Entry
from bae_source.history.travel.commands import Redo, Undo
from bae_source.history.travel.timeline import Timeline, about, marked
from bae_source.model.call import Call
from bae_source.model.text import listed

if TYPE_CHECKING:
    from bae_source.history.record.history import History

_ID = re.compile(r"op_[0-9a-f]+")
_AGE = re.compile(r"(\d{1,9})([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
Word = tuple[Entry, Entry]
"""A change, and the last word on it: itself, or what undid it or made it again."""


def chosen(request: Undo | Redo, line: Timeline, history: History, who: str, now: datetime) -> list[Word]:
    """Return the changes that are meant, in the order in which they can be undone, or made again.

    Parameters:
        now: the time, for ages.

    Raises:
        RequestError: `invalid_arguments`.
        HistoryError: `nothing_to_undo`.
    """
    wanted = _ids(request)
    if isinstance(request, Undo) and request.to is not None:
        return _later(request, request.to, line, history, now)
    return _chosen(request, wanted, line, history) if wanted else _last(request, line, history, who)


def moment(text: str, now: datetime, *, parameter: str) -> datetime:
    """Return the point in time that a text means.

    Parameters:
        now: the time now, from which ages are counted.
        parameter: what to call it in an error.

    Raises:
        RequestError: `invalid_arguments`.
    """
    if age := _AGE.fullmatch(text.strip()):
        try:
            return now - timedelta(seconds=int(age[1]) * _SECONDS[age[2]])
        except OverflowError:
            return datetime.min.replace(tzinfo=UTC)
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise RequestError(
            "invalid_arguments",
            f"{parameter}: {text!r} is no time.",
            hints=["Give a date such as 2026-11-21, a time such as 2026-11-21T12:00, or an age such as 90m, 12h, 30d."],
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _ids(request: Undo | Redo) -> tuple[str, ...]:
    given = request.operation_id
    ids = (given,) if isinstance(given, str) else tuple(given or ())
    if given is not None and not ids:
        raise RequestError(
            "invalid_arguments",
            f"operation_id names no operation, so there is nothing to {request.verb}.",
            hints=[f"Leave it out to {request.verb} the last one, or give ids; history lists them."],
        )
    if ids and request.count is not None:
        raise RequestError(
            "invalid_arguments",
            f"{request.verb} takes either ids or a count.",
            hints=[Call(request.verb, operation_id=tuple(ids)), Call(request.verb, count=request.count)],
        )
    return ids


def _later(request: Undo, to: str, line: Timeline, history: History, now: datetime) -> list[Word]:
    """Return the caller's changes in effect that were made, or made again, later than an operation or a time."""
    if request.operation_id is not None or request.count is not None:
        raise RequestError(
            "invalid_arguments",
            "undo takes either to, or ids, or a count.",
            hints=[Call("undo", to=to, line=f"undo --to {to}", then="takes back all that came later.")],
        )
    if _ID.fullmatch(to):
        last = history.entry(to)
        later = {entry.id for entry in takewhile(lambda entry: entry.id != last.id, history.walk())}
    else:
        since = moment(to, now, parameter="to").astimezone(UTC).isoformat(timespec="seconds")
        later = {entry.id for entry in history.walk() if entry.when > since}
    words = [word for word in line.undoable() if word[1].id in later]
    if not words:
        raise _nothing_there(
            f"There is no change of yours in effect that came later than {to}.", "history lists what was done."
        )
    return words


def _last(request: Undo | Redo, line: Timeline, history: History, who: str) -> list[Word]:
    """Return the caller's last changes that are in effect, or that are undone."""
    count = 1 if request.count is None else request.count
    words = list(islice(line.undoable() if isinstance(request, Undo) else line.redoable(), count))
    if not words:
        raise _nothing(request, history, who)
    if len(words) < count:
        there = "is only one change" if len(words) == 1 else f"are only {len(words)} changes"
        hint = Call(request.verb, count=len(words), then=f"takes {'it' if len(words) == 1 else 'those'}.")
        reason = f"There {there} of yours to {request.verb}, not {count}"
        raise HistoryError("nothing_to_undo", reason, unchanged=True, hints=[hint])
    return words


def _nothing(request: Undo | Redo, history: History, who: str) -> HistoryError:
    if isinstance(request, Undo):
        in_effect = (entry for entry, undone_by in marked(history.walk()) if undone_by is None)
        other = next((entry for entry in in_effect if entry.who != who and entry.kind == "change"), None)
        hint = f"The last change in effect is {other.who}'s: undo {other.id} takes it back." if other else None
        return _nothing_there("There is no change of yours to undo.", hint or "history lists what was done.")
    if (lost := _lost(history, who)) is not None:
        return _nothing_there(
            f"There is nothing to redo: what {lost.id} undid is no longer in the history.",
            "history lists what can be made again.",
        )
    return _nothing_there(
        "There is nothing to redo: no undo of yours came after your last change.",
        "redo ID makes an earlier change again; history tells which are undone.",
    )


def _lost(history: History, who: str) -> Entry | None:
    """Return the caller's undo, after his last change, of what has been pruned since; None if there is none."""
    entries = list(history.walk())
    known, decided = {entry.id for entry in entries}, set[str]()
    for entry in entries:
        if entry.who == who and entry.kind == "change":
            return None
        if entry.who == who and entry.kind == "undo" and not known.union(decided).issuperset(entry.of):
            return entry
        decided.update(entry.of)
    return None


def _chosen(request: Undo | Redo, ids: Iterable[str], line: Timeline, history: History) -> list[Word]:
    """Return the changes of these ids, in the order in which they can be undone, or made again."""
    wanted = list(dict.fromkeys(change for given in ids for change in about(history.entry(given))))
    words = list(line.chosen(wanted))
    found = {change.id for change, _ in words}
    if lost := [each for each in wanted if each not in found]:
        raise _nothing_there(f"{listed(lost)} is no longer in the history.", "history lists the operations.")
    for change, word in words:
        _check_state(request, change, word)
    return words


def _check_state(request: Undo | Redo, change: Entry, word: Entry) -> None:
    if isinstance(request, Undo) and word.kind == "undo":
        raise _nothing_there(
            f"{change.id} has been undone already, by {word.id}.",
            Call("redo", operation_id=change.id, then="makes it again."),
        )
    if isinstance(request, Redo) and word.kind != "undo":
        raise _nothing_there(f"{change.id} is in effect; there is nothing to redo.", "history lists what was undone.")


def _nothing_there(message: str, hint: str) -> HistoryError:
    return HistoryError("nothing_to_undo", message, hints=[hint])
