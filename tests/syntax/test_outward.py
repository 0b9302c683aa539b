"""Which names of a definition may lead out of it; what is bound around or inside it never does."""

from __future__ import annotations

import pytest

from bae_source.syntax.outline.outward import outward_names
from bae_source.syntax.outline.tree import parse
from bae_source.syntax.text.source import Source


def names(text: str, *path: str, header_only: bool = False, free: bool = True) -> list[str]:
    tree = parse(Source(text.encode()))
    [index, *_] = [n for n in range(len(tree.outline.definitions)) if tree.outline.qualname(n) == path]
    found = outward_names(tree, index, header_only=header_only)
    for name in found:
        assert tree.text.startswith(name.chain[-1], name.offset)
    return [".".join(name.chain) for name in found if name.free is free]


def test_names_come_in_source_order_with_their_attributes() -> None:
    text = "@d.e(x)\ndef f(a: A, b: m.B = c()) -> list[R]:\n    return g(a).h + k.l.m\n"
    assert names(text, "f") == ["d.e", "x", "A", "m.B", "c", "list", "R", "g", "k.l.m"]
    assert names(text, "f", header_only=True) == ["d.e", "x", "A", "m.B", "c", "list", "R"]
    assert names("class C(B, metaclass=m.M):\n    x = y\n", "C", header_only=True) == ["B", "m.M"]


@pytest.mark.parametrize(
    "binding",
    [
        "x = 1",
        "x: int = 1",
        "x += 1",
        "for x in y: pass",
        "with y as x: pass",
        "import x",
        "import x.z",
        "from z import w as x",
        "(x := 1)",
        "def x(): pass",
        "class x: pass",
        "[x for x in y]",
        "lambda x: x",
        "try: pass\n    except E as x: pass",
        "match y:\n        case [x]: pass",
        "match y:\n        case {**x}: pass",
        "match y:\n        case [*x]: pass",
        "del x",
        "for a, (b, *x) in y: pass",
    ],
)
def test_a_name_that_is_bound_inside_is_not_free(binding: str) -> None:
    assert "x" not in names(f"def f():\n    {binding}\n    return x\n", "f")
    assert "x" not in names(f"def f():\n    {binding}\n    def g():\n        return x\n", "f", "g")


def test_a_parameter_is_not_free_in_the_body_and_not_visible_in_the_header() -> None:
    text = "def f(a, *b, c=a, **d):\n    return a, b, c, d, e\n"
    assert names(text, "f") == ["e"]
    assert names(text, "f", header_only=True) == ["a"]


def test_what_a_class_binds_is_not_free_in_its_own_level_nor_in_its_methods_headers() -> None:
    text = "class C:\n    T = 1\n    class D: ...\n    def f(self, a: T, b: D, c: E) -> C: ...\n"
    assert names(text, "C", "f", header_only=True) == ["E", "C"]
    assert names(text, "C", "f", header_only=True, free=False) == ["T", "D"]


def test_a_chain_on_a_bound_name_is_distinguished() -> None:
    text = "class C:\n    def f(self, a):\n        return self.g(a.h, k)\n"
    assert names(text, "C", "f") == ["k"]
    assert names(text, "C", "f", free=False) == ["self.g", "a.h"]


def test_a_definition_that_stands_indented_is_read_as_any_other() -> None:
    text = "if 1:\n\tdef f():\n\t\treturn é.b, x\n"
    assert names(text, "f") == ["é.b", "x"]
    assert names("if 1:\n    class C:\n        def f(self): return x\n", "C", "f") == ["x"]


def test_newer_or_too_deep_code_has_no_names_and_no_error() -> None:
    assert names(f"def f():\n    return {'-' * 100_000}x\n", "f") == []
    assert names("def f[T](a: T) -> B: ...\ntype X = 1\n", "f") in ([], ["B"])


def test_a_definitions_own_name_is_bound_outside_of_it() -> None:
    assert names("def f(): return f\n", "f") == ["f"]
    assert names("class C:\n    def f(self): return C, f\n", "C", "f") == ["C"]


def test_strings_are_left_out() -> None:
    assert names("def f(a: 'A') -> 'B': return 'c'\n", "f") == []
