"""Answers about the ledger: its entries as lines for a person, its head, and the result of checking it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from bae_source.approval.ledger import Event, Ledger
from bae_source.approval.requests import LedgerHead, LedgerShow, LedgerVerify
from bae_source.errors import Refused
from bae_source.model.call import Call
from bae_source.model.outcome import FOUND, Notice, Outcome
from bae_source.model.text import counted, listed

Asked = LedgerShow | LedgerHead | LedgerVerify
_MOST_NAMED = 3
_HASH = 12


def answered(asked: Asked, ledger: Ledger, since: datetime | None = None) -> Outcome:
    """Answer a request about the ledger.

    Parameters:
        since: only entries from then on, where entries are to be shown.

    Raises:
        Refused: `forbidden` where it cannot be read.
    """
    try:
        if isinstance(asked, LedgerShow):
            return _shown(asked, ledger, since)
        return _verified(ledger, asked.head or "") if isinstance(asked, LedgerVerify) else _headed(ledger)
    except OSError as error:
        raise Refused(
            "forbidden",
            f"The ledger cannot be read: {error.strerror}",
            unchanged=True,
            hints=[Call("doctor", then="says what to move away.")],
        ) from error


def _headed(ledger: Ledger) -> Outcome:
    return Outcome(status="answer", text=ledger.head())


def _verified(ledger: Ledger, head: str) -> Outcome:
    found = ledger.verify(head)
    entries = _entries(found.entries)
    if (fault := found.fault) is not None:
        where = f"entry {fault.number:,} ({fault.file}, line {fault.line:,})"
        if fault.number > found.entries:
            text = f"The ledger does not hold from {where} on: {fault.reason}. What is before it holds: {entries}."
        else:
            text = f"The ledger does not hold: {fault.reason}. What is there holds: {entries}."
        return Outcome(status="answer", text=text, found=(fault,), counts={"faults": 1}, exit_code=FOUND)
    if found.last is None:
        return Outcome(status="answer", text="The ledger holds: it has no entries.")
    text = f"The ledger holds: {entries}, the last of {_time(found.last)}, {found.last.hash}."
    return Outcome(status="answer", text=text)


def _shown(asked: LedgerShow, ledger: Ledger, since: datetime | None) -> Outcome:
    broken: list[str] = []
    found = tuple(reversed(list(islice(_selected(asked, ledger, since, broken), asked.limit))))
    notice = Notice("ledger_broken", f"{counted(len(broken), 'line')} of the ledger cannot be read; verify it.")
    return Outcome(
        status="answer",
        text="\n".join(map(_drawn, found)) or "(no entries)",
        found=found,
        counts={"entries": len(found)},
        warnings=(notice,) if broken else (),
        next_actions=(Call("ledger verify"),) if broken else (),
    )


def _selected(asked: LedgerShow, ledger: Ledger, since: datetime | None, broken: list[str]) -> Iterator[Event]:
    """Yield the entries that are wanted, the newest first.

    Parameters:
        broken: takes why lines cannot be read.
    """
    for entry in ledger.newest():
        if isinstance(entry, str):
            broken.append(entry)
            continue
        meta = entry.meta
        wanted = (
            asked.event in (None, entry.event)
            and asked.who in (None, meta.get("who"), meta.get("by"))
            and (asked.task is None or asked.task in (meta.get("task_id"), meta.get("operation_id")))
        )
        if wanted and (since is None or _is_since(entry, since)):
            yield entry


def _is_since(entry: Event, since: datetime) -> bool:
    try:
        return datetime.fromisoformat(entry.ts) >= since
    except (ValueError, TypeError):
        return True  # unknown


def _drawn(entry: Event) -> str:
    """Draw an entry as one line, whatever callers wrote.

    2026-11-21T12:00:00Z  change_begun  ana  edit app.core.f  op_7f3a…  (why)
    """
    meta = entry.meta
    about = meta.get("symbols") or meta.get("target") or meta.get("file_path") or ""
    about = listed(list(map(str, about)), _MOST_NAMED) if isinstance(about, list) else str(about)
    why = meta.get("why") or meta.get("reason") or ""
    pieces: list[Any] = [
        _time(entry),
        entry.event,
        meta.get("by") or meta.get("who", ""),
        f"{meta.get('verb', '')} {about}",
        f"in {meta['project']}" if "project" in meta else "",
        meta.get("code", "") or meta.get("came_to", ""),
        meta.get("task_id", ""),
        meta.get("operation_id", ""),
        f"of {meta.get('who', '')}" if meta.get("by") else "",
        f"({why})" if why else "",
    ]
    return "  ".join(filter(None, (" ".join(str(piece).split()) for piece in pieces)))


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count:,} entries"


def _time(entry: Event) -> str:
    return entry.ts.replace("+00:00", "Z")
