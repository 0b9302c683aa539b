"""The measurement of rewrites and replacements measures what it says."""

from __future__ import annotations

from pathlib import Path

from benchmarks.read.greps import repository
from benchmarks.replace import plain, replacing, rewriting


def project(root: Path) -> Path:
    root.mkdir()
    (root / "m.py").write_text("def send(x): ...\n\n\nsend(1)\nsend(2)\n")
    (root / "a.md").write_text("send\n")
    (root / "b.md").write_text("sender\n")
    repository(root)
    return root


def test_git_names_the_files_that_hold_the_word(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    assert plain(root, "send") == 2
    assert (root / "a.md").read_text() == "send\n"


def test_both_measures_give_ratios_and_leave_the_project_as_it_was(tmp_path: Path) -> None:
    root = project(tmp_path / "project")
    before = (root / "m.py").read_text()
    found = rewriting(root, "send($X)", "send($X, 1)", rounds=2)
    assert "2 places" in found.what
    assert len(found.ratios) == 2
    made = replacing(root, "send", rounds=2)
    assert "2 files" in made.what
    assert len(made.ratios) == 2
    assert (root / "m.py").read_text() == before
