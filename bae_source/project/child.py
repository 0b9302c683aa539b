"""One process of `project.pool`: started, asked ahead of time, listened to without waiting, and ended.

Invariants:
- it leads a session of its own, has no terminal, and is killed with all it started;
- nothing here waits but `Child.wait` and the end, so one process that is slow keeps nobody from another;
- batches are answered in the order in which they were asked.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from bae_source.project.worker import HEAD, Result, frame_of

_CODE = (
    "import gc; gc.disable(); import sys, os; os.chdir('/'); "
    "sys.path += [p for p in sys.argv[1:] if p not in sys.path]; "
    "sys.modules['typing_extensions'] = None; import msgspec; del sys.modules['typing_extensions']; "
    "from bae_source.project.worker import serve; serve()"
)
"""What a process runs; msgspec can do without typing_extensions, which takes a quarter of the start."""
_ANSWER = msgspec.msgpack.Decoder(list[Result])
_PIECE = 1 << 18
_PIPE_BYTES = 1 << 18
"""So much may be on its way while this process is busy; where the system allows it."""


class Asked(Protocol):
    """Some files' bytes that wait for their facts."""

    contents: list[bytes]
    answered: list[Result | None] | None


class Child:
    """One process.

    Parameters:
        name: of the kind of facts that it works out.

    Attributes:
        asked: what it has not answered yet, in order.
        begun: when it began the first of these, by the monotonic clock.
        sending: what it could not take yet.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, name: str) -> None:
        import subprocess  # 10 ms, which only those pay who ask about many files

        self.asked: deque[Asked] = deque()
        self.begun = 0.0
        self._name = name
        self.sending = bytearray()
        self._received = bytearray()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _CODE, *_search_path()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin.fileno(), self.process.stdout.fileno()
        for pipe in (self.stdin, self.stdout):
            os.set_blocking(pipe, False)
            _widen(pipe)

    def ask(self, batch: Asked) -> None:
        """Have it work on a batch when it has done those before."""
        if not self.asked:
            self.begun = time.monotonic()
        self.asked.append(batch)
        self.sending += frame_of((self._name, batch.contents))
        self._send()

    @staticmethod
    def wait(children: Sequence[Child], seconds: float) -> None:
        """Wait until one of several processes has said something, or can be told more; at most so long."""
        waiting = select.poll()
        for child in children:
            waiting.register(child.stdout, select.POLLIN)
            if child.sending:
                waiting.register(child.stdin, select.POLLOUT)
        waiting.poll(max(0.0, seconds) * 1000)

    def exchange(self) -> bool:
        """Send and take what can be without waiting; return whether the process is in order."""
        try:
            self._send()
            while piece := os.read(self.stdout, _PIECE):
                self._received += piece
                self._take()
        except BlockingIOError:
            return True
        except (OSError, ValueError):
            return False
        return False

    def end(self) -> None:
        """Kill the process with all that it started, and leave nothing of it."""
        if self.process.returncode is None:
            _killed(self.process.pid)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            try:
                stream.close()
            except OSError:
                continue  # what was not sent is not wanted

    def _send(self) -> None:
        try:
            while self.sending:
                del self.sending[: os.write(self.stdin, self.sending)]
        except BlockingIOError:
            return
        except OSError:
            self.sending.clear()  # it ended; whoever listens to it learns that

    def _take(self) -> None:
        """Give the answers that have arrived whole to those who asked.

        Raises:
            ValueError: they are no answers to what was asked.
        """
        received = self._received
        while len(received) >= HEAD and len(received) >= (end := HEAD + int.from_bytes(received[:HEAD], "big")):
            answered = _ANSWER.decode(bytes(received[HEAD:end]))
            del received[:end]
            if not self.asked or len(answered) != len(self.asked[0].contents):
                raise ValueError("an answer to something else")
            self.asked.popleft().answered = list(answered)
            self.begun = time.monotonic()


def _search_path() -> list[str]:
    """Return where the process finds modules, what we need ourselves before anything else that is on our path."""
    first = [str(Path(file).parent.parent) for file in (msgspec.__file__,) if file]
    home = str(Path(__file__).parent.parent.parent)
    rest = [path for path in sys.path if path and Path(path).is_absolute()]
    return list(dict.fromkeys([*first, home, *rest]))


def _widen(pipe: int) -> None:
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        except OSError:
            return  # it stays as it is, and more time is spent waiting


def _killed(session: int) -> None:
    try:
        os.killpg(session, signal.SIGKILL)
    except ProcessLookupError:
        return
