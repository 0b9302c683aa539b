"""Kill or fail at each single call: of the change, of its rollback, and of the recovery.

What is between two calls that change nothing need not be tried: to be killed there is to be killed before the next that
does. Calls that fail are tried one by one, the looking ones as well.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable, Iterator
from functools import partial

from bae_source.errors import ResourceError, TransactionError
from benchmarks.crash.arena import Arena
from benchmarks.crash.faults import CALLS, CHANGING, CountingDisk, TearingDisk, in_child, killed
from benchmarks.crash.scenario import Scenario, commit, transactions

_MANY = 1 << 30
ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES)


def failed() -> None:
    """Have a change fail that has been written."""
    raise TransactionError("write_failed", "it was to fail")


def kill_changes(
    arena: Arena,
    made: Scenario,
    name: str,
    *,
    rolls_back: bool = False,
    share: float = 1.0,
    seed: int = 0,
) -> int:
    """Kill the change before each of its calls, and in the middle of each write; return how many trials it took.

    Parameters:
        rolls_back: whether the change fails once it is written, so that the rollback is killed as well.
        share: how many of the calls to try.
    """
    trials, chance = 0, random.Random(seed)
    meanwhile = failed if rolls_back else None
    for number in range(1, _count(arena, made, meanwhile) + 1):
        for kind in (CountingDisk, TearingDisk):
            if chance.random() > share:
                continue
            trials += 1
            root = arena.reset(made)
            in_child(partial(commit, root, made, kind(number, killed), meanwhile))
            arena.recover()
            allowed = ("before",) if rolls_back and not made.is_single else ("before", "after")
            arena.judge(made, f"{name}: killed at call {number} ({kind.__name__})", allowed=allowed)
    return trials


def kill_recoveries(arena: Arena, made: Scenario, name: str, chance: random.Random, share: float = 1.0) -> int:
    """Kill the change at each call, then the recovery at each of its own; return how many trials it took.

    Parameters:
        share: how many of the calls to try, of the change and for each of them of the recovery.
    """
    trials = 0
    for number in _sample(chance, share, _count(arena, made, None)):
        for again in _sample(chance, share):
            trials += 1
            root = arena.reset(made)
            in_child(partial(commit, root, made, CountingDisk(number, killed)))
            died = in_child(transactions(root, CountingDisk(again, killed)).recover)
            arena.recover()
            arena.judge(made, f"{name}: killed at call {number}, its recovery at call {again}")
            if not died:
                break
    return trials


def fail_changes(
    arena: Arena,
    made: Scenario,
    name: str,
    *,
    rolls_back: bool = False,
    share: float = 1.0,
    seed: int = 0,
) -> int:
    """Let each call fail, once and from then on, with each error; return how many trials it took.

    What a failed call leaves must be whole, unless it says that a rollback failed too; then the next recovery must mend
    it. What could not be cleaned up, the next recovery must clean up.
    """
    trials, chance = 0, random.Random(seed)
    meanwhile = failed if rolls_back else None
    for number in range(1, _count(arena, made, meanwhile, CALLS) + 1):
        for error in ERRORS:
            for forever in (False, True):
                if chance.random() > share:
                    continue
                trials += 1
                root = arena.reset(made)
                disk = CountingDisk(number, partial(_fail, error), only=CALLS, forever=forever)
                about = f"{name}: call {number} failed with {errno.errorcode[error]}{' for ever' * forever}"
                stuck = _attempt(partial(commit, root, made, disk, meanwhile))
                if stuck is None:
                    arena.check(made, about)
                arena.recover()
                arena.judge(made, about, folders=False)
    return trials


def fail_recoveries(arena: Arena, made: Scenario, name: str, chance: random.Random, share: float = 1.0) -> int:
    """Kill the change at each call, and let each call of the recovery fail; return how many trials it took."""
    trials = 0
    for number in _sample(chance, share, _count(arena, made, None)):
        for again in _sample(chance, share):
            trials += 1
            root = arena.reset(made)
            in_child(partial(commit, root, made, CountingDisk(number, killed)))
            error = chance.choice(ERRORS)
            disk = CountingDisk(again, partial(_fail, error), only=CALLS, forever=chance.random() < 0.5)
            transactions(root, disk).recover()
            arena.recover()
            arena.judge(made, f"{name}: killed at call {number}, call {again} of its recovery failed", folders=False)
            if len(disk.calls) < again:
                break
    return trials


def _count(
    arena: Arena,
    made: Scenario,
    meanwhile: Callable[[], object] | None,
    only: frozenset[str] = CHANGING,
) -> int:
    """Return how many calls the change takes."""
    disk = CountingDisk(only=only)
    root = arena.reset(made)
    _attempt(partial(commit, root, made, disk, meanwhile))
    arena.judge(made, "undisturbed")
    return len(disk.calls)


def _sample(chance: random.Random, share: float, most: int = _MANY) -> Iterator[int]:
    """Count from 1, leaving some out; if there is no end, who takes from it says when to stop."""
    yield from (number for number in range(1, most + 1) if chance.random() < share)


def _attempt(action: Callable[[], object]) -> ResourceError | None:
    """Do it; return the error if files could not be taken back, None if they are whole."""
    try:
        action()
    except ResourceError as error:
        return error if error.code == "rollback_failed" else None
    return None


def _fail(error: int) -> None:
    raise OSError(error, os.strerror(error))
