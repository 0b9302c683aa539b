"""A process that makes nothing durable: what tests write need not outlive a power cut, and disks are slow."""

from __future__ import annotations

import os

from bae_source.history.record import started


def make_nothing_durable() -> None:
    """Have this process, and each git that it starts for a history, wait for no disk."""
    os.fsync = os.fdatasync = lambda file: None
    settings = list(started.SETTINGS)
    settings[settings.index("core.fsync=all")] = "core.fsync=none"
    started.SETTINGS = tuple(settings)
