"""A summary says what a file defines in few bytes: one entry a definition, headers in one line, values cut."""

from __future__ import annotations

import msgspec
import pytest

from bae_source.model.address import parse_name
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.locate import find, qualname_of
from bae_source.syntax.outline.summary import Entry, Summary, summarise
from bae_source.syntax.outline.tree import parse
from bae_source.syntax.text.source import Source
from tests.project.library import sample, shown


def summary(text: str) -> Summary:
    return summarise(parse(Source(text.encode())))


def entry(text: str) -> Entry:
    (one,) = summary(text).entries
    return one


@pytest.mark.parametrize(
    ("source", "signature"),
    [
        ("def f(): pass\n", "def f()"),
        ("async def f(a, *, b: int = 1) -> str: ...\n", "async def f(a, *, b: int = 1) -> str"),
        ("def f(\n    a,  # first\n    b=(1,\n       2),\n): pass\n", "def f(a, b=(1, 2))"),
        ('def f(a="x  #:  y"): pass\n', 'def f(a="x  #:  y")'),
        ("def f(a=lambda: 1): pass\n", "def f(a=lambda: 1)"),
        ("def f(a) -> dict[str, int]: pass\n", "def f(a) -> dict[str, int]"),
        ("def f(a) -> Callable[[int], str] | None: pass\n", "def f(a) -> Callable[[int], str] | None"),
        ("class C: pass\n", "class C"),
        ("class C(\n    A,\n    metaclass=M,\n): pass\n", "class C(A, metaclass=M)"),
        ("def f(a): # why\n    pass\n", "def f(a)"),
        ("def \\\n  f(a): pass\n", "def f(a)"),
        ("x: int = 3  # why\n", "x: int = 3"),
        ("x = [\n    1,\n    2,\n]\n", "x = [1, 2,]"),
        ("naïve = 'ÿ'\n", "naïve = 'ÿ'"),
        ('x = """a\r\n  b"""\n', 'x = """a\\r\\n  b"""'),
    ],
)
def test_a_signature_is_the_header_in_one_line(source: str, signature: str) -> None:
    assert entry(source).signature == signature


def test_a_long_value_is_cut_and_says_so() -> None:
    table = "TABLE = {\n" + "".join(f"    {number}: '{number}',\n" for number in range(10_000)) + "}\n"
    cut = entry(table)
    assert cut.signature.startswith("TABLE = {0: '0', 1: '1'")
    assert cut.signature.endswith(" …")
    assert len(cut.signature) < 110
    assert (cut.first, cut.last) == (1, 10_002)


def test_a_long_header_is_not_cut() -> None:
    names = ", ".join(f"parameter_{number}" for number in range(200))
    assert entry(f"def f({names}): pass\n").signature == f"def f({names})"


@pytest.mark.parametrize(
    ("literal", "doc"),
    [
        ('"""One.\n\n    Two.\n    """', "One."),
        ("'''\n    One.\n    '''", "One."),
        ('r"""One \\d."""', "One \\d."),
        ('""""""', ""),
        ('"One"', "One"),
        ('f"no docstring"', ""),
        ('b"no docstring"', ""),
        ('"' + "x" * 5_000 + '"', "x" * 300),
    ],
)
def test_the_first_line_of_a_docstring_is_kept(literal: str, doc: str) -> None:
    assert entry(f"def f():\n    {literal}\n").doc == doc


def test_lines_are_those_of_the_file() -> None:
    one = entry("\n# above\n@a\n@b.c(1)\ndef f():\n    return 1  # end\n\n\n")
    assert (one.first, one.keyword, one.last) == (3, 5, 6)
    assert one.decorators == ("a", "b.c")


def test_what_stands_together_is_one_group_and_each_has_a_component_of_its_own() -> None:
    text = (
        "class C:\n    @property\n    def x(self): ...\n    @x.setter\n    def x(self, v): ...\n    def y(self): ...\n"
        "@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\ndef f(a): ...\n"
    )
    found = [(e.names[0], e.component, e.group, e.leads) for e in summary(text).entries]
    assert found == [
        ("C", "", -1, True),
        ("x", "x@getter", -1, True),
        ("x", "x@setter", 1, False),
        ("y", "", -1, True),
        ("f", "f@overload[0]", -1, True),
        ("f", "f@overload[1]", 4, False),
        ("f", "f@impl", 4, False),
    ]


def test_what_stands_apart_is_two_symbols_with_a_number_each() -> None:
    text = "if A:\n    def f(): ...\nelse:\n    def f(): ...\n"
    assert [(e.component, e.leads) for e in summary(text).entries] == [("f[0]", True), ("f[1]", True)]


def test_statements_that_bind_different_names_are_no_group() -> None:
    assert [e.leads for e in summary("a, b = 1, 2\na = 3\n").entries] == [True, True]


@pytest.mark.parametrize("path", sample(12, "summaries"), ids=shown)
def test_a_summary_of_real_code_agrees_with_its_outline_and_survives_being_kept(path) -> None:  # type: ignore[no-untyped-def]
    tree = parse(Source(path.read_bytes()))
    made = summarise(tree)
    assert [e.names for e in made.entries] == [d.names for d in tree.outline.definitions]
    assert all("\n" not in e.signature and "\n" not in e.doc for e in made.entries)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(made), type=Summary) == made


@pytest.mark.parametrize("path", sample(12, "components"), ids=shown)
def test_the_components_of_an_entry_and_its_parents_name_it_alone(path) -> None:  # type: ignore[no-untyped-def]
    tree = parse(Source(path.read_bytes()))
    entries = summarise(tree).entries
    for index in range(len(entries)):
        assert find(tree, "m", qualname_of(tree.outline, index)).members == (index,)
        parts, at = [], index
        while at != MODULE:
            parts.append(entries[at].component or entries[at].names[0])
            at = entries[at].parent
        name = parse_name(".".join(("m", *reversed(parts))))
        assert find(tree, "m", name.segments[1:]).members == (index,)
