"""A file of ours is read if it is one; whatever else stands there is an error, at once."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source.system.own_files import beginning_of, content_of

OTHERS: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "a FIFO": os.mkfifo,
    "a folder": os.mkdir,
    "a socket": lambda path: socket.socket(socket.AF_UNIX).bind(path.name),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to a file": lambda path: path.symlink_to(__file__),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_regular_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket may not be long
    OTHERS[kind](tmp_path / "it")
    for read in (content_of, lambda path: beginning_of(path, 9)):
        with pytest.raises(OSError):
            read(tmp_path / "it")


def test_a_file_is_read_to_its_end_or_as_far_as_is_wanted(tmp_path: Path) -> None:
    file = tmp_path / "it"
    for content in (b"", b"short", bytes(range(256)) * 10_000):
        file.write_bytes(content)
        assert content_of(file) == content
        assert beginning_of(file, 7) == content[:7]


def test_a_device_is_not_read_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match="no regular file"):
        content_of(Path("/dev/zero"))
