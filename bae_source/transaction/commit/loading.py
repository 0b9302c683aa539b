"""The calls of a transaction to a process that has loaded the project: take the planned text, keep it, or go back.

A loader knows modules; a transaction knows only these calls, in this order: `load`, then `written` or `roll_back`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from bae_source.model.outcome import Notice

Contents = Mapping[str, bytes | None]


class Loader(Protocol):
    """Loads one planned change; used once."""

    def load(self) -> tuple[Notice, ...]:
        """Load the planned text into this process, and return what the caller should know; nothing is written yet.

        Raises:
            TransactionError: it cannot be loaded.
        """

    def written(self) -> tuple[Notice, ...]:
        """See to it that what was written is what the next process loads; the change is made."""

    def roll_back(self) -> None:
        """Put this process back as it was before `load`; may be called twice, and without it."""
