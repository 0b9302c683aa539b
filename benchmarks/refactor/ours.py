"""Our own plans of a rename, by the Python API, in a process of their own.

    python -m benchmarks.refactor.ours ROOT TARGET NEW            one plan without a cache, and the peak of memory
    python -m benchmarks.refactor.ours ROOT TARGET NEW --warm     in one process, after a first plan: plans, references
                                                                  of the symbol, and two parses of the changed files

Prints one JSON object. Nothing is written but our own cache.
"""

from __future__ import annotations

import ast
import gc
import json
import os
import resource
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bae_source import Outcome, Source

_STATE = ".bae-source"
_ROUNDS = 5


def main() -> None:
    """Plan, and print the plan or what was measured."""
    root, target, new = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    if "--warm" in sys.argv:
        print(json.dumps(warm(root, target, new)))
    else:
        shutil.rmtree(root / _STATE, ignore_errors=True)
        outcome = planned(Source(root), target, new)
        unsure = (outcome.report or {}).get("unsure", [])
        left = [(each["module"], each["line"], each["column"]) for each in unsure]
        print(json.dumps({"diff": outcome.diff, "left": left, "peak": _peak()}))


def planned(source: Source, target: str, new: str) -> Outcome:
    """Return the outcome of a dry run that leaves unsure places."""
    return source.rename(target, new, unsure="leave", dry_run=True)


def warm(root: Path, target: str, new: str) -> dict[str, float]:
    """Return the median seconds of plans, of references, and of two parses of each file that a plan changes.

    The garbage collector is off for the parses, as it is while we plan; `collected` are parses with it on.
    """
    source = Source(root)
    diff = planned(source, target, new).diff
    changed = {
        line.removeprefix("diff --git a/").partition(" b/")[0] for line in diff.split("\n") if line[:5] == "diff "
    }
    contents = [(root / name).read_bytes() for name in sorted(changed) if name.endswith(".py")]
    source.references(target)
    rows = [
        (
            _seconds(lambda: planned(source, target, new)),
            _seconds(lambda: source.references(target)),
            _seconds(lambda: _uncollected(lambda: _parse_twice(contents))),
            _seconds(lambda: _parse_twice(contents)),
        )
        for _ in range(_ROUNDS)
    ]
    names = ("rename", "references", "parses", "collected")
    medians = {name: [row[column] for row in rows] for column, name in enumerate(names)}
    found = {name: statistics.median(cpu for cpu, _ in row) for name, row in medians.items()}
    return {**found, "wall": statistics.median(wall for _, wall in medians["rename"])}


def _parse_twice(contents: Sequence[bytes]) -> None:
    for content in contents:
        ast.parse(content)
        ast.parse(content)


def _uncollected(call: Callable[[], object]) -> None:
    gc.disable()
    try:
        call()
    finally:
        gc.enable()


def _seconds(call: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of CPU and of wall clock that a call takes."""
    cpu, wall = time.process_time(), time.perf_counter()
    call()
    return time.process_time() - cpu, time.perf_counter() - wall


def _peak() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (own + worker * len(os.sched_getaffinity(0))) / 1024


if __name__ == "__main__":
    main()
