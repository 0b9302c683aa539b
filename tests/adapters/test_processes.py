"""The command line as it is really used: processes, pipes, terminals, signals, a repository."""

from __future__ import annotations

import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.adapters.conftest import CLIENT, WINDOWS
from tests.adapters.support import command, environment, run

SEND = b'    def send(self, text: str) -> str:\n        """Send."""\n        return text\n'
NEW_SEND = b'def send(self, text: str) -> str:\n    """Send."""\n    return text.upper()\n'
HEAVY = {
    "argcomplete", "argparse", "difflib", "filelock", "git", "hashlib", "importlib.metadata", "inspect", "json",
    "libcst", "packaging", "pathspec", "pygments", "rich", "shlex", "shutil", "socket", "sqlite3", "_sqlite3",
    "subprocess", "tempfile", "tomlkit", "typing_extensions",
}  # fmt: skip


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    isolated = environment(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return subprocess.run(
        ["git", *who, *arguments], cwd=folder, input=stdin, env=isolated, check=True, capture_output=True
    ).stdout


@pytest.fixture
def repository(project: Path) -> Path:
    (project / "app" / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\n\n\ndef f():\n    return '\xe9'\n")
    git(project, "init", "--quiet")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "start")
    return project


def read_all(terminal: int) -> bytes:
    """Read what was written to a pseudo-terminal until nobody holds it any more."""
    content = b""
    try:
        while piece := os.read(terminal, 65536):
            content += piece
    except OSError:  # how Linux says that the other end was closed
        return content
    finally:
        os.close(terminal)
    return content


def on_terminal(*argv: str, folder: Path, **changes: str) -> bytes:
    """Run with standard output and error at a terminal, and return what it got."""
    terminal, slave = pty.openpty()
    process = subprocess.Popen(
        command(*argv), cwd=folder, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=environment(**changes)
    )
    os.close(slave)
    content = read_all(terminal)
    process.wait(60)
    return content.replace(b"\r\n", b"\n")


def test_a_symbol_of_a_windows_file_comes_out_byte_for_byte(project: Path) -> None:
    called = run("read", "app.windows.greet", folder=project)
    assert (called.status, called.err) == (0, b"")
    assert called.out == WINDOWS[WINDOWS.index(b"def") :]


def test_an_edit_from_a_file_from_anywhere_inside_the_project(project: Path) -> None:
    (project / "send.py").write_bytes(NEW_SEND)
    called = run("edit", "app.client.Client.send", "--source", "../send.py", folder=project / "app")
    assert called.status == 0, called.err_text
    assert (project / "app/client.py").read_bytes() == CLIENT.replace(b"return text\n", b"return text.upper()\n")


def test_windows_source_through_standard_input_stays_windows(project: Path) -> None:
    source = WINDOWS[WINDOWS.index(b"def") :].replace(b'"gr', b'"Gr')
    called = run("edit", "app.windows.greet", "--source", "-", folder=project, stdin=source)
    assert called.status == 0, called.err_text
    assert (project / "app/windows.py").read_bytes() == WINDOWS.replace(b'"gr', b'"Gr')


def test_undecodable_standard_input_changes_nothing(project: Path) -> None:
    called = run("edit", "app.windows.greet", "--source", "-", folder=project, stdin=b"greet = '\xff'\n")
    assert called.status == 2
    assert b"Traceback" not in called.err
    assert (project / "app/windows.py").read_bytes() == WINDOWS


def test_a_piped_source_is_not_taken_unasked(project: Path) -> None:
    called = run("edit", "app.client.Client.send", folder=project, stdin=NEW_SEND)
    assert called.status == 2
    assert "--source FILE|-" in called.err_text
    assert (project / "app/client.py").read_bytes() == CLIENT


def test_old_and_new_change_one_place(project: Path) -> None:
    called = run("edit", "app.client.Client.send", "--old", "return text", "--new", "return text + ''", folder=project)
    assert called.status == 0, called.err_text
    assert b"return text + ''" in (project / "app/client.py").read_bytes()


def test_an_import_comes_along(project: Path) -> None:
    source = b"def stop(self) -> None:\n    sys.exit()\n"
    called = run(
        "edit", "app.client.Client.stop", "--source", "-", "--import", "import sys", folder=project, stdin=source
    )
    assert called.status == 0, called.err_text
    assert b"\nimport sys\n" in (project / "app/client.py").read_bytes()


def test_an_etag_lets_an_edit_through_once(project: Path) -> None:
    etag = run("read", "app.client.Client.send", "--json", folder=project).json["etag"]
    argv = ("edit", "app.client.Client.send", "--source", "-", "--if-match", etag)
    assert run(*argv, folder=project, stdin=NEW_SEND).status == 0
    stale = run(*argv, "--json", folder=project, stdin=NEW_SEND)
    assert stale.status == 5
    assert stale.json["errors"][0]["code"] == "stale"


def test_a_change_is_undone_and_redone(project: Path) -> None:
    edited = run("edit", "app.client.Client.send", "--source", "-", "--json", folder=project, stdin=NEW_SEND).json
    after = (project / "app/client.py").read_bytes()
    assert edited["status"] == "applied"
    assert run("undo", edited["operation_id"], folder=project).status == 0
    assert (project / "app/client.py").read_bytes() == CLIENT
    assert run("redo", folder=project).status == 0
    assert (project / "app/client.py").read_bytes() == after
    assert edited["operation_id"].encode() in run("history", folder=project).out
    assert run("undo", "op_nonsense", folder=project).status == 7


@pytest.mark.parametrize("mode", ["auto", "child"])
def test_an_edit_that_breaks_the_import_is_6_and_changes_nothing(project: Path, mode: str) -> None:
    called = run("edit", "app.client.Client", "--code", "Client = nonsense()", "--reload", mode, folder=project)
    assert (called.status, called.out) == (6, b"")
    assert "error[reload_failed]" in called.err_text
    assert "Traceback" not in called.err_text
    assert (project / "app/client.py").read_bytes() == CLIENT
    unchecked = run("edit", "app.client.Client", "--code", "Client = nonsense()", "--reload", "off", folder=project)
    assert unchecked.status == 0, unchecked.err_text


@pytest.mark.parametrize("target", ["app.latin.f", "app.windows.greet", "app.client.Client.send"])
def test_git_apply_takes_a_dry_run_as_it_comes_through_the_pipe(repository: Path, target: str) -> None:
    name = target.rpartition(".")[2]
    edit = shlex.join(command("edit", target, "--old", f"def {name}", "--new", f"def  {name}", "--dry-run"))
    before = git(repository, "status", "--porcelain")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{edit} | git apply"],
        cwd=repository,
        env=environment(),
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    path = repository / "app" / f"{target.split('.')[1]}.py"
    assert git(repository, "status", "--porcelain") != before
    applied = path.read_bytes()
    git(repository, "checkout", "--quiet", "--", ".")
    assert run("edit", target, "--old", f"def {name}", "--new", f"def  {name}", folder=repository).status == 0
    assert path.read_bytes() == applied


def test_a_dry_run_changes_nothing(repository: Path) -> None:
    called = run("edit", "app.client.Client.send", "--source", "-", "--dry-run", folder=repository, stdin=NEW_SEND)
    assert called.status == 0
    assert called.out.startswith(b"diff --git a/app/client.py b/app/client.py\n")
    assert (repository / "app/client.py").read_bytes() == CLIENT
    assert git(repository, "status", "--porcelain") == b""


def test_a_reader_that_has_had_enough_leaves_in_silence(project: Path) -> None:
    (project / "app" / "long.py").write_bytes(b"x = 1\n" * 100_000)
    process = subprocess.Popen(
        command("read", "app.long", "--full"),
        cwd=project,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"x = 1\n"
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait(60) == 0


def test_a_closed_standard_output_is_no_error(project: Path) -> None:
    line = shlex.join(command("read", "app.windows.greet"))
    done = subprocess.run(["bash", "-c", f"{line} >&-"], cwd=project, env=environment(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("as_json", [False, True])
def test_ctrl_c_is_130_without_a_traceback(project: Path, as_json: bool) -> None:
    terminal, slave = pty.openpty()
    process = subprocess.Popen(
        command("edit", "app.client.Client.send", "--source", "-", *(["--json"] if as_json else [])),
        cwd=project,
        env=environment(),
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    assert b"Type or paste" in process.stderr.readline()
    time.sleep(0.1)  # let it sit down and read
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    os.close(slave)
    os.close(terminal)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert (b'"code": "interrupted"' in out) is as_json
    assert (b"error[interrupted]" in err) is not as_json
    assert (project / "app/client.py").read_bytes() == CLIENT


def test_a_terminal_gets_colour_and_a_pipe_does_not(project: Path) -> None:
    coloured = on_terminal("read", "app.client.Client.send", folder=project, TERM="xterm-256color")
    assert b"\x1b[" in coloured
    assert b"\x1b[" not in run("read", "app.client.Client.send", folder=project).out
    plain = on_terminal("read", "app.client.Client.send", folder=project, TERM="xterm-256color", NO_COLOR="1")
    assert plain.startswith(SEND)
    assert b"\x1b" not in plain
    forced = run("read", "app.client.Client.send", folder=project, FORCE_COLOR="1").out
    assert b"\x1b[" in forced


def test_a_terminal_sees_the_diff_of_what_was_applied(project: Path) -> None:
    argv = ("edit", "app.client.Client.send", "--old", "return text", "--new", "return text * 2")
    seen = on_terminal(*argv, folder=project, NO_COLOR="1")
    assert b"\n-        return text\n+        return text * 2\n" in seen
    assert b"undo op_" in seen


def test_hostile_content_does_not_reach_the_terminal(project: Path) -> None:
    (project / "app" / "hostile.py").write_bytes(b"x = '\x1b]0;owned\x07'\n")
    for changes in ({"TERM": "xterm"}, {"NO_COLOR": "1"}):
        seen = on_terminal("read", "app.hostile", "--full", folder=project, **changes)
        assert b"\x1b]" not in seen
        assert b"\x07" not in seen


def test_reading_loads_nothing_heavy(project: Path) -> None:
    program = (
        "import msgspec, sys; there = set(sys.modules); from bae_source.__main__ import main; status = main(); "
        "print(*sorted(sys.modules.keys() - there), file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "read", "app.client.Client.send"],
        cwd=project,
        env=environment(),
        capture_output=True,
    )
    assert (done.returncode, done.stdout) == (0, SEND)
    assert HEAVY & set(done.stderr.decode().split()) == set()


@pytest.mark.sampled
@pytest.mark.parametrize(
    "argv",
    [
        ("read", "app.nothing"),
        ("read", "app/client.py"),
        ("where", ""),
        ("read", "a" * 5000),
        ("read", "app\0x"),
        ("edit", "app.client.Client.send", "--code", "def send(:"),
        ("edit", "app.client.Client.send", "--code", "def other(self): ..."),
        ("edit", "app.client.Client.send", "--code", ""),
        ("undo",),
        ("redo", "op_0"),
        ("insert", "app.client", "--code", "class Client: ...", "--position", "last"),
        ("history", "--limit", "0"),
    ],
    ids=lambda argv: " ".join(argv)[:40].replace("\0", "NUL"),
)
def test_no_mistake_shows_a_traceback_or_changes_a_file(project: Path, argv: tuple[str, ...]) -> None:
    if "\0" in "".join(argv):
        argv = tuple(word.replace("\0", "\x01") for word in argv)  # no process can be given NUL
    called = run(*argv, folder=project)
    assert called.status in (2, 3, 4, 5, 7), called.err_text
    assert called.err_text.startswith("error[")
    assert not called.out
    as_json = run(*argv, "--json", folder=project)
    assert as_json.status == called.status
    assert as_json.json["status"] == "error"
    assert (project / "app/client.py").read_bytes() == CLIENT
