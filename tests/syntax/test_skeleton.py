"""Names and signatures of definitions, whatever their headers look like."""

from __future__ import annotations

import ast
from contextlib import suppress
from pathlib import Path

import pytest

from bae_source.errors import ResourceError
from bae_source.syntax.outline.definitions import Kind
from bae_source.syntax.outline.skeleton import children, docstring, name_offset, signature, skeleton
from bae_source.syntax.outline.tree import Tree, parse
from bae_source.syntax.text.source import Source

SOURCES = sorted((Path(__file__).resolve().parents[2] / "fixtures" / "sources").glob("*.py"))


def tree(text: str) -> Tree:
    return parse(Source(text.encode()))


def parsed_or_none(path: Path) -> Tree | None:
    with suppress(ResourceError):
        return parse(Source(path.read_bytes()))
    return None


PARSED = [path for path in SOURCES if parsed_or_none(path)]


def named(parsed: Tree, *path: str) -> list[int]:
    return [index for index in range(len(parsed.outline.definitions)) if parsed.outline.qualname(index) == path]


def drawn(text: str) -> str:
    parsed = tree(text)
    return signature(parsed, [0])


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("def f(): pass", "def f()"),
        ("def f(a, b=(1,), *c): pass", "def f(a, b=(1,), *c)"),
        ("def f(\n    a,\n    b,\n): pass", "def f(a, b)"),
        (
            "def f(\n    a,  # why, (\n    # more\n    b: 'x, # y' = \"#\",\n) -> int: pass",
            "def f(a, b: 'x, # y' = \"#\") -> int",
        ),
        ("def f(a=(1,\n)): pass", "def f(a=(1,))"),
        ("def f() -> tuple[int,\n    ]: pass", "def f() -> tuple[int,]"),
        ("def f(a=lambda x: {1: 2}): pass", "def f(a=lambda x: {1: 2})"),
        ("def \\\n  f(a, \\\n b): pass", "def f(a, b)"),
        ("async  def f(): pass", "async  def f()"),
        ("def f(a='''x\n  y'''): pass", "def f(a='''x\n  y''')"),
        ("def f(a=[\r\n    1,\r\n    2,\r\n]): pass", "def f(a=[1, 2,])"),
        ("@a\n@b(\n    1\n)\ndef f(): pass", "def f()"),
        ("class A: pass", "class A"),
        ("class A(): pass", "class A()"),
        ("class A(\n    B,\n    metaclass=M,\n): pass", "class A(B, metaclass=M)"),
        ("def f(a: {1: (2,)}, /,): pass", "def f(a: {1: (2,)}, /)"),
        ("def f(a=f'{1:>{2}}'): pass", "def f(a=f'{1:>{2}}')"),
    ],
)
def test_a_signature_is_the_header_in_one_line(header: str, expected: str) -> None:
    assert drawn(header) == expected


@pytest.mark.parametrize("path", PARSED, ids=lambda path: path.stem)
def test_the_signatures_of_a_file_say_what_its_own_parser_says(path: Path) -> None:
    parsed = parse(Source(path.read_bytes()))
    for index, definition in enumerate(parsed.outline.definitions):
        if definition.kind not in (Kind.CLASS, Kind.FUNCTION):
            continue
        shown = signature(parsed, [index])
        assert parsed.text[name_offset(parsed, index) :].startswith(shown.partition("(")[0].split("[")[0].split()[-1])
        if not parsed.newer:
            again = ast.parse(f"{shown}: pass").body[0]
            whole = parsed.text[definition.keyword : definition.end]
            lead = len(definition.indent)
            original = ast.parse("if 1:\n" + " " * lead + whole if lead else whole).body[0]
            original = original.body[0] if isinstance(original, ast.If) and lead else original
            for node in (again, original):
                node.body = []  # type: ignore[attr-defined]
            assert ast.dump(again) == ast.dump(original)


@pytest.mark.parametrize("path", PARSED, ids=lambda path: path.stem)
def test_the_skeleton_of_a_file_is_python_that_defines_the_same(path: Path) -> None:
    parsed = parse(Source(path.read_bytes()))
    text = skeleton(parsed, None)
    if parsed.newer:
        assert text
        return
    ast.parse(text)
    assert children(tree(text), None) == children(parsed, None)


def test_most_of_the_nasty_files_have_a_skeleton() -> None:
    assert len(PARSED) > 60


def test_a_skeleton_has_names_and_signatures_and_nothing_else() -> None:
    text = '''
"""Doc."""
import os
A: dict[str, int] = {"=": 1}
B: int
c = d = 5
c += 1
e, (f, *g) = 1, (2, 3)
@os.register(1)
class C(Base):
    """Doc."""
    x = 1
    y: int = 2
    def m(self):
        """Doc."""
        z = 1
        def inner(): ...
    class D:
        def n(self): ...
if A:
    def p(): ...
'''
    assert skeleton(tree(text), None) == (
        "A: dict[str, int] = ...\nB: int\nc, d = ...\ne, f, g = ...\n@os.register\nclass C(Base):\n    x = ...\n"
        "    y: int = ...\n    def m(self): ...\n    class D:\n        def n(self): ...\ndef p(): ..."
    )


def test_what_is_inside_a_function_is_shown_where_the_function_is_asked_for() -> None:
    parsed = tree("def f():\n    class C:\n        def m(self): ...\n    def g():\n        def h(): ...\n")
    [index] = named(parsed, "f")
    assert skeleton(parsed, [index]) == "def f():\n    class C:\n        def m(self): ...\n    def g(): ..."
    assert children(parsed, [index]) == ("C", "g")
    assert skeleton(parsed, None) == "def f(): ..."


def test_the_implementation_and_the_getter_speak_for_their_group() -> None:
    parsed = tree(
        "from typing import overload\n@overload\ndef f(a: int): ...\n@overload\ndef f(a: str): ...\n"
        "def f(a): '''Do.'''\n"
        "class C:\n    @property\n    def x(self): '''Get.'''\n    @x.setter\n    def x(self, v): '''Set.'''\n"
    )
    assert signature(parsed, named(parsed, "f")) == "def f(a)"
    assert docstring(parsed, named(parsed, "f")) == "Do."
    assert signature(parsed, named(parsed, "C", "x")) == "def x(self)"
    assert docstring(parsed, named(parsed, "C", "x")) == "Get."
    assert skeleton(parsed, named(parsed, "f")).count("@overload") == 2


def test_a_docstring_is_its_text_without_indentation() -> None:
    parsed = tree(
        '"""Module."""\ndef f():\n    """One.\n\n        Two.\n    Three.\n    """\n'
        'def g(): r"a\\b" "c"\ndef h(): f"x"\n'
    )
    assert docstring(parsed, None) == "Module."
    assert docstring(parsed, named(parsed, "f")) == "One.\n\n    Two.\nThree."
    assert docstring(parsed, named(parsed, "g")) == "a\\bc"
    assert docstring(parsed, named(parsed, "h")) == ""
    assert docstring(tree(""), None) == ""


def test_ten_thousand_classes_take_no_longer_than_they_must() -> None:
    parsed = tree("".join(f"class C{n}:\n    def m(self): ...\n" for n in range(10_000)))
    assert len(skeleton(parsed, None).splitlines()) == 20_000
    assert len(children(parsed, None)) == 10_000
