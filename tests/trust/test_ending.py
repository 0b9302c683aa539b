"""Killed while the project's own code runs: with kill -9 there is nothing that the process itself can do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bae_source.system.child import run as run_child
from tests.adapters.mcp.support import ENVELOPE, is_running
from tests.adapters.support import command, environment, run

pytestmark = pytest.mark.sampled

LINUX = sys.platform == "linux"
PATIENCE = 60.0
PROMPT = 5.0
"""Seconds within which everything has ended; as a rule it is a tenth of one."""

MODULE = "def f() -> int:\n    return 1\n"
HANGS = """\
import os, subprocess, sys, time

APART = {"start_new_session": True}
started = [subprocess.Popen(["sleep", "600"], **how) for how in ({}, APART)]
with open(PIDS + ".part", "w") as file:
    file.write(" ".join(str(each) for each in (os.getpid(), *(each.pid for each in started))))
os.rename(PIDS + ".part", PIDS)
time.sleep(600)
"""
"""Code that starts a process in its own group, and one in a session of its own, names all three, and hangs."""
ARGUMENTS = {"target": "app.f", "old": "return 1", "new": "return 2"}
PROGRAM = "import json, sys; from bae_source import Source; Source(sys.argv[1]).edit(**json.loads(sys.argv[2]))"

FORKS = """
import os, sys, threading, time


def fork():
    while not os.path.exists(sys.argv[3]):
        time.sleep(0.02)
    if not os.fork():
        with open(sys.argv[3] + ".part", "w") as file:
            file.write(str(os.getpid()))
        os.rename(sys.argv[3] + ".part", sys.argv[3] + ".copy")
        time.sleep(600)


threading.Thread(target=fork, daemon=True).start()
"""
"""What a program does first of which a copy is to live on, with every file that it has open meanwhile."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "app.py").write_text(MODULE)
    return root


@pytest.fixture
def pids(tmp_path: Path) -> Iterator[Path]:
    """Where the project's code writes which processes there are, beside it the copy of a program; all of them end."""
    file = tmp_path / "pids"
    yield file
    for path in (file, copy_of(file)):
        for each in path.read_text().split() if path.exists() else ():
            if is_running(int(each)):
                os.kill(int(each), signal.SIGKILL)


def copy_of(pids: Path) -> Path:
    return pids.with_name(pids.name + ".copy")


def hanging(pids: Path) -> str:
    return f"PIDS = {str(pids)!r}\n{HANGS}"


def as_test(root: Path, pids: Path) -> list[str]:
    """Have a test hang that judges the change."""
    body = "".join(f"    {line}\n" for line in hanging(pids).splitlines())
    (root / "test_app.py").write_text(f"from app import f\n\n\ndef test_f() -> None:\n    assert f()\n{body}")
    return ["tests"]


def as_type_checker(root: Path, pids: Path) -> list[str]:
    """Likewise the type checker of the project's environment."""
    program = root / ".venv" / "bin" / "mypy"
    program.parent.mkdir(parents=True)
    (program.parent / "python").symlink_to(sys.executable)
    (root / ".venv" / "pyvenv.cfg").write_text("")
    (root / "mypy.ini").write_text("[mypy]\n")
    program.write_text(f"#!{sys.executable}\n{hanging(pids)}")
    program.chmod(0o755)
    return ["types"]


def as_command(root: Path, pids: Path) -> list[str]:
    """Likewise a command of the caller's."""
    (root / "hangs.py").write_text(hanging(pids))
    return [f"command {sys.executable} hangs.py"]


def by_command_line(root: Path, verify: Sequence[str]) -> list[str]:
    words = [word for name in verify for word in ("--verify", name)]
    return command("edit", "app.f", "--old", "return 1", "--new", "return 2", *words, "--root", str(root))


def by_program(root: Path, verify: Sequence[str], before: str = "") -> list[str]:
    return [sys.executable, "-c", before + PROGRAM, str(root), json.dumps({**ARGUMENTS, "verify": list(verify)})]


