"""Our own plans of a rename, by the Python API, in a process of their own.

    python -m benchmarks.refactor.ours ROOT TARGET NEW            one plan without a cache, and the peak of memory
    python -m benchmarks.refactor.ours ROOT TARGET NEW --warm     in one process, after a first plan: plans, references
                                                                  of the symbol, and two parses of the changed files

Prints one JSON object. Nothing is written but our own cache.
"""

from __future__ import annotations

import ast
import json
import os
import resource
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bae_source import Source

_STATE = ".bae-source"
_ROUNDS = 5


def main() -> None:
    """Plan, and print the plan or what was measured."""
    root, target, new = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    if "--warm" in sys.argv:
        print(json.dumps(warm(root, target, new)))
    else:
        shutil.rmtree(root / _STATE, ignore_errors=True)
        diff = planned(Source(root), target, new)
        print(json.dumps({"diff": diff, "peak": _peak()}))


def planned(source: Source, target: str, new: str) -> str:
    """Return the diff of a dry run that leaves unsure places."""
    return source.rename(target, new, unsure="leave", dry_run=True).diff


def warm(root: Path, target: str, new: str) -> dict[str, float]:
    """Return the median seconds of plans, of references, and of two parses of each file that a plan changes."""
    source = Source(root)
    diff = planned(source, target, new)
    names = {line.removeprefix("diff --git a/").partition(" b/")[0] for line in diff.split("\n") if line[:5] == "diff "}
    contents = [(root / name).read_bytes() for name in sorted(names) if name.endswith(".py")]
    source.references(target)
    rows = [
        (
            _seconds(lambda: planned(source, target, new)),
            _seconds(lambda: source.references(target)),
            _seconds(lambda: [(ast.parse(content), ast.parse(content)) for content in contents]),
        )
        for _ in range(_ROUNDS)
    ]
    rename, references, parses = ([row[column] for row in rows] for column in range(3))
    medians = {"rename": rename, "references": references, "parses": parses}
    found = {name: statistics.median(cpu for cpu, _ in row) for name, row in medians.items()}
    return {**found, "wall": statistics.median(wall for _, wall in rename)}


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
