"""The order in which classes are searched, against Python's own."""

from __future__ import annotations

import random
from typing import Any

import pytest

from bae_source.project.references.meaning.meanings import Outside
from bae_source.project.references.types.values import Class
from tests.project.usage.support import class_named, name_of, project

SEED = 20261122


def _random_module(seed: int) -> tuple[str, dict[str, Any]]:
    """Classes with random bases that Python accepts, as source and as they are."""
    choice = random.Random(seed)
    namespace: dict[str, Any] = {}
    lines: list[str] = []
    for number in range(12):
        names = [f"C{each}" for each in range(number)]
        bases = choice.sample(names, min(len(names), choice.randint(0, 3)))
        line = f"class C{number}({', '.join(bases)}): f{choice.randint(0, 3)} = {number}"
        try:
            exec(line, namespace)  # source of ours
        except TypeError:  # no order fits these bases
            line = f"class C{number}: ..."
            exec(line, namespace)
        lines.append(line)
    return "\n".join(lines) + "\n", namespace


@pytest.mark.parametrize("seed", range(SEED, SEED + 40))
def test_the_order_is_that_of_python(seed: int) -> None:
    text, namespace = _random_module(seed)
    found = project({"m.py": text})
    orders = found.inference.orders
    for number in range(12):
        order = orders.of(class_named(found, "m.py", f"C{number}"))
        real = namespace[f"C{number}"].__mro__
        assert [name_of(found, each) for each in order.classes] == [each.__name__ for each in real[:-1]]
        assert order.complete
        for name in ("f0", "f1", "f2", "f3"):
            owners = [each.__name__ for each in real if name in vars(each)][:1]
            members = orders.members(order, name)
            assert [name_of(found, Class("m.py", each.symbol.scope)) for each in members] == owners
            assert all(member.sure for member in members)


def test_what_comes_behind_a_class_outside_the_project_is_not_sure() -> None:
    found = project({"m.py": "import x\nclass A: f = g = 1\nclass B(x.Y): g = 1\nclass C(B, A): ...\n"})
    orders = found.inference.orders
    order = orders.of(class_named(found, "m.py", "C"))
    assert order.outside == {"x.Y"}
    assert [each.name if isinstance(each, Outside) else name_of(found, each) for each in order.nodes] == [
        "C", "B", "x.Y", "A",
    ]  # fmt: skip
    assert [member.sure for member in orders.members(order, "g")] == [True]
    assert [member.sure for member in orders.members(order, "f")] == [False]


def test_what_an_unknown_base_brings_is_not_sure_but_the_class_itself_is() -> None:
    found = project({"m.py": "class A: f = 1\nclass B(make(), A): g = 1\n"})
    orders = found.inference.orders
    order = orders.of(class_named(found, "m.py", "B"))
    assert [member.sure for member in orders.members(order, "g")] == [True]
    assert [member.sure for member in orders.members(order, "f")] == [False]
    assert not order.complete


@pytest.mark.parametrize(
    "text",
    [
        "class A(B): f = 1\nclass B(A): f = 1\n",
        "class A(A): f = 1\n",
        "class A: ...\nclass B(A): ...\nclass C(A, B): f = 1\n",
    ],
)
def test_bases_that_python_would_refuse_do_no_harm(text: str) -> None:
    found = project({"m.py": text})
    for name in found.uses("m.py").scopes[0].names:
        order = found.inference.orders.of(class_named(found, "m.py", name))
        assert order.classes[0] == class_named(found, "m.py", name)


def test_generic_bases_and_protocols_are_no_unknown_ones() -> None:
    text = (
        "from typing import Generic, Protocol, TypeVar\nT = TypeVar('T')\n"
        "class P(Protocol[T]): f = 1\nclass G(P[int], Generic[T]): g = 1\n"
    )
    found = project({"m.py": text})
    orders = found.inference.orders
    assert orders.of(class_named(found, "m.py", "G")).complete
    assert orders.is_protocol(class_named(found, "m.py", "P"))
    assert not orders.is_protocol(class_named(found, "m.py", "G"))
