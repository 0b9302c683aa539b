"""Import cycles: those that a change creates are found, with their lines; nothing else is."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

import pytest

from bae_source.errors import Refused
from bae_source.model.outcome import Check, Notice
from bae_source.verification.cycles import check_cycles, cycles_created
from tests.checks.support import Texts, changes
from tests.project.support import workspace

PLAIN = {"app/__init__.py": "", "app/a.py": "import app.b\n", "app/b.py": "x = 1\n", "app/c.py": "import app.a\n"}


def created(files: Mapping[str, str], new: Texts, origins: Mapping[str, str] | None = None) -> list[str]:
    found = cycles_created(workspace(files), changes(files, new, origins))
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
        "def f():\n    import app.a\nf()\n",
        "def f():\n    x = str()\n    with x:\n        from . import a\n    return a\nX = [f()]\n",
        "def f():\n    import app.a\ndef g():\n    return f()\nclass C:\n    y = g()\n",
        "def f(g):\n    import app.a\n    return g\n@f\ndef g(): pass\n",
        "def f(*args):\n    import app.a\n    return f\n@f(1)\nclass C: pass\n",
        "def f():\n    import app.a\ndef g(x=f()): pass\n",
        "import importlib\nimportlib.import_module('app.a')\n",
        "import importlib\na = importlib.import_module('.a', __package__)\n",
        "import importlib\na = importlib.import_module('.a', package='app')\n",
        "from importlib import import_module\ndef f(): return import_module('app.a')\nf()\n",
        "import importlib\nimportlib.import_module(name='app.a')\n",
        "from importlib import import_module as load\nload('app.a')\n",
        "import importlib\nload = importlib.import_module\nload('.a', __package__)\n",
        "import importlib\nNAME = 'app.a'\nimportlib.import_module(NAME)\n",
        "import importlib\nfor name in ('app', 'app.a'):\n    importlib.import_module(name)\n",
        "import importlib\nNAMES = ['app.a']\nX = [importlib.import_module(name) for name in NAMES]\n",
        "from importlib import import_module\nX = list(map(import_module, ['app.a']))\n",
        "from importlib import import_module\nimport_module(f'{__package__}.a')\n",
        "from importlib import import_module\ndef f():\n    for x in ['a']:\n        import_module('app.' + x)\nf()\n",
        "class A:\n    def __init__(self):\n        import app.a\nA()\n",
        "class A:\n    @classmethod\n    def f(cls): return cls.g()\n    def g():\n        import app.a\nA.f()\n",
        "class A:\n    def f(self):\n        from . import a\nX = A().f()\n",
        "a = __import__('app.a').a\n",
        "__import__('app', fromlist=['a'])\n",
        "__import__('a', globals(), locals(), [], 1)\n",
        "exec('import app.a')\n",
        "exec(compile('from .a import *', 'f', 'exec'), {})\n",
        "X = eval('__import__(\"app.a\")')\n",
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
        "from typing import TYPE_CHECKING as TC\nif TC:\n    import app.a\n",
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
    [cycle] = cycles_created(workspace(files), changes(files, {"app/b.py": '"""Doc."""\nfrom . import c\n'}))
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


def test_a_further_way_between_modules_on_a_cycle_is_told_and_not_refused() -> None:
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
    [cycle] = cycles_created(workspace({"z.py": ""}), changes({}, {"a.py": "import b\n", "b.py": "import a\n"}))
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


def test_several_cycles_are_all_told() -> None:
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


def test_of_an_import_that_a_call_runs_its_own_line_is_shown() -> None:
    text = (
        "from importlib import import_module\n\ndef load():\n    x = 1\n    return import_module('app.a')\n\nload()\n"
    )
    [cycle] = cycles_created(workspace(PLAIN), changes(PLAIN, {"app/b.py": text}))
    assert cycle.lines == ("app.b:5: return import_module('app.a')", "app.a:1: import app.b")


def test_a_function_is_blamed_when_a_change_calls_it_as_the_module_runs() -> None:
    files = PLAIN | {"app/b.py": "def load():\n    import app.a\n"}
    assert created(files, {"app/b.py": files["app/b.py"] + "x = 1\n"}) == []
    assert created(files, {"app/b.py": files["app/b.py"] + "load()\n"}) == ["app.b -> app.a -> app.b"]


@pytest.mark.parametrize(
    ("text", "unclear"),
    [
        ("import importlib\nimportlib.import_module(name())\n", "2: importlib.import_module(name())"),
        ("import importlib\ndef f(x): importlib.import_module(x)\nf('app.a')\n", "2: importlib.import_module(x)"),
        ("__import__(X)\n", "1: __import__(X)"),
        ("exec(open('x').read())\n", "1: exec(open('x').read())"),
    ],
)
def test_where_it_cannot_be_told_what_is_imported_nothing_is_verified(text: str, unclear: str) -> None:
    files = PLAIN | {"app/b.py": text, "app/d.py": "import app.b\n"}
    for new in ({"app/c.py": "import app.b\n"}, {"app/c.py": "import app.d\n"}, {"app/c.py": text}):
        [check] = check_cycles(workspace(files | {"app/a.py": ""}), changes(files, new))
        where = "app.c" if new["app/c.py"] == text else "app.b"
        assert isinstance(check, Check)
        assert check.result == "not_run"
        assert check.detail == f"it cannot be told what is imported by {where}:{unclear}"


def test_what_is_imported_in_an_unclear_way_and_was_so_before_changes_nothing() -> None:
    files = PLAIN | {"app/b.py": "import importlib\nimportlib.import_module(x)\n", "app/d.py": ""}
    for new in (
        {"app/a.py": "import app.b\nimport app.d\n"},
        {"app/b.py": "import importlib\n\nimport app.d\nimportlib.import_module(x)\n"},
        {"app/d.py": "import importlib\ndef later(x):\n    importlib.import_module(x)\n"},
    ):
        [check] = check_cycles(workspace(files), changes(files, new))
        assert isinstance(check, Check)
        assert (check.result, check.detail) == ("passed", "")


CALLED = """
def setup():
    from app import a
    return a


