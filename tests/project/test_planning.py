"""Plans over several files: each is checked, whatever else is in the plan."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from bae_source.errors import Refused, SourceError
from bae_source.model.plan import Plan
from bae_source.model.span import Span
from bae_source.project.files.layout import Layout
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import Spliced, planned_files
from tests.memory import Memory

FILES = {
    "a.py": b"def f():\r\n    return 1\r\n",
    "b.py": b"X = '\xc3\xa9'\n",
    "broken.py": b"def (:\n",
    "run.py": b"#!/usr/bin/python\nX = 1\n",
    "data.bin": b"\x00\xff",
    "pyproject.toml": b'[project]\nrequires-python = ">=3.8"\n',
}


def space() -> Workspace:
    memory = Memory(FILES)
    return Workspace(memory, layout=Layout(memory, [""]))


def spliced(workspace: Workspace, path: str, old: str, new: str) -> Spliced:
    module = workspace.layout.module_at(path)
    assert module is not None
    at = workspace.tree(module).text.index(old)
    span = Span(at, at + len(old))
    return Spliced(module=module, splices=((span, new),), targets=(span,))


def plan(
    contents: Mapping[str, bytes | None], *changes: tuple[str, str, str], origins: Mapping[str, str] | None = None
) -> Plan:
    workspace = space()
    each = [spliced(workspace, *change) for change in changes]
    return planned_files(workspace, summary="s", changed=("a",), spliced=each, contents=contents, origins=origins)


def after(made: Plan) -> dict[str, bytes | None]:
    return {
        file.path: None if file.after is None else file.apply(FILES.get(file.path, b"")) for file in made.changes.files
    }


def test_splices_and_whole_files_come_together_sorted_by_path() -> None:
    made = plan({"c.py": b"", "b.py": None, "data.bin": b"\x01"}, ("a.py", "1", "2"))
    assert after(made) == {"a.py": b"def f():\r\n    return 2\r\n", "b.py": None, "c.py": b"", "data.bin": b"\x01"}
    assert [module.name for module in made.modules] == ["a", "b", "c"]


def test_what_stays_as_it_is_is_no_part_of_the_plan() -> None:
    made = plan({"b.py": FILES["b.py"], "nowhere.py": None}, ("a.py", "1", "1"))
    assert not made.changes
    assert made.modules == ()


def test_a_file_that_is_moved_is_let_through_whatever_is_in_it() -> None:
    made = plan({"broken.py": None, "there.py": FILES["broken.py"]}, origins={"there.py": "broken.py"})
    assert [(file.path, file.origin) for file in made.changes.files] == [("broken.py", None), ("there.py", "broken.py")]
    with pytest.raises(SourceError, match=r"there would be at fault"):
        plan({"broken.py": None, "there.py": b"def (::\n"}, origins={"there.py": "broken.py"})


@pytest.mark.parametrize("content", [b"def (:\n", b"'\xff'\n", b"match x:\n    case 1: pass\n"])
def test_a_new_file_that_is_no_python_of_the_projects_is_refused(content: bytes) -> None:
    with pytest.raises(SourceError):
        plan({"c.py": content})


def test_one_splice_that_is_wrong_refuses_all() -> None:
    with pytest.raises(SourceError, match="b would be at fault"):
        plan({"c.py": b"X = 1\n"}, ("a.py", "1", "2"), ("b.py", "X", "X Y"))
    with pytest.raises(Refused, match="outside the request"):
        plan({}, ("a.py", "f():\r\n    return 1", "g():\r\n    return 1"))


def test_a_script_is_not_imported_for_a_check_also_when_it_goes() -> None:
    gone, made = plan({"run.py": None}), plan({"other.py": b"#!x\n"})
    assert [module.import_checked for module in (*gone.modules, *made.modules)] == [False, False]


@pytest.mark.parametrize(("text", "new"), [('X = """1\n2"""\n', "import os\n"), ("X = [\n1]\n", "3,\n")])
def test_an_edit_inside_of_a_definition_that_is_no_target_is_refused(text: str, new: str) -> None:
    memory = Memory({"m.py": text.encode()})
    workspace = Workspace(memory, layout=Layout(memory, [""]))
    module = workspace.layout.module_at("m.py")
    assert module is not None
    at = text.index("\n") + 1
    inside = Spliced(module=module, splices=((Span(at, at), new),))
    with pytest.raises(Refused, match="outside the request"):
        planned_files(workspace, summary="s", changed=("m",), spliced=[inside])
    there = replace(inside, targets=(Span(0, len(text)),))
    assert planned_files(workspace, summary="s", changed=("m",), spliced=[there]).changes
