"""How processes are started: as programs, or as copies of a process that is ours, which take over its code alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from bae_source import Source
from bae_source.project.facts.kinds import SUMMARY
from bae_source.project.facts.pool import MANY, Result, serve
from bae_source.state.lock import project_lock
from bae_source.system.frames import frame, read_frame
from bae_source.system.own_process import Own, python
from tests.adapters.support import environment
from tests.project.test_pool import alive, open_files

CONTENT = b"def f():\n    return 1\n"
TOLD = (
    "import atexit, os, sys\n"
    "from bae_source.project.facts import pool\n"
    "pool._processors = lambda: 2\n"
    "os.register_at_fork(after_in_parent=lambda: os.write(2, b'copied '))\n"
    "atexit.register(os.write, 2, b'the end ')\n"
    "sys.stdout.write('begun')\n"
)
"""A process that tells of each copy of it and of its end, and has something to say that is not written yet."""
START = "from bae_source.__main__ import start; start()\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("large")
    (root / "m0.py").write_text("def f():\n    return 1\n")
    for number in range(1, MANY + 20):
        (root / f"m{number}.py").write_text(f"from m0 import f\nx = f() + {number}\n")
    return root


def program() -> Own:
    return waited_for(Own(python("bae_source.project.facts.pool:serve")))


def copy(work: Callable[[], None] = serve) -> Own:
    return waited_for(Own(work))


def waited_for(process: Own) -> Own:
    """Have reads wait until the process says something."""
    os.set_blocking(process.channel.into, True)
    return process


@pytest.fixture(params=[program, copy])
def started(request: pytest.FixtureRequest) -> Iterator[Own]:
    """A process that is at work; that this one has threads, which its test runner needs, is overlooked here."""
    process: Own = request.param()
    assert answered(process) == SUMMARY.extract(CONTENT)
    yield process
    process.end()
    assert not alive(process.pid)


def answered(process: Own) -> bytes:
    process.channel.send(frame(msgspec.msgpack.encode(("summary", [CONTENT]))))
    with open(process.channel.into, "rb", closefd=False) as stream:
        body = read_frame(stream)
    assert body is not None
    return msgspec.msgpack.decode(body, type=list[Result])[0][0]


def asked(root: Path, around: str, *, before: str = "") -> tuple[str, bytes]:
    """Ask for references in a process that tells of itself; without a cache, so that there is something to do.

    Parameters:
        around: how that process begins.
        before: what a shell does before it becomes that process.
    """
    shutil.rmtree(root / ".bae-source", ignore_errors=True)
    words = [sys.executable, "-c", TOLD + around, "references", "m0.f", "--json", "--budget", "100000"]
    shell = ["sh", "-c", f'{before} exec "$@"', "sh", *words]
    done = subprocess.run(shell, cwd=root, capture_output=True, env=environment(), timeout=60)
    assert done.returncode == 0, done
    assert done.stdout.count(b"begun") == 1
    return json.loads(done.stdout.replace(b"begun", b""))["text"], done.stderr


@pytest.fixture(scope="module")
def text(project: Path) -> str:
    """The answer, as a program of others gets it."""
    found = Source(project).references("m0.f").outcome.text
    assert found.count("[call in x]") == MANY + 19
    return found


def test_a_command_line_has_copies_of_itself_do_the_work_and_says_everything_once(project: Path, text: str) -> None:
    assert asked(project, START) == (text, b"copied the end ")


@pytest.mark.parametrize(
    "before",
    ["exec 0<&-;", "trap '' CHLD INT;", "ulimit -n 12;"],
    ids=["no standard input", "ignored signals", "few open files"],
)
def test_what_a_command_line_is_started_with_makes_no_difference(project: Path, text: str, before: str) -> None:
    assert asked(project, START, before=before) == (text, b"copied the end ")


@pytest.mark.parametrize(
    "around",
    [
        "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n" + START,
        "import _thread, time; _thread.start_new_thread(time.sleep, (60,))\n" + START,
        "sys.settrace(lambda *_: None)\n" + START,
        "sys.setprofile(lambda *_: None)\n" + START,
        "import cProfile; profile = cProfile.Profile(); profile.enable()\n" + START,
        "from bae_source.__main__ import main; main()\n",
        "from bae_source.adapters.cli.cli import main; main()\n",
    ],
    ids=[
        "a thread",
        "a thread that Python does not know of",
        "a debugger",
        "a profiler",
        "Python's own profiler",
        "a host",
        "a host's call",
    ],
)
def test_a_process_that_is_not_ours_alone_is_never_copied(project: Path, text: str, around: str) -> None:
    assert asked(project, around) == (text, b"the end ")


@pytest.mark.parametrize("start", [program, copy])
def test_a_process_has_no_file_open_but_its_pipes(tmp_path: Path, started: Own, start: Callable[[], Own]) -> None:
    with project_lock(tmp_path / "lock", wait=0, pid=os.getpid()):
        other = start()
        assert answered(other) == SUMMARY.extract(CONTENT)
        ours, its = open_files(), open_files(other.pid)
        other.end()
    out, into = other.channel.out, other.channel.into
    assert set(its.values()) == {os.devnull, ours[out], ours[into]}
    assert (its[0], its[1], its[2]) == (ours[out], os.devnull, os.devnull)
    first = started.channel
    assert not {ours[first.out], ours[first.into]} & set(its.values()), "or the first would outlive us"
    assert out not in open_files()
    assert into not in open_files()


def test_a_copy_handles_and_blocks_no_signal_and_leaves_ours_as_they_were() -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    before = signal.signal(signal.SIGTERM, refuse), signal.pthread_sigmask(signal.SIG_BLOCK, [])
    try:
        process = copy()
        answered(process)
        status = dict(line.split(":") for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
        assert int(status["SigBlk"], 16) == 0
        assert not any(int(status["SigCgt"], 16) >> number - 1 & 1 for number in (signal.SIGINT, signal.SIGTERM))
        os.kill(process.pid, signal.SIGTERM)
        assert os.read(process.channel.into, 1) == b"", "it ends as the system has it"
        process.end()
    finally:
        signal.signal(signal.SIGTERM, before[0])
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before[1]


def test_a_process_ends_when_no_writer_to_it_is_left(started: Own) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), started.channel.out)
    assert os.read(started.channel.into, 1) == b""


def test_a_copy_ends_with_all_that_it_started() -> None:
    def work() -> None:
        child = os.fork()
        if child:
            os.write(1, b"%d " % child)
        while True:
            signal.pause()

    process = copy(work)
    child = int(os.read(process.channel.into, 100))
    process.end()
    limit = time.monotonic() + 10
    while alive(child) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not alive(child)


def test_a_copy_whose_work_raises_says_nothing_and_does_nothing_more(capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise KeyboardInterrupt

    here = os.getpid()
    try:
        process = copy(work)
    finally:
        if os.getpid() != here:
            os._exit(7)
    assert os.waitpid(process.pid, 0)[1] == 1 << 8
    assert capfd.readouterr() == ("", "")
    process.end()


def test_a_copy_that_has_only_begun_is_ended_at_once() -> None:
    for _ in range(20):
        process = copy()
        process.end()
        assert not alive(process.pid)


def test_a_copy_of_a_process_without_standard_error_has_its_pipes_all_the_same() -> None:
    program = (
        "import msgspec, os\n"
        "from bae_source.project.facts.pool import serve\n"
        "from bae_source.system.frames import frame, wait\n"
        "from bae_source.system.own_process import Own\n"
        "os.close(2)\n"
        "process = Own(serve)\n"
        "assert process.channel.out == 3, 'the other end is 2'\n"
        "process.channel.send(frame(msgspec.msgpack.encode(('summary', [b'']))))\n"
        "wait(60, [process.channel])\n"
        "print(len(process.channel.exchange()))\n"
        "process.end()\n"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60).stdout == b"1\n"


def test_an_interruption_while_a_copy_is_made_leaves_none() -> None:
    program = (
        "import os, signal\n"
        "from bae_source.system.own_process import Own\n"
        "os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "before = os.listdir('/proc/self/fd')\n"
        "try: Own(lambda: None)\n"
        "except KeyboardInterrupt: print('interrupted')\n"
        "try: os.waitpid(-1, 0)\n"
        "except ChildProcessError: print('no child')\n"
        "print(os.listdir('/proc/self/fd') == before, signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("interrupted\nno child\nTrue set()\n", "")
