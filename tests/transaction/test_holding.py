"""One holder at a time, whatever is removed, forked or killed meanwhile."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from bae_source.errors import Refused, TransactionError
from bae_source.model.changeset import between
from bae_source.state.journal_head import NAME
from bae_source.transaction.commit.holding import Holder
from bae_source.transaction.commit.witness import NoWitness
from tests.transaction.support import Loads, Project, picture

A = b"A = 1\n"
NEW = {"a.py": b"A = 2\n"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return filled(tmp_path / "p")


def filled(root: Path, wait: float = 5.0) -> Project:
    project = Project(root, wait=wait)
    project.write("a.py", A)
    return project


def test_what_is_planned_while_the_project_is_held_is_never_stale(project: Project) -> None:
    """Another thread counts all the time; one that holds the project reads and commits without being overtaken."""
    project.write("n.py", b"0")
    done = threading.Event()
    refused: set[str] = set()

    def count() -> None:
        while not done.is_set():
            now = project.content("n.py") or b""
            try:
                project.make(between({"n.py": now}, {"n.py": b"%d" % (int(now) + 1)}))  # on what was read
            except Refused as error:
                refused.add(error.code)

    other = threading.Thread(target=count)
    other.start()
    for _ in range(10):
        with project.transactions.locked():
            now = int(project.content("n.py") or b"")
            project.commit({"n.py": b"%d" % (now + 100)})
            assert project.content("n.py") == b"%d" % (now + 100)
    done.set()
    other.join()
    assert int(project.content("n.py") or b"") >= 1000
    assert refused <= {"stale"}


def test_held_keeps_others_out_and_is_free_again_after_an_error(tmp_path: Path) -> None:
    project, other = filled(tmp_path / "p"), Project(tmp_path / "p", wait=0.05)
    with project.transactions.locked(), pytest.raises(Refused, match=f"Process {os.getpid()}"):
        other.commit(NEW)
    with pytest.raises(KeyboardInterrupt), project.transactions.locked():
        raise KeyboardInterrupt
    other.commit(NEW)


def test_a_lock_that_is_removed_while_it_is_held_takes_the_change_back(project: Project) -> None:
    before = picture(project.root)
    with pytest.raises(TransactionError, match="lock of the project was removed") as caught:
        project.commit(NEW, meanwhile=project.folders.lock.unlink)
    assert caught.value.code == "write_failed"
    assert picture(project.root) == before
    project.commit(NEW)


def test_it_is_free_again_after_an_error_whose_traceback_is_kept(project: Project) -> None:
    project.folders.make(project.folders.base)
    path = project.folders.base / NAME
    path.write_bytes(b"bae_source journal 99\n")
    with pytest.raises(Refused, match="a newer version wrote it") as kept:
        project.commit(NEW)
    path.unlink()
    Project(project.root, wait=0).commit(NEW)
    assert kept.value.__traceback__ is not None


def test_it_is_free_again_where_ctrl_c_came_before_the_caller_had_it(project: Project) -> None:
    project.commit(NEW)
    Holder(project.root, project.folders, project.disk, project.history, NoWitness(), wait=0).hold()
    Project(project.root, wait=0).commit({"a.py": A})


def test_a_staging_folder_that_was_removed_is_made_again(project: Project) -> None:
    for content in (b"A = 2\n", b"A = 3\n"):
        project.commit({"a.py": content})
        project.folders.staging.rmdir()
    assert project.content("a.py") == b"A = 3\n"


def test_who_removes_the_lock_does_not_get_in(tmp_path: Path) -> None:
    project, other = filled(tmp_path / "p"), Project(tmp_path / "p", wait=0.05)
    with project.transactions.locked():
        project.folders.lock.unlink()
        with pytest.raises(Refused) as caught:
            other.commit(NEW)
        assert caught.value.code == "busy"
        assert caught.value.details == {"pid": None}, "and not who asks, though he has the lock file now"
        assert other.transactions.recover() == ()
    other.commit(NEW)


def test_a_process_that_comes_after_the_lock_was_removed_waits_for_its_holder(tmp_path: Path) -> None:
    project, other = filled(tmp_path / "p"), Project(tmp_path / "p", wait=30)
    done: list[str] = []

    def work() -> None:
        other.commit(NEW)
        done.append("other")

    thread = threading.Thread(target=work)
    with project.transactions.locked():
        project.folders.lock.unlink()
        thread.start()
        thread.join(0.3)
        done.append("holder")
    thread.join()
    assert done == ["holder", "other"]
    assert project.content("a.py") == NEW["a.py"]


def test_a_child_that_is_forked_while_a_change_is_loaded_has_no_part_in_it(project: Project, tmp_path: Path) -> None:
    def fork() -> None:
        child = os.fork()
        if child:
            os.waitpid(child, 0)

    parent = os.getpid()
    loader = Loads(on_load=fork)
    try:
        project.commit(NEW, loader=loader)
    except RuntimeError:
        if os.getpid() == parent:
            raise
        (tmp_path / "child").write_text(" ".join(loader.calls))
        (tmp_path / "seen").write_bytes(project.content("a.py") or b"")
        os._exit(0)
    assert (tmp_path / "child").read_text() == "load roll_back"
    assert (tmp_path / "seen").read_bytes() == A, "it wrote nothing"
    assert loader.calls == ["load", "written"]
    assert project.content("a.py") == NEW["a.py"]
    assert project.transactions.recover() == ()


def test_children_that_outlive_a_killed_holder_do_not_hold_for_him(project: Project, tmp_path: Path) -> None:
    """The holder forks a child that sleeps, and dies; the child lives on with every descriptor that it inherited."""
    reading, writing = os.pipe()

    def fork() -> None:
        sleeper = os.fork()
        if not sleeper:
            time.sleep(60)
            os._exit(0)
        os.write(writing, b"%d\n" % sleeper)
        os.kill(os.getpid(), signal.SIGKILL)

    holder = os.fork()
    if not holder:
        project.commit(NEW, meanwhile=fork)
        os._exit(1)
    sleeper = int(os.read(reading, 100))
    os.waitpid(holder, 0)
    try:
        assert [notice.code for notice in project.transactions.recover()] == ["recovered"]
        assert project.content("a.py") == NEW["a.py"]
        Project(project.root, wait=0.05).commit({"a.py": A})
    finally:
        os.kill(sleeper, signal.SIGKILL)
        os.close(reading)
        os.close(writing)
