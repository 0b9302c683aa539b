"""What living objects gathered, registries and counters, a patch leaves them; what the source changed, it changes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runtime.support import Trial
from tests.runtime.test_patch import Case, load

OTHER = "def other(): return 1\n"


def unrelated(case: Case, source: str) -> list[str]:
    """Patch something else than what is looked at."""
    return case.patch(source.replace(OTHER, OTHER.replace("1", "2")))


def test_registrations_with_a_singledispatch_from_elsewhere_stay(trial: Trial) -> None:
    source = (
        "import functools\n@functools.singledispatch\ndef show(x): return 'default'\n"
        "@show.register\ndef _(x: list): return 'list'\n@show.register\ndef tuples(x: tuple): return 'tuple'\n" + OTHER
    )
    case = Case(trial, source)
    trial.write("app/user.py", "from app.a import show\n@show.register\ndef _(x: int): return 'int'\n")
    show = load("app.user").show
    assert (show(1), show([]), show(()), show(None)) == ("int", "list", "tuple", "default")
    assert unrelated(case, source) == []
    assert case.module.show is show
    assert (show(1), show([]), show(()), show(None)) == ("int", "list", "tuple", "default")
    assert case.patch(source.replace("'list'", "'LIST'").replace("'default'", "'DEFAULT'")) == []
    assert (show(1), show([]), show(()), show(None)) == ("int", "LIST", "tuple", "DEFAULT")
    assert show.registry[tuple] is case.module.tuples
    trial.failure({"app/a.py": source.replace("'list'", "'wrong'") + "1/0\n"}, "patch")
    assert (show(1), show([]), show(None)) == ("int", "LIST", "DEFAULT")
    gone = source.replace("@show.register\ndef tuples(x: tuple): return 'tuple'\n", "")
    assert case.patch(gone) == []
    assert (show(1), show(())) == ("int", "default")


def test_registrations_with_a_singledispatchmethod_from_elsewhere_stay(trial: Trial) -> None:
    source = (
        "import functools\nclass A:\n    @functools.singledispatchmethod\n    def m(self, x): return 'default'\n"
        "    @m.register\n    def _(self, x: list): return 'list'\n" + OTHER
    )
    case = Case(trial, source)
    a = case.module.A()
    vars(case.module.A)["m"].register(int, lambda self, x: "int")
    assert unrelated(case, source.replace("'list'", "'LIST'").replace("'default'", "'DEFAULT'")) == []
    assert (a.m(1), a.m([]), a.m(None)) == ("int", "LIST", "DEFAULT")


def test_registries_of_classes_and_modules_stay_and_what_the_source_puts_in_is_there_once(trial: Trial) -> None:
    source = (
        "from collections import defaultdict\nfrom weakref import WeakSet\n"
        "class R:\n    items = {}\n    rows: list = []\n    count = {'n': 0}\n"
        "    by = defaultdict(list)\n    weak = WeakSet()\n"
        "    @classmethod\n    def add(cls, fn):\n        cls.items[fn.__name__] = fn\n        cls.rows.append(fn)\n"
        "        return fn\n"
        "REG = {}\ndef add(cls):\n    REG[cls.__name__] = cls\n    return cls\n"
        "@R.add\ndef own(): return 1\n@add\nclass Own:\n    def m(self): return 1\n" + OTHER
    )
    case = Case(trial, source)
    user = (
        "from app.a import R, REG, add\n@R.add\ndef used(): return 'user'\n@add\nclass Used: pass\nR.count['n'] += 1\n"
    )
    trial.write("app/user.py", user)
    user_, module = load("app.user"), case.module
    module.R.by["x"].append(1)
    module.R.weak.add(user_.Used)
    registry, known = module.R, module.REG
    for after in (source.replace("m(self): return 1", "m(self): return 2"), source):
        assert case.patch(after) == []
        assert module.REG is known is user_.REG
        assert known == {"Own": module.Own, "Used": user_.Used}
        assert registry.items == {"own": module.own, "used": user_.used}
        assert registry.rows == [module.own, user_.used]
        assert (registry.count, dict(registry.by), list(registry.weak)) == ({"n": 1}, {"x": [1]}, [user_.Used])
    trial.failure({"app/a.py": source + "add(int)\nR.add(other)\n1/0\n"}, "patch")
    assert set(known) == {"Own", "Used"}
    assert set(registry.items) == {"own", "used"}
    assert len(registry.rows) == 2
    gone = source.replace("@R.add\ndef own(): return 1\n@add\nclass Own:\n    def m(self): return 1\n", "")
    assert case.patch(gone) == []
    assert (set(known), set(registry.items), registry.rows) == ({"Used"}, {"used"}, [user_.used])


def test_counters_and_caches_of_closures_stay_and_parameters_do_not(trial: Trial) -> None:
    source = (
        "def counted(by):\n    def deco(fn):\n        n, seen = 0, {}\n        rows = []\n        last = 'none'\n"
        "        def call(x=0):\n            nonlocal last, n\n            n = n + by\n            last = x\n"
        "            rows.append(x)\n            call.log.append(x)\n            return n, rows, fn()\n"
        "        call.log = []\n        return call\n    return deco\n"
        "@counted(1)\ndef f(): return 1\n" + OTHER
    )
    case = Case(trial, source)
    f = case.module.f
    f(), f()
    assert unrelated(case, source) == []
    assert f(5) == (3, [0, 0, 5], 1)
    assert f.log == [0, 0, 5]
    assert case.patch(source.replace("counted(1)", "counted(10)").replace("f(): return 1", "f(): return 2")) == []
    assert f() == (13, [0, 0, 5, 0], 2)
    assert case.patch(source.replace("n, seen = 0, {}", "n, seen = 100, {}").replace("rows = []", "rows = ['x']")) == []
    assert f() == (101, ["x", 0], 1), "another beginning begins anew"


COUNTED = """
import functools
from app.kit import tagged

