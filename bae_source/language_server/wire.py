"""Messages of the language server protocol: JSON to bytes, and bytes to JSON however they are cut.

Invariants:
- nothing is done, and no memory taken, for a message that says it is larger than `MAX_MESSAGE`;
- what is no message raises `Garbage`, once, and the stream is of no use any more.

Source of the format: Language Server Protocol 3.17, base protocol.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

MAX_MESSAGE = 16_000_000
_MAX_HEADER = 4_096
_END = b"\r\n\r\n"

Message = dict[str, Any]


class Garbage(Exception):
    """The error for bytes that are no message of the protocol."""


def encode(message: Message) -> bytes:
    """Return a message with its header."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode("ascii")
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Decoder:
    """Puts messages together from pieces of a stream."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._missing: int | None = None

    def feed(self, chunk: bytes) -> Iterator[Message]:
        """Yield the messages that are complete with one more piece.

        Raises:
            Garbage: the stream is none of messages.
        """
        self._buffer += chunk
        while True:
            if self._missing is None and not self._header():
                return
            assert self._missing is not None
            if len(self._buffer) < self._missing:
                return
            body = bytes(self._buffer[: self._missing])
            del self._buffer[: self._missing]
            self._missing = None
            yield _parsed(body)

    def _header(self) -> bool:
        """Read the header that the buffer begins with; return False if it is not all there yet."""
        end = self._buffer.find(_END, 0, _MAX_HEADER)
        if end < 0:
            if len(self._buffer) >= _MAX_HEADER:
                raise Garbage("a header without end")
            return False
        self._missing = _length(bytes(self._buffer[:end]))
        del self._buffer[: end + len(_END)]
        return True


def _length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if not colon or b"\n" in line:
            break
        if name.strip().lower() == b"content-length" and value.strip().isdigit() and len(value) < 12:
            length = int(value)
            if length <= MAX_MESSAGE:
                return length
    raise Garbage("a header without a usable length")


def _parsed(body: bytes) -> Message:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise Garbage("a body that is no JSON") from None
    if not isinstance(message, dict):
        raise Garbage("a body that is no object")
    return message
