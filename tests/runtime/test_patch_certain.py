"""A patch changes an object only where it is certain which new definition it is, and names what it leaves."""

from __future__ import annotations

import gc

import pytest

from tests.runtime.support import Trial
from tests.runtime.test_patch import Case, load

BUS = "SUBS = {}\ndef on(name, fn=None):\n    return SUBS.setdefault(name, fn) if fn else lambda fn: on(name, fn)\n"
OPEN = "(which of the new ones it became is not certain)"

# What registers functions that have no name of their own, before and after; what the registered ones answer then.
REGISTERED = {
    "exchanged": (
        "@on('delete')\ndef _(): return 'deleted'\n@on('save')\ndef _(): return 'saved'\n",
        "@on('save')\ndef _(): return 'saved'\n@on('delete')\ndef _(): return 'deleted'\n",
        {"delete": "deleted", "save": "saved"},
        "",
    ),
    "exchanged and changed": (
        "@on('delete')\ndef _(): return 'deleted'\n@on('save')\ndef _(): return 'saved'\n",
        "@on('save')\ndef _(): return 'SAVED'\n@on('delete')\ndef _(): return 'DELETED'\n",
        {"delete": "DELETED", "save": "SAVED"},
        "",
    ),
    "one goes, one comes": (
        "def start():\n    on('save', lambda: 'saved')\n    on('delete', lambda: 'deleted')\nstart()\n",
        "def start():\n    on('open', lambda: 'opened')\n    on('save', lambda: 'saved')\n",
        {"save": "saved", "delete": "deleted"},
        f"start.<locals>.<lambda> {OPEN}",
    ),
    "one changes": (
        "def start():\n    for x in [lambda: 'a', lambda: 'b', lambda: 'c']: on(x(), x)\nstart()\n",
        "def start():\n    for x in [lambda: 'a', lambda: 'B', lambda: 'c']: on(x(), x)\n",
        {"a": "a", "b": "B", "c": "c"},
        "",
    ),
    "two change": (
        "def start():\n    for x in [lambda: 'a', lambda: 'b', lambda: 'c']: on(x(), x)\nstart()\n",
        "def start():\n    for x in [lambda: 'A', lambda: 'B', lambda: 'c']: on(x(), x)\n",
        {"a": "a", "b": "b", "c": "c"},
        f"start.<locals>.<lambda> {OPEN}",
    ),
    "another statement": (
        "def start():\n    on('save', lambda: 'saved')\nstart()\n",
        "def start():\n    on('open', lambda: 'opened')\n",
        {"save": "saved"},
        f"start.<locals>.<lambda> {OPEN}",
    ),
    "a name that two have": (
        "@on('delete')\ndef f(): return 'deleted'\n@on('save')\ndef f(): return 'saved'\n",
        "on('x', print)\n@on('save')\ndef f(): return 'saved'\n@on('delete')\ndef f(): return 'deleted'\n",
        {"delete": "deleted", "save": "saved", "x": None},
        "f (its name stands for another of its definitions now)",
    ),
}


@pytest.mark.parametrize(("before", "after", "expected", "left"), REGISTERED.values(), ids=REGISTERED)
def test_what_is_registered_under_a_key_takes_no_code_of_another_one(
    trial: Trial, before: str, after: str, expected: dict[str, object], left: str
) -> None:
    trial.write("app/bus.py", BUS)
    case = Case(trial, "from app.bus import on\n" + before)
    messages = case.patch("from app.bus import on\n" + after)
    assert {name: fn() for name, fn in load("app.bus").SUBS.items()} == expected
    still = [
        each for each in messages if not each.startswith("holds_old_objects: app.bus still hold old objects of app.a")
    ]
    assert still == ([f"not_patched: app.a: {left}."] if left else [])
    assert len(messages) == len(still) or left, "who holds what was left is told beside it"


MORE = "(it changed beside the code of its functions, and its metaclass may keep more of it than can be seen)"
META = (
    "class M(type):\n    tags = {}\n"
    "    def __new__(mcs, name, bases, space, tag=None): return super().__new__(mcs, name, bases, space)\n"
    "    def __init__(cls, name, bases, space, tag=None): M.tags.setdefault(name, tag)\n"
)
INIT = "import enum\nclass A(enum.Enum):\n    X = 1\n    def __init__(self, n): self.more = n * 10\n"
NEW = (
    "import enum\nclass A(enum.Enum):\n    X = 1\n    def __new__(cls, n):\n        made = object.__new__(cls)\n"
    "        made._value_, made.more = n, [n]\n        return made\n"
)

