"""Several verifiers as one: each has to agree.

Invariants:
- they are asked in their order, and what one of them refuses the next are not asked;
- all of them roll back, the last one first, also where one of them fails to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Protocol

from msgspec.structs import asdict, replace

from bae_source.errors import TransactionError
from bae_source.model.outcome import CHECKS, Check, Notice, Result
from bae_source.model.plan import ModuleFile

_UNCHECKED: Mapping[str, Result] = {"not_import_checked": "not_run", "import_failed_before": "failed_before"}
_LONGEST = 200
"""Characters of what is said of a check that failed; the error says it all."""
Contents = Mapping[str, bytes | None]


class One(Protocol):
    """What judges a transaction."""

    def prepare(self, modules: Sequence[ModuleFile], before: Contents, after: Contents) -> bool:
        """Remember the state to come back to; return whether other programs were waited for."""

    def judges(self) -> bool:
        """Say whether `verify` does."""

    def verify(self) -> tuple[Notice | Check, ...]:
        """Judge what was written."""

    def roll_back(self) -> None:
        """Put back what `verify` changed."""


class AllOf:
    """Judges one transaction by several verifiers.

    Parameters:
        loading: loads the changed modules; the first one.
        others: in their order.
        names: what the others verify, in the same order.
        loads: what `loading` verifies, as a check is called; "" for nothing that is to be told.
        digest: of what is judged.
        timer: seconds from any beginning.
    """

    def __init__(
        self,
        loading: One,
        others: Sequence[One],
        *,
        names: Sequence[str],
        loads: str,
        digest: str = "",
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._loading = loading
        self._others = tuple(others)
        self._names = tuple(names)
        self._loads = loads
        self._digest = digest
        self._timer = timer

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

    def verify(self) -> tuple[Notice | Check, ...]:
        """Ask each of them.

        Raises:
            TransactionError: what the first that refuses raises; its details have the checks, that one among them.
        """
        notices: list[Notice] = []
        checks: list[Check] = []
        for name, each in zip((self._loads, *self._names), (self._loading, *self._others), strict=True):
            begun = self._timer()
            try:
                found = each.verify()
            except TransactionError as error:
                failed = Check(
                    name=name or "import",
                    result="failed",
                    digest=self._digest,
                    seconds=self._since(begun),
                    detail=error.message.partition("\n")[0][:_LONGEST],
                )
                behind = self._names if each is self._loading else self._names[self._others.index(each) + 1 :]
                not_run = [Check(name=other, result="not_run", detail="not reached") for other in behind]
                details = {**error.details, CHECKS: [asdict(each) for each in (*checks, failed, *not_run)]}
                raise error.altered(details=details) from error.__cause__
            seconds = self._since(begun)
            notices += (each for each in found if isinstance(each, Notice))
            made = [each for each in found if isinstance(each, Check)]
            if each is self._loading and name and each.judges():
                made.append(_loaded(name, found))
            checks += (replace(each, seconds=seconds, digest=self._digest_of(each)) for each in made)
        return (*notices, *checks)

    def _digest_of(self, check: Check) -> str:
        return "" if check.result == "not_run" else self._digest

    def _since(self, begun: float) -> float:
        return round(self._timer() - begun, 3)

    def roll_back(self) -> None:
        """Let each of them put back what it changed."""
        with ExitStack() as stack:
            for each in (self._loading, *self._others):
                stack.callback(each.roll_back)


def _loaded(name: str, found: Sequence[Notice | Check]) -> Check:
    """Return what loading the changed modules came to."""
    unchecked = [each for each in found if isinstance(each, Notice) and each.code in _UNCHECKED]
    if not unchecked:
        return Check(name=name, result="passed")
    return Check(name=name, result=_UNCHECKED[unchecked[0].code], detail=unchecked[0].message.rstrip("."))
