"""Undo is exact, and an operation itself; redo takes it back."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source.errors import HistoryError, RequestError
from bae_source.model.request import parse, summary
from bae_source.transaction.commands import History, Redo, Undo, draw, plan_history, plan_redo, plan_undo
from bae_source.transaction.entry import Entry, Kind
from bae_source.transaction.timeline import timeline
from tests.transaction.support import PATH, Project, ids


class Work:
    """A project on which changes are made, undone and redone."""

    def __init__(self, root: Path) -> None:
        self.project = Project(root, path=PATH)

    def change(self, path: str, content: bytes | None, who: str = "me") -> str:
        return self.project.commit({path: content}, who=who, summary=f"edit {path}").operation_id

    def undo(self, operation_id: str | None = None, who: str = "me") -> str:
        read = self.project.transactions.read
        changes, entry = plan_undo(
            Undo(operation_id=operation_id), self.project.history, who, lambda path, _: read(path)
        )
        return self.project.make(changes, kind="undo", of=entry.id, who=who).operation_id

    def redo(self, operation_id: str | None = None, who: str = "me") -> str:
        read = self.project.transactions.read
        changes, entry = plan_redo(
            Redo(operation_id=operation_id), self.project.history, who, lambda path, _: read(path)
        )
        return self.project.make(changes, kind="redo", of=entry.id, who=who).operation_id

    def content(self, path: str) -> bytes | None:
        return self.project.content(path)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    work = Work(tmp_path / "p")
    work.project.write("a.py", b"A = 0\r\n")
    return work


def test_undo_and_redo_walk_back_and_forth(work: Work) -> None:
    work.change("a.py", b"A = 1\r\n")
    work.change("a.py", b"A = 2\r\n")
    for step, expected in [
        (work.undo, b"A = 1\r\n"),
        (work.undo, b"A = 0\r\n"),
        (work.redo, b"A = 1\r\n"),
        (work.redo, b"A = 2\r\n"),
        (work.undo, b"A = 1\r\n"),
        (work.redo, b"A = 2\r\n"),
    ]:
        step()
        assert work.content("a.py") == expected
    assert len(work.project.history.entries()) == 8, "an undo is itself an operation"
    with pytest.raises(HistoryError) as caught:
        work.redo()
    assert caught.value.code == "nothing_to_undo"


def test_undo_of_a_creation_and_of_a_deletion(work: Work) -> None:
    work.change("new/deep/b.py", b"")
    work.undo()
    assert not (work.project.root / "new").exists()
    work.redo()
    assert work.content("new/deep/b.py") == b""
    work.change("new/deep/b.py", None)
    assert not (work.project.root / "new").exists()
    work.undo()
    assert work.content("new/deep/b.py") == b""


def test_a_new_change_ends_redo(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    work.undo()
    work.change("b.py", b"B\n")
    with pytest.raises(HistoryError, match="nothing to redo"):
        work.redo()
    work.redo(first)
    assert work.content("a.py") == b"A = 1\n", "by its id it can still be made again"


def test_nothing_to_undo_says_whose_the_last_change_is(work: Work) -> None:
    with pytest.raises(HistoryError, match="no change of yours") as caught:
        work.undo()
    assert caught.value.code == "nothing_to_undo"
    theirs = work.change("a.py", b"A = 1\n", who="you")
    with pytest.raises(HistoryError) as caught:
        work.undo()
    assert caught.value.hints == (f"The last change is you's: undo('{theirs}') takes it back.",)


def test_undo_takes_the_callers_own_last_change(work: Work) -> None:
    work.change("a.py", b"A = 1\n")
    work.change("b.py", b"B = 1\n", who="you")
    work.undo()
    assert (work.content("a.py"), work.content("b.py")) == (b"A = 0\r\n", b"B = 1\n")


def test_a_chosen_change_is_undone_though_others_came_later(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    work.change("b.py", b"B = 1\n")
    work.undo(first)
    assert (work.content("a.py"), work.content("b.py")) == (b"A = 0\r\n", b"B = 1\n")
    work.undo()
    assert work.content("b.py") is None


def test_a_later_operation_on_the_same_file_is_a_conflict_and_is_named(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    second = work.change("a.py", b"A = 2\n", who="you")
    with pytest.raises(HistoryError, match=f"a is no longer as it left it; {second}") as caught:
        work.undo()
    assert caught.value.code == "undo_conflict"
    assert caught.value.details == {"modules": ["a"], "later": second}
    assert caught.value.hints == (f"undo('{second}') first.",)
    work.undo(second)
    work.undo(first)
    assert work.content("a.py") == b"A = 0\r\n"


def test_an_edit_outside_is_a_conflict_and_stays(work: Work) -> None:
    work.change("a.py", b"A = 1\n")
    work.project.write("a.py", b"A = 'by hand'\n")
    with pytest.raises(HistoryError, match="somebody changed it outside bae_source") as caught:
        work.undo()
    assert caught.value.code == "undo_conflict"
    assert work.content("a.py") == b"A = 'by hand'\n"


def test_redo_too_refuses_what_has_changed_since(work: Work) -> None:
    work.change("a.py", b"A = 1\n")
    work.undo()
    work.project.write("a.py", b"A = 'by hand'\n")
    with pytest.raises(HistoryError, match="cannot be made again") as caught:
        work.redo()
    assert caught.value.code == "undo_conflict"


def test_a_change_is_undone_once_and_redone_once(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    undo = work.undo()
    with pytest.raises(HistoryError, match=f"undone already, by {undo}"):
        work.undo(first)
    work.redo(undo)
    with pytest.raises(HistoryError, match="in effect"):
        work.redo(first)


def test_the_id_of_a_redo_stands_for_its_change(work: Work) -> None:
    work.change("a.py", b"A = 1\n")
    work.undo()
    work.undo(work.redo())
    assert work.content("a.py") == b"A = 0\r\n"


def test_history_lists_newest_first_and_marks_what_is_undone(work: Work) -> None:
    work.change("a.py", b"A = 1\n")
    work.undo()
    history = work.project.history
    entries = plan_history(History(limit=10), history)
    assert [entry.kind for entry in entries] == ["undo", "change"]
    lines = draw(entries, history.timeline("me").undone).splitlines()
    assert lines[1] == "op_0000  2026-11-21T12:00:01Z  me  edit a.py  [undone]"
    assert len(plan_history(History(limit=1), history)) == 1


def test_requests_are_parsed_strictly_and_have_help() -> None:
    assert parse(Undo, {}).operation_id is None
    assert summary(Undo).startswith("Take back your last change")
    with pytest.raises(RequestError):
        parse(History, {"limit": 0})
    with pytest.raises(RequestError):
        parse(Redo, {"operation_id": 7})


def entry(name: str, kind: Kind = "change", of: str | None = None, who: str = "me") -> Entry:
    return Entry(id=name, kind=kind, of=of, who=who, when="2026-11-21T12:00:00+00:00", summary="", files=())


@pytest.mark.parametrize(
    ("entries", "undoable", "redoable"),
    [
        ([], [], []),
        ([entry("1"), entry("2")], ["1", "2"], []),
        ([entry("1"), entry("2"), entry("3", "undo", "2")], ["1"], ["2"]),
        ([entry("1"), entry("2"), entry("3", "undo", "2"), entry("4", "undo", "1")], [], ["2", "1"]),
        ([entry("1"), entry("3", "undo", "1"), entry("4", "redo", "1")], ["1"], []),
        ([entry("1"), entry("3", "undo", "1"), entry("4")], ["4"], []),
        ([entry("1"), entry("3", "undo", "1"), entry("4", who="you")], [], ["1"]),
        ([entry("1"), entry("3", "undo", "1", who="you")], [], []),
        ([entry("1", who="you"), entry("3", "undo", "1")], [], ["1"]),
        ([entry("3", "undo", "lost")], [], []),
    ],
)
def test_the_stacks_of_one_caller(entries: list[Entry], undoable: list[str], redoable: list[str]) -> None:
    line = timeline(entries[::-1], "me")
    assert (ids(line.undoable), ids(line.redoable)) == (undoable, redoable)
