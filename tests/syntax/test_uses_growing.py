"""Uses that grow as they are asked: in the end the same as if all had been looked into at once, and never less."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from bae_source.errors import SourceError
from bae_source.syntax.names import kept as uses_kept
from bae_source.syntax.names import uses as u
from bae_source.syntax.names.growing import has_grown, headers, holds
from bae_source.syntax.names.kept import kept, recalled
from bae_source.syntax.names.reading import uses_of
from bae_source.syntax.text.source import Source
from tests.syntax.test_uses import SOURCES, sample

SEED = 20261123
TEXT = """\
import app
from app import client


def early(x):
    y = x
    return y.send()


class Client(client.Base):
    kind = "plain"

    def __init__(self, wire):
        self.wire = wire
        self.__secret = 1

    def go(self):
        print(self.wire)
        return app.Wire(self.__secret)

    @classmethod
    def make(klass):
        klass.made = [
            klass() for each in range(3)
        ]

    def several(self):
        value = 1
        yield value

    def loud(self):
        # it speaks
        self.wire = [self.wire
                     for each in ()], "send"
"""


def lean(content: bytes, *words: str) -> u.Uses:
    """Return the uses of a file as another process leaves them out, and as they are recalled from the cache."""
    return recalled(msgspec.msgpack.encode(kept(uses_of(Source(content), words))))


def text(*words: str) -> u.Uses:
    return lean(TEXT.encode(), *words)


def left(uses: u.Uses) -> list[str]:
    """Return the functions that nobody has looked into."""
    return sorted(uses.owners[headers(uses)[each.scope].owner] for each in uses.left_out)


ALL = ["Client.__init__", "Client.go", "Client.loud", "Client.make", "Client.several", "early"]


class Told:
    """What uses say, without the numbers that depend on the order in which it was found."""

    def __init__(self, uses: u.Uses) -> None:
        self.uses = uses
        self.scopes: dict[int, object] = {}

    def all(self) -> list[object]:
        uses = self.uses
        mentions = Counter(
            (name, line, column, self.scope(scope), kind, self.receiver(kind, receiver), uses.owners[owner])
            for name, found in uses.mentions.items()
            for line, column, scope, kind, receiver, owner in found
        )
        strings = Counter(
            (name, each.line, each.column, uses.owners[each.owner], each.text)
            for name, found in uses.strings.items()
            for each in found
        )
        scopes = Counter(self.scope(number) for number in range(len(uses.scopes)))
        bound = Counter(self.bound(scope) for scope in uses.scopes)
        elsewhere = {name: found for name in uses.bound if (found := uses.bound[name])}
        bound[self.names(elsewhere)] += 1
        rest = [uses.imports, uses.stars, uses.exported, uses.exports_known, uses.whole, Counter(uses.owners)]
        return [mentions, strings, scopes, bound, *rest]

    def scope(self, number: int) -> object:
        if number < 0:
            return None
        if number not in self.scopes:
            each = self.uses.scopes[number]
            lines = tuple(sorted((name, *(binding[3] for binding in found)) for name, found in each.names.items()))
            self.scopes[number] = (each.kind, self.scope(each.parent), self.uses.owners[each.owner], lines)
        return self.scopes[number]

    def bound(self, scope: u.Scope) -> object:
        return (
            scope.kind,
            self.uses.owners[scope.owner],
            tuple(map(self.expression, scope.bases)),
            tuple(sorted(scope.flags)),
            tuple(map(self.expression, scope.returns)),
            self.names(scope.names),
            self.names(scope.attributes),
        )

    def names(self, names: object) -> object:
        assert hasattr(names, "items")
        return tuple(
            sorted((name, tuple(sorted(map(repr, map(self.binding, found))))) for name, found in names.items())
        )

    def binding(self, binding: u.Binding) -> object:
        how, first, second, line = binding
        if how in (u.FUNCTION, u.CLASS):
            return how, self.scope(first), self.expression(second), line
        if how in (u.INSTANCE, u.OWN_CLASS):
            return how, self.scope(first), line
        if how in (u.ASSIGNED, u.ANNOTATED, u.PARAMETER, u.CAUGHT, u.DECLARED, u.OTHER):
            return how, self.expression(first), self.expression(second) if how == u.ANNOTATED else 0, line
        if how == u.SET:
            return how, self.expression(first), self.receiver(how, second), line
        return binding

    def receiver(self, kind: int, receiver: int) -> object:
        return receiver if receiver < 0 or kind == u.IMPORT else self.expression(receiver)

    def expression(self, number: int) -> object:
        form = self.uses.expressions[number]
        if not form:
            return form
        if form[0] == u.NAME:
            return form[0], form[1], self.scope(int(form[2]))
        if form[0] == u.SUPER:
            return form[0], self.scope(int(form[1])), self.expression(int(form[2]))
        if form[0] in (u.ATTRIBUTE, u.PART):
            return form[0], self.expression(int(form[1])), form[2]
        return form[0], *(self.expression(each) if isinstance(each, int) else each for each in form[1:])


def same(content: bytes, uses: u.Uses) -> None:
    """See that uses say what is said of a file that is looked into as a whole."""
    assert Told(uses).all() == Told(uses_of(Source(content))).all()
    assert not uses.left_out


def test_functions_without_the_words_are_left_out() -> None:
    assert left(text()) == ALL
    assert left(text("Wire")) == [name for name in ALL if name != "Client.go"]
    assert left(text("send", "nobody")) == [name for name in ALL if name not in ("early", "Client.loud")]


@pytest.mark.parametrize(
    "suite",
    ["global g\n    g = 1", "import os\n    os.x", "def g():\n        nonlocal y\n        y = 2\n    y = 1",
     "class C:\n        x = 1\n    return C", "x.__class__ = A\n    return x", "return 1",
     "with x as (y, [*A.x]):\n        pass", "setattr(x, 'y', A)\n    x",
     "try:\n        y = 1\n    except A:\n        for x.y, y in A:\n            pass",
     "x = 'se' 'nd'\n    return x", "x: 'se'  # so\n    return ('fi'\n        f'nd')", 'x = "se"\'nd\'\n    return x',
     "x = 's\\x65nd'\n    return x", "x = 'se\\\nnd'\n    return x", "\ufb01nd()\n    return 1"],
)  # fmt: skip
def test_what_may_matter_outside_is_never_left_out(suite: str) -> None:
    content = f"def f(x, A):\n    {suite}\n".encode()
    assert not lean(content, "send", "find").left_out
    same(content, lean(content, "send"))


@pytest.mark.parametrize(
    "suite",
    ["y = 1\n    x.y = y", "for y in x:\n        if y:\n            A.y: int = 1", "x.y += 1\n    x",
     "x[0].y = 1\n    x", "match x:\n        case 1:\n            x.y = A", "def g():\n        x.y = A\n    return g",
     "x(x).y, x = 1, 2\n    x", "(x,\n     x.y) = A", "A = x.y = 1\n    A", "with x: x.y = A\n    x",
     "x . y = A; x\n    x", "x.\\\n        y = 1"],
)  # fmt: skip
def test_attributes_of_others_are_looked_for_where_they_may_be_bound(suite: str) -> None:
    content = f"def f(x, A):\n    {suite}\n\ndef g(x):\n    z = x.y\n    return x.y(y=z)\n".encode()
    found = lean(content)
    assert "g" in left(found)
    assert found.bound["y"]
    assert "g" in left(found)
    same(content, found)
    same(content, lean(content))


def test_who_asks_for_a_name_is_told_of_every_mention() -> None:
    found = text()
    assert [mention[0] for mention in found.mentions["Wire"]] == [19]
    assert left(found) == [name for name in ALL if name != "Client.go"]
    assert "nobody" not in found.mentions
    assert len(found.left_out) == 5
    assert [each.line for each in found.strings["send"]] == [34]
    assert left(found) == ["Client.__init__", "Client.make", "Client.several"]
    assert len(found.mentions["_Client__secret"]) == 2
    assert left(found) == ["Client.make", "Client.several"]


def test_a_scope_is_whole_when_it_is_given_out() -> None:
    whole, found = text(*TEXT.split()), text()
    for function in ("several", "early"):
        [[_, number, *_]] = found.scopes[0].names.get(function) or headers(found)[2].names[function]
        assert "generator" not in headers(found)[number].flags
        scope = found.scopes[number]
        assert scope.returns or "generator" in scope.flags
    same(TEXT.encode(), whole)


def test_attributes_of_self_are_looked_for_where_they_may_be_assigned() -> None:
    found = text()
    client = next(number for number, scope in enumerate(headers(found)) if scope.kind == u.CLASS_SCOPE)
    assert "go" not in found.scopes[client].attributes
    assert left(found) == ALL
    assert [binding[3] for binding in found.scopes[client].attributes["made"]] == [23]
    assert left(found) == [name for name in ALL if name != "Client.make"]
    assert sorted(binding[3] for binding in found.scopes[client].attributes["wire"]) == [14, 33]
    assert len(found.scopes[client].attributes.get("_Client__secret", ())) == 1
    assert left(found) == ["Client.go", "Client.several", "early"]
    assert set(found.scopes[client].attributes) == {"wire", "made", "_Client__secret"}


@pytest.mark.parametrize(
    "statement",
    ["self.x = 1", "self.x: int = 1", "self.x += 1", "self.x, y = 1, 2", "[y, self.x] = 1, 2", "(self.x) = 1",
     "for self.x in (): pass", "with y as self.x: pass", "with y as (self.x, z): pass", "self . x = 1",
     "(self.\n        # so\n        x) = 1", "self.\\\n        x = 1", "*self.x, y = 1, 2", "self.x \\\n        = 1"],
)  # fmt: skip
def test_no_way_to_assign_an_attribute_is_missed(statement: str) -> None:
    content = f"class A:\n    def f(self, y):\n        {statement}\n        return y\n".encode()
    assert "x" in lean(content).scopes[1].attributes


def test_an_attribute_that_is_only_used_leaves_a_suite_alone() -> None:
    found = lean(
        b"class A:\n    def f(self, y):\n        self.x.go()\n        self.x[0] = self.x (1)\n        return y\n"
    )
    assert "x" not in found.scopes[1].attributes
    assert left(found) == ["A.f"]


@pytest.mark.parametrize("name", ["größe", "名前", "_A__größe"])
@pytest.mark.parametrize("suite", ["return x.größe, x.名前", "x = 1\n        return x.__größe, 'a.名前', 'größe'"])
def test_a_name_outside_of_ascii_is_found_in_what_was_left_out(suite: str, name: str) -> None:
    content = f"class A:\n    def f(self, x):\n        {suite}\n".encode()
    whole, found = uses_of(Source(content)), lean(content, "nobody")
    assert left(found) == ["A.f"]
    assert "ö" not in found.mentions
    assert (name in found.mentions, name in found.strings) == (name in whole.mentions, name in whole.strings)
    same(content, lean(content, "nobody"))


def test_what_was_left_out_is_not_decoded_before_a_word_stands_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[u.LeftOut] = []
    decode = uses_kept._LEFT_OUT
    monkeypatch.setattr(uses_kept, "_LEFT_OUT", lambda piece: decoded.append(decode(piece)) or decoded[-1])
    found = text()
    client = next(number for number, scope in enumerate(headers(found)) if scope.kind == u.CLASS_SCOPE)
    assert "nobody" not in found.mentions
    assert "go" not in found.scopes[client].attributes
    assert not holds(found, ["nobody", "nothing"])
    assert len(found.left_out) == len(ALL)
    assert not decoded
    assert holds(found, ["nobody", "several"]) is False
    assert "made" in found.scopes[client].attributes
    assert "Client.make" not in left(found)


@pytest.mark.parametrize("path", [*sample(1, count=12), *sample(3, count=6)], ids=lambda path: path.stem)
def test_what_is_asked_piece_by_piece_comes_to_what_is_known_at_once(path: Path) -> None:
    content = path.read_bytes()
    whole, chosen = uses_of(Source(content)), random.Random(f"{SEED} {path.name}")
    names = [*whole.mentions, *whole.strings]
    found = lean(content, *chosen.sample(names, min(2, len(names))))
    for name in chosen.sample(names, min(12, len(names))):
        assert places(found.mentions.get(name, ())) == places(whole.mentions.get(name, ()))
        assert {(each.line, each.column, each.text) for each in found.strings.get(name, ())} == {
            (each.line, each.column, each.text) for each in whole.strings.get(name, ())
        }
    for number in chosen.sample(range(len(headers(found))), min(6, len(headers(found)))):
        assert found.scopes[number].kind == headers(found)[number].kind
    found = recalled(msgspec.msgpack.encode(kept(found)))  # as the next process finds it
    same(content, found)


def places(mentions: Sequence[u.Mention]) -> list[tuple[int, int, int]]:
    return sorted((mention[0], mention[1], mention[3]) for mention in mentions)


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*.py")), ids=lambda path: path.stem)
def test_a_nasty_file_grows_to_what_it_is(path: Path) -> None:
    content = path.read_bytes()
    assert code(lambda: lean(content)) == code(lambda: uses_of(Source(content)))
    if not code(lambda: lean(content)):
        same(content, lean(content))


def code(read: Callable[[], u.Uses]) -> str:
    try:
        read()
    except SourceError as error:
        return error.code
    return ""


def test_what_has_grown_is_kept_as_it_has() -> None:
    found = text()
    assert not has_grown(found)
    assert found.mentions["Wire"]
    assert has_grown(found)
    again = recalled(msgspec.msgpack.encode(kept(found)))
    assert left(again) == left(found) == [name for name in ALL if name != "Client.go"]
    assert again.mentions["Wire"] == found.mentions["Wire"]
    assert not has_grown(again)
    same(TEXT.encode(), again)


@pytest.mark.parametrize("ask", [lambda uses: uses.scopes, lambda uses: uses.owners, lambda uses: uses.expressions,
                                 lambda uses: uses.mentions, lambda uses: uses.strings])  # fmt: skip
def test_who_goes_through_all_of_something_has_all_of_it(ask: Callable[[u.Uses], Collection[object]]) -> None:
    whole = uses_of(Source(TEXT.encode()))
    assert len(ask(text())) >= len(ask(whole)) > 0
    assert len(list(ask(text()))) == len(ask(text()))
    found = text()
    iter(ask(found)).__next__()
    assert left(found) == []


def test_who_asks_again_and_again_has_all_of_it() -> None:
    found = text()
    for name in ("Wire", "klass", "value"):
        assert found.mentions[name]
    assert left(found) == ["Client.__init__", "Client.loud", "early"]
    assert found.mentions["y"]
    assert left(found) == []


def test_numbers_stay_what_they_were() -> None:
    found = text("send")
    before = {name: found.mentions[name] for name in ("send", "x", "y")}
    forms = [found.expressions[mention[4]] for each in before.values() for mention in each if mention[4] > 0]
    same(TEXT.encode(), found)
    assert {name: found.mentions[name][: len(each)] for name, each in before.items()} == before
    assert [found.expressions[mention[4]] for each in before.values() for mention in each if mention[4] > 0] == forms


def test_threads_may_ask_at_once() -> None:
    path = sample(2, count=1)[0]
    whole = uses_of(Source(path.read_bytes()))
    names = list(whole.mentions)
    for turn in range(5):
        found = lean(path.read_bytes())
        asked = random.Random(f"{SEED} {turn}").sample(names, min(60, len(names)))
        with ThreadPoolExecutor(6) as threads:
            answers = list(threads.map(found.mentions.get, asked))
        for name, answer in zip(asked, answers, strict=True):
            assert places(answer or ()) == places(whole.mentions[name])
        same(path.read_bytes(), found)


def from_below(depth: int, ask: Callable[[], object]) -> object:
    return ask() if not depth else from_below(depth - 1, ask)


def deep(terms: int) -> bytes:
    lines = ["y = x", "def g(): return y", "self.z = g", f"return {'+'.join(['x'] * terms)} + send"]
    return "class A:\n  def f(self, x):\n    {}\n".format("\n    ".join(lines)).encode()


def test_code_that_is_too_deep_from_where_it_is_asked_is_looked_into_from_the_top() -> None:
    found = lean(deep(150))
    assert left(found) == ["A.f"]
    assert from_below(700, lambda: found.mentions.get("send"))
    same(deep(150), found)


def test_code_that_is_too_deep_from_anywhere_is_listed_word_by_word() -> None:
    content = deep(2_000)
    found = lean(content)
    assert left(found) == ["A.f"]
    assert [mention[3] for mention in found.mentions["send"]] == [u.MENTION]
    assert len(found.mentions["x"]) > 1_000
    assert [found.owners[mention[5]] for mention in found.mentions["send"]] == ["A.f"]
    assert not found.whole
    assert left(found) == []
    assert len(found.scopes[1].attributes["z"]) == 1, "what is not too deep is known, once"
    again = recalled(msgspec.msgpack.encode(kept(found)))
    assert again.mentions["send"] == found.mentions["send"]
    assert not again.whole
