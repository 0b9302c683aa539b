"""How several names stand in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from bae_source.model import listed as model

_MOST = 10


def listed(names: Sequence[str]) -> str:
    """Return names with commas, and how many more there are behind the tenth."""
    return model.listed(names, _MOST)
