"""What a process took is measured with its children, and nothing of a process outlives its time limit."""

from __future__ import annotations

import os
import resource
import sys
import time
from pathlib import Path

import pytest

from benchmarks.read.processes import Failed, TooSlow, apart, environment_of, run
from tests.adapters.mcp.support import is_running

BUSY = "import time\nwhile time.process_time() < {seconds}: pass"


def test_the_cpu_time_of_children_counts_and_wall_time_does_not_pass_for_it(tmp_path: Path) -> None:
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', '''{BUSY.format(seconds=0.3)}'''])"
    cost, out = run([sys.executable, "-c", child + "; print('done')"], cwd=tmp_path)
    assert out == "done\n"
    assert 0.3 <= cost.cpu < 5
    assert cost.wall >= 0.3
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert 1 < cost.peak < ours + 100, "the system counts the memory of whoever starts a process"
    idle, _ = run([sys.executable, "-c", "import time; time.sleep(0.5)"], cwd=tmp_path)
    assert idle.cpu < 0.5 <= idle.wall


def test_a_process_that_is_too_slow_is_killed_with_its_children(tmp_path: Path) -> None:
    child = "import os, pathlib, time; pathlib.Path('child').write_text(str(os.getpid())); time.sleep(60)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(TooSlow, match="killed after"):
        run([sys.executable, "-c", parent], cwd=tmp_path, limit=1)
    process, deadline = int((tmp_path / "child").read_text()), time.monotonic() + 5
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(process)


def test_a_failed_process_says_what_it_said(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; print('out'); sys.exit('no such thing')"]
    with pytest.raises(Failed, match="ended with 1: no such thing"):
        run(command, cwd=tmp_path)
    assert run(command, cwd=tmp_path, accepted=(0, 1))[1] == "out\n"


def test_bytecode_is_cached_git_is_not_led_astray_and_variables_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    made = environment_of({"WORD": "x", "GIT_AUTHOR_NAME": "somebody"})
    assert not {"PYTHONDONTWRITEBYTECODE", "GIT_DIR"} & set(made)
    assert (made["WORD"], made["GIT_AUTHOR_NAME"], made["PATH"]) == ("x", "somebody", os.environ["PATH"])


def _much() -> int:
    return len(bytes(300_000_000))


def test_memory_used_apart_is_not_counted_as_that_of_later_processes(tmp_path: Path) -> None:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # a child begins as a copy of this process
    assert apart(_much) == 300_000_000
    cost, _ = run([sys.executable, "-c", "pass"], cwd=tmp_path)
    assert cost.peak < own + 150
