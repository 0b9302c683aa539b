"""A patch that makes a callable one of another kind: who holds it goes on with the old code, and it is named."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import subprocess
import sys
from typing import Any

import pytest

from tests.runtime.support import Trial

# Members of a class, by what they are called in a message; N stands for their name, V for their value.
KINDS = {
    "a function": "def N(*given): return 'V', len(given)",
    "a static method": "@staticmethod\ndef N(*given): return 'V', len(given)",
    "a class method": "@classmethod\ndef N(*given): return 'V', len(given), isinstance(given[0], type)",
    "a property": "@property\ndef N(self): return 'V'",
    "a cached property": "@functools.cached_property\ndef N(self): return 'V'",
    "a cached function": "@functools.cache\ndef N(*given): return 'V', len(given)",
    "a coroutine function": "async def N(*given): return 'V', len(given)",
    "a generator function": "def N(*given): yield 'V', len(given)",
    "an asynchronous generator function": "async def N(*given): yield 'V', len(given)",
    "an instance of Own": "@Own\ndef N(*given): return 'V', len(given)",
}
HEAD = (
    "import functools\nclass Own:\n    def __init__(self, fn): self.fn = fn\n"
    "    def __get__(self, instance, owner): return self.fn(owner)\n"
)


def named(kind: str) -> str:
    return "m_" + kind.replace(" ", "_")


def members(kinds: list[str], value: str, indent: str) -> str:
    """Return a suite with a member for each kind that the first one becomes, all of a kind."""
    texts = [KINDS[kind].replace("N", named(name)).replace("V", value) for name, kind in kinds]  # type: ignore[misc]
    return "".join(f"{indent}{line}\n" for text in texts for line in text.splitlines())


def of(kind: str) -> tuple[list[Any], list[Any]]:
    others = [each for each in KINDS if each != kind]
    return [(each, kind) for each in others], [(each, each) for each in others]


def outcome_of(stored: Any, instance: object) -> object:
    """Return what a member that was taken from the class's namespace comes to for an instance."""
    found = stored.__get__(instance, type(instance))
    found = found() if callable(found) else found
    if inspect.iscoroutine(found):
        return "awaited", asyncio.run(found)
    if inspect.isasyncgen(found):
        return "iterated", asyncio.run(anext(found))  # type: ignore[arg-type]
    return ("next", next(found)) if inspect.isgenerator(found) else found


def patch(trial: Trial, after: str) -> dict[str, str]:
    found = [(notice.code, notice.message) for notice in trial.change({"app/a.py": after}, "patch")]
    return dict(found)


@pytest.mark.sampled
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("around", ["", "class Around:\n    "])
def test_a_member_that_becomes_another_kind_is_named_and_what_is_held_goes_on(
    trial: Trial, kind: str, around: str
) -> None:
    indent = "        " if around else "    "
    before, after = of(kind)
    trial.write("app/a.py", f"{HEAD}{around}class A:\n{members(before, 'old', indent)}")
    module = importlib.import_module("app.a")
    cls = module.Around.A if around else module.A

    class Below(cls):  # type: ignore[misc, valid-type]
        pass

    def answers() -> dict[str, object]:
        fresh = {name: (cls(), Below()) for name in stored}  # a cached property answers a second time from its cache
        return {name: [outcome_of(stored[name], each) for each in fresh[name]] for name in stored}

    stored = {named(name): vars(cls)[named(name)] for name, _ in before}
    was = answers()
    messages = patch(trial, f"{HEAD}{around}class A:\n{members(after, 'new', indent)}")["not_patched"]
    for other, _ in after:
        reason = f"it was {kind} and is {other} now; what holds the old one keeps it"
        assert f"{cls.__qualname__}.{named(other)} ({reason})" in messages
    assert answers() == was
    assert "old" in str(was)
    fresh = [str(outcome_of(vars(cls)[name], Below())) for name in stored]
    assert all("new" in each for each in fresh)
    trial.take_back()
    assert {name: vars(cls)[name] for name in stored} == stored
    assert answers() == was


@pytest.mark.parametrize("kind", KINDS)
def test_a_member_that_stays_of_its_kind_takes_the_new_code_without_a_word(trial: Trial, kind: str) -> None:
    source = f"{HEAD}class A:\n{members([('it', kind)], 'old', '    ')}"  # type: ignore[list-item]
    trial.write("app/a.py", source)
    module = importlib.import_module("app.a")
    stored = vars(module.A)["m_it"]
    assert patch(trial, source.replace("old", "new")) == {}
    assert "new" in str(outcome_of(stored, module.A()))


FUNCTIONS = {
    "f": "def f(): return ['V']\n",
    "coroutine": "async def f(): return 'V'\n",
    "generator": "def f(): yield 'V'\n",
    "context": "@contextlib.contextmanager\ndef f(): yield 'V'\n",
    "asynchronous": "async def f(): yield 'V'\n",
    "cached": "@functools.cache\ndef f(): return ['V']\n",
}


