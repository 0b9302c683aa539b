"""What a function calls has that function among its callers, at the same place and as surely."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source

_FILES = {
    "app/__init__.py": "",
    "app/core.py": """
from functools import partial
from typing import TypeVar

T = TypeVar("T", bound="Base")


def deco(x):
    def wrap(f):
        return f

    return wrap


class Base:
    size = 1

    def __init__(self, then):
        self.then = then
        self.__after = then

    @property
    def made(self):
        return Part()

    @made.setter
    def made(self, made): ...

    def run(self):
        self.then()
        self.__after()
        self.made.go()
        self.made = 1
        self.step()

    def step(self): ...


class Part:
    def go(self): ...


class Late:
    @property
    def kind(self):
        return 1

    other = 2

    @kind.setter
    def kind(self, kind): ...

    def use(self):
        self.kind = self.kind


def make(cls: type[T]) -> T:
    return cls(1)


def step(): ...


handler = step


def use(base: Base):
    @deco(1)
    def inner(): ...

    base.run()
    handler()
    partial(step, 1)()
    return make(Base)
""",
    "app/user.py": """
from app import core


def fake(): ...


class Fake:
    def go(self): ...


def install(base: core.Base, anything):
    base.then = fake
    base.step = fake
    anything.made = Fake()
    core.handler = fake
    core.handler()
    core.use(base)
""",
}


@pytest.mark.parametrize("module", ["app.core", "app.user"])
def test_callees_and_callers_agree(tmp_path: Path, module: str) -> None:
    for name, text in _FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    source = Source(tmp_path)
    called = [each for each in source.callees(module).outcome.found if each.address.startswith("app.")]
    assert len(called) >= 4
    for each in called:
        callers = {(c.module, c.line, c.column): c for c in source.callers(each.address).outcome.found}
        found = callers.get((module, each.line, each.column))
        assert found is not None, each
        assert found.certainty == each.certainty, (each, found.why)
