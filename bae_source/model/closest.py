"""The names most like one that does not exist, for hints and candidates of errors."""

from __future__ import annotations

from collections.abc import Iterable

_LONGEST = 200
"""Characters of a name that are compared; the time that it takes grows with their square."""


def closest(name: str, names: Iterable[str], *, n: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the names most like one, the best first, at most `n`.

    Parameters:
        cutoff: least similarity, from 0 to 1, as `difflib.get_close_matches` measures it.
    """
    from difflib import get_close_matches  # 0.8 ms, for errors alone

    return get_close_matches(name[:_LONGEST], list(names), n=n, cutoff=cutoff)
