"""Kill, fail and cut off transactions in every way, and have the files judged.

    python -m benchmarks.crash                      everything, with 10,000 kills of `apply` and 2,000 of commits
    python -m benchmarks.crash --kills 500 --applies 100 --fresh 10 --scenarios 2

- *apply*, *fresh*, *commit*: `kill -9` at random moments of a change of 1 to 20 files, and of the recoveries after it:
  of the whole command line, forked or started from nothing, and of transactions that are handed a plan;
- *calls*: the change, its rollback and the recovery are killed before each call that changes anything and in the middle
  of each write, and each call fails with EIO, ENOSPC, EACCES, once or for ever;
- *modes*: the same, where files get other modes, with their bytes or without;
- *power*: a recorded change is replayed up to each call on a model of a disk, which then loses what is not durable.

Prints what was tried, the verdicts, how long recovery took, the longest one on a line of its own, and everything bad;
ends with 1 if there was anything bad, or if recovery took 100 ms or more at the 99th percentile. The longest is told
and not judged.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.crash import calls, kills, power
from benchmarks.crash.arena import Arena
from benchmarks.crash.scenario import Scenario, dressed, scenario

LIMIT = 0.100
_FILES = (1, 2, 4)
MODES = {"a.py": (0o644, 0o750)}


def main() -> int:
    """Run what is asked for and print what came of it."""
    asked = _arguments()
    begun, bad, seconds = time.monotonic(), 0, []
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="crash-", dir=asked.folder) as folder:
        for name, run in _parts(asked):
            with Arena(Path(folder)) as arena:
                report = run(arena)
            verdicts += arena.verdicts
            seconds += arena.seconds
            bad += len(arena.bad)
            print(f"{name:14} {report}; {_drawn(arena.verdicts)}; bad: {len(arena.bad)}", flush=True)
            for line in arena.bad[:20]:
                print(f"  {line}")
    print(f"{'all':14} {_drawn(verdicts)}; bad: {bad}; {time.monotonic() - begun:.0f} s")
    slow = _told_recovery(seconds)
    return 1 if bad or slow else 0


def _parts(asked: argparse.Namespace) -> list[tuple[str, Callable[[Arena], str]]]:
    """Return what is to be run, by name; each tells what it tried."""
    parts: list[tuple[str, Callable[[Arena], str]]] = []
    doors: tuple[tuple[str, int, Callable[[Arena, int, int], int]], ...] = (
        ("commit", asked.kills, kills.kill_commits),
        ("apply", asked.applies, kills.kill_applies),
        ("fresh", asked.fresh, partial(kills.kill_applies, fresh=True)),
    )
    parts += [(name, partial(_kill, kill, number, asked.seed)) for name, number, kill in doors if number]
    for number in range(asked.scenarios):
        seed = asked.seed + number
        parts.append((f"calls {seed}", partial(_calls, seed)))
        parts.append((f"modes {seed}", partial(_modes, seed)))
        parts.append((f"power {seed}", partial(_power, seed)))
    return parts


def _kill(kill: Callable[[Arena, int, int], int], number: int, seed: int, arena: Arena) -> str:
    early = kill(arena, number, seed)
    return f"{number} kills, {early} of them in the middle"


def _calls(seed: int, arena: Arena) -> str:
    made, chance = scenario(seed, _FILES[seed % len(_FILES)]), random.Random(seed)
    name = f"scenario {seed}"
    trials = 0
    trials += calls.kill_changes(arena, made, name)
    trials += calls.kill_changes(arena, made, name, rolls_back=True)
    trials += calls.kill_recoveries(arena, made, name, chance, 0.7)
    trials += calls.fail_changes(arena, made, name)
    trials += calls.fail_changes(arena, made, name, rolls_back=True)
    trials += calls.fail_recoveries(arena, made, name, chance, 0.5)
    return f"{trials} trials with {made.size} files"


def _modes(seed: int, arena: Arena) -> str:
    chance, trials = random.Random(seed), 0
    mode_alone = Scenario(before={"a.py": b"A = 1\n"}, after={"a.py": b"A = 1\n"}, origins={}, permissions=MODES)
    for made in (mode_alone, dressed(scenario(seed, 2), chance)):
        name = f"modes {seed}"
        trials += calls.kill_changes(arena, made, name)
        trials += calls.kill_changes(arena, made, name, rolls_back=True)
        trials += calls.kill_recoveries(arena, made, name, chance, 0.5)
        trials += calls.fail_changes(arena, made, name, share=0.5)
        trials += calls.fail_changes(arena, made, name, rolls_back=True, share=0.5)
        trials += calls.fail_recoveries(arena, made, name, chance, 0.3)
    return f"{trials} trials of files that get other modes"


def _power(seed: int, arena: Arena) -> str:
    made, chance = scenario(seed, _FILES[seed % len(_FILES)]), random.Random(seed)
    trials = power.cut_everywhere(arena, made, f"scenario {seed}", chance)
    trials += power.cut_everywhere(arena, made, f"scenario {seed}", chance, rolls_back=True)
    return f"{trials} trials with {made.size} files"


def _drawn(verdicts: Counter[str]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))


def _told_recovery(seconds: list[float]) -> bool:
    """Print how long recovery took; say whether that is too long."""
    if not seconds:
        return False
    ordered = sorted(seconds)
    marks = {f"p{percent}": ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] for percent in (50, 90, 99)}
    drawn = ", ".join(f"{name} {1000 * value:.1f}" for name, value in marks.items())
    print(f"{'recovery':14} {len(ordered)} times, ms: {drawn} (limit {1000 * LIMIT:.0f})")
    print(f"{'longest':14} {1000 * ordered[-1]:.1f} ms; {sum(value >= LIMIT for value in ordered)} beyond the limit")
    return marks["p99"] >= LIMIT


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash", description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=2_000, metavar="N", help="kills of commits")
    parser.add_argument("--applies", type=int, default=10_000, metavar="N", help="kills of forked apply commands")
    parser.add_argument(
        "--fresh", type=int, default=200, metavar="N", help="kills of apply commands started from nothing"
    )
    parser.add_argument("--scenarios", type=int, default=6, metavar="N", help="changes whose every call is tried")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="where the random numbers begin")
    parser.add_argument(
        "--folder", default=None, metavar="DIR", help="where projects are made; the usual place if left out"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
