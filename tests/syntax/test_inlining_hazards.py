"""Why a value cannot, or may not, go from its assignment to a read; the value is that of `x`, the read the last `x`."""

from __future__ import annotations

import ast

import pytest

from bae_source.model.reasons import Reason
from bae_source.syntax.inlining.code import Code
from bae_source.syntax.inlining.hazards import hazard, is_reached, value_of, way_to
from bae_source.syntax.text.source import Source


def found(body: str) -> str:
    """Return the name of the reason that a function's body gives; nothing where the value can go."""
    code = Code(Source.of_text("def f(a, b, g):\n" + "".join(f"    {line}\n" for line in body.split("\n"))))
    function = code.tree.body[0]
    reads = [each for each in ast.walk(function) if isinstance(each, ast.Name) and each.id == "x"]
    loads = [each for each in reads if isinstance(each.ctx, ast.Load)]
    read = max(loads, key=lambda each: (each.lineno, each.col_offset))
    start = next(each for each in ast.walk(function) if isinstance(each, ast.Assign))
    value = value_of(start.value, code.bound, unsteady=frozenset({"u"}), volatile=frozenset({"v"}))
    if not is_reached(start, read, code.parents):
        return "NOT_REACHED"
    reason = hazard(value, way_to(function, start, read, code.parents, code.bound), is_alone=len(loads) == 1)
    return "" if reason is None else next(each.name for each in Reason if _is_of(each, reason.why))


def _is_of(reason: Reason, why: str) -> bool:
    begin, _, end = reason.sentence.partition("{")
    return why == reason.sentence or (bool(end) and why.startswith(begin) and why.endswith(end.partition("}")[2]))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = 1\ng()\nreturn lambda: x", ""),
        ("x = a\ng()\nreturn x", ""),
        ("x = v\ng()\nreturn x", "STATE_MAY_CHANGE"),
        ("x = a\na = 2\nreturn x", "BOUND_ANEW"),
        ("x = a\nfor i in b:\n    x\n    a = i", "BOUND_ANEW"),
        ("x = a\nif b:\n    a = 1\nelse:\n    return x", ""),
        ("x = a\nreturn lambda: x", ""),
        ("x = u\nreturn lambda: x", "EVALUATED_LATER"),
        ("x = a.b\nreturn lambda: x", "EVALUATED_LATER"),
        ("x = a.b\nreturn x", ""),
        ("x = a.b\nb[0] = 1\nreturn x", "STATE_MAY_CHANGE"),
        ("x = a.b\nfor i in b:\n    x", "STATE_MAY_CHANGE"),
        ("x = a.b\nfor i in range(3):\n    x", ""),
        ("x = a.b\ntry:\n    x\nfinally:\n    b", "CAUGHT_HERE"),
        ("x = g()\nreturn x", ""),
        ("x = g()\nreturn x, x", "EVALUATED_AGAIN"),
        ("x = g()\nfor i in range(3):\n    x", "EVALUATED_AGAIN"),
        ("x = g()\nreturn b and x", "EVALUATED_PERHAPS"),
        ("x = g()\nif b:\n    return 1\nreturn x", "EVALUATED_PERHAPS"),
        ("x = g()\nreturn b.c, x", "RUNS_BEHIND"),
        ("x = g()\nreturn b.c(x)", ""),
        ("x = g()\nb = a\nreturn x", ""),
        ("x = []\nreturn x", ""),
        ("x = []\nreturn x, x", "EVALUATED_AGAIN"),
        ("x = []\nreturn lambda: x", "EVALUATED_AGAIN"),
        ("if a:\n    x = 1\nreturn x", "NOT_REACHED"),
        ("for i in b:\n    print(i)\n    x = 1\n    return x", ""),
        ("try:\n    x = 1\nexcept E:\n    return x", "NOT_REACHED"),
    ],
)
def test_a_way_to_a_read_has_its_hazard(body: str, expected: str) -> None:
    assert found(body) == expected
