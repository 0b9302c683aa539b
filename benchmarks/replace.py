"""Replacing text and rewriting code in all of django, against finding the same.

- *rewrite*: planned and checked, against `find` of the same pattern; both are requests of a live `Source`.
- *replace*: a word in all text files, planned with its checks and its diff, and made; against `git grep -l` and a write
  of each file that it names.

    python -m benchmarks.replace

Prints a table and whether the targets are met: a rewrite at most 2 times the search, a replacement as planned at most 3
times git and the writes. What it takes to make one has no target: it is journalled, and each file is synced.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bae_source import Source
from benchmarks import corpus
from benchmarks.read.goals import Goal, head, in_turn, ratios, show
from benchmarks.read.greps import ENVIRONMENT, repository
from benchmarks.read.processes import run

REWRITES = (
    ("timezone.now()", "timezone.localtime()"),
    ("mark_safe($X)", "mark_safe($X, None)"),
    ("cursor.execute($X)", "cursor.run($X)"),
)
WORDS = ("deprecated", "assertNumQueries")
_REWRITE, _REPLACE = 2.0, 3.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table; 1 if a target is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.replace", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often both take turns [5]")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        shutil.copytree(next(path for name, path in corpus.packages() if name.startswith("django")), root)
        repository(root)
        goals = [rewriting(root, *each, rounds=options.rounds) for each in REWRITES]
        goals += [replacing(root, word, rounds=options.rounds) for word in WORDS]
    head("rewrite over find, replace over git grep and writing")
    return 0 if show(goals) else 1


def rewriting(root: Path, pattern: str, replacement: str, *, rounds: int) -> Goal:
    """Return how long a rewrite takes to be planned, over the search for its places."""
    source = Source(root)

    def mine() -> float:
        return seconds(lambda: source.rewrite(pattern, replacement, dry_run=True, reload="off", unsure="leave"))

    def search() -> float:
        return seconds(lambda: source.find(pattern))

    places = len(source.find(pattern).outcome.found)
    mine()
    return Goal(
        what=f"rewrite {pattern}, {places} places", ratios=ratios(in_turn(rounds, mine, search)), limit=_REWRITE
    )


def replacing(root: Path, word: str, *, rounds: int) -> Goal:
    """Return how long a replacement takes, planned and made, over git and a plain write of each file."""
    source = Source(root)

    def planned() -> float:
        return seconds(lambda: source.replace(word, f"{word}X", word=True, dry_run=True, reload="off"))

    def made() -> float:
        spent = seconds(lambda: source.replace(word, f"{word}X", word=True, reload="off"))
        source.undo(reload="off")
        return spent

    def plainly() -> float:
        return seconds(lambda: plain(root, word))

    files = plain(root, word)
    planned()
    what = f"replace {word}, {files} files"
    pairs = in_turn(rounds, made, plainly)
    ours, its = (min(each) for each in zip(*pairs, strict=True))
    print(f"{what}: made in {ours:.2f} s, git and the writes {its:.2f} s")
    return Goal(what=f"{what}, planned", ratios=ratios(in_turn(rounds, planned, plainly)), limit=_REPLACE)


def plain(root: Path, word: str) -> int:
    """Have git name the files with a word, write each of them, and return how many there are."""
    _, out = run(["git", "grep", "-l", "-z", "-w", "-e", word], cwd=root, environment=ENVIRONMENT)
    names = [name for name in out.split("\0") if name]
    for name in names:
        path = root / name
        path.write_bytes(path.read_bytes().replace(word.encode(), word.encode()))
    return len(names)


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
