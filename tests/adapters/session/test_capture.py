"""What is printed is kept in part, and what is left out is counted."""

from __future__ import annotations

import pytest

from bae_source.adapters.session.child.process import Capture


def captured(*pieces: bytes, room: int = 400, taken: int = 400) -> tuple[str, int]:
    capture = Capture(room)
    for piece in pieces:
        capture.take(piece)
    return capture.taken(taken)


def test_what_fits_is_whole() -> None:
    assert captured(b"a", b"b" * 399) == ("a" + "b" * 399, 0)
    assert captured() == ("", 0)


@pytest.mark.parametrize("taken", [100, 250, 400, 5000])
def test_what_does_not_fit_has_its_beginning_its_end_and_how_much_is_left_out(taken: int) -> None:
    text, left_out = captured(b"first\n", b"x" * 100_000, b"y" * 3, b"\nlast", taken=taken)
    note = f"\n… {left_out:,} bytes of output are left out here …\n"
    assert text.startswith("first\n")
    assert note in text
    assert text.endswith("\nlast")
    assert len(text.encode()) <= taken
    assert len(text.encode()) - len(note.encode()) + left_out == 100_014


def test_a_cut_through_a_character_leaves_valid_text() -> None:
    text, left_out = captured("ü".encode() * 10_000, room=401, taken=401)
    assert left_out > 0
    assert set(text.split("\n")[0]) <= {"ü", "?"}


def test_it_begins_anew_once_it_was_taken() -> None:
    capture = Capture(100)
    capture.take(b"x" * 1000)
    capture.taken(100)
    capture.take(b"y")
    assert capture.taken(100) == ("y", 0)
