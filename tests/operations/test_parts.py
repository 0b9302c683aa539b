"""A part that is replaced and then given back as it was read gives every byte back."""

from __future__ import annotations

from bae_source.operations.edit import Edit
from bae_source.operations.insert import Insert
from bae_source.project.resolve import resolve
from bae_source.queries.read import Read
from tests.project.support import after, workspace


def _back(text: str, target: str, new: str) -> str:
    space = workspace({"m.py": text})
    old = Read(target=target).answer(space).text
    changed = workspace(after(space, Edit(target=target, new_source=new).plan(space)))
    plan = Edit(target=target, new_source=old).plan(changed)
    return after(changed, plan)["m.py"].decode()


def test_a_body_that_begins_with_a_blank_line_comes_back_with_it() -> None:
    text = 'class C:\n    """D."""\n\n    x = 1\n\n\nclass D:\n\n    y = 1\n'
    assert _back(text, "m.C@body", "z = 2\n") == text
    assert _back(text, "m.D@body", "z = 2\n") == text


def test_what_an_insertion_says_it_changed_can_be_resolved() -> None:
    space = workspace({"m.py": "def f():\n    return 1\n"})
    plan = Insert(target="m.f", new_source="total = 0\n", position="first").plan(space)
    new = workspace(after(space, plan))
    for changed in plan.changed:
        resolve(new, changed)
