"""The plan of a rename in one form for all engines, and the kind of function that asks one for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from benchmarks.read.peers import Peers
from benchmarks.read.processes import Cost
from benchmarks.read.subjects import Place
from benchmarks.refactor.subjects import Renaming


class Planned(Struct, frozen=True, kw_only=True):
    """The plan of a rename.

    Parameters:
        places: that change.
        cost: of a fresh process until the complete plan.
        left: places that it names as unsure, and leaves.
    """

    places: frozenset[Place]
    cost: Cost
    left: frozenset[Place] = frozenset()


Asked = Callable[[Peers, Renaming, Path, float], Planned]
"""Asks one engine: the environment, for which rename, the project's folder, and the time limit in seconds."""
