"""The process that works facts out of files, so that a large project is parsed on all processors: bytes in, facts out.

    python -I -c "…; serve()"       started by `project.pool`, and ended by it

Each frame on standard input is four bytes of length and a MessagePack array: the kind of facts and the contents of some
files. The answer has the same form: for each file its facts as bytes, and how many nanoseconds they took.

Invariants:
- the answer depends on the frame alone; no file is opened and nothing is written;
- it ends when its standard input does, so it does not outlive who started it.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from bae_source.project.facts import KINDS

_LENGTH = 4


def serve() -> None:
    """Answer frames until standard input ends."""
    asked, answered = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a library might print is no frame
    gc.disable()  # trees hold no cycles, and looking for some takes a third of the time
    gc.freeze()
    while (frame := read_frame(asked)) is not None:
        name, contents = msgspec.msgpack.decode(frame, type=tuple[str, list[bytes]])
        write_frame(answered, msgspec.msgpack.encode(timed(name, contents)))
        gc.collect()


def timed(name: str, contents: list[bytes], timer: Callable[[], int] = time.perf_counter_ns) -> list[tuple[bytes, int]]:
    """Return the facts of some files' bytes, and how many nanoseconds each took."""
    kind, results = KINDS[name], []
    for content in contents:
        begun = timer()
        results.append((kind.extract(content), timer() - begun))
    return results


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next frame; None at the end, or where it is cut off."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    length = int.from_bytes(head, "big")
    frame = stream.read(length)
    return frame if len(frame) == length else None


def write_frame(stream: BinaryIO, frame: bytes) -> None:
    """Write a frame, and see to it that it arrives."""
    stream.write(len(frame).to_bytes(_LENGTH, "big"))
    stream.write(frame)
    stream.flush()
