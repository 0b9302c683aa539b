"""Calls that ask for less: each of them is a call, and its answer is shorter."""

from __future__ import annotations

import pytest

from bae_source.engine.registry import request
from bae_source.model.request import Request
from bae_source.project.naming.narrower import narrower
from bae_source.project.workspace import Workspace
from tests.project.support import workspace

FILES = {
    "app/__init__.py": "def top():\n    pass\n",
    "app/core.py": "class A:\n"
    + "".join(f"    def m{n}(self):\n        return {n}\n" for n in range(9))
    + "def g():\n    pass\n",
    "app/net/__init__.py": "",
    "app/net/client.py": "x = 1\n" * 200,
    "other.py": "y = 1\n",
    "broken.py": "def f(:\n",
}


@pytest.fixture
def space() -> Workspace:
    return workspace(FILES)


def calls(space: Workspace, verb: str, **given: object) -> list[str]:
    return narrower(space, request(verb, given))


def test_a_project_is_narrowed_to_its_packages_the_largest_first(space: Workspace) -> None:
    assert calls(space, "read") == ["read app", "read broken", "read other"]
    assert calls(space, "grep", pattern="x y") == ["grep 'x y' app", "grep 'x y' broken", "grep 'x y' other"]


def test_a_package_is_narrowed_to_its_modules_and_definitions(space: Workspace) -> None:
    assert calls(space, "outline", target="app", depth=3) == [
        "outline app", "outline app.net --depth 3", "outline app.core --depth 3", "outline app.top --depth 3",
    ]  # fmt: skip


def test_a_module_is_narrowed_to_its_interface_and_its_definitions(space: Workspace) -> None:
    assert calls(space, "read", target="app.core", full=True) == [
        "read app.core", "read app.core.A --full", "read app.core.g --full",
    ]  # fmt: skip


def test_a_class_is_narrowed_to_a_few_of_its_methods(space: Workspace) -> None:
    found = calls(space, "read", target="app.core.A")
    assert found == [f"read app.core.A.m{n}" for n in range(5)]


def test_what_has_no_parts_or_does_not_parse_is_not_narrowed(space: Workspace) -> None:
    assert calls(space, "read", target="app.core.g") == []
    assert calls(space, "read", target="broken") == []


def test_a_question_about_what_lies_elsewhere_is_narrowed_by_its_scope_and_not_by_its_target(space: Workspace) -> None:
    asked: Request = request("references", {"target": "app.core"})
    assert narrower(space, asked) == [
        "references app.core app",
        "references app.core broken",
        "references app.core other",
    ]


def test_what_is_exposed_elsewhere_is_narrowed_to_its_parts_at_home() -> None:
    space = workspace({**FILES, "app/__init__.py": "from app.core import A as B\n"})
    assert calls(space, "read", target="app.B")[:2] == ["read app.core.A.m0", "read app.core.A.m1"]


def test_names_from_anywhere_are_narrowed_to_those_in_the_largest_packages(space: Workspace) -> None:
    assert calls(space, "glob", pattern="**") == ["glob 'app.**'", "glob 'broken.**'", "glob 'other.**'"]
    assert calls(space, "glob", pattern="**.m*", kind="method") == [
        "glob 'app.**.m*' --kind method", "glob 'broken.**.m*' --kind method", "glob 'other.**.m*' --kind method",
    ]  # fmt: skip
    assert calls(space, "glob", pattern="app.*") == []
