"""The table of class headers: kept by the stamps of the files, so that it is never that of another content."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

from bae_source.project.files import Disk, Stamp
from bae_source.project.kept import Kept
from bae_source.project.usage.bases import Bases
from bae_source.project.workspace import Workspace
from bae_source.state.cache import Cache
from bae_source.state.folders import StateFolders
from tests.project.support import workspace

LATER = 10 * 10**9


class Counted(Disk):
    """A disk that counts the files that are read."""

    read_files = 0

    def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
        self.read_files += 1
        return super().read_stamped(path)


def bases(root: Path, later: int = LATER) -> Bases:
    """What a new process has, with nothing but the cache."""
    cache = Cache(StateFolders(root), key="test")
    kept = Kept(cache=lambda: cache, clock=lambda: time.time_ns() + later)
    return Bases(Workspace(Counted(root), kept=kept))


def read(asked: Bases) -> int:
    files = asked.workspace.files
    assert isinstance(files, Counted)
    return files.read_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("class Base: ...\n")
    (tmp_path / "b.py").write_text("from a import Base as B\nclass C(B, metaclass=M): ...\n")
    (tmp_path / "c.py").write_text("x = 1\n")
    return tmp_path


def test_headers_and_aliases_are_found() -> None:
    found = Bases(workspace({
        "a.py": "from m import (Base\n  as B, other)\nclass C[T](B[int],\n  x.Mixin): ...\n",
        "b.py": "# é\nfrom m import Ｂase as Ñ, ﷺ as x\nclass D(Ｍixin): ...\n",
    }))  # fmt: skip
    assert found.names("Base") == ("Base", "B", "Ñ")
    assert found.mentioning(["Mixin"]).paths == ("a.py", "b.py")
    assert found.mentioning(["B", "nothing"]).paths == ("a.py",)


def test_another_process_reads_nothing_and_says_the_same(root: Path) -> None:
    first, second = bases(root), bases(root)
    for asked, count in ((first, 3), (second, 0)):
        assert asked.names("Base") == ("Base", "B")
        assert asked.mentioning(["M"]).paths == ("b.py",)
        assert read(asked) == count


def test_a_file_that_changed_is_read_again_and_no_other(root: Path) -> None:
    assert bases(root).mentioning(["M"]).paths == ("b.py",)
    (root / "b.py").write_text("from a import Base as B\nclass C(B, metaclass=N): ...\n")
    (root / "c.py").unlink()
    asked = bases(root)
    assert asked.mentioning(["M"]).paths == ()
    assert asked.mentioning(["N"]).paths == ("b.py",)
    assert read(asked) == 1
    assert read(bases(root)) == 0


def test_a_file_that_was_written_just_now_is_read_each_time(root: Path) -> None:
    for _ in range(2):
        asked = bases(root, later=0)
        assert asked.mentioning(["M"]).paths == ("b.py",)
        assert read(asked) == 3


def test_a_file_that_cannot_be_read_is_named_each_time(root: Path) -> None:
    (root / "d.py").write_bytes(b"# coding: unheard-of\nimport x\n")
    for _ in range(2):
        assert [path for path, _ in bases(root).mentioning(["M"]).unreadable] == ["d.py"]


@pytest.mark.parametrize("saved", [b"\xc1", msgspec.msgpack.encode(("a.py", [])), msgspec.msgpack.encode(1)])
def test_what_cannot_be_understood_is_made_anew(root: Path, saved: bytes) -> None:
    bases(root).workspace.kept.store("bases", saved)
    asked = bases(root)
    assert asked.mentioning(["M"]).paths == ("b.py",)
    assert read(asked) == 3
