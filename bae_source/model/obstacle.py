"""Obstacles that keep a change from being taken back where its file has changed since."""

from __future__ import annotations

from msgspec import Struct


class Obstacle(Struct, frozen=True, kw_only=True):
    """Obstacles in one file.

    Parameters:
        changed: addresses of the change's own symbols that are no longer what it left, or of their file.
        used: names that would go, each with the address of what uses it and has changed since.
        reason: another reason, as a clause; "" for none.
    """

    changed: tuple[str, ...] = ()
    used: tuple[tuple[str, str], ...] = ()
    reason: str = ""
