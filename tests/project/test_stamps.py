"""Encoded stamps say the same as a mapping of them, and are decoded no more than is asked for."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from bae_source.project.files.port import Disk
from bae_source.project.files.stamps import (
    TOGETHER,
    Stamp,
    Stamps,
    decoded,
    from_pieces,
    in_pieces,
    mark_of,
    marked,
    whole,
    written,
)

ALL = {f"{number:03}.py": Stamp(number, -number, 1 << 62, (1 << 64) - 1) for number in range(3 * TOGETHER + 5)}


@pytest.fixture
def stamps() -> Stamps:
    return Stamps(tuple(ALL), in_pieces(list(ALL.values())))


def test_stamps_are_the_mapping_that_they_were_made_of(stamps: Stamps) -> None:
    assert stamps == ALL
    assert stamps == ALL
    assert stamps == Stamps(tuple(ALL), in_pieces(list(ALL.values())))
    assert stamps != Stamps(tuple(ALL), in_pieces(list(reversed(ALL.values()))))
    assert (list(stamps), len(stamps), list(stamps.items())) == (list(ALL), len(ALL), list(ALL.items()))
    assert list(stamps.values()) == list(whole(stamps).values()) == list(whole(ALL).values())
    assert "nope.py" not in stamps
    assert stamps.get("nope.py") is None


def test_one_stamp_is_decoded_with_its_piece_alone(stamps: Stamps) -> None:
    path = f"{TOGETHER + 1:03}.py"
    assert path in stamps
    assert stamps[path] == ALL[path]
    assert isinstance(stamps[path], Stamp)
    assert stamps.known.keys() == {1}
    assert "whole" not in vars(stamps)


@pytest.mark.parametrize("piece", [b"", b"\xc1", b"\x91\x07", b"\x91\x93\x01\x02\x03"])
def test_pieces_that_make_no_sense_raise_an_error(piece: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        decoded(piece)
    with pytest.raises(ValueError, match=r"\w"):
        from_pieces([in_pieces([None])[0], piece])


def test_a_mark_tells_files_and_stamps_from_all_others(stamps: Stamps) -> None:
    paths = tuple(ALL)
    files = written(paths, stamps)
    assert files == written(paths, ALL)
    first = ALL[paths[0]]
    others = [ALL | {paths[0]: replace(first, **{field: 3})} for field in Stamp.__struct_fields__]
    others += [ALL | {paths[0]: ALL[paths[1]], paths[1]: first}]
    marks = {mark_of(written(paths, other)) for other in (stamps, ALL, *others)}
    marks.add(mark_of(written(("other.py", *paths[1:]), {"other.py": first, **ALL})))
    assert len(marks) == len(others) + 2
    assert mark_of(written(("\udcff.py",), {"\udcff.py": first}))
    assert marked(None, mark_of(files)) == marked(b"\xc1", mark_of(files)) == {}


def test_a_disk_gives_the_stamps_of_what_there_is(tmp_path: Path) -> None:
    names = tuple(f"{number}.py" for number in range(2 * TOGETHER))
    for name in names:
        (tmp_path / name).write_text(name)
    disk = Disk(tmp_path)
    found = disk.stamps(names)
    assert found == {name: disk.stamp(name) for name in names}
    assert disk.stamps(names) is found, "where nothing changed"
    os.utime(tmp_path / names[-1], ns=(1, 1))
    again = disk.stamps(names)
    assert [name for name in names if found[name] != again[name]] == [names[-1]]
    (tmp_path / names[0]).unlink()
    assert list(disk.stamps(names)) == list(names[1:])
    assert disk.stamp(names[0]) is None
    assert disk.stamp("") == disk.stamp(".")
