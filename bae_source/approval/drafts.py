"""Kept drafts: requests, with a digest of their result, which any process can continue.

Invariants:
- a draft holds requests and no plan, so nothing in it can be out of date;
- its handle cannot be guessed;
- an unused one expires, and above the limit the oldest goes first;
- the way in which a draft ended is remembered until it would have expired.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from bae_source.approval.plan_file import PlanFile, check_row, decoded, encoded, sum_of
from bae_source.errors import HistoryError, Refused
from bae_source.model.outcome import DRAFT_HANDLE, DRAFT_LIFETIME, Check
from bae_source.state.folders import StateFolders

if TYPE_CHECKING:
    import _sqlite3 as sqlite3

MOST = 64
"""Largest number of drafts that are kept for one project."""
_HANDLE = re.compile(rf"{DRAFT_HANDLE}[0-9a-f]{{24}}")
_EXACT = 30.0
"""Seconds for which a use is not written down anew; a draft lives that much longer."""


class Kept(Struct, frozen=True, kw_only=True):
    """One draft.

    Parameters:
        requests: the changes, as `apply` takes them.
        message: the reason, for the history.
        digest: of what they came to, as the caller was shown it.
        refused: whether they were refused because of unsure places; else it is an open transaction.
        ended: how it ended; "" while it can be used.
        checks: what a dry run of its commit verified.
        how: by name, how the caller wanted it judged and made; what makes it goes by that where it says nothing else.
    """

    requests: tuple[dict[str, Any], ...] = ()
    message: str = ""
    digest: str = ""
    refused: bool = False
    ended: str = ""
    checks: tuple[Check, ...] = ()
    how: dict[str, Any] = {}


class Drafts:
    """The drafts of one project.

    Parameters:
        folders: where our state lies.
        seconds: tells the time, in seconds since the epoch.
    """

    def __init__(self, folders: StateFolders, *, seconds: Callable[[], float]) -> None:
        self._file = PlanFile(folders)
        self._project = self._file.project
        self._seconds = seconds

    def keep(self, draft: Kept, handle: str | None = None) -> str:
        """Keep a draft and return its handle.

        Parameters:
            handle: of the draft that it takes the place of.

        Raises:
            OSError: nothing can be written.
        """
        name = handle or f"{DRAFT_HANDLE}{os.urandom(12).hex()}"
        content = encoded(draft)

        def keeping(connection: sqlite3.Connection) -> None:
            row = (name, self._project, self._seconds(), content, sum_of(content))
            connection.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?, ?)", row)
            self._let_go(connection)

        self._file.write(keeping)
        return name

    def get(self, handle: str) -> Kept:
        """Return a draft, whose lifetime begins anew.

        Raises:
            HistoryError: `handle_expired`.
        """
        try:
            found = self._kept_as(handle) if _HANDLE.fullmatch(handle) else None
        except (OSError, Refused):
            found = None
        if found is None:
            notices = (each.message for each in self._file.notices())
            raise _expired("There is no such draft, or it has ended; nothing of it was written.", *notices)
        if found.ended:
            raise _expired(f"The draft has ended: {found.ended}.")
        return found

    def end(self, handle: str, how: str) -> None:
        """End a draft, and keep in mind how it ended."""
        with suppress(OSError, Refused):
            self.keep(Kept(ended=how), handle)

    def drop(self, handle: str) -> None:
        """End a draft of which no caller knows."""
        if _HANDLE.fullmatch(handle) and self._file.is_there():
            with suppress(OSError, Refused):  # it ends by itself
                self._file.write(lambda connection: _dropped(connection, handle))

    def _kept_as(self, handle: str) -> Kept | None:
        """Return a draft that has not lived too long; a use that tells something new is written down."""
        select = "SELECT used, content, check_sum FROM drafts WHERE handle = ? AND project = ?"

        def finding(connection: sqlite3.Connection) -> tuple[float, Kept] | None:
            row = connection.execute(select, (handle, self._project)).fetchone()
            if row is None:
                return None
            check_row(row[2], row[1])
            return float(row[0]), decoded(row[1], Kept)

        def using(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE drafts SET used = ? WHERE handle = ?", (self._seconds(), handle))

        used, draft = self._file.read(finding, None) or (0.0, None)
        idle = self._seconds() - used
        if draft is not None and idle > DRAFT_LIFETIME + _EXACT:
            self._file.write(self._let_go)
            return None
        if draft is not None and idle > _EXACT and not draft.ended:
            with suppress(OSError):
                self._file.write(using)
        return draft

    def _let_go(self, connection: sqlite3.Connection) -> None:
        """End drafts that were not used for long, and the oldest of too many."""
        oldest = self._seconds() - DRAFT_LIFETIME - _EXACT
        connection.execute("DELETE FROM drafts WHERE used < ?", (oldest,))
        connection.execute(
            "DELETE FROM drafts WHERE project = ? AND handle NOT IN "
            "(SELECT handle FROM drafts WHERE project = ? ORDER BY used DESC LIMIT ?)",
            (self._project, self._project, MOST),
        )


def _dropped(connection: sqlite3.Connection, handle: str) -> None:
    connection.execute("DELETE FROM drafts WHERE handle = ?", (handle,))


def _expired(message: str, *notices: str) -> HistoryError:
    lifetime = f"A draft ends {DRAFT_LIFETIME // 60} minutes after its last use."
    again = f"Ask for the change, or begin a transaction, anew. {lifetime}"
    return HistoryError("handle_expired", message, hints=[again, *notices])
