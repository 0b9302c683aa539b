"""A person at a terminal, for tests: reads what is shown, and types an answer when it is asked for.

with at_terminal(line, environment) as person:
    person.reads("Type")
    person.types(person.code)
person.status, person.shown
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from tests.waiting import readable

_SECONDS = 60.0


class Person:
    """What a terminal shows, and what is typed there.

    Attributes:
        shown: all of it until now.
        status: the exit status, once the program has ended.
    """

    def __init__(self, terminal: int, process: subprocess.Popen[bytes]) -> None:
        self._terminal = terminal
        self.process = process
        self.shown = ""
        self.status: int | None = None
        self._seen = 0

    @property
    def code(self) -> str:
        """The code that was asked for last."""
        found: list[str] = re.findall(r"Type ([0-9a-f]{6}) to approve", self.shown)
        return found[-1]

    def reads(self, text: str) -> str:
        """Wait until a text is shown that was not there before, and return all up to it."""
        until = time.monotonic() + _SECONDS
        while text not in self.shown[self._seen :]:
            if not self._read(until):
                raise AssertionError(f"{text!r} is not shown: {self.shown[self._seen :]}")
        end = self.shown.index(text, self._seen) + len(text)
        found, self._seen = self.shown[self._seen : end], end
        return found

    def types(self, line: str) -> None:
        """Type a line."""
        os.write(self._terminal, f"{line}\n".encode())

    def presses(self, key: str) -> None:
        """Press one key, such as Ctrl-C."""
        os.write(self._terminal, key.encode())

    def approves(self) -> None:
        """Type the code when it is asked for."""
        self.reads("Type ")
        self.reads("to approve exactly this")
        self.types(self.code)

    def ends(self) -> int:
        """Read to the end, and return the exit status."""
        until = time.monotonic() + _SECONDS
        while self._read(until):
            pass
        self.status = self.process.wait(_SECONDS)
        return self.status

    def _read(self, until: float) -> bool:
        ready = readable(self._terminal, until - time.monotonic())
        piece = b""
        with suppress(OSError):  # as it ends
            piece = os.read(self._terminal, 65_536) if ready else b""
        self.shown += piece.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(piece)


@contextmanager
def at_terminal(
    words: Sequence[str],
    root: Path,
    environment: Mapping[str, str] | None = None,
    *,
    given: bytes | None = None,
    out: Path | None = None,
) -> Iterator[Person]:
    """Run a command of ours at a terminal of its own.

    Parameters:
        words: the command, without the program.
        root: the project, in which it is typed.
        environment: variables beside those of this process.
        given: what a pipe gives instead of the terminal.
        out: the file that gets standard output instead.
    """
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "bae_source", *words]
    own = {**os.environ, "NO_COLOR": "1", "BAE_SOURCE_SERVE": "off", **(environment or {})}
    with ExitStack() as files:
        stdout = theirs if out is None else files.enter_context(out.open("wb"))
        started = subprocess.Popen(
            line,
            stdin=theirs if given is None else subprocess.PIPE,
            stdout=stdout,
            stderr=theirs,
            cwd=root,
            env=own,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(2, termios.TIOCSCTTY, 0),  # so that Ctrl-C reaches it
        )
        process = files.enter_context(started)
        os.close(theirs)
        if process.stdin is not None:
            process.stdin.write(given or b"")
            process.stdin.close()
        person = Person(ours, process)
        try:
            yield person
            if person.status is None:
                person.ends()
        finally:
            os.close(ours)
            if process.poll() is None:
                process.kill()
