"""What runs while a project's tests run is compared with the answers, and what they lack is found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.run_time.__main__ import main

CORE = """
def send(x):
    return x


def passed(f):
    return f(1)


class A:
    def go(self):
        return send(2)

    @property
    def size(self):
        return 1


class B(A):
    def go(self):
        return super().go()
"""
TEST = """
from pack import core


def test_it():
    core.B().go()
    core.A().go()
    core.A().size
    core.passed(core.send)
    getattr(core, "se" + "nd")(1)
"""


def test_what_happens_is_distinguished_by_the_answers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, text in {"pack/__init__.py": "", "pack/core.py": CORE, "tests/test_core.py": TEST}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    found = main([str(tmp_path), "--package", "pack", "--python", sys.executable, "tests"])
    lines = [line.split() for line in capfd.readouterr().out.splitlines()]
    rows = {tuple(line[:3]): int(line[3]) for line in lines if len(line) == 4 and line[3].isdigit()}
    assert found == 0
    assert rows["callers", "named", "sure"] == 5
    assert rows["callers", "property", "sure"] == 1
    assert rows["subclasses", "class", "sure"] == rows["overrides", "class", "sure"] == 1
    assert rows["callers", "renamed", "missing"] == 1
    assert rows["callers", "nameless", "missing"] == 1


def test_a_call_by_name_that_an_answer_lacks_is_a_fault(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "core.py").write_text("def send(): ...\n")
    (tmp_path / "test_core.py").write_text("import core\n\ndef test_it():\n    core.send()\n")
    record = tmp_path / "record.json"
    assert main([str(tmp_path), "--package", "core", "--record", str(record)]) == 0
    monkeypatch.setattr("bae_source.Source.callers", lambda self, what: self.imports_of("core"))
    assert main([str(tmp_path), "--record", str(record)]) == 1
    assert "missing     core.send  at test_core:4" in capfd.readouterr().out
