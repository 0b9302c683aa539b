"""Undo is exact, and an operation itself; redo takes it back; several are one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import HistoryError, Refused, RequestError
from bae_source.functions import dispatch
from bae_source.history.record.entry import Kind
from bae_source.history.travel.commands import Redo, Undo
from bae_source.history.travel.undoing import plan
from bae_source.model.changeset import between
from bae_source.transaction.commit.transaction import Transactions
from tests.transaction.support import PATH, Project, picture


class Work:
    """A project on which changes are made, undone and redone."""

    def __init__(self, root: Path) -> None:
        self.project = Project(root, path=PATH)

    def change(self, path: str, content: bytes | None, who: str = "me") -> str:
        return self.project.commit({path: content}, who=who, summary=f"edit {path}").operation_id

    def move(self, old: str, new: str) -> str:
        content = self.content(old)
        changes = between({old: content, new: None}, {old: None, new: content}, {new: old})
        return self.project.make(changes, summary=f"move {old}").operation_id

    def undo(
        self, operation_id: str | Sequence[str] | None = None, *, count: int | None = None, who: str = "me"
    ) -> str:
        return self._travel(Undo(operation_id=given(operation_id), count=count), who)

    def redo(
        self, operation_id: str | Sequence[str] | None = None, *, count: int | None = None, who: str = "me"
    ) -> str:
        return self._travel(Redo(operation_id=given(operation_id), count=count), who)

    def content(self, path: str) -> bytes | None:
        return self.project.content(path)

    def _travel(self, request: Undo | Redo, who: str) -> str:
        read = self.project.transactions.read
        found = plan(request, self.project.history, who, lambda path, _: read(path))
        of = tuple(entry.id for entry in found.entries)
        kind: Kind = "undo" if isinstance(request, Undo) else "redo"
        return self.project.make(found.changes, kind=kind, of=of, who=who).operation_id


def given(operation_id: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    return operation_id if operation_id is None or isinstance(operation_id, str) else tuple(operation_id)


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


def test_a_deleted_file_comes_back_with_its_mode_and_so_does_a_created_one(work: Work) -> None:
    file = work.project.root / "a.py"
    file.chmod(0o750)
    work.change("a.py", None)
    work.undo()
    assert file.stat().st_mode & 0o7777 == 0o750
    work.change("tool.py", b"T\n")
    created = work.project.root / "tool.py"
    created.chmod(0o711)
    work.undo()
    work.redo()
    assert created.stat().st_mode & 0o7777 == 0o711
    work.undo()
    work.redo(count=1)
    assert created.stat().st_mode & 0o7777 == 0o711


def test_a_move_is_taken_back_with_mode_and_time(work: Work) -> None:
    (work.project.root / "a.py").chmod(0o700)
    before = picture(work.project.root)
    work.move("a.py", "deep/er/b.py")
    moved = picture(work.project.root)
    assert work.content("a.py") is None
    assert work.content("deep/er/b.py") == b"A = 0\r\n"
    work.undo()
    assert picture(work.project.root) == before
    work.redo()
    assert picture(work.project.root) == moved


def test_two_moves_of_one_file_are_taken_back_at_once(work: Work) -> None:
    (work.project.root / "a.py").chmod(0o700)
    before = picture(work.project.root)
    work.move("a.py", "b.py")
    work.move("b.py", "c.py")
    work.undo(count=2)
    assert picture(work.project.root) == before
    work.redo(count=2)
    assert (work.content("c.py"), (work.project.root / "c.py").stat().st_mode & 0o777) == (b"A = 0\r\n", 0o700)


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
    assert caught.value.hints == (f"The last change in effect is you's: undo {theirs} takes it back.",)
    work.undo(theirs)
    with pytest.raises(HistoryError) as caught:
        work.undo()
    assert caught.value.hints == ("history lists what was done.",)


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


def test_several_are_undone_and_redone_in_one_operation(work: Work) -> None:
    work.change("a.py", b"A = 1\n")
    work.change("b.py", b"B = 1\n")
    work.change("a.py", b"A = 2\n")
    before = len(work.project.history.entries())
    work.undo(count=3)
    assert (work.content("a.py"), work.content("b.py")) == (b"A = 0\r\n", None)
    work.redo(count=2)
    assert (work.content("a.py"), work.content("b.py")) == (b"A = 1\n", b"B = 1\n")
    work.redo()
    assert work.content("a.py") == b"A = 2\n"
    assert len(work.project.history.entries()) == before + 3


def test_several_ids_may_come_in_any_order_and_twice(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    work.change("b.py", b"B = 1\n")
    second = work.change("a.py", b"A = 2\n")
    undo = work.undo([first, second, first])
    assert (work.content("a.py"), work.content("b.py")) == (b"A = 0\r\n", b"B = 1\n")
    work.redo([second, first])
    assert work.content("a.py") == b"A = 2\n"
    with pytest.raises(HistoryError, match="in effect"):
        work.redo(undo)


def test_the_id_of_an_undo_stands_for_all_that_it_undid(work: Work) -> None:
    work.change("a.py", b"A = 1\n")
    work.change("a.py", b"A = 2\n")
    work.redo(work.undo(count=2))
    assert work.content("a.py") == b"A = 2\n"


def test_several_are_undone_all_or_none(work: Work) -> None:
    work.change("b.py", b"B = 1\n")
    blocked = work.change("a.py", b"A = 1\n")
    work.change("c.py", b"C = 1\n")
    work.project.write("a.py", b"A = 'by hand'\n")
    before = picture(work.project.root)
    with pytest.raises(HistoryError, match=f"{blocked} cannot be undone"):
        work.undo(count=3)
    assert picture(work.project.root) == before
    with pytest.raises(HistoryError, match="only 3 changes of yours to undo, not 4") as caught:
        work.undo(count=4)
    assert caught.value.hints == ("undo --count 3 takes those.",)
    assert picture(work.project.root) == before


def test_several_that_cancel_each_other_out_are_refused(work: Work) -> None:
    work.change("a.py", b"A = 1\n")
    second = work.change("a.py", b"A = 0\r\n")
    with pytest.raises(HistoryError, match="cancel each other out") as caught:
        work.undo(count=2)
    assert caught.value.hints == (f"undo({second!r}) does the first of them alone.",)


def test_ids_and_a_count_exclude_each_other(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    with pytest.raises(RequestError, match="either ids or a count"):
        work.undo(first, count=2)
    assert work.content("a.py") == b"A = 1\n"


def test_a_later_operation_on_the_same_file_is_a_conflict_and_is_named(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    second = work.change("a.py", b"A = 2\n", who="you")
    third = work.change("a.py", b"A = 3\n", who="you")
    with pytest.raises(HistoryError, match=f"a is no longer as it left it; {third}") as caught:
        work.undo()
    assert caught.value.code == "undo_conflict"
    assert caught.value.details["modules"] == ["a"]
    assert caught.value.details["later"] == [third, second]
    assert caught.value.hints[:2] == (
        f"undo {third} first.",
        f"undo {third} {second} {first} takes all of them back at once.",
    )
    work.undo([third, second, first])
    assert work.content("a.py") == b"A = 0\r\n"


def test_an_undo_that_is_in_the_way_is_named_and_no_outside_edit_is_blamed(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    work.change("a.py", b"A = 2\n")
    third = work.change("a.py", b"A = 1\n")
    undo = work.undo(first)
    with pytest.raises(HistoryError, match=f"{first} .* was undone later, by {undo}") as caught:
        work.undo()
    assert (caught.value.code, caught.value.details["later"]) == ("undo_conflict", [first])
    assert caught.value.hints[0] == f"redo {first} first, then undo {third}."
    assert "outside" not in str(caught.value)
    assert work.content("a.py") == b"A = 0\r\n"
    work.redo(first)
    work.undo(third)
    assert work.content("a.py") == b"A = 2\n"


def test_what_was_made_and_undone_since_is_not_blamed_for_an_edit_outside(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    second = work.change("a.py", b"A = 2\n")
    work.undo()
    work.project.write("a.py", b"A = 'by hand'\n")
    with pytest.raises(HistoryError, match="it was changed outside bae_source") as caught:
        work.undo(first)
    assert (second in str(caught.value), caught.value.details["later"]) == (False, [])
    assert work.content("a.py") == b"A = 'by hand'\n"


def test_what_was_made_again_in_one_go_is_undone_from_its_end(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    second = work.change("a.py", b"A = 2\n")
    work.undo(count=2)
    with pytest.raises(HistoryError, match=f"{first} .* was undone later") as caught:
        work.redo(second)
    assert caught.value.hints[0] == f"redo {first} first, then redo {second}."
    work.redo(count=2)
    with pytest.raises(HistoryError, match=f"{second} .* came later") as caught:
        work.undo(first)
    assert caught.value.hints[0] == f"undo {second} first."
    assert work.content("a.py") == b"A = 2\n"


def test_redo_says_to_undo_first_what_was_made_again_in_its_place(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    work.undo()
    second = work.change("a.py", b"A = 2\n")
    work.undo()
    work.redo(first)
    with pytest.raises(HistoryError, match=f"{first} .* came later") as caught:
        work.redo(second)
    assert caught.value.hints[0] == f"undo {first} first."
    assert work.content("a.py") == b"A = 1\n"
    work.undo(first)
    work.redo(second)
    assert work.content("a.py") == b"A = 2\n"


def test_a_move_that_came_later_is_a_conflict_and_is_named(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    moved = work.move("a.py", "b.py")
    with pytest.raises(HistoryError, match=moved):
        work.undo(first)
    assert (work.content("a.py"), work.content("b.py")) == (None, b"A = 1\n")


def test_an_edit_outside_is_a_conflict_that_shows_all_three(work: Work) -> None:
    work.project.write("a.py", b"ONE = 0\n\n\nTWO = 0\n")
    first = work.change("a.py", b"ONE = 1\n\n\nTWO = 0\n")
    work.project.write("a.py", b"ONE = 1\n\n\nTWO = 'by hand'\n")
    with pytest.raises(HistoryError, match="it was changed outside bae_source") as caught:
        work.undo()
    assert caught.value.code == "undo_conflict"
    assert work.content("a.py") == b"ONE = 1\n\n\nTWO = 'by hand'\n"
    (shown,) = caught.value.details["versions"]
    assert shown == {
        "module": "a",
        "left": "ONE = 1\n\n\nTWO = 0\n",
        "now": "ONE = 1\n\n\nTWO = 'by hand'\n",
        "aim": "ONE = 0\n\n\nTWO = 0\n",
        "merged": "ONE = 0\n\n\nTWO = 'by hand'\n",
        "clean": True,
    }
    preview = caught.value.details["preview"]
    assert f"# a: what changed since {first} left it\n" in preview
    assert "-TWO = 0\n+TWO = 'by hand'\n" in preview
    assert "# a: what undo would give now\n" in preview
    assert "-ONE = 1\n+ONE = 0\n" in preview


def test_a_conflict_in_the_same_lines_is_marked_in_the_preview_only(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    work.project.write("a.py", b"A = 'by hand'\n")
    with pytest.raises(HistoryError) as caught:
        work.undo()
    preview = caught.value.details["preview"]
    assert "the marked lines were changed on both sides" in preview
    assert f"+>>>>>>> undo of {first}\n" in preview
    assert caught.value.details["versions"][0]["clean"] is False
    assert work.content("a.py") == b"A = 'by hand'\n"


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (None, "deleted file mode"),
        (b"\0\1\2", "it is too large, or no text"),
        (b"x = 1\n" * 6_000, "it is too large, or no text"),
        (b"\xff\xfe latin\n", "+\udcff\udcfe latin"),
    ],
)
def test_what_cannot_be_merged_line_by_line_is_reported(work: Work, now: bytes | None, expected: str) -> None:
    work.change("a.py", b"A = 1\n")
    file = work.project.root / "a.py"
    file.unlink() if now is None else file.write_bytes(now)
    with pytest.raises(HistoryError) as caught:
        work.undo()
    assert expected in caught.value.details["preview"]
    assert work.content("a.py") == now


def test_redo_too_refuses_what_has_changed_since(work: Work) -> None:
    work.change("a.py", b"A = 1\n")
    work.undo()
    work.project.write("a.py", b"A = 'by hand'\n")
    with pytest.raises(HistoryError, match="cannot be made again") as caught:
        work.redo()
    assert caught.value.code == "undo_conflict"
    assert work.content("a.py") == b"A = 'by hand'\n"


def test_redo_names_what_was_changed_after_the_undo(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    work.undo()
    second = work.change("a.py", b"A = 2\n")
    with pytest.raises(HistoryError) as caught:
        work.redo(first)
    assert caught.value.hints[0] == f"undo {second} first."


def test_redo_out_of_order_says_what_comes_first(work: Work) -> None:
    work.change("a.py", b"A = 1\n")
    second = work.change("a.py", b"A = 2\n")
    third = work.change("a.py", b"A = 3\n")
    work.undo(count=3)
    work.redo()
    with pytest.raises(HistoryError, match="cannot be made again") as caught:
        work.redo(third)
    assert caught.value.hints[0] == f"redo {second} first, then redo {third}."
    assert work.content("a.py") == b"A = 1\n"
    work.redo(second)
    work.redo(third)
    assert work.content("a.py") == b"A = 3\n"


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


def test_what_was_pruned_can_neither_be_undone_nor_redone(work: Work) -> None:
    first = work.change("a.py", b"A = 1\n")
    undo = work.undo()
    work.project.history.prune(lambda entry: entry.id == undo)
    with pytest.raises(HistoryError, match=f"{first} is no longer in the history"):
        work.redo(undo)
    with pytest.raises(HistoryError, match="nothing to redo"):
        work.redo()
    with pytest.raises(HistoryError, match=f"No operation has the id '{first}'"):
        work.undo(first)


def test_a_redo_of_what_was_pruned_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("A = 1\n")
    source = Source(tmp_path)
    source.edit("a.A", "A = 2\n", reload="off")
    undo = source.undo(reload="off").operation_id
    source.prune(keep=1)
    with pytest.raises(HistoryError, match=f"what {undo} undid is no longer in the history") as caught:
        source.redo(reload="off")
    assert (caught.value.code, (tmp_path / "a.py").read_text()) == ("nothing_to_undo", "A = 1\n")
    source.edit("a.A", "A = 3\n", reload="off")
    with pytest.raises(HistoryError, match="no undo of yours came after your last change"):
        source.redo(reload="off")


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_file_that_is_written_while_an_undo_is_planned_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dry_run: bool
) -> None:
    file = tmp_path / "m.py"
    file.write_text("A = 0\n")
    source = Source(tmp_path)
    source.edit("m.A", "A = 1", reload="off")
    read = Transactions.read

    def disturbed(self: Transactions, path: str, names: Mapping[str, str] | None = None) -> bytes | None:
        content = read(self, path, names)
        file.write_text("A = 'theirs'\n")
        return content

    monkeypatch.setattr(Transactions, "read", disturbed)
    with pytest.raises(HistoryError, match="changed outside") as caught:
        source.undo(reload="off", dry_run=dry_run)
    assert caught.value.code == "undo_conflict"
    assert file.read_text() == "A = 'theirs'\n"


def test_an_undo_that_conflicts_shows_the_preview_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("A = [\n    0,\n]\n\n\nB = 0\n")
    made = Source(tmp_path).edit("m.A", "A = [\n    1,\n]", reload="off").operation_id
    (tmp_path / "m.py").write_text("A = [\n    1,\n]\nA += [2]\n\n\nB = 'theirs'\n")
    words = [sys.executable, "-m", "bae_source", "undo", str(made)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout) == (7, "")
    assert done.stderr.startswith(f"error[undo_conflict]: {made} cannot be undone: m.A is no longer as it left it;")
    assert "+B = 'theirs'\n" in done.stderr
    assert "-    1,\n+    0,\n" in done.stderr
    done = subprocess.run([*words, "--json"], cwd=tmp_path, capture_output=True, check=False, text=True)
    answer = json.loads(done.stdout)
    assert answer["errors"][0]["code"] == "undo_conflict"
    assert "-    1,\n+    0,\n" in answer["diff"]
    assert "A += [2]" in (tmp_path / "m.py").read_text()


def test_several_are_undone_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("A = 0\n")
    source = Source(tmp_path, who="me")
    made = [str(source.edit("m.A", f"A = {number}", reload="off").operation_id) for number in (1, 2, 3)]
    words = [sys.executable, "-m", "bae_source", "undo", *made[1:], "--reload", "off", "--json"]
    answer = json.loads(subprocess.run(words, cwd=tmp_path, capture_output=True, check=True).stdout)
    assert answer["text"] == f"Undid 2 changes: {made[2]}, {made[1]}."
    assert answer["next_actions"] == [f"redo {made[2]} {made[1]}"]
    assert (tmp_path / "m.py").read_text() == "A = 1\n"


def test_a_dry_run_of_an_undo_shows_the_change_and_makes_none(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("A = 0\n")
    source = Source(tmp_path)
    source.edit("m.A", "A = 1", reload="off")
    source.edit("m.A", "A = 2", reload="off")
    planned = source.undo(count=2, dry_run=True)
    assert planned.status == "planned"
    assert "-A = 2\n+A = 0\n" in planned.diff
    assert (tmp_path / "m.py").read_text() == "A = 2\n"
    assert len(source.history().splitlines()) == 2


@pytest.mark.parametrize("verb", ["undo", "redo"])
def test_a_list_of_no_operations_is_malformed_and_not_the_last_one(tmp_path: Path, verb: str) -> None:
    (tmp_path / "m.py").write_text("A = 0\n")
    source = Source(tmp_path)
    source.edit("m.A", "A = 1", reload="off")
    source.edit("m.A", "A = 2", reload="off")
    source.undo(reload="off")
    with pytest.raises(RequestError, match=f"names no operation, so there is nothing to {verb}") as caught:
        getattr(source, verb)([], reload="off")
    assert caught.value.code == "invalid_arguments"
    answer = dispatch(verb, {"operation_id": []}, root=tmp_path)
    assert [each["code"] for each in answer["errors"]] == ["invalid_arguments"]
    assert (tmp_path / "m.py").read_text() == "A = 1\n"


@pytest.mark.parametrize("change", ["edit", "move"])
def test_a_package_that_has_become_a_file_is_named_and_stays(tmp_path: Path, change: str) -> None:
    (tmp_path / "pkg/sub").mkdir(parents=True)
    for name in ("pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/a.py"):
        (tmp_path / name).write_text("A = 0\n")
    source = Source(tmp_path)
    if change == "edit":
        source.edit("pkg.sub.a.A", "A = 1", reload="off")
        shutil.rmtree(tmp_path / "pkg/sub")
    else:
        source.move("pkg.sub", "pkg.other", reload="off")
    (tmp_path / "pkg/sub").write_text("theirs")
    with pytest.raises(
        Refused, match=r"could not be opened: 'sub', a folder above it, is a file now; nothing"
    ) as caught:
        source.undo(reload="off")
    assert caught.value.hints == ("Move that file away, and try again.",)
    assert (tmp_path / "pkg/sub").read_text() == "theirs"
