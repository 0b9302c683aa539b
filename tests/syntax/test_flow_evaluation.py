"""The order in which code is evaluated, and what the value of an expression depends on."""

from __future__ import annotations

import ast

import pytest

from bae_source.syntax.flow.evaluation import Depends, depends, is_fresh, steps_of


def shown(code: str) -> list[str]:
    """Return the names and calls of some code in the order of their evaluation; `?` may be left out, `…` is later."""
    found = []
    for step in steps_of(ast.parse(code).body):
        if isinstance(step.node, (ast.Name, ast.Call)):
            found.append(f"{ast.unparse(step.node)}{'…' if step.later else '?' if step.maybe else ''}")
    return found


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a[i] = f(b)", ["f", "b", "f(b)", "a", "i"]),
        ("x: T = f()", ["f", "f()", "x", "T"]),
        ("f(a, k=b)", ["f", "a", "b", "f(a, k=b)"]),
        ("a and b", ["a", "b?"]),
        ("a < b < c", ["a", "b", "c?"]),
        ("b if a else c", ["a", "b?", "c?"]),
        ("{a: b, c: d}", ["a", "b", "c", "d"]),
        ("lambda x=a: b", ["a", "b…"]),
        ("[a for b in c if d]", ["c", "b?", "d?", "a?"]),
        ("(a for b in c)", ["c", "b…", "a…"]),
        ("for a in b:\n    c", ["b", "a?", "c?"]),
        ("while a:\n    b", ["a", "b?"]),
        ("try:\n    a\nexcept b:\n    c\nfinally:\n    d", ["a?", "b?", "c?", "d"]),
        ("with a as b:\n    c", ["a", "b", "c"]),
        ("@a\ndef f(x=b):\n    c", ["a", "b", "c…"]),
        ("class A(a):\n    b", ["a", "b"]),
        ("match a:\n    case 1:\n        b", ["a", "b?"]),
        ("assert a, b", ["a", "b?"]),
    ],
)
def test_steps_come_in_the_order_of_evaluation(code: str, expected: list[str]) -> None:
    assert shown(code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("1", Depends.NOTHING),
        ("-60 * 60", Depends.NOTHING),
        ("(1, 'a')", Depends.NOTHING),
        ("a", Depends.NAMES),
        ("(a, b)", Depends.NAMES),
        ("a if b else c", Depends.NAMES),
        ("lambda: f()", Depends.NAMES),
        ("K * 2", Depends.NAMES),
        ("a * 2", Depends.STATE),
        ("a.b", Depends.STATE),
        ("a[0]", Depends.STATE),
        ("f'{a}'", Depends.STATE),
        ("len(a)", Depends.STATE),
        ("str(a)", Depends.RUNS),
        ("f()", Depends.RUNS),
        ("[f(a)]", Depends.RUNS),
        ("[x for x in a]", Depends.RUNS),
        ("(a := 1)", Depends.RUNS),
    ],
)
def test_a_value_depends_on_what_evaluating_it_does(code: str, expected: Depends) -> None:
    assert depends(ast.parse(code, mode="eval").body, frozenset({"str"}), frozenset({"K"})) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        *((each, False) for each in ("1", "a", "a.b", "len(a)", "(1, a)")),
        *((each, True) for each in ("[]", "(1, [])", "f()", "lambda: 1", "a or {}", "1 if a else []")),
    ],
)
def test_a_value_is_fresh_if_it_may_be_another_object_each_time(code: str, expected: bool) -> None:
    assert is_fresh(ast.parse(code, mode="eval").body) is expected
