"""A machine or file system without file locks: reading answers, and a change is refused in one sentence."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.transaction.disk.port import RealDisk
from benchmarks.crash.faults import in_child
from tests.adapters.mcp.support import Raw
from tests.adapters.support import REPOSITORY, command, environment
from tests.trust import without_locks

pytestmark = pytest.mark.sampled

HIDING = """\
import builtins

found = builtins.__import__


def hiding(name, globals=None, *rest, **named):
    if name == "fcntl" and (globals or {}).get("__name__", "").startswith("bae_source."):
        raise ModuleNotFoundError("No module named 'fcntl'", name="fcntl")
    return found(name, globals, *rest, **named)


builtins.__import__ = hiding
"""
"""A module that hides `fcntl` from our own code, as Windows does; the libraries that need it elsewhere keep it."""

LACKING = """\
import os

for name in ("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "fork", "geteuid", "register_at_fork"):
    delattr(os, name)
"""
"""The same for names of `os` that Windows has not."""

FILES = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n',
    "app/__init__.py": "",
    "app/m.py": "x = 1\n\n\ndef f():\n    return x\n",
}
SOURCE = "def f():\n    return 2\n"
REASON = {
    "module": "this system has no file locks, without which two changes at the same time could mix",
    "kernel": "its file system has no locks, without which two changes at the same time could mix",
}
NEXT = "Change a copy of the project on a local disk of Linux or macOS; reading and --dry-run work here as well."


class Machine:
    """A machine without locks.

    Parameters:
        kind: `module`, where Python has no `fcntl`, or the error of the kernel.
    """

    def __init__(self, kind: str, folder: Path) -> None:
        self.reason = REASON["module" if kind == "module" else "kernel"]
        self.prefix: list[str] = []
        self.paths = str(REPOSITORY)
        if kind == "module":
            folder.joinpath("sitecustomize.py").write_text(HIDING)
            self.paths = os.pathsep.join((str(folder), self.paths))
        else:
            self.prefix = [sys.executable, str(Path(without_locks.__file__)), kind]

    def run(self, *words: str, project: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a program."""
        return subprocess.run(
            [*self.prefix, *words],
            cwd=project,
            env=environment(PYTHONPATH=self.paths),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def call(self, *argv: str, project: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run the command line."""
        return self.run(*command(*argv), project=project, stdin=stdin)


def _machine(kind: str, folder: Path) -> Machine:
    if kind != "module" and not (sys.platform == "linux" and platform.machine() in without_locks.CALLS):
        pytest.skip("this system has no filter of system calls that we know")
    folder.mkdir()
    return Machine(kind, folder)


@pytest.fixture(params=["module", "ENOLCK", "ENOSYS", "EOPNOTSUPP", "EINVAL"])
def any_machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    return _machine(request.param, tmp_path / "start")


@pytest.fixture(params=["module", "ENOLCK"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    """One without the module, and one whose kernel refuses; all its refusals become one error in one place."""
    return _machine(request.param, tmp_path / "start")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def test_locks_fail_there_and_nothing_else_does(any_machine: Machine, project: Path) -> None:
    code = "from bae_source.system.descriptors import lock; lock(open('lock', 'w').fileno())"
    done = any_machine.run(sys.executable, "-c", code, project=project)
    assert done.stderr.splitlines()[-1].startswith("bae_source.system.descriptors.NoLocks: "), done.stderr


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--help"], "Code is addressed by name"),
        (["edit", "--help"], "--source"),
        (["read", "app.m.f"], "return x"),
        (["references", "app.m.x"], "app.m\n"),
        (["grep", "ret"], "return x"),
        (["glob", "app.m.*"], "app.m.f"),
        (["history"], "no operations"),
        (["edit", "app.m.f", "--source", "-", "--dry-run"], "+    return 2"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_needs_no_lock_answers(machine: Machine, project: Path, argv: list[str], expected: str) -> None:
    done = machine.call(*argv, project=project, stdin=SOURCE)
    assert done.returncode == 0
    assert not any(word in done.stderr for word in ("Traceback", "warning", "error"))
    assert expected in done.stdout


def test_a_change_is_refused_with_the_reason_and_what_to_do(any_machine: Machine, project: Path) -> None:
    done = any_machine.call("edit", "app.m.f", "--source", "-", project=project, stdin=SOURCE)
    what = f"bae_source cannot write its own state: {any_machine.reason}; nothing was changed."
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr == f"error[forbidden]: {what}\n  -> {NEXT}\n"
    assert (project / "app/m.py").read_text() == FILES["app/m.py"]


def test_what_changes_the_history_is_refused_likewise(machine: Machine, project: Path) -> None:
    assert Source(project).edit("app.m.f", SOURCE).changed
    assert Source(project).history(), "what waits is recorded where there are locks"
    made = (project / "app/m.py").read_text()
    listed = machine.call("history", project=project)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "app.m.f" in listed.stdout
    for argv, status in (["undo"], 5), (["forget"], 5), (["prune", "--keep", "1"], 7):
        done = machine.call(*argv, project=project)
        assert (done.returncode, done.stdout) == (status, "")
        assert machine.reason.partition(",")[0] in done.stderr
        assert "Traceback" not in done.stderr
    assert (project / "app/m.py").read_text() == made


def test_the_doctor_says_that_no_change_can_be_made(machine: Machine, project: Path) -> None:
    machine.call("edit", "app.m.f", "--source", "-", project=project, stdin=SOURCE)
    done = machine.call("doctor", project=project)
    assert (done.returncode, done.stderr) == (1, "")
    assert "state_not_writable: " in done.stdout
    assert "cannot be locked, since this system or its file system has no locks: no change can be made" in done.stdout


def test_a_change_that_a_dead_process_left_is_named_and_left(
    machine: Machine, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exchange(disk: RealDisk, *arguments: Any) -> None:
        replace(disk, *arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    replace = RealDisk.exchange
    with monkeypatch.context() as patched:
        patched.setattr(RealDisk, "exchange", exchange)
        assert in_child(partial(Source(project).edit, "app.m.f", SOURCE)) == signal.SIGKILL
    left = (project / "app/m.py").read_text()
    done = machine.call("read", "app.m.x", project=project)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "x = 1")
    assert f"warning[recovery_failed]: bae_source cannot write its own state: {machine.reason}" in done.stderr
    assert (project / "app/m.py").read_text() == left


def test_functions_answer_and_refuse_in_the_same_words(machine: Machine, project: Path) -> None:
    code = (
        "import json, sys; from bae_source.functions import dispatch\n"
        "read = dispatch('read', {'target': 'app.m.f'}); assert read['status'] == 'answer', read\n"
        "print(json.dumps(dispatch('edit', {'target': 'app.m.f', 'new_source': sys.argv[1]})['errors']))\n"
    )
    done = machine.run(sys.executable, "-c", code, SOURCE, project=project)
    assert (done.returncode, done.stderr) == (0, "")
    [error] = json.loads(done.stdout)
    assert error["code"] == "forbidden"
    assert machine.reason in error["message"]
    assert error["hints"] == [NEXT]


def test_a_server_answers_and_refuses_in_the_same_words(machine: Machine, project: Path) -> None:
    server = Raw(project, prefix=machine.prefix, PYTHONPATH=machine.paths)
    try:
        server.initialize()
        assert "return x" in server.call("read", target="app.m.f")["content"][0]["text"]
        refused = server.call("edit", target="app.m.f", new_source=SOURCE)
        assert refused["isError"]
        assert machine.reason in refused["content"][0]["text"]
        assert server.leave() == 0
        assert server.process.stderr is not None
        assert server.process.stderr.read() == b""
    finally:
        server.kill()


def test_what_else_windows_lacks_is_not_needed_to_read(tmp_path: Path, project: Path) -> None:
    (tmp_path / "start").mkdir()
    machine = Machine("module", tmp_path / "start")
    (tmp_path / "start/sitecustomize.py").write_text(HIDING + LACKING)
    for argv in ["--help"], ["read", "app.m.f"], ["references", "app.m.x"], ["grep", "return"], ["glob", "app.m.*"]:
        done = machine.call(*argv, project=project)
        assert (done.returncode, done.stderr) == (0, ""), argv
    refused = machine.call("edit", "app.m.f", "--source", "-", project=project, stdin=SOURCE)
    assert refused.returncode == 5
    assert machine.reason in refused.stderr
