"""Messages come out as they went in, however the stream is cut, and what is none is found out."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bae_source.language_server.wire import MAX_MESSAGE, Decoder, Garbage, encode

JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))
MESSAGES = st.lists(st.dictionaries(st.text(max_size=5), JSON, max_size=3), max_size=5)


@given(MESSAGES, st.integers(min_value=1, max_value=50))
def test_messages_come_out_as_they_went_in_however_they_are_cut(messages: list[dict[str, Any]], piece: int) -> None:
    stream = b"".join(map(encode, messages))
    decoder = Decoder()
    found = [m for at in range(0, len(stream), piece) for m in decoder.feed(stream[at : at + piece])]
    assert found == [{"jsonrpc": "2.0", **message} for message in messages]


@pytest.mark.parametrize(
    "stream",
    [
        b"Hello\r\n\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: %d\r\n\r\n" % (MAX_MESSAGE + 1),
        b"Content-Length: 999999999999999999999\r\n\r\n",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: 2\r\n\r\n{]",
        b"Content-Length: 2\r\n\r\n\xff\xff",
        b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
        b"x" * 5000,
        b"X: " + b"x" * 5000 + b"\r\nContent-Length: 2\r\n\r\n{}",
        b"Hello\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_what_is_no_message_is_garbage(stream: bytes) -> None:
    with pytest.raises(Garbage):
        list(Decoder().feed(stream))


@given(st.binary(max_size=200))
def test_any_bytes_are_messages_garbage_or_not_all_there_yet(stream: bytes) -> None:
    found: list[object] = []
    with suppress(Garbage):
        found.extend(Decoder().feed(stream))
    assert all(isinstance(message, dict) for message in found)


def test_other_headers_are_passed_over() -> None:
    stream = b"Content-Type: application/json\r\ncontent-length:  8\r\n\r\n" + b'{"a": 1}'
    assert list(Decoder().feed(stream)) == [{"a": 1}]
