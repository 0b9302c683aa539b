"""Frames, a length in four bytes and then so many bytes, and pipes to another process that never block.

    channel = Channel(out, into, Frames().take)
    channel.send(frame(b"…"))
    wait([channel.into, …], seconds, [channel])
    channel.exchange()                      the frames that have come whole

Invariants:
- nothing here waits but `wait`, so one slow process does not delay another;
- what is no frame is an error, never half a message.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO, Generic, TypeVar

from bae_source.system.descriptors import widen

T = TypeVar("T")
_HEAD = 4
_LARGEST = 1 << 28
"""Bytes of a frame, which holds any file that is read; more is none of ours."""
_PIECE = 1 << 18
"""So much is on its way at most while the other side is busy, where the system allows it, and taken at once."""


def frame(body: bytes) -> bytes:
    """Return bytes as a frame."""
    return len(body).to_bytes(_HEAD, "big") + body


def read_frame(stream: BinaryIO) -> bytes | None:
    """Wait for the next frame of a stream, and return it; None at the end, or where it is cut off."""
    head = stream.read(_HEAD)
    length = int.from_bytes(head, "big")
    body = stream.read(length)
    return body if len(head) == _HEAD and len(body) == length else None


class Frames:
    """Received bytes, as the frames that they hold.

    Parameters:
        largest: how many bytes a frame may have.
    """

    def __init__(self, largest: int = _LARGEST) -> None:
        self._received = bytearray()
        self._largest = largest

    def take(self, piece: bytes) -> list[bytes]:
        """Take some bytes, and return the frames that are whole now.

        Raises:
            ValueError: they are no frames.
        """
        received = self._received
        received += piece
        found: list[bytes] = []
        while len(received) >= _HEAD:
            end = _HEAD + int.from_bytes(received[:_HEAD], "big")
            if end > self._largest:
                raise ValueError("a frame that is too large")
            if len(received) < end:
                break
            found.append(bytes(received[_HEAD:end]))
            del received[:end]
        return found


class Channel(Generic[T]):
    """Two pipes to another process.

    Parameters:
        out: the descriptor that it is written to by.
        into: the one that it is read from by.
        take: returns the messages that are whole with one more piece of what it says.

    Attributes:
        sending: what it could not take yet.
    """

    def __init__(self, out: int, into: int, take: Callable[[bytes], Iterable[T]]) -> None:
        self.out, self.into = out, into
        self.sending = bytearray()
        self._take = take
        for pipe in (out, into):
            os.set_blocking(pipe, False)
            widen(pipe, _PIECE)

    def send(self, content: bytes = b"") -> None:
        """Send as much as it takes at once; the rest goes with the next call of anything here."""
        self.sending += content
        try:
            while self.sending:
                del self.sending[: os.write(self.out, self.sending[:_PIECE])]
        except BlockingIOError:
            return
        except OSError:
            self.sending.clear()  # it ended, as who listens to it learns

    def exchange(self) -> Iterable[T]:
        """Send and take what can be at once, and return the messages that are whole.

        Raises:
            EOFError: there will be no more.
        """
        self.send()
        try:
            piece = os.read(self.into, _PIECE)
        except BlockingIOError:
            return ()
        except OSError as error:
            raise EOFError from error
        if not piece:
            raise EOFError
        return self._take(piece)


def wait(seconds: float, channels: Sequence[Channel[T]], others: Iterable[int] = ()) -> list[int]:
    """Wait until a channel can be read, or take more, or another descriptor can be read; at most so long.

    Returns:
        The descriptors of which that holds.
    """
    waiting = select.poll()
    for descriptor in (*(channel.into for channel in channels), *others):
        waiting.register(descriptor, select.POLLIN)
    for channel in channels:
        if channel.sending:
            waiting.register(channel.out, select.POLLOUT)
    return [descriptor for descriptor, _ in waiting.poll(max(0.0, seconds) * 1000)]
