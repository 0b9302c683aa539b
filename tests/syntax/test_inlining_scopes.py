"""Names of a function as its scope and those inside have them."""

from __future__ import annotations

import ast

import pytest

from bae_source.syntax.inlining.scopes import names_read, own_names, uses_in


@pytest.mark.parametrize(
    ("body", "own", "free"),
    [
        ("return a + b", "a", "b"),
        ("b = a", "a b", ""),
        ("return [a for a in a]", "a", ""),
        ("return [b for b in c]", "a", "c"),
        ("return [(c := b) for b in a]", "a c", ""),
        ("return lambda a: a + b", "a", "b"),
        ("def g(x=b):\n        return x + a + c\n    return g", "a g", "b c"),
        ("class A(b):\n        c = a\n    return A", "a A", "b"),
        ("global b\n    b = a", "a", "b"),
        ("import os.path as p, re\n    return p, re", "a p re", ""),
        ("try:\n        pass\n    except b as e:\n        raise e", "a e", "b"),
        ("match a:\n        case [x, *y]:\n            return x, y, z", "a x y", "z"),
        ("for b in a:\n        c += b", "a b c", ""),
    ],
)
def test_a_function_has_its_own_names_and_takes_others(body: str, own: str, free: str) -> None:
    function = ast.parse(f"def f(a):\n    {body}\n").body[0]
    assert own_names(function) == {*own.split()}
    uses = list(uses_in(function))
    assert {each.name for each in uses if not each.is_own} == {*free.split()}
    assert {each.name for each in uses if each.is_own} <= own_names(function)


def test_a_use_knows_what_inner_scopes_hide() -> None:
    function = ast.parse("def f(a):\n    return [a for x in y for z in [lambda w: a]]\n").body[0]
    hidden = [each.hidden for each in uses_in(function) if each.name == "a"]
    assert sorted(map(sorted, hidden)) == [["w", "x", "z"], ["x", "z"]]


def test_an_expression_reads_what_it_does_not_bind() -> None:
    code = "a + sum(b for b in c) + (lambda d: d + e)(1)"
    assert names_read(ast.parse(code, mode="eval").body) == {"a", "sum", "c", "e"}
