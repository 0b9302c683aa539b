"""A change that could not be recorded waits, is what undo takes back first, and no history is thrown away for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.service import Context, Service, request


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/m.py").write_text("def f():\n    return 0\n")
    return tmp_path / "p"


def test_what_could_not_be_recorded_is_what_undo_takes_back_once_it_can(root: Path) -> None:
    command = [sys.executable, "-m", "bae_source", "edit", "b.Y", "--code", "Y = 2", "--reload", "off", "--json"]
    (root / "b.py").write_text("Y = 1\n")
    source = Source(root)
    source.edit("m.f", old="return 0", new="return 1", reload="off")
    environment = {**os.environ, "PATH": "/nonexistent"}
    done = subprocess.run([*command, "--root", root], capture_output=True, check=True, env=environment)
    [notice] = json.loads(done.stdout)["warnings"]
    assert notice["code"] == "history_unavailable"
    assert "waits for being recorded; until then it cannot be undone: git is not installed." in notice["message"]
    assert source.undo(reload="off").text.endswith(": Edited b.Y.")
    assert ((root / "b.py").read_text(), "return 1" in (root / "m.py").read_text()) == ("Y = 1\n", True)


@pytest.mark.parametrize(
    ("said", "why", "hint"),
    [
        ("fatal: sha1 file write error: No space left on device", "the disk is full", "Free some space"),
        ("fatal: cannot create x: Permission denied", "permission was denied", "Check who owns"),
        ("fatal: bad object", "fatal: bad object", "history.git out of the way"),
    ],
)
def test_only_where_the_history_may_be_damaged_it_is_to_be_moved_away(
    root: Path, tmp_path: Path, said: str, why: str, hint: str
) -> None:
    (tmp_path / "bin").mkdir()
    fails = f"echo '{said}' >&2; echo 'fast-import: dumping crash report to /x' >&2; exit 128"
    script = f'#!/bin/sh\ncase "$*" in *fast-import*) {fails};; esac\nexec {shutil.which("git")} "$@"\n'
    (tmp_path / "bin/git").write_text(script)
    (tmp_path / "bin/git").chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    service = Service(root, environment={"PATH": path, "USER": "me"})
    done = service.run(request("edit", {"target": "m.f", "old": "return 0", "new": "return 1"}), Context(reload="off"))
    [notice] = done.warnings
    assert notice.code == "history_unavailable"
    assert why in notice.message
    assert hint in notice.message
    assert ("out of the way" in notice.message) == ("out of the way" in hint)
    assert "crash report" not in notice.message
    undone = Service(root, environment={"PATH": os.environ["PATH"], "USER": "me"}).run(request("undo", {}))
    assert undone.status == "applied"
