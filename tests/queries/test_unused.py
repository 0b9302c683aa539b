"""Definitions that nothing uses: each kind with its neighbours, and code that looks alike and is used."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.queries.support import laid

SCRIPT = 'if __name__ == "__main__":\n    run()\n'


def listed(root: Path, files: Mapping[str, str], scope: str | None = None) -> dict[str, str]:
    """Return what is unused by its address, how sure it is, and the reason where it is not."""
    found = laid(root, files).unused(scope).outcome.found
    return {each.address: f"{each.certainty}: {each.why}".removesuffix(": ") for each in found}


def in_script(code: str) -> dict[str, str]:
    """Return a project of one script."""
    return {"app.py": f"{code}\n\ndef run(): ...\n\n\n{SCRIPT}"}


@pytest.mark.parametrize(
    ("code", "unused"),
    [
        ("def a(): ...\ndef b(): ...\nb()", ["a"]),
        ("class A: ...\nclass B: ...\nB()", ["A"]),
        ("A = 1\nB = 2\nprint(B)", ["A"]),
        ("A: int = 1\nB: int = 2\nC: list[B]", ["A", "C"]),
        ("def a(n):\n    return a(n - 1)", ["a"]),
        ("class A:\n    def copy(self): return A()", ["A"]),
        ("def a(): b()\ndef b(): a()", []),  # each is used by the other
        ("class A:\n    def m(self): self.n()\n    def n(self): ...", ["A"]),
        ("class A:\n    def _m(self): ...\n    def n(self): ...\nA().n()", ["A._m"]),
        ("class A:\n    def __m(self): ...\n    def __n(self): ...\n    def k(self): self.__n()\nA().k()", ["A.__m"]),
        ("class A:\n    _x = 1\n    _y = 2\nprint(A._y)", ["A._x"]),
        ("def a():\n    def inner(): ...\n    def other(): ...\n    other()\na()", ["a.inner"]),
        ("A = 1\nA += 1\nA = 3", ["A"]),
        ("A = 1\ndef f():\n    global A\n    A = 2\nf()", ["A"]),
        ("A = 1\nprint(f'{A}')", []),
        ("def a(): ...\nb = a\nb()", []),
        ("class A:\n    def m(self): ...\ndef f(x): x.m()\nf(A())", []),  # perhaps is used, too
        ("_ = 1\n__version__ = '1'\ndef __getattr__(name): ...\ndef __dir__(): ...", []),
    ],
)
def test_a_definition_is_unused_where_no_mention_may_refer_to_it(tmp_path: Path, code: str, unused: list[str]) -> None:
    assert listed(tmp_path, in_script(code)) == {f"app.{each}": "sure" for each in unused}


@pytest.mark.parametrize(
    ("files", "unused"),
    [
        ({"app/core.py": "def f(): ...\n", "app/user.py": f"from app.core import f\n{SCRIPT}"}, []),
        ({"app/core.py": "def f(): ...\n", "app/user.py": f"import app.core as c\nc.f()\n{SCRIPT}"}, []),
        ({"app/core.py": "def f(): ...\n", "app/user.py": f"from app.core import *\nf()\n{SCRIPT}"}, []),
        (
            {
                "app/__init__.py": "from app.core import f as g\n",
                "app/core.py": "def f(): ...\n",
                "app/user.py": f"from app import g\ng()\n{SCRIPT}",
            },
            [],
        ),
        (
            {
                "app/core.py": "def f(): ...\ndef g(): ...\n",
                "app/other.py": f"def f(): ...\ndef g(): ...\nf()\n{SCRIPT}",
                "app/user.py": f"from app.core import g\n{SCRIPT}",
            },
            ["app.core.f", "app.other.g"],
        ),
    ],
)
def test_users_are_looked_for_in_all_files(tmp_path: Path, files: dict[str, str], unused: list[str]) -> None:
    assert listed(tmp_path, {"app/__init__.py": "", **files}) == dict.fromkeys(unused, "sure")


@pytest.mark.parametrize(
    ("code", "kept", "control"),
    [
        ("class A:\n    def go(self): ...\nclass B(A):\n    def go(self): ...\n    def _no(self): ...\nB(), A().go",
         "B.go", "B._no"),
        ("from threading import Thread\nclass B(Thread):\n    def run(self): ...\n    def _no(self): ...\nB()", "B.run",
         "B._no"),
        ("import ast\nclass B(ast.NodeVisitor):\n    def visit_Name(self, n): ...\n    def _no(self): ...\nB()",
         "B.visit_Name", "B._no"),
        ("from typing import IO\nclass B(IO[str]):\n    def writable(self): ...\n    def _no(self): ...\nB()",
         "B.writable", "B._no"),
        ("class B(list):\n    def append(self, x): ...\n    def _no(self): ...\nB()", "B.append", "B._no"),
        ("from typing import Protocol\nclass B(Protocol):\n    def go(self): ...\nclass C:\n    def _no(self): ...\n"
         "x: B = C()\nprint(x)", "B.go", "C._no"),
        ("import enum\nclass B(enum.Enum):\n    RED = 1\nclass C:\n    _no = 1\nB, C()", "B.RED", "C._no"),
        ("class B:\n    def visit(self, n): getattr(self, 'on_' + n)()\n    def on_x(self): ...\n"
         "    def _no(self): ...\nB().visit('x')", "B.on_x", "B._no"),
    ],
)  # fmt: skip
def test_what_a_base_or_python_calls_is_not_listed(tmp_path: Path, code: str, kept: str, control: str) -> None:
    found = listed(tmp_path, in_script(code))
    assert f"app.{kept}" not in found
    assert found[f"app.{control}"] == "sure"


def test_what_pytest_collects_is_not_listed_and_a_helper_is(tmp_path: Path) -> None:
    tests = (
        "import pytest\n\n@pytest.fixture\ndef used(): ...\n@pytest.fixture\ndef alone(): ...\n"
        "@pytest.fixture(autouse=True)\ndef always(): ...\n"
        "pytestmark = []\ndef setup_module(): ...\ndef helper(): ...\ndef test_a(used): ...\n"
        "class TestB:\n    def setup_method(self): ...\n    def test_c(self): ...\n"
        "class Shared:\n    def test_d(self): ...\nclass Other: ...\n"
    )
    files = {
        "tests/test_a.py": tests,
        "conftest.py": "def pytest_configure(config): ...\ndef configure(): ...\n",
        "app/plugin.py": (
            "def pytest_addoption(parser): ...\nclass Plugin:\n    def pytest_runtest_logreport(self, report): ...\n"
            f"Plugin()\n{SCRIPT}"
        ),
        "app/cases.py": (
            "import unittest\nclass Case(unittest.TestCase):\n    def test_e(self): ...\n    def setUp(self): ...\n"
            "class Mixed:\n    def test_f(self): ...\nclass Both(Mixed, unittest.TestCase): ...\n"
        ),
    }
    assert listed(tmp_path, files) == {
        "tests.test_a.alone": "sure",
        "tests.test_a.helper": "sure",
        "tests.test_a.Other": "sure",
        "conftest.configure": "sure",
    }


def test_a_test_that_only_classes_below_run_elsewhere_is_not_listed(tmp_path: Path) -> None:
    files = {
        "lib/base.py": "class Base:\n    def test_go(self, asked): ...\n    def _no(self): ...\n",
        "lib/test_x.py": (
            "import pytest\nfrom lib.base import Base\n@pytest.fixture\ndef asked(): ...\nclass TestX(Base): ...\n"
        ),
    }
    assert list(listed(tmp_path, files)) == ["lib.base.Base._no"]


@pytest.mark.parametrize(
    ("code", "address", "reason"),
    [
        ("__all__ = ['f']\ndef f(): ...", "f", "__all__ of its module lists it"),
        ("import vendor\n@vendor.command\ndef f(): ...", "f", "the decorator command is given it, and may hand it out"),
        ("import vendor\nclass A(vendor.Base):\n    def go(self): ...\nA()", "A.go",
         "vendor.Base, which its class is below, may use go"),
        ("import vendor\nclass M:\n    def go(self): ...\nclass A(M, vendor.Base): ...\nA()", "M.go",
         "vendor.Base, which a class below its own is below, may use it"),
        ("import vendor\nclass A(vendor.Base): ...", "A", "vendor.Base, which it is below, may find it"),
        ("class M(type): ...\nclass A(metaclass=M):\n    x = 1\nA()", "A.x",
         "code that runs when its class is made may use it"),
        ("class B:\n    def __init_subclass__(cls): ...\nclass A(B): ...", "A",
         "code that runs when it is made may keep it"),
        ("class B: ...\nclass A(B): ...\nprint(B.__subclasses__())", "A",
         "the project calls __subclasses__() of classes"),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n    size: int = 0\nA()", "A.size",
         "it may be a field, which the constructor of its class sets"),
        ("from typing import NamedTuple\nclass A(NamedTuple):\n    size: int = 0\nA()", "A.size",
         "it may be a field, which the constructor of its class sets"),
        ("def f(): ...\nprint(vars())", "f", "its module asks itself for all its names"),
        ("def f(): ...\nprint(globals()['x'])", "f", "its module asks itself for all its names"),
        ("def f(): ...\ndef g(o): getattr(o, 'f')\ng(1)", "f", "a string may name it (a string with its bare name)"),
        ("def f(): ...\nprint('app.f')", "f", "a string may name it (a string with its dotted name)"),
    ],
)  # fmt: skip
def test_what_outside_may_reach_is_unsure_with_the_reason(tmp_path: Path, code: str, address: str, reason: str) -> None:
    found = listed(tmp_path, in_script(f"{code}\ndef control(): ..."))
    assert found[f"app.{address}"] == f"unsure: {reason}"
    asked_whole = "vars()" in code or "globals()" in code
    assert found["app.control"].startswith("unsure" if asked_whole else "sure")


def test_what_is_surer_than_what_is_around_it_is_listed_too(tmp_path: Path) -> None:
    code = "__all__ = ['A']\nclass A:\n    size = 1\n    def __m(self): ...\nclass B:\n    def __n(self): ..."
    reason = "unsure: __all__ of its module lists it"
    assert listed(tmp_path, in_script(code)) == {
        "app.A": reason,
        "app.A.size": "probable: classes of the standard library have this name, so code outside may ask for it",
        "app.A.__m": "sure",
        "app.B": "sure",
    }


def test_what_decorators_of_python_make_is_sure(tmp_path: Path) -> None:
    code = (
        "from dataclasses import dataclass\nfrom functools import cache\n@dataclass\nclass A:\n    size: int\n"
        "    def _m(self): ...\n    @property\n    def _p(self): ...\n@cache\ndef f(): ...\nprint(A(1).size)"
    )
    assert listed(tmp_path, in_script(code)) == {"app.A._m": "sure", "app.A._p": "sure", "app.f": "sure"}


def test_modules_that_are_loaded_or_handed_on_may_be_asked_for_all_their_names(tmp_path: Path) -> None:
    files = {
        "app/__init__.py": "",
        "app/settings.py": "_SIZE = 1\n",
        "app/asked.py": "_SIZE = 1\n",
        "app/loaded.py": "def upgrade(): ...\n",
        "app/kept.py": "_SIZE = 1\n",
        "app/main.py": f"from app import settings, asked, kept\nprint(dir(settings), asked.x, kept.__dict__)\n{SCRIPT}",
        "app/script.py": f"def _f(): ...\n{SCRIPT}",
    }
    assert listed(tmp_path, files) == {
        "app.settings._SIZE": "unsure: its module is handed on, and may be asked for all its names",
        "app.kept._SIZE": "unsure: its module is handed on, and may be asked for all its names",
        "app.asked._SIZE": "sure",
        "app.loaded.upgrade": "unsure: no code imports its module, and what loads that may use it",
        "app.script._f": "sure",
    }


def test_public_names_of_a_package_that_others_install_are_probable(tmp_path: Path) -> None:
    code = {
        "lib/__init__.py": "from lib.core import shown\n",
        "lib/core.py": (
            "def shown(): ...\ndef f(): ...\ndef _f(): ...\n"
            "class _A:\n    def plainly(self): ...\n    def _m(self): ...\n_A()\n"
        ),
        "lib/_inner.py": "def f(): ...\n",
        "lib/user.py": f"import lib._inner\n{SCRIPT}",
        "tests/test_x.py": "def helper(): ...\n",
    }
    public = "probable: it is public, and others may install the package"
    for_others = {"lib.core.shown": "unsure: lib imports it for others to import"}
    inner = {"lib.core._f": "sure", "lib.core._A._m": "sure", "lib._inner.f": "sure", "tests.test_x.helper": "sure"}
    installed = {**code, "pyproject.toml": '[build-system]\nrequires = ["hatchling"]\n'}
    assert listed(tmp_path / "package", installed) == for_others | inner | {
        "lib.core.f": public,
        "lib.core._A.plainly": public,
    }
    assert listed(tmp_path / "app", code) == for_others | inner | {"lib.core.f": "sure", "lib.core._A.plainly": "sure"}


def test_what_the_settings_or_a_text_file_name_is_not_sure(tmp_path: Path) -> None:
    files = {
        **in_script("def main(): ...\ndef spoken(): ...\ndef word(): ...\nclass A:\n    def shown(self): ...\nA()"),
        "pyproject.toml": '[project.scripts]\napp = "app:main"\n',
        "README.md": "Call `spoken()` for a word.\n",
        "page.html": "{{ item.shown }}\n",
    }
    assert listed(tmp_path, files) == {
        "app.main": "unsure: pyproject.toml names it",
        "app.spoken": "probable: a text file speaks of it",
        "app.A.shown": "probable: a text file speaks of it",
        "app.word": "sure",
    }


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("class A:\n    def m(self): ...\nclass B: ...\ndef f(b: B): b.m()\nprint(A(), f)",
         "an attribute of its name is used, of something else as it looks"),
        ("class A:\n    def fileno(self): ...\nA()",
         "classes of the standard library have this name, so code outside may ask for it"),
        ("class A:\n    def _repr_html_(self): ...\nA()",
         "classes of the standard library have this name, so code outside may ask for it"),
        ("import not_installed\nclass A:\n    def plainly(self): ...\nA()",
         "a package that the project imports has this name, and may ask for it"),
        ("class A:\n    def plainly(self): ...\n    def k(self, n): getattr(self, n)()\nA().k(input())",
         "its class asks itself for attributes whose names are not known"),
        ("class A:\n    def plainly(self): ...\nclass B(A):\n    def plainly(self): ...\nB().plainly()",
         "a class below its own overrides it"),
        ("class A:\n    SIZE = 1\nprint(vars(A))", "its class is handed on, and may be asked for all that it has"),
    ],
)  # fmt: skip
def test_a_member_that_any_object_may_be_asked_for_is_probable(tmp_path: Path, code: str, reason: str) -> None:
    [why] = listed(tmp_path, in_script(code)).values()
    assert why == f"probable: {reason}"


def test_the_text_of_a_string_and_a_doctest_may_use_a_name(tmp_path: Path) -> None:
    code = (
        'def a(): ...\nprint("run a() now")\ndef b():\n    """Do it.\n\n    >>> b()\n    """\n'
        'def c():\n    """Like c, and not like d."""\ndef d(): ...  # d'
    )
    expected = "probable: the text of a string has its name"
    assert listed(tmp_path, in_script(code)) == {"app.a": expected, "app.b": expected, "app.c": "sure", "app.d": "sure"}


def test_a_file_that_cannot_be_looked_into_makes_the_answer_incomplete(tmp_path: Path) -> None:
    files = {**in_script("def a(): ...\ndef b(): ..."), "broken.py": "def x(:\n    a()\n"}
    outcome = laid(tmp_path, files).unused().outcome
    assert {each.address: each.certainty for each in outcome.found} == {"app.a": "unsure", "app.b": "sure"}
    assert not outcome.complete
    assert any("broken" in each.message for each in outcome.warnings)


def test_an_answer_is_of_the_scope_and_narrowed(tmp_path: Path) -> None:
    files = in_script("def a(): ...\nclass B:\n    _x = 1\n    def _m(self): ...\nB()\n__all__ = ['c']\ndef c(): ...")
    source = laid(tmp_path, {**files, "other.py": f"def d(): ...\n{SCRIPT}"})
    assert {each.address for each in source.unused("app.B").outcome.found} == {"app.B._x", "app.B._m"}
    assert [each.address for each in source.unused("other").outcome.found] == ["other.d"]
    assert [each.address for each in source.unused(kind="method").outcome.found] == ["app.B._m"]
    assert [each.address for each in source.unused(certainty="unsure").outcome.found] == ["app.c"]
    assert source.unused("app.run") == "(nothing is unused)"
    assert source.unused("app", certainty="probable") == "(none of 4; scope, certainty and kind leave out the others)"
    assert source.unused().outcome.counts == {"sure": 4, "probable": 0, "unsure": 1, "mentions": 0}


def test_the_command_line_lists_places_by_module_with_their_counts_first(tmp_path: Path) -> None:
    laid(tmp_path, in_script("def a(): ...\nclass B:\n    _x = 1\nB()"))
    command = [sys.executable, "-m", "bae_source", "--root", str(tmp_path), "unused"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown == "2 sure\n\napp\n  1: def a(): ...    [function a]\n  3: _x = 1    [assignment B._x]\n"
    answer = json.loads(subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout)
    assert answer["complete"] is True
    assert answer["found"][1] == {
        "module": "app", "symbol": "app.B._x", "line": 3, "column": 5, "kind": "assignment", "certainty": "sure",
        "reason": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("use", "comes"),
    [
        ("from app import size\nｓｉｚｅ()", None),
        ("# -*- coding: latin-1 -*-\nfrom app import size  # \xe9", None),
        ("# size", "sure"),
        ("size_of = 1\nprint(size_of)", "sure"),
        ('print("app\\u002esize")', "unsure: a string may name it (a string with its dotted name)"),
        ('print("app\\x2esize")', "unsure: a string may name it (a string with its dotted name)"),
        ('print("in\\nsize")', "probable: the text of a string has its name"),
    ],
)
def test_a_name_is_found_however_its_file_writes_it(tmp_path: Path, use: str, comes: str | None) -> None:
    files: dict[str, str] = {**in_script("def size(): ..."), "other.py": use}
    source = laid(tmp_path, {**files, "other.py": use.encode("latin-1") if "coding" in use else use})
    found = {
        each.address: f"{each.certainty}: {each.why}".removesuffix(": ") for each in source.unused("app").outcome.found
    }
    assert found.get("app.size") == comes
