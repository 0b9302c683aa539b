"""What a transaction costs against the bare durable writes of the same files, and what the history adds.

- *bare*: for each file a temporary file beside it, written and made durable, renamed onto it, and the folder made
  durable; nothing is compared, nothing can be taken back;
- *transaction*: the same changes by `Transactions.commit`, with a verifier that accepts everything and no history; of
  one file also with one that judges, which has the commit mark made durable before it is done;
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

CASES = ((1, False, 2.0), (1, True, 2.0), (10, False, None), (100, False, 1.3))
"""How many files, whether the verifier judges them, and the limit."""
HISTORY_LIMIT = 25.0
PROJECTS = (20, 5000)
_CONTENT = b"value = 1\n" * 500


class Accepting:
    """A verifier that accepts everything.

    Parameters:
        judged: whether it says that it judges, so that one file needs a durable commit mark as several do.
    """

    def __init__(self, *, judged: bool = False) -> None:
        self._judged = judged

    def prepare(self, *_: object) -> bool:
        """Look at nothing."""
        return False

    def judges(self) -> bool:
        """Say whether it does."""
        return self._judged

    def verify(self) -> tuple[()]:
        """Accept."""
        return ()

    def roll_back(self) -> None:
        """Take back nothing."""


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
    for files, judged, limit in CASES:
        root = folder / f"writes{files}{judged}"
        paths = lay_out(root, files)
        transactions = made(root, NoHistory())
        pairs = []
        for turn in range(max(8, repeats // files)):
            new = dict.fromkeys(paths, _CONTENT + b"# %d\n" % turn)
            old = {path: (root / path).read_bytes() for path in paths}
            ours = milliseconds(partial(commit, transactions, planned(old, new), judged=judged))
            pairs.append((ours, milliseconds(partial(bare, root, new))))
        ratio = statistics.median(ours / theirs for ours, theirs in pairs)
        verdict = "" if limit is None else f", limit {limit}: {'met' if ratio <= limit else 'MISSED'}"
        met = met and (limit is None or ratio <= limit)
        ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
        which = f"{files:4} files{', judged' if judged else '':8}"
        print(f"{which}: transaction {ours:7.2f} ms, bare {theirs:7.2f} ms, ratio {ratio:.2f}{verdict}")
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


def commit(transactions: Transactions, plan: Plan, *, judged: bool = False) -> None:
    """Make a change."""
    transactions.commit(plan, verifier=Accepting(judged=judged), who="benchmark", why="", request={})


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
