"""Uses that were kept: decoded piece by piece, and the same as all at once."""

from __future__ import annotations

import msgspec
import pytest

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.kept import kept, recalled
from bae_source.syntax.names.reading import uses_of
from bae_source.syntax.text.source import Source

TEXT = """\
from app import client as c
class A(c.Base):
    def f(self, x: "c.Item"):
        self.go = c.Go()
        return x.send(getattr(x, "go"), go=1)
"""


@pytest.fixture
def worked_out() -> u.Uses:
    return uses_of(Source(TEXT.encode()))


def encoded(uses: u.Uses) -> bytes:
    return msgspec.msgpack.encode(kept(uses))


def test_each_piece_is_the_same_whatever_is_asked_first(worked_out: u.Uses) -> None:
    for number in reversed(range(len(worked_out.scopes))):
        found = recalled(encoded(worked_out))
        assert found.scopes[number] == worked_out.scopes[number]
        assert found.scopes[number] is found.scopes[number]
    for name in worked_out.mentions:
        found = recalled(encoded(worked_out))
        assert found.mentions[name] == worked_out.mentions[name]
        assert found.strings.get(name) == worked_out.strings.get(name)
    for number, expression in enumerate(worked_out.expressions):
        assert recalled(encoded(worked_out)).expressions[number] == expression


def test_they_can_be_looked_at_like_those_that_were_worked_out(worked_out: u.Uses) -> None:
    found = recalled(encoded(worked_out))
    assert found == worked_out
    assert worked_out == found
    assert list(found.scopes) == list(worked_out.scopes)
    assert found.scopes[1:] == list(worked_out.scopes[1:])
    assert tuple(found.expressions[:2]) == tuple(worked_out.expressions[:2])
    assert len(found.expressions) == len(worked_out.expressions)
    assert dict(found.mentions) == worked_out.mentions
    assert len(found.strings) == len(worked_out.strings)
    assert "send" in found.mentions
    assert "receive" not in found.mentions
    with pytest.raises(KeyError):
        found.mentions["receive"]
    with pytest.raises(IndexError):
        found.scopes[len(found.scopes)]


def test_different_uses_are_different(worked_out: u.Uses) -> None:
    found = recalled(encoded(worked_out))
    other = recalled(encoded(uses_of(Source(TEXT.replace("send", "take").encode()))))
    assert found != other
    assert found.scopes == other.scopes


@pytest.mark.parametrize(
    "names", [[], ["a"], ["a", "aa", "aaa", "b", "ab", "ba"], [f"n{each}" for each in range(100)], ["é", "名"]]
)
def test_a_name_is_distinguished_from_longer_ones(names: list[str]) -> None:
    worked_out = uses_of(Source("".join(f"{name}.x{name}\n" for name in names).encode()))
    found = recalled(encoded(worked_out))
    assert list(found.mentions) == list(worked_out.mentions)
    assert {name: found.mentions[name] for name in reversed([*worked_out.mentions])} == worked_out.mentions
    for absent in ("", "\n", "c", "x", "a\nxa", "\na", "b\n", "n10\nxn10\nn11"):
        assert absent not in found.mentions
        assert found.mentions.get(absent) is None


def test_many_expressions_are_found_by_their_numbers_from_both_ends() -> None:
    worked_out = uses_of(Source("".join(f"a{each}.b{each}()\n" for each in range(70)).encode()))
    whole, length = tuple(worked_out.expressions), len(worked_out.expressions)
    assert length > 200
    for number in (length - 1, 0, 31, 32, -1, -length, 63, 64):
        assert recalled(encoded(worked_out)).expressions[number] == whole[number]
    found = recalled(encoded(worked_out)).expressions
    assert tuple(found[20:40]) == whole[20:40]
    for number in (length, -length - 1):
        with pytest.raises(IndexError):
            found[number]


@pytest.mark.parametrize("content", [b"", b"\x01", b"\xc1", b"\x91\x01", b"\x99" + b"\x90" * 9])
def test_what_are_no_uses_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        recalled(content)
