"""What a process that died leaves is finished by the next one, which says what it did."""

from __future__ import annotations

import errno
import os
import signal
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bae_source.errors import Refused, TransactionError
from bae_source.history.record.entry import Entry
from bae_source.state.journal_head import NAME
from bae_source.state.lock import project_lock
from bae_source.transaction.disk.port import RealDisk
from tests.transaction.support import PATH, FaultyDisk, Project, ids, picture

OLD = {"a.py": b"A = 1\n", "pkg/b.py": b"B = 1\n", "gone/only.py": b"G = 1\n"}
NEW = {"a.py": b"A = 2\n", "pkg/b.py": b"B = 2\n", "gone/only.py": None, "new/deep/c.py": b"C = 1\n"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return filled(tmp_path / "p")


def filled(root: Path, **more: Any) -> Project:
    project = Project(root, **more)
    for path, content in OLD.items():
        project.write(path, content)
    return project


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _Dying:
    """A history that dies before or after it records."""

    def __init__(self, project: Project, *, recorded: bool) -> None:
        self._history = project.history
        self._recorded = recorded

    def record(self, entry: Entry, before: Any, after: Any) -> None:
        if self._recorded:
            self._history.record(entry, before, after)
        die()


def in_child(action: Callable[[], object]) -> None:
    """Do it in a forked process, which dies of it."""
    child = os.fork()
    if not child:
        try:
            action()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it was to die"


def crashed(project: Project, new: Any = NEW) -> None:
    """Make a change whose process dies when everything is written and nothing is committed."""
    in_child(lambda: project.commit(new, meanwhile=die))


def crashed_later(project: Project, *, recorded: bool) -> None:
    """Make a change whose process dies behind the commit point."""
    dying = Project(project.root, path=PATH, history=_Dying(project, recorded=recorded))
    in_child(lambda: dying.commit(NEW))


def staged(project: Project) -> list[Path]:
    return list(project.folders.staging.iterdir())


def test_an_uncommitted_change_is_taken_back_and_reported(project: Project) -> None:
    before = picture(project.root)
    crashed(project)
    assert project.content("a.py") == b"A = 2\n"
    (notice,) = project.transactions.recover()
    assert notice.code == "recovered"
    assert notice.message == ("op_0000 (edit) was interrupted, and was taken back: gone.only, a, pkg.b, new.deep.c.")
    assert picture(project.root) == before
    assert staged(project) == []
    assert project.transactions.recover() == ()


@pytest.mark.parametrize("recorded", [False, True])
def test_what_was_committed_stands_and_is_recorded_once(tmp_path: Path, recorded: bool) -> None:
    project = filled(tmp_path / "p", path=PATH)
    crashed_later(project, recorded=recorded)
    (notice,) = project.transactions.recover()
    assert notice.code == "recovered"
    assert notice.message.startswith("op_0000 (edit) had been made when its process ended, and it stands: ")
    assert {path: project.content(path) for path in NEW} == NEW
    assert not (project.root / "gone").exists()
    assert staged(project) == []
    assert ids(project.history.entries()) == ["op_0000"]
    before, after = project.history.contents(project.history.entry("op_0000"))
    assert after == NEW
    assert before == {**OLD, "new/deep/c.py": None}


def test_what_was_recorded_but_not_cleaned_up_is_recorded_once(tmp_path: Path) -> None:
    class Disk(RealDisk):
        """The process dies when it removes the first old file."""

        def unlink(self, *_: Any) -> None:
            die()

    project = filled(tmp_path / "p", path=PATH)
    in_child(lambda: Project(project.root, path=PATH, disk=Disk()).commit(NEW))
    assert len(staged(project)) == 3
    assert "and it stands" in project.transactions.recover()[0].message
    assert {path: project.content(path) for path in NEW} == NEW
    assert staged(project) == []
    assert ids(project.history.entries()) == ["op_0000"]


def test_the_next_change_recovers_first_and_says_so(project: Project) -> None:
    crashed(project)
    with pytest.raises(Refused) as caught:
        project.commit({"a.py": b"A = 3\n"})
    assert caught.value.code == "stale", "it was planned on what has just been taken back"
    done = project.commit({"a.py": b"A = 3\n"})
    assert project.content("a.py") == b"A = 3\n"
    assert project.content("pkg/b.py") == b"B = 1\n"
    assert "history_unavailable" in [notice.code for notice in done.warnings]


def test_a_change_that_is_planned_on_the_old_state_goes_through_and_tells_of_the_recovery(project: Project) -> None:
    crashed(project, {"pkg/b.py": b"B = 2\n", "c.py": b"C = 2\n"})
    done = project.commit({"a.py": b"A = 3\n"})
    assert [notice.code for notice in done.warnings] == ["recovered", "history_unavailable"]
    assert (project.content("a.py"), project.content("pkg/b.py")) == (b"A = 3\n", b"B = 1\n")


def test_a_later_edit_is_left_and_the_old_content_is_kept(project: Project) -> None:
    crashed(project)
    project.write("pkg/b.py", b"B = 'theirs'\n")
    (notice,) = project.transactions.recover()
    sentence, _, place = notice.message.removesuffix(".").rpartition(" ")
    assert sentence.endswith(
        "pkg.b was changed from outside meanwhile, and was left as it is. What it held before is in"
    )
    assert Path(place).read_bytes() == b"B = 1\n"
    assert project.content("pkg/b.py") == b"B = 'theirs'\n"
    assert project.content("a.py") == b"A = 1\n"
    assert project.transactions.recover() == ()


def test_a_file_that_was_put_back_already_stays_and_nothing_is_missed(project: Project) -> None:
    crashed(project)
    project.write("a.py", b"A = 1\n")
    (project.root / "new/deep/c.py").unlink()
    project.transactions.recover()
    assert {path: project.content(path) for path in OLD} == OLD
    assert not (project.root / "new").exists()


def test_a_folder_that_was_removed_or_replaced_is_left_alone(project: Project) -> None:
    crashed(project, {"pkg/b.py": b"B = 2\n", "a.py": b"A = 2\n"})
    (project.root / "pkg/b.py").unlink()
    (project.root / "pkg").rmdir()
    (project.root / "pkg").symlink_to("/nowhere")
    (notice,) = project.transactions.recover()
    assert "pkg.b was changed from outside" in notice.message
    assert (project.root / "pkg").is_symlink()
    assert project.content("a.py") == b"A = 1\n"


def test_who_writes_the_same_before_us_is_not_taken_back(project: Project) -> None:
    class Disk(RealDisk):
        """The process dies just before it puts its file in place."""

        def exchange(self, *_: Any) -> None:
            die()

    in_child(lambda: Project(project.root, disk=Disk()).commit({"a.py": b"A = 2\n"}))
    project.write("a.py", b"A = 2\n")
    project.transactions.recover()
    assert project.content("a.py") == b"A = 2\n", "it was somebody else who wrote that"


def test_an_edit_by_a_descriptor_opened_before_survives_in_the_old_file(project: Project) -> None:
    with (project.root / "a.py").open("r+b") as editor:
        crashed(project, {"a.py": b"A = 2\n"})
        editor.write(b"A = 9\n")
    (notice,) = project.transactions.recover()
    assert "a was changed from outside meanwhile" in notice.message
    assert project.content("a.py") == b"A = 9\n"


def test_a_save_in_the_moment_of_the_crash_is_put_back(project: Project) -> None:
    class Disk(RealDisk):
        """Somebody saves between the comparison and the exchange, and the process dies right after that."""

        def exchange(self, *arguments: Any) -> None:
            other = project.write("draft", b"A = 'theirs'\n")
            other.rename(project.root / "a.py")
            super().exchange(*arguments)
            die()

    in_child(lambda: Project(project.root, disk=Disk()).commit({"a.py": b"A = 2\n"}))
    assert project.content("a.py") == b"A = 2\n"
    (notice,) = project.transactions.recover()
    assert "a was changed from outside meanwhile" in notice.message
    assert project.content("a.py") == b"A = 'theirs'\n"


def test_what_was_replaced_from_beside_itself_is_known_for_ours(project: Project) -> None:
    class Disk(RealDisk):
        """No rename leads from one folder to another, though the device is the same."""

        def exchange(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
            if source_folder != target_folder:
                raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
            super().exchange(source, target, source_folder, target_folder)

    for new, expected in (({"a.py": b"A = 2\n"}, "and it stands: a."), (NEW, "was interrupted, and was taken back: ")):
        before = picture(project.root)
        in_child(lambda new=new: Project(project.root, disk=Disk()).commit(new, meanwhile=die))
        assert project.content("a.py") == b"A = 2\n"
        (notice,) = project.transactions.recover()
        assert expected in notice.message
        assert staged(project) == []
        assert (picture(project.root) == before) == (new == NEW)


def test_a_living_process_at_work_is_waited_for_a_moment_and_nothing_is_done_to_its_change(project: Project) -> None:
    crashed(project)
    with project_lock(project.folders.lock, wait=0, pid=os.getpid()):
        assert project.transactions.recover() == ()
        assert project.content("a.py") == b"A = 2\n"
    (notice,) = project.transactions.recover()
    assert notice.code == "recovered"


def test_a_project_without_anything_of_ours_gets_nothing_by_being_recovered(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    assert project.transactions.recover() == ()
    assert list(project.root.iterdir()) == []


def test_compiled_code_of_what_was_taken_back_is_forgotten(project: Project) -> None:
    crashed(project)
    compiled = project.write("pkg/__pycache__/b.cpython-311.pyc", b"of the new source")
    other = project.write("pkg/__pycache__/bb.cpython-311.pyc", b"of another")
    project.transactions.recover()
    assert (compiled.exists(), other.exists()) == (False, True)


def test_compiled_code_of_the_source_before_a_change_that_was_made_is_forgotten(project: Project) -> None:
    crashed_later(project, recorded=False)
    compiled = project.write("pkg/__pycache__/b.cpython-311.pyc", b"of the old source")
    (notice,) = project.transactions.recover()
    assert "and it stands" in notice.message
    assert (compiled.exists(), project.content("pkg/b.py")) == (False, NEW["pkg/b.py"])


def test_compiled_code_that_python_takes_for_nothing_that_is_there_stays(project: Project) -> None:
    crashed(project)
    now = int((project.root / "pkg/b.py").stat().st_mtime)
    size = len(OLD["pkg/b.py"])
    headers = {"earlier": (0, now - 100, size), "longer": (0, now, size + 1), "same": (0, now, size), "hash": (3, 0, 0)}
    for name, fields in headers.items():
        project.write(f"pkg/__pycache__/b.{name}.pyc", struct.pack("<4xIII", *fields))
    project.transactions.recover()
    left = {path.name for path in (project.root / "pkg/__pycache__").iterdir()}
    assert left == {"b.earlier.pyc", "b.longer.pyc", "b.hash.pyc"}


@pytest.mark.parametrize("error", [errno.EIO, errno.EACCES])
def test_a_change_that_cannot_be_taken_back_is_reported_and_refuses_changes_until_it_can(
    project: Project, error: int
) -> None:
    crashed(project)
    disk = FaultyDisk(1, error, forever=True, only=frozenset({"rename", "rename_new", "exchange"}))
    broken = Project(project.root, disk=disk)
    (notice,) = broken.transactions.recover()
    assert notice.code == "recovery_failed"
    assert (
        "op_0000 (edit) was interrupted, and new.deep.c, pkg.b, a, gone.only could not be taken back." in notice.message
    )
    with pytest.raises(TransactionError, match="could not be taken back") as caught:
        broken.commit({"other.py": b"O\n"})
    assert caught.value.code == "rollback_failed"
    copies = {file["path"]: file["old_content"] for file in caught.value.details["files"]}
    assert {path: Path(copies[path]).read_bytes() for path in OLD} == OLD
    assert copies["new/deep/c.py"] is None
    assert not (project.root / "other.py").exists()
    assert [notice.code for notice in project.transactions.recover()] == ["recovered"]
    assert {path: project.content(path) for path in OLD} == OLD


def test_a_full_disk_hinders_no_recovery(project: Project) -> None:
    crashed(project)
    full = FaultyDisk(1, errno.ENOSPC, forever=True, only=frozenset({"write", "mkdir", "rename"}))
    (notice,) = Project(project.root, disk=full).transactions.recover()
    assert notice.code == "recovered"
    assert {path: project.content(path) for path in NEW} == {**OLD, "new/deep/c.py": None}


def test_a_journal_of_another_version_is_reported_and_left_and_refuses_changes(project: Project) -> None:
    project.folders.make(project.folders.base)
    path = project.folders.base / NAME
    path.write_bytes(b"bae_source journal 99\n")
    (notice,) = project.transactions.recover()
    assert notice.code == "recovery_failed"
    assert str(path) in notice.message
    with pytest.raises(Refused, match="a newer version wrote it") as caught:
        project.commit(NEW)
    assert caught.value.code == "forbidden"
    assert project.content("a.py") == b"A = 1\n"
    assert path.read_bytes() == b"bae_source journal 99\n"


def test_who_dies_while_he_writes_the_journal_leaves_nothing_unfinished(project: Project) -> None:
    class Disk(RealDisk):
        """The process dies when it has written the head of a record and some of what follows."""

        def write_at(self, file: int, content: memoryview, offset: int) -> int:
            super().write_at(file, content[:700], offset)
            die()
            raise AssertionError

    project.commit({"other.py": b""})
    before = picture(project.root)
    in_child(lambda: Project(project.root, disk=Disk()).commit({"a.py": b"A = 2\n"}))
    assert not project.folders.is_idle()
    assert project.transactions.recover() == ()
    assert project.folders.is_idle()
    assert picture(project.root) == before


def test_staging_that_a_power_cut_brought_back_is_swept(project: Project) -> None:
    project.folders.make(project.folders.staging)
    (project.folders.staging / "op_dead-0").write_bytes(b"old")
    project.commit({"a.py": b"A = 2\n"})
    assert staged(project) == []


def test_projects_of_one_repository_recover_each_other(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    (tmp_path / "deep").mkdir()
    one, other, top = (filled(tmp_path / name, path=PATH) for name in ("one", "deep/other", "."))
    assert one.folders.base == other.folders.base == top.folders.base
    for crashing, recovering in ((one, other), (other, top), (top, one)):
        before = {path: crashing.content(path) for path in NEW}
        crashed(crashing)
        assert crashing.content("a.py") == NEW["a.py"]
        assert [notice.code for notice in recovering.transactions.recover()] == ["recovered"]
        assert {path: crashing.content(path) for path in NEW} == before
    crashed_later(other, recorded=False)
    one.transactions.recover()
    assert ids(one.history.entries()) == []
    assert ids(other.history.entries()) == ["op_0000"]
    assert other.content("a.py") == NEW["a.py"]
