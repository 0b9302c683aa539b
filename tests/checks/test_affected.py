"""Which tests a change concerns."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bae_source.verification import affected
from bae_source.verification.affected import Affected, affected_tests
from tests.checks.support import Texts, planned

CORE = "def send(x):\n    return x\n\ndef post(x):\n    return send(x)\n\ndef alone():\n    pass\n"
FILES = {
    "app/__init__.py": "",
    "app/core.py": CORE,
    "tests/__init__.py": "",
    "tests/test_core.py": "from app.core import post\n\ndef test_post():\n    post(1)\n\ndef test_else():\n    pass\n",
}


def answer(files: Mapping[str, str], new: Texts, *changed: str) -> Affected:
    return affected_tests(*planned(files, new, changed))


def names(files: Mapping[str, str], new: Texts, *changed: str) -> list[str]:
    found = answer(files, new, *changed)
    assert found.complete
    return [".".join((test.path, *test.names)) for test in found.tests]


def core(files: Mapping[str, str], *changed: str) -> list[str]:
    """Change something of `app.core`."""
    return names(files, {"app/core.py": files["app/core.py"] + "\n# changed\n"}, *changed)


def test_a_test_that_reaches_the_symbol_through_others_is_found_and_no_other() -> None:
    assert core(FILES, "app.core.send") == ["tests/test_core.py.test_post"]


@pytest.mark.parametrize(
    "body",
    [
        "import app.core as c\n\ndef test_it():\n    c.send(1)\n",
        "from app import core\n\ndef test_it():\n    f = core.send\n    f(1)\n",
        "from app.core import *\n\ndef test_it():\n    assert send(1)\n",
        "def test_it():\n    from app.core import send\n    send(1)\n",
        "from unittest import mock\n\n@mock.patch('app.core.send')\ndef test_it(send):\n    pass\n",
        "from app.core import send\n\ndef helper():\n    return send(1)\n\ndef test_it():\n    helper()\n",
        "from app.core import send\n\nasync def test_it():\n    send(1)\n",
        "from app.core import send\n\ndef test_it():\n    def inner():\n        return send(1)\n    return inner\n",
        "from app.core import send\nVALUE = send(1)\n\ndef test_it():\n    assert VALUE\n",
        "from app.core import send\nimport pytest\n\n@pytest.mark.parametrize('x', [send(1)])\ndef test_it(x): pass\n",
        "import pytest\nfrom app.core import send\n\n@pytest.fixture\ndef sent():\n    return send(1)\n\n"
        "def test_it(sent): pass\n",
        "import pytest\nfrom app.core import send\n\n@pytest.fixture\ndef one():\n    return send(1)\n\n"
        "@pytest.fixture\ndef two(one): pass\n\ndef test_it(two): pass\n",
        "import pytest\nfrom app.core import send\n\n@pytest.fixture()\ndef sent():\n    return send(1)\n\n"
        "@pytest.mark.usefixtures('sent')\ndef test_it(): pass\n",
    ],
)
def test_ways_to_reach_a_symbol(body: str) -> None:
    other = "\n\ndef test_other():\n    pass\n"
    assert core({**FILES, "tests/test_way.py": body + other}, "app.core.send") == [
        "tests/test_core.py.test_post",
        "tests/test_way.py.test_it",
    ]


def test_a_stub_that_refers_to_it_is_no_test_to_run() -> None:
    stubs = {"app/core.pyi": "def send(x): ...\n", "app/api.pyi": "from app.core import A\ndef get(a: A): ...\n"}
    files = {**FILES, **stubs, "app/core.py": f"{CORE}\nclass A: ...\n"}
    assert core(files, "app.core.A") == ["tests/test_core.py"]


def test_what_may_be_a_reference_counts_as_one() -> None:
    files = {"m.py": "class A:\n    def go(self): pass\n", "test_m.py": "def test_it(thing):\n    thing.go()\n"}
    assert names(files, {"m.py": files["m.py"] + "x = 1\n"}, "m.A.go") == ["test_m.py.test_it"]


def test_a_special_method_is_reached_by_its_class() -> None:
    files = {
        "m.py": "class A:\n    def __init__(self): pass\n    def __eq__(self, other): return True\n",
        "test_m.py": "from m import A\n\ndef test_new():\n    A()\n\ndef test_no(): pass\n",
    }
    for method in ("__init__", "__eq__"):
        assert names(files, {"m.py": files["m.py"] + "x = 1\n"}, f"m.A.{method}") == ["test_m.py.test_new"]


def test_methods_of_a_test_case_and_what_sets_it_up() -> None:
    body = (
        "import unittest\nfrom app.core import alone, send\n\nclass SendCase(unittest.TestCase):\n"
        "    def setUp(self):\n        alone()\n    def test_send(self):\n        send(1)\n    def test_b(self): pass\n"
    )
    files = {**FILES, "tests/test_case.py": body}
    assert "tests/test_case.py.SendCase.test_send" in core(files, "app.core.send")
    assert core(files, "app.core.alone") == ["tests/test_case.py.SendCase"]


def test_a_whole_class_stands_for_its_tests() -> None:
    body = (
        "from app.core import alone\n\nclass TestA:\n    value = alone()\n    def test_a(self):\n        self.value\n"
    )
    files = {**FILES, "tests/test_case.py": body}
    assert core(files, "app.core.alone") == ["tests/test_case.py.TestA.test_a"]
    files["tests/test_case.py"] = body.replace("value = ", "")
    assert core(files, "app.core.alone") == ["tests/test_case.py.TestA"]


def test_a_module_level_use_in_a_file_of_tests_takes_the_file() -> None:
    files = {**FILES, "tests/test_way.py": "from app.core import send\nsend(1)\n\ndef test_it(): pass\n"}
    assert "tests/test_way.py" in core(files, "app.core.send")


def test_a_module_level_use_elsewhere_takes_the_tests_that_import_the_module() -> None:
    files = {
        **FILES,
        "app/table.py": "from app.core import alone\nalone()\n",
        "tests/test_b.py": "import app.table\n\ndef test_it(): pass\n",
    }
    assert core(files, "app.core.alone") == ["tests/test_b.py"]


def test_fixtures_of_a_conftest_serve_the_tests_below_it() -> None:
    conftest = "import pytest\nfrom app.core import alone\n\n@pytest.fixture\ndef ready():\n    alone()\n"
    files = {
        **FILES,
        "tests/sub/conftest.py": conftest,
        "tests/sub/test_a.py": "def test_a(ready): pass\n\ndef test_b(): pass\n",
        "tests/test_above.py": "def test_c(ready): pass\n",
    }
    assert core(files, "app.core.alone") == ["tests/sub/test_a.py.test_a"]
    files["tests/sub/conftest.py"] = conftest.replace("fixture", "fixture(autouse=True)")
    assert core(files, "app.core.alone") == ["tests/sub/test_a.py"]
    files["tests/sub/conftest.py"] = conftest.replace("fixture", "fixture(name='other')")
    assert core(files, "app.core.alone") == ["tests/sub/test_a.py"]


def test_a_changed_fixture_or_hook_of_a_conftest_concerns_the_tests_below_it() -> None:
    files = {
        "sub/conftest.py": "import pytest\n\n@pytest.fixture\ndef a(): pass\n\ndef pytest_configure(): pass\n",
        "sub/test_a.py": "def test_a(a): pass\n\ndef test_b(): pass\n",
        "test_b.py": "def test_c(): pass\n",
    }
    new = {"sub/conftest.py": files["sub/conftest.py"] + "x = 1\n"}
    assert names(files, new, "sub.conftest.a") == ["sub/test_a.py.test_a"]
    assert names(files, new, "sub.conftest.pytest_configure") == ["sub/test_a.py"]


@pytest.mark.parametrize(
    "name", ["test_core.py", "core_test.py", "test_app_core.py", "sub/test_core.py", "test__core.py"]
)
def test_a_symbol_that_no_test_reaches_is_judged_by_the_tests_named_after_its_module(name: str) -> None:
    files = {**FILES, "tests/test_other.py": "def test_y(): pass\n", f"tests/{name}": "def test_x(): pass\n"}
    if name != "test_core.py":
        del files["tests/test_core.py"]
    assert core(files, "app.core.alone") == [f"tests/{name}"]


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("tests/test_core.py", ""),
        ("tests/test_app_core.py", "app.core"),
        ("tests/app/test_core.py", "app.core"),
        ("tests/test_sub_core.py", "app.sub.core"),
        ("tests/sub/test_core.py", "app.sub.core"),
        ("app/sub/tests/unit/test_core.py", "app.sub.core"),
        ("tests/test_app_sub_core.py", "app.sub.core"),
        ("tests/test_hardcore.py", ""),
    ],
)
def test_a_file_of_tests_is_named_after_the_module_whose_name_it_has_most_of_and_after_one_alone(
    name: str, of: str
) -> None:
    code = {path: FILES[path] for path in ("app/__init__.py", "app/core.py")}
    files = {**code, "app/sub/__init__.py": "", "app/sub/core.py": CORE, name: "def test_x(): pass\n"}
    for path, module in (("app/core.py", "app.core"), ("app/sub/core.py", "app.sub.core")):
        assert names(files, {path: CORE + "\n"}, f"{module}.alone") == ([name] if module == of else [])


@pytest.mark.parametrize("folder", ["tests", "tests/unit", "test"])
def test_a_helper_among_the_tests_takes_no_file_of_tests_from_the_module_of_its_name(folder: str) -> None:
    code = {path: FILES[path] for path in ("app/__init__.py", "app/core.py")}
    packages = {"tests/__init__.py": "", f"{folder}/__init__.py": ""}
    files = {**code, **packages, f"{folder}/core.py": CORE, f"{folder}/test_core.py": "def test_x(): pass\n"}
    for path in ("app/core.py", f"{folder}/core.py"):
        module = path.removesuffix(".py").replace("/", ".")
        assert names(files, {path: CORE + "\n"}, f"{module}.alone") == [f"{folder}/test_core.py"]


def test_code_that_lies_in_a_folder_called_test_is_no_helper_of_tests_elsewhere() -> None:
    code = {path: FILES[path] for path in ("app/__init__.py", "app/core.py")}
    files = {**code, "app/test/__init__.py": "", "app/test/core.py": CORE, "tests/test_core.py": "def test_x(): pass\n"}
    assert core(files, "app.core.alone") == []


IMPORTED = {
    **FILES,
    "app/api.py": "from app import core\n\ndef run(name): return getattr(core, name)()\n",
    "app/top.py": "def late():\n    from app.api import run\n    return run\n",
    "tests/support.py": "import app.top\n",
    "tests/test_direct.py": "import app.core\n\ndef test_x(): pass\n",
    "tests/test_none.py": "def test_x(): pass\n",
}


@pytest.mark.parametrize(
    "text",
    [
        "from app.core import post\n",
        "def test_x():\n    import app.core\n",
        "from app import api\n",
        "from app.top import late\n",
        "from .support import *\n",
    ],
)
def test_and_by_those_in_which_the_module_is_imported_at_whatever_distance(text: str) -> None:
    files = {**IMPORTED, "tests/test_way.py": text + "\ndef test_no(): pass\n"}
    assert core(files, "app.core.alone") == ["tests/test_core.py", "tests/test_direct.py", "tests/test_way.py"]


def test_and_by_those_below_a_conftest_that_imports_it() -> None:
    files = {**IMPORTED, "sub/conftest.py": "import app.core\n", "sub/test_a.py": "def test_a(): pass\n"}
    assert core(files, "app.core.alone") == ["sub/test_a.py", "tests/test_core.py", "tests/test_direct.py"]


def test_one_symbol_that_a_test_reaches_does_not_stand_for_another_that_none_does() -> None:
    reached = ["tests/test_core.py.test_post"]
    assert core(IMPORTED, "app.core.send", "app.core.post") == reached
    both = ["tests/test_core.py", "tests/test_direct.py"]
    assert core(IMPORTED, "app.core.send", "app.core.alone") == both
    files = {**IMPORTED, "app/core.py": CORE.replace("pass", "send(alone)")}
    assert core(files, "app.core.send", "app.core.alone") == both


@pytest.mark.parametrize("limit", ["MOST_FAR", "MOST_IMPORTED"])
def test_of_those_that_import_it_through_others_the_nearest_are_taken_and_the_rest_is_named(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(affected, limit, 2)
    files = {
        **IMPORTED,
        "tests/test_a_far.py": "import app.top\n",
        "tests/test_b_near.py": "import app.api\n",
        "tests/test_c_near.py": "import app.api\n",
    }
    if limit == "MOST_FAR":
        files["tests/test_d_near.py"] = "import app.api\n"
    found = answer(files, {"app/core.py": CORE + "\n"}, "app.core.alone")
    taken = ["test_b_near", "test_c_near", "test_core", "test_direct"]
    assert [test.path for test in found.tests] == [f"tests/{each}.py" for each in taken]
    assert found.left_out == (("tests.test_d_near",) if limit == "MOST_FAR" else ()) + ("app.top",)


def test_the_tests_of_a_package_are_found_where_it_is_imported_by_dots_or_a_name_means_two_things() -> None:
    files = {
        "app/__init__.py": "from app.core import core\nTABLE = {}\n",
        "app/core.py": "def core(): pass\n\ndef alone(): pass\n",
        "app/tests/__init__.py": "",
        "app/tests/test_x.py": "from .. import TABLE\n\ndef test_x(): pass\n",
    }
    assert core(files, "app.core.alone") == ["app/tests/test_x.py"]
    new = {"app/__init__.py": files["app/__init__.py"] + "def f(): pass\n"}
    assert names(files, new, "app.f") == ["app/tests/test_x.py"]


def test_where_nothing_reaches_it_there_is_no_test() -> None:
    files = {"m.py": "def f(): pass\n", "test_other.py": "def test_a(): pass\n"}
    assert names(files, {"m.py": "def f(): return 1\n"}, "m.f") == []
    assert names(files, {"data.txt": "x"}) == []


def test_a_data_file_is_reached_by_what_names_it_else_by_the_tests_of_its_package() -> None:
    files = {
        "app/__init__.py": "",
        "app/lists.py": "def words(): return open('words.txt')\ndef pages(): return open(NAME + '.html')\n",
        "app/names.py": "FILE = 'keys.txt'\n",
        "app/data/words.txt": "one\n",
        "app/data/keys.txt": "one\n",
        "app/data/page.html": "one\n",
        "tests/test_lists.py": "from app.lists import words\ndef test_a(): words()\ndef test_b(): 'mywords.txt'\n",
        "tests/test_names.py": "from app.names import FILE\ndef test_c(): pass\n",
        "tests/test_app.py": "import app\ndef test_d(): pass\n",
    }
    assert names(files, {"app/data/words.txt": "two\n"}) == ["tests/test_lists.py.test_a"]
    assert names(files, {"app/data/words.txt": None}) == ["tests/test_lists.py.test_a"]
    assert names(files, {"app/data/keys.txt": "two\n"}) == ["tests/test_names.py"]
    assert names(files, {"app/data/page.html": "two\n"}) == [
        "tests/test_app.py",
        "tests/test_lists.py",
        "tests/test_names.py",
    ]
    assert names(files, {"app/data/words.txt": "two\n", "app/data/keys.txt": "two\n"}) == [
        "tests/test_lists.py.test_a",
        "tests/test_names.py",
    ]


def test_a_changed_test_is_run_itself_and_a_deleted_one_is_not() -> None:
    text = "def test_a(): pass\n\ndef test_b(): pass\n"
    files = {"m.py": "", "test_m.py": text}
    assert names(files, {"test_m.py": text + "\ndef test_c(): pass\n"}, "test_m.test_c") == ["test_m.py.test_c"]
    assert names(files, {"test_m.py": "def test_b(): pass\n"}, "test_m.test_a") == ["test_m.py"]
    assert names(files, {"test_m.py": None}, "test_m") == []


def test_the_users_of_a_deleted_symbol_are_looked_for_where_it_still_is() -> None:
    new = {"app/core.py": CORE.replace("def send(x):\n    return x\n\n", "")}
    assert names(FILES, new, "app.core.send") == ["tests/test_core.py.test_post"]


def test_the_users_of_a_symbol_that_is_new_are_looked_for_where_it_is() -> None:
    files = {
        **FILES,
        "app/other.py": "from app.core import post\n\ndef other(): post(1)\n",
        "app/third.py": "from app.other import other\n\nclass Third:\n    def third(self): other()\n",
        "tests/test_x.py": "def test_x(given): given.third()\n\ndef test_no(): pass\n",
    }
    new = {path: files[path].replace("post", "sent") for path in ("app/core.py", "app/other.py")}
    assert "tests/test_x.py.test_x" in names(files, new, "app.core.sent")
    assert "tests/test_x.py.test_x" not in names(files, new)


def test_a_part_stands_for_its_symbol() -> None:
    assert core(FILES, "app.core.send@body") == ["tests/test_core.py.test_post"]


def test_each_changed_module_is_judged() -> None:
    files = {**FILES, "app/other.py": "def go(): pass\n", "tests/test_other.py": "def test_x(): pass\n"}
    new = {"app/core.py": CORE + "\n", "app/other.py": "def go(): return 1\n"}
    found = names(files, new, "app.core.send", "app.other.go")
    assert found == ["tests/test_core.py.test_post", "tests/test_other.py"]


def test_a_whole_module_is_judged_by_its_tests() -> None:
    assert core(FILES, "app.core") == ["tests/test_core.py"]


def test_calls_in_a_circle_come_to_an_end() -> None:
    files = {"m.py": "def a(): b()\n\ndef b(): a()\n", "test_m.py": "import m\n\ndef test_a():\n    m.a()\n"}
    assert names(files, {"m.py": files["m.py"] + "\n"}, "m.b") == ["test_m.py.test_a"]


@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\npython_files = "check_*.py"\n'),
        ("pyproject.toml", '[tool.pytest.ini_options]\npython_files = ["a_*.py", "check_*.py"]\n'),
        ("pyproject.toml", '[tool.pytest]\npython_files = ["check_*.py"]\n'),
        ("pytest.ini", "[pytest]\npython_files = a_*.py check_*.py\n"),
        (".pytest.ini", "[pytest]\npython_files = check_*.py\n"),
        ("tox.ini", "[pytest]\npython_files =\n    a_*.py\n    check_*.py\n"),
        ("setup.cfg", "[tool:pytest]\npython_files = check_*.py\n"),
    ],
)
def test_patterns_of_the_project_count(file: str, settings: str) -> None:
    files = {"m.py": "def f(): pass\n", "check_m.py": "import m\n\ndef test_a():\n    m.f()\n"}
    assert names(files, {"m.py": "def f(): return 1\n"}, "m.f") == []
    files[file] = settings
    assert names(files, {"m.py": "def f(): return 1\n"}, "m.f") == ["check_m.py.test_a"]


@pytest.mark.parametrize("limit", ["MOST_TESTS", "MOST_SYMBOLS"])
def test_beyond_a_limit_the_answer_says_what_was_left_out(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(affected, limit, 3)
    tests = "".join(
        f"\ndef help_{number}():\n    send(1)\n\ndef test_{number}():\n    help_{number}()\n" for number in range(8)
    )
    files = {**FILES, "tests/test_many.py": f"from app.core import send\n{tests}"}
    found = answer(files, {"app/core.py": CORE + "\n"}, "app.core.send")
    assert not found.complete
    assert 0 < len(found.tests) <= 3
    assert all(each.startswith(("app.", "tests.")) for each in found.left_out)


def test_a_file_that_may_hold_tests_and_does_not_parse_is_named() -> None:
    files = {**FILES, "tests/test_broken.py": "def test_x(:\n    send()\n"}
    found = answer(files, {"app/core.py": CORE + "\n"}, "app.core.send")
    assert [test.path for test in found.tests] == ["tests/test_core.py"]
    assert found.left_out == ("tests.test_broken",)
