"""Values that flow into a piece of code and out of it; each case marks the piece by `#<` and `#>`."""

from __future__ import annotations

import ast
import textwrap

import pytest

from bae_source.syntax.flow.order import Timing, Weight, weight_of
from bae_source.syntax.flow.piece import Flows, flows_of, kept_variables
from bae_source.syntax.flow.scopes import Scopes
from bae_source.syntax.templates.surroundings import parents_of

CASES = {
    "next round": (
        """
        def f(xs):
            total = 0
            for x in xs:
                size = len(x)  #<
                total += size  #>
            return total
        """,
        "taken x total, given total",
    ),
    "maybe bound inside": (
        """
        def f(a):
            x = 1
            if a:  #<
                x = 2  #>
            return x
        """,
        "taken a x, given x",
    ),
    "bound on both ways": (
        """
        def f(a):
            if a:  #<
                x = 1
            else:
                x = 2  #>
            return x
        """,
        "taken a, given x",
    ),
    "maybe bound before": (
        """
        def f(a):
            if a:
                x = 1
            if a:  #<
                print(x)  #>
        """,
        "taken a x, perhaps_unbound x",
    ),
    "surely read, so it fails as before": (
        """
        def f(a):
            for x in a:
                pass
            print(x)  #<#>
        """,
        "taken x, fails_earlier x",
    ),
    "a handler of its own catches that it has no value": (
        """
        def f(a):
            for x in a:
                pass
            try:  #<
                print(x)
            except NameError:
                pass  #>
        """,
        "taken x, perhaps_unbound x",
    ),
    "an endless loop is left by break alone": (
        """
        def f(a):
            while True:
                x = next(a)
                if x:
                    break
            if a:  #<
                print(x)  #>
        """,
        "taken a x",
    ),
    "a test binds on one way": (
        """
        def f(a):
            if a and (x := a.go()):
                if x:  #<
                    print(x)  #>
        """,
        "taken x",
    ),
    "a finally on the way out binds": (
        """
        def f(a):
            try:
                x = a()
            finally:
                print(a)
            if a:  #<
                print(x)  #>
        """,
        "taken a x",
    ),
    "a handler goes on without": (
        """
        def f(a):
            try:
                x = a()
            except ValueError:
                pass
            if a:  #<
                print(x)  #>
        """,
        "taken a x, perhaps_unbound x",
    ),
    "a handler that leaves does not": (
        """
        def f(a):
            try:
                x = a()
            except ValueError:
                return
            if a:  #<
                print(x)  #>
        """,
        "taken a x",
    ),
    "a handler reads": (
        """
        def f(a):
            x = 0
            try:
                x = 1  #<
                a()  #>
            except ValueError:
                print(x)
        """,
        "taken a, lost_on_raise x",
    ),
    "what comes last cannot be lost": (
        """
        def f(a):
            x = 0
            try:
                x = a()  #<#>
            except ValueError:
                print(x)
        """,
        "taken a",
    ),
    "a return runs the finally": (
        """
        def f(a):
            x = 0
            try:
                x = a()  #<
                return 1  #>
            finally:
                print(x)
        """,
        "taken a, returns",
    ),
    "an exception has no name behind its handler": (
        """
        def f(a):
            try:
                a()
            except ValueError as e:
                print(e)  #<#>
        """,
        "taken e",
    ),
    "a comprehension's variable is its own": (
        """
        def f(xs):
            ys = [x for x in xs if x]  #<#>
            return ys
        """,
        "taken xs, given ys",
    ),
    "a walrus in it is the function's": (
        """
        def f(xs):
            last = 0
            ys = [last := x for x in xs]  #<#>
            return last
        """,
        "taken xs last, given last",
    ),
    "captured and bound again": (
        """
        def f(xs):
            for x in xs:
                xs.append(lambda: x)  #<#>
        """,
        "taken xs x, bound_later x",
    ),
    "captured and run at once": (
        """
        def f(xs):
            for x in xs:
                any(x == y for y in xs)  #<#>
        """,
        "taken x xs",
    ),
    "a closure sees it": (
        """
        def f():
            x = 1
            g = lambda: x
            x = 2  #<
            g()  #>
        """,
        "taken g, given x, lost_on_raise x, seen_by_closures x",
    ),
    "a closure binds it": (
        """
        def f():
            x = 1
            def g():
                nonlocal x
                x = 2
            g()  #<
            print(x)  #>
        """,
        "taken g x, rebound_by_closures x",
    ),
    "deleted": (
        """
        def f(x):
            del x  #<#>
            return 1
        """,
        "deleted x",
    ),
    "patterns bind": (
        """
        def f(x):
            match x:  #<
                case [a, *b]:
                    pass
                case {"k": a, **b}:
                    pass
                case _:
                    a = b = 1  #>
            return a, b
        """,
        "taken x, given a b",
    ),
    "a class looks into its function": (
        """
        def f(x):
            class A:  #<
                y = x
                def g(self):
                    return x  #>
            return A
        """,
        "taken x, given A",
    ),
    "the suite of a class": (
        """
        class A:
            x = 1
            y = x  #<#>
        """,
        "taken x, given y",
    ),
    "a suppressed exception": (
        """
        def f(a):
            x = 0
            with suppress(ValueError):
                x = 1  #<
                a()  #>
            return x
        """,
        "taken a, given x, lost_on_raise x",
    ),
    "a jump over an else": (
        """
        def f(xs):
            x = 0
            for y in xs:
                if y:
                    x = y  #<#>
                    break
            else:
                x = 2
            return x
        """,
        "taken y, given x",
    ),
}


