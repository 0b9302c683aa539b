"""Definitions of modules that do not parse: read, and edited or deleted where the new file parses."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import SourceError

GOOD = "import os\n\n\ndef g():\n    return os.sep\n\n\nclass A:\n    x = 1\n\n    def n(self):\n        return 2\n"
BROKEN = {
    "a header": "def f(a:\n    return 1\n",
    "no colon": "def f()\n    return 1\n    # last\n",
    "a body": "def f():\n    x = = 1\n    y = 2\n    return y\n",
    "one line": "def f(): return =\n",
    "long": "@os.cached\nasync def f(a, b):\n    if a\n        return 1\n\n    return b\n",
}
MENDED = "def f():\n    return 1\n"
NEWLINES = ["\n", "\r\n"]


def laid(root: Path, text: str, newline: str = "\n") -> Source:
    (root / "app.py").write_bytes(text.replace("\n", newline).encode())
    return Source(root)


def text(root: Path, newline: str = "\n") -> str:
    return (root / "app.py").read_bytes().decode().replace(newline, "\n")


@pytest.mark.parametrize("newline", NEWLINES)
@pytest.mark.parametrize("form", ["a body", "no colon", "one line", "long"])
def test_the_broken_definition_is_read_and_mended(tmp_path: Path, form: str, newline: str) -> None:
    source = laid(tmp_path, f"{GOOD}\n\n{BROKEN[form]}\n\nz = 1\n", newline)
    read = source.read("app.f")
    assert (
        read.replace(newline, "\n").rstrip() == BROKEN[form].replace("    # last\n", "").rstrip() or form == "no colon"
    )
    assert [each.code for each in read.outcome.warnings] == ["syntax_invalid"]
    source.edit("app.f", MENDED, if_match=read.etag, reload="off")
    assert text(tmp_path, newline).startswith(GOOD)
    assert text(tmp_path, newline).endswith("\n\n\nz = 1\n")
    assert "return 1" in text(tmp_path, newline)
    source.undo()
    assert text(tmp_path, newline) == f"{GOOD}\n\n{BROKEN[form]}\n\nz = 1\n"


@pytest.mark.parametrize("form", ["a body", "no colon", "one line", "long"])
def test_the_broken_definition_is_deleted(tmp_path: Path, form: str) -> None:
    source = laid(tmp_path, f"{GOOD}\n\n{BROKEN[form]}\n\ndef z():\n    pass\n")
    source.delete("app.f", reload="off")
    assert text(tmp_path) == f"{GOOD}\n\ndef z():\n    pass\n"


def test_a_broken_method_is_reached_in_its_class(tmp_path: Path) -> None:
    broken = GOOD.replace("return 2", "return = 2")
    source = laid(tmp_path, f"{broken}\n    def k(self):\n        return 3\n")
    assert source.read("app.A.n") == "    def n(self):\n        return = 2\n"
    assert source.read("app.A.k") == "    def k(self):\n        return 3\n"
    source.edit("app.A.n", old="= 2", new="2", reload="off")
    assert text(tmp_path) == f"{GOOD}\n    def k(self):\n        return 3\n"


def test_other_definitions_are_read_and_not_changed_while_the_file_is_broken(tmp_path: Path) -> None:
    whole = f"{GOOD}\n\n{BROKEN['a body']}"
    source = laid(tmp_path, whole)
    assert source.read("app.g") == "def g():\n    return os.sep\n"
    for call in (lambda: source.edit("app.g", old="os.sep", new="1"), lambda: source.delete("app.g")):
        with pytest.raises(SourceError) as caught:
            call()
        assert caught.value.code == "syntax_invalid"
    assert text(tmp_path) == whole


def test_module_text_is_mended_in_place(tmp_path: Path) -> None:
    source = laid(tmp_path, f"{GOOD}\n\nx = = 1\n")
    source.edit("app", old="x = = 1", new="x = 1", reload="off")
    assert text(tmp_path) == f"{GOOD}\n\nx = 1\n"


def test_a_bracket_that_nothing_closes_leaves_what_stands_above_it(tmp_path: Path) -> None:
    source = laid(tmp_path, f"{GOOD}\n\n{BROKEN['a header']}\n\ndef z():\n    pass\n")
    assert source.read("app.g") == "def g():\n    return os.sep\n"
    with pytest.raises(SourceError, match="does not parse"):
        source.read("app.z")


@pytest.mark.parametrize("statement", ["import foo", "from os import sep"])
@pytest.mark.parametrize("target", ["app.g", "app.A.n", "app.f", "app"])
def test_an_import_is_not_added_to_a_broken_module_and_that_is_an_error(
    tmp_path: Path, target: str, statement: str
) -> None:
    whole = f"{GOOD}\n\n{BROKEN['a body']}"
    source = laid(tmp_path, whole)
    with pytest.raises(SourceError) as caught:
        source.edit(target, imports=[statement])
    assert caught.value.code == "syntax_invalid"
    assert caught.value.message.startswith("app does not parse: line 16")
    assert caught.value.hints
    assert text(tmp_path) == whole


def test_unchanged_source_with_an_import_is_an_error_in_a_broken_module(tmp_path: Path) -> None:
    source = laid(tmp_path, f"{GOOD}\n\n{BROKEN['a body']}")
    for call in (
        lambda: source.edit("app.g", "def g():\n    return os.sep\n", imports=["import foo"]),
        lambda: source.edit("app.g", old="os.sep", new="os.sep", imports=["import foo"]),
    ):
        with pytest.raises(SourceError) as caught:
            call()
        assert caught.value.code == "syntax_invalid"


def test_an_import_comes_with_the_edit_that_mends_the_module(tmp_path: Path) -> None:
    source = laid(tmp_path, f"{GOOD}\n\n{BROKEN['a body']}")
    source.edit("app.f", MENDED, imports=["import re"], reload="off")
    assert text(tmp_path) == f"{GOOD}\n\n{MENDED}".replace("import os\n", "import os\nimport re\n")
