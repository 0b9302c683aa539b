"""Servers for shells, each with a runtime folder of its own, and what asks them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from bae_source.adapters.serve import meeting
from tests.adapters.support import Called, command, environment

ON = {"BAE_SOURCE_SERVE": "on", "CI": "", "PYTHONDONTWRITEBYTECODE": "1"}


class Place:
    """A runtime folder, and commands that know of it.

    Parameters:
        folder: private to this user.
        path: where Python finds the package, if not here.
    """

    def __init__(self, folder: Path, path: Path | None = None) -> None:
        self.folder = folder
        self.variables = ON | {"XDG_RUNTIME_DIR": str(folder)} | ({"PYTHONPATH": str(path)} if path else {})

    @property
    def socket(self) -> Path:
        [found] = (self.folder / "bae-source").glob("*.sock")
        return found

    def run(self, *argv: str, folder: Path, **changes: str) -> Called:
        """Run a command that may ask a server."""
        done = subprocess.run(
            command(*argv),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment(**self.variables | changes),
            timeout=60,
        )
        return Called(done.returncode, done.stdout, done.stderr)

    def status(self) -> str:
        return self.run("serve", "--status", folder=self.folder).out.decode()

    def answers(self) -> int:
        """Return how many commands the server has answered."""
        return int(self.status().partition(" answers")[0].rpartition(" ")[2])

    def ended(self) -> bool:
        return self.status() == "No server runs.\n"

    def answered(self, *argv: str, folder: Path, **changes: str) -> Called:
        """Run a command until the server answers it: on a busy machine a client may not wait long enough."""
        for _ in range(20):
            before = self.answers()
            called = self.run(*argv, folder=folder, **changes)
            if self.answers() > before:
                return called
        raise AssertionError(self.status())

    def connection(self) -> socket.socket:
        found = socket.socket(socket.AF_UNIX)
        found.connect(str(self.socket))
        found.settimeout(30)
        return found

    def response(self, content: bytes) -> bytes:
        """Return all that the server says to some bytes; nothing where it closed before it had read them all."""
        with self.connection() as connection, suppress(ConnectionError):
            connection.sendall(content)
            return b"".join(iter(lambda: connection.recv(1 << 20), b""))
        return b""


@contextmanager
def place(path: Path | None = None) -> Iterator[Place]:
    """Make a runtime folder, whose path is short as sockets want it; servers that are still there are ended."""
    folder = Path(tempfile.mkdtemp(prefix="bs-"))
    made = Place(folder, path)
    try:
        yield made
    finally:
        if list(folder.glob("bae-source/*.sock")):
            made.run("serve", "--stop", folder=folder)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def server(at: Place, *argv: str, before: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """Run a server in the foreground.

    Parameters:
        before: statements that its process carries out first, to have a clock go faster.
    """
    words = command("serve", *argv)
    if before:
        words[1:3] = ["-c", f"{before}\nimport runpy\nrunpy.run_module('bae_source', run_name='__main__')"]
    process = subprocess.Popen(
        words,
        cwd=at.folder,
        env=environment(**at.variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        assert process.stderr.readline().startswith(b"Serving reads")
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.communicate(timeout=30)


def until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)


def request(*argv: str, folder: Path, around: Mapping[str, str] | None = None) -> bytes:
    """Return a client's request for a command, as a process of this installation would send it."""
    fields = (
        *(meeting.MAGIC, meeting.RUN, meeting.world(), os.fsencode(folder)),
        b"000 18 %d" % len(argv),
        *map(os.fsencode, argv),
        *(os.fsencode(f"{name}={value}") for name, value in (around or environment()).items()),
    )
    return meeting.framed(b"\0".join(fields))
