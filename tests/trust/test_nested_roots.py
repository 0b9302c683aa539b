"""Roots of one repository, one below the other, know of each other's changes to a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source.model.context import Context
from tests.trust.support import Machine, project

OFF = Context(reload="off")


@pytest.fixture
def victim(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "victim")


@pytest.fixture
def roots(victim: Machine) -> tuple[Path, Path]:
    top = project(victim.folder / "top")
    below = top / "services"
    below.mkdir()
    (below / "pyproject.toml").write_text('[project]\nname = "services"\nversion = "1"\n')
    (below / "__init__.py").write_text("")
    (below / "api.py").write_text("def go():\n    return 1\n")
    return top, below


@pytest.mark.parametrize("first", ["top", "below"])
def test_an_undo_names_the_operation_of_the_other_root(victim: Machine, roots: tuple[Path, Path], first: str) -> None:
    top, below = roots
    names = {top: "services.api.go", below: "api.go"}
    one, other = (top, below) if first == "top" else (below, top)
    victim.run(one, "edit", OFF, target=names[one], old="1", new="2")
    later = victim.run(other, "edit", OFF, target=names[other], old="2", new="3").operation_id
    error = victim.fails(one, "undo", OFF)
    assert error is not None
    assert error.code == "undo_conflict"
    place = "services as the root" if first == "top" else "the top of the repository as the root"
    assert f"{later} (Edited {names[other]}.) came later, with {place}" in error.message
    assert "outside" not in error.message
    assert any(f"Take {later} back first" in hint for hint in error.hints)
    assert (below / "api.py").read_text() == "def go():\n    return 3\n"
    victim.run(other, "undo", OFF)
    victim.run(one, "undo", OFF)
    assert (below / "api.py").read_text() == "def go():\n    return 1\n"


def test_what_was_changed_by_hand_is_still_reported_as_such(victim: Machine, roots: tuple[Path, Path]) -> None:
    top, below = roots
    victim.run(top, "edit", OFF, target="services.api.go", old="1", new="2")
    victim.run(below, "edit", OFF, target="api.go", old="2", new="3")
    (below / "api.py").write_text("def go():\n    return 4\n")
    error = victim.fails(top, "undo", OFF)
    assert error is not None
    assert "it was changed outside bae_source" in error.message


def test_another_root_that_changed_other_files_is_not_named(victim: Machine, roots: tuple[Path, Path]) -> None:
    top, below = roots
    victim.run(below, "edit", OFF, target="api.go", old="1", new="2")
    victim.run(top, "edit", OFF, target="app.send", old="1", new="2")
    victim.run(below, "undo", OFF)
    assert (below / "api.py").read_text() == "def go():\n    return 1\n"
