"""Words that were looked for before: files are read again only if they changed, and then always."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bae_source.errors import ResourceError
from bae_source.project.facts import mentions, occurrences
from bae_source.project.facts.kept import Kept
from bae_source.project.facts.mentions import Mentioning
from bae_source.project.facts.occurrences import Occurrences, SavedWords
from bae_source.project.files.census import Census
from bae_source.project.files.layout import Layout
from bae_source.project.files.port import Disk, Stamp
from bae_source.project.workspace import Workspace
from bae_source.state.cache import Cache
from tests.memory import Memory
from tests.state_folders import state_folders

LATER = 10 * 10**9


class Counted(Disk):
    """A disk that notes which files are read."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.read_files: list[str] = []

    def glance(self, path: str, size: int) -> bytes:
        self.read_files.append(path)
        return super().glance(path, size)


class Process:
    """One process after the other: each knows what the cache has, and nothing else."""

    def __init__(self, root: Path, *, later: int = LATER) -> None:
        self.files = Counted(root)
        self.cache = Cache(state_folders(root), key="test")
        self.kept = Kept(cache=lambda: self.cache, clock=lambda: time.time_ns() + later)

    def workspace(self, overlay: dict[str, bytes] | None = None) -> Workspace:
        return Workspace(self.files, kept=self.kept, overlay=overlay)

    def asked(self, *words: str) -> tuple[tuple[str, ...], list[str]]:
        """The files that hold a word, and those that were read to tell; a fresh look must say the same."""
        self.files.read_files.clear()
        found = self.workspace().index.mentioning(words)
        read = list(self.files.read_files)
        assert _plain(found) == _plain(Workspace(Disk(Path(self.files.root))).index.mentioning(words))
        return found.paths, read


def _plain(found: Mentioning) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    return found.paths, [(path, error.code) for path, error in found.unreadable]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(mentions, "MANY", 2)
    for name, text in {"a": "send(1)", "b": "take(send)", "c": "x = 1", "d": "take()", "e": "\uff53end"}.items():
        (tmp_path / f"{name}.py").write_text(f"{text}\n", encoding="utf-8")
    return tmp_path


ALL = ["a.py", "b.py", "c.py", "d.py", "e.py"]


def test_nothing_is_read_for_a_word_that_another_process_looked_for(root: Path) -> None:
    assert Process(root).asked("send") == (("a.py", "b.py", "e.py"), ALL)
    again = Process(root)
    assert again.asked("send") == (("a.py", "b.py", "e.py"), [])
    assert again.asked("take") == (("b.py", "d.py"), ALL)
    assert again.asked("take", "send") == (("a.py", "b.py", "d.py", "e.py"), [])
    assert Process(root).asked("take", "send") == (("a.py", "b.py", "d.py", "e.py"), [])


def test_more_words_than_are_kept_may_be_asked_for_at_once(root: Path) -> None:
    words = ["send", *(f"word_{number}" for number in range(occurrences.MOST_WORDS))]
    for _ in range(2):
        assert Process(root).asked(*words)[0] == ("a.py", "b.py", "e.py")


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "a file that holds it now": (lambda root: (root / "c.py").write_text("send\n"), ["c.py"]),
    "a file that holds it no more": (lambda root: (root / "a.py").write_text("sand(1)\n"), ["a.py"]),
    "a new file": (lambda root: (root / "f.py").write_text("send\n"), ["f.py"]),
    "a file that is gone": (lambda root: (root / "a.py").unlink(), []),
    "a file of the same size and time": (lambda root: _same_time(root / "a.py"), ["a.py"]),
    "a file that cannot be decoded": (lambda root: (root / "c.py").write_bytes(b"x = '\xff'\n"), ["c.py"]),
}


