"""How the bytes of one file are read, whatever happens to it meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source.project.files.port import Disk, FileKind


def meanwhile(monkeypatch: pytest.MonkeyPatch, write: Callable[[int], None]) -> list[int]:
    """Have something written behind each piece that is read; return a list that gets the sizes of the pieces."""
    pieces: list[int] = []
    real = os.read

    def read(descriptor: int, size: int) -> bytes:
        piece = real(descriptor, size)
        pieces.append(len(piece))
        write(len(pieces))
        return piece

    monkeypatch.setattr(os, "read", read)
    return pieces


def test_a_file_that_is_written_while_it_is_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"old = 1\n")
    os.utime(file, (1, 1))

    def write(number: int) -> None:
        if number == 1:
            file.write_bytes(b"new = 2\n")

    pieces = meanwhile(monkeypatch, write)
    content, stamp = Disk(tmp_path).read_stamped("a.py")
    assert (content, len(pieces)) == (b"new = 2\n", 2)
    assert stamp == Disk(tmp_path).stamp("a.py")


def test_a_file_that_is_written_all_the_time_is_read_nevertheless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"x = 1\n")
    pieces = meanwhile(monkeypatch, lambda number: os.utime(file, (number, number)))
    assert Disk(tmp_path).read("a.py") == b"x = 1\n"
    assert len(pieces) == 3


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"x = 1\n")

    def write(number: int) -> None:
        if number == 1:
            with file.open("ab") as more:
                more.write(b"y = 2\n")

    meanwhile(monkeypatch, write)
    assert Disk(tmp_path).read("a.py") == b"x = 1\ny = 2\n"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("pkg/m.py", FileKind.FILE),
        ("pkg", FileKind.FOLDER),
        ("pkg/absent.py", None),
        ("pkg/m.py/below", None),
        ("same/m.py", FileKind.FILE),
        ("pkg/link.py", FileKind.FILE),
        ("out/x.py", None),
        ("pkg/out.py", None),
        ("pkg/loop", None),
        ("../outside/x.py", None),
        ("pkg/../../outside/x.py", None),
        ("pkg/../pkg/m.py", FileKind.FILE),
        ("pkg//m.py", FileKind.FILE),
        ("./pkg/m.py", FileKind.FILE),
    ],
)
def test_only_what_lies_inside_the_root_is_there_whatever_links_lead_to_it(
    tmp_path: Path, path: str, kind: FileKind | None
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "pkg").mkdir(parents=True)
    outside.mkdir()
    (outside / "x.py").write_text("x = 1\n", encoding="ascii")
    (root / "pkg" / "m.py").write_text("x = 2\n", encoding="ascii")
    (root / "pkg" / "link.py").symlink_to("m.py")
    (root / "pkg" / "out.py").symlink_to(outside / "x.py")
    (root / "pkg" / "loop").symlink_to("loop")
    (root / "same").symlink_to("pkg")
    (root / "out").symlink_to(outside)
    (tmp_path / "named").symlink_to("root")
    for disk in (Disk(root), Disk(tmp_path / "named")):
        assert disk.kind(path) is kind
        if kind is FileKind.FILE:
            assert disk.read(path) == b"x = 2\n"
        else:
            with pytest.raises(FileNotFoundError):
                disk.read(path)
