"""The measurement of the history does what it says it measures."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source.history.record.history import History
from benchmarks.history import PATH, main, measured, operation, seeded
from tests.transaction.support import ids


def test_what_is_measured_is_a_history_like_any_other(tmp_path: Path) -> None:
    seeded(tmp_path / "history.git", 70)
    history = History(tmp_path / "history.git", search_path=PATH)
    assert len(history.entries()) == 70
    entry, before, after = operation(3)
    assert history.contents(history.entry(entry.id)) == (before, after)
    found = measured(tmp_path / "history.git", 70, 3)
    assert len(found["record"]) == 3
    newest = [operation(number)[0].id for number in range(72, 65, -1)]
    assert ids(History(tmp_path / "history.git", search_path=PATH).entries()) == newest


def test_it_says_whether_the_targets_are_met(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.history.TARGETS", {"record": 0.0, "plan the undo of the last": 1e9})
    assert main(["--operations", "20", "--rounds", "2"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "missed: record"
