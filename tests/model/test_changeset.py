"""Edits apply only to what they were planned on."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bae_source.model.changeset import ChangeSet, Edit, FileChange, changeset, digest, file_change

QUICK = settings(derandomize=True, deadline=None, max_examples=100, database=None)
BYTES = st.binary(max_size=12)


@st.composite
def contents_and_edits(draw: st.DrawFn) -> tuple[bytes, list[Edit], bytes]:
    """Draw a content cut in pieces: one is kept, the next replaced, and so on; and what comes out."""
    kept = draw(st.lists(st.binary(min_size=1, max_size=12), min_size=1, max_size=6))
    content, wanted, edits = b"", b"", []
    for piece in kept:
        old, new = draw(BYTES), draw(BYTES)
        edits.append(Edit(start=len(content), old=old, new=new))
        content, wanted = content + old + piece, wanted + new + piece
    return content, draw(st.permutations(edits)), wanted


@QUICK
@given(contents_and_edits())
def test_a_change_gives_what_its_edits_say(
    drawn: tuple[bytes, list[Edit], bytes],
) -> None:
    content, edits, wanted = drawn
    change = file_change("a.py", content, edits)
    assert change.apply(content) == wanted
    assert (change.before, change.after) == (digest(content), digest(wanted))
    assert bool(changeset([change])) is (content != wanted or any(edit.old != edit.new for edit in edits))
    assert sum(edit.growth for edit in change.edits) == len(wanted) - len(content)


@QUICK
@given(contents_and_edits(), st.data())
def test_a_change_is_refused_where_a_replaced_byte_is_another(
    drawn: tuple[bytes, list[Edit], bytes], data: st.DataObject
) -> None:
    content, edits, _ = drawn
    change = file_change("a.py", content, edits)
    places = [edit.start + n for edit in change.edits for n in range(len(edit.old))]
    if not places:
        return
    place = data.draw(st.sampled_from(places))
    other = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
    with pytest.raises(ValueError, match=r"a\.py"):
        change.apply(other)


@QUICK
@given(st.lists(contents_and_edits(), max_size=4))
def test_a_changeset_is_sorted_by_path(drawn: list[tuple[bytes, list[Edit], bytes]]) -> None:
    changes = [file_change(f"{9 - n}.py", content, edits) for n, (content, edits, _) in enumerate(drawn)]
    made = changeset(changes)
    assert [file.path for file in made.files] == sorted(change.path for change in changes if change.edits)


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(0, b"ab", b""), Edit(1, b"b", b"")],
        [Edit(2, b"c", b""), Edit(0, b"a", b"")],
        [Edit(1, b"", b"x"), Edit(1, b"", b"y")],
        [Edit(1, b"", b"x"), Edit(1, b"b", b"y")],
    ],
)
def test_edits_that_overlap_or_are_out_of_order_are_no_change(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlapping"):
        FileChange(path="a.py", before="0", after="0", edits=tuple(edits))


def test_a_changeset_names_each_file_once_and_in_order() -> None:
    one = file_change("a.py", b"x", [Edit(0, b"x", b"y")])
    two = file_change("b.py", b"x", [Edit(0, b"x", b"y")])
    assert ChangeSet((one, two)).files == (one, two)
    for files in ((two, one), (one, one)):
        with pytest.raises(ValueError, match="once"):
            ChangeSet(files)


def test_edits_that_change_nothing_are_left_out() -> None:
    change = file_change("a.py", b"xy", [Edit(0, b"x", b"x"), Edit(1, b"y", b"z")])
    assert change.edits == (Edit(1, b"y", b"z"),)
    assert not changeset([file_change("a.py", b"x", [Edit(0, b"x", b"x")])])
