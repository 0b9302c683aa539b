"""Files and folders with dates that cannot be encoded: a file system may have them, and nothing ends for that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bae_source import Source

MANY = 120
MEMORY = Path("/dev/shm")
AGES = [-12 * 10**18, 19 * 10**18]
"""Nanoseconds: the years 1589 and 2572."""


@pytest.fixture(params=AGES, ids=["long ago", "far ahead"])
def root(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A project in memory, where any date can be kept; a file and a folder are of another age."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        root = Path(folder).resolve()
        (root / "pyproject.toml").write_text("[project]\nname = 'p'\n")
        (root / "m0.py").write_text("class A:\n    def go(self): ...\n")
        for number in range(1, MANY):
            (root / f"m{number}.py").write_text("from m0 import A\n\nA().go()\n")
        (root / "inner").mkdir()
        (root / "inner" / "a.py").write_text("from m0 import A\n\n\ndef f():\n    A().go()\n")
        for path in (root / "m3.py", root / "inner" / "a.py", root / "inner"):
            os.utime(path, ns=(request.param, request.param))
        yield root


def asked(root: Path, *words: str) -> dict[str, object]:
    command = [sys.executable, "-m", "bae_source", *words, "--json", "--root", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_every_process_answers(root: Path) -> None:
    time.sleep(2.1)  # so that stamps are believed, and kept
    for _ in range(3):
        text = asked(root, "references", "m0.A.go")["text"]
        assert isinstance(text, str)
        assert text.count("A().go()") == MANY
    live = Source(root)
    assert [len(live.references("m0.A.go").outcome.found) for _ in range(2)] == [MANY, MANY]
    assert len(live.outline().outcome.text.splitlines()) >= MANY


def test_it_is_changed_and_comes_back(root: Path) -> None:
    path = root / "inner" / "a.py"
    before = path.read_bytes()
    asked(root, "edit", "inner.a.f", "--old", "A().go()", "--new", "A().go(  )")
    assert path.read_bytes() == before.replace(b"go()", b"go(  )")
    asked(root, "undo")
    assert path.read_bytes() == before
    assert asked(root, "references", "m0.A.go")["complete"] is True
