"""Names of a function as its scope and those inside have them."""

from __future__ import annotations

import ast

import pytest

from bae_source.syntax.flow.scopes import Scope, Scopes
from bae_source.syntax.inlining.scopes import names_read, uses_in


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
    scopes, scope = _function(f"def f(a):\n    {body}\n")
    assert scope.own == {*own.split()}
    uses = list(uses_in(scopes, scope))
    assert {each.name for each in uses if not each.is_own} == {*free.split()}
    assert {each.name for each in uses if each.is_own} <= scope.own


def test_a_use_knows_what_inner_scopes_hide() -> None:
    function = _function("def f(a):\n    return [a for x in y for z in [lambda w: a]]\n")
    hidden = [each.hidden for each in uses_in(*function) if each.name == "a"]
    assert sorted(map(sorted, hidden)) == [["w", "x", "z"], ["x", "z"]]


def test_an_expression_reads_what_it_does_not_bind() -> None:
    code = "a + sum(b for b in c) + (lambda d: d + e)(1)"
    assert names_read(ast.parse(code, mode="eval").body) == {"a", "sum", "c", "e"}


def test_a_function_does_not_see_the_names_of_a_class_around_it() -> None:
    uses = uses_in(*_function("def f(a):\n    class A:\n        b = 1\n        def g(self):\n            return b\n"))
    assert [each.is_own for each in uses if each.name == "b"] == [False]


def _function(text: str) -> tuple[Scopes, Scope]:
    tree = ast.parse(text)
    scopes = Scopes(tree)
    return scopes, scopes.opened[tree.body[0]]
