"""Part B: what the same references cost, ours and ty's in turn; the other engines once, for orientation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from bae_source import Source
from benchmarks.read import ours
from benchmarks.read.goals import Goal, head, in_turn, ratios, show
from benchmarks.read.peers import PEERS, Answer, Peers, ty, ty_warm
from benchmarks.read.processes import Cost, Failed, TooSlow, apart
from benchmarks.read.subjects import SUBJECTS, Subject

_COLD_WALL = 1.0
_COLD_CPU = 0.75
_WARM_WALL = 0.25
_LIVE = 1.5
_LIVE_ROUNDS = 5


def timings(
    root: Path, peers: Peers, *, rounds: int, skip: set[str], limit: float, subjects: Sequence[Subject] = SUBJECTS
) -> bool:
    """Measure the references of every subject; return whether all goals are met.

    Parameters:
        root: a copy of the project without our state in it.
        rounds: how often the engines take turns.
        skip: engines that are left out of the orientation.
        limit: seconds that a peer has for one answer.
        subjects: what is asked for.
    """
    _orientation(root, peers, subjects, skip={*skip, "ty"}, limit=limit)
    goals = [goal for subject in subjects for goal in _against_ty(root, peers, subject, rounds, limit)]
    head("references, ours over ty")
    return show(goals)


def _orientation(root: Path, peers: Peers, subjects: Sequence[Subject], *, skip: set[str], limit: float) -> None:
    """Print what the slower engines take, once."""
    for name, asked in PEERS.items():
        for subject in subjects if name not in skip else ():
            try:
                answer = asked(peers, subject, root, limit)
            except (TooSlow, Failed) as error:
                print(f"{name:<18}{subject.name:<22}{error}", flush=True)
            else:
                _row(name, subject, answer.cost)


def _against_ty(root: Path, peers: Peers, subject: Subject, rounds: int, limit: float) -> list[Goal]:
    ours.references_cold(root, subject.target)  # fills the bytecode cache, and the system's cache of files

    def one() -> tuple[Cost, Cost]:
        return ours.references_cold(root, subject.target), ours.references_warm(root, subject.target)

    def other() -> Answer:
        return ty(peers, subject, root, limit)

    pairs = in_turn(rounds, one, other)
    live = apart(_live, root, peers, subject, rounds, limit)
    cold = [(mine, answer.cost) for (mine, _), answer in pairs]
    _row("ours, cold", subject, *(mine for mine, _ in cold))
    _row("ours, warm", subject, *(mine for (_, mine), _ in pairs))
    _row("ty, cold", subject, *(answer.cost for _, answer in pairs))
    _warm_row(subject, live)
    name = subject.name
    return [
        Goal(what=f"{name}: cold, wall", ratios=ratios([(m.wall, p.wall) for m, p in cold]), limit=_COLD_WALL),
        Goal(what=f"{name}: cold, CPU", ratios=ratios([(m.cpu, p.cpu) for m, p in cold]), limit=_COLD_CPU),
        Goal(
            what=f"{name}: warm cache, fresh process, over cold ty, wall",
            ratios=ratios([(mine.wall, answer.cost.wall) for (_, mine), answer in pairs]),
            limit=_WARM_WALL,
        ),
        Goal(what=f"{name}: warm in a live Source, over a warm request", ratios=ratios(live), limit=_LIVE),
    ]


def _live(root: Path, peers: Peers, subject: Subject, rounds: int, limit: float) -> list[tuple[float, float]]:
    """Return the seconds of warm answers: of a live Source, and of a running ty."""
    source = Source(root)
    source.references(subject.target)

    def mine() -> float:
        began = time.perf_counter()
        source.references(subject.target)
        return time.perf_counter() - began

    requests = ty_warm(peers, subject, root, limit)
    next(requests)  # starts the server
    try:
        return in_turn(rounds * _LIVE_ROUNDS, mine, lambda: next(requests))
    finally:
        requests.close()


def _row(name: str, subject: Subject, *costs: Cost) -> None:
    """Print the cheapest of several runs, column by column."""
    wall, cpu, peak = (min(getattr(cost, field) for cost in costs) for field in ("wall", "cpu", "peak"))
    print(f"{name:<18}{subject.name:<22}{wall:>7.2f} s wall{cpu:>8.2f} s CPU{peak:>8.0f} MB", flush=True)


def _warm_row(subject: Subject, live: list[tuple[float, float]]) -> None:
    mine, its = (min(column) * 1000 for column in zip(*live, strict=True))
    print(f"{'warm, live':<18}{subject.name:<22}{mine:>7.1f} ms ours{its:>7.1f} ms ty", flush=True)
