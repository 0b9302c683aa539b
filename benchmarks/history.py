"""What the history costs when there is a lot of it: recording, undoing, listing, pruning with 10,000 operations.

The history is made by recording in one stream, so that making it takes seconds; then single operations are handed to it
as transactions do, and every request is planned by a fresh `History`, as a command of its own would do it. Whoever
reads it first makes a commit of each that waits.

    python -m benchmarks.history [--operations N] [--rounds N]

Prints medians and the longest, in milliseconds, and whether the targets are met: a record 25 ms, the undo of the last
operation 300 ms. GitPython is imported before the clock starts; its import is paid once a process, by reading only.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import git  # noqa: F401  # paid for before anything is measured

from bae_source.history.record.entry import Entry, TouchedFile
from bae_source.history.record.git import REF, Repository
from bae_source.history.record.history import History, Limits
from bae_source.history.record.stream import commit_of
from bae_source.history.travel.commands import Undo
from bae_source.history.travel.undoing import plan
from bae_source.model.changeset import Contents, digest

FILES = 300
RARE = 5
PATH = os.environ.get("PATH", os.defpath)
TARGETS = {"record": 25.0, "plan the undo of the last": 300.0}


def operation(number: int) -> tuple[Entry, Contents, Contents]:
    """Return the edit of a file of about 2 KB; one of them is a rare caller's."""
    name = f"app.module_{number % FILES}"
    path = name.replace(".", "/") + ".py"
    before = f"def send():\n    return {number}\n".encode() + b"# filled\n" * 200
    after = before.replace(b"return", b"return 1 +")
    touched = TouchedFile(path=path, name=name, before=digest(before), after=digest(after))
    entry = Entry(
        id=f"op_{number:012x}",
        kind="change",
        who="rare" if number == RARE else "agent",
        when="2026-11-21T12:00:00+00:00",
        why="because",
        request={"do": "edit", "target": f"{name}.send", "new_source": "x" * 500},
        summary=f"Edited {name}.send.",
        files=(touched,),
        changed=(f"{name}.send",),
    )
    return entry, {path: before}, {path: after}


def seeded(folder: Path, operations: int) -> None:
    """Make a history of so many operations."""
    stream = b"".join(commit_of(REF, *operation(number), parent=None) for number in range(operations))
    Repository(folder, PATH).write(stream, operations)


def measured(folder: Path, operations: int, rounds: int) -> dict[str, list[float]]:
    """Return milliseconds by what was done."""

    def fresh() -> History:
        return History(folder, search_path=PATH, limits=lambda: Limits(megabytes=10_000, operations=10_000_000))

    history, last = fresh(), operations + rounds - 1
    after = operation(last)[2]
    tasks: dict[str, Callable[[], object]] = {
        "plan the undo of the last": lambda: plan(Undo(), fresh(), "agent", lambda path, _: after[path]),
        "plan the undo of the rare one": lambda: plan(
            Undo(), fresh(), "rare", lambda path, _: operation(RARE)[2][path]
        ),
        "list 20": lambda: fresh().entries(20),
        "list all": lambda: fresh().entries(),
        "find the oldest by its id": lambda: fresh().entry(f"op_{0:012x}"),
    }
    found: dict[str, list[float]] = {"record": [], "list 20, one of them waiting": []}
    for number in range(operations, last + 1):
        found["record"].append(_timed(partial(history.record, *operation(number))))
        if number % 10 == 0:
            found["list 20, one of them waiting"].append(_timed(lambda: fresh().entries(20)))
    fresh().entries(1)
    for name, task in tasks.items():
        found[name] = [_timed(task) for _ in range(max(3, rounds // 20))]
    kept = {entry.id for entry in fresh().entries(operations // 10)}
    found[f"prune to {operations // 10}"] = [_timed(lambda: fresh().prune(lambda entry: entry.id in kept))]
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return 0 if the targets are met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--operations", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=200)
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "history.git"
        seeded(repository, given.operations)
        found = measured(repository, given.operations, given.rounds)
    missed = [name for name, limit in TARGETS.items() if statistics.median(found[name]) > limit]
    print(f"{given.operations:,} operations, in milliseconds")
    for name, times in found.items():
        print(f"{name:<32} median {statistics.median(times):8.1f}   longest {max(times):8.1f}")
    print(f"missed: {', '.join(missed)}" if missed else "targets met")
    return 1 if missed else 0


def _timed(task: Callable[[], object]) -> float:
    begun = time.perf_counter()
    task()
    return (time.perf_counter() - begun) * 1e3


if __name__ == "__main__":
    sys.exit(main())
