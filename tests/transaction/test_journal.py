"""The journal is whole or not there, and is never written over by who does not understand it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bae_source.history.record.entry import Entry
from bae_source.state.journal_head import NAME, is_idle, is_open
from bae_source.transaction.commit import journal
from bae_source.transaction.commit.journal import InUse, Journal, Record, State, Unreadable
from bae_source.transaction.disk.port import RealDisk
from bae_source.transaction.disk.targets import Attributes, Content

ATTRIBUTES = Attributes(
    inode=(1, 2), mode=0o100644, user=0, group=0, accessed=1, modified=2, extended={"user.a": b"\xff"}
)

ID = "0123456789abcdef" * 2


def record(size: int = 100, name: str = "op_1") -> Record:
    entry = Entry(id=name, kind="change", who="me", when="2026-11-22T00:00:00+00:00", summary="do", files=())
    content = Content(path="a.py", parts=("a.py",), name="a", before=b"x" * size, after=None, attributes=ATTRIBUTES)
    return Record(entry=entry, contents=(content,), new_folders=(("new",), ("new", "deep")))


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Journal]:
    with journal.opened(tmp_path, RealDisk(), ID) as found:
        found.read()
        yield found


def reread(folder: Path) -> tuple[State, Record | None]:
    """Read it as the next process would; one that holds it does not matter here."""
    file = RealDisk().open(str(folder / NAME), 0, 0, None)
    try:
        return Journal(file, folder, RealDisk(), ID).read()
    finally:
        RealDisk().close(file)


@pytest.mark.parametrize("size", [0, 100, 1_000_000])
def test_a_record_comes_back_in_each_state(opened: Journal, tmp_path: Path, size: int) -> None:
    opened.begin(record(size))
    assert reread(tmp_path) == (State.OPEN, record(size))
    opened.mark()
    assert reread(tmp_path) == (State.COMMITTED, record(size))
    opened.reopen()
    assert reread(tmp_path) == (State.OPEN, record(size))
    opened.close(durable=True)
    assert reread(tmp_path) == (State.IDLE, None)


def test_a_record_of_one_file_is_reopened_durably_and_marked_for_processes_alone(tmp_path: Path) -> None:
    class Disk(RealDisk):
        synced = 0

        def sync_content(self, file: int) -> None:
            self.synced += 1

    disk = Disk()
    with journal.opened(tmp_path, disk, ID) as opened:
        opened.read()
        opened.begin_single(record())
        assert (reread(tmp_path), disk.synced) == ((State.SINGLE, record()), 0)
        opened.persist()
        assert (reread(tmp_path), disk.synced) == ((State.SINGLE, record()), 1)
        assert is_open(tmp_path, ID), "it may be taken back"
        opened.mark()
        assert (reread(tmp_path), disk.synced) == ((State.COMMITTED, record()), 1)
        assert not is_open(tmp_path, ID)
        opened.reopen()
        assert (reread(tmp_path), disk.synced) == ((State.OPEN, record()), 2)
        opened.begin(record())
        opened.mark()
        assert (reread(tmp_path), disk.synced) == ((State.COMMITTED, record()), 3)


def test_it_is_idle_where_there_is_none_and_where_nothing_is_under_way(tmp_path: Path) -> None:
    assert is_idle(tmp_path, ID)
    with journal.opened(tmp_path, RealDisk(), ID) as opened:
        assert is_idle(tmp_path, ID), "created by a process that died before it wrote anything"
        opened.read()
        assert is_idle(tmp_path, ID)
        opened.begin(record())
        assert not is_idle(tmp_path, ID)
        assert is_open(tmp_path, ID)
        opened.mark()
        assert not is_idle(tmp_path, ID)
        assert not is_open(tmp_path, ID), "it will not be taken back"
        opened.close(durable=False)
        assert is_idle(tmp_path, ID)
    (tmp_path / NAME).write_bytes(b"something else\nidle\n")
    assert not is_idle(tmp_path, ID)
    assert not is_open(tmp_path, ID)


def test_a_record_that_was_not_finished_is_none(opened: Journal, tmp_path: Path) -> None:
    opened.begin(record(5000))
    path = tmp_path / NAME
    whole = path.read_bytes()
    for position in (600, 4000):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        assert reread(tmp_path) == (State.OPEN, None)
    path.write_bytes(whole[:3000])
    assert reread(tmp_path) == (State.OPEN, None)


@pytest.mark.parametrize("checksum", [b"0f" * 16, b"", b"123"])
def test_a_record_that_is_checked_in_another_way_is_not_taken_for_an_unfinished_one(
    opened: Journal, tmp_path: Path, checksum: bytes
) -> None:
    opened.begin(record())
    path = tmp_path / NAME
    head = path.read_bytes()[:512].rstrip(b"\0").split(b"\n")
    whole = b"\n".join([*head[:4], checksum, b""]).ljust(512, b"\0") + path.read_bytes()[512:]
    path.write_bytes(whole)
    with pytest.raises(Unreadable, match=NAME):
        reread(tmp_path)
    assert path.read_bytes() == whole


def test_an_older_record_under_a_newer_head_is_none(opened: Journal, tmp_path: Path) -> None:
    opened.begin(record(5000, "op_1"))
    older = (tmp_path / NAME).read_bytes()
    opened.begin(record(5000, "op_2"))
    newer = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(newer[:512] + older[512:])
    assert reread(tmp_path) == (State.OPEN, None)


def test_writing_over_it_takes_no_more_room_and_a_large_one_gives_it_back(opened: Journal, tmp_path: Path) -> None:
    size = (tmp_path / NAME).stat().st_size
    opened.begin(record(1000))
    opened.close(durable=False)
    assert (tmp_path / NAME).stat().st_size == size
    opened.begin(record(5_000_000))
    assert (tmp_path / NAME).stat().st_size > 5_000_000
    opened.close(durable=False)
    assert (tmp_path / NAME).stat().st_size == size
    opened.begin(record(1000))
    assert reread(tmp_path) == (State.OPEN, record(1000))


@pytest.mark.parametrize(
    "head", [b"bae_source journal 2\nopen\nop_1\n5\nabc\n", b"\x89PNG and more", b"bae_source journal 1\nwhat\n"]
)
def test_what_is_no_journal_of_this_version_is_refused(tmp_path: Path, head: bytes) -> None:
    (tmp_path / NAME).write_bytes(head.ljust(600, b"\0"))
    assert not is_idle(tmp_path, ID)
    with journal.opened(tmp_path, RealDisk(), ID) as opened, pytest.raises(Unreadable, match=NAME):
        opened.read()
    assert (tmp_path / NAME).read_bytes() == head.ljust(600, b"\0")


def test_two_never_have_it_open(opened: Journal, tmp_path: Path) -> None:
    with pytest.raises(InUse), journal.opened(tmp_path, RealDisk(), ID):
        raise AssertionError
