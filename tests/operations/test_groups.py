"""A group of definitions that is one symbol is neither left without what it needs nor torn apart without a word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused

BEFORE = """\
from typing import Protocol, overload

mine = property


class A:
    def remote(cls):
        return 1

    remote = classmethod(remote)

    @property
    def size(self):
        return 1

    @size.setter
    def size(self, value):
        pass


def test_it():
    assert 1


def test_it():
    assert 2


def plain(a):
    return a


@overload
def f(a: int) -> int: ...
@overload
def f(a: str) -> str: ...
def f(a):
    return a


class P(Protocol):
    def g(self, a): ...


NAMES = [1]
NAMES += [2]
"""
OVERLOADS = "@overload\ndef {0}(a: int) -> int: ...\n@overload\ndef {0}(a: str) -> str: ..."
IMPLEMENTATION = "\ndef {0}(a):\n    return a, 1\n"

REFUSED: dict[str, tuple[Callable[[Source], object], str]] = {
    "a method for itself and what is made of it": (
        lambda it: it.edit("m.A.remote", "@classmethod\ndef remote(cls):\n    return 2"),
        r"remote is 2 definitions: m.A.remote\[0\], m.A.remote\[1\]; .* would drop m.A.remote\[1\]",
    ),
    "one test for two": (
        lambda it: it.edit("m.test_it", "def test_it():\n    assert 3"),
        r"would drop 1 of m.test_it\[0\], m.test_it\[1\]",
    ),
    "overloads for a function": (
        lambda it: it.edit("m.plain", OVERLOADS.format("plain")),
        "plain would be left without its implementation",
    ),
    "overloads without the implementation": (lambda it: it.edit("m.f", OVERLOADS.format("f")), "would drop m.f@impl"),
    "one overload for two": (
        lambda it: it.edit("m.f", "@overload\ndef f(a: int) -> int: ..." + IMPLEMENTATION.format("f")),
        r"would drop 1 of m.f@overload\[0\], m.f@overload\[1\]",
    ),
    "one overload for all of them by their role": (
        lambda it: it.edit("m.f@overload", "@overload\ndef f(a: int) -> int: ..."),
        r"would drop 1 of m.f@overload\[0\], m.f@overload\[1\]",
    ),
    "a getter for a property": (
        lambda it: it.edit("m.A.size", "@property\ndef size(self):\n    return 2"),
        "would drop m.A.size@setter",
    ),
    "a list for one that grows": (lambda it: it.edit("m.NAMES", "NAMES = [3]"), r"would drop 1 of m.NAMES\[0\]"),
    "a text that makes the implementation an overload": (
        lambda it: it.edit("m.f", old="def f(a):", new="@overload\ndef f(a):"),
        "f would be left without its implementation",
    ),
    "a text that takes the getter's decorator": (
        lambda it: it.edit("m.A.size", old="    @property\n", new="    @size.deleter\n"),
        "hangs on its getter",
    ),
    "no implementation": (lambda it: it.delete("m.f@impl"), "f would be left without its implementation"),
    "no implementation by its number": (lambda it: it.delete("m.f[2]"), "f would be left without its implementation"),
    "no getter": (lambda it: it.delete("m.A.size@getter"), "The setter of size hangs on its getter"),
    "no method for what is made of it": (
        lambda it: it.delete("m.A.remote[0]"),
        r"m.A.remote\[1\] uses the remote above it",
    ),
    "no list for what it grows by": (lambda it: it.delete("m.NAMES[0]"), r"m.NAMES\[1\] uses the NAMES above it"),
}

DONE: dict[str, Callable[[Source], object]] = {
    "both": lambda it: it.edit("m.A.remote", "def remote(cls):\n    return 2\n\nremote = classmethod(remote)"),
    "one of both": lambda it: it.edit("m.A.remote[0]", "def remote(cls):\n    return 2"),
    "what is made of it goes": lambda it: it.delete("m.A.remote[1]"),
    "all of it goes": lambda it: it.delete("m.A.remote"),
    "two tests": lambda it: it.edit("m.test_it", "def test_it():\n    assert 3\n\n\ndef test_it():\n    assert 4"),
    "one test of two goes": lambda it: it.delete("m.test_it[0]"),
    "overloads and an implementation": lambda it: it.edit(
        "m.plain", OVERLOADS.format("plain") + IMPLEMENTATION.format("plain")
    ),
    "a whole group": lambda it: it.edit("m.f", OVERLOADS.format("f") + IMPLEMENTATION.format("f")),
    "the overloads go": lambda it: it.delete("m.f@overload"),
    "the implementation": lambda it: it.edit("m.f@impl", "def f(a):\n    return 2"),
    "a setter goes": lambda it: it.delete("m.A.size@setter"),
    "overloads of a protocol": lambda it: it.edit("m.P.g", OVERLOADS.format("g")),
    "overloads of a stub": lambda it: it.edit("s@stub.h", OVERLOADS.format("h")),
    "a decorator of one's own for a getter": lambda it: it.edit(
        "m.A.size", "@mine\ndef size(self):\n    return 2\n\n@size.setter\ndef size(self, value):\n    pass"
    ),
}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "m.py").write_text(BEFORE)
    (tmp_path / "s.py").write_text("def h(a):\n    return a\n")
    (tmp_path / "s.pyi").write_text("from typing import overload\n\ndef h(a): ...\n")
    return Source(tmp_path)


@pytest.mark.parametrize("what", REFUSED)
def test_a_member_of_a_group_is_not_lost_without_a_word(source: Source, tmp_path: Path, what: str) -> None:
    call, message = REFUSED[what]
    with pytest.raises(Refused, match=message) as caught:
        call(source)
    assert caught.value.code == "unsafe_change"
    assert caught.value.hints
    assert (tmp_path / "m.py").read_text() == BEFORE


@pytest.mark.parametrize("what", DONE)
def test_a_whole_group_or_one_of_it_is_changed_as_asked(source: Source, what: str) -> None:
    DONE[what](source)
    assert source.history() != "(no operations)"


def test_what_a_group_lacks_already_is_not_asked_of_a_change(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("from typing import overload\n\n\n" + OVERLOADS.format("f") + "\n")
    source = Source(tmp_path)
    source.edit("m.f", OVERLOADS.format("f").replace("str", "bytes"), reload="off")
    source.edit("m.f@overload[0]", "@overload\ndef f(a: None) -> int: ...", reload="off")
    source.delete("m.f@overload[1]", reload="off")
