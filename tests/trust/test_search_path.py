"""No request takes git from the project or the repository around it, wherever PATH leads."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source.adapters.cli.cli import through_service
from bae_source.system.programs import within_reach
from tests.adapters.support import Called, call
from tests.checks.staging import ENVIRONMENT, git, staged, write

REQUESTS = {
    "hook": ("hook",),
    "check_staged": ("check_staged",),
    "doctor": ("doctor",),
    "history": ("history",),
    "edit": ("edit", "m.f", "--old", "1", "--new", "3", "--reload", "off"),
    "dry run": ("edit", "m.f", "--old", "1", "--new", "3", "--dry-run", "--reload", "off"),
    "undo": ("undo", "--reload", "off"),
    "prune": ("prune", "--keep", "1"),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project below the top of its repository, which has a git of its own in a virtual environment of both."""
    top = staged(tmp_path / "repo", {"back/m.py": "def f():\n    return 1\n", "back/pyproject.toml": ""})
    git(top, "commit", "-qm", "first")
    for folder in (top / ".venv", top / "back/.venv"):
        write(folder, {"bin/git": f"#!/bin/sh\necho \"$*\" >> '{tmp_path}/ran'\n"})
        (folder / "bin/git").chmod(0o755)
    return top / "back"


def ask(root: Path, *argv: str, first: str = "") -> Called:
    environment = {
        **ENVIRONMENT,
        "XDG_STATE_HOME": str(root.parent.parent / "state"),
        "PATH": first + ENVIRONMENT["PATH"],
    }
    return call(*argv, "--root", str(root), environment=environment, door=through_service)


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_git_is_not_taken_from_the_project(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request_: tuple[str, ...]
) -> None:
    (tmp_path / "link").symlink_to(root / ".venv")
    edited = ask(root, "edit", "m.f", "--old", "1", "--new", "2", "--reload", "off")
    assert edited.status == 0, edited.err_text
    write(root, {"m.py": "def f():\n    return 1\n"} if request_[0] == "edit" else {})
    monkeypatch.chdir(root / ".venv/bin")
    first = f"{root}/.venv/bin:{root.parent}/.venv/bin:{tmp_path}/link/bin:.:"
    assert ask(root, *request_, first=first).status == 0
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


def test_what_is_within_reach_is_named_absolutely_and_lies_elsewhere(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "project-tools"
    for folder in (project, outside):
        folder.mkdir()
    (tmp_path / "into").symlink_to(project)
    path = f"{project}:{project}/bin:.::bin:{tmp_path}/into:{outside}:{project}/../project:/usr/bin"
    assert within_reach(path, project) == f"{outside}:/usr/bin"
    assert within_reach("", project) == ""
