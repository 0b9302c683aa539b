"""A point in time as a person gives it: a date, a time, or an age.

Invariant: what names no zone is in UTC, as all times of the history are.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from bae_source.errors import RequestError

_AGE = re.compile(r"(\d{1,9})([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def moment(text: str, now: datetime, *, parameter: str) -> datetime:
    """Return the point in time that a text means.

    Parameters:
        now: the time now, from which ages are counted.
        parameter: what to call it in an error.

    Raises:
        RequestError: `invalid_arguments`.
    """
    if age := _AGE.fullmatch(text.strip()):
        try:
            return now - timedelta(seconds=int(age[1]) * _SECONDS[age[2]])
        except OverflowError:
            return datetime.min.replace(tzinfo=UTC)
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise RequestError(
            "invalid_arguments",
            f"{parameter}: {text!r} is no time.",
            hints=["Give a date such as 2026-11-21, a time such as 2026-11-21T12:00, or an age such as 90m, 12h, 30d."],
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
