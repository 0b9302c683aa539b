"""Transactions in the making, by the handles that clients hold.

Invariants:
- a handle cannot be guessed, and whoever holds it may use it; where the protocol has sessions, only in its own one;
- a handle that is not used ends by itself; nothing has been written then;
- there are never more of them on one server than the limit says;
- who holds a handle that has ended is told how; whether one never was or is somebody else's looks the same.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

from msgspec import Struct

from bae_source.adapters.mcp.transactions import LIFETIME, rule
from bae_source.drafting import Draft
from bae_source.errors import HistoryError, Refused

MOST = 64
"""How many may be open."""
_REMEMBERED = 256
"""Of how many that have ended it is known how."""


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
        self._ended: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, begin: Callable[[], Draft], owner: str) -> str:
        """Begin a transaction and return its handle.

        Parameters:
            begin: called only if there is room for another.
            owner: the session to which it belongs; empty where the protocol has none.

        Raises:
            Refused: `busy`, if too many are open.
        """
        self._let_go()
        if len(self._open) >= MOST:
            raise Refused(
                "busy",
                f"{len(self._open)} transactions are open on this server, and there can be no more.",
                hints=["End one: transaction_commit or transaction_abandon.", f"Each ends by itself {self.rule}."],
            )
        handle = f"tx_{secrets.token_urlsafe(18)}"
        self._open[handle] = _Open(draft=begin(), owner=owner, used=self._clock())
        return handle

    @property
    def rule(self) -> str:
        """When a handle ends by itself."""
        return rule(self._lifetime)

    def draft(self, handle: str, owner: str) -> Draft:
        """Return an open transaction, which begins its lifetime anew.

        Raises:
            HistoryError: `handle_expired`.
        """
        self._let_go()
        found = self._open.get(handle)
        if how := self._ended.get(handle):
            raise HistoryError(
                "handle_expired",
                f"The transaction has ended: {how}.",
                hints=["For more changes begin another one: transaction_begin."],
            )
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

    def remember(self, handle: str, how: str) -> None:
        """Keep in mind how a transaction ended, for who asks for it again."""
        self._ended[handle] = how
        if len(self._ended) > _REMEMBERED:
            del self._ended[next(iter(self._ended))]

    def drop(self, handle: str) -> None:
        """Abandon a transaction whose handle nobody got; it may have ended."""
        found = self._open.pop(handle, None)
        if found is not None:
            found.draft.abandon()

    def abandon(self) -> None:
        """Abandon everything that is open."""
        for handle in list(self._open):
            self.drop(handle)

    def _let_go(self) -> None:
        now = self._clock()
        for handle, each in list(self._open.items()):
            if now - each.used > self._lifetime:
                self.drop(handle)
