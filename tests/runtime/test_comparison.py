"""After loading, every function of a module is compared with the new source, and what hides is named."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

import pytest

from bae_source.model.plan import ReloadMode
from bae_source.reloading.patch.comparison import compare, look_up
from bae_source.reloading.patch.inside import direct_functions
from tests.runtime.support import Trial, codes

KEEPS = "KEPT = {}\ndef once(made):\n    return KEPT.setdefault(made.__name__, made)\n"
"""Gives back the first thing of each name, whatever the source says later."""


@pytest.mark.parametrize(
    ("source", "stale"),
    [
        ("@once\ndef f(): return 1\n", "f"),
        ("@once\nclass A:\n    def m(self): return 1\n", "A.m"),
        ("class A:\n    @property\n    @once\n    def p(self): return 1\n", "A.p"),
        ("class A:\n    @classmethod\n    @once\n    def c(cls): return 1\n", "A.c"),
        ("class A:\n    @staticmethod\n    @once\n    def s(): return 1\n", "A.s"),
        ("class A:\n    @once\n    class B:\n        def m(self): return 1\n", "A.B.m"),
        ("g = once(lambda: 1)\n", "g"),
    ],
)
def test_what_still_runs_old_code_fails_the_change_and_is_named(trial: Trial, source: str, stale: str) -> None:
    trial.write("app/keeps.py", KEEPS)
    trial.write("app/a.py", "from app.keeps import once\n" + source)
    module = importlib.import_module("app.a")
    before = dict(vars(module))
    error = trial.failure({"app/a.py": "from app.keeps import once\n" + source.replace("1", "2")})
    assert error.message == f"app.a still runs the old code of {stale} in this process; nothing was written."
    assert dict(vars(module)) == before
    assert trial.change({"app/a.py": "from app.keeps import once\n" + source.replace("1", "2")}, "patch") == ()
    (kept,) = direct_functions(look_up(stale, module))
    assert 2 in kept.__code__.co_consts, "a patch pours the new code into what is kept"


def test_what_a_decorator_hides_is_named(trial: Trial) -> None:
    source = (
        "import operator\nclass Slot:\n    __slots__ = ('fn',)\n    def __init__(self, fn): self.fn = fn\n"
        "    def __call__(self): return self.fn()\n@Slot\ndef hidden(): return 1\n"
        "class A:\n    @Slot\n    def m(self): return 1\n"
    )
    trial.write("app/a.py", source)
    module = importlib.import_module("app.a")
    (notice,) = trial.change({"app/a.py": source.replace("1", "2")})
    assert notice.code == "not_compared"
    assert notice.message == "app.a: whether hidden, A.m runs the new code could not be seen behind what stands for it."
    assert module.hidden() == 2


def test_what_can_be_seen_through_says_nothing(trial: Trial) -> None:
    source = (
        "import functools, contextlib, dataclasses, enum, typing\n"
        "def hides(fn):\n    def w(): return fn()\n    return w\n"
        "class Task:\n    def __init__(self, fn): self.run = fn\n    def __call__(self): return self.run()\n"
        "@hides\ndef a(): return 1\n@functools.cache\ndef b(): return 1\n@contextlib.contextmanager\ndef c(): yield 1\n"
        "@Task\ndef d(): return 1\nclass A:\n    @functools.cached_property\n    def p(self): return 1\n"
        "    @functools.singledispatchmethod\n    def s(self, x): return 1\n    __private = lambda self: 1\n"
        "    def __mangled(self): return 1\n    class B:\n        @staticmethod\n        def s(): return 1\n"
        "@dataclasses.dataclass\nclass D:\n    x: int = 1\nclass E(enum.Enum):\n    X = 1\n    def m(self): return 1\n"
        "class N(typing.NamedTuple):\n    x: int = 1\n    def m(self): return 1\n"
        "try:\n    from math import floor\nexcept ImportError:\n    def floor(x): return 1\n"
        "def gone(): return 1\ndel gone\ndef number(): return 1\nnumber = 1\n"
        "@typing.overload\ndef o(x: int) -> int: ...\n@typing.overload\ndef o(x: str) -> str: ...\ndef o(x): return 1\n"
    )
    trial.write("app/a.py", source)
    importlib.import_module("app.a")
    assert trial.change({"app/a.py": source.replace("return 1", "return 2")}) == ()
    assert codes(trial.change({"app/a.py": source.replace("return 1", "return 3")}, "patch")) == ["not_patched"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters and `type` statements")
@pytest.mark.parametrize("mode", ["process", "auto", "patch"])
def test_type_aliases_and_parameters_hide_nothing(trial: Trial, mode: ReloadMode) -> None:
    source = (
        "type A = int\ntype B[T: A] = list[T]\n"
        "class C[T]:\n    type D = list[I]\n    type E[S] = tuple[S, T]\n    class I[S: A]:\n        pass\n"
        "    def m[U: T](self, u: U) -> B[U]:\n        def inner() -> T: return 1\n        return inner()\n"
        "    @property\n    def p(self) -> T: return 1\n"
        "def f[**P, *Ts](*args: *Ts) -> A: return 1\n"
    )
    trial.write("app/a.py", source)
    module: Any = importlib.import_module("app.a")
    made = module.C()
    assert trial.change({"app/a.py": source.replace("return 1", "return 2")}, mode) == ()
    assert (module.C().m(0), module.C().p, module.f()) == (2, 2, 2)
    assert (made.m(0), made.p) == ((2, 2) if mode == "patch" else (1, 1))
    assert module.C.D.__value__ == list[module.C.I]
    assert trial.change({"app/a.py": source.replace("type A = int", "type A = str")}, mode) == ()
    assert module.A.__value__ is str
    trial.take_back()
    assert (module.A.__value__, module.C.D.__value__) == (int, list[module.C.I])


def test_code_of_another_source_in_a_class_is_seen() -> None:
    module = ModuleType("made")
    old, new = (compile(f"class A:\n    def m(self): return {n}\n", "made.py", "exec") for n in (1, 2))
    exec(old, vars(module))
    kept = vars(module)["A"].m
    exec(new, vars(module))
    assert compare(module, new).stale == ()
    vars(module)["A"].extra = kept
    assert compare(module, new).stale == ("A.extra",)
