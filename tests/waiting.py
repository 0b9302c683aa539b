"""Waiting for a file that can be read, whatever its number: `select.select` takes none from 1,024 on."""

from __future__ import annotations

import select
from typing import Any


def readable(file: Any, seconds: float) -> bool:
    """Return whether a file or descriptor can be read, or has come to its end, within some seconds."""
    poll = select.poll()
    poll.register(file, select.POLLIN | select.POLLHUP)
    return bool(poll.poll(max(0.0, seconds) * 1000))
