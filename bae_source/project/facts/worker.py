"""The process that works facts out of files, so that a large project is parsed on all processors: bytes in, facts out.

    Child(name)     starts one, and asks it (`facts.pool`)
    serve()         in a process that was made for nothing else (`system.own_process`), and ends

Each frame on standard input is a MessagePack array: the kind of facts and the contents of some files. The answer is
one, too: for each file its facts as bytes, and how many nanoseconds they took.

Invariants:
- the answer depends on the frame alone; no file is opened and nothing is written;
- it ends when its standard input does, and the system's own clock ends it where that does not: it waits for a frame
  no longer than it works on one, so it does not outlive the process that started it.
"""

from __future__ import annotations

import gc
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from bae_source.project.facts.kinds import KINDS
from bae_source.system.collecting import keep_memory

_SECONDS = 90
"""More than any caller waits for one answer."""
_LITTER = 5_000_000
"""Bytes of files after which it is time to look for garbage in circles, of which trees leave none."""

_SERVE = "bae_source.project.facts.worker:serve"
Result = tuple[bytes, int]
"""A file's facts as bytes, and how many nanoseconds they took."""


def serve() -> None:
    """Answer frames until standard input ends."""
    import _signal as signal  # type: ignore[import-not-found]  # without the time that its names take

    from bae_source.system.frames import read_frame  # which only such a process needs
    from bae_source.system.own_process import keep_streams

    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_SECONDS)
    keep_streams()
    os.chdir("/")
    asked, answered = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library might print is no frame
    gc.disable()  # trees hold no cycles, and looking for some takes a third of the time
    gc.freeze()
    keep_memory()
    read = 0
    while (body := read_frame(asked)) is not None:
        name, contents = msgspec.msgpack.decode(body, type=tuple[str, list[bytes]])
        answered.write(_framed(timed(name, contents)))
        answered.flush()
        signal.alarm(_SECONDS)
        read += len(body)
        if read > _LITTER:
            gc.collect()
            read = 0
    os._exit(0)  # nothing is left to be tidied up, which would take a while


def timed(name: str, contents: list[bytes], timer: Callable[[], int] = time.perf_counter_ns) -> list[Result]:
    """Return the facts of some files' bytes, and how many nanoseconds each took."""
    kind, results = KINDS[name], []
    for content in contents:
        begun = timer()
        results.append((kind.extract(content), timer() - begun))
    return results


def _framed(what: object) -> bytes:
    from bae_source.system.frames import frame  # what is done here is sent nowhere

    return frame(msgspec.msgpack.encode(what))


class Asked(Protocol):
    """Some files' bytes that wait for their facts."""

    contents: list[bytes]
    answered: list[Result | None] | None


class Child:
    """One such process: asked ahead of time, and listened to without waiting.

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
        from bae_source.system.own_process import Own, can_be_copied, python  # what is done here needs no process

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
        self.process.channel.send(_framed((self._name, batch.contents)))

    @staticmethod
    def wait(children: Sequence[Child], seconds: float) -> None:
        """Wait until one of several processes has said something, or can be told more; at most so long."""
        from bae_source.system.frames import wait  # as above

        wait(seconds, [child.process.channel for child in children])

    def exchange(self) -> bool:
        """Send and take what can be without waiting; return whether the process is in order."""
        try:
            for body in self.process.channel.exchange():
                answered = msgspec.msgpack.decode(body, type=list[Result])
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
