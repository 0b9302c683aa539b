"""Names are written as they are parsed, and what no project could hold is refused with a next step."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bae_source.errors import RequestError
from bae_source.model.address import Address, DottedName, Marker, Part, Segment, parse_name

QUICK = settings(derandomize=True, deadline=None, max_examples=100, database=None)

IDENTIFIERS = st.sampled_from(
    ["a", "_", "__init__", "C", "x1", "größe", "名前", "match", "class", "locals", "getter", "body", "impl", "module"]
) | st.from_regex(r"[A-Za-z_]\w{0,8}", fullmatch=True).map(lambda text: unicodedata.normalize("NFKC", text)).filter(
    str.isidentifier
)
STEMS = IDENTIFIERS | st.sampled_from(["0001_initial", "my-script", "0002_post-slug", "a+b", "a b", "2"])
SEGMENTS = st.one_of(
    st.builds(Segment, IDENTIFIERS),
    st.builds(Segment, IDENTIFIERS, index=st.integers(0, 999_999)),
    st.builds(Segment, IDENTIFIERS, accessor=st.sampled_from(["getter", "setter", "deleter", "overload", "impl"])),
    st.builds(Segment, IDENTIFIERS, accessor=st.just("overload"), number=st.integers(0, 999_999)),
)
PARTS = st.none() | st.sampled_from(Part)


@st.composite
def names(draw: st.DrawFn) -> DottedName:
    module = [Segment(stem) for stem in draw(st.lists(STEMS, min_size=1, max_size=4))]
    marker = draw(st.none() | st.sampled_from(Marker))
    qualname = draw(st.lists(SEGMENTS, max_size=4))
    marked = (len(module), marker) if marker else None
    return DottedName(segments=(*module, *qualname), marked=marked, part=draw(PARTS))


@QUICK
@given(names())
def test_a_name_that_is_written_and_parsed_is_the_same_name(name: DottedName) -> None:
    text = str(name)
    assert parse_name(text) == name
    assert str(parse_name(text)) == text


@QUICK
@given(
    st.lists(STEMS, min_size=1, max_size=3), st.lists(SEGMENTS, max_size=3), PARTS, st.none() | st.sampled_from(Marker)
)
def test_an_address_is_written_as_the_name_that_leads_to_it(
    module: list[str], qualname: list[Segment], part: Part | None, marker: Marker | None
) -> None:
    address = Address(module=".".join(module), qualname=tuple(qualname), part=part, marker=marker)
    name = parse_name(str(address))
    assert str(name) == str(address)
    assert name.segments == (*map(Segment, module), *qualname)
    assert address.name == (qualname[-1].name if qualname else module[-1])
    assert address.whole.part is None
    assert str(address).startswith(str(address.whole))


@QUICK
@given(st.lists(STEMS, min_size=1, max_size=3), st.from_regex(r"[\w.-]{1,8}(/[\w.-]{1,8}){0,3}", fullmatch=True))
def test_a_data_file_is_named_by_its_package_and_its_path(package: list[str], path: str) -> None:
    text = f"{'.'.join(package)}:{path}"
    if any(part in (".", "..") for part in path.split("/")):
        with pytest.raises(RequestError):
            parse_name(text)
        return
    assert str(parse_name(text)) == text
    assert parse_name(text).resource == path


@QUICK
@given(st.text(max_size=40) | st.text(".@[]<>:/\\_ab01overloadbody \0\n", max_size=30))
def test_any_text_is_a_name_that_comes_back_or_is_refused_with_a_hint(text: str) -> None:
    try:
        name = parse_name(text)
    except RequestError as error:
        _check_refusal(error)
        return
    assert parse_name(str(name)) == name


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("m.outer.<locals>.inner", "m.outer.inner"),
        ("m.ﬁnd", "m.find"),
        ("m.f[007]", "m.f[7]"),
        ("m.f@overload[0]@body", "m.f@overload[0]@body"),
        ("p.q@module.r@setter@signature", "p.q@module.r@setter@signature"),
        ("m@stub.f", "m@stub.f"),
        ("m@docstring", "m@docstring"),
    ],
)
def test_a_name_has_one_spelling(text: str, written: str) -> None:
    assert str(parse_name(text)) == written
    assert str(parse_name(written)) == written


@pytest.mark.parametrize(
    "text",
    [
        "", ".", "..", "a..b", ".a", "a.", "a/b", "a\\b", "a.py:3", "./a.pyi", "a\0b", "a\nb", "a[", "a[]", "a[-1]",
        "a[1]b", "a[1][2]", "a@", "a@nothing", "a@body.b", "a@body@body", "a@setter@getter", "a@setter[1]",
        "a@module@module", "a@module.b@module", "a@stub.b@module", "a[1]@module", "a@body[1]", "a[0]@setter",
        "<locals>.a", "a.<locals>", "a.<locals>.", "a:b:c", "a:", ":", ":/b", ":b//c", ":../b", ":b:c", "a:/b",
        "a:b//c", "a:../b", "a:b/..",
        "a@body:b", "a[1]:b", "a:b\\c", " a", "a ", "a-", "-a", "a!b", "a" * 1001, ".".join("a" * 101),
    ],
)  # fmt: skip
def test_what_is_no_name_is_refused_with_a_next_step(text: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_name(text)
    _check_refusal(caught.value)


def _check_refusal(error: RequestError) -> None:
    assert error.code == "invalid_name"
    assert error.hints
    assert len(error.message) < 1_300


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("pkg/mod.py", "pkg.mod"),
        ("src/pkg/__init__.py", "pkg"),
        ("./a.py", "a"),
        ("a\\b.py", "a.b"),
        ("a.py:12", "a"),
        ("a/b", "a.b"),
    ],
)
def test_a_path_is_refused_with_the_name_that_it_means(path: str, meant: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_name(path)
    assert any(f" {meant}." in hint for hint in caught.value.hints)
