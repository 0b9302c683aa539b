"""The contents of many files in a few pieces: what is found in them, and what is read again when files change."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from bae_source.project.facts import haystack as haystacks
from bae_source.project.facts.kept import Kept
from bae_source.project.files.data_listing import data_files
from bae_source.project.files.port import Disk
from bae_source.project.search.expression import expression_of
from bae_source.project.search.scope import scope_of
from bae_source.project.search.sieve import Sieve
from bae_source.project.search.text import search_text
from bae_source.project.workspace import Workspace

LONG_AGO = 1_000_000_000


class Counting(Disk):
    """A disk that notes which files were read."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.read_paths: list[str] = []

    def glance(self, path: str, size: int) -> bytes:
        self.read_paths.append(path)
        return super().glance(path, size)


class Project:
    """A project of which everything is kept, on a clock by which nothing that is there was written just now."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.kept = Kept(clock=lambda: time.time_ns() + 10_000_000_000, process_stays=True)

    def search(self, word: str, **options: bool) -> tuple[list[str], list[str]]:
        """Return where a word stands, and which files were read for that but for those that hold it."""
        disk = Counting(self.root)
        workspace = Workspace(disk, kept=self.kept)
        expression = expression_of(word, ignore_case=False, word=False, multi_line=False)
        sieve = Sieve(workspace, expression, seconds=60)
        scope = scope_of(workspace, None, stubs=True, data=True, sieve=sieve)
        found = search_text(workspace, scope, expression, seconds=60, sieve=sieve)
        names = [file.file.path for file in found.files]
        return names, sorted(set(disk.read_paths) - set(names))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    for number in range(150):
        (tmp_path / f"m{number:03}.py").write_text(f"def f{number}x():\n    return 'word{number}x'\n")
        (tmp_path / f"d{number:03}.txt").write_text(f"data{number}x\n")
    return Project(tmp_path)


def test_nothing_is_read_again_that_has_not_changed(project: Project) -> None:
    names, read = project.search("word7x")
    assert (names, len(read)) == (["m007.py"], 299)
    for word, expected in (("word8x", ["m008.py"]), ("data149x", ["d149.txt"]), ("f0x", ["m000.py"]), ("x9x", [])):
        for _ in range(2):
            assert project.search(word) == (expected, [])


def test_only_what_changed_is_read_again(project: Project) -> None:
    project.search("word7x")
    (project.root / "m070.py").write_text("word7x = 1\n")
    (project.root / "d070.txt").write_text("word7x\n")
    assert project.search("nothing") == ([], ["d070.txt", "m070.py"])
    assert project.search("word7x") == (["d070.txt", "m007.py", "m070.py"], [])
    assert project.search("word70x") == ([], [])


def test_files_that_come_and_go_have_no_others_read_again(project: Project) -> None:
    project.search("word7x")
    (project.root / "a.py").write_text("word7x = 1\n")
    (project.root / "a.txt").write_text("word7x\n")
    (project.root / "m000.py").unlink()
    (project.root / "d000.txt").unlink()
    assert project.search("nothing") == ([], ["a.py", "a.txt"])
    assert project.search("word7x") == (["a.txt", "a.py", "m007.py"], [])
    assert project.search("word0x") == project.search("data0x") == ([], [])


def test_a_change_that_keeps_size_and_moment_is_seen(project: Project) -> None:
    project.search("word7x")
    file = project.root / "m007.py"
    before = file.stat()
    file.write_text(file.read_text().replace("word7x", "w_rd7x"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert project.search("word7x")[0] == []
    assert project.search("w_rd7x")[0] == ["m007.py"]


def test_what_was_written_just_now_is_read_each_time(project: Project) -> None:
    project.kept.clock = time.time_ns
    for _ in range(3):
        names, read = project.search("word7x")
        assert (names, len(read)) == (["m007.py"], 299)


def test_what_hides_words_or_cannot_be_read_is_looked_into_each_time(project: Project) -> None:
    (project.root / "utf16.py").write_bytes(b"# coding: rot13\njbeq7k = 1\n")
    (project.root / "wide.py").write_text("ｗord7x = 1\n")
    (project.root / "gone.py").symlink_to(project.root / "m000.py")
    first = project.search("word7x")[0]
    assert project.search("word7x")[0] == first
    assert {"utf16.py", "wide.py"} <= set(project.search("elsewhere")[1])


def test_so_much_is_kept_at_most(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(haystacks, "LARGEST", 4_000)
    assert project.search("word149x")[0] == ["m149.py"]
    names, read = project.search("word149x")
    assert names == ["m149.py"]
    assert 0 < len(read) < 299


@pytest.mark.parametrize("ignored", [".gitignore", ".git/info/exclude"])
def test_names_are_listed_anew_when_what_is_ignored_changes(project: Project, ignored: str) -> None:
    def names() -> Sequence[str]:
        return [file.path for file in data_files(Workspace(Disk(project.root), kept=project.kept))]

    (project.root / ".git/info").mkdir(parents=True)
    assert len([path for path in names() if path.endswith(".txt")]) == 150
    (project.root / ignored).write_text("d*.txt\n")
    assert not [path for path in names() if path.endswith(".txt")]
    (project.root / ignored).write_text("d00*.txt\n")
    assert len([path for path in names() if path.endswith(".txt")]) == 140
    (project.root / "docs").mkdir()
    (project.root / "docs/d.txt").write_text("")
    (project.root / "docs/e.txt").write_text("")
    assert "docs/e.txt" in names()
