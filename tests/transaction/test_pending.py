"""Operations that were made but not recorded wait, and are recorded before the history is read or written."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

from bae_source.errors import HistoryError
from bae_source.history.record.history import History, HistoryUnavailable
from bae_source.history.record.pending import Pending
from bae_source.state.lock import project_lock
from tests.transaction.support import PATH, ids
from tests.transaction.test_history import entry


@pytest.fixture
def pending(tmp_path: Path) -> Pending:
    return Pending(tmp_path / "pending")


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history.git", search_path=PATH)


def test_what_waits_is_recorded_when_the_history_is_read(pending: Pending, history: History) -> None:
    for number in (1, 2):
        pending.put(entry(number, {"a": b"1"}, {"a": None}), {"a": b"1"}, {"a": None})
    found = history.entries()
    assert ids(found) == ["op_02", "op_01"]
    assert history.contents(found[0]) == ({"a": b"1"}, {"a": None})
    assert pending.names() == ()


def test_what_waits_is_recorded_before_what_comes(pending: Pending, history: History) -> None:
    history.record(entry(1, {}, {"a": b"1"}), {}, {"a": b"1"})
    assert history.entries()
    pending.put(entry(2, {}, {"a": b"2"}), {}, {"a": b"2"})
    history.record(entry(3, {}, {"a": b"3"}), {}, {"a": b"3"})
    assert ids(history.entries()) == ["op_03", "op_02", "op_01"]


def test_what_was_put_twice_or_is_recorded_already_is_recorded_once(pending: Pending, history: History) -> None:
    made = entry(1, {}, {"a": b"1"})
    pending.put(made, {}, {"a": b"1"})
    pending.put(made, {}, {"a": b"1"})
    assert len(pending.names()) == 1
    history.entries()
    pending.put(made, {}, {"a": b"1"})
    assert ids(history.entries()) == ["op_01"]
    assert pending.names() == ()


def test_without_git_it_goes_on_waiting(pending: Pending, tmp_path: Path) -> None:
    pending.put(entry(1, {}, {"a": b"1"}), {}, {"a": b"1"})
    with pytest.raises(HistoryError, match="git is not installed"):
        History(tmp_path / "history.git", search_path="").entries()
    assert len(pending.names()) == 1
    assert ids(History(tmp_path / "history.git", search_path=PATH).entries()) == ["op_01"]


def test_what_is_no_operation_is_passed_over_and_stays(pending: Pending, history: History) -> None:
    pending.put(entry(1, {}, {}), {}, {})
    (pending.folder / "00000000000000000001-op_bad").write_bytes(b"\xc1 no operation")
    (pending.folder / ".new-half").write_bytes(b"")
    assert ids(history.entries()) == ["op_01"]
    assert pending.names() == ("00000000000000000001-op_bad",)


def test_what_could_not_be_written_does_not_wait(pending: Pending, tmp_path: Path) -> None:
    (tmp_path / "pending").write_text("no folder")
    with pytest.raises(OSError, match="exists"):
        pending.put(entry(1, {}, {}), {}, {})
    assert pending.names() == ()


def test_while_another_process_writes_the_history_an_operation_waits(
    pending: Pending, history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bae_source.history.record.history.PATIENCE", 0.05)
    monkeypatch.setattr("bae_source.history.record.history.MOST_WAITING", 2)
    with project_lock(tmp_path / "history.lock", wait=1, pid=1):
        for number in (2, 1):  # as where the clock was put back
            history.record(entry(number, {}, {"a": b"1"}), {}, {"a": b"1"})
        with pytest.raises(HistoryUnavailable, match="another process is writing it"):
            history.record(entry(3, {}, {}), {}, {})
        with pytest.raises(HistoryError, match="another process is writing it"):
            history.entries()
    assert len(pending.names()) == 3
    assert ids(history.entries()) == ["op_03", "op_01", "op_02"]


def test_once_many_wait_or_a_large_one_comes_they_are_recorded(
    pending: Pending, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bae_source.history.record.history.MOST_WAITING", 2)
    waiting = []
    for number in range(4):
        history.record(entry(number, {}, {"a": b"1"}), {}, {"a": b"1"})
        waiting.append(len(pending.names()))
    monkeypatch.setattr("bae_source.history.record.history.LARGEST_WAITING", 10)
    history.record(entry(4, {}, {"a": b"1" * 11}), {}, {"a": b"1" * 11})
    assert [*waiting, len(pending.names())] == [1, 2, 0, 1, 0]
    assert ids(history.entries()) == ["op_04", "op_03", "op_02", "op_01", "op_00"]


def test_a_process_killed_between_a_record_and_its_end_leaves_nothing_twice(pending: Pending, history: History) -> None:
    history.record(entry(1, {}, {"a": b"1"}), {}, {"a": b"1"})
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Pending, "drop", lambda *_: None)
        assert ids(history.entries()) == ["op_01"]
    history.record(entry(2, {}, {"a": b"2"}), {}, {"a": b"2"})
    assert len(pending.names()) == 2
    assert ids(history.entries()) == ["op_02", "op_01"]


def test_several_that_read_at_once_record_it_once(pending: Pending, tmp_path: Path) -> None:
    for number in range(1, 6):
        pending.put(entry(number, {}, {"a": b"1"}), {}, {"a": b"1"})
    found: list[list[str]] = []

    def read() -> None:
        found.append(ids(History(tmp_path / "history.git", search_path=PATH).entries()))

    threads = [Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["op_05", "op_04", "op_03", "op_02", "op_01"]] * 4
    assert list(pending.folder.iterdir()) == []


def test_what_waits_stays_within_limits_and_the_newest_stay(pending: Pending, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bae_source.history.record.pending.MOST", 3)
    for number in range(1, 6):
        pending.put(entry(number, {}, {}), {}, {})
    assert [name.partition("-")[2] for name in pending.names()] == ["op_03", "op_04", "op_05"]