def by_program_that_forks(root: Path, verify: Sequence[str]) -> list[str]:
    return by_program(root, verify, FORKS)


def by_server(root: Path, verify: Sequence[str]) -> list[str]:
    return command("mcp", "--root", str(root))


@contextmanager
def at_work(words: Sequence[str], root: Path, pids: Path, asked: bytes = b"") -> Iterator[subprocess.Popen[bytes]]:
    """Start a process, and wait until the project's code runs in one that it started."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(words, stdin=subprocess.PIPE, env=environment(), cwd=root, **quiet)
    try:
        assert process.stdin is not None
        process.stdin.write(asked)
        process.stdin.flush()
        until(pids.exists, "the project's code does not run", PATIENCE)
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()


def until(holds: Callable[[], bool], what: str, seconds: float = PROMPT) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def ended(pids: Path) -> Callable[[], bool]:
    """Return a function that says whether everything has ended that can be found here."""
    itself, beside, apart = map(int, pids.read_text().split())
    found = [itself, beside, apart] if LINUX else [itself, beside]
    assert all(map(is_running, found))
    return lambda: not any(map(is_running, found))


WAYS = [by_command_line, by_program, by_program_that_forks, by_server]
KINDS = [as_test, as_type_checker, as_command]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_what_runs_the_projects_code_ends_with_the_process_that_started_it(
    root: Path,
    pids: Path,
    way: Callable[[Path, Sequence[str]], list[str]],
    kind: Callable[[Path, Path], list[str]],
) -> None:
    verify = kind(root, pids)
    call = {"name": "edit", "arguments": {**ARGUMENTS, "verify": verify}, "_meta": ENVELOPE}
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}) + "\n"
    words = [*way(root, verify), *([str(pids)] if way is by_program_that_forks else [])]
    bystander = subprocess.Popen(["sleep", "600"], start_new_session=True)
    copy = copy_of(pids)
    try:
        with at_work(words, root, pids, asked.encode() if way is by_server else b"") as process:
            if way is by_program_that_forks:
                until(copy.exists, "there is no copy", PATIENCE)
            has_ended = ended(pids)
            assert (root / "app.py").read_text() == MODULE, "it is judged before it is written"
            process.kill()
            process.wait()
            until(has_ended, "the project's code goes on")
            assert bystander.poll() is None
            if copy.exists():
                assert is_running(int(copy.read_text()))
        done = run("read", "app.f", folder=root)
        assert (done.out.decode(), done.err) == (MODULE, b""), "there is nothing to recover"
        assert run("edit", "app.f", "--old", "return 1", "--new", "return 2", "--reload=off", folder=root).status == 0
    finally:
        bystander.kill()
        bystander.wait()


def test_a_language_server_that_hangs_ends_with_the_process_that_started_it(root: Path, pids: Path) -> None:
    program = pids.with_name("server.py")
    program.write_text(hanging(pids))
    asks = (
        "import os, sys; from pathlib import Path; "
        "from bae_source.language_server.language_server import LanguageServer; "
        "from bae_source.model.navigation import Question; from bae_source.model.span import Place; "
        "server = LanguageServer('ty', root=Path(sys.argv[1]), environment=os.environ, command=sys.argv[2:]); "
        "place = Place(line=1, column=5); "
        "server.ask([Question(path='app.py', text='x = 1', name=place, names=())], {}, seconds=600)"
    )
    with at_work([sys.executable, "-c", asks, str(root), sys.executable, str(program)], root, pids) as process:
        has_ended = ended(pids)
        process.kill()
        until(has_ended, "the language server goes on")


@pytest.mark.parametrize("forks", [False, True])
def test_the_worker_of_a_session_ends_with_its_host_though_a_copy_of_that_lives_on(
    root: Path, pids: Path, *, forks: bool
) -> None:
    asks = f"{FORKS if forks else ''}\nfrom bae_source import Session\nSession('.').run({hanging(pids)!r})"
    copy = copy_of(pids)
    with at_work([sys.executable, "-c", asks, "", "", str(pids)], root, pids) as process:
        has_ended = ended(pids)
        until(lambda: not forks or copy.exists(), "there is no copy", PATIENCE)
        process.kill()
        until(has_ended, "the worker goes on")


def test_a_fork_of_a_host_has_no_part_in_its_session_and_begins_one_of_its_own(root: Path) -> None:
    asks = (
        "import os; from bae_source import Session; session = Session('.')\n"
        "session.run('x = 1')\n"
        "if not os.fork():\n"
        "    print(session.run('x').outcome.text, session.run('1 + 1').outcome.text, sep='\\n', flush=True)\n"
        "    session.close(); os._exit(0)\n"
        "os.wait(); print(session.run('x').outcome.text); session.close()"
    )
    done = subprocess.run([sys.executable, "-c", asks], cwd=root, env=environment(), capture_output=True, timeout=60)
    lost, own, kept = done.stdout.decode().splitlines()
    assert "stayed with the process that this one is a fork of" in lost
    assert (own, kept) == ("2", "1")


def test_a_process_that_parses_for_us_ends_by_the_clock_where_its_pipe_does_not_end() -> None:
    code = "import bae_source.project.facts.pool as pool; pool._LONGEST_WAIT = 1; pool.serve()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, env=environment()) as process:
        assert process.wait(PATIENCE) == -signal.SIGALRM


@pytest.mark.skipif(not LINUX, reason="other systems give orphans to nobody of ours")
def test_what_drops_its_environment_and_its_session_ends_all_the_same(root: Path, pids: Path) -> None:
    words = [
        "/bin/sh",
        "-c",
        f"env -i setsid sh -c 'echo $$ > {pids}; exec sleep 600' & while ! [ -s {pids} ]; do :; done",
    ]
    assert run_child(words, folder=root, environment={"PATH": os.environ["PATH"]}, time_limit=PATIENCE).status == 0
    assert not is_running(int(pids.read_text()))


def test_a_child_that_ends_what_is_above_it_is_ended_too(root: Path, pids: Path) -> None:
    words = ["/bin/sh", "-c", f"echo $$ > {pids}; kill -9 $PPID; exec sleep 600"]
    assert run_child(words, folder=root, environment={}, time_limit=PATIENCE).status == -signal.SIGKILL
    until(lambda: not is_running(int(pids.read_text())), "the child goes on")


def test_a_fork_that_keeps_a_pipe_open_is_not_waited_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start, kept = subprocess.Popen, []

    def forked(*words: Any, pass_fds: Sequence[int], **how: Any) -> Any:
        kept.extend(map(os.dup, pass_fds))  # as one that another thread makes at this moment
        return start(*words, pass_fds=pass_fds, **how)

    monkeypatch.setattr(subprocess, "Popen", forked)
    begun = time.monotonic()
    assert (
        run_child([sys.executable, "-c", "print(1)"], folder=root, environment={}, time_limit=PATIENCE).output == b"1\n"
    )
    assert time.monotonic() - begun < PATIENCE / 4
    for each in kept:
        os.close(each)


def test_a_child_that_came_to_its_end_leaves_no_process_and_no_descriptor(root: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from bae_source.system.child import CannotStart, run\n"
        "def count(): return len(os.listdir('/dev/fd'))\n"
        "def start(*words, limit=60): return run(words, folder=Path('.'), environment={}, time_limit=limit)\n"
        "start(sys.executable, '-c', ''); before = count()\n"
        "assert start(sys.executable, '-c', 'print(1)').status == 0\n"
        "assert start('sleep', '60', limit=0.1).timed_out\n"
        "try: start('./no such program')\n"
        "except CannotStart: pass\n"
        "assert count() == before\n"
        "try: os.waitpid(-1, 0)\n"
        "except ChildProcessError: print('none')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment(), capture_output=True, timeout=60)
    assert done.stdout == b"none\n", done.stderr