def plain(): plain.calls += 1; plain.last = 'me'; return 1
plain.calls = 0
plain.last = None

def lazy(): lazy.calls = getattr(lazy, 'calls', 0) + 1; return 1

def counted(fn):
    @functools.wraps(fn)
    def call(*args):
        call.calls += 1
        call.seen.append(1)
        return fn(*args)
    call.calls, call.seen = 0, []
    call.calls = 0
    return call

@counted
def wrapped(): return 1

class A:
    def plain(self): A.plain.calls += 1; return 1
    plain.calls = 0
    @counted
    def wrapped(self): return 1
    def later(self): A.later.calls += 1; return 1
A.later.calls = 0

def table(): table.rows.append(1); table.by['a'] = table.by.get('a', 0) + 1; return 1
table.rows = []
table.by = {}

@functools.lru_cache
def cached(): return 1
cached.calls = 0

@tagged
def elsewhere(): return 1

"""


def _counts(module: Any) -> list[object]:
    of_class = [module.A.plain, module.A.wrapped, module.A.later]
    counted = [module.plain, module.lazy, module.wrapped, *of_class, module.cached, module.elsewhere]
    return [
        *(each.calls for each in counted),
        module.plain.last,
        module.wrapped.seen,
        module.table.rows,
        module.table.by,
    ]


def test_counters_that_are_attributes_of_functions_stay(trial: Trial) -> None:
    trial.write(
        "app/kit.py",
        "def tagged(fn):\n    def call():\n        call.calls += 1\n        return fn()\n"
        "    call.calls = 0\n    return call\n",
    )
    source = COUNTED + OTHER
    case = Case(trial, source)
    module, a = case.module, case.module.A()

    def use() -> list[int]:
        module.cached.calls += 1
        calls = (module.plain, module.lazy, module.wrapped, a.plain, a.wrapped, a.later, module.table, module.cached)
        return [call() for call in (*calls, module.elsewhere)]

    use(), use()
    assert _counts(module) == [2] * 8 + ["me", [1, 1], [1, 1], {"a": 2}]
    assert unrelated(case, source) == []
    assert _counts(module) == [2] * 8 + ["me", [1, 1], [1, 1], {"a": 2}]
    trial.failure({"app/a.py": source + "plain.calls = 7\n1/0\n"}, "patch")
    assert _counts(module) == [2] * 8 + ["me", [1, 1], [1, 1], {"a": 2}]
    assert case.patch(source.replace("return 1", "return 2")) == []
    assert use() == [2] * 9
    assert _counts(module) == [3] * 8 + ["me", [1] * 3, [1] * 3, {"a": 3}]


# What a source says of a function's attribute, before and after; what it holds then.
ATTRIBUTES: dict[str, tuple[str, str, object]] = {
    "another constant": ("f.x = 0", "f.x = 1", 1),
    "a name": ("K = 0\nf.x = K", "K = 1\nf.x = K", 1),
    "computed": ("f.x = int('0')", "f.x = int('1')", 1),
    "not any more": ("f.x = 0", "", None),
    "set twice in one": ("f.x = f.y = 0", "f.x = f.y = 1", 1),
    "another kind": ("f.x = []", "f.x = {}", {}),
    "one that is named": ("X = []\nf.x = X", "X = []\nf.x = X", []),
    "what is put in, and was": ("f.x = {'a': 0}", "f.x = {'a': 0}", {"a": 0, "b": 5}),
    "what is put in": ("f.x = []", "f.x = []\nf.x.append(3)", [5, 3]),
    "a decorator that is gone": ("def mark(g): g.x = 0; return g\nf = mark(f)", "", None),
}


@pytest.mark.parametrize(("before", "after", "expected"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_an_attribute_of_a_function_that_the_source_begins_otherwise_begins_anew(
    trial: Trial, before: str, after: str, expected: object
) -> None:
    function = "def f(self=None): self.x = 1\n"
    case = Case(trial, f"{function}{before}\n{OTHER}")
    f = case.module.f
    kept = getattr(f, "x", None)
    f.x = [*kept, 5] if isinstance(kept, list) else {"a": 5, "b": 5} if isinstance(kept, dict) else 5
    assert case.patch(f"{function}{after}\n{OTHER}") == []
    assert case.module.f is f
    assert getattr(f, "x", None) == expected


def test_handlers_that_a_source_registers_with_an_attribute_of_a_function_are_its_own(trial: Trial) -> None:
    source = (
        "def run(name): return run.by[name]()\nrun.by = {}\n"
        "def handler(fn):\n    run.by[fn.__name__] = fn\n    return fn\n@handler\ndef one(): return 1\n"
    )
    two = "@handler\ndef two(): return 2\n"
    case = Case(trial, source)
    run = case.module.run
    assert case.patch(source.replace("return 1", "return 10") + two) == []
    assert (run("one"), run("two")) == (10, 2)
    run.by["three"] = lambda: 3
    assert case.patch(source.replace("return 1", "return 100") + two) == []
    assert (run("one"), run("two"), run("three")) == (100, 2, 3)
    assert case.patch(source) == []
    assert set(run.by) == {"one", "three"}


# What a source makes, before and after, and what somebody did meanwhile; what stands there then.
BEGINNINGS = {
    "another expression": ("t = {}", "t = {'k': 1}", {"k": 1}),
    "another value of a name": ("K = 1\n    t = {'k': K}", "K = 2\n    t = {'k': K}", {"k": 2}),
    "computed, and less": ("K = 'ab'\n    t = dict.fromkeys(K)", "K = 'a'\n    t = dict.fromkeys(K)", {"a": None}),
    "a comprehension": ("K = 'ab'\n    t = {k: 1 for k in K}", "K = 'a'\n    t = {k: 1 for k in K}", {"a": 1}),
    "another kind": ("t = {}", "t = dict()", {}),
    "the same": ("t = {'k': 1}", "t = {'k': 1}", {"k": 1, "x": 1}),
    "computed, and empty": ("t = dict()", "t = dict()", {"x": 1}),
}


@pytest.mark.parametrize(("before", "after", "expected"), BEGINNINGS.values(), ids=BEGINNINGS)
def test_a_container_that_the_source_begins_otherwise_begins_anew(
    trial: Trial, before: str, after: str, expected: dict[str, object]
) -> None:
    flat = [text.replace("\n    ", "\n") for text in (before, after)]
    case = Case(trial, f"class A:\n    {before}\n{flat[0]}\ndef f(): return t\n")
    case.module.A.t["x"] = case.module.t["x"] = 1
    case.patch(f"class A:\n    {after}\n{flat[1]}\ndef f(): return t\n")
    assert case.module.A.t == case.module.t == expected


def test_what_statements_at_the_top_level_fill_is_made_anew(trial: Trial) -> None:
    case = Case(trial, "T = []\nT.append(1)\nT.append(2)\n")
    case.patch("T = []\nT.append(2)\n")
    assert case.module.T == [2]


def test_a_list_from_which_something_was_taken_meanwhile_is_left_as_it_is(trial: Trial) -> None:
    case = Case(trial, "class R:\n    rows = []\n" + OTHER)
    case.module.R.rows += [1, 2]
    assert case.patch("class R:\n    rows = []\n" + OTHER + "R.rows[:1] = []\nR.rows.append(3)\n") == []
    assert case.module.R.rows == [2, 3]