def deco(f):
    setup()
    return f


def later():
    return lambda: setup()


def by_name(name):
    return __import__(name)


class Loader:
    def __init__(self):
        setup()

    @classmethod
    def load(cls):
        import app.a

    def get(self):
        from .a import X
"""
CALLING = PLAIN | {
    "app/d.py": CALLED,
    "app/e.py": "from app.d import setup as s, Loader\n",
    "app/a.py": "import app.b\n",
}


@pytest.mark.parametrize(
    "text",
    [
        "from app.d import setup\nsetup()\n",
        "import app.d\napp.d.setup()\n",
        "from app import d as other\n@other.deco\ndef f(): pass\n",
        "from . import d\nX = [d.Loader()]\n",
        "from .d import Loader\nX = Loader.load()\n",
        "from .d import Loader\nX = Loader().get()\n",
        "from app.d import setup\ndef f():\n    return setup()\nf()\n",
        "from app.e import s\nclass A:\n    x = s()\n",
        "import app.e as e\ne.Loader()\n",
    ],
)
def test_a_function_of_another_module_that_is_called_as_a_module_runs_closes_a_circle(text: str) -> None:
    assert created(CALLING, {"app/b.py": text}) == ["app.b -> app.a -> app.b"]


@pytest.mark.parametrize(
    "text",
    [
        "from app.d import setup\ndef f():\n    setup()\n",
        "from app.d import setup\nX = setup\n",
        "from app.d import later\nlater()\n",
        "from app.d import deco\ndeco\n",
        "from app.d import setup\nif TYPE_CHECKING:\n    setup()\n",
        "from app.d import setup\nclass A:\n    def setup(): pass\n    setup()\n",
        "from other.d import setup\nsetup()\n",
        "import app.d\napp.d.missing()\napp.d()\n",
    ],
)
def test_a_function_of_another_module_that_is_not_called_then_closes_none(text: str) -> None:
    assert created(CALLING, {"app/b.py": text}) == []


def test_the_call_is_shown_that_closes_a_circle() -> None:
    text = "from app.d import setup\n\nX = setup()\n"
    [cycle] = cycles_created(workspace(CALLING), changes(CALLING, {"app/b.py": text}))
    assert cycle.lines == ("app.b:3: X = setup()", "app.a:1: import app.b")


def test_a_function_of_another_module_that_imports_what_cannot_be_told_is_named() -> None:
    text = "from app.d import by_name\n\nX = by_name('app.a')\n"
    [check] = check_cycles(workspace(CALLING), changes(CALLING, {"app/b.py": text}))
    assert isinstance(check, Check)
    assert check.result == "not_run"
    assert check.detail == "it cannot be told what is imported by app.b:3: by_name: __import__(name)"
