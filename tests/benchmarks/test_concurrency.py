"""The measurement of concurrency finds what is lost, and nothing is."""

from __future__ import annotations

from pathlib import Path

from benchmarks.concurrency import GOOD, lay_out, lost, run


def test_writers_in_processes_of_their_own_lose_nothing_and_a_lost_edit_would_be_seen(tmp_path: Path) -> None:
    lay_out(tmp_path, writers=3, files=2)
    reports = run(tmp_path, 3, 6, 2)
    ends = [end for writer in reports for _, _, end in writer]
    assert len(ends) == 18
    assert set(ends) <= GOOD
    assert ends.count("applied") >= 6
    assert lost(tmp_path, reports, 2) == []
    file = tmp_path / "pkg/m0.py"
    file.write_text(file.read_text().replace("def counter():\n    return ", "def counter():\n    return 9"))
    assert lost(tmp_path, reports, 2)[0].startswith("pkg.m0.counter is 9")
