"""The first look at files: what it lets through, and that it never holds back what matters."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused
from bae_source.project.facts.kept import Kept
from bae_source.project.files.port import Disk, Stamp
from bae_source.project.search import sieve as sieves
from bae_source.project.search.expression import Expression, expression_of
from bae_source.project.search.scope import scope_of
from bae_source.project.search.sieve import Sieve
from bae_source.project.search.text import search_text
from bae_source.project.workspace import Workspace
from tests.memory import Memory
from tests.queries.support import laid


def expression(pattern: str, *, ignore_case: bool = False) -> Expression:
    return expression_of(pattern, ignore_case=ignore_case, word=False, multi_line=False)


def let_through(space: Workspace, pattern: str, *, seconds: float = 10, ignore_case: bool = False) -> list[str]:
    sieve = Sieve(space, expression(pattern, ignore_case=ignore_case), seconds=seconds)
    return [file.name for file in scope_of(space, None, stubs=True, data=True, sieve=sieve).files]


FILES = {
    "pkg/__init__.py": b"",
    "pkg/has.py": b"mark = 1\n",
    "pkg/not.py": b"other = 1\n",
    "pkg/loud.py": b"MARK = 1\n",
    "pkg/hidden.py": b"#\n# coding: utf-16\n",
    "pkg/late.py": b"#\n#\n# coding: utf-16\n",
    "pkg/kelvin.py": "x = '\u212a'\n".encode(),
    "pkg/page.html": b"mark",
    "pkg/other.html": b"coding",
    "pkg/has.pyi": b"mark: int\n",
}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("mark", ["pkg.has", "pkg.has@stub", "pkg.hidden", "pkg:page.html"]),
        (r"mark\b", ["pkg.has", "pkg.has@stub", "pkg.hidden", "pkg:page.html"]),
        ("nowhere", ["pkg.hidden"]),
        ("mark|other", ["pkg.has", "pkg.has@stub", "pkg.hidden", "pkg.not", "pkg:page.html"]),
        ("(m|n)", [*("pkg", "pkg.has", "pkg.has@stub", "pkg.hidden", "pkg.kelvin", "pkg.late", "pkg.loud", "pkg.not"),
                 "pkg:other.html", "pkg:page.html"]),
    ],
)  # fmt: skip
def test_only_files_that_hold_a_piece_of_the_pattern_are_named(pattern: str, names: list[str]) -> None:
    assert let_through(Workspace(Memory(FILES)), pattern) == names


def test_letters_that_are_equal_when_case_is_ignored_are_let_through() -> None:
    found = let_through(Workspace(Memory(FILES)), "mark", ignore_case=True)
    assert {"pkg.has", "pkg.loud", "pkg.kelvin"} <= set(found)
    assert "pkg.not" not in found


def test_when_the_time_is_up_every_file_is_let_through() -> None:
    assert len(let_through(Workspace(Memory(FILES)), "nowhere", seconds=-1)) == len(FILES)


def test_the_time_begins_with_the_first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    sieve = Sieve(Workspace(Memory(FILES)), expression("nowhere"), seconds=10)
    now[0] = 500.0
    assert sieve.sifted(["pkg/not.py"]) == []
    assert sieve.deadline == 510.0
    now[0] = 511.0
    assert sieve.sifted(["pkg/not.py"]) == ["pkg/not.py"]


def test_looking_leaves_time_to_search_what_was_let_through(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    class Slow(Memory):
        def read(self, path: str) -> bytes:
            now[0] += 1
            return super().read(path)

    space = Workspace(Slow({f"m{number:02}.py": b"mark\n" for number in range(40)}))
    assert space.census.paths
    wanted = expression("mark")
    sieve = Sieve(space, wanted, seconds=30)
    found = search_text(space, scope_of(space, None, sieve=sieve), wanted, seconds=30, sieve=sieve)
    names = [file.file.name for file in found.files]
    assert names == [f"m{number:02}" for number in range(len(names))]
    assert 25 < len(names) < 40
    assert [notice.code for notice in found.notices] == ["timed_out"]
    assert not found.complete


def test_planned_text_is_what_is_looked_at() -> None:
    space = Workspace(Memory(FILES), overlay={"pkg/not.py": b"mark", "pkg/has.py": b""})
    assert "pkg.not" in let_through(space, "mark")
    assert "pkg.has" not in let_through(space, "mark")


def test_what_is_kept_is_bounded_and_handed_over_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sieves, "ROOM", 10)
    sieve = Sieve(Workspace(Memory({"a.py": b"mark 1", "b.py": b"mark 22"})), expression("mark"), seconds=10)
    assert sieve.sifted(["a.py", "b.py"]) == ["a.py", "b.py"]
    assert [sieve.taken(path) for path in ("a.py", "b.py", "a.py")] == [b"mark 1", None, None]


def test_a_search_finds_the_same_with_and_without_it(tmp_path: Path) -> None:
    laid(tmp_path, FILES)
    space = Workspace(Disk(tmp_path))
    for pattern in ("mark", "nowhere", "m|n", "coding", "k"):
        wanted = expression(pattern, ignore_case=True)
        sieve = Sieve(space, wanted, seconds=10)
        through = search_text(space, scope_of(space, None, data=True, sieve=sieve), wanted, seconds=10, sieve=sieve)
        directly = search_text(space, scope_of(space, None, data=True), wanted, seconds=10)
        assert (through.files, through.notices, through.complete) == (
            directly.files,
            directly.notices,
            directly.complete,
        )


def test_what_has_gone_or_may_not_be_read_is_still_named(tmp_path: Path) -> None:
    class Guarded(Disk):
        def glance(self, path: str, size: int) -> bytes:
            return self.read_stamped(path)[0] if path == "pkg/not.py" else super().glance(path, size)

        def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
            if path == "pkg/not.py":
                raise Refused("forbidden", "The file may not be read.")
            return super().read_stamped(path)

    laid(tmp_path, FILES)
    space = Workspace(Guarded(tmp_path))
    assert space.census.paths
    (tmp_path / "pkg/has.py").unlink()
    wanted = expression("nowhere")
    sieve = Sieve(space, wanted, seconds=10)
    found = search_text(space, scope_of(space, None, sieve=sieve), wanted, seconds=10, sieve=sieve)
    assert [notice.message.split()[0] for notice in found.notices] == ["pkg.has", "pkg.hidden", "pkg.not"]
    assert not found.complete


def test_a_file_that_has_become_longer_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x" * 10 + b"mark")
    disk = Disk(tmp_path)
    assert disk.glance("a.py", 4) == disk.glance("a.py", 14) == disk.glance("a.py", 99) == b"x" * 10 + b"mark"


def test_only_regular_files_inside_the_project_are_looked_at(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.py").write_bytes(b"mark")
    (root / "inside.py").write_bytes(b"mark")
    (root / "out.py").symlink_to(tmp_path / "outside.py")
    (root / "in.py").symlink_to(root / "inside.py")
    (root / "folder.py").mkdir()
    os.mkfifo(root / "pipe.py")
    disk = Disk(root)
    assert disk.glance("in.py", 4) == b"mark"
    for name in ("out.py", "folder.py", "pipe.py", "nothing.py"):
        with pytest.raises(FileNotFoundError):
            disk.glance(name, 4)


def test_a_file_that_cannot_be_decoded_and_holds_no_match_hides_nothing(tmp_path: Path) -> None:
    source: Source = laid(tmp_path, {"bad.py": b"x = '\xff'  # some encoding\n", "good.py": b"mark = 1\n"})
    found = source.grep("mark")
    assert (str(found), found.complete) == ("good:1: mark = 1", False)
    (tmp_path / "bad.py").write_bytes(b"#\n#\nx = '\xff'  # some encoding\n")
    assert source.grep("mark").complete
    assert not source.grep("coding").complete


def test_a_project_that_is_searched_again_is_looked_at_in_one_piece_and_says_the_same(tmp_path: Path) -> None:
    for path, content in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content)
    kept = Kept(clock=lambda: time.time_ns() + 10 * 10**9)  # so that stamps are believed
    for pattern in ("mark", "mark", "mark", "other", "nowhere", "m|n"):
        fresh = let_through(Workspace(Disk(tmp_path)), pattern)
        assert let_through(Workspace(Disk(tmp_path), kept=kept), pattern) == fresh
    (tmp_path / "pkg/not.py").write_bytes(b"mark = 2\n")
    os.utime(tmp_path / "pkg/not.py", (1, 1))
    assert "pkg.not" in let_through(Workspace(Disk(tmp_path), kept=kept), "mark")
    planned = Workspace(Disk(tmp_path), kept=kept, overlay={"pkg/loud.py": b"mark\n", "pkg/has.py": b""})
    assert {"pkg.loud", "pkg.has"} & set(let_through(planned, "mark")) == {"pkg.loud"}
