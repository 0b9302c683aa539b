"""Uses that were kept: decoded piece by piece, and the same as all at once."""

from __future__ import annotations

import msgspec
import pytest

from bae_source.syntax import uses as u
from bae_source.syntax.source import Source
from bae_source.syntax.uses_kept import recalled
from bae_source.syntax.uses_reading import uses_of

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


def test_each_piece_is_the_same_whatever_is_asked_first(worked_out: u.Uses) -> None:
    for number in reversed(range(len(worked_out.scopes))):
        kept = recalled(msgspec.msgpack.encode(worked_out))
        assert kept.scopes[number] == worked_out.scopes[number]
        assert kept.scopes[number] is kept.scopes[number]
    for name in worked_out.mentions:
        kept = recalled(msgspec.msgpack.encode(worked_out))
        assert kept.mentions[name] == worked_out.mentions[name]
        assert kept.strings.get(name) == worked_out.strings.get(name)
    for number, expression in enumerate(worked_out.expressions):
        assert recalled(msgspec.msgpack.encode(worked_out)).expressions[number] == expression


def test_they_can_be_looked_at_like_those_that_were_worked_out(worked_out: u.Uses) -> None:
    kept = recalled(msgspec.msgpack.encode(worked_out))
    assert kept == worked_out
    assert worked_out == kept
    assert list(kept.scopes) == list(worked_out.scopes)
    assert kept.scopes[1:] == list(worked_out.scopes[1:])
    assert tuple(kept.expressions[:2]) == tuple(worked_out.expressions[:2])
    assert len(kept.expressions) == len(worked_out.expressions)
    assert dict(kept.mentions) == worked_out.mentions
    assert len(kept.strings) == len(worked_out.strings)
    assert "send" in kept.mentions
    assert "receive" not in kept.mentions
    with pytest.raises(KeyError):
        kept.mentions["receive"]
    with pytest.raises(IndexError):
        kept.scopes[len(kept.scopes)]


def test_different_uses_are_different(worked_out: u.Uses) -> None:
    kept = recalled(msgspec.msgpack.encode(worked_out))
    other = recalled(msgspec.msgpack.encode(uses_of(Source(TEXT.replace("send", "take").encode()))))
    assert kept != other
    assert kept.scopes == other.scopes


@pytest.mark.parametrize("content", [b"", b"\x01", b"\xc1", b"\x91\x01", b"\x99" + b"\x90" * 9])
def test_what_are_no_uses_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        recalled(content)
