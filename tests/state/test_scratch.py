"""What a process that was killed left in the temporary folder goes with the next one, and nobody else's ever does."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bae_source.system import scratch
from bae_source.system.scratch import Scratch, remove_left

LEFT = "bae-source-scratch-abcd1234"
COMMAND = [sys.executable, "-m", "bae_source", "edit", "m.X", "--code"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder that nobody has looked through."""
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(made))
    return made


def made_in(folder: Path, name: str = LEFT, mode: int = 0o700) -> Path:
    made = folder / name
    made.mkdir()
    (made / "file").write_bytes(b"1")
    made.chmod(mode)
    return made


def test_what_a_killed_command_left_goes_with_the_next_one(tmp_path: Path) -> None:
    root, temporary, begun = tmp_path / "project", tmp_path / "temporary", tmp_path / "begun"
    for each in (root, temporary):
        each.mkdir()
    (root / "m.py").write_text("X = 1\n")
    where = {"cwd": root, "env": {**os.environ, "TMPDIR": str(temporary)}}
    waiting = f"command sh -c 'touch {begun}; sleep 60'"
    killed = subprocess.Popen([*COMMAND, "X = 2", "--verify", waiting], **where)  # type: ignore[call-overload]
    deadline = time.monotonic() + 30
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    (left,) = temporary.iterdir()
    checked = [*COMMAND, "X = 3", "--verify", "command true"]
    subprocess.run([*checked, "--dry-run"], check=True, **where)  # type: ignore[call-overload]
    assert list(temporary.iterdir()) == [left], "who lives keeps it"
    killed.kill()
    killed.wait()
    assert list(temporary.iterdir()) == [left]
    subprocess.run(checked, check=True, **where)  # type: ignore[call-overload]
    assert list(temporary.iterdir()) == []


def test_a_folder_is_kept_while_its_process_lives_and_goes_with_its_context(folder: Path) -> None:
    with Scratch() as place, Scratch() as other:
        remove_left(str(folder))
        assert {str(each) for each in folder.iterdir()} == {place, other}
    assert list(folder.iterdir()) == []


def test_what_is_left_is_looked_for_once_before_a_folder_is_made(folder: Path) -> None:
    left = made_in(folder)
    with Scratch():
        assert not left.exists()
        made_in(folder)
        with Scratch():
            assert left.exists()


def test_what_is_not_ours_stays(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = made_in(tmp_path, "theirs")
    kept = [
        made_in(folder, "bae-source-demo-abcd1234"),
        made_in(folder, "bae-source-scratch-notes"),
        made_in(folder, "bae-source-scratch-open1234", mode=0o750),
        folder / "bae-source-scratch-link1234",
        folder / "bae-source-scratch-file1234",
        folder / "bae-source-scratch-pipe1234",
    ]
    kept[3].symlink_to(theirs)
    kept[4].write_bytes(b"")
    os.mkfifo(kept[5])
    remove_left(str(folder))
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    made_in(folder)
    remove_left(str(folder))
    assert sorted(folder.iterdir()) == sorted([*kept, folder / LEFT])
    assert (theirs / "file").exists()


def test_a_link_in_what_is_left_is_removed_and_not_followed(folder: Path, tmp_path: Path) -> None:
    theirs = made_in(tmp_path, "theirs")
    left = made_in(folder)
    (left / "link").symlink_to(theirs)
    remove_left(str(folder))
    assert not left.exists()
    assert (theirs / "file").exists()


def test_where_there_are_no_locks_nothing_is_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    left = made_in(folder)
    monkeypatch.setattr("fcntl.flock", refuse)
    remove_left(str(folder))
    with Scratch() as place:
        assert {str(each) for each in folder.iterdir()} == {str(left), place}


def test_a_folder_that_is_taken_for_one_that_was_left_is_made_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, before = scratch.lock, list[list[str]]()

    def late(descriptor: int) -> None:
        before.append([each.name for each in folder.iterdir()])
        if len(before) == 1:
            remove_left(str(folder))
        lock(descriptor)

    monkeypatch.setattr(scratch, "lock", late)
    with Scratch() as place:
        assert [str(each) for each in folder.iterdir()] == [place]
    assert [len(each) for each in before] == [1, 1, 1], "made, to be removed, and made again"
    assert before[0] == before[1] != before[2] == [Path(place).name]


def test_it_is_not_looked_for_longer_than_patience_lasts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [made_in(folder, f"bae-source-scratch-0000000{number}") for number in range(3)]
    monkeypatch.setattr(scratch, "PATIENCE", 0.1)
    monkeypatch.setattr("shutil.rmtree", lambda path, **_: time.sleep(0.15) or Path(path, "file").unlink())
    remove_left(str(folder))
    assert [(each / "file").exists() for each in left].count(False) == 1


def test_a_temporary_folder_that_cannot_be_listed_is_no_reason_to_fail(folder: Path) -> None:
    remove_left(str(folder / "none"))
