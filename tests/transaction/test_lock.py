"""One holder at a time, across threads and processes."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from bae_source.errors import Refused
from bae_source.state import lock
from bae_source.state.lock import project_lock

HOLDER = """
import sys, time
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from bae_source.state.lock import project_lock
import os
with project_lock(Path(sys.argv[1]), wait=5, pid=os.getpid()):
    print("held", flush=True)
    time.sleep(60)
"""
PACKAGE_ROOT = str(Path(__file__).parents[2])


def hold(path: Path) -> subprocess.Popen[bytes]:
    child = subprocess.Popen([sys.executable, "-c", HOLDER, str(path), PACKAGE_ROOT], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"held\n"
    child.stdout.close()
    return child


def test_busy_names_the_process_that_holds_it(tmp_path: Path) -> None:
    child = hold(tmp_path / "lock")
    try:
        with (
            pytest.raises(Refused, match=f"Process {child.pid} has been") as caught,
            project_lock(tmp_path / "lock", wait=0.05, pid=os.getpid()),
        ):
            raise AssertionError
        assert caught.value.code == "busy"
        assert caught.value.details == {"pid": child.pid}
    finally:
        child.kill()
        child.wait()


def test_a_killed_holder_lets_go(tmp_path: Path) -> None:
    child = hold(tmp_path / "lock")
    child.kill()
    child.wait()
    with project_lock(tmp_path / "lock", wait=1, pid=os.getpid()):
        assert (tmp_path / "lock").read_text().split()[0] == str(os.getpid())


def test_who_takes_it_again_does_not_write_the_file_again(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with project_lock(path, wait=0, pid=1):
        os.utime(path, (1, 1))
    with project_lock(path, wait=0, pid=1):
        assert path.stat().st_mtime == 1
    with project_lock(path, wait=0, pid=2):
        assert path.stat().st_mtime > 1
        assert path.read_text().split()[0] == "2"


def test_two_threads_are_never_inside_together(tmp_path: Path) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(10):
            with project_lock(tmp_path / "lock", wait=20, pid=os.getpid()):
                inside += 1
                most = max(most, inside)
                time.sleep(0.001)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_it_cannot_be_taken_twice_by_one_thread(tmp_path: Path) -> None:
    with (
        project_lock(tmp_path / "lock", wait=1, pid=7),
        pytest.raises(Refused, match="Process 7"),
        project_lock(tmp_path / "lock", wait=0, pid=8),
    ):
        raise AssertionError


def test_it_is_free_again_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), project_lock(tmp_path / "lock", wait=0, pid=1):
        raise KeyboardInterrupt
    with project_lock(tmp_path / "lock", wait=0, pid=1):
        pass


def test_a_lock_file_that_was_replaced_meanwhile_is_not_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, flock = tmp_path / "lock", fcntl.flock
    locked: list[int] = []

    def replaced_just_before(descriptor: int, operation: int) -> None:
        if not locked:
            path.unlink()
            path.touch()
        locked.append(os.fstat(descriptor).st_ino)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", replaced_just_before)
    with project_lock(path, wait=1, pid=2):
        assert path.read_text().split()[0] == "2"
        assert path.stat().st_ino == locked[-1]
    assert len(set(locked)) == 2


def test_a_forked_child_does_not_keep_it(tmp_path: Path) -> None:
    with project_lock(tmp_path / "lock", wait=0, pid=1):
        child = os.fork()
        if not child:
            time.sleep(30)
            os._exit(0)
    try:
        with project_lock(tmp_path / "lock", wait=0, pid=1):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_child_started_meanwhile_does_not_keep_it(tmp_path: Path) -> None:
    with project_lock(tmp_path / "lock", wait=0, pid=1):
        child = subprocess.Popen(["sleep", "60"])
    try:
        with project_lock(tmp_path / "lock", wait=0, pid=1):
            pass
    finally:
        child.kill()
        child.wait()


def interrupted(number: int, action: Callable[[], object]) -> bool:
    """Do it with Ctrl-C before instruction `number` of the lock's own module; say whether it came to that."""
    left = number

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename != lock.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left -= 1
            if left < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # Python 3.12 tells of none unless a frame asks before it begins to tell
    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return left < 0


@pytest.fixture
def strange(monkeypatch: pytest.MonkeyPatch) -> list[type[BaseException]]:
    """The errors that nobody could be told of."""
    errors: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: errors.append(found.exc_type))
    return errors


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_whenever_it_is_interrupted_it_is_free_then(tmp_path: Path, strange: list[type[BaseException]]) -> None:
    path = tmp_path / "lock"

    def take_and_let_go() -> None:
        with project_lock(path, wait=0, pid=1):
            pass

    take_and_let_go()
    for number in count():
        came = interrupted(number, take_and_let_go)
        assert strange in ([], [KeyboardInterrupt]), number
        strange.clear()
        assert not lock.descriptors, number
        take_and_let_go()
        if not came:
            break
    assert number > 100


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.usefixtures("strange")
def test_a_number_that_another_file_got_meanwhile_is_not_closed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    for number in count():
        mine = -1

        def take_and_let_go() -> None:
            nonlocal mine
            try:
                project_lock(path, wait=0, pid=1).release()
            except KeyboardInterrupt:
                mine = os.open(os.devnull, os.O_RDONLY)
                raise

        if not interrupted(number, take_and_let_go):
            break
        if mine >= 0:
            os.close(mine)  # which raises if that was done
