"""Each part of the comparison runs on a small project, and prints the ratios of what it measured there."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from benchmarks.read.greps import greps
from benchmarks.read.outlines import outlines
from benchmarks.read.parses import parses
from benchmarks.read.peers import PEERS
from benchmarks.read.subjects import Subject
from benchmarks.read.timings import timings
from benchmarks.read.trees import grow
from tests.benchmarks.read.test_language_server import SERVER
from tests.benchmarks.read.test_peers import installed

NOTHING = "send({'id': message['id'], 'result': []})"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return grow(tmp_path / "project", 12)


def _rows(capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """Return what was printed as numbers, by the words before them."""
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    return {line[:66].strip(): line[66:].split() for line in lines}


def test_references_are_timed_cold_warm_and_live_and_engines_that_fail_are_named(
    tmp_path: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    peers = installed(tmp_path / "peers", "ty", SERVER.replace("MODE", NOTHING))
    broken = peers.folder / "bin" / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    subject = Subject(target="package_0.run", path="package_0/__init__.py", anchor="def run(")
    timings(project, peers, rounds=1, skip=set(PEERS) - {"jedi"}, limit=20, subjects=[subject])
    printed = capsys.readouterr()
    assert "ended with 3" in next(line for line in printed.out.splitlines() if line.startswith("jedi"))
    goals = [line.split(": ", 1)[1][:20] for line in printed.out.splitlines() if line.startswith("  run: ")]
    assert len(goals) == 4
    assert (project / ".bae-source").is_dir()


def test_outlines_are_compared_cold_warm_and_live(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outlines(project, rounds=1, trees=False)
    rows = _rows(capsys)
    assert [name for name in rows if name.startswith(("cold, over", "warm in a fresh", "warm in a live"))] == list(
        rows
    )[:3]
    assert all(float(row[1]) > 0 for row in rows.values())


def test_grep_finds_as_many_lines_as_git_does(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "package_0" / "views.py").write_text("def get_x_display():\n    return 'mark_safe'\n")
    (project / "package_0" / "page.html").write_text("mark_safe\n")
    greps(project, rounds=1)
    rows = _rows(capsys)
    differences = {name: row for name, row in rows.items() if name.endswith("difference in hits")}
    assert len(rows) == 2 * len(differences) == 8
    assert {row[-1] for row in differences.values()} == {"met"}


def test_parse_times_are_what_telemetry_says(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parses(project)
    assert any(line.split()[:4] == ["under", "5", "KB", "12"] for line in capsys.readouterr().out.splitlines())
