"""What receivers are, where code is long, deep or goes in circles: an answer in time, and never more than is known."""

from __future__ import annotations

import pytest

from bae_source.project.naming.resolve import resolve
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search.references import references_to
from bae_source.project.workspace import Workspace
from tests.project.support import workspace

CLASS = "class C:\n    def m(self) -> 'C': return self\n    def n(self): return self\n\n\n"


def found(space: Workspace, target: str) -> list[tuple[int, str]]:
    answer = references_to(project_of(space), resolve(space, target))
    assert answer.complete
    return [(each.line, each.certainty) for each in answer.found]


def test_a_short_chain_of_annotated_calls_is_followed() -> None:
    assert found(workspace({"m.py": f"{CLASS}C().m().m().m()\n"}), "m.C.m") == [(6, "sure")] * 3


@pytest.mark.parametrize(("length", "certainty"), [(20, "sure"), (70, "sure"), (400, "sure"), (900, "unsure")])
def test_a_long_chain_is_followed_unless_it_is_too_long_for_the_parser(length: int, certainty: str) -> None:
    answer = found(workspace({"m.py": CLASS + "C()" + ".m()" * length + "\n"}), "m.C.m")
    assert answer == [(6, certainty)] * length


def test_functions_that_all_return_each_other_are_given_up_on() -> None:
    names = [f"f{n}" for n in range(30)]
    functions = "".join(f"def {name}(): return {' or '.join(f'{other}()' for other in names)}\n" for name in names)
    assert [certainty for _, certainty in found(workspace({"m.py": f"{CLASS}{functions}f0().m()\n"}), "m.C.m")] == [
        "unsure"
    ]


def test_attributes_of_self_in_a_long_chain_are_worked_out_once_each() -> None:
    body = "".join(f"        self.a{n} = self.a{n - 1}.b.c.d.e.f\n" for n in range(1, 40))
    text = f"{CLASS}class D:\n    def __init__(self):\n        self.a0 = C()\n{body}        self.a39.m()\n"
    assert found(workspace({"m.py": text}), "m.C.m") == [(48, "unsure")]


@pytest.mark.parametrize(
    "text",
    [
        "x = x.y\nx.m()\n",
        "x = y\ny = x\nx.m()\n",
        "def f(): return g()\ndef g(): return f()\nf().m()\n",
        "class D:\n    @property\n    def p(self): return self.p\nD().p.m()\n",
        "class D(E): ...\nclass E(D): ...\nD().m()\n",
        "class D(D.E): ...\nD().m()\n",
        "from m import x\nx.m()\n",
    ],
)
def test_what_goes_in_a_circle_is_not_known(text: str) -> None:
    lines = [line for line, certainty in found(workspace({"m.py": CLASS + text}), "m.C.m") if certainty == "sure"]
    assert lines == []


def test_a_hierarchy_is_looked_into_however_deep_it_is() -> None:
    classes = "".join(f"class D{n}(D{n - 1}): ...\n" for n in range(1, 400))
    text = f"{CLASS}class D0(C): ...\n{classes}D5().m()\nD399().m()\n"
    answer = dict(found(workspace({"m.py": text}), "m.C.m"))
    assert answer[406] == answer[407] == "sure"


def test_what_a_class_far_below_binds_is_among_what_its_instances_may_have() -> None:
    classes = "".join(f"class D{n}(D{n - 1}): ...\n" for n in range(1, 50))
    text = f"{CLASS}    def n(self): self.m()\nclass D0(C): ...\n{classes}class E(D49):\n    def m(self): ...\n"
    line = text.splitlines().index("    def n(self): self.m()") + 1
    assert (line, "unsure") in found(workspace({"m.py": text}), "m.E.m")
    again = workspace({"m.py": text})
    found(again, "m.D3")
    assert (line, "unsure") in found(again, "m.E.m")


def test_the_same_question_has_the_same_answer_whatever_was_asked_before() -> None:
    text = CLASS + "C()" + ".m()" * 30 + "\n" + "C()" + ".m()" * 30 + ".n()\n"
    fresh = workspace({"m.py": text})
    first = found(fresh, "m.C.n")
    again = workspace({"m.py": text})
    found(again, "m.C.m")
    assert found(again, "m.C.n") == first
