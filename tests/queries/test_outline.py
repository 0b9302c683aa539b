"""Outlines: what each kind of name shows, how deep, and what is said of that which is not shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source import LookupFailed, RequestError, Source, SourceError
from bae_source.errors import ResourceError
from tests.adapters.support import run
from tests.queries.support import laid

CART = '''\
"""Carts."""
import os
LIMIT: int = 5


class Cart(dict):
    """What is bought.

    x
    """
    size = 0

    def __init__(self, a, *, b: int = 1) -> None: ...

    def _pay(self): ...

    @property
    def total(self) -> int:
        """Sum."""
        return 1

    @total.setter
    def total(self, v): ...

    class Line:
        def go(self): ...


def _hidden(): ...


async def buy(cart):
    """Buy."""
    def inner(): ...
'''
SHOP = {
    "pyproject.toml": "[project]\nname = 'shop'\n",
    "shop/__init__.py": '"""A shop.\n\nMore of it.\n"""\nfrom shop._cart import Cart\nfrom . import money as money\n'
    "from ._cart import *\nVERSION = '1'\n",
    "shop/_cart.py": CART,
    "shop/money/__init__.py": "",
    "shop/money/price.py": "class Price: ...\nclass _Rate: ...\ndef add(): ...\ndef _sub(): ...\n",
    "shop/py.typed": "",
    "shop/templates/a.html": "<p>",
    "shop/templates/b.html": "<p>",
    "tool.py": "def main(): ...\n",
    "loose/part.py": "x = 1\n",
    "docs/readme.txt": "no package\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Source:
    return laid(tmp_path, SHOP)


def test_the_project_is_listed_by_its_packages_and_top_level_modules(shop: Source) -> None:
    assert shop.outline() == (
        "loose (0 subpackages, 1 module)\nshop — A shop. (1 subpackage, 2 modules)\ntool (0 classes, 1 function)\n"
    )
    assert shop.outline().address is None
    assert shop.outline().complete


def test_a_package_lists_its_members_then_its_own_code_and_its_data(shop: Source) -> None:
    assert shop.outline("shop").splitlines() == [
        "shop — A shop. (1 subpackage, 2 modules)",
        "    shop._cart — Carts. (1 class, 1 function)",
        "    shop.money (0 subpackages, 1 module)",
        "    re-exports: Cart, money, shop._cart.*",
        "    VERSION = '1'",
        "    shop:templates (2 data files)",
        "    shop:py.typed (0 bytes)",
    ]
    assert shop.outline("shop").address == "shop"


def test_a_module_lists_its_definitions_with_signature_and_first_docstring_line(shop: Source) -> None:
    assert shop.outline("shop._cart").splitlines() == [
        "shop._cart — Carts. (1 class, 1 function)",
        "    LIMIT: int = 5",
        "    class Cart(dict) — What is bought.  has total",
        "    async def buy(cart) — Buy.",
        "    (1 private name)",
    ]


def test_depth_counts_levels_of_members_below_what_is_named(shop: Source) -> None:
    assert shop.outline(depth=0) == "(3 packages, 4 modules)\n"
    assert shop.outline("shop._cart", depth=0) == "shop._cart — Carts. (1 class, 1 function)\n"
    assert shop.outline("shop._cart.Cart", depth=0) == "class Cart(dict) — What is bought.\n"
    assert "        size = 0" in shop.outline("shop._cart", depth=2).splitlines()
    assert "            def go(self)" not in shop.outline("shop._cart", depth=2).splitlines()
    assert "            def go(self)" in shop.outline("shop._cart", depth=3).splitlines()
    assert "            class Price" not in shop.outline("shop", depth=2).splitlines()
    assert "            class Price" in shop.outline("shop", depth=3).splitlines()
    assert shop.outline(depth=2).splitlines()[:2] == [
        "loose (0 subpackages, 1 module)",
        "    loose.part (0 classes, 0 functions)",
    ]
    assert "        x = 1" in shop.outline(depth=3).splitlines()


def test_a_class_lists_its_members_accessors_once_and_counts_private_names(shop: Source) -> None:
    assert shop.outline("shop._cart.Cart").splitlines() == [
        "class Cart(dict) — What is bought.",
        "    size = 0",
        "    def __init__(self, a, *, b: int = 1) -> None",
        "    @property def total(self) -> int  [getter, setter] — Sum.",
        "    class Line",
        "    (1 private name)",
    ]


def test_a_function_lists_what_is_nested_in_it(shop: Source) -> None:
    assert shop.outline("shop._cart.buy") == "async def buy(cart) — Buy.\n    def inner()\n"


def test_private_names_are_shown_when_asked_for(shop: Source) -> None:
    text = shop.outline("shop._cart", depth=2, private=True)
    assert "    def _hidden()" in text.splitlines()
    assert "        def _pay(self)" in text.splitlines()
    assert "private name" not in text


def test_line_numbers_are_those_of_the_definitions(shop: Source) -> None:
    lines = shop.outline("shop._cart.Cart", numbers=True).splitlines()
    assert lines[:3] == [
        "    6  class Cart(dict) — What is bought.",
        "   11      size = 0",
        "   13      def __init__(self, a, *, b: int = 1) -> None",
    ]
    assert lines[-1] == "           (1 private name)"
    source = shop.read("shop._cart", full=True).splitlines()
    assert source[12].strip().startswith("def __init__")


def test_an_outline_has_an_etag_that_changes_with_what_it_shows(shop: Source) -> None:
    before = shop.outline("shop._cart")
    assert before.etag == shop.outline("shop._cart").etag
    assert before.etag != shop.outline("shop._cart", depth=2).etag
    shop.edit("shop._cart.buy", "async def buy(cart, now):\n    '''Buy.'''\n", reload="off")
    assert shop.outline("shop._cart").etag != before.etag


def test_the_next_calls_are_reported(shop: Source) -> None:
    assert shop.outline("shop").outcome.next_actions == ('outline("shop", depth=2)',)
    assert 'read("shop._cart", full=True)' in shop.outline("shop._cart").outcome.next_actions
    assert shop.outline("shop._cart.Cart").outcome.next_actions == ('read("shop._cart.Cart")',)


def test_overloads_redefinitions_and_conditional_definitions(tmp_path: Path) -> None:
    code = (
        "from typing import overload\n@overload\ndef f(a: int) -> int: ...\n@overload\ndef f(a: str) -> str: ...\n"
        "def f(a):\n    '''Do.'''\n    return a\n\ndef g(): ...\ndef g(b): ...\n\n"
        "if f:\n    def h(): ...\nelse:\n    def h(x): ...\n\na, b = 1, 2\na = 3\nTABLE = {\n    1: 2,\n}\n"
    )
    source = laid(tmp_path, {"m.py": code})
    lines = [line.strip() for line in source.outline("m").splitlines()[1:]]
    assert lines == [
        "def f(a)  [2 overloads] — Do.",
        "def g(b)  [2 definitions]",
        "def h()  [h[0]]",
        "def h(x)  [h[1]]",
        "a, b = 1, 2  [a[0]]",
        "a = 3  [a[1]]",
        "TABLE = {1: 2,}",
    ]
    assert source.read("m.h[1]", dedent=True) == "def h(x): ...\n"
    assert source.outline("m.f") == "def f(a)  [2 overloads] — Do.\n"
    assert source.outline("m").startswith("m (0 classes, 3 functions)\n")


def test_re_exports_are_those_of_all_that_are_not_defined_there(tmp_path: Path) -> None:
    files = {
        "p/__init__.py": "from p.a import *\nimport os\ndef own(): ...\n__all__ = ['own', 'Alpha', 'Beta']\n",
        "p/a.py": "class Alpha: ...\nclass Beta: ...\n",
        "p/b.py": "from p.a import Alpha\n",
        "p/c.py": "from p.a import Alpha\n__all__ = ['Alpha']\n",
    }
    source = laid(tmp_path, files)
    assert "    re-exports: Alpha, Beta" in source.outline("p").splitlines()
    assert "re-exports" not in source.outline("p.b")
    assert "    re-exports: Alpha" in source.outline("p.c").splitlines()


def test_many_re_exports_are_wrapped(tmp_path: Path) -> None:
    names = [f"name_number_{number}" for number in range(60)]
    source = laid(tmp_path, {"p/__init__.py": f"from p.a import *\n__all__ = {names!r}\n", "p/a.py": ""})
    lines = [line for line in source.outline("p").splitlines() if "name_number" in line and "__all__" not in line]
    assert len(lines) > 5
    assert all(len(line) <= 115 for line in lines)
    assert ", ".join(line.strip().rstrip(",") for line in lines) == "re-exports: " + ", ".join(names)


def test_a_file_that_does_not_parse_is_listed_in_its_place_and_the_answer_is_incomplete(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "p/__init__.py": "",
        "p/a.py": "x = 1\n",
        "p/b.py": "def (\n",
        "p/c.py": b"\xff = 1\n",
        "p/d.py": "y = 1\n",
    }
    text = laid(tmp_path, files).outline("p", depth=2)
    assert text.splitlines()[1:] == [
        "    p.a (0 classes, 0 functions)",
        "        x = 1",
        "    p.b: does not parse: line 1, column 5: invalid syntax.",
        "    p.c: cannot be decoded as utf-8: byte 0 on line 1 does not fit.",
        "    p.d (0 classes, 0 functions)",
        "        y = 1",
    ]
    assert not text.complete
    assert [notice.code for notice in text.outcome.warnings] == ["syntax_invalid", "encoding_invalid"]
    assert all("p." in notice.message for notice in text.outcome.warnings)


def test_a_package_whose_own_code_does_not_parse_still_lists_its_modules(tmp_path: Path) -> None:
    source = laid(tmp_path, {"p/__init__.py": "def (\n", "p/a.py": "x = 1\n"})
    for text in (source.outline("p"), source.read("p")):
        assert text.splitlines() == [
            "p (0 subpackages, 1 module): does not parse: line 1, column 5: invalid syntax.",
            "    p.a (0 classes, 0 functions)",
        ]
        assert not text.complete


def test_a_module_that_does_not_parse_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"m does not parse: line 1"):
        laid(tmp_path, {"m.py": "def (\n"}).outline("m")


def test_a_file_that_may_not_be_read_is_listed_in_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = laid(tmp_path, {"p/__init__.py": "", "p/a.py": "x = 1\n", "p/b.py": "y = 1\n"})
    import os as system

    real = system.open

    def refusing(path, *given, **named):  # type: ignore[no-untyped-def]
        if str(path).endswith("p/a.py"):
            raise PermissionError(13, "Permission denied")
        return real(path, *given, **named)

    monkeypatch.setattr(system, "open", refusing)
    text = source.outline("p")
    assert "    p.a: may not be read." in text.splitlines()
    assert [notice.code for notice in text.outcome.warnings] == ["forbidden"]
    assert not text.complete


def test_namespace_packages_and_several_source_roots_are_listed(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": "[tool.bae-source]\nsource-roots = ['one/src', 'two/src']\n",
        "one/src/company/engine/__init__.py": '"""Engines."""\n',
        "two/src/company/plugins/turbo.py": "def go(): ...\n",
    }
    source = laid(tmp_path, files)
    assert source.outline() == "company (2 subpackages, 1 module)\n"
    assert source.outline("company").splitlines() == [
        "company (2 subpackages, 1 module)",
        "    company.engine — Engines. (0 subpackages, 0 modules)",
        "    company.plugins (0 subpackages, 1 module)",
    ]
    assert source.outline("company.plugins").splitlines()[1:] == ["    company.plugins.turbo (0 classes, 1 function)"]


def test_a_name_that_two_files_have_is_listed_twice(tmp_path: Path) -> None:
    source = laid(tmp_path, {"x.py": "def f(): ...\n", "x/__init__.py": '"""X."""\n', "x/y.py": ""})
    assert source.outline() == "x (0 classes, 1 function)\nx — X. (0 subpackages, 1 module)\n"
    with pytest.raises(LookupFailed):
        source.outline("x")


def test_a_module_with_a_stub_alone_is_listed_by_its_stub(tmp_path: Path) -> None:
    files = {"p/__init__.py": "", "p/m.py": "", "p/m.pyi": "x: int\n", "p/_speed.pyi": "def fast(n: int) -> int: ...\n"}
    source = laid(tmp_path, files)
    assert "    p._speed@stub (0 classes, 1 function)" in source.outline("p").splitlines()
    assert "p.m@stub" not in source.outline("p")
    assert 'read("p.m@stub")' in source.outline("p.m").outcome.next_actions
    assert source.outline("p._speed@stub").splitlines()[1:] == ["    def fast(n: int) -> int"]


def test_a_file_that_no_name_can_spell_is_not_listed_and_the_answer_not_complete(tmp_path: Path) -> None:
    files = {"p/__init__.py": "", "p/.hidden/a.py": "", "p/a.b.py": "", "p/0001_ok.py": "", "p/my-script.py": ""}
    source = laid(tmp_path, files)
    text = source.outline("p")
    assert text.splitlines() == [
        "p (0 subpackages, 2 modules)",
        "    p.0001_ok (0 classes, 0 functions)",
        "    p.my-script (0 classes, 0 functions)",
    ]
    assert [notice.code for notice in text.outcome.warnings] == ["unnamed_files"]
    assert "2 Python files" in text.outcome.warnings[0].message
    assert not text.complete
    assert not source.outline().complete
    assert [notice.code for notice in source.outline().outcome.warnings] == ["unnamed_files"]
    assert source.outline("p.0001_ok").outcome.warnings == ()
    assert source.outline("p.0001_ok").complete


def test_a_project_without_python_says_so(tmp_path: Path) -> None:
    text = laid(tmp_path, {"README.md": "x"}).outline()
    assert text == "(no Python modules)\n"
    assert text.complete


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    source = laid(tmp_path, {"p/__init__.py": "", "p/a.py": ""})
    (tmp_path / "p" / "loop").symlink_to(tmp_path / "p")
    (tmp_path / "self").symlink_to(tmp_path / "self")
    assert source.outline(depth=99).splitlines() == ["p (0 subpackages, 1 module)", "    p.a (0 classes, 0 functions)"]


@pytest.mark.parametrize(
    ("target", "error", "code"),
    [
        ("p.nothing", LookupFailed, "symbol_not_found"),
        ("p/a.py", RequestError, "invalid_name"),
        ("p.a.f@body", RequestError, "invalid_arguments"),
        ("p:nothing.css", LookupFailed, "symbol_not_found"),
    ],
)
def test_what_has_no_outline_says_why(tmp_path: Path, target: str, error: type[ResourceError], code: str) -> None:
    source = laid(tmp_path, {"p/__init__.py": "", "p/a.py": "def f(): ...\n"})
    with pytest.raises(error) as caught:
        source.outline(target)
    assert caught.value.code == code
    assert caught.value.hints or caught.value.candidates


@pytest.mark.parametrize("depth", [-1, 10_000, "2", None])
def test_a_depth_that_is_none_is_refused(shop: Source, depth: object) -> None:
    with pytest.raises(RequestError) as caught:
        shop.outline("shop", depth=depth)  # type: ignore[arg-type]
    assert "depth" in caught.value.message


def test_names_outside_ascii_and_ten_thousand_lines(tmp_path: Path) -> None:
    many = "".join(f"def größe_{number}(): ...\n" for number in range(10_000))
    source = laid(tmp_path, {"p/__init__.py": '"""Größen — alle."""\n', "p/groß.py": many})
    lines = source.outline("p", depth=2, numbers=True).splitlines()
    assert lines[0].strip() == "p — Größen — alle. (0 subpackages, 1 module)"
    assert lines[-1] == "10000          def größe_9999()"
    assert len(lines) == 10_002


def test_the_command_line_prints_the_outline_alone(tmp_path: Path) -> None:
    laid(tmp_path, SHOP)
    called = run("outline", "shop._cart.Cart", "--depth", "2", "--private", "--numbers", folder=tmp_path)
    assert called.status == 0
    expected = Source(tmp_path).outline("shop._cart.Cart", depth=2, private=True, numbers=True)
    assert called.out.decode() == expected
    whole = run("outline", "--json", folder=tmp_path)
    assert whole.json["text"] == Source(tmp_path).outline()
    assert (whole.json["status"], whole.json["complete"]) == ("answer", True)


SOURCES = sorted((Path(__file__).parents[2] / "fixtures" / "sources").glob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_nasty_file_is_outlined_a_line_a_symbol_or_its_fault_is_reported(path: Path, tmp_path: Path) -> None:
    source = laid(tmp_path, {"p/__init__.py": "", "p/m.py": path.read_bytes()})
    listed = source.outline("p", depth=99, private=True, numbers=True)
    if not listed.complete:
        with pytest.raises(SourceError) as caught:
            source.outline("p.m")
        assert [notice.code for notice in listed.outcome.warnings] == [caught.value.code]
        return
    text = source.outline("p.m", depth=99, private=True, numbers=True)
    lines = text.splitlines()
    assert all(line[:7].strip().isdigit() for line in lines[1:] if "re-exports:" not in line)
    inner = [line[:7] + line[7:].removeprefix("    ") for line in listed.splitlines()[2:]]
    assert [line for line in lines[1:] if "re-exports" not in line] == [
        line for line in inner if "re-exports" not in line
    ]
    numbered = source.read("p.m", full=True, numbers=True)
    assert numbered.etag == source.read("p.m", full=True).etag
