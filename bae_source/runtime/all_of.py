"""Several verifiers as one: each has to agree.

Invariants:
- they are asked in their order, and what one of them refuses the next are not asked;
- all of them roll back, the last one first, also where one of them fails to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Protocol

from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile

_UNCHECKED = ("not_import_checked", "import_failed_before")
Contents = Mapping[str, bytes | None]


class One(Protocol):
    """What judges a transaction."""

    def prepare(self, modules: Sequence[ModuleFile], before: Contents, after: Contents) -> bool:
        """Remember the state to come back to; return whether other programs were waited for."""

    def judges(self) -> bool:
        """Say whether `verify` does."""

    def verify(self) -> tuple[Notice, ...]:
        """Judge what was written."""

    def roll_back(self) -> None:
        """Put back what `verify` changed."""


class AllOf:
    """Judges one transaction by several verifiers.

    Parameters:
        loading: loads the changed modules; the first one.
        others: in their order.
        verified: what has been verified already, and what `loading` verifies if nothing is left unchecked.
    """

    def __init__(self, loading: One, others: Sequence[One], *, verified: Sequence[str], loads: str) -> None:
        self._loading = loading
        self._others = tuple(others)
        self._verified = tuple(verified)
        self._loads = loads

    def prepare(self, modules: Sequence[ModuleFile], before: Contents, after: Contents) -> bool:
        """Let each of them look before anything is written; if one of them refuses, the others let go."""
        with ExitStack() as stack:
            stack.callback(self.roll_back)
            waited = [each.prepare(modules, before, after) for each in (self._loading, *self._others)]
            stack.pop_all()
        return any(waited)

    def judges(self) -> bool:
        """Say whether any of them does."""
        return any(each.judges() for each in (self._loading, *self._others))

    def verify(self) -> tuple[Notice, ...]:
        """Ask each of them; what was verified becomes one notice."""
        notices = list(self._loading.verify())
        loaded = self._loads and not any(notice.code in _UNCHECKED for notice in notices)
        verified = [self._loads] if loaded else []
        verified += self._verified
        for each in self._others:
            found = each.verify()
            verified += (notice.message for notice in found if notice.code == "verified")
            notices += (notice for notice in found if notice.code != "verified")
        if verified:
            notices.append(Notice("verified", f"Verified: {', '.join(verified)}."))
        return tuple(notices)

    def roll_back(self) -> None:
        """Let each of them put back what it changed."""
        with ExitStack() as stack:
            for each in (self._loading, *self._others):
                stack.callback(each.roll_back)