def _same_time(path: Path) -> None:
    status = path.stat()
    path.write_text("sand(1)\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("change", CHANGES)
def test_only_what_changed_is_read_again_and_for_every_word(root: Path, change: str) -> None:
    Process(root).asked("take")
    Process(root).asked("send")
    CHANGES[change][0](root)
    assert Process(root).asked("send")[1] == CHANGES[change][1]
    taken, read = Process(root).asked("take")
    assert (taken, read) == (("b.py", "d.py"), ["c.py"] if "decoded" in change else [])


def test_a_file_that_was_written_just_now_is_read_each_time(root: Path) -> None:
    for _ in range(2):
        assert Process(root, later=0).asked("send") == (("a.py", "b.py", "e.py"), ALL)


@pytest.mark.parametrize("text", ["send\n", "send#\n"])
def test_a_file_that_changed_after_the_walk_is_not_taken_for_what_it_was(root: Path, text: str) -> None:
    workspace = Process(root).workspace()
    assert workspace.census.paths
    (root / "c.py").write_text(text)
    assert "c.py" in workspace.index.mentioning({"send"}).paths
    (root / "c.py").write_text("x = 1\n")
    assert Process(root).asked("send") == (("a.py", "b.py", "e.py"), ["c.py"])


def test_a_live_engine_piles_files_up_for_another_word(root: Path) -> None:
    live = Process(root)
    assert live.asked("send") == (("a.py", "b.py", "e.py"), ALL)
    assert live.asked("take")[0] == ("b.py", "d.py")
    assert live.asked("send") == (("a.py", "b.py", "e.py"), [])
    assert live.asked("x")[1] == ["e.py"], "in one piece, but for what is not plain"


def test_planned_text_is_neither_kept_nor_answered_from_what_is(root: Path) -> None:
    process = Process(root)
    process.asked("send")
    planned = process.workspace({"c.py": b"send\n", "a.py": b""})
    assert planned.index.mentioning({"send"}).paths == ("b.py", "c.py", "e.py")
    assert process.asked("send") == (("a.py", "b.py", "e.py"), [])


def test_bytes_that_a_request_has_are_what_counts_in_it(root: Path) -> None:
    Process(root).asked("send")
    process = Process(root)
    workspace = process.workspace()
    assert workspace.content("c.py") == b"x = 1\n"
    assert workspace.index.mentioning({"send"}).paths == ("a.py", "b.py", "e.py")
    assert process.asked("send")[1] == [], "what was known of the others is known still"


def test_words_that_were_not_asked_for_in_a_while_are_forgotten(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrences, "MOST_WORDS", 2)
    for word in ("send", "take", "x"):
        Process(root).asked(word)
    assert Process(root).asked("take")[1] == []
    assert Process(root).asked("send")[1] == ALL


def census_with(stamps: Mapping[str, Stamp]) -> Census:
    return Census(Layout(Memory({}), ()), stamps, {})


@pytest.mark.parametrize("saved", [b"", b"\xc1", b"\x92\xa1a\x80", b"\x92\x93\x01\x01\x01\x81\xa1w\x91\x05"])
def test_what_cannot_be_understood_is_nothing(saved: bytes) -> None:
    census = census_with({"a": Stamp(1, 1, 1, 1)})
    found = occurrences.load(saved, census, lambda: saved)
    assert found.outdated(census, ["w"]) == ["a"]
    assert found.holding(census, ["w"]) == set()


def test_what_is_saved_comes_back() -> None:
    known = Occurrences(
        {"a.py": Stamp(1, 2, 3, 4), "b.py": Stamp(5, 6, 7, 8)}, {"w": frozenset({"b.py"}), "v": frozenset()}
    )
    saved = occurrences.save(known)
    assert saved is not None
    for census in (census_with(known.stamps), census_with({})):
        found = occurrences.load(saved[0], census, lambda: saved[1])
        assert (found.stamps, dict(found.words)) == (known.stamps, known.words)
        assert occurrences.save(found) == saved
    assert occurrences.save(Occurrences({"\udcff.py": Stamp(1, 2, 3, 4)})) is None


@pytest.mark.parametrize("files", ["none", "damaged", "cut", "of others"])
def test_of_words_whose_files_are_not_known_to_be_theirs_nothing_is_known(files: str) -> None:
    stamps = {f"{number}.py": Stamp(1, 2, 3, number) for number in range(3)}
    saved = occurrences.save(Occurrences(stamps, {"w": frozenset({"2.py"})}))
    other = occurrences.save(Occurrences({**stamps, "2.py": Stamp(1, 2, 4, 2)}, {"w": frozenset()}))
    assert saved is not None
    assert other is not None
    kept = {"none": None, "damaged": b"\xc1", "cut": saved[1][:-1], "of others": other[1]}[files]
    census = census_with({**stamps, "1.py": Stamp(9, 2, 3, 1)})
    assert occurrences.load(saved[0], census, lambda: saved[1]).outdated(census, ["w"]) == ["1.py"]
    found = occurrences.load(saved[0], census, lambda: kept)
    assert found.outdated(census, ["w"]) == ["0.py", "1.py", "2.py"]
    assert found.holding(census, ["w"]) == set()


def test_of_what_was_saved_only_the_words_that_are_asked_for_are_decoded_while_no_file_changed() -> None:
    stamps = {f"{number}.py": Stamp(1, 2, 3, number) for number in (2, 1)}
    census = census_with(stamps)
    saved = occurrences.save(Occurrences(stamps, {"w": frozenset({"2.py"}), "v": frozenset()}))
    assert saved is not None
    found = occurrences.load(saved[0], census, lambda: pytest.fail("the files are those of the census"))
    assert found.outdated(census, ["w"]) == []
    assert found.holding(census, ["w"]) == {"2.py"}
    assert isinstance(found.words, SavedWords)
    assert found.words.decoded.keys() == {"w"}
    changed = census_with({**stamps, "2.py": Stamp(9, 2, 3, 2)})
    assert found.outdated(changed, ["w"]) == ["2.py"]
    assert found.holding(changed, ["w"]) == set()


def test_a_file_that_may_not_be_read_is_named_each_time(root: Path) -> None:
    (root / "c.py").write_bytes(b"# coding: nothing-known\n")
    for _ in range(2):
        process = Process(root)
        found = process.workspace().index.mentioning({"send"})
        assert [path for path, error in found.unreadable if isinstance(error, ResourceError)] == ["c.py"]
