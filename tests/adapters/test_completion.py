"""Completion in the real shells that are installed, typed at a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.support import call, environment
from tests.waiting import readable

SHELLS = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "--interactive"],
}
SETUP = {
    "bash": 'source "$SCRIPT"',
    "zsh": 'autoload -Uz compinit; compinit -u -D; source "$SCRIPT"',
    "fish": 'source "$SCRIPT"',
}
INSTALLED = [shell for shell in SHELLS if shutil.which(shell)]

#: A program that completes for real, and otherwise only writes down what it was called with.
PROGRAM = """\
#!/bin/sh
if [ -n "$_ARGCOMPLETE" ]; then exec {python} -m bae_source "$@"; fi
printf '%s\\n' "$@" > "$CALLED.new" && mv "$CALLED.new" "$CALLED"
"""
#: Makes standard input the controlling terminal, which fish insists on, and becomes the shell.
LEADER = """\
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""
PATIENCE = 30.0


class Shell:
    """An interactive shell at a pseudo-terminal, with the completion script loaded."""

    def __init__(self, name: str, folder: Path) -> None:
        self.called = folder / "called"
        self.ready = folder / "ready"
        (folder / "bin").mkdir()
        program = folder / "bin" / "bae-source"
        program.write_text(PROGRAM.format(python=shlex.quote(sys.executable)))
        program.chmod(0o755)
        script = folder / "script"
        script.write_bytes(call("completion", name).out)
        self.terminal, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", LEADER, *SHELLS[name]],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=environment(
                PATH=f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
                HOME=str(folder),
                ZDOTDIR=str(folder),
                XDG_CONFIG_HOME=str(folder),
                XDG_DATA_HOME=str(folder),
                SCRIPT=str(script),
                CALLED=str(self.called),
                TERM="dumb" if name != "fish" else "xterm",
            ),
            start_new_session=True,
        )
        os.close(slave)
        self.type(f"{SETUP[name]}; touch {self.ready}\r")
        self.await_file(self.ready)

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def complete(self, line: str) -> list[str]:
        """Type a line, a tab and a return, and return what the program was called with."""
        self.called.unlink(missing_ok=True)
        self.type(f"bae-source {line}\t")
        self.drain(0.2)  # a return on the tab's heels is taken for pasted text by some shells
        self.type("\r")
        self.await_file(self.called)
        return self.called.read_text().splitlines()

    def await_file(self, path: Path) -> None:
        end = time.monotonic() + PATIENCE
        while not path.exists():
            assert time.monotonic() < end, "the shell did not get there"
            self.drain(0.05)

    def drain(self, seconds: float) -> None:
        """Read what the shell writes, for it would stop and wait otherwise; answer what it asks of the terminal."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if readable(self.terminal, left) and b"\x1b[c" in os.read(self.terminal, 65536):
                os.write(self.terminal, b"\x1b[?1;2c")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)


@pytest.fixture(scope="module", params=INSTALLED)
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "new_source.py").touch()
    (folder / "inside").mkdir()
    (folder / "inside" / "deeper.py").touch()
    opened = Shell(request.param, folder)
    yield opened
    opened.close()


def test_bash_is_always_among_the_shells_tried() -> None:
    assert "bash" in INSTALLED


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("hist", ["history"]),
        ("--ver", ["--version"]),
        ("edit app.f --dry", ["edit", "app.f", "--dry-run"]),
        ("edit app.f --old-", ["edit", "app.f", "--old-file"]),
        ("read --ded", ["read", "--dedent"]),
        ("insert app.f --position bef", ["insert", "app.f", "--position", "before"]),
        ("delete app.f --reload proc", ["delete", "app.f", "--reload", "process"]),
        ("completion zs", ["completion", "zsh"]),
        ("ast hov", ["ast", "hover"]),
        ("ast symbols --exa", ["ast", "symbols", "--exact"]),
        ("ast snippet --format mark", ["ast", "snippet", "--format", "markdown"]),
        ("help ins", ["help", "insert"]),
        ("edit app.f --source new_", ["edit", "app.f", "--source", "new_source.py"]),
        ("edit app.f --source inside/d", ["edit", "app.f", "--source", "inside/deeper.py"]),
        ("history --root ins", ["history", "--root", "inside/"]),
    ],
)
def test_the_shell_completes(shell: Shell, line: str, completed: list[str]) -> None:
    assert shell.complete(line) == completed


@pytest.mark.parametrize("name", SHELLS)
def test_every_shell_has_a_script_that_names_the_program(name: str) -> None:
    called = call("completion", name)
    assert called.status == 0
    assert b"bae-source" in called.out


def test_another_shell_is_refused_with_those_there_are() -> None:
    assert call("completion", "csh").err_text.startswith("error[invalid_arguments]: 'csh' is none of bash, zsh, fish.")
    assert "Shell is missing: bash|zsh|fish" in call("completion").err_text