def given(value: Any) -> object:
    """Return what a call of a function of the table gives in the end."""
    found = value()
    if hasattr(found, "__enter__"):
        with found as entered:
            return entered
    if inspect.iscoroutine(found):
        return asyncio.run(found)
    if inspect.isasyncgen(found):
        return asyncio.run(anext(found))  # type: ignore[arg-type]
    return next(found) if inspect.isgenerator(found) else found


@pytest.mark.sampled
@pytest.mark.parametrize("after", FUNCTIONS)
@pytest.mark.parametrize("before", FUNCTIONS)
def test_a_function_of_a_module_that_becomes_another_kind_is_named_or_is_still_right(
    trial: Trial, before: str, after: str
) -> None:
    head = "import contextlib, functools\n"
    trial.write("app/a.py", head + FUNCTIONS[before].replace("V", "old"))
    module = importlib.import_module("app.a")
    kept = module.f
    messages = patch(trial, head + FUNCTIONS[after].replace("V", "new"))
    assert "new" in str(given(module.f))
    if before == after:
        assert messages == {}
        assert module.f is kept
    else:
        assert "f (" in messages["not_patched"]
        assert str(given(kept)) in ("old", "new", "['old']", "['new']")


def test_the_reason_that_is_given_of_a_function_is_what_became_of_it(trial: Trial) -> None:
    trial.write("app/a.py", "def f(): return 1\n")
    importlib.import_module("app.a")
    assert patch(trial, "async def f(): return 1\n") == {
        "not_patched": "app.a: f (it was a function and is a coroutine function now; what holds the old one keeps it)."
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def m(self, x=0): return 'old', type(self).__name__", "@staticmethod\n    def m(self=0, x=0): return 'new'"),
        ("@staticmethod\n    def m(*given): return 'old'", "@classmethod\n    def m(*given): return 'new'"),
        ("def m(self): return 'old'", "async def m(self): return 'new'"),
    ],
)
def test_a_method_of_a_class_that_a_function_made_keeps_its_code_where_its_kind_changes(
    trial: Trial, before: str, after: str
) -> None:
    source = "def make():\n  class A:\n    M\n  return A\n"
    trial.write("app/a.py", source.replace("M", before))
    module = importlib.import_module("app.a")
    kept = module.make()().m
    was = kept()
    unpatched = patch(trial, source.replace("M", after))
    assert "make.<locals>.A.m (" in unpatched["not_patched"]
    assert kept() == was
    assert "new" in str(vars(module.make())["m"]) or module.make() is not type(kept)


def test_a_method_that_gets_or_loses_a_decorator_is_named(trial: Trial) -> None:
    head = "def twice(fn):\n    def wrapper(self): return fn(self) * 2\n    return wrapper\nclass A:\n"
    trial.write("app/a.py", head + "    def m(self): return 'a'\n    @twice\n    def n(self): return 'a'\n")
    module = importlib.import_module("app.a")
    messages = patch(trial, head + "    @twice\n    def m(self): return 'b'\n    def n(self): return 'b'\n")
    assert messages["not_patched"] == "app.a: A.m (its decorators changed), A.n (its decorators changed)."
    assert (module.A().m(), module.A().n()) == ("bb", "b")


def test_what_a_class_calls_by_another_name_and_private_members_are_named(trial: Trial) -> None:
    source = (
        "class A:\n    def _m(*given): return 1, len(given)\n    m = W(_m)\n    @W\n    def __n(*given): return 1\n"
    )
    trial.write("app/a.py", source.replace("W", "classmethod"))
    module = importlib.import_module("app.a")
    kept = module.A().m, module.A()._A__n
    messages = patch(trial, source.replace("W", "staticmethod"))["not_patched"]
    assert "A.m (it was a class method and is a static method now" in messages
    assert "A._A__n (it was a class method" in messages
    assert (kept[0](), kept[1]()) == ((1, 1), 1)
    assert (module.A().m(), module.A()._A__n()) == ((1, 0), 1)


def test_a_handler_that_another_module_keeps_still_gets_its_instance(trial: Trial) -> None:
    """A session of its own, with a bound method that was taken before."""
    trial.write("pyproject.toml", "[project]\nname = 'x'\nversion = '0'\n")
    trial.write("rm.py", "class A:\n    def m(self, x):\n        return ('self', x)\n")
    trial.write("other.py", "from rm import A\n\nHANDLER = A().m\n")
    new = "@classmethod\ndef m(cls, x):\n    return ('cls is a class:', isinstance(cls, type), x)\n"
    text = (
        f"import other, rm\nfrom bae_source import Source\nout = Source('.').edit('rm.A.m', {new!r}, reload='patch')\n"
        "print(other.HANDLER(1), rm.A().m(1))\nprint(*[each.message for each in out.warnings], sep='\\n')\n"
    )
    trial.write("go.py", text)
    ran = subprocess.run([sys.executable, "go.py"], cwd=trial.root, capture_output=True, text=True, check=True)
    results, unpatched, *_ = ran.stdout.splitlines()
    assert results == "('self', 1) ('cls is a class:', True, 1)"
    assert unpatched == "rm: A.m (it was a function and is a class method now; what holds the old one keeps it)."