# Classes that keep something elsewhere than in their `__dict__`: the source, what is changed in it, and the reason.
KEEPING = {
    "default": ("import msgspec\nclass A(msgspec.Struct):\n    x: int = 1\n", ("= 1", "= 5"), MORE),
    "type": ("import msgspec\nclass A(msgspec.Struct):\n    x: int = 1\n", ("int", "str"), MORE),
    "frozen": ("import msgspec\nclass A(msgspec.Struct):\n    x: int = 1\n", ("Struct)", "Struct, frozen=True)"), MORE),
    "tag": ("import msgspec\nclass A(msgspec.Struct, tag='a'):\n    x: int = 1\n", ("'a'", "'b'"), MORE),
    "own metaclass": (META + "class A(metaclass=M, tag=1):\n    x = 1\n", ("tag=1)", "tag=2)"), MORE),
    "members made otherwise": (INIT, ("* 10", "* 20"), "(its members changed)"),
    "members of other objects": (NEW, ("[n]", "[n, n]"), "(its members changed)"),
    "boundary": (
        "import enum\nclass A(enum.Flag):\n    X = 1\n",
        ("Flag)", "Flag, boundary=enum.KEEP)"),
        "(its members changed)",
    ),
}


@pytest.mark.parametrize(("source", "change", "reason"), KEEPING.values(), ids=KEEPING)
def test_a_class_that_keeps_something_out_of_sight_takes_its_functions_alone(
    trial: Trial, source: str, change: tuple[str, str], reason: str
) -> None:
    source += "    def m(self): return 1\n"
    case = Case(trial, source)
    cls = case.module.A
    made = getattr(cls, "X", None) or cls()
    changed = source.replace("return 1", "return 2")
    assert case.patch(changed) == []
    assert case.module.A is cls
    assert made.m() == 2
    messages = case.patch(changed.replace(*change).replace("return 2", "return 3"))
    assert messages[0] == f"not_patched: app.a: A {reason}."
    assert made.m() == 2
    assert case.module.A is not cls


def test_functions_of_two_branches_that_are_exchanged_stay_what_they_are(trial: Trial) -> None:
    source = (
        "def make(kind):\n    if kind == {!r}:\n        def run(): return {!r}\n"
        "    else:\n        def run(): return {!r}\n    return run\n"
    )
    case = Case(trial, source.format("a", "a", "b"))
    a, b = case.module.make("a"), case.module.make("b")
    assert case.patch(source.format("b", "b", "a")) == []
    assert (a(), b(), case.module.make("a")(), case.module.make("b")()) == ("a", "b", "a", "b")
    (message,) = case.patch(source.format("a", "A", "B"))
    assert message == f"not_patched: app.a: make.<locals>.run {OPEN}."
    assert (a(), b()) == ("a", "b")


def test_methods_of_a_singledispatch_without_a_name_of_their_own_are_not_exchanged(trial: Trial) -> None:
    head = "import functools\nclass A:\n    @functools.singledispatchmethod\n    def m(self, x): return 0\n"
    one = "    @m.register\n    def _(self, x: int): return 'int'\n"
    two = "    @m.register\n    def _(self, x: str): return 'str'\n"
    case = Case(trial, head + one + two)
    a = case.module.A()
    kept = vars(case.module.A)["_"]
    assert case.patch(head + two + one) == []
    assert (a.m(1), a.m("x"), kept(a, 0)) == ("int", "str", "str")


def test_functions_made_in_a_loop_keep_what_each_was_made_with_and_run_the_new_code(trial: Trial) -> None:
    source = (
        "HANDLERS = {}\nfor name in 'abc':\n    def handler(n=name): return n, 1\n    HANDLERS[name] = handler\n"
        "def other(): return 1\n"
    )
    case = Case(trial, source)
    kept = dict(case.module.HANDLERS)
    assert case.patch(source.replace("other(): return 1", "other(): return 2")) == []
    assert {name: fn()[0] for name, fn in kept.items()} == {"a": "a", "b": "b", "c": "c"}
    assert {name: fn()[0] for name, fn in case.module.HANDLERS.items()} == {"a": "a", "b": "b", "c": "c"}
    assert case.patch(source.replace("n, 1", "n, 2")) == []
    assert [fn() for fn in kept.values()] == [("a", 2), ("b", 2), ("c", 2)]
    case.patch(source.replace("'abc'", "'d'").replace("n, 1", "n, 3"))
    assert [fn() for fn in kept.values()] == [("a", 3), ("b", 3), ("c", 3)]


