"""Names that are bound without a definition, as `glob` and `outline` list them, and `read` reads them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.queries.support import laid

BOUND = {
    "for index in range(3): ...": ["index"],
    "for index, (row, *rest) in []: ...": ["index", "rest", "row"],
    "with open('x') as stream: ...": ["stream"],
    "if (size := 3): ...": ["size"],
    "[last := each for each in 'ab']": ["last"],
    "match 1:\n    case {'a': found, **others}: ...\n    case [first, *tail]: ...": [
        "first",
        "found",
        "others",
        "tail",
    ],
    "try: ...\nexcept OSError as error: ...": ["error"],
    "def load():\n    global cache\n    cache = 1": ["cache"],
}
"""By code, the names that it binds without a definition."""
CLASS = (
    "class Tool:\n    kept = 1\n    for step in (1, 2): ...\n    def __init__(self, value):\n"
    "        self.value = value\n        self.kept = 2\n        self.__own, self.pair = value\n"
    "        other = value\n        value.far = 1\n"
    "    @classmethod\n    def make(cls): cls.made = 1\n    def go(self): self.value = 2\n"
    "class Sub(Tool):\n    def f(self): self.value: int = 3\n"
)


@pytest.mark.parametrize("code", BOUND)
def test_what_statements_bind_is_listed_and_can_be_read(tmp_path: Path, code: str) -> None:
    source = laid(tmp_path, {"app.py": f"{code}\n"})
    defined = {"app.load"} if "load" in code else set()
    assert set(source.glob("app.*").splitlines()) - {"(no matches)"} == defined
    listed = set(source.glob("app.*", attributes=True).splitlines()) - defined
    assert listed == {f"app.{name}" for name in BOUND[code]}
    assert source.glob("app.*", kind="variable").splitlines() == sorted(listed)
    for address in listed:
        assert address.removeprefix("app.") in source.read(address)


@pytest.mark.parametrize(
    "code",
    [
        "import json\nfrom os import path",
        "for json in []: ...\nimport json",
        "x = 1\nfor x in []: ...",
        "def f():\n    for x in []: ...",
        "def f(): ...\nwith f() as f: ...",
        "[x for x in []]",
        "lambda x: x",
    ],
)
def test_what_is_defined_imported_or_local_is_no_variable(tmp_path: Path, code: str) -> None:
    source = laid(tmp_path, {"app.py": f"{code}\n"})
    assert source.glob("app.**", attributes=True) == source.glob("app.**")
    assert source.glob("app.**", kind="variable") == "(no matches)"


def test_attributes_of_instances_are_listed_where_a_class_sets_them(tmp_path: Path) -> None:
    source = laid(tmp_path, {"app.py": CLASS})
    attributes = source.glob("app.**", kind="attribute").splitlines()
    assert attributes == ["app.Sub.value", "app.Tool.__own", "app.Tool.made", "app.Tool.pair", "app.Tool.value"]
    assert source.glob("app.**", kind="variable") == "app.Tool.step"
    assert source.glob("**.value", attributes=True).splitlines() == ["app.Sub.value", "app.Tool.value"]
    for address in attributes:
        assert source.read(address).startswith("app:")
    assert source.read("app.Tool.value") == "app:5: self.value = value\napp:12: def go(self): self.value = 2\n"


def test_an_outline_has_them_behind_what_is_defined(tmp_path: Path) -> None:
    source = laid(tmp_path, {"app.py": f"{CLASS}for index in []: ...\n", "pkg/__init__.py": "with x as y: ...\n"})
    without = source.outline("app", depth=2)
    assert "attribute" not in without
    outline = source.outline("app", depth=2, numbers=True, attributes=True)
    assert outline.endswith(
        "   13      class Sub(Tool)\n   14          def f(self)\n"
        "   14          attribute value: def f(self): self.value: int = 3\n"
        "   15      variable index: for index in []: ...\n"
    )
    tool = source.outline("app.Tool", attributes=True)
    assert "    attribute value: self.value = value … (2 places)\n" in tool
    assert tool.endswith("    (1 private name)\n")
    assert "variable step: for step in (1, 2): ..." in tool
    assert "attribute __own: self.__own, self.pair = value" in source.outline("app.Tool", private=True, attributes=True)
    assert "variable y: with x as y: ..." in source.outline("pkg", attributes=True)
    assert "variable y" in source.outline(depth=2, attributes=True)
    assert "variable y" not in source.outline(depth=2)


def test_a_module_that_does_not_parse_is_reported(tmp_path: Path) -> None:
    outcome = laid(tmp_path, {"app.py": CLASS, "bad.py": "def f(:\n"}).glob("**.value", attributes=True).outcome
    assert outcome.complete
    outcome = laid(tmp_path, {"bad.py": "def value(:\n"}).glob("**.value", attributes=True).outcome
    assert not outcome.complete
    assert "bad" in outcome.warnings[0].message


@pytest.mark.parametrize("words", [["glob", "app.*", "--attributes"], ["outline", "app", "--attributes"]])
def test_the_command_line_lists_them_where_it_is_asked_to(tmp_path: Path, words: list[str]) -> None:
    laid(tmp_path, {"app.py": "for index in []: ...\nsize = 1\n"})
    command = [sys.executable, "-m", "bae_source", "--root", str(tmp_path)]
    assert "index" in subprocess.run([*command, *words], capture_output=True, text=True, check=True).stdout
    assert "index" not in subprocess.run([*command, *words[:-1]], capture_output=True, text=True, check=True).stdout
