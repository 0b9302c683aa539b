"""How long `pending`, `show` and `approve` take as processes, with many changes that wait.

`approve` is typed at a terminal of its own: the time to the question, and the time from the code to the end. Bytecode
is cached, as it is for a command that is run twice.

    python -m benchmarks.pending [--proposals 10000] [--runs 7]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from bae_source.approval.plans import Plans
from bae_source.approval.proposals import Risk
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders
from tests.approval.terminal import at_terminal

TARGET = 300
_LEVELS = ("low", "medium", "high")


def main() -> int:
    """Measure and print; 1 if the target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--proposals", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"XDG_STATE_HOME": f"{folder}/state", "XDG_CONFIG_HOME": f"{folder}/config", "USER": "bot"}
        root = Path(folder, "project")
        tasks = [_proposed(root, number) for number in range(given.runs)]
        _fill(root, given.proposals - len(tasks), tasks[0])
        pending = _median(given.runs, lambda _: _run(root, "pending"))
        print(f"{given.proposals} wait; each the median of {given.runs} runs, in ms")
        print(f"pending            {pending:.0f}  (target {TARGET})")
        print(f"pending --limit 20 {_median(given.runs, lambda _: _run(root, 'pending', '--limit', '20')):.0f}")
        print(f"show               {_median(given.runs, lambda number: _run(root, 'show', tasks[number])):.0f}")
        print(f"propose            {_median(given.runs, lambda number: _timed(lambda: _proposed(root, number))):.0f}")
        asked = [_approved(root, task) for task in tasks]
        print(f"approve, question  {statistics.median(first for first, _ in asked) * 1000:.0f}")
        print(f"approve, made      {statistics.median(second for _, second in asked) * 1000:.0f}  after the code")
    return 0 if pending <= TARGET else 1


def _proposed(root: Path, number: int) -> str:
    """Propose a change of a module of its own, and return its name."""
    module = root / "app" / f"m{number}.py"
    module.parent.mkdir(parents=True, exist_ok=True)
    (root / "pyproject.toml").write_text('[project]\nname = "app"\nversion = "1"\n')
    (module.parent / "__init__.py").touch()
    module.write_text("LIMIT = 3\n")
    words = ("edit", f"app.m{number}.LIMIT", "--old", "3", "--new", "4", "--propose", "to measure it", "--quiet")
    done = subprocess.run(_line(root, *words), capture_output=True, text=True, check=False)
    return next(word.rstrip(",") for word in done.stdout.split() if word.startswith("code_mod_"))


def _fill(root: Path, count: int, model: str) -> None:
    """Keep more proposals like one, as those before them were kept."""
    plans = Plans(StateFolders(root, UserState(os.environ)))
    proposal = plans.get(model)
    for number in range(count):
        risk = Risk(level=_LEVELS[number % 3])
        plans.add(replace(proposal, id=f"code_mod_{number:08x}", digest=f"{number:064x}", risk=risk, notified=True))


def _approved(root: Path, task: str) -> tuple[float, float]:
    begun = time.perf_counter()
    with at_terminal(("approve", task, "--who", "ana"), root) as person:
        person.reads("to approve exactly this")
        asked = time.perf_counter()
        person.types(person.code)
        assert person.ends() == 0, person.shown
    return asked - begun, time.perf_counter() - asked


def _line(root: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "bae_source", *words, "--root", str(root)]


def _run(root: Path, *words: str) -> float:
    return _timed(lambda: subprocess.run(_line(root, *words), check=True, stdout=subprocess.DEVNULL))


def _timed(do: Callable[[], object]) -> float:
    begun = time.perf_counter()
    do()
    return time.perf_counter() - begun


def _median(runs: int, measure: Callable[[int], float]) -> float:
    measure(0)
    return statistics.median(measure(number) for number in range(runs)) * 1000


if __name__ == "__main__":
    raise SystemExit(main())
