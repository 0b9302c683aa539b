"""How several names stand in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

_MOST = 10


def listed(names: Sequence[str]) -> str:
    """Return names with commas, and how many more there are behind the tenth."""
    return ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
