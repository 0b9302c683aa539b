"""A change is made whole and recorded, or not made at all."""

from __future__ import annotations

import errno
import shutil
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from bae_source.errors import HistoryError, Refused, TransactionError
from bae_source.history.record.entry import Entry
from bae_source.history.record.history import HistoryUnavailable
from bae_source.model.changeset import Edit, FileChange, between, changeset, digest
from bae_source.model.outcome import Notice
from bae_source.state.journal_head import NAME, SECTOR
from bae_source.state.lock import project_lock
from bae_source.transaction.commit import transaction
from tests.transaction.support import PATH, FaultyDisk, Loads, Project, ids, picture, plan

A, B = b"A = 1\n", b"B = 1\n"
NEW = {"a.py": b"A = 2\n", "b.py": b"B = 2\n"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return filled(tmp_path / "p")


def filled(root: Path, **more: Any) -> Project:
    project = Project(root, **more)
    project.write("a.py", A)
    project.write("b.py", B)
    return project


def raising(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def test_nothing_is_written_before_it_is_loaded_and_the_loader_hears_of_it_once_it_is_made(project: Project) -> None:
    seen: list[tuple[bytes | None, bytes]] = []
    before = picture(project.root)

    def load() -> tuple[Notice, ...]:
        here = {path: it for path, it in picture(project.root).items() if not path.startswith(".bae-source")}
        assert here == before
        return (Notice("loaded", "a was loaded."),)

    def written() -> tuple[Notice, ...]:
        seen.append((project.content("a.py"), (project.folders.base / NAME).read_bytes()[:SECTOR].split(b"\n")[1]))
        return (Notice("stale_bytecode", "Of a."),)

    loader = Loads(on_load=load, on_written=written)
    done = project.commit(NEW, loader=loader)
    assert seen == [(NEW["a.py"], b"committed")]
    assert loader.calls == ["load", "written"]
    assert [notice.code for notice in done.warnings] == ["loaded", "stale_bytecode", "history_unavailable"]
    assert done.operation_id == "op_0000"


def test_a_plan_on_bytes_that_are_no_longer_there_is_stale(project: Project) -> None:
    changes = between({"a.py": A, "b.py": B}, NEW)
    project.write("b.py", b"B = 'theirs'\n")
    before = picture(project.root)
    loader = Loads()
    with pytest.raises(Refused, match="b changed on disk") as caught:
        project.make(changes, loader=loader)
    assert caught.value.code == "stale"
    assert caught.value.details["paths"] == ["b.py"]
    assert loader.calls == []
    assert picture(project.root) == before


@pytest.mark.parametrize(
    "change", [({}, {"a.py": b"new"}), ({"c.py": b"gone"}, {}), ({"c.py": b"gone"}, {"c.py": b""})]
)
def test_a_file_that_came_or_went_since_is_stale(project: Project, change: tuple[Any, Any]) -> None:
    with pytest.raises(Refused) as caught:
        project.make(between(*change))
    assert caught.value.code == "stale"


@pytest.fixture(
    params=[
        TransactionError("reload_failed", "a does not import", unchanged=True),
        KeyboardInterrupt(),
        SystemExit(3),
        MemoryError(),
        GeneratorExit(),
    ],
    ids=lambda error: type(error).__name__,
)
def error(request: pytest.FixtureRequest) -> BaseException:
    return request.param  # type: ignore[no-any-return]


def test_whatever_loading_raises_nothing_is_written(project: Project, error: BaseException) -> None:
    project.commit({"other.py": b""})
    before = picture(project.root)
    journal = (project.folders.base / NAME).read_bytes()
    loader = Loads(on_load=raising(error))
    with pytest.raises(type(error)) as caught:
        project.commit({**NEW, "c/d.py": b"D\n"}, loader=loader)
    assert caught.value is error
    assert loader.calls == ["load", "roll_back"]
    assert picture(project.root) == before
    assert (project.folders.base / NAME).read_bytes() == journal


def test_whatever_is_raised_before_the_mark_takes_everything_back_and_goes_on(
    project: Project, error: BaseException
) -> None:
    project.commit({"other.py": b""})
    before, seen = picture(project.root), list[object]()
    loader = Loads(on_roll_back=lambda: seen.append(picture(project.root)))
    with pytest.raises(type(error)) as caught:
        project.commit({**NEW, "c/d.py": b"D\n"}, loader=loader, meanwhile=raising(error))
    assert caught.value is error
    assert loader.calls == ["load", "roll_back"]
    assert seen == [before], "files are back before modules are"
    assert picture(project.root) == before


def test_a_journal_that_cannot_be_written_puts_back_what_was_loaded(tmp_path: Path) -> None:
    filled(tmp_path / "p").commit({"other.py": b""})
    disk = FaultyDisk(1, errno.ENOSPC, only=frozenset({"write_at"}))
    project, loader = Project(tmp_path / "p", disk=disk), Loads()
    before = picture(project.root)
    with pytest.raises(Refused, match="its own state"):
        project.commit(NEW, loader=loader)
    assert disk.fired
    assert loader.calls == ["load", "roll_back"]
    assert picture(project.root) == before


def test_newer_bytes_of_another_writer_are_never_overwritten_by_a_rollback(project: Project) -> None:
    def interfere() -> None:
        project.write("b.py", b"B = 'theirs'\n")
        raise TransactionError("reload_failed", "a does not import", unchanged=True)

    with pytest.raises(TransactionError) as caught:
        project.commit(NEW, meanwhile=interfere)
    assert caught.value.code == "reload_failed"
    assert caught.value.message == "a does not import."
    (hint,) = caught.value.hints
    sentence, _, place = hint.removesuffix(".").rpartition(" ")
    assert sentence == "b was changed from outside meanwhile, and was left as it is. What it held before is in"
    assert Path(place).read_bytes() == B
    assert (project.content("a.py"), project.content("b.py")) == (A, b"B = 'theirs'\n")


def test_ctrl_c_pressed_again_during_the_rollback_does_not_stop_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = picture(project.root)
    pressed = iter([True, False, True, False, False, False])
    disk = project.disk
    rename = disk.rename

    def impatient(*arguments: Any) -> None:
        if arguments[0].startswith("old") and next(pressed):
            raise KeyboardInterrupt
        rename(*arguments)

    monkeypatch.setattr(disk, "rename", impatient)
    with pytest.raises(KeyboardInterrupt):
        project.commit(NEW, meanwhile=raising(KeyboardInterrupt()))
    assert picture(project.root) == before


@pytest.mark.parametrize("when", ["loading", "journaling", "writing"])
def test_a_loader_whose_rollback_fails_does_not_hide_the_first_error(
    project: Project, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    project.commit({"other.py": b""})
    before = picture(project.root)
    fail = raising(TransactionError("reload_failed", "a does not import."))
    loader = Loads(on_load=fail if when == "loading" else list, on_roll_back=raising(RuntimeError()))
    if when == "journaling":
        monkeypatch.setattr(project.disk, "write_out", lambda _: fail())
    with pytest.raises(TransactionError) as caught:
        project.commit(NEW, loader=loader, meanwhile=fail if when == "writing" else None)
    assert caught.value.code == "reload_failed"
    assert "could not be taken back (RuntimeError); restart it" in caught.value.hints[-1]
    assert picture(project.root) == before
    assert project.transactions.recover() == ()


@pytest.mark.parametrize("error", [RuntimeError(), KeyboardInterrupt(), OSError(errno.EIO, "it failed")], ids=repr)
def test_a_loader_that_fails_once_the_change_is_made_neither_undoes_nor_hides_it(
    tmp_path: Path, error: BaseException
) -> None:
    project = filled(tmp_path / "p", path=PATH)
    loader = Loads(on_written=raising(error))
    done = project.commit(NEW, loader=loader)
    assert set(loader.calls) == {"load", "written"}
    assert [notice.code for notice in done.warnings] == ["interrupted"]
    assert "and it stands" in done.warnings[0].message
    assert project.content("a.py") == NEW["a.py"]
    assert project.transactions.recover() == (), "nothing is left to do"
    assert ids(project.history.entries()) == ["op_0000"]


def test_busy_is_refused_with_the_holder_and_nothing_is_read(tmp_path: Path) -> None:
    project = filled(tmp_path / "p", wait=0.05)
    project.folders.make(project.folders.base)
    with project_lock(project.folders.lock, wait=0, pid=4711), pytest.raises(Refused, match="Process 4711") as caught:
        project.commit(NEW)
    assert caught.value.code == "busy"
    project.commit(NEW)


def test_of_two_threads_with_the_same_plan_one_is_made_and_one_is_stale(project: Project) -> None:
    outcomes: list[str] = []
    changes = between({"a.py": A}, {"a.py": b"A = 2\n"})
    barrier = threading.Barrier(2)

    def work() -> None:
        barrier.wait()
        try:
            project.make(changes)
            outcomes.append("made")
        except Refused as error:
            outcomes.append(error.code)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["made", "stale"]


def test_no_edit_is_lost_when_threads_count_together(project: Project) -> None:
    project.write("n.py", b"0")
    refused: set[str] = set()

    def count() -> None:
        done = 0
        while done < 10:
            now = project.content("n.py")
            assert now is not None
            try:
                project.make(between({"n.py": now}, {"n.py": b"%d" % (int(now) + 1)}))
                done += 1
            except Refused as error:
                refused.add(error.code)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert project.content("n.py") == b"40"
    assert refused <= {"stale"}


def test_an_empty_plan_and_a_plan_that_lies_are_mistakes_of_ours(project: Project) -> None:
    with pytest.raises(ValueError, match="something to change"):
        project.make(between({}, {}))
    lie = FileChange(path="a.py", before=digest(A), after=digest(b"?"), edits=(Edit(start=0, old=b"A", new=b"C"),))
    before = picture(project.root)
    with pytest.raises(ValueError, match="do not lead where"):
        project.make(changeset([lie]))
    assert picture(project.root) == before


def test_without_git_the_change_stands_and_a_notice_says_so(project: Project) -> None:
    done = project.commit(NEW)
    assert project.content("a.py") == NEW["a.py"]
    assert [notice.code for notice in done.warnings] == ["history_unavailable"]
    assert "git is not installed" in done.warnings[0].message
    assert "Install git" in done.warnings[0].message


def test_a_broken_history_costs_the_record_and_not_the_change(tmp_path: Path) -> None:
    project = filled(tmp_path / "p", path=PATH)
    project.commit({"a.py": b"A = 2\n"})
    assert project.history.entries()
    (project.folders.history / "HEAD").write_text("rubbish")
    done = project.commit({"a.py": b"A = 3\n"})
    assert project.content("a.py") == b"A = 3\n"
    assert done.warnings == ()
    for _ in range(2):
        with pytest.raises(HistoryError) as caught:
            project.history.entries()
        assert "history.git out of the way" in caught.value.hints[0]
    assert len(list(project.folders.pending.iterdir())) == 1, "it waits"


def test_the_record_holds_who_why_what_and_both_contents(tmp_path: Path) -> None:
    project = filled(tmp_path / "p", path=PATH)
    changes = between({"a.py": A}, {"a.py": b"A = 2\n"})
    project.transactions.commit(
        plan(changes, "edit a.A"), loader=Loads(), who="agent <7>", why="because", request={"verb": "edit", "n": 1}
    )
    entry = project.history.whole(project.history.entry("op_0000"))
    assert (entry.who, entry.why, entry.summary, entry.request) == (
        "agent <7>", "because", "edit a.A", {"verb": "edit", "n": 1},
    )  # fmt: skip
    assert entry.when == "2026-11-21T12:00:01+00:00"
    assert entry.files[0].name == "a"
    assert project.history.contents(entry) == ({"a.py": A}, {"a.py": b"A = 2\n"})


class _Interrupted:
    """A history that is interrupted while it records, before or after the record is there."""

    def __init__(self, project: Project, *, recorded: bool) -> None:
        self._history = project.history
        self._recorded = recorded

    def record(self, entry: Entry, before: Any, after: Any) -> None:
        if self._recorded:
            self._history.record(entry, before, after)
        raise KeyboardInterrupt


@pytest.mark.parametrize("recorded", [False, True])
def test_ctrl_c_behind_the_commit_point_comes_too_late_and_is_reported(tmp_path: Path, recorded: bool) -> None:
    project = filled(tmp_path / "p", path=PATH)
    done = Project(project.root, path=PATH, history=_Interrupted(project, recorded=recorded)).commit(NEW)
    assert [notice.code for notice in done.warnings] == ["interrupted"]
    assert project.content("a.py") == NEW["a.py"]
    assert ids(project.history.entries()) == ["op_0000"], "recorded once, by whoever reads the history next"


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("behind", ["load", "mark"])
def test_whenever_ctrl_c_comes_from_loading_on_it_is_either_taken_back_or_made_and_reported(
    project: Project, behind: str
) -> None:
    class Recorded:
        """A history that takes what it gets, so that nothing more waits for it each time."""

        def record(self, *_: Any) -> None:
            shutil.rmtree(project.folders.pending, ignore_errors=True)

        def has_lately(self, operation_id: str) -> bool:
            return project.history.has_lately(operation_id)

    recording = Project(project.root, history=Recorded())
    for number in count():
        new = {"a.py": b"A = %d\n" % (number + 10)}
        was, here = project.content("a.py"), list[str]()
        loader = Loads(on_load=lambda here=here: here.append("the new one"), on_roll_back=here.clear)
        with profiled(number, behind=behind) as interrupts:
            try:
                done = recording.commit(new, loader=loader)
            except KeyboardInterrupt:
                assert (project.content("a.py"), here) == (was, [])
                continue
        assert (project.content("a.py"), here) == (new["a.py"], ["the new one"])
        if not interrupts:
            break
        assert {notice.code for notice in done.warnings} <= {"recovered", "interrupted"}
    assert number > 50


_PACKAGE = Path(transaction.__file__).parents[2]
_SOURCES = {str(path) for area in ("transaction", "history") for path in (_PACKAGE / area).rglob("*.py")}


@contextmanager
def profiled(number: int, *, behind: str, sources: Collection[str] = _SOURCES) -> Iterator[list[str]]:
    """Press Ctrl-C at call `number` that is made in these files after one of that name; yield where it came."""
    left, places = number, list[str]()

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal left, behind
        if event == "call" and frame.f_code.co_name == behind:
            behind = ""
        if behind or event not in ("call", "c_return") or frame.f_code.co_filename not in sources:
            return
        left -= 1
        if left < 0:
            sys.setprofile(None)
            places.append(frame.f_code.co_name)
            raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        yield places
    finally:
        sys.setprofile(None)


def test_no_error_comes_after_the_record_even_if_nothing_can_be_cleaned_up(tmp_path: Path) -> None:
    disk = FaultyDisk(1, errno.EIO, forever=True, only=frozenset({"unlink", "rmdir"}))
    project = filled(tmp_path / "p", path=PATH, disk=disk)
    project.commit(NEW)
    assert project.content("a.py") == NEW["a.py"]
    assert ids(project.history.entries()) == ["op_0000"]


def test_state_that_cannot_be_written_is_refused_before_anything_happens(project: Project) -> None:
    (project.root / ".bae-source").write_bytes(b"in the way")
    with pytest.raises(Refused, match="its own state") as caught:
        project.commit(NEW)
    assert caught.value.code == "forbidden"
    assert project.content("a.py") == A


def test_an_interrupted_commit_leaves_nothing_to_the_next(project: Project) -> None:
    with pytest.raises(KeyboardInterrupt):
        project.commit(NEW, meanwhile=raising(KeyboardInterrupt()))
    project.commit(NEW)
    assert list(project.folders.staging.iterdir()) == []


def test_history_unavailable_says_why_and_what_to_do() -> None:
    error = HistoryUnavailable("git is away", "Fetch it.")
    assert (error.message, error.hint) == ("git is away", "Fetch it.")
