"""Trials of `benchmarks.crash` in a small process: they fork hundreds of times, and one that has all tests is large."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path
from types import TracebackType

from benchmarks.crash.arena import Arena
from tests.durable import make_nothing_durable


class Trials:
    """Arenas in a process of their own.

    Parameters:
        folder: where they are made.

    Attributes:
        verdicts: how often each was given, of all arenas.
        bad: every bad verdict, of all arenas.
    """

    def __init__(self, folder: Path) -> None:
        self.verdicts: Counter[str] = Counter()
        self.bad: list[str] = []
        self._folders = (folder / str(number) for number in count())
        self._process = ProcessPoolExecutor(
            1, mp_context=multiprocessing.get_context("spawn"), initializer=make_nothing_durable
        )

    def __enter__(self) -> Trials:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.shutdown()

    def run(self, tried: Callable[..., int], *given: object, **options: object) -> int:
        """Call a function of the benchmark with an arena in front; return how many trials it says there were."""
        number, verdicts, bad = self._process.submit(_run, next(self._folders), tried, given, options).result()
        self.verdicts += verdicts
        self.bad += bad
        return number


def _run(
    folder: Path, tried: Callable[..., int], given: tuple[object, ...], options: dict[str, object]
) -> tuple[int, Counter[str], list[str]]:
    folder.mkdir()
    with Arena(folder) as arena:
        return tried(arena, *given, **options), arena.verdicts, arena.bad
