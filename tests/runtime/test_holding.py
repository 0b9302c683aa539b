"""Who holds what was replaced is named: functions, classes, objects, and numbers that were imported by name."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import pytest

from tests.runtime.support import Trial, codes

pytestmark = pytest.mark.sampled

OLD = "N = 1000\nT = (1, [2])\nLOG = []\nclass C: pass\nEMPTY = ()\nSAME = 'text'\nimport os, re, typing\n"
OLD += "ALIAS = typing.Union[int, str]\nPATTERN = re.compile('x')\n"
NEW = OLD.replace("1000", "2000").replace("[2]", "[3]")


@pytest.mark.parametrize(
    ("user", "named"),
    [
        ("from app.a import N\n", True),
        ("from app.a import N as M\nN = M\n", True),
        ("from app.a import T\n", True),
        ("from app.a import LOG as log\n", True),
        ("from app import a\nlog = a.LOG\n", True),
        ("from app.a import C\n", True),
        ("from app.a import SAME, EMPTY, ALIAS, PATTERN, os\n", False),
        ("from app import a\n", False),
        ("N = 1000\nLOG = []\nEMPTY = ()\n", False),
    ],
)
def test_holders_alone_are_named(trial: Trial, user: str, named: bool) -> None:
    trial.write("app/a.py", OLD)
    trial.write("app/user.py", user)
    importlib.import_module("app.user")
    importlib.import_module("app.a")
    notices = trial.change({"app/a.py": NEW})
    assert codes(notices) == (["holds_old_objects"] if named else [])
    assert all("app.user still hold old objects of app.a" in notice.message for notice in notices)


def test_a_patch_names_who_holds_values_that_were_bound_anew(trial: Trial) -> None:
    trial.write("app/a.py", "N = 1\nLOG = object()\ndef f(): return N\n")
    trial.write("app/one.py", "from app.a import f\n")
    trial.write("app/two.py", "from app.a import LOG\n")
    for name in ("one", "two"):
        importlib.import_module(f"app.{name}")
    (notice,) = trial.change({"app/a.py": "N = 2\nLOG = object()\ndef f(): return N\n"}, "patch")
    assert notice.code == "holds_old_objects"
    assert notice.message.startswith("app.two still hold")


def test_who_imports_from_a_deleted_module_is_named(trial: Trial) -> None:
    trial.write("app/a.py", "N = 1000\n")
    trial.write("app/user.py", "from app.a import N\n")
    importlib.import_module("app.user")
    (notice,) = trial.change({"app/a.py": None})
    assert notice.code == "holds_old_objects"
    assert notice.message.startswith("app.user still hold old objects of app.a; load them again, or restart")


CORE = """class A:
    def m(self): return {0}

def f(): return {0}

def deco(fn):
    def wrapper(): return {0}
    return wrapper
"""
HOLDING = {
    "a subclass": "class B(core.A): pass",
    "a subclass of a subclass": "from app.mid import B\nclass C(B): pass",
    "an instance": "INST = core.A()",
    "a dict": "HANDLERS = {'a': core.f}",
    "a list in a dict": "HANDLERS = {'a': [core.f]}",
    "a tuple": "HANDLERS = (core.f,)",
    "a bound method": "BOUND = core.A().m",
    "a partial": "import functools\nPART = functools.partial(core.f)",
    "a class attribute": "class K:\n    h = staticmethod(core.f)",
    "a default": "def d(x=core.f): return x()",
    "a keyword's default": "def d(*, x=core.f): return x()",
    "a closure": "def make(g): return lambda: g()\nC = make(core.f)",
    "what a decorator made": "@core.deco\ndef h(): return 1",
    "a method that a decorator made": "class K:\n    @core.deco\n    def h(self): return 1",
}


@pytest.mark.parametrize("mode", ["auto", "process"])
@pytest.mark.parametrize("user", HOLDING.values(), ids=HOLDING)
def test_who_holds_old_code_inside_something_is_named(trial: Trial, user: str, mode: Any) -> None:
    trial.write("app/core.py", CORE.format(1))
    trial.write("app/mid.py", "from app import core\nclass B(core.A): pass\n")
    trial.write("app/user.py", f"from app import core\n{user}\n")
    trial.write(
        "app/innocent.py", "from app import core\ndef g(x=(1, [])): return core.f()\nclass K: h = staticmethod(g)\n"
    )
    importlib.import_module("app.user")
    importlib.import_module("app.innocent")
    (notice,) = trial.change({"app/core.py": CORE.format(2)}, mode)
    assert notice.code == "holds_old_objects"
    assert "app.user" in notice.message.partition(" still hold ")[0]
    assert "app.innocent" not in notice.message
    (notice,) = trial.change({"app/core.py": CORE.format(3)}, mode)
    assert "app.user" in notice.message.partition(" still hold ")[0], "of the first change still"
    assert "app.innocent" not in notice.message
    notices = trial.change(
        {"app/core.py": CORE.format(2) + "X = 1\n", "app/user.py": f"from app import core\n{user}\n"}, mode
    )
    assert all("app.user" not in notice.message.partition(" still hold ")[0] for notice in notices)


ALIASES = {
    "another function of the module": ("def a(): return 1\ndef b(): return 2\nN = a\n", "N = a\n", "N = b\n"),
    "somebody else's": ("from json import loads as N\n", "loads as N", "dumps as N"),
    "a built-in one": ("N = len\n", "len", "max"),
    "a class of its own": ("class A: pass\nN = A\n", "N = A\n", "class N: v = 2\n"),
}


@pytest.mark.parametrize("mode", ["auto", "patch"])
@pytest.mark.parametrize(("text", "old", "new"), ALIASES.values(), ids=ALIASES)
def test_who_took_a_name_that_stands_for_something_else_now_is_named(
    trial: Trial, mode: Any, text: str, old: str, new: str
) -> None:
    trial.write("app/core.py", text)
    trial.write("app/user.py", "from app.core import N\n")
    trial.write("app/other.py", "from json import loads\nN = len\n")
    for name in ("user", "other"):
        importlib.import_module(f"app.{name}")
    assert trial.change({"app/core.py": text + "# the same\n"}, "patch") == ()
    notices = trial.change({"app/core.py": text.replace(old, new)}, mode)
    assert any(notice.message.startswith("app.user still hold old objects of app.core") for notice in notices)


def test_a_process_with_too_much_in_it_is_reported_as_not_searched(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial.write("app/a.py", "def f(): return 1\n")
    trial.write("app/user.py", "from app.a import f\n")
    large = ModuleType("large")
    vars(large).update({f"n{number}": object for number in range(300_001)})
    monkeypatch.setitem(sys.modules, "large", large)
    importlib.import_module("app.user")
    (notice,) = trial.change({"app/a.py": "def f(): return 2\n"})
    assert (notice.code, notice.message) == (
        "holders_unknown",
        "Too much is loaded to look everywhere: who else holds old objects of app.a is unknown.",
    )


def test_a_container_that_is_too_large_or_holds_itself_ends_the_search(trial: Trial) -> None:
    trial.write("app/a.py", "def f(): return 1\n")
    trial.write("app/user.py", "ROUND = []\nROUND.append(ROUND)\nBIG = list(range(400_000))\nHELD = 'text'\n")
    importlib.import_module("app.a")
    importlib.import_module("app.user")
    (notice,) = trial.change({"app/a.py": "def f(): return 2\n"})
    assert notice.code == "holders_unknown"
