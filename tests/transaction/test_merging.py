"""Three versions as one: what both sides did, where they did it apart, and marks where they did not."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bae_source.history.travel.merging import merged

BASE = b"a\nb\nc\nd\ne\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (BASE, BASE, BASE),
        (b"A\nb\nc\nd\ne\n", BASE, b"A\nb\nc\nd\ne\n"),
        (BASE, b"a\nb\nc\nd\nE\n", b"a\nb\nc\nd\nE\n"),
        (b"A\nb\nc\nd\ne\n", b"a\nb\nc\nd\nE\n", b"A\nb\nc\nd\nE\n"),
        (b"a\nX\nc\nd\ne\n", b"a\nX\nc\nd\ne\n", b"a\nX\nc\nd\ne\n"),
        (b"a\nb\nc\nd\ne\nf\n", b"c\nd\ne\n", b"c\nd\ne\nf\n"),
        (b"", BASE, b""),
        (b"a\r\nb\nc\nd\ne", b"a\nb\nC\nd\ne\n", b"a\r\nb\nC\nd\ne"),
    ],
)
def test_what_was_done_in_different_places_comes_together(ours: bytes, theirs: bytes, expected: bytes) -> None:
    found = merged(BASE, ours, theirs)
    assert (found.content, found.clean) == (expected, True)


def test_what_was_done_in_one_place_is_marked_with_both_sides() -> None:
    found = merged(b"a\nb\n", b"a\nours", b"a\ntheirs\n", names=("now", "undo"))
    assert not found.clean
    assert found.content == b"a\n<<<<<<< now\nours\n=======\ntheirs\n>>>>>>> undo\n"


TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\n"]), max_size=8).map(b"".join)


@given(TEXTS, TEXTS, TEXTS)
def test_both_sides_are_treated_alike_and_one_alone_wins(base: bytes, ours: bytes, theirs: bytes) -> None:
    assert merged(base, ours, base).content == ours
    assert merged(base, base, theirs).content == theirs
    assert merged(base, ours, ours).content == ours
    there, back = merged(base, ours, theirs), merged(base, theirs, ours)
    assert there.clean == back.clean
    assert not there.clean or there.content == back.content


@settings(max_examples=15, deadline=None)
@given(number=st.integers(0, 39), other=st.integers(0, 39), word=st.sampled_from([b"x\n", b"", b"x\ny\n"]))
def test_git_merges_the_same_where_lines_are_distinguished(number: int, other: int, word: bytes) -> None:
    base = [b"%d\n" % line for line in range(40)]
    ours, theirs = list(base), list(base)
    ours[number], theirs[other] = b"ours\n", word
    found = merged(*(b"".join(each) for each in (base, ours, theirs)))
    by_git = git_merge(base, ours, theirs)
    if abs(number - other) > 1:  # git takes what touches for one place
        assert (found.clean, found.content) == (True, by_git)
    else:
        assert not found.clean or b"<<<<<<<" in by_git or found.content == by_git


def git_merge(base: list[bytes], ours: list[bytes], theirs: list[bytes]) -> bytes:

    with tempfile.TemporaryDirectory() as folder:
        for name, lines in (("base", base), ("ours", ours), ("theirs", theirs)):
            (Path(folder) / name).write_bytes(b"".join(lines))
        command = ["git", "merge-file", "-p", "ours", "base", "theirs"]
        return subprocess.run(command, cwd=folder, check=False, capture_output=True).stdout
