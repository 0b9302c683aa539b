"""A change beside those of others: one that is under way and may be taken back, and one that a crash left."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed
from bae_source.functions import dispatch
from bae_source.model.outcome import told_with

SOURCE = "def f():\n    return 1\n\n\ndef g():\n    return 1\n"
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in {"m.py": SOURCE, "b.py": "B = 1\n"}.items():
        file = tmp_path / "p" / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path / "p"


def users(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.glob("*.py")}


def command(root: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "bae_source", *words, "--root", str(root)]


@contextmanager
def neighbour(root: Path, *words: str, status: int) -> Iterator[subprocess.Popen[bytes]]:
    """Let another process make a change which is written, and being verified until the block or its process ends.

    Parameters:
        status: what the command that verifies it ends with; the change stands if it is 0.
    """
    mark = root.parent / "mark"
    waiting = f"command sh -c 'touch {mark}; while [ -e {mark} ]; do sleep 0.02; done; exit {status}'"
    asked = command(root, *words, "--reload", "off", "--verify", waiting)
    process = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    while not mark.exists():
        assert process.poll() is None
        time.sleep(0.01)
    try:
        yield process
    finally:
        mark.unlink(missing_ok=True)
        process.communicate(timeout=60)


def killed(root: Path) -> None:
    """Let a process die while its change of `m.g` is verified."""
    with neighbour(root, "edit", "m.g", "--old", "return 1", "--new", "return 2", status=0) as process:
        process.kill()
        process.wait()
    assert b"return 2" in users(root)["m.py"]


# --- what a crash left ---------------------------------------------------------------------------------------------


REFUSED = [
    ("read", "m.nope"),
    ("edit", "m.nope", "--code", "x = 1"),
    ("undo",),
    ("ast", "hover", "sym://python/mod/no"),
]


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_what_was_taken_back_after_a_crash_is_told_with_an_error_too(
    root: Path, words: tuple[str, ...], form: tuple[str, ...]
) -> None:
    before = users(root)
    killed(root)
    done = subprocess.run(command(root, *words, *form), capture_output=True, check=False, env=ENVIRONMENT)
    assert done.returncode in (3, 7)
    assert users(root) == before
    said = json.loads(done.stdout)["warnings"][0]["message"] if form and words[0] != "ast" else done.stderr.decode()
    assert "was interrupted, and was taken back: m." in said
    assert b"taken back" not in subprocess.run(command(root, *words), capture_output=True, check=False).stderr


def test_what_was_taken_back_is_told_with_an_error_from_python_and_by_functions(root: Path) -> None:
    killed(root)
    with pytest.raises(LookupFailed) as caught:
        Source(root).read("m.nope")
    [notice] = told_with(caught.value)
    assert (notice.code, "was taken back: m." in notice.message) == ("recovered", True)
    assert pickle.loads(pickle.dumps(caught.value)) == caught.value
    killed(root)
    answer = dispatch("read", {"target": "m.nope"}, root=root)
    assert [each["code"] for each in answer["warnings"]] == ["recovered"]
