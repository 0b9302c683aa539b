"""The project's lock is taken to write, and not while anything judges: others edit meanwhile without waiting."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders
from bae_source.state.lock import is_held_now

FILES = {f"{name}.py": "def f():\n    return 1\n" for name in ("one", "other", "third")}
JUDGED = 2.0
"""Seconds that a command judges."""


def edit(root: Path, module: str, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bae_source", "edit", f"{module}.f", "--old", "1", "--new", "2", *words]
    return subprocess.Popen([*command, "--reload", "off", "--root", str(root)], stdout=subprocess.DEVNULL)


def longest_held(lock: Path, *watched: subprocess.Popen[bytes]) -> float:
    """Look at a lock until processes end, and return for how many seconds it was held the longest."""
    since, longest = None, 0.0
    while any(process.poll() is None for process in watched):
        is_locked, now = is_held_now(lock), time.monotonic()
        since = (since or now) if is_locked else None
        longest = max(longest, now - (since or now))
        time.sleep(0.001)
    return longest


def test_while_two_processes_judge_a_third_edits_and_the_lock_is_held_for_moments(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    for path, text in FILES.items():
        (root / path).write_text(text)
    lock = StateFolders(root, UserState(os.environ)).lock
    begun = [tmp_path / name for name in ("one", "other")]
    judging = [
        edit(root, mark.name, "--verify", f"command sh -c 'touch {mark}; exec sleep {JUDGED}'") for mark in begun
    ]
    while not all(mark.exists() for mark in begun):
        assert all(process.poll() is None for process in judging)
        time.sleep(0.01)
    third = edit(root, "third")
    longest = longest_held(lock, third)
    assert third.returncode == 0
    assert [process.poll() for process in judging] == [None, None], "it did not wait for them"
    changed = {path: text.replace("1", "2") for path, text in FILES.items()}
    assert {path: (root / path).read_text() for path in FILES} == {**FILES, "third.py": changed["third.py"]}
    longest = max(longest, longest_held(lock, *judging))
    assert [process.returncode for process in judging] == [0, 0]
    assert {path: (root / path).read_text() for path in FILES} == changed
    assert longest < JUDGED / 4, f"it was held for {longest:.3f} seconds"
