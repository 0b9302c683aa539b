"""Definitions of modules that do not parse: read, and edited or deleted where the new file parses."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused, ResourceError, SourceError

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


OPEN = {
    "a header": "def f(a:\n    return 1\n",
    "a body": "def f(a):\n    return max(1, [2\n",
    "a statement": "def f(a):\n    x = {1: (\n    return x\n",
    "decorated": "@dec(1\ndef f(a):\n    return 1\n",
}
AFTER = "\n\nclass Z:\n    def z(self):\n        return 1\n\n    def y(self):\n        return 2\n\n\nX = 1\n"


@pytest.mark.parametrize("case", OPEN)
def test_a_bracket_that_nothing_closes_ends_with_its_statement(tmp_path: Path, case: str) -> None:
    whole = f"{GOOD}\n\n{OPEN[case]}{AFTER}"
    source = laid(tmp_path, whole)
    assert source.read("app.g") == "def g():\n    return os.sep\n"
    assert source.read("app.Z.z") == "    def z(self):\n        return 1\n"
    assert source.read("app.X") == "X = 1\n"
    assert "class Z" not in source.read("app.f") if case != "decorated" else True
    for change in (
        lambda: source.edit("app.f", "def f(a): return 4\n", reload="off"),
        lambda: source.delete("app.f", force=True, reload="off"),
        lambda: source.edit("app.Z.z", "def z(self): return 3\n", reload="off"),
    ):
        try:
            change()
        except ResourceError:
            assert text(tmp_path) == whole
            continue
        assert text(tmp_path).endswith("    def y(self):\n        return 2\n\n\nX = 1\n")
        source.undo(reload="off")
        assert text(tmp_path) == whole


def test_a_bracket_in_a_method_leaves_the_methods_below_it(tmp_path: Path) -> None:
    whole = (
        "class K:\n    def m(self):\n        return max(1, 2\n\n    def keep(self):\n        return 3\n\n\nX = (1)\n"
    )
    source = laid(tmp_path, whole)
    source.edit("app.K.m", old="max(1, 2", new="max(1, 2)")
    assert text(tmp_path) == whole.replace("max(1, 2", "max(1, 2)")
    source.undo(reload="off")
    source.edit("app.K.m", "def m(self): return 1")
    assert text(tmp_path) == whole.replace("def m(self):\n        return max(1, 2", "def m(self): return 1")


@pytest.mark.parametrize("opening", ['"""doc', "x = ("])
def test_what_has_no_known_end_is_neither_replaced_nor_deleted_but_can_be_closed(tmp_path: Path, opening: str) -> None:
    whole = f"def f():\n    {opening}\n    foo, bar\n\n\nfoo, bar\n"
    source = laid(tmp_path, whole)
    for change in (lambda: source.edit("app.f", "def f(): return 3"), lambda: source.delete("app.f", force=True)):
        with pytest.raises(Refused, match=r"It is not known where app\.f ends: what line 2 of app opens is not closed"):
            change()
        assert text(tmp_path) == whole
    closing = opening[:3] if opening[0] == '"' else "1)"
    source.edit("app", old=opening, new=f"{opening}{closing}")
    assert text(tmp_path) == whole.replace(opening, f"{opening}{closing}")


def test_a_module_that_cannot_be_analysed_is_mended_by_a_piece_of_its_text(tmp_path: Path) -> None:
    source = laid(tmp_path, "def broken(:\n")
    source.edit("app", old="def broken(:", new="def broken(): pass")
    assert text(tmp_path) == "def broken(): pass\n"


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


def test_decorators_that_parse_belong_to_a_broken_method(tmp_path: Path) -> None:
    whole = "class K:\n    @one\n    @two(\n        3)\n    def m(self):\n        return = 1\n"
    source = laid(tmp_path, whole)
    assert source.read("app.K.m") == whole.partition("\n")[2]
