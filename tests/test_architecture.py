"""The package keeps its own rules, and the checker catches every way of breaking them."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests import private_names
from tests.architecture import FLOORS, LONGEST_PATH, PACKAGE, Module, check, read

HOUSE = Path(__file__).parent.parent / PACKAGE
TESTS = Path(__file__).parent


@pytest.fixture(scope="module")
def house() -> Mapping[str, Module]:
    return read(HOUSE)


def test_the_package_keeps_its_rules(house: Mapping[str, Module]) -> None:
    assert _shown(house) == []


def test_tests_use_public_names_of_the_package(house: Mapping[str, Module]) -> None:
    assert private_names.check(TESTS, private_names.declared(each.tree for each in house.values())) == []


@pytest.mark.parametrize(
    "code",
    [
        "from bae_source.model.call import _FLAGS",
        "from bae_source._model import call",
        "call._FLAGS",
        "call.calls[0]._flags = 1",
        "vars(call)['_flags']",
        "setattr(call, '_flags', 1)",
        "monkeypatch.setattr(call, '_flags', 1)",
        "monkeypatch.setattr('bae_source.model.call._FLAGS', 1)",
        "import tests.support\ntests.support.call._flags",
    ],
)
def test_a_private_name_in_a_test_is_found(tmp_path: Path, code: str) -> None:
    (tmp_path / "test_a.py").write_text(code)
    [violation] = private_names.check(tmp_path, frozenset({"_FLAGS", "_flags", "_model"}))
    assert violation.message.endswith("is private to the package")
    assert violation.line == code.count("\n") + 1


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos._flags",
        "class A:\n    def __init__(self):\n        self._flags = 1\n    def f(self):\n        return self._flags",
        "call.flags, call.__flags__, call._other, '_flags'",
        "from benchmarks import peers\nmonkeypatch.setattr(peers, '_flags', 1)",
    ],
)
def test_a_private_name_of_a_test_itself_or_of_another_package_is_left_alone(tmp_path: Path, code: str) -> None:
    (tmp_path / "test_a.py").write_text(code)
    assert private_names.check(tmp_path, frozenset({"_FLAGS", "_flags"})) == []


def test_no_group_of_an_expression_is_repeated_possessively(house: Mapping[str, Module]) -> None:
    """Pythons before 3.11.5 miss matches of `(…)*+`; `(?>(…)*)` means the same."""
    strings = [
        (module.path, node.lineno)
        for module in house.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"\)[*+?]\+", node.value)
    ]
    assert strings == []


def test_a_tree_that_keeps_the_rules_passes(tmp_path: Path) -> None:
    assert _violations(tmp_path, {}) == []


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("model/a.py", "import bae_source.syntax.a", "model/a.py:2: model may not import bae_source.syntax.a"),
        ("errors.py", "from bae_source import engine", "errors.py:2: errors may not import bae_source.engine"),
        (
            "syntax/a.py",
            "from bae_source.project import a",
            "syntax/a.py:2: syntax may not import bae_source.project.a",
        ),
        (
            "project/a.py",
            "from bae_source.transaction.journal import read",
            "project/a.py:2: project may not import bae_source.transaction.journal",
        ),
        (
            "refactoring/a.py",
            "from bae_source.queries.read import Read",
            "refactoring/a.py:2: refactoring may not import bae_source.queries.read",
        ),
        (
            "queries/a.py",
            "from ..verification import all",
            "queries/a.py:2: queries may not import bae_source.verification",
        ),
        (
            "resources/a.py",
            "def f():\n    from bae_source.refactoring import edit",
            "resources/a.py:3: resources may not import bae_source.refactoring",
        ),
        (
            "verification/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from bae_source import adapters",
            "verification/a.py:4: verification may not import bae_source.adapters",
        ),
        (
            "transaction/a.py",
            "from bae_source.syntax.outline.tree import parse",
            "transaction/a.py:2: transaction may not import bae_source.syntax.outline.tree",
        ),
        (
            "reloading/a.py",
            "import bae_source.transaction",
            "reloading/a.py:2: reloading may not import bae_source.transaction",
        ),
        (
            "approval/a.py",
            "import bae_source.reloading",
            "approval/a.py:2: approval may not import bae_source.reloading",
        ),
        ("state/a.py", "import bae_source.project", "state/a.py:2: state may not import bae_source.project"),
        (
            "engine/a.py",
            "import bae_source.adapters.cli",
            "engine/a.py:2: engine may not import bae_source.adapters.cli",
        ),
        (
            "adapters/a.py",
            "from bae_source.history.record import history",
            "adapters/a.py:2: adapters may not import bae_source.history.record",
        ),
        ("model/a.py", "from bae_source import Source", "model/a.py:2: model may not import bae_source"),
        (
            "syntax/a.py",
            "import importlib\nx = importlib.import_module('bae_source.engine.service')",
            "syntax/a.py:3: syntax may not import bae_source.engine.service",
        ),
        (
            "utils.py",
            "x = 1",
            "utils.py:1: `utils` has no floor: give it one in tests/architecture.py",
        ),
        ("refactoring/a.py", "import libcst", "refactoring/a.py:2: `libcst` lives in syntax/ only"),
        (
            "refactoring/a.py",
            "def f():\n    import libcst.matchers",
            "refactoring/a.py:3: `libcst` lives in syntax/ only",
        ),
        ("transaction/a.py", "from git import Repo", "transaction/a.py:2: `git` lives in history/record/ only"),
        ("project/a.py", "from tomlkit import parse", "project/a.py:2: `tomlkit` lives in resources/ only"),
        ("engine/a.py", "from rich.console import Console", "engine/a.py:2: `rich` lives in adapters/ only"),
        ("engine/a.py", "def f():\n\n    print(1)", "engine/a.py:4: `print` lives in adapters/ only"),
        ("model/long.py", "x = 1\n" * 600, "model/long.py:601: 601 lines, more than 600"),
    ],
)
def test_a_violation_is_named_with_its_place(tmp_path: Path, path: str, code: str, expected: str) -> None:
    assert _violations(tmp_path, {path: f'"""Doc."""\n{code}'}) == [expected]


def test_a_folder_with_too_many_modules_is_named(tmp_path: Path) -> None:
    files = {f"model/m{number}.py": '"""Doc."""\n' for number in range(21)}
    assert _violations(tmp_path, files) == ["model/__init__.py:1: 21 modules, more than 20"]


def test_a_module_without_a_docstring_is_named(tmp_path: Path) -> None:
    found = _violations(tmp_path, {"model/a.py": "x = 1\n", "model/b.py": '""" """\n', "model/c.py": ""})
    assert found == [f"model/{name}.py:1: the module has no docstring" for name in "abc"]


def test_a_cycle_is_named_once_with_the_line_of_every_import(tmp_path: Path) -> None:
    found = _violations(
        tmp_path,
        {
            "model/a.py": '"""Doc."""\nfrom bae_source.model.b import x',
            "model/b.py": '"""Doc."""\n\n\nfrom bae_source.model import c',
            "model/c.py": '"""Doc."""\ndef f():\n    import bae_source.model.a',
            "model/d.py": '"""Doc."""\nimport bae_source.model.a',
        },
    )
    assert found == [
        "model/a.py:2: import cycle: model/a.py:2 imports bae_source.model.b, "
        "model/b.py:4 imports bae_source.model.c, model/c.py:3 imports bae_source.model.a"
    ]


def test_a_package_that_its_own_module_imports_is_a_cycle(tmp_path: Path) -> None:
    found = _violations(
        tmp_path,
        {"model/__init__.py": '"""Doc."""\nfrom .a import x', "model/a.py": '"""Doc."""\nfrom . import y'},
    )
    assert found == [
        "model/__init__.py:2: import cycle: model/__init__.py:2 imports bae_source.model.a, "
        "model/a.py:2 imports bae_source.model"
    ]


def test_a_module_that_imports_itself_is_a_cycle(tmp_path: Path) -> None:
    found = _violations(tmp_path, {"model/a.py": '"""Doc."""\nimport bae_source.model.a'})
    assert found == ["model/a.py:2: import cycle: model/a.py:2 imports bae_source.model.a"]


def test_an_import_for_the_type_checker_makes_a_cycle_like_any_other(tmp_path: Path) -> None:
    guarded = '"""Doc."""\nimport typing\nif typing.TYPE_CHECKING:\n    from bae_source.model import b\n'
    files = {"model/a.py": guarded, "model/b.py": '"""Doc."""\nfrom bae_source.model import a'}
    assert [text.split(": ")[1] for text in _violations(tmp_path, files)] == ["import cycle"]


def test_a_way_of_imports_that_is_too_long_is_named(tmp_path: Path) -> None:
    files = {f"model/m{n:02}.py": f'"""Doc."""\nfrom bae_source.model import m{n + 1:02}' for n in range(LONGEST_PATH)}
    rooms = {f"model/m{LONGEST_PATH:02}.py": '"""Doc."""\n'}
    found = [each for each in _violations(tmp_path, files | rooms) if "way of imports" in each]
    assert len(found) == 1
    assert found[0].startswith(
        f"model/m00.py:1: {LONGEST_PATH + 1} modules on a way of imports, more than {LONGEST_PATH}"
    )


def test_an_import_from_a_room_to_a_higher_one_is_named(tmp_path: Path) -> None:
    files = {
        "syntax/text/__init__.py": '"""Doc."""\n',
        "syntax/text/a.py": '"""Doc."""\nfrom bae_source.syntax.outline import tree',
        "syntax/outline/b.py": '"""Doc."""\nfrom bae_source.syntax.text import c',
        "syntax/text/c.py": '"""Doc."""\n',
    }
    assert _violations(tmp_path, files) == [
        "syntax/text/a.py:2: syntax/text may not import bae_source.syntax.outline.tree"
    ]


def _violations(tmp_path: Path, files: dict[str, str]) -> list[str]:
    """Check a made-up house: empty rooms for every area, and `files` over them."""
    rooms = {f"{area}/__init__.py": '"""Doc."""\n' for area in FLOORS if area not in {"", "__main__", "errors"}}
    house = {"__init__.py": '"""Doc."""\n', "errors.py": '"""Doc."""\n', **rooms}
    house |= {
        "project/a.py": '"""Doc."""\n',
        "syntax/outline/tree.py": '"""Doc."""\nimport libcst\n',
        "syntax/outline/__init__.py": '"""Doc."""\n',
        "syntax/a.py": '"""Doc."""\n',
    }
    house |= {"adapters/cli.py": '"""Doc."""\nimport rich\nprint(1)\n', "queries/read.py": '"""Doc."""\n'}
    for path, text in {**house, **files}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return _shown(read(tmp_path))


def _shown(modules: Mapping[str, Module]) -> list[str]:
    return [str(violation) for violation in check(modules)]
