"""`kill -9` at random moments: of a process that changes files, and of the one that recovers after it.

Two doors: `commit`, where a forked process hands a plan to the transactions, and `apply`, where it is the command line
with a file of changes. Processes are forked from one that has everything imported, so that the moments fall into the
work and not into the start of Python; `apply` also starts some from nothing.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bae_source.adapters.cli.cli import main as command_line
from bae_source.history.record.history import History
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders
from bae_source.transaction.disk.port import RealDisk
from benchmarks.crash.arena import Arena
from benchmarks.crash.scenario import Scenario, commit, dressed, scenario, transactions

_SAMPLE = 7
_AGAIN = 0.35
_EXTRA = 1.15


def kill_commits(arena: Arena, kills: int, seed: int) -> int:
    """Kill so many commits; return how many of them were dead before they had finished."""
    chance, done, early = random.Random(seed), 0, 0
    while done < kills:
        made = scenario(chance.randrange(1 << 30))
        if chance.random() < 0.3:
            made = dressed(made, chance)
        if not made.size:
            continue
        usual = _usual(arena, made)
        for _ in range(min(20, kills - done)):
            done += 1
            root = arena.reset(made)
            action = partial(commit, root, made, RealDisk())
            early += _killed(action, chance.uniform(0, usual * _EXTRA))
            _recover(arena, chance)
            arena.judge(made, f"commit of {made.size} files")
    return early


def kill_applies(arena: Arena, kills: int, seed: int, *, fresh: bool = False) -> int:
    """Kill so many `apply` commands; return how many of them were dead before they had finished.

    Parameters:
        fresh: whether each is started from nothing instead of being forked.
    """
    chance, done, early = random.Random(seed), 0, 0
    while done < kills:
        files = chance.choice((1, 1, 2, 5, 10, 20))
        made, changes = _changes(arena.root.with_name("model"), files)
        usual = _usual_apply(arena, made, changes, fresh=fresh)
        for _ in range(min(25, kills - done)):
            done += 1
            root = arena.reset(made)
            after = chance.uniform(0, usual * _EXTRA)
            early += _killed_command(_words(root, changes), after) if fresh else _killed(_apply(root, changes), after)
            _recover(arena, chance)
            verdict = arena.judge(made, f"apply to {files} files")
            _check_history(arena, verdict, f"apply to {files} files")
    return early


def _usual(arena: Arena, made: Scenario) -> float:
    """Return how long the change usually takes."""
    seconds = []
    for _ in range(_SAMPLE):
        root = arena.reset(made)
        seconds.append(_time(partial(commit, root, made, RealDisk())))
        arena.judge(made, "undisturbed", allowed=("after",))
    return statistics.median(seconds)


def _usual_apply(arena: Arena, made: Scenario, changes: Path, *, fresh: bool) -> float:
    seconds = []
    for _ in range(3):
        root = arena.reset(made)
        if fresh:
            seconds.append(_time(partial(subprocess.run, _words(root, changes), capture_output=True, check=True)))
        else:
            seconds.append(_time(partial(_killed, _apply(root, changes), None)))
        verdict = arena.judge(made, "undisturbed", allowed=("after",))
        _check_history(arena, verdict, "undisturbed")
    return statistics.median(seconds)


def _time(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def _killed(action: Callable[[], object], after: float | None) -> bool:
    """Do it in a forked process that is killed so many seconds after it began; say whether it was alive till then."""
    ready, go = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.write(go, b"!")
            action()
            status = 0
        finally:
            os._exit(status)
    os.read(ready, 1)
    os.close(ready)
    os.close(go)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _killed_command(words: Sequence[str], after: float) -> bool:
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after)
    child.kill()
    return child.wait() == -signal.SIGKILL


def _recover(arena: Arena, chance: random.Random) -> None:
    """Recover, at times after one or more recoveries that were killed as well."""
    while chance.random() < _AGAIN:
        _killed(transactions(arena.root).recover, chance.uniform(0, 0.004))
    arena.recover()


def _changes(model: Path, files: int) -> tuple[Scenario, Path]:
    """Make a project of so many modules and a file of changes to all of them; what comes of it, the engine says."""
    before = {
        "pyproject.toml": b'[project]\nname = "p"\nversion = "1"\n',
        **{
            f"pkg/m{number}.py": b"def f():\n    return %d\n\n\ndef g():\n    return f()\n" % number
            for number in range(files)
        },
        "pkg/__init__.py": b"",
    }
    shutil.rmtree(model, ignore_errors=True)
    for path, content in before.items():
        (model / path).parent.mkdir(parents=True, exist_ok=True)
        (model / path).write_bytes(content)
    requests = [
        {"do": "edit", "target": f"pkg.m{number}.f", "new_source": f"def f():\n    return {number} + 1\n"}
        for number in range(files)
    ]
    changes = model.with_suffix(".json")
    changes.write_text(json.dumps({"message": "add one", "requests": requests}))
    _apply(model, changes)()
    after = {path: (model / path).read_bytes() for path in before}
    return Scenario(before=before, after=after, origins={}), changes


def _apply(root: Path, changes: Path) -> Callable[[], object]:
    def run() -> None:
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
            command_line(_words(root, changes)[3:])

    return run


def _words(root: Path, changes: Path) -> list[str]:
    return [sys.executable, "-m", "bae_source", "apply", str(changes), "--root", str(root), "--reload", "off"]


def _check_history(arena: Arena, verdict: str, about: str) -> None:
    """Make sure that what was made is recorded once, and nothing else is."""
    folders = StateFolders(arena.root, UserState(os.environ))
    history = History(
        folders.history, project=folders.project, search_path=os.environ["PATH"], state_id=lambda: folders.id
    )
    recorded = len(history.entries())
    if recorded != (verdict == "after"):
        arena.bad.append(f"{about}: {verdict}, and {recorded} operations are recorded")
