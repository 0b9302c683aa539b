"""What is kept between processes is written in one go for a request, and never in its way."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import ResourceError
from bae_source.project.facts.kept import MOST_WAITING, Kept
from bae_source.state.cache import Cache, Seen
from tests.state_folders import state_folders

DIGEST = "ab" * 32
OTHER = "cd" * 32


class Counted(Cache):
    """A cache that counts how often it is written."""

    written = 0

    def keep(self, **given: object) -> None:  # type: ignore[override]  # whatever that takes
        self.written += 1
        super().keep(**given)  # type: ignore[arg-type]


@pytest.fixture
def cache(tmp_path: Path) -> Counted:
    return Counted(state_folders(tmp_path), key="one")


@pytest.fixture
def kept(cache: Counted) -> Kept:
    return Kept(cache=lambda: cache)


def test_what_is_kept_together_is_written_once(kept: Kept, cache: Counted) -> None:
    with kept.together():
        kept.keep(files={"a.py": Seen("1", DIGEST)}, present=["a.py"])
        kept.keep(facts=[("summary", DIGEST, b"1")])
        kept.keep(facts=[("outline", DIGEST, b"2")], newest={"outline": 1})
        kept.keep(facts=[("outline", OTHER, b"3")], newest={"outline": 1})
        assert cache.written == 0
    assert cache.written == 1
    assert cache.digests(["a.py"]) == {"a.py": Seen("1", DIGEST)}
    assert cache.facts("summary", [DIGEST]) == {DIGEST: b"1"}
    assert cache.facts("outline", [DIGEST, OTHER]) == {OTHER: b"3"}


def test_what_is_kept_alone_is_written_at_once(kept: Kept, cache: Counted) -> None:
    kept.keep(facts=[("summary", DIGEST, b"1")])
    assert cache.facts("summary", [DIGEST]) == {DIGEST: b"1"}


def test_much_is_written_now_and_then(kept: Kept, cache: Counted) -> None:
    with kept.together():
        kept.keep(facts=[("summary", DIGEST, b"1" * MOST_WAITING)])
        assert cache.written == 0
        kept.keep(facts=[("uses", DIGEST, b"2")])
        assert cache.written == 1
    assert cache.written == 1


def test_what_was_kept_before_an_error_is_written(kept: Kept, cache: Counted) -> None:
    def interrupted() -> None:
        with kept.together():
            kept.keep(facts=[("summary", DIGEST, b"1")])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert cache.facts("summary", [DIGEST]) == {DIGEST: b"1"}


def test_who_keeps_nothing_needs_no_cache() -> None:
    made: list[int] = []

    def make() -> Cache:
        made.append(1)
        raise AssertionError

    kept = Kept(cache=make)
    with kept.together():
        kept.store({})
    kept.close()
    assert made == []


def test_a_request_that_looks_into_one_small_file_opens_no_cache(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(Cache, "__init__", lambda *_, **__: asked.append(1))
    assert "return 1" in Source(root).read("m0.f")
    assert asked == []


def test_what_waits_when_it_is_closed_is_let_go(kept: Kept, cache: Counted) -> None:
    with kept.together():
        kept.keep(facts=[("summary", DIGEST, b"1")])
        kept.close()
    assert not cache.path.exists()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'p'\n")
    for number in range(30):
        (tmp_path / f"m{number}.py").write_text(f"from m0 import f\n\n\ndef g{number}():\n    return f()\n")
    (tmp_path / "m0.py").write_text("def f():\n    return 1\n")
    return tmp_path


def test_a_request_is_written_in_one_transaction(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    keep = Cache.keep
    monkeypatch.setattr(Cache, "keep", lambda self, **given: (written.append(1), keep(self, **given))[1])
    source = Source(root)
    assert len(source.references("m0.f").outcome.found) == 58
    assert written == [1]
    [path] = (root / ".bae-source").glob("facts-*.sqlite")
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM facts WHERE kind = 'uses'").fetchone() == (30,)
    connection.close()
    with pytest.raises(ResourceError):
        source.references("m0.nothing")
    source.write("m30", "from m0 import f\nf()\n")
    assert len(source.references("m0.f").outcome.found) == 60


def test_forget_leaves_nothing_of_what_was_kept(root: Path) -> None:
    source = Source(root)
    source.references("m0.f")
    source.forget()
    assert not (root / ".bae-source").exists()
