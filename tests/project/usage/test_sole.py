"""Attributes of unknown receivers are probable where one family of classes alone has the name."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest

from benchmarks import standard_names
from tests.queries.support import laid

BASE = "class Base:\n    def on_decode(self): ...\n\n\nclass Lower(Base):\n    def on_decode(self): ...\n"
USE = "def use(x):\n    x.on_decode()\n"


def certainty(folder: Path, files: dict[str, str], target: str = "app.core.Base.on_decode") -> set[str]:
    source = laid(folder, {"app/__init__.py": "", **files})
    found = source.references(target).outcome.found
    return {each.certainty for each in found if each.module == "app.use"}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "probable"),
        (
            {"app/other.py": "from app.core import Base\nclass Deeper(Base):\n    def on_decode(self): ...\n"},
            "probable",
        ),
        ({"app/other.py": "def f():\n    on_decode = 1\n    return on_decode\n"}, "probable"),
        ({"app/other.py": "class Other:\n    def on_decode(self): ...\n"}, "unsure"),
        ({"app/other.py": "class Other:\n    on_decode: int\n"}, "unsure"),
        ({"app/other.py": "class Other:\n    def __init__(self):\n        self.on_decode = 1\n"}, "unsure"),
        ({"app/other.py": "def set(y):\n    y.on_decode = print\n"}, "unsure"),
        ({"app/other.py": "def on_decode(): ...\n"}, "unsure"),
        ({"app/other.py": "import nowhere_installed\nnowhere_installed.on_decode\n"}, "unsure"),
        ({"app/other.py": "def on_decode(:\n"}, "unsure"),
    ],
    ids=["alone", "below", "a variable", "class", "declared", "self", "set", "function", "not installed", "broken"],
)
def test_what_one_family_alone_has_is_probable(tmp_path: Path, more: dict[str, str], expected: str) -> None:
    assert certainty(tmp_path, {"app/core.py": BASE, "app/use.py": USE, **more}) == {expected}


@pytest.mark.parametrize("name", ["close", "append", "isoformat", "_replace"])
def test_what_pythons_own_classes_have_is_unsure(tmp_path: Path, name: str) -> None:
    files = {"app/core.py": BASE.replace("on_decode", name), "app/use.py": USE.replace("on_decode", name)}
    assert certainty(tmp_path, files, f"app.core.Base.{name}") == {"unsure"}


@pytest.mark.parametrize(
    ("installed", "expected"),
    [
        ("class Their:\n    def other(self): ...\n", "probable"),
        ("class Their:\n    def on_decode(self): ...\n", "unsure"),
    ],
)
def test_what_an_imported_package_may_have_is_unsure(tmp_path: Path, installed: str, expected: str) -> None:
    packages = tmp_path / ".venv" / "lib" / f"python3.{sys.version_info[1]}" / "site-packages"
    (packages / "their").mkdir(parents=True)
    (packages / "their" / "__init__.py").write_text(installed)
    (tmp_path / ".venv" / "bin").mkdir()
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("version = 3\n")
    assert certainty(tmp_path, {"app/core.py": f"import their\n\n\n{BASE}", "app/use.py": USE}) == {expected}


def test_the_receiver_that_is_known_is_as_sure_as_before(tmp_path: Path) -> None:
    use = f"from app.core import Base\n\n\n{USE}\n\ndef sure():\n    Base().on_decode()\n"
    assert certainty(tmp_path, {"app/core.py": BASE, "app/use.py": use}) == {"sure", "probable"}


def test_the_table_has_the_names_of_this_pythons_own_classes() -> None:
    known = set(standard_names.TABLE.read_text().split())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert standard_names.names() <= known
