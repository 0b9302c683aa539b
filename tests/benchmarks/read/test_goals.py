"""Goals are met by the median of pairs that took turns, and generated projects are real Python."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.corpus import python_files
from benchmarks.read.goals import Goal, in_turn, ratios, show
from benchmarks.read.trees import grow


def test_the_median_decides_and_one_miss_is_a_miss(capsys: pytest.CaptureFixture[str]) -> None:
    met = Goal(what="fine", ratios=(0.5, 0.9, 7.0), limit=1.0)
    missed = Goal(what="slow", ratios=(0.5, 1.1, 1.2), limit=1.0)
    assert show([met])
    assert not show([met, missed])
    *_, fine, slow = capsys.readouterr().out.splitlines()
    assert fine.split() == ["fine", "0.50", "0.90", "1.00", "met"]
    assert slow.split() == ["slow", "0.50", "1.10", "1.00", "MISSED"]


def test_two_things_take_turns_and_each_goes_first_as_often() -> None:
    order: list[str] = []

    def note(word: str) -> str:
        order.append(word)
        return word

    assert in_turn(3, lambda: note("a"), lambda: note("b")) == [("a", "b")] * 3
    assert order == ["a", "b", "b", "a", "a", "b"]
    assert ratios([(1.0, 2.0), (3.0, 2.0)]) == (0.5, 1.5)


def test_a_generated_project_has_so_many_files_that_parse_and_import_each_other(tmp_path: Path) -> None:
    root = grow(tmp_path / "grown", 250)
    files = python_files(root)
    assert len(files) == 250
    modules = {path.relative_to(root).with_suffix("").as_posix().replace("/", ".") for path in files}
    modules = {name.removesuffix(".__init__") for name in modules}
    for path in files:
        imported = [node for node in ast.parse(path.read_bytes()).body if isinstance(node, ast.ImportFrom)]
        assert {node.module for node in imported} - {"__future__"} <= modules
    sizes = [path.stat().st_size for path in files]
    assert max(sizes) < 1.2 * min(sizes)
