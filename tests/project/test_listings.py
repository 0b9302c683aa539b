"""Outlines of large projects: kept for the next process, and never told of another state of the files."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source.errors import Refused, ResourceError
from bae_source.model.outcome import Outcome
from bae_source.project.facts.kept import Kept
from bae_source.project.files.port import Disk, Stamp
from bae_source.project.interfaces import listings
from bae_source.project.interfaces.listing import Listing, Style, list_packages
from bae_source.project.interfaces.overview import overview
from bae_source.project.workspace import Workspace
from bae_source.state.cache import Cache
from tests.state_folders import state_folders

FILES = 8
DEEP = Style(depth=9, private=True)


class Process:
    """What one process knows of a project; the clock is ahead, so that the stamps of new files are trusted."""

    def __init__(
        self, root: Path, monkeypatch: pytest.MonkeyPatch, *, ahead: int = 10, files: Disk | None = None
    ) -> None:
        self.files = files or Disk(root)
        self.drawn = 0
        cache = Cache(state_folders(root), key="test")
        self.kept = Kept(cache=lambda: cache, clock=lambda: time.time_ns() + ahead * 1_000_000_000)
        self._monkeypatch = monkeypatch

    def outline(self, target: str = "", style: Style = DEEP, **more: dict[str, bytes]) -> Outcome:
        """Outline, and see that it is what an engine without a memory says."""
        space = Workspace(self.files, kept=self.kept, **more)  # type: ignore[arg-type]
        with self._monkeypatch.context() as patched:
            patched.setattr(listings, "list_packages", self._counted(list_packages))
            found = overview(space, target, style)
        assert found == overview(Workspace(self.files, **more), target, style)  # type: ignore[arg-type]
        return found

    def _counted(self, draw: Callable[..., Listing]) -> Callable[..., Listing]:
        def counted(*given: object) -> Listing:
            self.drawn += 1
            return draw(*given)

        return counted


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(listings, "MANY", FILES)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text('"""A package."""\n')
    for number in range(FILES):
        (tmp_path / "pkg" / f"m{number}.py").write_text(f"def f{number}():\n    return {number}\n")
    (tmp_path / "pkg" / "broken.py").write_text("def f(:\n")
    (tmp_path / "pkg" / "a.b.py").write_text("")
    return tmp_path


def test_another_process_takes_over_what_was_drawn(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = Process(root, monkeypatch), Process(root, monkeypatch)
    outline = first.outline()
    assert [notice.code for notice in outline.warnings] == ["syntax_invalid", "unnamed_files"]
    assert second.outline() == outline
    assert not outline.complete
    assert (first.drawn, second.drawn) == (1, 0)


def test_nothing_is_kept_of_a_small_project(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listings, "MANY", 100)
    first, second = Process(root, monkeypatch), Process(root, monkeypatch)
    assert first.outline() == second.outline()
    assert (first.drawn, second.drawn) == (1, 1)


def test_the_same_process_draws_it_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = Process(root, monkeypatch)
    assert process.outline() == process.outline()
    assert process.drawn == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "pkg/m7.py").write_text("def g():\n    return 77\n"),
        lambda root: (root / "pkg/m7.py").unlink(),
        lambda root: (root / "pkg/new.py").write_text(""),
        lambda root: (root / "pkg/new.pyi").write_text("x: int\n"),
        lambda root: (root / "pkg/broken.py").write_text("x = 1\n"),
        lambda root: (root / "pkg/m7.py").rename(root / "pkg/m7_.py"),
        lambda root: (root / "pyproject.toml").write_text('[tool.bae-source]\nsource-roots = ["pkg"]\n'),
        lambda root: (root / "pkg/__init__.py").unlink(),
    ],
    ids=["edited", "deleted", "added", "stub", "mended", "renamed", "roots", "namespace"],
)
def test_whatever_changes_it_is_drawn_anew(
    root: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    process = Process(root, monkeypatch)
    before = process.outline()
    change(root)
    after, other = process.outline(), Process(root, monkeypatch)
    assert after.text != before.text
    assert other.outline() == after


def test_another_question_has_another_answer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "pkg" / "table.csv").write_text("1")
    styles = (DEEP, Style(depth=1), Style(depth=9), Style(depth=9, private=True, numbers=True))
    asked = [(target, style) for target in ("", "pkg") for style in styles]
    first, second = Process(root, monkeypatch), Process(root, monkeypatch)
    assert [first.outline(*each) for each in asked] == [second.outline(*each) for each in asked]
    assert len({first.outline(*each).text for each in asked}) > 5


def test_a_data_file_that_changes_is_seen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "pkg" / "table.csv").write_text("1")
    before = Process(root, monkeypatch).outline("pkg")
    (root / "pkg" / "table.csv").write_text("1" * 5000)
    assert Process(root, monkeypatch).outline("pkg") != before


def test_planned_text_is_seen_and_not_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = Process(root, monkeypatch)
    now = process.outline()
    assert "def planned()" in process.outline(overlay={"pkg/m7.py": b"def planned(): ...\n"}).text
    assert process.outline() == now
    assert Process(root, monkeypatch).outline() == now


def test_files_that_changed_a_moment_ago_are_looked_at_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "pkg/m7.py").write_text("def now(): ...\n")
    first, second = (Process(root, monkeypatch, ahead=0) for _ in range(2))
    assert first.outline() == second.outline()
    assert (first.drawn, second.drawn) == (1, 1)


def test_what_could_not_be_read_is_not_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Guarded(Disk):
        def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
            if path == "pkg/m2.py":
                raise Refused("forbidden", "The file may not be read.")
            return super().read_stamped(path)

    first = Process(root, monkeypatch, files=Guarded(root))
    assert "forbidden" in [notice.code for notice in first.outline().warnings]
    second = Process(root, monkeypatch)
    assert "forbidden" not in [notice.code for notice in second.outline().warnings]
    assert second.drawn == 1


@pytest.mark.parametrize("content", [b"", b"\x00", b"\xc1" * 99, b"\x95\xc4\x20" + b"x" * 40])
def test_what_cannot_be_understood_is_drawn_anew(root: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    outline = Process(root, monkeypatch).outline()
    cache = Cache(state_folders(root), key="test")
    assert cache.facts("listing", ["00" * 32])
    cache.keep(files={}, facts=[("listing", "00" * 32, content)])
    process = Process(root, monkeypatch)
    assert process.outline() == outline
    assert process.drawn == 1


def test_the_key_alone_is_no_answer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outline = Process(root, monkeypatch).outline()
    cache = Cache(state_folders(root), key="test")
    [kept] = cache.facts("listing", ["00" * 32]).values()
    cache.keep(files={}, facts=[("listing", "00" * 32, kept[: len(kept) // 2])])
    assert Process(root, monkeypatch).outline() == outline


def test_errors_that_were_kept_come_back_as_they_were(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spaces = [Workspace(process.files, kept=process.kept) for process in (Process(root, monkeypatch),) * 2]
    problems = [listings.package_listing(space, "", DEEP).problems for space in spaces]
    messages = [[(name, error.code, error.message, error.hints) for name, error in each] for each in problems]
    assert messages[0] == messages[1]
    assert all(isinstance(error, ResourceError) for each in problems for _, error in each)
