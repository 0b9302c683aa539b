"""A module's statements, piece by piece: the same as those of the whole text, wherever it may be cut."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable

import pytest

from bae_source.syntax.names.reading import uses_of
from bae_source.syntax.outline import pieces
from bae_source.syntax.outline.pieces import statements_of
from bae_source.syntax.outline.tree import parse_module
from bae_source.syntax.text.source import Source

PARTS = (
    "import a\n",
    "class A(B):\n    x = 1\n\n    def f(self):\n        return 1\n",
    "@dec\ndef g(): ...\n",
    "class C:\n    'doc'\n\n    @dec\n    async def f(self):\n      '''\n\n    def no(): ...\n'''\n\n    class D: 1\n",
    "class E:\n\n    def f(self): ...\n\n    x = [\n\n    1,\n\n    (2\n\n    @ z)]\n\n    def g(self): ...\n",
    "def k():\n    a\n\n    def m(): ...\n\n    class F:\n        b\n\n    @dec\n    def n(): ...\n",
    "@dec(\n\n1)\n\n@other\n# why\n\nasync def h():\n    pass\n",
    'x = """\n\nclass No: ...\n\ndef no(): ...\n"""\n',
    "y = [\n\n1,\n\n(2\n\n@ z)]\n",
    "s = 'a \\\n b'\n",
    "if x:\n\n    class C: ...\n\n    def c(): ...\n\nelse:\n    y\n",
    "try:\n    z\n\nfinally:\n\n    def w(): ...\n",
    "é = 'ü'; class_ = 1\n",
    "# class D:\n\n",
    "z = 1 \\\n\n",
    "f'''\n\ndef {x}(): ...\n\n@{\ny}'''\n",
)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_LENGTH", 0)
    monkeypatch.setattr(pieces, "_MOST", 1_000_000)


def check(text: str) -> None:
    """Take a text as a whole and in pieces: both are refused, or come to the same."""
    try:
        whole = ast.parse(text)
    except SyntaxError:
        with pytest.raises(SyntaxError):
            list(statements_of(text))
    else:
        assert dumped(statements_of(text)) == dumped(whole.body)


def dumped(statements: Iterable[ast.stmt]) -> list[str]:
    return [ast.dump(gone_through(each), include_attributes=True) for each in statements]


def gone_through(statement: ast.stmt) -> ast.stmt:
    """Return a statement as those see it who go through it: a class does not say where it ends."""
    if isinstance(statement, ast.ClassDef):
        statement.body = list(statement.body)
        statement.end_lineno = statement.end_col_offset = None
    return statement


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("seed", range(300))
def test_statements_of_pieces_are_those_of_the_whole_text(seed: int) -> None:
    choose = random.Random(seed)
    text = "".join(choose.choice(PARTS) + "\n" * choose.randrange(3) for _ in range(choose.randrange(1, 9)))
    check(text)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    "text",
    [
        "class A: ...\n\nclass B:\n\nclass C: ...\n",
        "def f(:\n\ndef g(): ...\n",
        'x = """\n\ndef f(): ...\n',
        "@dec\n\nx = 1\n\nclass A: ...\n",
        "class A:\n    x\n\n    def f(:\n\n    def g(): ...\n",
        "class A:\n    @dec\n\n    x = 1\n\n    def f(): ...\n",
        "class A: x\n\n    def f(): ...\n",
        "\nclass A: \\\n    x\n\n    def f(): ...\n",
        "\nclass A:\n  \\\n    x\n\n    def f(): ...\n",
        "class A:\n\t   x\n\n    def f(): ...\n",
        "class A:\n \f  x\n\n    def f(): ...\n",
        "class A:\n        x\n\n    def f(): ...\n",
        "class A:\n    x\n\n    def f(): ...\n  y\n",
        "class A:\n    def f(self):\n        x\n\n    def g(self):\n        'y\n",
    ],
)
def test_what_the_parser_refuses_as_a_whole_is_refused_in_pieces(text: str) -> None:
    with pytest.raises(SyntaxError):
        ast.parse(text)
    with pytest.raises(SyntaxError):
        list(statements_of(text))


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    "text",
    [
        "class A:\n  if x:\n\n    def f(): ...\n\n    def g(): ...\n  y\n\ndef h(): ...\n",
        "class A:\n    x \\\n    + y\n\n    def f(): ...\n",
        "class A:\n  \\\n  x\n\n  def f(): ...\n",
        "if x:\n    class A:\n        y\n\n    def f(): ...\n",
        "class A:\n    x\n\n    def f(): ...\n\ny\nclass B:\n    z\n\n    def f(): ...\n\n    def g(): ...\nu\n",
        "class A:\n    x\n\n    def f(): ...\ndef h():\n    y\n\n    def g(): ...\n\n    def k(): ...\n",
    ],
)
def test_what_stands_in_the_column_of_methods_belongs_to_what_it_stands_in(text: str) -> None:
    check(text)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("sign", ["<>", "!="])
def test_an_import_after_which_other_texts_parse_is_seen_in_every_piece(sign: str) -> None:
    text = f"from __future__ import barry_as_FLUFL\n\ndef f(): ...\n\ndef g(): 1 {sign} 2\n"
    check(text)


def test_a_long_text_is_cut_into_no_more_pieces_than_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def parse(text: str) -> ast.Module:
        parsed.append(text)
        return parse_module(text)

    monkeypatch.setattr(pieces, "parse_module", parse)
    text = "def f(): ...\n\n" * 100_000
    assert len(list(statements_of(text))) == 100_000
    assert 20 < len(parsed) < 40


@pytest.mark.usefixtures("short")
def test_a_piece_is_parsed_when_it_is_reached() -> None:
    statements = statements_of("def f(): ...\n\ndef g(): ...\n\ndef h(: ...\n")
    assert [next(statements).name, next(statements).name] == ["f", "g"]  # type: ignore[attr-defined]
    with pytest.raises(SyntaxError):
        next(statements)


@pytest.mark.usefixtures("short")
def test_a_method_is_parsed_when_it_is_reached() -> None:
    statements = statements_of("class A:\n    x\n\n    def f(): ...\n\n    def g(): ...\n\n    def h(: ...\n")
    methods = iter(next(statements).body)  # type: ignore[attr-defined]
    assert isinstance(next(methods), ast.Expr)
    assert [next(methods).name, next(methods).name] == ["f", "g"]
    with pytest.raises(SyntaxError):
        next(methods)


@pytest.mark.usefixtures("short")
def test_a_class_that_nobody_goes_through_is_passed_over() -> None:
    text = "class A:\n    x\n\n    def f(): ...\n\n    def g(): ...\n\nclass B:\n    y\n\n    def f(): ...\n\nz\n"
    assert [type(each) for each in statements_of(text)] == [ast.ClassDef, ast.ClassDef, ast.Expr]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_uses_of_pieces_are_those_of_the_whole_text(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"{part}\n" for part in PARTS if "\n\n@ z" not in part).replace("z = 1 \\\n\n", "")
    source = Source(text.replace("\n", end).encode())
    found = uses_of(source)
    monkeypatch.setattr(pieces, "_LENGTH", 10 * len(text))
    assert found == uses_of(source)
    assert found.whole
