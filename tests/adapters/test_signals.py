"""A command that is told to end, as every time limit of a caller does, leaves nothing of what it began."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = "X = 1\n"
HEEDING = "import os, signal, sys; signal.signal(int(sys.argv[1]), signal.SIG_DFL); os.execv(sys.argv[2], sys.argv[2:])"
"""Becomes another program that a signal ends, though the tests may run under nohup."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "m.py").write_text(SOURCE)
    return root


def judged(root: Path, seconds: float) -> list[str]:
    """Return the words of a change that a command judges for so long, which makes a file beside the project first."""
    verify = f"command sh -c 'echo > {begun(root)}; exec sleep {seconds}'"
    words = ["edit", "m.X", "--code", "X = 2", "--reload", "off", "--verify", verify]
    return [sys.executable, "-m", "bae_source", *words, "--root", str(root)]


def begun(root: Path) -> Path:
    return root.with_name("begun")


def wait_for(file: Path) -> None:
    deadline = time.monotonic() + 30
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_signal_that_the_parent_process_ignores_ends_nothing(root: Path) -> None:
    ignoring = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh", *judged(root, 1.5)]
    started = subprocess.Popen(ignoring, stdout=subprocess.DEVNULL)
    wait_for(begun(root))
    started.send_signal(signal.SIGHUP)
    assert started.wait(timeout=30) == 0
    assert (root / "m.py").read_text() == "X = 2\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_change_that_is_being_verified_is_not_made(root: Path, number: signal.Signals) -> None:
    started = subprocess.Popen(
        [sys.executable, "-c", HEEDING, str(number.value), *judged(root, 60)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ),
    )  # fmt: skip
    wait_for(begun(root))
    assert (root / "m.py").read_text() == SOURCE
    started.send_signal(number)
    _, output = started.communicate(timeout=30)
    assert started.returncode == 130
    assert b"Traceback" not in output
    assert (root / "m.py").read_text() == SOURCE
    staging = root / ".bae-source" / "staging"
    assert not staging.exists() or not list(staging.iterdir())
