"""What a transaction costs against the bare durable writes of the same files, and what the history adds.

- *bare*: for each file a temporary file beside it, written and made durable, renamed onto it, and the folder made
  durable; nothing is compared, nothing can be taken back;
- *transaction*: the same changes by `Transactions.commit`, with nothing to load and no history;
- *history*: the same once more with our history on.

The two take turns, and each pair gives one ratio (or difference); the median counts.

    python -m benchmarks.transaction [--repeats 60]

Prints a table, and whether the targets are met: 2.0 times bare for 1 file, 1.3 times for 100, and at most 25 ms more
with history, in a project of 20 files and in one of 5,000.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from bae_source.history.record.history import History
from bae_source.model.changeset import between
from bae_source.model.plan import Plan
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders
from bae_source.transaction.commit.transaction import Transactions
from benchmarks.crash.scenario import Nothing

CASES = ((1, 2.0), (10, None), (100, 1.3))
"""How many files, and the limit."""
HISTORY_LIMIT = 25.0
PROJECTS = (20, 5000)
_CONTENT = b"value = 1\n" * 500


class NoHistory:
    """A history that keeps nothing; one that refused would have the change wait elsewhere, which takes three syncs."""

    def record(self, *_: object) -> None:
        """Keep nothing."""


def main() -> int:
    """Measure and print; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--folder", default=None, help="where projects are made; the usual place if left out")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="transaction-", dir=asked.folder) as folder:
        met = [_writes(Path(folder), asked.repeats), _history(Path(folder), asked.repeats)]
    return 0 if all(met) else 1


def _writes(folder: Path, repeats: int) -> bool:
    met = True
    for files, limit in CASES:
        root = folder / f"writes{files}"
        paths = lay_out(root, files)
        transactions = made(root, NoHistory())
        pairs = []
        for turn in range(max(8, repeats // files)):
            new = dict.fromkeys(paths, _CONTENT + b"# %d\n" % turn)
            old = {path: (root / path).read_bytes() for path in paths}
            ours = milliseconds(partial(commit, transactions, planned(old, new)))
            pairs.append((ours, milliseconds(partial(bare, root, new))))
        ratio = statistics.median(ours / theirs for ours, theirs in pairs)
        verdict = "" if limit is None else f", limit {limit}: {'met' if ratio <= limit else 'MISSED'}"
        met = met and (limit is None or ratio <= limit)
        ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"{files:4} files: transaction {ours:7.2f} ms, bare {theirs:7.2f} ms, ratio {ratio:.2f}{verdict}")
    return met


def _history(folder: Path, repeats: int) -> bool:
    met = True
    for size in PROJECTS:
        root = folder / f"history{size}"
        path, *_ = lay_out(root, size)
        folders = StateFolders(root, UserState(os.environ))
        without = made(root, NoHistory())
        recording = made(
            root, History(folders.history, search_path=os.environ["PATH"], state_id=partial(getattr, folders, "id"))
        )
        more = []
        for turn in range(repeats):
            times: list[float] = []
            for transactions in (without, recording):
                old = {path: (root / path).read_bytes()}
                new = {path: _CONTENT + b"# %d %d\n" % (turn, len(times))}
                times.append(milliseconds(partial(commit, transactions, planned(old, new))))
            more.append(times[1] - times[0])
        added = statistics.median(more)
        met = met and added <= HISTORY_LIMIT
        verdict = "met" if added <= HISTORY_LIMIT else "MISSED"
        print(f"history in a project of {size:4} files: {added:.1f} ms more, limit {HISTORY_LIMIT:.0f}: {verdict}")
    return met


def lay_out(root: Path, files: int) -> list[str]:
    """Make a project of so many files, in four folders, and return their paths."""
    paths = [f"pkg{number % 4}/m{number}.py" for number in range(files)]
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(_CONTENT)
    return paths


def made(root: Path, history: Any) -> Transactions:
    """Return the transactions of a project."""
    numbers = count()
    return Transactions(
        root,
        folders=StateFolders(root, UserState(os.environ)),
        history=history,
        clock=lambda: datetime.now(UTC),
        new_id=lambda: f"op_{next(numbers):012x}",
    )


def planned(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Plan:
    """Return a change; to plan is another half's work."""
    return Plan(changes=between(old, new), changed=(), modules=(), summary="measure")


def commit(transactions: Transactions, plan: Plan) -> None:
    """Make a change."""
    transactions.commit(plan, loader=Nothing(), who="benchmark", why="", request={})


def bare(root: Path, new: Mapping[str, bytes]) -> None:
    """Write files, each whole and durable, and keep nothing to take them back with."""
    for path, content in new.items():
        folder = os.open((root / path).parent, os.O_RDONLY | os.O_DIRECTORY)
        name = path.rpartition("/")[2]
        file = os.open(f"{name}.new", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=folder)
        os.write(file, content)
        os.fsync(file)
        os.close(file)
        os.replace(f"{name}.new", name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
        os.close(folder)


def milliseconds(action: Callable[[], object]) -> float:
    """Return how long something takes."""
    begun = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - begun)


if __name__ == "__main__":
    sys.exit(main())
