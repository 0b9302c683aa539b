"""Ratios against a limit: how they are shown, and whether they are met.

What counts is the median of the ratios of runs that took turns, so that a slow moment of the machine meets both; the
least ratio is shown beside it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

A = TypeVar("A")
B = TypeVar("B")


class Goal(Struct, frozen=True, kw_only=True):
    """Something to reach.

    Parameters:
        what: in a few words.
        ratios: what was measured, each the ratio of one pair.
        limit: what their median may be at most.
    """

    what: str
    ratios: tuple[float, ...]
    limit: float

    @property
    def met(self) -> bool:
        """Whether the median stays within the limit."""
        return statistics.median(self.ratios) <= self.limit


def show(goals: Iterable[Goal]) -> bool:
    """Print a line for each goal; return whether all are met."""
    shown = list(goals)
    for goal in shown:
        least, median = min(goal.ratios), statistics.median(goal.ratios)
        verdict = "met" if goal.met else "MISSED"
        print(f"  {goal.what:<64}{least:>8.2f}{median:>8.2f}{goal.limit:>8.2f}  {verdict}", flush=True)
    return all(goal.met for goal in shown)


def head(title: str) -> None:
    """Print the head of a table of goals."""
    print(f"\n{title:<66}{'min':>8}{'median':>8}{'limit':>8}", flush=True)


def in_turn(rounds: int, one: Callable[[], A], other: Callable[[], B]) -> list[tuple[A, B]]:
    """Run two things in turn, so many rounds; the order changes with each round."""
    pairs: list[tuple[A, B]] = []
    for number in range(rounds):
        if number % 2:
            second = other()
            pairs.append((one(), second))
        else:
            pairs.append((one(), other()))
    return pairs


def ratios(pairs: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    """Return the first of each pair over the second."""
    return tuple(one / other for one, other in pairs)
