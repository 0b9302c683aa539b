"""Matching in a process of its own, which can be stopped: for expressions that may backtrack without end.

Invariants:
- the process is gone when this is done with it, however it was left;
- it also ends by itself when its time is up, should its parent be gone;
- its answers from before it was stopped are kept.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from bae_source.errors import Refused
from bae_source.project.search import matching
from bae_source.project.search.expression import Expression
from bae_source.project.search.matching import Hit, Replacement, Stopped
from bae_source.system.frames import Channel, frame, wait
from bae_source.system.own_process import Own

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
    asked = {"how": expression.how}
    for text, found in _elsewhere(texts, text_of, expression, deadline, asked):
        yield text, [tuple(each) for each in found]


def replacements_elsewhere(
    texts: Iterable[T], text_of: Callable[[T], str], expression: Expression, new: str | None, deadline: float
) -> Iterator[tuple[T, list[Replacement]]]:
    """Yield each text with its matches and what takes their places, in order.

    Parameters:
        text_of, deadline: as `hits_elsewhere`.
        new: as `replacements_in`.

    Raises:
        as `hits_elsewhere`.
    """
    for text, found in _elsewhere(texts, text_of, expression, deadline, {"new": new}):
        yield text, [tuple(each) for each in found]


def _elsewhere(
    texts: Iterable[T], text_of: Callable[[T], str], expression: Expression, deadline: float, asked: dict[str, Any]
) -> Iterator[tuple[T, list[Any]]]:
    iterator = iter(texts)
    waiting: deque[T] = deque()
    if (first := next(iterator, None)) is None:
        return
    process = _started()
    try:
        channel = process.channel
        channel.send(frame(_asked(expression, max(0.01, deadline - time.monotonic()), asked)))
        text: T | None = first
        while text is not None or waiting:
            if text is not None:
                channel.send(frame(text_of(text).encode("utf-8", "surrogatepass")))
                waiting.append(text)
                text = next(iterator, None)
            if text is None or len(waiting) >= _WINDOW:
                for found in _answered(channel, waiting[0], deadline):
                    yield waiting.popleft(), found
    finally:
        process.end()


def _started() -> Own:
    try:
        return Own([sys.executable, "-I", "-S", matching.__file__])
    except OSError as error:
        raise Refused(
            "busy", f"No process could be started to search in: {error.strerror}.", hints=["Try again."]
        ) from None


def _asked(expression: Expression, seconds: float, more: dict[str, Any]) -> bytes:
    asked = {
        **more,
        "expression": expression.compiled.pattern,
        "flags": expression.compiled.flags & ~re.UNICODE,
        "limit": seconds,
    }
    return json.dumps(asked).encode()


def _answered(channel: Channel[bytes], waiting: object, deadline: float) -> list[list[Any]]:
    """Wait until something is answered; there may be several answers, or only a piece of one."""
    if wait(deadline + _TOLERANCE - time.monotonic(), [channel]):
        with suppress(EOFError):
            return [json.loads(body) for body in channel.exchange()]
    raise Stopped(waiting, in_time=time.monotonic() < deadline - _TOLERANCE)
