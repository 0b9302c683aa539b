"""What selectors mean in a project, asked through the Python API as callers do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, RequestError
from tests.integration.support import made

PROJECT = {
    "pyproject.toml": '[tool.bae-source]\nlanguage-server = "off"\n',
    "src/shop/__init__.py": "from shop.cart import Cart\nfrom .prices import total as sum_up\n",
    "src/shop/cart.py": (
        "import typing\n\n\nclass Cart:\n    LIMIT = 3\n\n    class Row:\n        def price(self): ...\n\n"
        "    def add(self): ...\n\n\ndef größe(): ...\n\n\nif typing.TYPE_CHECKING:\n    def checked(): ...\n"
    ),
    "src/shop/prices.py": (
        "from typing import overload\n\n\n@overload\ndef total(a: int) -> int: ...\n"
        "@overload\ndef total(a: str) -> str: ...\ndef total(a): return a\n"
    ),
    "src/shop/deep/cart.py": "class Basket: ...\n",
    "tests/test_cart.py": "def test(): ...\n",
    "build/lib/shop/prices.py": "class Stale: ...\n",
    "0day/scripts/tool.py": "def run(): ...\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return Source(made(tmp_path_factory.mktemp("shop"), PROJECT))


def symbols(source: Source, uri: str, **more: Any) -> dict[str, Any]:
    return source.symbols(f"sym://python/{uri}", **more)


def code(source: Source, uri: str, **more: Any) -> str:
    answer = symbols(source, uri, **more)
    assert answer["status"] == "error", answer
    found: str = answer["errors"][0]["code"]
    return found


def candidates(source: Source, uri: str, **more: Any) -> list[tuple[str, str]]:
    details = symbols(source, uri, **more)["errors"][0]["details"]
    assert list(details) == ["sym", "candidates"]
    assert all(list(each) == ["sym", "file_rel", "kind"] for each in details["candidates"])
    return [(each["sym"].removeprefix("sym://python/"), each["file_rel"]) for each in details["candidates"]]


@pytest.mark.parametrize(
    ("uri", "signature"),
    [
        ("type/shop/prices/total", "def total(a)"),
        ("type/prices/total", "def total(a)"),
        ("type/shop/cart/Cart", "class Cart"),
        ("type/shop/cart/Cart#add", "def add(self)"),
        ("type/shop/cart/Cart#Row", "class Row"),
        ("type/shop/cart/Cart#Row.price", "def price(self)"),
        ("type/deep/cart/Basket", "class Basket"),
        ("type/shop/cart/checked", "def checked()"),
        ("type/test_cart/test", "def test()"),
        ("type/scripts/tool/run", "def run()"),
    ],
)
def test_a_path_matches_whole_trailing_components_from_the_source_root(shop: Source, uri: str, signature: str) -> None:
    assert symbols(shop, uri)["data"]["signature"] == signature


@pytest.mark.parametrize(
    "uri", ["mod/rices", "mod/src/shop/prices", "mod/hop/prices", "mod/prices/total", "type/prices/tota"]
)
def test_less_than_a_component_or_more_than_the_path_matches_nothing(shop: Source, uri: str) -> None:
    assert code(shop, uri) == "SYMBOL_NOT_FOUND"


def test_a_package_is_named_with_and_without_init(shop: Source) -> None:
    assert symbols(shop, "mod/shop")["status"] == symbols(shop, "mod/shop/__init__")["status"] == "ok"
    assert symbols(shop, "mod/shop", exact=True)["status"] == "ok"


def test_a_folder_without_init_is_no_module(shop: Source) -> None:
    assert code(shop, "mod/deep") == code(shop, "mod/shop/deep") == "SYMBOL_NOT_FOUND"


def test_exactly_means_from_the_source_root(shop: Source) -> None:
    assert symbols(shop, "mod/shop/prices", exact=True)["status"] == "ok"
    assert code(shop, "mod/prices", exact=True) == "SYMBOL_NOT_FOUND"
    assert symbols(shop, "mod/test_cart")["status"] == "ok"
    assert symbols(shop, "mod/tests/test_cart", exact=True)["status"] == "ok"


def test_what_is_built_or_ignored_is_not_looked_at(shop: Source) -> None:
    assert symbols(shop, "mod/prices")["data"]["children"] == ["total"]
    assert code(shop, "mod/build/lib/shop/prices") == "SYMBOL_NOT_FOUND"


def test_several_files_are_ambiguous_whichever_defines_the_name(shop: Source) -> None:
    assert code(shop, "mod/cart") == "AMBIGUOUS_SYMBOL"
    assert candidates(shop, "mod/cart") == [
        ("mod/shop/cart", "src/shop/cart.py"),
        ("mod/shop/deep/cart", "src/shop/deep/cart.py"),
    ]
    assert code(shop, "type/cart/Basket") == "AMBIGUOUS_SYMBOL"
    assert candidates(shop, "type/cart/Basket") == [
        ("mod/shop/cart", "src/shop/cart.py"),
        ("type/shop/deep/cart/Basket", "src/shop/deep/cart.py"),
    ]


def test_every_call_that_an_ambiguity_names_works(shop: Source) -> None:
    for uri in ("mod/cart", "type/cart/Basket", "type/cart/Cart"):
        answer = symbols(shop, uri)
        assert len(answer["next_actions"]) == 2
        for action in answer["next_actions"]:
            _, verb, target, *options = action.split()
            assert getattr(shop, verb)(target, exact="--exact" in options)["status"] == "ok"


def test_a_group_is_one_symbol_and_separate_places_are_several(tmp_path: Path) -> None:
    files = {
        "m.py": (
            "class P:\n    @property\n    def x(self): ...\n    @x.setter\n    def x(self, v): ...\n\n"
            "try:\n    import fast\n    def f(): ...\nexcept ImportError:\n    def f(): ...\n"
        )
    }
    source = Source(made(tmp_path, files))
    assert symbols(source, "type/m/P#x")["data"]["content"].count("def x") == 2
    assert code(source, "type/m/f") == "AMBIGUOUS_SYMBOL"
    assert candidates(source, "type/m/f") == [("type/m/f", "m.py")] * 2
    actions = symbols(source, "type/m/f")["next_actions"]
    assert actions == ["read m.f[0]", "read m.f[1]"]
    assert [source.read(action.split()[1]).strip() for action in actions] == ["def f(): ..."] * 2


@pytest.mark.parametrize(
    ("uri", "name"), [("type/shop/cart/Cart#LIMIT", "shop.cart.Cart.LIMIT"), ("type/m/A", "m.A"), ("type/m/B", "m.B")]
)
def test_constants_have_no_selector_and_the_answer_gives_their_dotted_name(uri: str, name: str, tmp_path: Path) -> None:
    source = Source(made(tmp_path, {**PROJECT, "m.py": "A = 1\nB: int\n"}))
    answer = symbols(source, uri)
    assert answer["errors"][0]["code"] == "SYMBOL_NOT_FOUND"
    assert answer["next_actions"] == [f"read {name}"]
    assert source.read(name)


def test_what_a_module_only_imports_is_not_found_there_but_its_home_is_offered(shop: Source) -> None:
    assert candidates(shop, "type/shop/__init__/Cart") == [("type/shop/cart/Cart", "src/shop/cart.py")]
    assert candidates(shop, "type/shop/__init__/sum_up") == [("type/shop/prices/total", "src/shop/prices.py")]
    assert code(shop, "type/shop/Cart") == "SYMBOL_NOT_FOUND"


def test_what_is_near_is_offered_and_never_taken(shop: Source) -> None:
    assert ("mod/shop/prices", "src/shop/prices.py") in candidates(shop, "mod/price")
    assert candidates(shop, "type/prices/totals") == [("type/shop/prices/total", "src/shop/prices.py")]
    assert candidates(shop, "type/shop/cart/Card#add") == [("type/shop/cart/Cart", "src/shop/cart.py")]
    assert candidates(shop, "mod/zzzzzz") == []


def test_names_outside_ascii_are_shown_and_have_no_selector(shop: Source) -> None:
    assert "größe" in symbols(shop, "mod/shop/cart")["data"]["children"]
    assert code(shop, "type/shop/cart/größe") == "INVALID_SELECTOR_SYNTAX"


@pytest.mark.parametrize(
    ("given", "selector"),
    [
        ("shop.cart.Cart.Row", "sym://python/type/shop/cart/Cart#Row"),
        ("shop", "sym://python/mod/shop"),
        ("shop.Cart", "sym://python/type/shop/cart/Cart"),
        ("sym://python/mod/shop/cart.py", "sym://python/mod/shop/cart"),
        ("sym://python/type/shop/cart.py/Cart", "sym://python/type/shop/cart/Cart"),
        ("shop.cart.Cart.LIMIT", None),
        ("shop.nothing", None),
        ("src/shop/cart.py", None),
        ("", None),
    ],
)
def test_what_is_no_selector_is_refused_with_the_one_that_it_means(
    shop: Source, given: str, selector: str | None
) -> None:
    answer = shop.snippet(given)
    [error] = answer["errors"]
    assert error["code"] == "INVALID_SELECTOR_SYNTAX"
    assert error["details"].get("selector") == selector
    assert answer["next_actions"] == ([f"ast snippet {selector}"] if selector else [])
    assert selector is None or shop.snippet(selector)["status"] == "ok"


@pytest.mark.parametrize(
    "files",
    [
        {"a/__init__.py": "", "a/x.py": "A = 1\n", "a/x/__init__.py": "B = 2\n"},
        {"x.py": "A = 1\n", "x/__init__.py": "B = 2\n"},
    ],
    ids=["inside a package", "at the root"],
)
def test_a_module_beside_a_package_of_its_name_is_ambiguous_and_both_can_be_reached(
    files: Mapping[str, str], tmp_path: Path
) -> None:
    source = Source(made(tmp_path, files))
    lead = "a/" if "a/x.py" in files else ""
    assert code(source, "mod/x") == code(source, f"mod/{lead}x") == "AMBIGUOUS_SYMBOL"
    assert symbols(source, "mod/x/__init__")["data"]["content"] == "B = ..."
    assert symbols(source, f"mod/{lead}x", exact=True)["data"]["content"] == "A = ..."


def test_an_import_is_never_executed(tmp_path: Path) -> None:
    text = "import pathlib\npathlib.Path('ran').touch()\nraise SystemExit\n\ndef f(): ...\n"
    source = Source(made(tmp_path, {"m.py": text, "pyproject.toml": PROJECT["pyproject.toml"]}))
    assert [answer["status"] for answer in (symbols(source, "type/m/f"), source.hover("sym://python/type/m/f"))] == [
        "ok"
    ] * 2
    assert not (tmp_path / "ran").exists()


def test_a_broken_file_is_at_fault_only_where_it_is_asked_for(tmp_path: Path) -> None:
    source = Source(made(tmp_path, {"bad.py": "def (\n", "good.py": "import bad\n\ndef f(a: bad.C): ...\n"}))
    assert code(source, "mod/bad") == code(source, "type/bad/f") == "SYNTAX_INVALID"
    assert symbols(source, "type/good/f")["refs"] == []
    assert code(source, "type/x/f") == "SYMBOL_NOT_FOUND"


def test_a_file_whose_codec_gives_other_bytes_back_has_an_invalid_encoding(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_bytes(b"# coding: iso2022_jp\nx = '\x1b(B\x1b(B'\n")
    assert code(Source(tmp_path), "mod/m") == "ENCODING_INVALID"


def test_reading_requests_take_selectors_as_they_take_names(shop: Source) -> None:
    text = shop.read("sym://python/type/prices/total")
    assert text == shop.read("shop.prices.total")
    assert text.address == "shop.prices.total"
    assert (
        shop.references("sym://python/type/deep/cart/Basket").outcome
        == shop.references("shop.deep.cart.Basket").outcome
    )


def test_reading_by_a_selector_that_means_several_names_dotted_candidates(shop: Source) -> None:
    with pytest.raises(LookupFailed) as caught:
        shop.read("sym://python/type/cart/Basket")
    assert caught.value.code == "ambiguous_symbol"
    assert caught.value.candidates == ("shop.cart", "shop.deep.cart.Basket")
    assert caught.value.hints == ("read shop.cart", "read shop.deep.cart.Basket")
    with pytest.raises(RequestError, match="no selector"):
        shop.read("sym://python/mod/x#y")
    with pytest.raises(LookupFailed, match="No module"):
        shop.read("sym://python/mod/zzzzzz")


def test_a_change_takes_no_selector(shop: Source) -> None:
    uri = "sym://python/type/prices/total"
    changes: list[tuple[Callable[..., object], tuple[str, ...]]] = [
        (shop.edit, (uri, "def total(): ...")),
        (shop.delete, (uri,)),
        (shop.insert, (uri, "x = 1")),
    ]
    for change, given in changes:
        with pytest.raises(RequestError, match="reading requests only") as caught:
            change(*given)
        assert caught.value.code == "invalid_name"
        assert caught.value.hints
