"""A file that is on its way to the disk holds what it held, and where the system cannot be asked, nothing happens."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bae_source.transaction.disk import port


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    port.sync_call.cache_clear()
    yield
    port.sync_call.cache_clear()


def test_a_file_that_is_on_its_way_holds_what_was_written(tmp_path: Path) -> None:
    file = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    for content in (b"", b"first", b"second, and more"):
        os.pwrite(file, content, 0)
        port.start_writing(file)
        os.fdatasync(file)
        assert os.pread(file, 100, 0) == content
    os.close(file)


def test_what_cannot_be_written_out_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    port.start_writing(writing)
    os.close(reading)
    os.close(writing)
    port.start_writing(writing)


@pytest.mark.parametrize("error", [AttributeError, OSError])
def test_a_system_without_the_call_is_asked_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    class Library:
        def __getattr__(self, name: str) -> object:
            raise error(name)

    monkeypatch.setattr(ctypes, "CDLL", lambda _: Library())
    port.start_writing(-1)
