"""Modules that packages name in tables, told when they are deleted or moved, through the door that callers use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.operations.test_write import codes, picture, project

FINDS = "\n\n\ndef __getattr__(name):\n    return getattr(import_module(_LAZY[name], __name__), name)\n"
TABLES = {
    "names": '_LAZY = {\n    "B": ".other",\n    "A": ".core",\n}' + FINDS,
    "whole names": '_LAZY = {\n    "B": "app.other",\n    "A": "app.core",\n}' + FINDS,
    "pairs": '_LAZY = {\n    "B": (".other", "B"),\n    "A": (".core", "A"),\n}' + FINDS,
    "attached": (
        "import lazy_loader\n__getattr__, __dir__, __all__ = lazy_loader.attach(\n"
        '    __name__, submod_attrs={"other": ["B"], "core": ["A"]}\n)\n'
    ),
    "submodules": (
        "import lazy_loader\n__getattr__, __dir__, __all__ = lazy_loader.attach(\n"
        '    __name__, submodules=["core"]\n)\n'
    ),
}


@pytest.mark.parametrize("about", TABLES)
def test_a_module_that_a_table_names_is_reported_as_named(tmp_path: Path, about: str) -> None:
    files = {"app/__init__.py": TABLES[about], "app/core.py": "A = 1\n", "app/other.py": "B = 1\n", "app/free.py": ""}
    src = project(tmp_path, files)
    before = picture(tmp_path)
    outcome = src.delete("app.core", reload="off")
    assert codes(outcome) == ["named_in_strings"]
    assert outcome.warnings[0].message == "app.core is still named in strings: app:3."
    src.undo(reload="off")
    assert picture(tmp_path) == before
    handed_out = ["public_name_gone"] if about in ("attached", "submodules") else []
    assert codes(src.move("app.core", "app.kernel", reload="off")) == handed_out
    assert "kernel" in (tmp_path / "app/__init__.py").read_text()
    assert "core" not in (tmp_path / "app/__init__.py").read_text()
    src.undo(reload="off")
    assert picture(tmp_path) == before
    assert codes(src.delete("app.free", reload="off")) == []
    last = {"do": "write", "target": "app.last", "source": "C = 1\n", "export": False}
    steps = [{"do": "delete", "target": "app.core"}, last]
    assert codes(src.apply(steps, reload="off")) == ["named_in_strings"]
