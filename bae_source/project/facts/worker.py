"""The process that works facts out of files, so that a large project is parsed on all processors: bytes in, facts out.

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
from collections.abc import Callable

import msgspec

from bae_source.project.facts.kinds import KINDS
from bae_source.system.collecting import keep_memory
from bae_source.system.frames import frame, read_frame
from bae_source.system.own_process import keep_streams

_SECONDS = 90
"""More than any caller waits for one answer."""
_LITTER = 5_000_000
"""Bytes of files after which it is time to look for garbage in circles, of which trees leave none."""

Result = tuple[bytes, int]
"""A file's facts as bytes, and how many nanoseconds they took."""


def serve() -> None:
    """Answer frames until standard input ends."""
    import _signal as signal  # type: ignore[import-not-found]  # without the time that its names take

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
        answered.write(frame(msgspec.msgpack.encode(timed(name, contents))))
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
