"""The measurement of codemods measures what it says."""

from __future__ import annotations

from pathlib import Path

from benchmarks.codemod import Measured, Spent, measured


def test_both_change_the_same_files_to_the_same_bytes(tmp_path: Path) -> None:
    for name in ("pkg/__init__.py", "pkg/small/__init__.py", "pkg/part/__init__.py", "pkg/part/a.py", "pkg/part/b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("connection = 1\n" if name.endswith("/a.py") else "")
    found = measured("own", tmp_path, "pkg/part", 1, "pkg/small")
    assert (found.files, found.changed, found.is_equal) == (3, 1, True)
    assert (tmp_path / "pkg/part/a.py").read_text() == "connection = 1\n"


def test_a_target_is_missed_by_time_and_by_bytes() -> None:
    quick, slow = Spent(1.0, 1.0), Spent(2.0, 2.0)
    facts = {"name": "own", "files": 1, "changed": 1}
    assert Measured(turns=((quick, slow),), is_equal=True, **facts).is_met
    assert not Measured(turns=((quick, slow),), is_equal=False, **facts).is_met
    assert not Measured(turns=((slow, quick),), is_equal=True, **facts).is_met
