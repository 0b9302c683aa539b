"""A piece of text says what it drops and adds, and collides, as a whole new source does."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused

BEFORE = """\
import os


def dec(function):
    return function


class A:
    @dec
    def m(self):
        return 1

    def n(self):
        return 2

    @property
    def p(self):
        return 4


def f():
    return 3
"""


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "mod.py").write_text(BEFORE)
    return Source(tmp_path)


@pytest.mark.parametrize(
    ("target", "old", "name", "form"),
    [
        ("mod.A.m", "return 1", "n", "\n\n    def n(self):\n        return 5"),
        ("mod.A.m@body", "return 1", "n", "\n\n    n = 5"),
        ("mod.f", "return 3", "dec", "\n\n\ndef dec():\n    return 5"),
        ("mod.f", "return 3", "os", "\n\n\nos = 5"),
    ],
)
def test_a_piece_of_text_that_defines_a_present_name_beside_the_symbol_is_refused(
    source: Source, tmp_path: Path, target: str, old: str, name: str, form: str
) -> None:
    with pytest.raises(Refused, match=f"also defines {name}, which exists already") as caught:
        source.edit(target, old=old, new=old + form, reload="off")
    assert caught.value.code == "name_collision"
    assert (tmp_path / "mod.py").read_text() == BEFORE
    assert source.history() == "(no operations)"


@pytest.mark.parametrize("imports", [[], ["import re"]])
def test_a_definition_that_a_piece_of_text_adds_is_said_and_has_an_etag(source: Source, imports: list[str]) -> None:
    outcome = source.edit(
        "mod.A.m", old="return 1", new="return 1\n\n    def k(self): return 5", imports=imports, reload="off"
    )
    assert ("added", "Added beside m: k.") in [(each.code, each.message) for each in outcome.warnings]
    assert [each.address for each in outcome.changed] == ["mod.A.m", "mod.A.k"]
    assert outcome.changed[1].etag == source.read("mod.A.k").etag


@pytest.mark.parametrize(("target", "name"), [("mod.A.m", "m"), ("mod.A.m@decorators", "m"), ("mod.A", "A.m")])
def test_a_decorator_that_a_piece_of_text_drops_is_said(source: Source, target: str, name: str) -> None:
    outcome = source.edit(target, old="    @dec\n", new="", reload="off")
    assert [(each.code, each.message) for each in outcome.warnings] == [
        ("decorators_dropped", f"{name} no longer has @dec.")
    ]


def test_what_a_piece_of_text_adds_inside_of_a_class_is_said(source: Source) -> None:
    more = "return 1\n\n    def n(self): return 5\n\n    class K:\n        x = 1"
    outcome = source.edit("mod.A", old="return 1", new=more, reload="off")
    assert [(each.code, each.message) for each in outcome.warnings] == [
        ("added", "Added inside of A: another A.n, A.K.")
    ]


def test_an_accessor_that_a_piece_of_text_adds_belongs_to_the_property(source: Source) -> None:
    more = "return 4\n\n    @p.setter\n    def p(self, value):\n        self.q = value"
    assert not source.edit("mod.A.p", old="return 4", new=more, reload="off").warnings


def test_a_piece_of_text_that_drops_and_adds_nothing_gives_no_warning(source: Source) -> None:
    assert not source.edit("mod.A.m", old="return 1", new="return 1 + 1", reload="off").warnings
    assert not source.edit("mod.A", old="    def n(self):\n        return 2\n\n", new="", reload="off").warnings
