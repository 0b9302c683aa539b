"""Messages travel in frames; what is no frame is an error."""

from __future__ import annotations

import os

import pytest

from bae_source.adapters.session.child.messages import Execute, Message, Mouth, Order, Ready, Received, frame_of
from bae_source.adapters.session.events import Called, speakable


def test_frames_come_out_as_they_went_in_however_they_are_cut() -> None:
    orders = [Execute(number=1, code="x = 'ü\\0'"), Execute(number=2, code="y" * 100_000)]
    stream = b"".join(map(frame_of, orders))
    for size in (1, 3, 7, 4096, len(stream)):
        received, found = Received(Order), []
        for start in range(0, len(stream), size):
            found += received.take(stream[start : start + size])
        assert found == orders


@pytest.mark.parametrize(
    "stream",
    [
        b"garbage!",
        b"\xff\xff\xff\xff",
        b"\0\0\0\2{}",
        b'\0\0\0\x10{"type":"nope"} ',
        frame_of(Execute(number=1, code="")),
    ],
)
def test_what_is_no_message_is_an_error(stream: bytes) -> None:
    with pytest.raises(ValueError):
        Received(Message).take(stream)


def test_a_long_message_is_reported_whole_and_a_forked_process_says_nothing() -> None:
    there, here = os.pipe()
    mouth = Mouth(here)
    long = Called(place="x" * 30_000, call="y", returned="z")
    mouth.say(long)
    child = os.fork()
    if not child:
        mouth.say(Ready())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(here)
    with os.fdopen(there, "rb") as stream:
        assert Received(Message).take(stream.read()) == [long]


def test_what_is_no_character_is_spoken_as_an_escape() -> None:
    assert speakable("a\udc80ü") == "a\\udc80ü"
