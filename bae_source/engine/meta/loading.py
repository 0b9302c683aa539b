"""Load a change of the engine in the process that makes it: wholly, or not at all.

Functions and classes take the new code as they are (`reloading.patch`), since the engine that makes the change is at
work meanwhile. Where anything in this process would go on with what was there before, such as an object of a class that
could not take its new form, this process is put back as it was, and the outcome says that it has to start again.

Invariants:
- a change that a child has judged is not refused because this process cannot take it;
- what functions of ours remember of their arguments is forgotten once the code is another.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar

from bae_source.errors import TransactionError
from bae_source.model.outcome import Notice
from bae_source.reloading.reload import Reload

RESTART = "restart_needed"
_OTHERS = "servers, sessions and programs that have it loaded go on with the old code until they are started again"
_BEFORE = "an earlier change is not loaded here"
_HALF = frozenset({"holds_old_objects", "holders_unknown", "not_patched", "not_compared", "keeps_old_code"})
"""Codes of notices by which a process would be half one engine and half another."""
_CACHED = type(cache(len))


class EngineReload(Reload):
    """Loads a change of the engine, in the mode `patch` where this process stays, else in `child`."""

    is_behind: ClassVar[bool] = False  # whether this process has not loaded some change that was made
    _is_left = False

    def load(self) -> tuple[Notice, ...]:
        """Have this process load what is planned, if it can take all of it."""
        if self._mode != "patch":
            self._remove_bytecode(self._after)
            return (Notice("engine_changed", f"What starts from now on has the new engine; {_OTHERS}."),)
        if EngineReload.is_behind:
            return self._left(_BEFORE)
        gc.unfreeze()  # what was set aside cannot be found, and so not be patched
        try:
            notices = super().load()
        except TransactionError as error:
            return self._left(error.clause)
        half = next((each for each in notices if each.code in _HALF), None)
        if half is not None:
            return self._left(half.message.rstrip("."))
        _forget()
        return (*notices, Notice("engine_changed", f"This process has the new engine already; other {_OTHERS}."))

    def roll_back(self) -> None:
        """Put this process back."""
        super().roll_back()
        _forget()

    def written(self) -> tuple[Notice, ...]:
        """See to compiled files, and remember whether this process has what was written."""
        EngineReload.is_behind = EngineReload.is_behind or self._is_left
        return super().written()

    def _left(self, reason: str) -> tuple[Notice, ...]:
        self.roll_back()
        self._is_left = True
        text = f"Start this process again: it goes on with the old engine, since {reason}. Other {_OTHERS}, too."
        return (Notice(RESTART, text),)


def _forget() -> None:
    """Forget what functions of the engine remember."""
    for cached in _cached():
        cached.cache_clear()


def _cached() -> Iterator[Any]:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == __name__.partition(".")[0]:
            yield from (value for value in list(vars(module).values()) if type(value) is _CACHED)
