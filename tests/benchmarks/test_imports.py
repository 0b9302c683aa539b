"""The measurement of unused imports tells what is right from what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import imports
from benchmarks.imports import STATEMENTS, measured

CODE = "import os\n\n\ndef f():\n    return os\n"


def test_what_is_added_comes_out_again(tmp_path: Path) -> None:
    (tmp_path / "core.py").write_text(CODE)
    (tmp_path / "web.py").write_text("import json\nx = 1\n")
    result = measured(tmp_path, 10)
    assert result.found == (1, 0)
    assert (result.added, result.out, result.kept, result.exact) == (len(STATEMENTS), len(STATEMENTS), 0, 1)
    assert result.is_right
    assert (tmp_path / "core.py").read_text() == CODE


def test_an_import_in_a_file_that_ruff_calls_clean_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "web.py").write_text("import json\nx = 1\n")
    monkeypatch.setattr(imports, "_flagged", lambda *_: frozenset())
    result = measured(tmp_path, 0)
    assert result.unclean == ["web.py:1"]
    assert not result.is_right
