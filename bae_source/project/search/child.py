"""Matching in a process of its own, which can be stopped: for expressions that may backtrack without end.

Invariants:
- the process is gone when this is done with it, however it was left;
- it also ends by itself when its time is up, should nobody be left to end it;
- what it answered before it was stopped is kept.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from queue import SimpleQueue
from typing import IO, TypeVar

from bae_source.errors import Refused
from bae_source.project.search import matching
from bae_source.project.search.expression import Expression
from bae_source.project.search.matching import Hit, Stopped

T = TypeVar("T")
_WINDOW = 16
_TOLERANCE = 0.05


def hits_elsewhere(
    texts: Iterable[T], text_of: Callable[[T], str], expression: Expression, deadline: float
) -> Iterator[tuple[T, list[Hit]]]:
    """Yield each text with its hits, in order.

    Parameters:
        text_of: the text itself.
        deadline: when to stop, on the monotonic clock.

    Raises:
        Stopped: the deadline has passed.
        Refused: `busy` if no process can be started.
    """
    iterator = iter(texts)
    first = next(iterator, None)
    if first is None:
        return
    process = _started()
    assert process.stdin is not None
    assert process.stdout is not None
    sent: SimpleQueue[bytes | None] = SimpleQueue()
    sent.put(_asked(expression, max(0.01, deadline - time.monotonic())))
    writer = threading.Thread(target=_write, args=(process.stdin, sent), daemon=True)
    writer.start()
    waiting: deque[T] = deque()
    try:
        for text in chain((first,), iterator):
            sent.put(_framed(text_of(text)))
            waiting.append(text)
            if len(waiting) >= _WINDOW:
                yield _answered(process.stdout, waiting, deadline)
        while waiting:
            yield _answered(process.stdout, waiting, deadline)
    finally:
        process.kill()
        process.wait()
        sent.put(None)
        writer.join()
        process.stdout.close()


def _started() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-S", matching.__file__]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is ours to handle
        )
    except OSError as error:
        raise Refused(
            "busy", f"No process could be started to search in: {error.strerror}.", hints=["Try again."]
        ) from None


def _asked(expression: Expression, seconds: float) -> bytes:
    asked = {
        "expression": expression.compiled.pattern,
        "flags": expression.compiled.flags & ~re.UNICODE,
        "by_line": expression.by_line,
        "spanning": expression.spanning,
        "limit": seconds,
    }
    return json.dumps(asked).encode() + b"\n"


def _framed(text: str) -> bytes:
    content = text.encode("utf-8", "surrogatepass")
    return b"%d\n%b" % (len(content), content)


def _write(stdin: IO[bytes], sent: SimpleQueue[bytes | None]) -> None:
    """Write until there is no more to write; a process that is gone reads nothing."""
    try:
        while (piece := sent.get()) is not None:
            stdin.write(piece)
            stdin.flush()
    except OSError:
        return
    finally:
        with suppress(OSError):
            stdin.close()


def _answered(stdout: IO[bytes], waiting: deque[T], deadline: float) -> tuple[T, list[Hit]]:
    line = stdout.readline()
    if not line.endswith(b"\n"):
        raise Stopped(waiting[0], in_time=time.monotonic() < deadline - _TOLERANCE)
    return waiting.popleft(), [tuple(hit) for hit in json.loads(line)]
