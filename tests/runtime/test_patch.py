"""A patch: functions and classes stay the same objects and run the new code, whoever holds them."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import pytest

from tests.runtime.support import FAILS_HERE, Trial, codes

pytestmark = pytest.mark.sampled


def load(name: str) -> Any:
    return importlib.import_module(name)


class Case:
    """One module before and after."""

    def __init__(self, trial: Trial, before: str) -> None:
        self.trial = trial
        trial.write("app/a.py", before)
        self.module = load("app.a")

    def patch(self, after: str) -> list[str]:
        return [f"{notice.code}: {notice.message}" for notice in self.trial.change({"app/a.py": after}, "patch")]


def test_a_from_import_in_another_module_sees_the_new_code(trial: Trial) -> None:
    case = Case(trial, "def f(x=1, *, k=2) -> int:\n    'old'\n    return x + k\n")
    trial.write("app/user.py", "from app.a import f\ndef g(): return f()\n")
    user, kept = load("app.user"), case.module.f
    assert case.patch("def f(x=10, *, k=20, new=300) -> str:\n    'new'\n    return x + k + new\nf.mark = 1\n") == []
    assert case.module.f is kept is user.f
    assert user.g() == 330
    assert (kept.__doc__, kept.__annotations__, kept.mark) == ("new", {"return": str}, 1)
    assert case.patch("def f(): return 0\n") == []
    assert (user.g(), kept.__doc__, kept.__defaults__, kept.__dict__) == (0, None, None, {})


def test_instances_subclasses_and_stored_methods_see_the_new_code(trial: Trial) -> None:
    before = (
        "class A:\n    kind = 'old'\n    gone = 1\n    def __init__(self): self.n = 1\n"
        "    def m(self): return 'old'\n    def lost(self): return 1\n"
        "    @classmethod\n    def c(cls): return 'old', cls\n    @staticmethod\n    def s(): return 'old'\n"
        "    @property\n    def p(self): return 'old'\n"
        "class B(A):\n    def m(self): return 'B' + super().m()\n"
    )
    after = (
        "class A:\n    kind = 'new'\n    more = 2\n    def __init__(self): self.n = 2\n"
        "    def m(self): return 'new'\n    def fresh(self): return self.more\n"
        "    @classmethod\n    def c(cls): return 'new', cls\n    @staticmethod\n    def s(): return 'new'\n"
        "    @property\n    def p(self): return 'new'\n    @p.setter\n    def p(self, value): self.n = value\n"
        "class B(A):\n    def m(self): return 'BB' + super().m()\n"
    )
    case = Case(trial, before)
    trial.write("app/user.py", "from app.a import A\nclass C(A):\n    def m(self): return 'C' + super().m()\n")
    user, first, second = load("app.user"), case.module.A, case.module.B
    a, b, c = first(), second(), user.C()
    stored = [a.m, b.m, c.m, first.c, b.c, first.s, first.p.fget]
    assert case.patch(after) == []
    assert (case.module.A, case.module.B) == (first, second) == (user.A, second)
    assert [method() for method in stored[:3]] == ["new", "BBnew", "Cnew"]
    assert stored[3]() == ("new", first)
    assert stored[4]() == ("new", second)
    assert stored[5]() == stored[6](a) == a.p == "new"
    a.p = 7
    assert (a.n, first().n, c.fresh(), c.kind) == (7, 2, 2, "new")
    assert not hasattr(first, "gone")
    assert not hasattr(a, "lost")
    assert isinstance(a, first)
    assert isinstance(c, first)


def test_super_is_added_and_removed(trial: Trial) -> None:
    case = Case(trial, "class A:\n    def m(self): return 'A'\nclass B(A):\n    def m(self): return 'B'\n")
    b = case.module.B()
    kept = b.m
    messages = case.patch(
        "class A:\n    def m(self): return 'A'\nclass B(A):\n    def m(self): return super().m() + 'b'\n"
    )
    assert b.m() == "Ab"
    assert messages == [
        "not_patched: app.a: B.m (one that was made, or taken from its class, before keeps the old code)."
    ]
    assert kept() == "B"
    case.patch("class A:\n    def m(self): return 'AA'\nclass B(A):\n    def m(self): return __class__, super().m()\n")
    assert b.m() == (case.module.B, "AA")


def test_decorated_functions_keep_their_identity(trial: Trial) -> None:
    head = (
        "import functools, contextlib\n"
        "def twice(fn):\n    @functools.wraps(fn)\n    def wrapper(*args): return fn(*args), fn(*args)\n"
        "    return wrapper\n"
        "def times(n):\n    def hidden(fn):\n        def wrapper(): return [fn()] * n\n        return wrapper\n"
        "    return hidden\n"
    )
    body = (
        "@twice\ndef f(): return 1\n@functools.lru_cache(maxsize=8)\ndef g(x): return x, 1\n"
        "@times(2)\ndef h(): return 1\n@contextlib.contextmanager\ndef c(): yield 1\n"
        "@functools.singledispatch\ndef d(x): return 1\n@d.register\ndef _(x: int): return 'int', 1\n"
    )
    case = Case(trial, head + body)
    kept = f, g, h, c, d = [getattr(case.module, name) for name in "fghcd"]
    assert g(0) == (0, 1)
    messages = case.patch(head + body.replace("1", "2").replace("times(2)", "times(3)").replace("=8", "=8"))
    assert messages == []
    assert [getattr(case.module, name) for name in "fghcd"] == kept
    assert f() == (2, 2)
    assert g(0) == (0, 2), "answers of the old code are forgotten"
    assert h() == [2, 2, 2]
    with c() as value:
        assert value == 2
    assert d("x") == 2
    assert d(1) == ("int", 2)


def test_a_changed_decorator_is_named_and_what_is_held_runs_the_new_body(trial: Trial) -> None:
    head = "import functools\n"
    case = Case(trial, head + "@functools.lru_cache(maxsize=1)\ndef f(): return 1\ndef g(): return 1\n")
    f, g = case.module.f, case.module.g
    (message,) = case.patch(
        head + "@functools.lru_cache(maxsize=2)\ndef f(): return 2\n@functools.cache\ndef g(): return 2\n"
    )
    assert message == "not_patched: app.a: f (what stands for it hides it), g (its decorators changed)."
    f.cache_clear()
    assert f() == g() == 2
    assert case.module.f is not f
    assert case.module.g() == 2


# What becomes of a source whose `f` is an object that a decorator made of a function, and whether `f` is named.
STANDING = {
    "another function": ("def other(): return 1", "def other(): return 2", False),
    "another decorated function": ("@make(5)\ndef g(): return 1", "@make(5)\ndef g(): return 2", False),
    "the function": ("def f(): return 1", "def f(): return 2", True),
    "what the decorator is given": ("@make(LIMIT)", "@make(LIMIT + 1)", True),
    "what that stands for": ("LIMIT = 1", "LIMIT = 2", True),
    "the decorator's own code": ("return Command(fn, n)", "return Command(fn, n + 1)", True),
}


@pytest.mark.parametrize(("old", "new", "named"), STANDING.values(), ids=STANDING)
def test_what_stands_for_a_function_is_named_only_where_it_may_have_changed(
    trial: Trial, old: str, new: str, named: bool
) -> None:
    trial.write("app/command.py", "class Command:\n    def __init__(self, fn, n): self.fn, self.n = fn, n\n"
                                  "    def __call__(self): return self.fn(), self.n\n")  # fmt: skip
    text = (
        "from app.command import Command\nLIMIT = 1\ndef make(n):\n    def made(fn):\n        return Command(fn, n)\n"
        "    return made\n@make(LIMIT)\ndef f(): return 1\n@make(5)\ndef g(): return 1\ndef other(): return 1\n"
    )
    case = Case(trial, text)
    messages = "".join(case.patch(text.replace(old, new)))
    assert ("f (what stands for it hides it)" in messages) is named, messages
    there = "".join(case.patch(text))
    assert ("f (what stands for it hides it)" in there) is named, there


# Sources whose class cannot be patched, with the reason.
LAYOUTS = {
    "slots": (
        "class A:\n    __slots__ = ('x',)\n",
        "class A:\n    __slots__ = ('x', 'y')\n",
        "its __slots__ changed",
    ),
    "bases": ("class A(int): pass\n", "class A(float): pass\n", "its bases changed"),
    "metaclass": ("class A: pass\n", "import abc\nclass A(metaclass=abc.ABCMeta): pass\n", "its metaclass changed"),
    "enum": (
        "import enum\nclass A(enum.Enum):\n    X = 1\n",
        "import enum\nclass A(enum.Enum):\n    X = 1\n    Y = 2\n",
        "its members changed",
    ),
    "a __new__ that goes": (
        "class A:\n    def __new__(cls, *given): return super().__new__(cls)\n",
        "class A:\n    def __init__(self, *given): self.given = given\n",
        "its __new__ came or went",
    ),
    "a __new__ that comes": (
        "class A:\n    def __init__(self, *given): self.given = given\n",
        "class A:\n    def __new__(cls, *given): return super().__new__(cls)\n",
        "its __new__ came or went",
    ),
    "named tuple": (
        "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\n",
        "from typing import NamedTuple\nclass A(NamedTuple):\n    x: int\n    y: int = 1\n",
        "its fields changed",
    ),
}


@pytest.mark.parametrize(("before", "after", "reason"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_class_that_cannot_be_patched_is_replaced_and_named(
    trial: Trial, before: str, after: str, reason: str
) -> None:
    method = "    def m(self): return {}\n"
    before, after = (text.replace(": pass", ":\n    pass") for text in (before, after))
    case = Case(trial, before + method.format(1))
    trial.write("app/user.py", "from app.a import A\n")
    kept = load("app.user").A
    messages = case.patch(after + method.format(2))
    assert messages[0] == f"not_patched: app.a: A ({reason})."
    assert [text.partition(" still")[0] for text in messages[1:]] == ["holds_old_objects: app.user"]
    assert case.module.A is not kept
    assert kept.m.__code__.co_consts[-1] == 1, "the old class is left wholly alone"
    assert case.module.A.m.__code__.co_consts[-1] == 2


def test_an_enum_with_the_same_members_keeps_them(trial: Trial) -> None:
    source = "import enum\nclass Color(enum.Enum):\n    RED = 1\n    BLUE = 'b'\n    def m(self): return 1\n"
    case = Case(trial, source)
    red = case.module.Color.RED
    assert case.patch(source.replace("return 1", "return 2") + "    def more(self): return self.name\n") == []
    assert case.module.Color.RED is red
    assert (red.m(), red.more()) == (2, "RED")
    assert case.module.Color(1) is red


def test_a_dataclass_takes_other_methods_and_other_fields_are_named(trial: Trial) -> None:
    source = "from dataclasses import dataclass\n@dataclass(order=True)\n"
    source += "class D:\n    x: int = 1\n    def m(self): return 1\n"
    case = Case(trial, source)
    data = case.module.D
    old = data()
    assert case.patch(source.replace("return 1", "return 2")) == []
    assert (case.module.D, old.m(), old == data(), old < data(2)) == (data, 2, True, True)
    (message,) = case.patch(source.replace("    def", "    y: str = 'y'\n    def"))
    assert message == "not_patched: app.a: D (its fields changed: instances made before have the old ones)."
    assert repr(data()) == "D(x=1, y='y')"
    assert case.module.D is data


def test_values_of_the_class_made_by_the_module_are_of_the_class_that_others_hold(trial: Trial) -> None:
    source = "class A:\n    def m(self): return 1\nDEFAULT = A()\nTABLE = {'a': A, 'f': DEFAULT.m}\nclass B(A): pass\n"
    case = Case(trial, source)
    known = case.module.A
    assert case.patch(source.replace("return 1", "return 2")) == []
    assert type(case.module.DEFAULT) is known is case.module.TABLE["a"]
    assert case.module.TABLE["f"]() == 2
    assert case.module.B.__mro__[1] is known
    assert len(known.__subclasses__()) == 1


def test_nested_functions_and_lambdas_that_are_alive_run_the_new_code(trial: Trial) -> None:
    source = (
        "def make(n):\n    def inner(): return n + 1\n    return inner\n"
        "KEY = lambda x: x + 1\nTABLE = [lambda: 1]\n"
        "def local():\n    class L:\n        def m(self): return 1\n    return L()\n"
    )
    case = Case(trial, source)
    inner, key, table, made = case.module.make(10), case.module.KEY, case.module.TABLE[0], case.module.local()
    assert case.patch(source.replace("1", "2")) == []
    assert (inner(), key(1), table(), made.m()) == (12, 3, 2, 2)
    assert case.module.KEY is key


def test_a_closure_over_other_variables_is_named(trial: Trial) -> None:
    case = Case(trial, "def make(n):\n    def inner(): return n\n    return inner\n")
    inner = case.module.make(1)
    (message,) = case.patch("def make(n):\n    m = 2\n    def inner(): return n + m\n    return inner\n")
    assert message.startswith("not_patched: app.a: make.<locals>.inner (")
    assert inner() == 1
    assert case.module.make(1)() == 3


def test_a_running_generator_and_coroutine_end_as_they_began(trial: Trial) -> None:
    source = "def g():\n    yield 1\n    yield 'old'\nasync def c(): return 'old'\n"
    case = Case(trial, source)
    running, waiting = case.module.g(), case.module.c()
    next(running)
    assert case.patch(source.replace("old", "new")) == []
    assert next(running) == "old"
    with pytest.raises(StopIteration) as stopped:
        waiting.send(None)
    assert stopped.value.value == "old"
    assert list(case.module.g()) == [1, "new"]


def test_abstract_classes_protocols_slots_and_descriptors(trial: Trial) -> None:
    source = (
        "import abc, typing, functools\n"
        "class Base(abc.ABC):\n    @abc.abstractmethod\n    def m(self): ...\n"
        "@typing.runtime_checkable\nclass P(typing.Protocol):\n    def m(self) -> int: ...\n"
        "class Named:\n    def __set_name__(self, owner, name): self.owner, self.name = owner, name\n"
        "    def __get__(self, instance, owner): return 1, self.name, self.owner\n"
        "class S(Base):\n    __slots__ = ('x',)\n    field = Named()\n    def m(self): return 1\n"
        "class Lazy:\n    @functools.cached_property\n    def v(self): return 1\n"
    )
    case = Case(trial, source)
    slotted, protocol, lazy = case.module.S, case.module.P, case.module.Lazy()
    s = slotted()
    s.x = 5
    assert isinstance(s, protocol)
    after = source.replace("1", "2").replace("def m(self) -> int: ...", "def m(self) -> int: ...\n    def n(self): ...")
    after = after.replace("def m(self): ...\n", "def m(self): ...\n    @abc.abstractmethod\n    def q(self): ...\n", 1)
    assert case.patch(after) == []
    assert (s.m(), s.x, s.field, lazy.v) == (2, 5, (2, "field", slotted), 2)
    assert not isinstance(s, protocol), "the protocol asks for more, and what was known of it is forgotten"
    with pytest.raises(TypeError, match="abstract"):
        case.module.Base()


def test_what_others_put_on_a_class_or_function_of_the_module_stays_or_goes_with_its_source(trial: Trial) -> None:
    case = Case(trial, "class A:\n    x = 1\nA.later = 2\n")
    case.module.A.plugin = print
    assert case.patch("class A:\n    y = 1\n") == []
    assert not hasattr(case.module.A, "x")
    assert not hasattr(case.module.A, "later")
    assert case.module.A.plugin is print


def test_what_a_later_statement_sets_on_a_class_is_there_all_the_time(trial: Trial) -> None:
    source = "class C:\n    pass\nimport time\ntime.sleep(0.01)\nC.RED = C()\nC.N = 1\n{}"
    case = Case(trial, source.format("C.GONE = C()\nC.M = 1\n"))
    cls, stop = case.module.C, threading.Event()
    missing: list[str] = []

    def look() -> None:
        while not stop.is_set():
            missing.extend(name for name in ("RED", "N") if name not in vars(cls))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        red = cls.RED
        assert case.patch(source.format("C.M = 1\n")) == []
    finally:
        stop.set()
        thread.join()
    assert missing == []
    assert cls.RED is not red
    assert (cls.N, cls.M, hasattr(cls, "GONE")) == (1, 1, False)
    assert case.patch(source.format("")) == []
    assert not hasattr(cls, "M")


def test_redefinitions_and_aliases_stay_apart(trial: Trial) -> None:
    source = "def f(): return 1\ng = f\ndef f(): return 2\nh = f\n"
    case = Case(trial, source)
    f, g = case.module.f, case.module.g
    case.patch(source.replace("2", "4").replace("1", "3"))
    assert (f(), g(), case.module.f(), case.module.g(), case.module.h()) == (4, 3, 4, 3, 4)
    assert (case.module.f, case.module.g) == (f, g)
    case.patch("def g(): return 5\ndef f(): return 6\n")
    assert (case.module.f(), case.module.g()) == (6, 5)


def test_an_imported_function_of_the_same_name_is_not_poured_into(trial: Trial) -> None:
    trial.write(
        "app/lib.py",
        "import functools\ndef deco(fn):\n    def w(): return fn()\n    return w\n@deco\ndef f(): return 'lib'\n",
    )
    lib = load("app.lib")
    case = Case(trial, "from app.lib import f, deco\n")
    case.patch("from app.lib import deco\n@deco\ndef f(): return 'own'\n")
    assert (lib.f(), case.module.f()) == ("lib", "own")


BROKEN = (
    "class A:\n    x = 2\n    def m(self): return 2\n    def new(self): return super()\nA.y = 3\n"
    "def f(a=2, *, b=3): 'new'; return 2\nf.mark = 2\n"
    "@cache\ndef g(): return 2\n{}\ndef h(n=2): return lambda: n + 2\n"
)
WHOLE = (
    "from functools import cache\nclass A:\n    x = 1\n    z = 1\n    def m(self): return 1\n"
    "def f(a=1): return 1\nf.own = 1\n@cache\ndef g(): return 1\ndef h(n=1): return lambda: n + 1\n"
)


@pytest.mark.parametrize("later", [False, True])
def test_a_patch_that_fails_restores_every_object(trial: Trial, later: bool) -> None:
    case = Case(trial, WHOLE)
    module = case.module
    cls, f, g, made = module.A, module.f, module.g, module.h()
    g()
    space = dict(vars(cls))
    before = dict(vars(module))
    parts = [
        (fn.__code__, fn.__defaults__, fn.__kwdefaults__, fn.__doc__, fn.__dict__) for fn in (f, g.__wrapped__, made)
    ]
    if later:
        trial.change({"app/a.py": "from functools import cache\n" + BROKEN.format("")}, "patch")
        assert (f(), g(), made(), cls().m(), f.mark) == (2, 2, 3, 2, 2)
        trial.take_back()
    else:
        error = trial.failure({"app/a.py": "from functools import cache\n" + BROKEN.format(FAILS_HERE)}, "patch")
        assert error.message.startswith(
            "app.a imports with the change, but cannot be loaded again in this process: Zero"
        )
    assert dict(vars(module)) == before
    assert dict(vars(cls)) == space
    assert parts == [
        (fn.__code__, fn.__defaults__, fn.__kwdefaults__, fn.__doc__, fn.__dict__) for fn in (f, g.__wrapped__, made)
    ]
    assert f.__dict__ == {"own": 1}
    assert (f(), g(), made(), cls().m()) == (1, 1, 2, 1)


def test_threads_that_call_meanwhile_never_find_an_argument_or_a_name_missing(trial: Trial) -> None:
    one = "X = 1\nclass A:\n    def m(self, a=1): return a + X\ndef f(a=1): return A().m(a)\n"
    two = "X = 1\nclass A:\n    def m(self, a=1, b=2, *, c=3): return a + X\ndef f(a=1, b=2, *, c=3): return A().m(a)\n"
    case = Case(trial, one)
    f, m = case.module.f, case.module.A().m
    wrong: list[BaseException] = []
    stop = threading.Event()

    def call() -> None:
        while not stop.is_set():
            try:
                assert f() == m() == case.module.f() == 2
            except BaseException as error:  # noqa: BLE001 - reported by the main thread
                wrong.append(error)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(2):
            assert case.patch(two) == []
            trial.failure({"app/a.py": one + FAILS_HERE}, "patch")
            assert case.patch(one) == []
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_what_a_decorator_keeps_of_the_second_class_is_named(trial: Trial) -> None:
    trial.write("app/registry.py", "KNOWN = []\ndef register(cls):\n    KNOWN.append(cls)\n    return cls\n")
    case = Case(trial, "from app.registry import register\n@register\nclass A: pass\n")
    twice, holding = case.patch("from app.registry import register\n@register\nclass A:\n    x = 1\n")
    assert twice.startswith("exists_twice: app.a.A: ")
    assert holding.startswith("holds_old_objects: app.registry still hold")


def test_what_is_not_loaded_is_tried_in_a_child(trial: Trial) -> None:
    case = Case(trial, "x = 1\n")
    assert codes(trial.change({"app/a.py": "x = 2\n", "app/b.py": "y = 1\n"}, "patch")) == []
    assert case.module.x == 2
    error = trial.failure({"app/a.py": "x = 3\n", "app/b.py": "1/0\n"}, "patch")
    assert error.details["module"] == "app.b"
    assert case.module.x == 2
