"""The time now, on a machine whose clock is far ahead as well.

Python tells no time from the year 2262 on, where nanoseconds in 64 bits end. Such a clock counts as the last moment
that can be told. Files that were changed since then count as changed in the future, so nothing that is kept of them is
believed.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

_LAST = 2**63 - 1
_FIRST_SECOND, _LAST_SECOND = -30_610_224_000, 253_402_300_799
"""The years 1000 to 9999."""
ticks = time.perf_counter_ns
"""Nanoseconds from any beginning, to measure how long something takes."""


def nanoseconds() -> int:
    """Return the time since the beginning of 1970, as the file system counts it."""
    try:
        return min(time.time_ns(), _LAST)
    except OverflowError:
        return _LAST


def now() -> datetime:
    """Return the time now, in UTC."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds() // 1_000)


def written(moment: int) -> str:
    """Return a moment, in nanoseconds since the beginning of 1970, in ISO 8601 and UTC; the file system may have any.

    Years that cannot be written so count as the first or the last that can.
    """
    seconds = min(max(moment // 10**9, _FIRST_SECOND), _LAST_SECOND)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
