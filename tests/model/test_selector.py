"""The grammar of selectors: what it lets in comes back as it was, and what it does not says why."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bae_source.errors import RequestError
from bae_source.model.address import Address, Marker, Part, Segment
from bae_source.model.selector import MAX_LENGTH, Selector, parse_selector, selector_of

IDENTIFIERS = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]*", fullmatch=True).filter(str.isascii)
PATHS = st.lists(IDENTIFIERS, min_size=1, max_size=4).map(tuple)
SELECTORS = st.one_of(
    st.builds(lambda path: Selector(kind="mod", path=path), PATHS),
    st.builds(lambda path, names: Selector(kind="type", path=path, names=names), PATHS, PATHS),
)
#: The grammar once more, written down independently.
EBNF = re.compile(r"sym://python/(mod/{0}(/{0})*|type/{0}(/{0})+(#{0}(\.{0})*)?)\Z".format("[a-zA-Z_][a-zA-Z0-9_]*"))


def refused(text: str) -> RequestError:
    with pytest.raises(RequestError) as caught:
        parse_selector(text)
    assert caught.value.details["sym"] == text
    return caught.value


@given(SELECTORS)
def test_a_selector_is_parsed_back_from_its_own_text(selector: Selector) -> None:
    assert parse_selector(str(selector)) == selector


@given(st.one_of(st.text(max_size=40), st.from_regex(r"sym://(python|js)/(mod|type)/[a-z/#._0-9]*", fullmatch=True)))
def test_a_text_is_let_in_exactly_if_the_grammar_lets_it_in(text: str) -> None:
    if EBNF.match(text):
        assert str(parse_selector(text)) == text
    else:
        assert refused(text).code in ("invalid_selector_syntax", "language_not_supported")


@given(SELECTORS, st.text(min_size=1, max_size=3), st.integers(min_value=0))
def test_a_text_put_into_a_selector_is_never_passed_over(selector: Selector, extra: str, at: int) -> None:
    text = str(selector)
    at %= len(text) + 1
    changed = text[:at] + extra + text[at:]
    if EBNF.match(changed):
        assert str(parse_selector(changed)) == changed
    else:
        refused(changed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sym://python/mod/utils", Selector(kind="mod", path=("utils",))),
        ("sym://python/mod/pkg/__init__", Selector(kind="mod", path=("pkg", "__init__"))),
        ("sym://python/type/m/f", Selector(kind="type", path=("m",), names=("f",))),
        ("sym://python/type/a/b/C#d", Selector(kind="type", path=("a", "b"), names=("C", "d"))),
        ("sym://python/type/a/C#Inner.method", Selector(kind="type", path=("a",), names=("C", "Inner", "method"))),
        ("sym://python/mod/class", Selector(kind="mod", path=("class",))),
    ],
)
def test_a_selector_says_what_it_asks_for(text: str, expected: Selector) -> None:
    assert parse_selector(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "does not begin with sym://"),
        ("pkg.mod", "does not begin with sym://"),
        ("SYM://python/mod/x", "does not begin with sym://"),
        (" sym://python/mod/x", "does not begin with sym://"),
        ("sym://", "'' is no language"),
        ("sym:///mod/x", "'' is no language"),
        ("sym://py-thon/mod/x", "'py-thon' is no language"),
        ("sym://python", "'' is neither mod nor type"),
        ("sym://python/func/x", "'func' is neither mod nor type"),
        ("sym://python/Mod/x", "'Mod' is neither mod nor type"),
        ("sym://python/mod", "'' is no component"),
        ("sym://python/mod/", "'' is no component"),
        ("sym://python/mod/a//b", "'' is no component"),
        ("sym://python/mod/a/", "'' is no component"),
        ("sym://python/mod/a.b", "'a.b' is no component"),
        ("sym://python/mod/../b", "'..' is no component"),
        ("sym://python/mod/0001_initial", "'0001_initial' is no component"),
        ("sym://python/mod/müsli", "'müsli' is no component"),
        ("sym://python/mod/x\n", "is no component"),
        ("sym://python/mod/x\0", "is no component"),
        ("sym://python/mod/x.py", "'x.py' has a file extension"),
        ("sym://python/mod/x.pyi", "'x.pyi' has a file extension"),
        ("sym://python/mod/x#f", "a mod takes no #member"),
        ("sym://python/type/x", "a type is named behind its module"),
        ("sym://python/type/x#f", "a type is named behind its module"),
        ("sym://python/type/x/C#", "'' is no member's name"),
        ("sym://python/type/x/C#a..b", "'' is no member's name"),
        ("sym://python/type/x/C#a#b", "'a#b' is no member's name"),
        ("sym://python/type/x/C#f[0]", "'f[0]' is no member's name"),
        ("sym://python/type/x/C?exact", "'C?exact' is no component"),
        (f"sym://python/mod/{'x' * MAX_LENGTH}", "characters, more than 4,096"),
    ],
)
def test_what_is_outside_the_grammar_is_refused_with_the_reason(text: str, reason: str) -> None:
    error = refused(text)
    assert error.code == "invalid_selector_syntax"
    assert reason in error.details["reason"]
    assert len(error.message) < 400
    assert error.hints


@pytest.mark.parametrize(
    "text", ["sym://js/mod/x", "sym://Python/mod/x", "sym://rust/type/a/B#c", "sym://python3/mod/x"]
)
def test_a_well_formed_selector_of_another_language_has_an_error_of_its_own(text: str) -> None:
    assert refused(text).code == "language_not_supported"


@pytest.mark.parametrize("text", ["sym://js/mod/x#f", "sym://js/type/x", "sym://js/mod/x.ts"])
def test_a_malformed_one_of_another_language_is_malformed(text: str) -> None:
    assert refused(text).code == "invalid_selector_syntax"


def address(module: str, *names: str, **more: object) -> Address:
    return Address(module=module, qualname=tuple(map(Segment, names)), **more)  # type: ignore[arg-type]


def test_an_address_has_a_selector_where_the_grammar_can_say_it() -> None:
    assert str(selector_of(address("a.b"))) == "sym://python/mod/a/b"
    assert str(selector_of(address("a.b", "C"))) == "sym://python/type/a/b/C"
    assert str(selector_of(address("b", "C", "D", "m"))) == "sym://python/type/b/C#D.m"


@pytest.mark.parametrize(
    "without",
    [
        address("migrations.0001_initial"),
        address("a", "größe"),
        address("a", "f", part=Part.BODY),
        address("a", marker=Marker.STUB),
        address("a", resource="b.css"),
        Address(module="a", qualname=(Segment("f", index=1),)),
        Address(module="a", qualname=(Segment("x", accessor="setter"),)),
    ],
    ids=str,
)
def test_an_address_that_the_grammar_cannot_say_has_no_selector(without: Address) -> None:
    assert selector_of(without) is None


def test_what_is_inside_is_named_where_it_can_be() -> None:
    module = parse_selector("sym://python/mod/a/b")
    inside = module.inside("C")
    assert str(inside) == "sym://python/type/a/b/C"
    assert inside is not None
    assert str(inside.inside("m")) == "sym://python/type/a/b/C#m"
    assert inside.inside("größe") is None
