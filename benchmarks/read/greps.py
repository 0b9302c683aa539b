"""Part D: `grep` against `git grep`, on the same patterns and with the same number of hits.

`git grep` searches the files that git tracks, so the copy of the project becomes a repository of its own, which is
made without the user's settings, hooks and identity. Both search the Python files alone.

Goals count a request of a live `Source`, as a session, a server or a program asks it, against a whole `git grep`, which
starts within a millisecond. A command of ours takes longer to start than git takes to find a plain word, so whole
processes are measured too, and printed: with their start, and what is left without the start, each over git.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bae_source import Source
from benchmarks.read import ours
from benchmarks.read.goals import Goal, head, in_turn, ratios, show
from benchmarks.read.processes import Cost, apart, run

_LIMIT = 3.0
_LIVE_ROUNDS = 5
_PATTERNS = ("mark_safe", r"def get_\w+_display\b", r"class \w+\(models\.Model\)", "no_such_word_in_it")
"""Each means the same to Python and to git; a rare word, regular expressions with few and with many hits, and none."""

ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "benchmark",
    "GIT_AUTHOR_EMAIL": "benchmark@invalid",
    "GIT_COMMITTER_NAME": "benchmark",
    "GIT_COMMITTER_EMAIL": "benchmark@invalid",
}


def greps(root: Path, *, rounds: int) -> bool:
    """Measure every pattern; return whether all goals are met.

    Parameters:
        root: a copy of the project, which is made a repository.
        rounds: how often the two take turns.
    """
    repository(root)
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder).resolve()
        (empty / "one.py").write_bytes(b"")
        goals = [goal for pattern in _PATTERNS for goal in _pattern(root, empty, pattern, rounds)]
    head("grep over git grep")
    return show(goals)


def _pattern(root: Path, empty: Path, pattern: str, rounds: int) -> list[Goal]:
    def mine() -> tuple[Cost, int]:
        cost, out = ours.ask(root, "grep", pattern, "--no-data")
        return cost, 0 if out.strip() == "(no matches)" else len(out.splitlines())

    def start() -> Cost:
        return ours.ask(empty, "grep", pattern, "--no-data")[0]

    def its() -> tuple[Cost, int]:
        return _git(root, pattern)

    mine()
    start()
    rows = in_turn(rounds, lambda: (mine(), start()), its)
    pairs = [(each, other) for (each, _), other in rows]
    hits, its_hits = pairs[0][0][1], pairs[0][1][1]
    print(
        f"{pattern:<32}ours {_least([cost for (cost, _), _ in pairs])}, {hits} hits; "
        f"git {_least([cost for _, (cost, _) in pairs])}, {its_hits} hits",
        flush=True,
    )
    left = [(cost.wall - begun.wall) / its_cost.wall for ((cost, _), begun), (its_cost, _) in rows]
    whole = [cost.wall / its_cost.wall for (cost, _), (its_cost, _) in pairs]
    print(
        f"{'start-up alone':<32}ours {_least([begun for (_, begun), _ in rows])}; whole processes "
        f"{statistics.median(whole):.2f} times git, {statistics.median(left):.2f} without the start",
        flush=True,
    )
    live = apart(_live, root, pattern, rounds)
    print(f"{'a live Source':<32}ours {min(mine for mine, _ in live) * 1000:.0f} ms", flush=True)
    return [
        Goal(what=f"{pattern}, a request, wall", ratios=ratios(live), limit=_LIMIT),
        Goal(what=f"{pattern}, difference in hits", ratios=(abs(hits - its_hits),), limit=0),
    ]


def _live(root: Path, pattern: str, rounds: int) -> list[tuple[float, float]]:
    """Return the seconds of a live `Source` and of git; the first answer, which lists the project, is not counted."""
    source = Source(root)
    source.grep(pattern, data=False)

    def mine() -> float:
        began = time.perf_counter()
        source.grep(pattern, data=False)
        return time.perf_counter() - began

    return in_turn(rounds * _LIVE_ROUNDS, mine, lambda: _git(root, pattern)[0].wall)


def _git(root: Path, pattern: str) -> tuple[Cost, int]:
    command = ["git", "grep", "-n", "-E", "-e", pattern, "--", "*.py"]
    cost, out = run(command, cwd=root, environment=ENVIRONMENT, accepted=(0, 1))  # 1: nothing found
    return cost, len(out.splitlines())


def _least(costs: Sequence[Cost]) -> str:
    wall, cpu = (min(getattr(cost, field) for cost in costs) * 1000 for field in ("wall", "cpu"))
    return f"{wall:.0f} ms ({cpu:.0f} CPU)"


def repository(root: Path) -> None:
    """Make a folder a repository with all its files."""
    for words in (["init", "--quiet"], ["add", "--all", "--force"], ["commit", "--quiet", "--message", "as released"]):
        run(["git", *words], cwd=root, environment=ENVIRONMENT)
