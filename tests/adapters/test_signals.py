"""A command that is told to end, as every time limit of a caller does, takes back what it began."""

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


def test_a_signal_that_whoever_started_us_ignores_ends_nothing(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text(SOURCE)
    command = [sys.executable, "-m", "bae_source", "edit", "m.X", "--code", "X = __import__('time').sleep(1.5)"]
    started = subprocess.Popen(
        ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh", *command, "--root", str(tmp_path)], stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 30
    while file.read_text() == SOURCE and time.monotonic() < deadline:
        time.sleep(0.05)
    started.send_signal(signal.SIGHUP)
    assert started.wait(timeout=30) == 0
    assert "sleep" in file.read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_change_that_is_being_verified_is_taken_back(tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "m.py"
    file.write_text(SOURCE)
    command = [sys.executable, "-m", "bae_source", "edit", "m.X", "--code", "X = __import__('time').sleep(60)"]
    started = subprocess.Popen(
        [sys.executable, "-c", HEEDING, str(number.value), *command, "--root", str(tmp_path)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ),
    )  # fmt: skip
    deadline = time.monotonic() + 30
    while file.read_text() == SOURCE and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    started.send_signal(number)
    _, said = started.communicate(timeout=30)
    assert started.returncode == 130
    assert b"Traceback" not in said
    assert file.read_text() == SOURCE
    state = tmp_path / ".bae-source" / "staging"
    assert not state.exists() or not list(state.iterdir())


_SLEEPING = "X = __import__('time').sleep(600 * bool(open({!r}, 'w').write(str(__import__('os').getpid()))))"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of other processes")
@pytest.mark.parametrize("reaped", [True, False])
def test_what_a_killed_process_had_started_ends_before_its_files_are_taken_back(
    tmp_path: Path, *, reaped: bool
) -> None:
    """Though nothing watches it any more, as where everything of ours was killed at once."""
    root, told = tmp_path / "project", tmp_path / "told"
    root.mkdir()
    (root / "m.py").write_text(SOURCE)
    command = [sys.executable, "-m", "bae_source", "--root", str(root)]
    started = subprocess.Popen([*command, "edit", "m.X", "--code", _SLEEPING.format(str(told))])
    deadline = time.monotonic() + 30
    while not (told.exists() and told.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    child = int(told.read_text())
    bystander = subprocess.Popen(["sleep", "600"])
    try:
        for above in _watching(started.pid):
            os.kill(above, signal.SIGKILL)
        started.kill()
        if reaped:
            started.wait()
        else:
            assert _is_gone(started.pid)
        os.kill(child, 0)  # it lives on
        done = subprocess.run([*command, "read", "m.X"], capture_output=True, text=True, check=True)
        assert (done.stdout, (root / "m.py").read_text()) == (SOURCE, SOURCE)
        assert "was interrupted" in done.stderr
        assert _is_gone(child)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()
        started.wait()


def _watching(process: int) -> list[int]:
    """Return what is above the children of a process, to end them with it."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    found = [int(pid) for pid, parent, words in rows if int(parent) == process and "supervisor.main" in words]
    assert found
    return found


def _is_gone(process: int) -> bool:
    """Say whether a process ends at once; one that nobody has waited for counts as ended."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].startswith("Z"):
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False
