"""Signatures and calls: what is read, and that a rewritten call gives every parameter what it gave before."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bae_source.syntax.signatures.arguments import Change, Lacking, Left
from bae_source.syntax.signatures.headers import header_splices, led_along
from bae_source.syntax.signatures.items import Wanted, arranged, call_of, spans_in_call
from bae_source.syntax.signatures.signature import Signature, given_signature, header_at, tokens

_NAMES = ("a", "b", "c", "d", "e")
_KINDS = ("alone", "any", "keyword")


def signature(text: str) -> Signature:
    found = given_signature(text)
    assert isinstance(found, Signature), found
    return found


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("def f(a, b=(1, 2), *c, d: int = lambda x, y: 1, **k) -> dict[str, int]:", None),
        pytest.param("async def f[T](a: T, /, b) -> T: ...", "(a: T, /, b) -> T", id="type parameters"),
        ("(a, *, b)", "(a, *, b)"),
        ("f(a)", "(a)"),
        ("()", "()"),
        ("(a, # one\n b,)", "(a, b)"),
        ("(a: 'x, y' = ')', b='(')", "(a: 'x, y' = ')', b='(')"),
        ("(a: An[\n int], /, *b: str, c=[1,\r 2]) -> X", "(a, /, *b, c=[1, 2])"),
        (f"(a: {'X' * 300} = 1, **b)", "(a=1, **b)"),
    ],
)
def test_a_signature_is_read_however_it_is_written(text: str, shown: str | None) -> None:
    expected = shown or "(a, b=(1, 2), *c, d: int = lambda x, y: 1, **k) -> dict[str, int]"
    assert signature(text).shown() == expected


@pytest.mark.parametrize(
    "text",
    ["", "a, b", "(a", "(a=1, b)", "(a, a)", "(a b)", "def f", "(a) -> ", "(*)", "(a, /, /)", "(" * 500 + ")" * 500],
)
def test_what_is_no_signature_says_why(text: str) -> None:
    assert isinstance(given_signature(text), str)


def test_the_header_of_a_function_is_found_where_it_stands() -> None:
    text = "class C:\n    async def f(self, a=g(')'),  # one\n          *b) -> 'x':  # two\n        pass\n"
    header = header_at(text, text.index("def"))
    assert header is not None
    assert header.signature.is_async
    assert [each.name for each in header.signature.parameters] == ["self", "a", "b"]
    assert text[header.end] == ":"
    assert header.signature.returns == "'x'"
    splices = header_splices(text, header, signature("(self, *b, a=g(')'), k)"), "\n")
    assert splices is not None
    for span, new in sorted(splices, reverse=True):
        text = text[: span.start] + new + text[span.end :]
    assert text.startswith("class C:\n    async def f(self, *b,  # one\n          a=g(')'), k):  # two\n")


@pytest.mark.parametrize(
    ("own", "after", "expected"),
    [
        ("(self, a, extra=0)", "(self, a, t)", "(self, a, t, extra=0)"),
        ("(self, x)", "(self, a, *, t=1)", "(self, x, *, t=1)"),
        ("(self, *args, **kw)", "(self, a, t)", "(self, *args, **kw)"),
        ("(self, a: int, *, extra)", "(self, t, a)", "(self, t, a: int, *, extra)"),
        ("(self, a)", "(self)", "(self)"),
    ],
)
def test_a_method_that_overrides_another_goes_along(own: str, after: str, expected: str) -> None:
    found = led_along(signature(own), signature("(self, a)"), signature(after))
    assert isinstance(found, Signature)
    assert found.shown() == expected


def test_a_method_below_that_has_no_place_for_a_parameter_says_so() -> None:
    assert isinstance(led_along(signature("(a, b=1)"), signature("(a, c)"), signature("(a, c, d)")), str)


@st.composite
def signatures(draw: st.DrawFn) -> str:
    """Draw parameters of every kind, in an order that Python takes."""
    names = draw(st.lists(st.sampled_from(_NAMES), unique=True, max_size=5))
    kinds = sorted(draw(st.lists(st.sampled_from(_KINDS), min_size=len(names), max_size=len(names))), key=_KINDS.index)
    parts: list[str] = []
    has_default = False
    has_rest, has_options = draw(st.booleans()), draw(st.booleans())
    for number, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        has_default = draw(st.booleans()) if kind == "keyword" else has_default or draw(st.booleans())
        if kind == "keyword" and "keyword" not in kinds[:number]:
            parts.append("*rest" if has_rest else "*")
        parts.append(f"{name}={name!r}" if has_default else name)
        if kind == "alone" and "alone" not in kinds[number + 1 :]:
            parts.append("/")
    if has_rest and "keyword" not in kinds:
        parts.append("*rest")
    return f"({', '.join([*parts, *(['**options'] if has_options else [])])})"


@st.composite
def calls(draw: st.DrawFn) -> str:
    """Draw arguments of every kind."""
    alone = [str(number) for number in range(draw(st.integers(0, 4)))]
    named = [
        f"{name}={number + 10}"
        for number, name in enumerate(draw(st.lists(st.sampled_from(_NAMES), unique=True, max_size=4)))
    ]
    stars = draw(st.sampled_from(["", "*[70, 71]", "*[]"])), draw(st.sampled_from(["", "**{'c': 80}", "**{}"]))
    return f"({', '.join(filter(None, [*alone, stars[0], *named, stars[1]]))})"


def _function(text: str) -> Callable[..., dict[str, Any]]:
    scope: dict[str, Any] = {}
    exec(f"def f{text}: return dict(locals())", scope)
    return scope["f"]  # type: ignore[no-any-return]


@given(before=signatures(), after=signatures(), call=calls())
def test_a_rewritten_call_gives_every_parameter_what_it_gave(before: str, after: str, call: str) -> None:
    try:
        old = eval(f"f{call}", {"f": _function(before)})
    except TypeError:
        return  # no call of it
    except SyntaxError:
        return
    known = signature(before)
    new_ones = {name: "99" for name in _NAMES if name not in known.named}
    change = Change(before=known, after=signature(after), given=new_ones)
    written = change.rewritten(call, 0, "\n")
    if isinstance(written, (Left, Lacking)):
        return
    new = eval(f"f{written}", {"f": _function(after)})
    by_keyword = {name for name, each in change.after.named.items() if each.is_by_keyword}
    options = old.get("options", {})
    for name in change.after.named:
        given_before = old[name] if name in change.before.named else options.get(name) if name in by_keyword else None
        if given_before is None:
            assert new[name] == 99, (written, old, new)
        else:
            assert new[name] == given_before, (written, old, new)
    if "rest" in old and "rest" in new:
        assert new["rest"] == old["rest"]
    if "options" in old and "options" in new:
        assert new["options"] == {name: value for name, value in options.items() if name not in by_keyword}
    if change.is_compatible and not {*change.after.named} - {*change.before.named}:
        assert written == call


@given(before=signatures(), after=signatures())
def test_a_header_becomes_the_signature_that_is_wanted(before: str, after: str) -> None:
    text = f"def f{before}:\n    pass\n"
    header = header_at(text, 0)
    assert header is not None
    splices = header_splices(text, header, signature(after), "\n")
    assert splices is not None
    for span, new in sorted(splices, reverse=True):
        text = text[: span.start] + new + text[span.end :]
    scope: dict[str, Any] = {}
    exec(text, scope)
    assert inspect.signature(scope["f"]) == inspect.signature(_function(after))
    assert tokens(signature(after).parameters) == tokens(signature(str(inspect.signature(scope["f"]))).parameters)


@pytest.mark.parametrize(
    ("text", "wanted", "expected"),
    [
        ("(a, b, c)", [Wanted(2), Wanted(text="x=1"), Wanted(0)], "(c, x=1, a)"),
        ("()", [Wanted(text="x")], "(x)"),
        ("(\n    a,  # one\n    b,  # two\n)", [Wanted(1), Wanted(0)], "(\n    b,  # two\n    a,  # one\n)"),
        ("(\r\n\ta,  # one\r\n\tb,\r\n)", [Wanted(1), Wanted(0)], "(\r\n\tb,\r\n\ta,  # one\r\n)"),
        ("((a), lambda x, y: 1)", [Wanted(1)], "(lambda x, y: 1)"),
        ("(x for x in y)", [Wanted(0)], "(x for x in y)"),
    ],
)
def test_items_stay_as_they_are_written(text: str, wanted: list[Wanted], expected: str) -> None:
    call = call_of(text)
    assert call is not None
    assert arranged(text, spans_in_call(text, call), wanted, "\n") == expected
