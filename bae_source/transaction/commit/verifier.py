"""What a transaction asks of a verifier: look before anything is written, judge what was written, take back.

A verifier knows how to load modules; a transaction knows only these calls, in this order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from bae_source.model.outcome import Check, Notice
from bae_source.model.plan import ModuleFile

Contents = Mapping[str, bytes | None]


class Verifier(Protocol):
    """Judges one transaction; used once."""

    def prepare(self, modules: Sequence[ModuleFile], before: Contents, after: Contents) -> bool:
        """Remember the state to come back to; nothing is written yet. Return whether other programs were waited for.

        If so, a folder may be another by now.

        Parameters:
            modules: the modules whose files change.
            before: content by project-relative path; None where there is no file.
            after: likewise, as it is about to be written.
        """

    def judges(self) -> bool:
        """Say whether `verify` looks at what is written, may refuse it, or leaves anything to roll back.

        If not, a change of one file is made by its replacement: a process that dies after it leaves the change made.
        """

    def verify(self) -> tuple[Notice | Check, ...]:
        """Judge the files as they lie on the disk now, and return what came of it.

        Raises:
            TransactionError: they do not hold.
        """

    def roll_back(self) -> None:
        """Put back whatever `verify` changed outside the files, which are back already; may be called twice."""
