"""What is too deep for a parser: the definition that holds it is found whole, read whole, edited and deleted whole."""

from __future__ import annotations

import pytest

from bae_source.project.workspace import Workspace
from bae_source.queries.read import Read
from bae_source.refactoring.delete import Delete
from bae_source.refactoring.edit import Edit
from bae_source.syntax.text.depth import shallow
from bae_source.syntax.text.source import NEWLINE
from tests.memory import Memory

SUM = " + ".join(["1"] * 20_000)
DOTS = "a" + ".b" * 5_000
TEXTS = " + ".join(['"a"'] * 20_000)
DEEP = {
    "a bare sum": ("X", f"X = {SUM}\n"),
    "a sum over joined lines": ("X", "X = 1 + \\\n" + " + \\\n".join(["  1"] * 5_000) + "\n"),
    "a sum of strings": ("X", f"X = {TEXTS}\n"),
    "a sum in brackets": ("X", f"X = (\n  {SUM}\n)\n"),
    "a chain of attributes": ("X", f"X = {DOTS}\n"),
    "several targets": ("b", f"a = b = {SUM}\n"),
    "an annotation and a value": ("X", f"X: {DOTS} = {SUM}\n"),
    "an augmented assignment": ("X", f"X += {SUM}\n"),
    "a body on its header's line": ("f", f"def f(): return {SUM}\n"),
    "a body of its own": ("f", f"def f():\n    return {SUM}\n"),
    "a default": ("f", f"def f(x={DOTS}): pass\n"),
    "a return annotation": ("f", f"def f() -> {DOTS}: pass\n"),
    "a decorator": ("f", f"@{DOTS}\ndef f(): pass\n"),
    "a base class": ("C", f"class C({DOTS}):\n    x = {SUM}\n"),
    "lambdas in lambdas": ("X", "X = " + "lambda: " * 20_000 + "1\n"),
    "choices in choices": ("X", "X = " + "1 if a else " * 20_000 + "2\n"),
    "a header with a target": ("f", f"for x in {DOTS}:\n    pass\nwith {DOTS} as q: pass\ndef f(): return 1\n"),
    "a match": ("f", f"match {DOTS}:\n    case {DOTS}: pass\ndef f(): return 1\n"),
    "calls with keywords": ("X", f"print(x=1){'.b' * 5_000}\nf(y=2){'.z' * 5_000} = 1\nX = 1\n"),
}


def workspace(text: str) -> Workspace:
    return Workspace(Memory({"m.py": text.encode()}))


@pytest.mark.parametrize(("name", "text"), DEEP.values(), ids=DEEP.keys())
def test_a_deep_definition_is_read_and_deleted_whole_and_so_are_its_neighbours(name: str, text: str) -> None:
    whole = f"first = 0\n{text}last = 2\n"
    here = workspace(whole)
    read = Read(target=f"m.{name}").answer(here).text
    assert text.endswith(read)
    assert Edit(target=f"m.{name}", new_source=read).plan(here).changes.files == ()
    assert Read(target="m.first").answer(here).text == "first = 0\n"
    assert Read(target="m.last").answer(here).text == "last = 2\n"
    plan = Edit(target="m.last", new_source="last = 3\n").plan(here)
    assert plan.changes.files[0].apply(whole.encode()).decode() == f"first = 0\n{text}last = 3\n"


def test_a_deep_assignment_is_replaced_whole_and_put_back() -> None:
    whole = f"X = {SUM}\ny = 1\n"
    plan = Edit(target="m.X", new_source="X = 2\n").plan(workspace(whole))
    after = plan.changes.files[0].apply(whole.encode()).decode()
    assert after == "X = 2\ny = 1\n"
    back = Edit(target="m.X", new_source=f"X = {SUM}\n").plan(workspace(after))
    assert back.changes.files[0].apply(after.encode()).decode() == whole
    gone = Delete(target="m.X").plan(workspace(whole))
    assert gone.changes.files[0].apply(whole.encode()).decode() == "y = 1\n"


def test_deep_statements_that_share_a_line_are_all_there() -> None:
    text = f"Z = 5; W = {SUM}; V = 2\n"
    assert Read(target="m.W").answer(workspace(text)).text == f"W = {SUM}"
    plan = Edit(target="m.W", new_source="W = 1").plan(workspace(text))
    assert plan.changes.files[0].apply(text.encode()) == b"Z = 5; W = 1; V = 2\n"


@pytest.mark.parametrize("text", [text for _, text in DEEP.values()], ids=DEEP.keys())
def test_shallow_text_has_the_length_and_the_lines_of_the_text(text: str) -> None:
    reduced = shallow(text)
    assert len(reduced) == len(text)
    assert [match.span() for match in NEWLINE.finditer(reduced)] == [match.span() for match in NEWLINE.finditer(text)]
    assert shallow(reduced) == reduced
