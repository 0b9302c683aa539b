"""Engines are asked until their answer stays the same, and run in an environment of their own."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from benchmarks.read import peers
from benchmarks.read.peers import PEERS, REQUIREMENTS, Peers, basedpyright, rope, ty
from benchmarks.read.processes import Failed
from benchmarks.read.subjects import Place, Subject
from tests.benchmarks.read.test_language_server import SERVER

SUBJECT = Subject(target="m.f", path="m.py", anchor="def f(")
ANSWERS = """
        counts = globals().setdefault("counts", iter([0, 1, 1, 3] + [3] * 100))
        here = {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 5}}
        spot = lambda line: {"uri": message["params"]["textDocument"]["uri"], "range": {"start": {"line": line,
            "character": 0}, "end": {"line": line, "character": 1}}}
        found = [{**spot(0), "range": here}] + [spot(line) for line in range(1, 1 + next(counts))]
        send({"id": message["id"], "result": found})
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "m.py").write_text("def f(): ...\nf()\nf()\nf()\n")
    return root


def installed(folder: Path, name: str, script: str) -> Peers:
    """Return an environment that holds one program, which is a Python script."""
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / name
    # the shell starts Python by lines that are a string to Python: a first line of `#!` breaks at blanks
    program.write_text(f"#!/bin/sh\n'''exec' {shlex.quote(sys.executable)} \"$0\" \"$@\"\n' '''\n{script}")
    program.chmod(0o755)
    return Peers(folder=folder)


def test_every_engine_is_pinned_exactly() -> None:
    pins = [line for line in REQUIREMENTS.read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z]+==[\d.]+", pin) for pin in pins)
    assert sorted(pin.partition("==")[0] for pin in pins) == sorted(PEERS)


def test_the_first_answer_of_one_that_is_complete_at_once_counts_without_the_definition(
    tmp_path: Path, project: Path
) -> None:
    found = installed(tmp_path / "peers", "ty", SERVER.replace("        MODE", ANSWERS.replace("[0, 1, 1, 3]", "[3]")))
    answer = ty(found, SUBJECT, project, 20)
    assert answer.places == {Place("m.py", line, 1) for line in (2, 3, 4)}
    assert answer.cost.wall > 0
    assert answer.warm is None


def test_one_that_is_still_indexing_is_asked_again_until_its_answer_stays_the_same(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peers, "_PAUSE", 0.01)
    found = installed(tmp_path / "peers", "basedpyright-langserver", SERVER.replace("        MODE", ANSWERS))
    answer = basedpyright(found, SUBJECT, project, 20)
    assert answer.places == {Place("m.py", line, 1) for line in (2, 3, 4)}
    assert answer.warm is not None


def test_a_script_runs_with_the_interpreter_of_the_environment_and_its_lines_are_places(
    tmp_path: Path, project: Path
) -> None:
    echo = "import json, sys\nassert sys.argv[2:6] == [sys.argv[2], 'm.py', '1', '5'], sys.argv\n"
    echo += "print(json.dumps(['m.py', 1, 5]))\nprint(json.dumps(['m.py', 2, 1]))"
    answer = rope(installed(tmp_path / "peers", "python", echo), SUBJECT, project, 20)
    assert answer.places == {Place("m.py", 2, 1)}


def test_an_environment_that_cannot_be_installed_says_why(tmp_path: Path) -> None:
    broken = installed(tmp_path / "peers", "python", "import sys; sys.exit('no index here')")
    with pytest.raises(Failed, match="no index here"):
        broken.ready()


def test_an_environment_that_has_all_of_it_is_left_as_it_is(tmp_path: Path) -> None:
    lists = f"import sys\nassert 'install' not in sys.argv\nprint({REQUIREMENTS.read_text()!r})"
    installed(tmp_path / "peers", "python", lists).ready()
