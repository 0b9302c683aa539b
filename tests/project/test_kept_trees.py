"""Large files: what was parsed once is not parsed again by the next process, and is the same."""

from __future__ import annotations

import ast
import sqlite3
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import ResourceError

_MANY = 300


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with one large module."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'p'\n")
    (tmp_path / "large.py").write_text(
        "".join(f"def f{number}():\n    # {200 * chr(45)}\n    return {number}\n" for number in range(_MANY))
    )
    return tmp_path


def _forbid_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object) -> ast.Module:
        raise AssertionError("it was parsed again")

    monkeypatch.setattr("bae_source.syntax.outline.tree.parse_module", parse)


def test_a_large_file_is_not_parsed_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Source(root).read("large.f17")
    _forbid_parsing(monkeypatch)
    again = Source(root).read("large.f17")
    assert (again, again.etag) == (first, first.etag)
    with pytest.raises(ResourceError, match="large defines no f17x"):
        Source(root).read("large.f17x")


def test_a_file_that_changed_is_parsed(root: Path) -> None:
    Source(root).read("large.f17")
    path = root / "large.py"
    path.write_text("x = 1\n" + path.read_text().replace("return 17\n", "return 170\n"))
    assert "return 170" in Source(root).read("large.f17")


def test_what_was_kept_and_is_damaged_is_parsed_anew(root: Path) -> None:
    first = Source(root).read("large.f17")
    [cache] = (root / ".bae-source").glob("facts-*.sqlite")
    with sqlite3.connect(cache) as connection:
        changed = connection.execute("UPDATE facts SET content = x'93' WHERE kind = 'outline'").rowcount
    connection.close()
    assert changed == 1
    assert Source(root).read("large.f17") == first


def test_an_export_that_is_no_text_is_in_the_way_of_nothing(root: Path) -> None:
    (root / "odd.py").write_text('__all__ = ["f", "\\ud800"]\n__all__ += ["g"]\ndef f(): ...\ndef g(): ...\n')
    for _ in range(2):
        src = Source(root)
        assert "odd (0 classes, 2 functions)" in src.outline()
        assert [each.kind for each in src.references("odd.f").outcome.found] == ["export"]
        assert "odd.g" in src.search("g")


def test_an_edit_of_a_large_file_that_was_kept_changes_that_definition_alone(root: Path) -> None:
    Source(root).read("large.f17")
    before = (root / "large.py").read_text()
    Source(root).edit("large.f17", f"def f17():\n    # {200 * '-'}\n    return 'new'\n", reload="off")
    assert (root / "large.py").read_text() == before.replace("return 17\n", "return 'new'\n")
