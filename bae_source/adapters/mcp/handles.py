"""Transactions in the making, by the handles that clients hold.

Invariants:
- a handle cannot be guessed, and is good for the client alone that began it;
- a handle that is not used ends by itself; nothing has been written then;
- there are never more of them than the limits say;
- whether a handle never was, has ended or is somebody else's, looks the same.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

from msgspec import Struct

from bae_source.drafting import Draft
from bae_source.errors import HistoryError, Refused

LIFETIME = 30 * 60.0
"""Seconds after its last use."""
MOST_OF_ONE = 16
MOST_OF_ALL = 64
"""How many may be open."""


class _Open(Struct, kw_only=True):
    draft: Draft
    owner: str
    used: float


class Handles:
    """What is open.

    Parameters:
        clock: seconds from any beginning.
        lifetime: seconds after its last use.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, lifetime: float = LIFETIME) -> None:
        self._clock = clock
        self._lifetime = lifetime
        self._open: dict[str, _Open] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, begin: Callable[[], Draft], owner: str) -> str:
        """Begin a transaction and return its handle.

        Parameters:
            begin: called only if there is room for another.
            owner: the client.

        Raises:
            Refused: `busy`, if too many are open.
        """
        self._let_go()
        own = sum(each.owner == owner for each in self._open.values())
        if own >= MOST_OF_ONE or len(self._open) >= MOST_OF_ALL:
            raise Refused(
                "busy",
                f"{len(self._open)} transactions are open, {own} of them yours, and there can be no more.",
                hints=["End one: transaction_commit or transaction_abandon.", f"Each ends by itself {self.rule}."],
            )
        handle = f"tx_{secrets.token_urlsafe(18)}"
        self._open[handle] = _Open(draft=begin(), owner=owner, used=self._clock())
        return handle

    @property
    def rule(self) -> str:
        """When a handle ends by itself."""
        return f"{self._lifetime / 60:g} minutes after its last use"

    def draft(self, handle: str, owner: str) -> Draft:
        """Return an open transaction, which begins its lifetime anew.

        Raises:
            HistoryError: `handle_expired`.
        """
        self._let_go()
        found = self._open.get(handle)
        if found is None or found.owner != owner:
            raise HistoryError(
                "handle_expired",
                "There is no such transaction, or it has ended; nothing of it was written.",
                hints=["Begin another one: transaction_begin.", f"A transaction ends by itself {self.rule}."],
            )
        found.used = self._clock()
        return found.draft

    def end(self, handle: str, owner: str) -> Draft:
        """Return an open transaction, whose handle is good for nothing from now on.

        Raises:
            HistoryError: `handle_expired`.
        """
        draft = self.draft(handle, owner)
        del self._open[handle]
        return draft

    def abandon(self, owner: str | None = None) -> None:
        """Abandon what a client has open; what all of them have, if none is given."""
        for handle, each in list(self._open.items()):
            if owner in (None, each.owner):
                each.draft.abandon()
                del self._open[handle]

    def _let_go(self) -> None:
        now = self._clock()
        for handle, each in list(self._open.items()):
            if now - each.used > self._lifetime:
                each.draft.abandon()
                del self._open[handle]
