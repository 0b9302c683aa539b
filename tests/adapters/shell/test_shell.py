"""The shell as people meet it: the real command, through a pipe and on a real terminal."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bae_source.engine.service import typed_lines
from tests.adapters.session.conftest import CHANGING, FILES, built, built_to_change, contents, gone, in_a_change
from tests.adapters.support import command, environment, run
from tests.waiting import readable

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b[()=>][0-9A-B]?|\x1b\][^\x07]*\x07")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("project"))


class Terminal:
    """A process on a terminal of its own, 80 columns wide."""

    def __init__(self, argv: list[str], folder: Path) -> None:
        self.process, self._end = pty.fork()
        if not self.process:
            os.chdir(folder)
            os.execve(argv[0], argv, environment(TERM="xterm", COLUMNS="80", LINES="60", PROMPT_TOOLKIT_NO_CPR="1"))
        self.seen = ""
        self._read = 0

    def type(self, text: str) -> None:
        os.write(self._end, text.encode())

    def until(self, expected: str) -> str:
        """Read until something is there, and return what came with it; fail where it does not come."""
        limit = time.monotonic() + 30
        while expected not in self.shown[self._read :]:
            assert time.monotonic() < limit, self.shown[self._read :]
            if readable(self._end, 0.5):
                try:
                    piece = os.read(self._end, 65536)
                except OSError:
                    piece = b""
                assert piece, f"it ended before {expected!r}: {self.shown[self._read :]}"
                self.seen += piece.decode("utf-8", "replace")
        begun, self._read = self._read, self.shown.index(expected, self._read) + len(expected)
        return self.shown[begun : self._read]

    @property
    def shown(self) -> str:
        return _ESCAPES.sub("", self.seen).replace("\r", "")

    def status(self) -> int:
        """Wait until it ends, and return its exit status."""
        limit = time.monotonic() + 30
        while time.monotonic() < limit:
            process, status = os.waitpid(self.process, os.WNOHANG)
            if process:
                self.process = 0
                return os.waitstatus_to_exitcode(status)
            if readable(self._end, 0.05):
                try:
                    self.seen += os.read(self._end, 65536).decode("utf-8", "replace")
                except OSError:
                    time.sleep(0.02)
        raise AssertionError("it does not end")

    def close(self) -> None:
        if self.process:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self._end)


@contextmanager
def terminal(argv: list[str], folder: Path) -> Iterator[Terminal]:
    opened = Terminal(argv, folder)
    try:
        yield opened
    finally:
        opened.close()


def test_through_a_pipe_blocks_run_and_answers_are_on_standard_output(project: Path) -> None:
    code = b'for n in "ab":\n    print(n)\nread("app.client.limit")\nread("nope")\nx = [1,\n2]\nx\nhome()\n'
    called = run("shell", folder=project, stdin=code)
    assert called.out == b"a\nb\nlimit = 3\n[1, 2]\n"
    assert called.err_text.splitlines()[-1] == "◆ home() -> home"
    assert called.err_text.splitlines()[:3] == [
        "[source] ◆ read(app.client.limit) -> str (1 line)",
        "[source] ◆ read(nope) -> LookupFailed",
        "error[symbol_not_found]: The project has no module nope.",
    ]
    assert called.status == 3
    assert b"\x1b" not in called.out + called.err


def test_through_a_pipe_each_call_of_a_line_is_shown_in_its_place(project: Path) -> None:
    code = b'read("limit"); symbols("sym://python/mod/limit"); print("printed"); read("app.client.limit")\n'
    called = run("shell", "--budget", "4000", folder=project, stdin=code)
    read = "limit (0 classes, 0 functions)\n    top = 1\n"
    assert called.out.decode() == f"{read}top = ...\nprinted\nlimit = 3\n"
    assert [line.partition("(")[0] for line in called.err_text.splitlines() if "◆" in line] == [
        "[source] ◆ read",
        "[source] ◆ symbols",
        "[source] ◆ read",
    ]


def test_through_a_pipe_what_has_no_room_is_reported_on_standard_error(tmp_path: Path) -> None:
    project = built(tmp_path)
    (project / "long.py").write_text("value = 1\n" * 200)
    code = b'read("long", full=True); read("app.client", full=True); read("long", full=True); x = 1\n'
    called = run("shell", "--budget", "2400", folder=project, stdin=code)
    assert called.out == b"value = 1\n" * 200 + (project / "app/client.py").read_bytes()
    assert '◆ left out, 2,000 bytes: read("long", full=True) shows it' in called.err_text.splitlines()


def test_through_a_pipe_modules_of_the_project_are_imported_and_follow_an_edit(tmp_path: Path) -> None:
    code = (
        b"from app import client\nclient.limit\n"
        b'edit("app.client.limit", "limit = 4")\nclient.limit\nimport select\nselect.poll().__class__.__name__\n'
    )
    project = built(tmp_path)
    (project / "select.py").write_text("raise SystemExit\n")
    called = run("shell", folder=project, stdin=code)
    lines = called.out.decode().splitlines()
    assert (lines[0], *lines[-2:]) == ("3", "4", "'poll'")
    assert lines[1].startswith("Edited app.client.limit")
    assert lines[2].startswith("diff --git ")
    notice = "◆ imports: import select finds a module of Python's or bae_source's own, not the project's."
    assert called.err_text.splitlines()[0] == notice
    assert called.status == 0


def test_through_a_pipe_colour_can_be_asked_for_and_the_shell_left(project: Path) -> None:
    called = run("shell", folder=project, stdin=b"source.read('limit')\nexit()\n1 / 0\n", FORCE_COLOR="1")
    assert called.status == 0
    assert b"\x1b[" in called.out
    assert b"\x1b[2m[source]" in called.err


def test_through_a_pipe_a_shell_that_reads_changes_nothing_and_says_how_to_open_another(tmp_path: Path) -> None:
    project = built(tmp_path)
    code = b'read("app.client.limit")\nedit("app.client.limit", "limit = 9")\n'
    called = run("shell", "--profile", "read", folder=project, stdin=code)
    assert called.out == b"limit = 3\n"
    assert called.err_text.splitlines()[-2:] == [
        "error[unknown_operation]: edit is not offered: this session only reads.",
        '  -> Session(root) in Python, or "bae-source shell" without --profile, opens one that changes the project.',
    ]
    assert called.status == 2
    assert contents(project) == FILES


def test_on_a_terminal_a_shell_that_reads_says_so_first(project: Path) -> None:
    with terminal(command("shell", "--profile", "read"), project) as screen:
        screen.until("home > source: Python, with tools that read this project.")
        screen.until("source> ")
        screen.type("\x04")
        assert screen.status() == 0


def test_through_a_pipe_a_shell_of_the_core_calls_other_verbs_through_two_tools(tmp_path: Path) -> None:
    project = built(tmp_path)
    code = b'call("outline", {"target": "limit"})\nchange("write", {"target": "app.new", "source": "x = 1\\n"})\n'
    called = run("shell", "--profile", "core", folder=project, stdin=code)
    assert called.out.startswith(b"limit (0 classes, 0 functions)\n")
    assert (project / "app/new.py").read_text() == "x = 1\n"
    assert called.status == 0


def test_a_profile_that_there_is_not_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    project = built(tmp_path)
    called = run("shell", "--profile", "all", folder=project, stdin=b'open("ran", "w")\n')
    assert called.err_text.splitlines() == [
        "error[unknown_operation]: There is no profile 'all'.",
        "  -> There are core, read, full.",
    ]
    assert (called.status, called.out) == (2, b"")
    assert not (project / "ran").exists()


def test_wrong_options_are_usage_errors(project: Path) -> None:
    for words in (["--seconds", "0"], ["--root", "nope"]):
        assert run("shell", *words, folder=project).status == 2


def test_on_a_terminal_names_complete_blocks_go_on_and_ctrl_c_ends_a_line_or_a_block(project: Path) -> None:
    with terminal(command("shell"), project) as screen:
        greeting = screen.until("source> ")
        assert "home > source: Python, with tools that read and change this project. nav() shows them" in greeting
        screen.type("source.app.cli\t")
        screen.until("ent")
        screen.type("()\r")
        entered = screen.until("source.app.client> ")
        assert "◆ source.app.client() -> home > source > app.client\n" in entered
        assert "A client." not in entered
        screen.type("it = back()\r")
        screen.until("source> ")
        screen.type("it\r")
        screen.until("Tools (help(NAME) tells all of one)")
        screen.until("source> ")
        screen.type("source.app.client()\r")
        screen.until("source.app.client> ")
        screen.type('read("Client.se\t')
        screen.until("nd")
        screen.type('")\r')
        screen.until("def send(self, text: str) -> str:")
        screen.until("source.app.client> ")
        screen.type("for i in range(2):\rprint(i * 111)\r\r")
        screen.until("0\n111\n")
        screen.until("source.app.client> ")
        screen.type("never typed")
        screen.until("never typed")
        screen.type("\x03")
        screen.until("\nsource.app.client> ")
        screen.type("while not open('begun', 'w').close(): pass\r\r")
        limit = time.monotonic() + 30
        while not (project / "begun").exists():
            assert time.monotonic() < limit, screen.shown
            time.sleep(0.01)
        screen.type("\x03")
        screen.until("The block was interrupted")
        screen.until("source.app.client> ")
        screen.type('read("nope")\r')
        shown = screen.until("error[symbol_not_found]")
        assert "◆ read(nope) -> LookupFailed" in shown
        screen.until("source.app.client> ")
        screen.type("\x04")
        assert screen.status() == 0
    assert "\x1b[1;31m" in screen.seen
    lines = [line for line in screen.shown.split("\n") if "— " in line or "◆" in line]
    assert all(len(line) <= 80 for line in lines)
    remembered = typed_lines(project, os.environ)
    assert remembered is not None
    assert remembered.read_text().count("for i in range(2):") == 1


def test_on_a_terminal_without_its_extra_lines_are_read_and_it_says_what_is_missing(project: Path) -> None:
    without = "import sys; sys.modules['prompt_toolkit'] = None"
    code = f"{without}; from bae_source.adapters.cli.cli import main; main(['shell'])"
    with terminal([sys.executable, "-c", code], project) as screen:
        screen.until('pip install "bae-source[shell]"')
        screen.until("source> ")
        screen.type("for i in range(2):\r")
        screen.until("... ")
        screen.type("    print(i + 40)\r\r")
        screen.until("40\n41\n")
        screen.type("\x04")
        assert screen.status() == 0


def test_a_shell_that_is_ended_ends_what_its_code_has_started(project: Path) -> None:
    with subprocess.Popen(
        command("shell"), cwd=project, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        shell.stdin.write("import subprocess\nsubprocess.Popen(['sleep', '300'], start_new_session=True).pid\n")
        shell.stdin.flush()
        child = int(shell.stdout.readline())
        shell.send_signal(signal.SIGTERM)
        assert shell.wait(30) == 130
    assert gone(child)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_a_shell_that_is_ended_during_a_change_leaves_the_files_as_they_were(
    tmp_path: Path, number: signal.Signals
) -> None:
    project, begun = built_to_change(tmp_path), tmp_path / "begun"
    before = contents(project)
    with subprocess.Popen(command("shell"), cwd=project, env=environment(), stdin=subprocess.PIPE, text=True) as shell:
        assert shell.stdin is not None
        shell.stdin.write(f"{CHANGING}\n")
        shell.stdin.flush()
        judge = in_a_change(project, begun)
        shell.send_signal(number)
    assert gone(judge)
    limit = time.monotonic() + 10
    while contents(project) != before:
        assert time.monotonic() < limit
        time.sleep(0.02)
