"""A part that is replaced and then given back as it was read gives every byte back."""

from __future__ import annotations

import pytest

from bae_source.errors import Refused, SourceError
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


@pytest.mark.parametrize("target", ["m", "m.C", "m.C.f"])
@pytest.mark.parametrize(
    "prose", ["The client.", "Client", "It's the client", "# The client", "Pass (x", "  The client."]
)
def test_prose_is_no_docstring_and_that_is_said(target: str, prose: str) -> None:
    space = workspace({"m.py": '"""M."""\n\n\nclass C:\n    """C."""\n\n    def f(self):\n        return 1\n'})
    with pytest.raises(Refused, match=r"not just (the|a) docstring") as caught:
        Edit(target=f"{target}@docstring", new_source=prose).plan(space)
    assert 'Give a string literal such as """Text."""' in caught.value.hints[0]


@pytest.mark.parametrize("target", ["m", "m.C"])
@pytest.mark.parametrize("literal", ['"""The client.', "'The client", "r'The client", '("The "'])
def test_a_docstring_that_does_not_end_does_not_parse(target: str, literal: str) -> None:
    space = workspace({"m.py": '"""M."""\n\n\nclass C:\n    """C."""\n'})
    with pytest.raises(SourceError) as caught:
        Edit(target=f"{target}@docstring", new_source=literal).plan(space)
    assert caught.value.code == "syntax_invalid"