def test_classes_made_in_a_loop_are_left_alone_and_named(trial: Trial) -> None:
    source = (
        "KINDS = {}\nfor name in 'abc':\n    class Kind:\n        n = name\n        def m(self): return 1\n"
        "    KINDS[name] = Kind\n"
    )
    case = Case(trial, source)
    kept = {name: cls() for name, cls in case.module.KINDS.items()}
    messages = case.patch(source.replace("return 1", "return 2"))
    assert messages[0] == "not_patched: app.a: Kind (it is made in a loop)."
    assert {name: (kind.n, kind.m()) for name, kind in kept.items()} == {name: (name, 1) for name in "abc"}
    assert {name: (kind.n, kind().m()) for name, kind in case.module.KINDS.items()} == {n: (n, 2) for n in "abc"}


HANDLED = {
    "an import": ("try:\n    import no_such as x\nexcept ImportError:\n    x = None\n", []),
    "one in another": (
        "try:\n    try:\n        import no_such as x\n    except KeyError:\n        x = 1\n"
        "except ImportError as error:\n    x = 2\n",
        [],
    ),
    "in a loop before it": ("for i in 'ab':\n    try:\n        int(i)\n    except ValueError:\n        continue\n", []),
    "with": ("import contextlib\nwith contextlib.suppress(ValueError):\n    int('x')\n", []),
    "in a loop around it": ("", ["not_patched: app.a: A (it is made in a loop)."]),
}


@pytest.mark.parametrize(("before", "expected"), HANDLED.values(), ids=HANDLED)
def test_what_handles_an_exception_makes_no_loop_of_what_stands_around_it(
    trial: Trial, before: str, expected: list[str]
) -> None:
    cls = "class A:\n    def m(self): return 1\n"
    if expected:
        inner = "".join(f"        {line}\n" for line in cls.splitlines())
        cls = f"while True:\n    try:\n{inner}        int('x')\n    except ValueError:\n        done = 1\n"
        cls += "    if done: break\n"
    source = f"{before}{cls}def other(): return 1\n"
    case = Case(trial, source)
    kept = case.module.A()
    assert case.patch(source.replace("return 1\n", "return 2\n")) == expected
    assert (kept.m(), case.module.other()) == (1 if expected else 2, 2)


def test_what_a_loop_sets_on_a_class_is_of_the_round_that_set_it(trial: Trial) -> None:
    source = (
        "class V: pass\nfor op in ('add', 'sub'):\n    def method(self, op=op): return op\n    setattr(V, op, method)\n"
    )
    case = Case(trial, source)
    v = case.module.V()
    add, sub = v.add, v.sub
    assert case.patch(source + "def other(): return 1\n") == []
    assert (v.add(), v.sub(), add(), sub()) == ("add", "sub", "add", "sub")


def test_a_nested_function_that_was_renamed_is_named(trial: Trial) -> None:
    source = "def retry(fn):\n    def wrapper(): return {}, fn()\n    return wrapper\n"
    case = Case(trial, source.format(1))
    trial.write("app/user.py", "from app.a import retry\n@retry\ndef g(): return 'g'\n")
    g = load("app.user").g
    unpatched, holding = case.patch(source.format(2).replace("wrapper", "inner"))
    assert holding.startswith("holds_old_objects: app.user still hold old objects of app.a")
    assert unpatched == (
        "not_patched: app.a: retry.<locals>.wrapper "
        "(none has that name now, and one that was made before keeps the old code)."
    )
    assert g() == (1, "g")


def test_changed_defaults_of_a_nested_function_are_named(trial: Trial) -> None:
    source = "def make():\n    def inner(a=1): return a, 'old'\n    return inner\n"
    case = Case(trial, source)
    inner = case.module.make()
    assert case.patch(source.replace("old", "new")) == []
    assert inner() == (1, "new")
    (message,) = case.patch(source.replace("a=1", "a=2"))
    assert message == (
        "not_patched: app.a: make.<locals>.inner "
        "(its statement changed, and one that was made before keeps its defaults)."
    )
    assert (inner(), case.module.make()()) == ((1, "old"), (2, "old"))


# A name that stands for something else than before.
REBOUND = {
    "alias": ("def fast(): return 1\ndef slow(): return 2\nit = fast\n", ("it = fast", "it = slow")),
    "foreign": ("from json import loads as it\n", ("json import loads", "ast import literal_eval")),
    "class": ("class A: pass\nit = A\n", ("it = A", "class it: pass")),
    "built-in": ("it = len\n", ("len", "sum")),
}


@pytest.mark.parametrize(("source", "change"), REBOUND.values(), ids=REBOUND)
def test_a_name_that_stands_for_something_else_is_named(trial: Trial, source: str, change: tuple[str, str]) -> None:
    case = Case(trial, source)
    trial.write("app/user.py", "from app.a import it\n")
    kept = load("app.user").it
    assert case.patch(source + "def other(): return 1\n") == []
    messages = case.patch(source.replace(*change))
    assert messages[0] == "not_patched: app.a: it (it is something else now)."
    assert case.module.it is not kept


