"""Import cycles: those that a change creates are found, with their lines; nothing else is."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import pytest

from bae_source.errors import Refused
from bae_source.model.outcome import Check, Notice
from bae_source.verification.cycles import check_cycles, new_cycles
from tests.checks.support import Texts, changes
from tests.project.support import workspace

PLAIN = {"app/__init__.py": "", "app/a.py": "import app.b\n", "app/b.py": "x = 1\n", "app/c.py": "import app.a\n"}


def created(files: Mapping[str, str], new: Texts, origins: Mapping[str, str] | None = None) -> list[str]:
    found = new_cycles(workspace(files), changes(files, new, origins))
    return [f"{cycle}{' (tangled)' if cycle.tangled else ''}" for cycle in found]


@pytest.mark.parametrize(
    "text",
    [
        "import app.a\n",
        "import app.a as other\n",
        "from app import a\n",
        "from app.a import x\n",
        "from app.a import *\n",
        "from . import a\n",
        "from .a import x\n",
        "try:\n    import app.a\nexcept ImportError:\n    pass\n",
        "import sys\nif sys.platform == 'linux':\n    from . import a\n",
        "class A:\n    from . import a\n",
        "if not TYPE_CHECKING:\n    import app.a\n",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import app.a\n",
        "if 1:\n    class A:\n        class B:\n            try: import app.a\n            finally: x = 1\n",
    ],
)
def test_an_import_that_closes_a_circle_creates_a_cycle(text: str) -> None:
    assert created(PLAIN, {"app/b.py": text}) == ["app.b -> app.a -> app.b"]


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    import app.a\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import app.a\n",
        "import typing\nif typing.TYPE_CHECKING:\n    from .a import x\n",
        "import typing as t\nif t.TYPE_CHECKING:\n    import app.a\n",
        "if TYPE_CHECKING and x:\n    import app.a\n",
        "if not TYPE_CHECKING or not x:\n    pass\nelif TYPE_CHECKING:\n    import app.a\n",
        "if not TYPE_CHECKING:\n    pass\nelse:\n    import app.a\n",
        "def f():\n    yield 1\n    import app.a\nf()\n",
        "async def f():\n    import app.a\nf()\n",
        "def f():\n    import app.a\ng = lambda: f()\n",
        "def f(x):\n    if x:\n        import app.a\nf(0)\n",
        "def f():\n    return 1\n    import app.a\nf()\n",
        "def import_module(name): return name\nimport_module('app.a')\n",
        "import importlib\nimportlib.import_module('.a', name)\nimportlib.import_module(name)\n",
        "import importlib\ndef f():\n    importlib.import_module('app.a')\n",
        "if TYPE_CHECKING:\n    __import__('app.a')\n",
        "def f():\n    exec('import app.a')\n",
        "print('import app.a')\n",
        "from importlib import import_module as load\ndef f(load):\n    return load\nload('app.a')\n",
        "from importlib import import_module\nNAME = 'app.a'\nNAME = 'app.c'\nimport_module(NAME)\n",
        "from importlib import import_module\nimport_module('..a', 'app')\n",
        "if __name__ == '__main__':\n    import app.a\n",
        "x = 1\nif __name__ == '__main__':\n    if x:\n        # comment\n\n        from app import a\n",
        "class C:\n    pass\n",
        "class C:\n    def f(self):\n        import app.a\n",
        "class C:\n    def f(self):\n        import app.a\nC()\nC.f\n",
        "class C:\n    def __init__(self):\n        import app.a\ndef later():\n    C()\n",
        "def f():\n    class C:\n        import app.a\n",
        "class C:\n    if TYPE_CHECKING:\n        import app.a\n",
        "import a\nimport other.a\n",
        "import app.d\n",
        "import app\n",
    ],
)
def test_what_does_not_run_when_the_module_is_imported_creates_none(text: str) -> None:
    assert created(PLAIN, {"app/b.py": text}) == []


def test_the_import_of_a_program_is_passed_over_but_not_another_of_the_same_module() -> None:
    text = "if __name__ == '__main__':\n    import app.a\nimport app.a\n"
    assert created(PLAIN, {"app/b.py": text}) == ["app.b -> app.a -> app.b"]


def test_a_longer_way_is_shown_from_the_new_import_on_with_every_line() -> None:
    files = PLAIN | {"app/b.py": '"""Doc."""\n'}
    [cycle] = new_cycles(workspace(files), changes(files, {"app/b.py": '"""Doc."""\nfrom . import c\n'}))
    assert cycle.modules == ("app.b", "app.c", "app.a")
    assert cycle.lines == ("app.b:2: from . import c", "app.c:1: import app.a", "app.a:1: import app.b")
    assert cycle.new == (True, False, False)


def test_the_shortest_way_is_shown() -> None:
    files = {"a.py": "import b\nimport c\n", "b.py": "import c\n", "c.py": ""}
    assert created(files, {"c.py": "import a\n"}) == ["c -> a -> c"]


def test_a_cycle_that_was_there_is_not_blamed_on_a_change_of_its_modules() -> None:
    files = {"a.py": "import b\nx = 1\n", "b.py": "import a\n"}
    assert created(files, {"a.py": "import b\nx = 2\n"}) == []
    assert created(files, {"a.py": "from b import y\nx = 2\n"}) == []
    assert created(files, {"a.py": "import b\nimport c\n", "c.py": ""}) == []


def test_a_further_way_between_modules_on_a_cycle_is_a_notice_and_no_refusal() -> None:
    files = {"a.py": "import b\n", "b.py": "import c\n", "c.py": "import a\n"}
    new = {"b.py": "import c\nimport a\n"}
    assert created(files, new) == ["b -> a -> b (tangled)"]
    notice, check = check_cycles(workspace(files), changes(files, new))
    assert isinstance(notice, Notice)
    assert isinstance(check, Check)
    assert check.result == "passed"
    assert notice.code == "cycle_widened"
    assert "b -> a -> b (the new import is b:2: import a)" in notice.message


def test_a_new_module_that_is_pulled_into_a_cycle_is_refused() -> None:
    files = {"a.py": "import b\n", "b.py": "import a\n"}
    assert created(files, {"c.py": "import a\n", "b.py": "import a\nimport c\n"}) == ["b -> c -> a -> b"]


def test_two_new_modules_that_import_each_other_make_one_cycle() -> None:
    [cycle] = new_cycles(workspace({"z.py": ""}), changes({}, {"a.py": "import b\n", "b.py": "import a\n"}))
    assert str(cycle) == "a -> b -> a"
    assert cycle.new == (True, True)


def test_a_cycle_that_moves_is_no_new_one() -> None:
    files = {"a.py": "import b\n", "b.py": "import a\n"}
    new = {"a.py": None, "c.py": "import b\n", "b.py": "import c\n"}
    assert created(files, new, {"c.py": "a.py"}) == []
    assert created(files, new) == ["b -> c -> b"], "without that knowledge it would be one"


def test_a_module_that_becomes_a_package_keeps_its_cycles() -> None:
    files = {"a.py": "import b\n", "b.py": "import a\n"}
    assert created(files, {"a.py": None, "a/__init__.py": "import b\n", "a/c.py": ""}) == []
    assert created(files, {"a.py": None, "a/__init__.py": "import b\nimport a.c\n", "a/c.py": "import b\n"}) == [
        "a -> a.c -> b -> a"
    ]


def test_a_module_that_did_not_parse_before_is_not_blamed_for_what_may_have_been_there() -> None:
    files = {"a.py": "import b\n", "b.py": "import a\ndef\n"}
    new = {"b.py": "import a\n"}
    assert created(files, new) == ["b -> a -> b (tangled)"]
    assert [each.code for each in check_cycles(workspace(files), changes(files, new)) if isinstance(each, Notice)] == [
        "cycle_widened"
    ]


def test_the_own_package_is_imported_only_by_taking_a_name_from_it() -> None:
    files = {"app/__init__.py": "from app.a import x\nVERSION = 1\n", "app/a.py": "x = 1\n", "app/b.py": ""}
    assert created(files, {"app/a.py": "import app.b\nfrom . import b\nfrom app.b import z\n"}) == []
    assert created(files, {"app/a.py": "from app import VERSION\n"}) == ["app.a -> app -> app.a"]


def test_a_package_elsewhere_is_run_before_its_modules() -> None:
    files = {"app/__init__.py": "", "app/a.py": "", "lib/__init__.py": "import app.a\n", "lib/deep/__init__.py": ""}
    files["lib/deep/x.py"] = ""
    for text in ("import lib.deep.x\n", "from lib.deep import x\n", "from lib.deep.x import name\n", "import lib\n"):
        assert created(files, {"app/a.py": text}) == ["app.a -> lib -> app.a"], text


def test_source_roots_and_stubs_are_understood() -> None:
    files = {"src/app/__init__.py": "", "src/app/a.py": "import app.b\n", "src/app/b.py": "", "src/app/b.pyi": ""}
    assert created(files, {"src/app/b.pyi": "import app.a\n"}) == []
    assert created(files, {"src/app/b.py": "import app.a\n"}) == ["app.b -> app.a -> app.b"]


def test_a_namespace_package_is_no_module() -> None:
    files = {"app/a.py": "import app.b\n", "app/b.py": ""}
    assert created(files, {"app/b.py": "import app\nfrom app import a\n"}) == ["app.b -> app.a -> app.b"]


def test_a_module_that_does_not_parse_ends_the_way() -> None:
    files = {"a.py": "import b\ndef\n", "b.py": ""}
    assert created(files, {"b.py": "import a\n"}) == []


def test_a_deleted_import_or_module_creates_nothing() -> None:
    assert created(PLAIN, {"app/a.py": None}) == []
    assert created(PLAIN, {"app/a.py": "x = 1\n"}) == []


def test_the_refusal_shows_the_cycle_its_lines_and_which_is_new() -> None:
    with pytest.raises(Refused) as caught:
        check_cycles(workspace(PLAIN), changes(PLAIN, {"app/b.py": "x = 1\nfrom app import a\n"}))
    error = caught.value
    assert error.code == "unsafe_change"
    assert "app.b -> app.a -> app.b; nothing was written." in error.message
    assert "app.b:2: from app import a  <- new\n  app.a:1: import app.b" in error.hints[0]
    assert error.candidates == ("app.b", "app.a")
    assert error.details["cycles"][0]["modules"] == ("app.b", "app.a")
    assert pickle.loads(pickle.dumps(error)) == error


def test_all_of_several_cycles_are_named() -> None:
    files = {"a.py": "import c\n", "b.py": "import c\n", "c.py": ""}
    with pytest.raises(Refused) as caught:
        check_cycles(workspace(files), changes(files, {"c.py": "import a\nimport b\n"}))
    assert "c -> a -> c (and 1 more)" in caught.value.message
    assert "c -> b -> c:" in caught.value.hints[0]


def test_a_long_chain_needs_no_depth_and_is_shown_in_part() -> None:
    files = {f"m{number}.py": f"import m{number + 1}\n" for number in range(1500)} | {"m1500.py": ""}
    with pytest.raises(Refused) as caught:
        check_cycles(workspace(files), changes(files, {"m1500.py": "import m0\n"}))
    assert len(caught.value.candidates) == 1501
    assert "m1500 -> m0 -> m1" in caught.value.message
    assert "… (1489 more) … -> m1499 -> m1500; nothing" in caught.value.message
    assert len(caught.value.hints[0]) < 1000
