"""How far a long request has come, on a terminal and for a client of the server that asks for it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from bae_source.adapters.cli.progress import Progress, shown_on
from bae_source.engine.registry import request
from bae_source.engine.service import Context, Service
from tests.checks.test_shadow import put


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path / "pyproject.toml", "[tool.pytest.ini_options]\n")
    put(tmp_path / "app/core.py", "def f():\n    return 1\n")
    slow = "import time\nfrom app import core\n\n\ndef test_{}():\n    time.sleep(0.2)\n    assert core.f()\n"
    put(tmp_path / "tests/test_core.py", slow.format("a") + slow.format("b"))
    return tmp_path


def test_a_line_is_drawn_at_most_ten_times_a_second_and_goes_at_the_end() -> None:
    terminal, times = StringIO(), iter([1.0, 1.05, 1.2])
    line = Progress(terminal, lambda: next(times))
    for number in range(3):
        line(number, 1200, "tests.test_core.test_a" + "\x1b" * 90)
    line.clear()
    first, second, last = terminal.getvalue().split("\r\x1b[K")[1:]
    assert first.startswith("0 of 1,200: tests.test_core.test_a\\x1b")
    assert second.startswith("2 of 1,200: ")
    assert len(first) == 79
    assert last == ""


def test_a_line_that_was_never_drawn_is_not_cleared() -> None:
    terminal = StringIO()
    with shown_on(terminal):
        pass
    assert terminal.getvalue() == ""


def test_a_person_at_a_terminal_sees_how_far_it_is_and_then_the_answer_alone(root: Path) -> None:
    words = ["edit", "app.core.f", "--old", "return 1", "--new", "return 2", "--verify", "tests", "--root", str(root)]
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        command = [sys.executable, "-m", "bae_source", *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        out, _ = process.communicate(timeout=120)
        shown = b""
        while True:
            try:
                piece = terminal.read(4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            shown += piece
    assert (process.returncode, b"Verified: import, tests (2 passed)." in out) == (0, True)
    assert b"of 2: tests.test_core.test_" in shown
    assert shown.endswith(b"\r\x1b[K") or b"warning" in shown
    assert b"\x1b" not in out


def test_an_engine_tells_of_files_that_are_copied_and_of_tests(root: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    service = Service(root, environment=os.environ)
    service.progress = lambda *given: seen.append(given)
    asked = request("edit", {"target": "app.core.f", "old": "return 1", "new": "return 3"})
    service.run(asked, Context(verify=("tests",)))
    assert (0, 3, "files copied") in seen
    assert seen[-1][:2] == (2, 2)
    assert seen[-1][2].startswith("tests.test_core.test_")