def test_a_class_that_says_what_its_instances_are_is_patched(trial: Trial) -> None:
    source = (
        "class Look:\n    def __set_name__(self, owner, name): self.name = name\n"
        "    def __get__(self, made, owner=None): return int if made is not None else self\n"
        "class Proxy:\n    __class__ = Look()\n    def m(self): return 1\n"
        "class Other:\n    @property\n    def __class__(self): return str\n"
    )
    case = Case(trial, source)
    proxy, other = case.module.Proxy(), case.module.Other()
    assert case.patch(source.replace("return 1", "return 2").replace("return str", "return bytes")) == []
    assert (proxy.m(), proxy.__class__, other.__class__) == (2, int, bytes)
    messages = case.patch(source.replace("__class__ = Look()", "__class__ = property(lambda self: str)"))
    assert messages[0] == "not_patched: app.a: Proxy (its __class__ changed)."
    assert (proxy.m(), proxy.__class__) == (2, int)


def test_a_module_whose_objects_are_set_aside_is_named(trial: Trial) -> None:
    source = "def deco(fn):\n    def call(): return 1\n    return call\n@deco\ndef f(): return 1\n"
    case = Case(trial, source)
    trial.write("app/user.py", "from app.a import f, deco\n@deco\ndef g(): pass\n")
    user = load("app.user")
    gc.freeze()
    try:
        unpatched, holding = case.patch(source.replace("return 1", "return 2"))
    finally:
        gc.unfreeze()
    assert unpatched.startswith("not_patched: app.a: gc.freeze set the objects aside")
    assert holding.startswith("holds_old_objects: app.user still hold")
    assert (user.f(), user.g()) == (2, 1)


def test_a_function_whose_name_is_a_class_now_does_not_run_the_body_of_the_class(trial: Trial) -> None:
    source = "def turns(): return 1\ndef outer():\n    def inner(): return 1\n    return inner\n"
    case = Case(trial, source)
    trial.write("app/user.py", "from app.a import outer, turns\nmade = outer()\n")
    user = load("app.user")
    changed = source.replace("def turns(): return 1", "class turns: pass")
    messages = case.patch(changed.replace("def inner(): return 1", "class inner: pass"))
    assert "turns (it is something else now)" in messages[0]
    assert "outer.<locals>.inner (none has that name now" in messages[0]
    assert (user.turns(), user.made()) == (1, 1)
    assert isinstance(case.module.turns, type)


ON_TOP = (
    "import contextlib\n"
    "class Base:\n    def m(self): return 1\n    @contextlib.contextmanager\n    def c(self): yield 1\n"
    "class Below(Base):\n    def n(self): return self.m() + 1\n"
    "class Bare(Exception):\n    '''1'''\n"
    "class Made:\n    class Inner:\n        def m(self): return 1\n"
)


def test_classes_that_a_package_around_shows_as_its_own_are_patched(trial: Trial) -> None:
    case = Case(trial, ON_TOP)
    kept = [getattr(case.module, name) for name in ("Base", "Below", "Bare", "Made")]
    for cls in kept:
        cls.__module__ = "app"
    made = [kept[0](), kept[1](), kept[3].Inner()]
    assert case.patch(ON_TOP.replace("1", "2")) == []
    assert [getattr(case.module, name) for name in ("Base", "Below", "Bare", "Made")] == kept
    assert (made[0].m(), made[1].n(), made[2].m(), kept[2].__doc__) == (2, 4, 2, "2")
    assert {cls.__module__ for cls in kept} == {"app"}
    assert isinstance(made[1], case.module.Base)


def test_what_a_loop_set_on_an_enum_does_not_make_it_another_one(trial: Trial) -> None:
    source = (
        "import enum\nclass Codes(enum.IntEnum):\n    OK = 200\n    def m(self): return 1\n"
        "for code in Codes: setattr(Codes, code.name.lower(), int(code))\n"
    )
    case = Case(trial, source)
    kept = case.module.Codes
    assert case.patch(source.replace("return 1", "return 2")) == []
    assert case.module.Codes is kept
    assert (kept.OK.m(), kept.ok) == (2, 200)
    assert case.patch(source.replace("200", "201"))[0] == "not_patched: app.a: Codes (its members changed)."


def test_a_class_of_another_module_is_not_patched_though_a_package_around_shows_it(trial: Trial) -> None:
    case = Case(trial, "class A:\n    def m(self): return 1\n")
    trial.write("app/other.py", "class A:\n    def m(self): return 'other'\n")
    other = load("app.other").A
    other.__module__, case.module.A = "app", other
    messages = case.patch("class A:\n    def m(self): return 2\n")
    assert messages == ["not_patched: app.a: A (it is something else now)."]
    assert (other().m(), case.module.A().m()) == ("other", 2)
