"""The session's end of its worker: started, given orders, listened to, interrupted, and ended with all it started.

Invariants:
- the worker has no terminal and no standard input, and ends with the session's process (`system.child`);
- it is interrupted before it is killed, so that a change that it is making is taken back;
- what it prints is read all the time and kept in part, so memory is bounded and the child never blocks;
- nothing here waits without a limit.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import msgspec

from bae_source.adapters.session.child.messages import Message, Order, Received, Start, frame_of
from bae_source.system.child import Child
from bae_source.system.frames import Channel, wait
from bae_source.system.own_process import python

_SERVE = "bae_source.adapters.session.child.worker:serve"
_PIECE = 1 << 18
_NOTE = 80
"""Bytes for the note where output is left out."""
_GRACE = 2.0
"""Seconds that a worker has to end what it does, once it was interrupted."""
_SECONDS_TO_END = 15.0
_SECONDS_TO_FALL_SILENT = 1.0


class Gone(Exception):
    """The worker has ended, or has to be.

    Parameters:
        reason: why, as the end of a sentence: `it ended itself with status 3`.
        code: what an outcome calls it.
    """

    def __init__(self, reason: str, code: str = "namespace_lost") -> None:
        super().__init__(reason, code)
        self.reason = reason
        self.code = code


class Process:
    """One worker.

    Parameters:
        root: the project's folder.
        start: the settings that it is started with.
        environment: its environment variables.
        room: how many bytes of output are kept.

    Raises:
        CannotStart, OSError: it cannot be started.
    """

    def __init__(self, root: Path, start: Start, environment: Mapping[str, str], room: int) -> None:
        self.output = Capture(room)
        self._is_silent = False
        with ExitStack() as failed, ExitStack() as its:
            orders, out = os.pipe()
            into, messages = os.pipe()
            self._pipes = [os.fdopen(out, "wb", buffering=0), os.fdopen(into, "rb", buffering=0)]
            failed.callback(self._close)
            for there in (orders, messages):
                its.callback(os.close, there)
            self._channel: Channel[Message] = Channel(out, into, Received(Message).take)
            words = python(_SERVE, str(orders), str(messages), msgspec.json.encode(start).decode())
            streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            passed = (orders, messages)
            self._child = Child(words, folder=root, environment=environment, grace=_GRACE, passed=passed, **streams)
            failed.pop_all()
        printed = self._child.streams[1]
        assert printed is not None
        self._printed = printed.fileno()
        os.set_blocking(self._printed, False)

    def __del__(self) -> None:
        """Close the pipes to the worker of a session that was not closed; it ends with its `Child`."""
        self._close()

    def ask(self, order: Order) -> None:
        """Give an order; what does not go out at once does while the worker is listened to."""
        self._channel.send(frame_of(order))

    def listen(self, seconds: float, wake: int = -1) -> list[Message]:
        """Wait until the worker says something, at most so long, and return its messages.

        Parameters:
            wake: a descriptor that ends the waiting as well.

        Raises:
            Gone: it has ended, and all its messages have been taken.
            ValueError: it says what is no message.
        """
        if self._is_silent:
            seconds = min(seconds, _SECONDS_TO_FALL_SILENT)
        others = (descriptor for descriptor in (self._printed, self._child.status, wake) if descriptor >= 0)
        ready = wait(seconds, [] if self._is_silent else [self._channel], others)
        self._take_output()
        if self._channel.out in ready:
            self._channel.send()
        if self._channel.into in ready:
            return self._taken()
        if self._child.has_ended:
            self.settle()
            raise Gone(_ending(self._child.end()))
        if self._is_silent and not ready:
            raise Gone("it closed what it speaks through")
        return []

    def settle(self) -> None:
        """Take the output that is there already."""
        while self._take_output():
            continue

    @property
    def has_ended(self) -> bool:
        """True once it has ended, as far as can be seen without waiting; also in a fork."""
        return self._child.has_ended

    def interrupt(self) -> None:
        """Have the block end as Ctrl-C does."""
        self._child.interrupt()

    def end(self) -> str:
        """End the worker with all it started, and return how it ended."""
        if self._child.status < 0:
            return "it stayed with the process that this one is a fork of"
        self._child.kill()
        self._channel.sending.clear()
        self._pipes[0].close()
        until = time.monotonic() + _SECONDS_TO_END
        reason = "it was ended"
        while (left := until - time.monotonic()) > 0:
            try:
                self.listen(left)
            except Gone as gone:
                reason = gone.reason
                break
            except ValueError:
                continue  # what it says does not matter any more
        self._child.end()
        self._close()
        return reason

    def _taken(self) -> list[Message]:
        try:
            return list(self._channel.exchange())
        except EOFError:
            self._is_silent = True
            return []

    def _take_output(self) -> bool:
        """Take a piece of output; say whether there was one."""
        if self._printed < 0:
            return False
        try:
            piece = os.read(self._printed, _PIECE)
        except BlockingIOError:
            return False
        if not piece:
            self._printed = -1
        self.output.take(piece)
        return bool(piece)

    def _close(self) -> None:
        for pipe in getattr(self, "_pipes", ()):
            pipe.close()


class Capture:
    """Output of a block, kept in part: its beginning, its end, and the number of bytes in between.

    Parameters:
        room: how many bytes are kept at most.
    """

    def __init__(self, room: int) -> None:
        self._room = room
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    @property
    def size(self) -> int:
        """Bytes that came."""
        return self._total

    def take(self, piece: bytes) -> None:
        """Take some bytes."""
        self._total += len(piece)
        if (free := self._room - len(self._head)) > 0:
            self._head += piece[:free]
            piece = piece[free:]
        if piece:
            self._tail += piece
            del self._tail[: max(0, len(self._tail) - self._room)]

    def taken(self, room: int) -> tuple[str, int]:
        """Return the output within so many bytes, and the number of bytes left out; then begin anew.

        A note stands in the place of omitted output.
        """
        head, tail, total = bytes(self._head), bytes(self._tail), self._total
        self._head, self._tail, self._total = bytearray(), bytearray(), 0
        if total <= min(room, self._room):
            return _text(head), 0
        kept = max(0, min(room, self._room) - _NOTE)
        first = head[: kept - kept // 3]
        last = (head + tail)[len(head) + len(tail) - kept // 3 :] if kept // 3 else b""
        left_out = total - len(first) - len(last)
        return f"{_text(first)}\n… {left_out:,} bytes of output are left out here …\n{_text(last)}", left_out


def _ending(status: int | None) -> str:
    if status is None:
        return "it was ended from outside"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            return f"it was ended by {signal.Signals(number).name}"
        except ValueError:
            return f"it was ended by signal {number}"
    return f"it ended itself with status {os.waitstatus_to_exitcode(status)}"


def _text(content: bytes) -> str:
    """Return bytes as text; a character that the cut went through is left out with its bytes."""
    return content.decode("utf-8", "replace").replace("\ufffd", "?")
