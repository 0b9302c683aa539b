"""Tests as files tell them, with the ids that pytest makes of literal parametrisations."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from bae_source.errors import ResourceError
from bae_source.model.outcome import Outcome
from bae_source.resources.tests.collected import files_of_tests
from bae_source.resources.tests.listing import TestsList
from bae_source.resources.tests.settings import pytest_settings
from tests.memory import Memory
from tests.project.support import workspace

# What pytest makes of each of these is compared with what is listed.
LITERAL = {
    "numbers": '@pytest.mark.parametrize("x", [1, 2.5, -3, True, None, 1j])',
    "texts": '@pytest.mark.parametrize("x", ["a", "", "ü", "a b", "c::d", "[e]", "tab\\t", "\\x01"])',
    "bytes": '@pytest.mark.parametrize("x", [b"a", b"\\xff", b"\\x01", b""])',
    "containers": '@pytest.mark.parametrize("x", [[1], {}, (2,), {3}, ...])',
    "lambdas": '@pytest.mark.parametrize("x", [lambda: 0, 1])',
    "two that are alike": '@pytest.mark.parametrize("x", ["a", "a", "b", 1, 1])',
    "one that is taken": '@pytest.mark.parametrize("x", ["a", "a", "a0"])',
    "several parameters": '@pytest.mark.parametrize("x, y", [(1, "a"), (2, [])])',
    "names in a tuple": '@pytest.mark.parametrize(("x", "y"), [(1, 2), [3, 4]])',
    "given ids": '@pytest.mark.parametrize("x", [[], [1]], ids=["none", "one"])',
    "an id that is left out": '@pytest.mark.parametrize("x", [[], 5], ids=["none", None])',
    "param": '@pytest.mark.parametrize("x", [pytest.param(1, id="one"), pytest.param(2), 3])',
    "none at all": '@pytest.mark.parametrize("x", [])',
    "two decorators": '@pytest.mark.parametrize("x", [1, 2])\n@pytest.mark.parametrize("y", ["a", "b"])',
    "by keywords": '@pytest.mark.parametrize(argnames="x", argvalues=[1, 2])',
}


def listed(files: Mapping[str, str], *names: str) -> Outcome:
    return TestsList(tests=names).answer(workspace(files))


def lines(files: Mapping[str, str], *names: str) -> list[str]:
    return listed(files, *names).text.splitlines()[1:]


def test_ids_of_literal_parametrisations_are_those_that_pytest_makes(tmp_path: Path) -> None:
    body = ["import pytest\n"]
    for number, decorators in enumerate(LITERAL.values()):
        arguments = ", ".join(
            name for name in "xy" if f'"{name}"' in decorators or f"{name}," in decorators or f" {name}" in decorators
        )
        body.append(f"{decorators}\ndef test_{number}({arguments}): pass\n")
    text = "\n".join(body)
    (tmp_path / "test_it.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "test_it.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    collected = [line.replace("test_it.py::", "test_it.") for line in done.stdout.splitlines() if "::" in line]
    assert lines({"test_it.py": text}, "test_it") == collected


@pytest.mark.parametrize(
    ("decorator", "shown"),
    [
        ('@pytest.mark.parametrize("x", CASES)', "[computed]"),
        ('@pytest.mark.parametrize("x", [*CASES])', "[computed]"),
        ('@pytest.mark.parametrize("x", [f(), 1])', "[2 cases]"),
        ('@pytest.mark.parametrize("x", [1, 2], ids=str)', "[2 cases]"),
        ('@pytest.mark.parametrize("x", [f()])\n@pytest.mark.parametrize("y", [1, 2])', "[2 cases]"),
        ('@pytest.mark.parametrize("x", [1], indirect=True)', "[1]"),
    ],
)
def test_what_is_computed_is_reported_as_such(decorator: str, shown: str) -> None:
    text = f"import pytest\n\n{decorator}\ndef test_it(x): pass\n"
    assert lines({"test_m.py": text}, "test_m") == [f"test_m.test_it{shown}"]


FIXTURES = (
    "import pytest\n\n@pytest.fixture(params=[1, 2])\ndef size(request): ...\n\n@pytest.fixture\ndef box(size): ...\n\n"
    "@pytest.fixture\ndef plain(): ...\n"
)
USES = (
    "import pytest\n\ndef test_size(size): ...\n\ndef test_box(box): ...\n\ndef test_plain(plain): ...\n\n"
    "@pytest.mark.usefixtures('size')\ndef test_used(): ...\n\n@pytest.mark.anyio\nasync def test_any(): ...\n\n"
    "@pytest.mark.parametrize('size', [5])\ndef test_given(size): ...\n"
)


def test_tests_that_ask_for_fixtures_with_parameters_have_cases_that_are_computed() -> None:
    found = lines({"tests/conftest.py": FIXTURES, "tests/test_a.py": USES}, "tests.test_a")
    names = ("test_size[computed]", "test_box[computed]", "test_plain", "test_used[computed]", "test_any[computed]")
    assert found == [f"tests.test_a.{name}" for name in (*names, "test_given[5]")]
    for_all = FIXTURES.replace("@pytest.fixture\ndef box", "@pytest.fixture(autouse=True)\ndef box")
    assert all("[computed]" in each for each in lines({"tests/conftest.py": for_all, "tests/test_a.py": USES}, "tests"))


CLASSES = (
    "import unittest\n\n"
    "class Base:\n    def test_base(self): ...\n\n"
    "class TestA(Base):\n    def test_a(self): ...\n    def helper(self): ...\n"
    "    class TestInner:\n        def test_i(self): ...\n\n"
    "class SendCase(unittest.TestCase):\n    def test_u(self): ...\n    def setUp(self): ...\n\n"
    "class More(SendCase):\n    def test_m(self): ...\n\n"
    "class TestNot:\n    def __init__(self): ...\n    def test_x(self): ...\n\n"
    "class TestOff:\n    __test__ = False\n    def test_x(self): ...\n\n"
    "if True:\n    def test_inside(): ...\n\n"
    "def helper(): ...\n"
)


def test_classes_of_tests_and_cases_of_unittest_have_their_methods_inherited_ones_too() -> None:
    assert lines({"test_m.py": CLASSES}, "test_m") == [
        f"test_m.{name}"
        for name in (
            "TestA.test_base",
            "TestA.test_a",
            "TestA.TestInner.test_i",
            "SendCase.test_u",
            "More.test_u",
            "More.test_m",
            "test_inside",
        )
    ]
    assert lines({"test_m.py": CLASSES}, "test_m.SendCase", "test_m.TestA.test_a") == [
        "test_m.TestA.test_a",
        "test_m.SendCase.test_u",
    ]
    assert lines({"test_m.py": CLASSES}) == ["test_m: 7 tests (3 classes, 1 function)"]


FILES = {
    "tests/test_a.py": "def test_a(): ...\n",
    "tests/sub/test_b.py": "def test_b(): ...\n",
    "tests/sub/b_test.py": "def test_c(): ...\n",
    "tests/check_d.py": "def check_it(): ...\n",
    "test_top.py": "def test_t(): ...\n",
    "build/test_built.py": "def test_x(): ...\n",
    "app/tests.py": "def test_none(): ...\n",
}


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("pytest.ini", "[pytest]\n", ["tests/test_a", "tests/sub/test_b", "tests/sub/b_test", "test_top"]),
        ("pytest.ini", "[pytest]\ntestpaths = tests\n", ["tests/test_a", "tests/sub/test_b", "tests/sub/b_test"]),
        ("pytest.ini", "[pytest]\ntestpaths = tests/s*\n", ["tests/sub/test_b", "tests/sub/b_test"]),
        ("pytest.ini", "[pytest]\nnorecursedirs = sub build\n", ["tests/test_a", "test_top"]),
        ("tox.ini", "[pytest]\npython_files = check_*.py\n", ["tests/check_d"]),
        ("setup.cfg", "[tool:pytest]\naddopts = --ignore=tests/sub tests -q\n", ["tests/test_a", "test_top"]),
        ("setup.cfg", "[tool:pytest]\naddopts = -n 2 tests/sub\n", ["tests/sub/test_b", "tests/sub/b_test"]),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\ntestpaths = ['.']\nnorecursedirs = 'tests build'\n",
            ["test_top"],
        ),
        ("pyproject.toml", "[tool.pytest]\ntestpaths = ['tests/sub']\n", ["tests/sub/test_b", "tests/sub/b_test"]),
    ],
)
def test_files_are_those_that_the_projects_pytest_collects(name: str, settings: str, expected: list[str]) -> None:
    space = workspace({**FILES, name: settings})
    assert set(files_of_tests(space, pytest_settings(space.files))) == {f"{each}.py" for each in expected}


def test_the_first_file_that_speaks_of_pytest_counts() -> None:
    files = {"pytest.ini": "[pytest]\n", "tox.ini": "[pytest]\npython_files = x.py\n"}
    assert pytest_settings(Memory({path: text.encode() for path, text in files.items()})).files == (
        "test_*.py",
        "*_test.py",
    )
    named = {
        "tests/check_d.py": FILES["tests/check_d.py"],
        "tox.ini": "[pytest]\npython_files=check_*.py\npython_functions=check\n",
    }
    assert lines(named, "tests") == ["tests.check_d.check_it"]


def test_options_with_a_quotation_mark_too_many_are_read_as_words() -> None:
    files = {"test_a.py": "def test_a(): ...\n", "pytest.ini": "[pytest]\naddopts = --ignore=docs -m 'slow\n"}
    assert lines(files, "test_a") == ["test_a.test_a"]
    assert [notice.code for notice in listed(files).warnings] == ["selected"]


def test_what_does_not_parse_and_what_selects_is_reported() -> None:
    outcome = listed({"test_a.py": "def test_a(:\n", "pytest.ini": "[pytest]\naddopts = -m 'not slow'\n"})
    assert [notice.code for notice in outcome.warnings] == ["not_parsed", "selected"]
    assert not outcome.complete
    assert outcome.text.startswith("(no tests)")


def test_a_name_of_something_else_is_refused_with_the_tests_that_it_concerns() -> None:
    files = {"app/core.py": "def f(): ...\n", "tests/test_a.py": "def test_a(): ...\n"}
    with pytest.raises(ResourceError) as caught:
        listed(files, "app.core")
    assert caught.value.code == "invalid_arguments"
    assert "tests run --affected-by app.core" in caught.value.hints[1]
    with pytest.raises(ResourceError) as caught:
        listed(files, "tests.test_b")
    assert caught.value.code == "symbol_not_found"
