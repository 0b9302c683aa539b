"""Part C: the outline of a whole project, against the least that any engine must do, and how it grows with files."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

from msgspec import Struct

from bae_source import Source
from benchmarks import corpus
from benchmarks.read import ours
from benchmarks.read.goals import Goal, head, in_turn, ratios, show
from benchmarks.read.plain import walk
from benchmarks.read.processes import Cost, apart, run
from benchmarks.read.trees import grow

_COLD = 1.5
_WARM = 3.0
_TWO_PROCESSES = 0.8
_LINEAR = 1.25
_SIZES = (10_000, 50_000)
_PLAIN = Path(__file__).with_name("plain.py")
_WHOLE = ("outline", "--depth", "9", "--private")


def outlines(root: Path, *, rounds: int, trees: bool = True) -> bool:
    """Measure the outline of a project and of generated ones; return whether all goals are met.

    Parameters:
        root: a copy of the project without our state in it.
        rounds: how often the two sides take turns.
        trees: whether to generate projects of 10,000 and 50,000 files.
    """
    _cold(root)
    pairs = in_turn(rounds, lambda: (_cold(root), _warm(root)), lambda: (_plain("parse", root), _plain("walk", root)))
    _row("outline, cold", *(mine[0] for mine, _ in pairs))
    _row("read and parse, one process", *(least[0] for _, least in pairs))
    _row("outline, warm", *(mine[1] for mine, _ in pairs))
    _row("walk and stat", *(least[1] for _, least in pairs))
    goals = [
        Goal(
            what="cold, over reading and parsing every file in one process",
            ratios=ratios([(mine[0].wall, least[0].wall) for mine, least in pairs]),
            limit=_COLD,
        ),
        Goal(
            what="warm in a fresh process, over os.walk with stat",
            ratios=ratios([(mine[1].wall, least[1].wall) for mine, least in pairs]),
            limit=_WARM,
        ),
        Goal(what="warm in a live Source, over os.walk with stat", ratios=apart(_live, root, rounds), limit=_WARM),
        *_two_processes(root, rounds),
        *(_growth() if trees else ()),
    ]
    head("outline of the whole project (depth 9, private names too)")
    return show(goals)


def _cold(root: Path) -> Cost:
    ours.forget(root)
    return _warm(root)


def _warm(root: Path) -> Cost:
    return ours.ask(root, *_WHOLE)[0]


def _plain(what: str, root: Path) -> Cost:
    return run([sys.executable, str(_PLAIN), what, str(root)], cwd=root)[0]


def _live(root: Path, rounds: int) -> tuple[float, ...]:
    source = Source(root)
    source.outline(depth=9, private=True)

    def mine() -> float:
        began = time.perf_counter()
        source.outline(depth=9, private=True)
        return time.perf_counter() - began

    def least() -> float:
        began = time.perf_counter()
        walk(str(root))
        return time.perf_counter() - began

    return ratios(in_turn(rounds, mine, least))


def _two_processes(root: Path, rounds: int) -> list[Goal]:
    """Compare two processors with one, on which our engine starts no second process."""
    if not hasattr(os, "sched_setaffinity"):
        print("two processes against one: needs a system that can bind a process to a processor", flush=True)
        return []
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        print("two processes against one: needs two processors", flush=True)
        return []

    def on(count: int) -> Cost:
        os.sched_setaffinity(0, allowed[:count])  # children inherit it
        try:
            return _cold(root)
        finally:
            os.sched_setaffinity(0, allowed)

    pairs = in_turn(rounds, lambda: on(2), lambda: on(1))
    _row("outline, cold, two processors", *(two for two, _ in pairs))
    _row("outline, cold, one processor", *(one for _, one in pairs))
    measured = ratios([(two.wall, one.wall) for two, one in pairs])
    return [Goal(what="cold on two processors over one", ratios=measured, limit=_TWO_PROCESSES)]


class _Grown(Struct, frozen=True, kw_only=True):
    """The outline of a generated project: what it cost without and with a cache, and its size in MB."""

    files: int
    cold: Cost
    warm: Cost
    answer: float


def _growth() -> list[Goal]:
    """Outline generated projects; what a file costs must not grow with their number."""
    small, large = (_grown(files) for files in _SIZES)
    more = max(large.cold.peak - small.cold.peak, large.warm.peak - small.warm.peak)
    print(f"{'':<40}{more:.0f} MB more of memory for {large.answer - small.answer:.0f} MB more of answer", flush=True)
    cold = (large.cold.cpu / large.files) / (small.cold.cpu / small.files)
    warm = (large.warm.cpu / large.files) / (small.warm.cpu / small.files)
    return [
        Goal(what="CPU a file, cold, of 50,000 over 10,000", ratios=(cold,), limit=_LINEAR),
        Goal(what="CPU a file, warm, of 50,000 over 10,000", ratios=(warm,), limit=_LINEAR),
    ]


def _grown(files: int) -> _Grown:
    with tempfile.TemporaryDirectory() as folder:
        root = grow(Path(folder, "generated"), files)
        size = sum(path.stat().st_size for path in corpus.python_files(root))
        ours.let_age()
        cold, text = ours.ask(root, *_WHOLE)
        warm, _ = ours.ask(root, *_WHOLE)
    answer = len(text.encode()) / 1e6
    _row(f"{files:,} files of {size / files:.0f} bytes, cold", cold)
    _row(f"{files:,} files, warm", warm)
    each, again = (cost.cpu / files * 1e6 for cost in (cold, warm))
    print(f"{'':<40}CPU a file: {each:.0f} µs cold, {again:.0f} µs warm; the answer {answer:.1f} MB", flush=True)
    return _Grown(files=files, cold=cold, warm=warm, answer=answer)


def _row(name: str, *costs: Cost) -> None:
    wall, cpu, peak = (min(getattr(cost, field) for cost in costs) for field in ("wall", "cpu", "peak"))
    print(f"{name:<40}{wall:>7.2f} s wall{cpu:>8.2f} s CPU{peak:>8.0f} MB", flush=True)
