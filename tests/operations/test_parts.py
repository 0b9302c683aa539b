"""A part that is replaced and then given back as it was read gives every byte back."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import Refused, SourceError
from bae_source.project.naming.resolve import resolve
from bae_source.queries.read import Read
from bae_source.refactoring.edit import Edit
from bae_source.refactoring.insert import Insert
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
def test_prose_is_no_docstring_and_that_is_reported(target: str, prose: str) -> None:
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


DOCUMENTED = {
    "function": 'def f(x):\n    """Old."""\n    return x\n\n\nz = 1\n',
    "comment behind": 'def f(x):\n    """Old."""  # noqa\n    return x\n\n\nz = 1\n',
    "docstring alone": 'def f(x):\n    """Old."""\n\n\nz = 1\n',
    "shared line": 'def f(x):\n    """Old."""; return x\n\n\nz = 1\n',
    "class": 'class f:\n    """Old."""\n\n    def m(self):\n        return 1\n\n\nz = 1\n',
}
WITH_DOCSTRING = [
    '"""{}"""\nlocals()\nglobals()',
    '    """{}"""\n\n    locals()\n    globals()\n',
    '"""{}"""\n    locals()\n    globals()',
    '"""{}"""; locals()\nglobals()',
]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("docstring", ["New.", "Old.", "New.\n\n    More.\n    "])
@pytest.mark.parametrize("given", WITH_DOCSTRING)
@pytest.mark.parametrize("form", list(DOCUMENTED))
def test_a_docstring_that_leads_a_body_takes_the_place_of_the_present_one(
    form: str, given: str, docstring: str, newline: str
) -> None:
    space = workspace({"m.py": DOCUMENTED[form].replace("\n", newline)})
    content = after(space, Edit(target="m.f@body", new_source=given.format(docstring)).plan(space))["m.py"]
    assert content.count(b"\n") == content.count(newline.encode())
    found = ast.parse(content).body
    assert isinstance(found[0], ast.FunctionDef | ast.ClassDef)
    assert ast.get_docstring(found[0]) == inspect.cleandoc(docstring)
    assert [ast.unparse(each) for each in found[0].body[1:]] == ["locals()", "globals()"]
    assert ast.unparse(found[1]) == "z = 1"
    assert ("# noqa" in content.decode()) == (form == "comment behind")


def test_a_second_string_of_a_body_stays_a_statement(tmp_path: Path) -> None:
    (tmp_path / "mod.py").write_text(DOCUMENTED["function"])
    Source(tmp_path).edit("mod.f@body", '"""New."""\n"""Second."""\nreturn 1', reload="off")
    expected = 'def f(x):\n    """New."""\n    """Second."""\n    return 1\n\n\nz = 1\n'
    assert (tmp_path / "mod.py").read_text() == expected


def test_a_body_that_is_there_with_its_docstring_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "mod.py").write_text(DOCUMENTED["function"])
    Source(tmp_path).edit("mod.f@body", '"""Old."""\nreturn x', reload="off")
    assert (tmp_path / "mod.py").read_text() == DOCUMENTED["function"]


def test_a_docstring_alone_is_no_body_of_what_has_code(tmp_path: Path) -> None:
    (tmp_path / "mod.py").write_text(DOCUMENTED["function"])
    with pytest.raises(Refused, match="a docstring and nothing else") as caught:
        Source(tmp_path).edit("mod.f@body", '"""New."""', reload="off")
    assert "@docstring" in caught.value.hints[0]
    (tmp_path / "mod.py").write_text(DOCUMENTED["docstring alone"])
    Source(tmp_path).edit("mod.f@body", '"""New."""', reload="off")
    assert (tmp_path / "mod.py").read_text() == DOCUMENTED["docstring alone"].replace("Old", "New")
