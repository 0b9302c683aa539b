"""The calls of a transaction to what keeps a record of attempts: before anything is written, and as it ends.

A witness knows nothing of the disk; a transaction knows only these calls, in this order: `begun`, then `applied` or
`failed`; or `recovered`, where the process died in between. All of them are made while the project is locked.
"""

from __future__ import annotations

from typing import Protocol

from bae_source.history.record.entry import Entry
from bae_source.model.changeset import ChangeSet
from bae_source.model.outcome import Notice


class Witness(Protocol):
    """Sees the changes that are written."""

    def begun(self, entry: Entry, changes: ChangeSet) -> Entry:
        """Take note of a change that is about to be written, and return what the history is to have of it.

        Raises:
            ResourceError: it must not be written.
        """

    def applied(self, entry: Entry) -> tuple[Notice, ...]:
        """Take note that it is made, and return what the caller should know; may be called twice."""

    def failed(self, entry: Entry, error: BaseException) -> BaseException:
        """Take note that nothing of it stands, or what could not be taken back; return the error to raise."""

    def recovered(self, operation_id: str, *, stands: bool) -> None:
        """Take note of what became of a change whose process died: it stands, or was taken back."""


class NoWitness:
    """No witness."""

    def begun(self, entry: Entry, _: ChangeSet) -> Entry:
        """Return the entry as it is."""
        return entry

    def applied(self, _: Entry) -> tuple[Notice, ...]:
        """Return nothing."""
        return ()

    def failed(self, _: Entry, error: BaseException) -> BaseException:
        """Return the error as it is."""
        return error

    def recovered(self, _: str, *, stands: bool) -> None:
        """Do nothing."""
