"""One process of `facts.pool`: asked ahead of time, and listened to without waiting."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from typing import Protocol

import msgspec

from bae_source.project.facts.worker import Result, serve, timed
from bae_source.system.frames import frame, wait
from bae_source.system.own_process import Own, can_be_copied, python

_SERVE = "bae_source.project.facts.worker:serve"
_ANSWER = msgspec.msgpack.Decoder(list[Result])


class Asked(Protocol):
    """Some files' bytes that wait for their facts."""

    contents: list[bytes]
    answered: list[Result | None] | None


class Child:
    """One process.

    Parameters:
        name: of the kind of facts that it works out.
        process_is_ours: whether nobody else's code has run in this one, so that it may be copied.

    Attributes:
        asked: what it has not answered yet, in order.
        begun: when it began the first of these, by the monotonic clock.
        process: as it was started.

    Raises:
        OSError: it cannot be started.
    """

    def __init__(self, name: str, *, process_is_ours: bool = False) -> None:
        self.asked: deque[Asked] = deque()
        self.begun = 0.0
        self._name = name
        copied = process_is_ours and can_be_copied()
        if copied:
            timed(name, [b""])  # what this loads is needed here as well, and so it is loaded once
        self.process = Own(serve if copied else python(_SERVE))

    def ask(self, batch: Asked) -> None:
        """Have it work on a batch when it has done those before."""
        if not self.asked:
            self.begun = time.monotonic()
        self.asked.append(batch)
        self.process.channel.send(frame(msgspec.msgpack.encode((self._name, batch.contents))))

    @staticmethod
    def wait(children: Sequence[Child], seconds: float) -> None:
        """Wait until one of several processes has said something, or can be told more; at most so long."""
        wait(seconds, [child.process.channel for child in children])

    def exchange(self) -> bool:
        """Send and take what can be without waiting; return whether the process is in order."""
        try:
            for body in self.process.channel.exchange():
                answered = _ANSWER.decode(body)
                if not self.asked or len(answered) != len(self.asked[0].contents):
                    return False  # an answer to something else
                self.asked.popleft().answered = list(answered)
                self.begun = time.monotonic()
        except (EOFError, ValueError):
            return False
        return True

    def end(self) -> None:
        """Kill the process with all that it started, and leave nothing of it."""
        self.process.end()