@pytest.mark.parametrize(("code", "expected"), CASES.values(), ids=CASES)
def test_values_flow_in_and_out(code: str, expected: str) -> None:
    assert shown(flows(code)) == expected


@pytest.mark.parametrize(
    ("code", "is_last"),
    [
        ("def f(a):\n    if a:\n        g()  #<#>\n", True),
        ("def f(a):\n    if a:\n        g()  #<#>\n    return 1\n", False),
        ("def f(a):\n    for a in g():\n        g()  #<#>\n", False),
        ("def f(a):\n    try:\n        g()  #<#>\n    finally:\n        h()\n", False),
        ("def f(a):\n    with a:\n        g()  #<#>\n", False),
        ("def f(a):\n    g()  #<#>\n    return\n", True),
    ],
)
def test_what_nothing_runs_behind_is_last(code: str, is_last: bool) -> None:
    assert flows(code).is_last is is_last


@pytest.mark.parametrize(
    ("code", "part", "perhaps", "earlier"),
    [
        ("f(g(), h + 1)", "h + 1", "", ["f", "g()"]),
        ("x[a] = b(c)", "a", "", ["x", "b(c)"]),
        ("f({a: b, c: d})", "c", "", ["a", "b", "f"]),
        ("a and b", "b", "`and` or `or`", ["a"]),
        ("a if b else c", "c", "a conditional expression", ["b", "a"]),
        ("a < b < c", "c", "a chain of comparisons", ["a", "b"]),
        ("[x for x in a]", "a", "", []),
        ("[b for x in a]", "b", "a comprehension", []),
        ("lambda: a", "a", "a lambda", []),
        ("assert a, b", "b", "an assert, which Python may leave out", ["a"]),
        ("with a as b[c]: ...", "c", "the target of a `with`", ["b", "a"]),
        ("@a\ndef f(x=b, *, y=c): ...", "c", "", ["b", "a"]),
        ("@a\nclass A(b, k=c): ...", "b", "", ["a"]),
        ("x += a()", "a()", "", ["x"]),
        ("f(k=a, *b)", "b", "", ["f"]),
        ("f(k=a, *b)", "a", "", ["f", "*b"]),
        ("for x[a] in b(): ...", "b()", "", []),
    ],
)
def test_parts_of_a_statement_are_evaluated_in_their_order(
    code: str, part: str, perhaps: str, earlier: list[str]
) -> None:
    tree = ast.parse(code)
    [node] = [e for e in ast.walk(tree) if isinstance(e, ast.expr) and ast.get_source_segment(code, e) == part]
    timing = Timing(node, parents_of(tree, [(1, 9)]))
    assert timing.perhaps == perhaps
    assert [ast.get_source_segment(code, each) for each in timing.earlier] == earlier


@pytest.mark.parametrize(
    ("code", "weight"),
    [
        ("x", Weight.VALUE),
        ("(x, 1)", Weight.VALUE),
        ("x is None", Weight.VALUE),
        ("2 * 3 - 1", Weight.VALUE),
        ("'a' * 2", Weight.READS),
        ("1 / 0", Weight.READS),
        ("lambda: y()", Weight.VALUE),
        ("lambda z=x: y()", Weight.VALUE),
        ("lambda z=x.y: y()", Weight.READS),
        ("lambda z=y(): z", Weight.CALLS),
        ("len(x)", Weight.CALLS),
        ("x.y", Weight.READS),
        ("len", Weight.READS),
        ("[x]", Weight.READS),
        ("x()", Weight.CALLS),
        ("[y for y in x]", Weight.CALLS),
        ("(y := x)", Weight.CALLS),
    ],
)
def test_the_time_of_an_evaluation_matters_more_or_less(code: str, weight: Weight) -> None:
    tree = ast.parse(f"def f(x):\n    {code}\n")
    scopes = Scopes(tree)
    [statement] = tree.body[0].body  # type: ignore[attr-defined]
    kept = kept_variables(scopes, scopes.around[statement].frame, [statement])
    assert weight_of(statement.value, scopes, kept) is weight


def flows(code: str) -> Flows:
    """Return what flows into and out of the marked statements."""
    code = textwrap.dedent(code)
    lines = code.split("\n")
    first = next(number for number, line in enumerate(lines, 1) if "#<" in line)
    last = next(number for number, line in enumerate(lines, 1) if "#>" in line)
    tree = ast.parse(code)
    scopes = Scopes(tree)
    suites = [getattr(node, field, None) for node in ast.walk(tree) for field in ("body", "orelse")]
    pieces = [
        [each for each in suite if first <= each.lineno and (each.end_lineno or 0) <= last]
        for suite in suites
        if isinstance(suite, list)
    ]
    piece = next(each for each in pieces if each)
    return flows_of(scopes, scopes.around[piece[0]].frame, piece)


def shown(found: Flows) -> str:
    """Return the lists that hold something, and whether it returns."""
    parts = []
    for name in found.__struct_fields__:
        value = getattr(found, name)
        if isinstance(value, tuple) and value:
            parts.append(f"{name} {' '.join(each.name for each in value)}")
    return ", ".join([*parts, *(["returns"] if found.returns else [])])
