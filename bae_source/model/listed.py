"""How several names stand in a sentence."""

from __future__ import annotations

from collections.abc import Iterable


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return names with commas, each once.

    Parameters:
        most: how many are named; how many more there are is said.
    """
    every = list(dict.fromkeys(names))
    return ", ".join(every[:most]) + (f" and {len(every) - most:,} more" if len(every) > most else "")
