"""One process of `facts.pool`: started, asked ahead of time, listened to without waiting, and ended.

Invariants:
- it is a copy of this process or a program of its own (`facts.started`), which makes no difference here;
- nothing here waits but `Child.wait` and the end, so one process that is slow keeps nobody from another;
- batches are answered in the order in which they were asked.
"""

from __future__ import annotations

import os
import select
import time
from collections import deque
from collections.abc import Sequence
from typing import Protocol

import msgspec

from bae_source.project.facts.kinds import Words
from bae_source.project.facts.started import Copy, Process, Program, can_be_copied
from bae_source.project.facts.worker import HEAD, Result, frame_of, timed
from bae_source.system.descriptors import widen

_ANSWER = msgspec.msgpack.Decoder(list[Result])
_PIECE = 1 << 18
_PIPE_BYTES = 1 << 18
"""So much may be on its way while this process is busy; where the system allows it."""


class Asked(Protocol):
    """Some files' bytes that wait for their facts."""

    contents: list[bytes]
    words: Words
    answered: list[Result | None] | None


class Child:
    """One process.

    Parameters:
        name: of the kind of facts that it works out.
        process_is_ours: whether nobody else's code has run in this one, so that it may be copied.

    Attributes:
        asked: what it has not answered yet, in order.
        begun: when it began the first of these, by the monotonic clock.
        sending: what it could not take yet.
        stdin, stdout: the descriptors that it is told and heard by, this side's ends.
        process: as it was started.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, name: str, *, process_is_ours: bool = False) -> None:
        self.asked: deque[Asked] = deque()
        self.begun = 0.0
        self._name = name
        self.sending = bytearray()
        self._received = bytearray()
        self.process = _started(name, process_is_ours=process_is_ours)
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        for pipe in (self.stdin, self.stdout):
            os.set_blocking(pipe, False)
            widen(pipe, _PIPE_BYTES)

    def ask(self, batch: Asked) -> None:
        """Have it work on a batch when it has done those before."""
        if not self.asked:
            self.begun = time.monotonic()
        self.asked.append(batch)
        self.sending += frame_of((self._name, batch.words, batch.contents))
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
        self.process.end()

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


def _started(name: str, *, process_is_ours: bool) -> Process:
    if not (process_is_ours and can_be_copied()):
        return Program()
    timed(name, [b""])  # what this loads is needed here as well, and so it is loaded once
    return Copy()
