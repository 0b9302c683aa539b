"""Folders, repositories and state of other users are not used; a root that the user names is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bae_source.engine.service import find_root
from bae_source.model.context import Context
from tests.trust.support import Machine, changed, crashed, git, picture, project

OTHER = 1234
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def stranger(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "stranger")


@pytest.fixture
def victim(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "victim")


def give_away(folder: Path, *, besides: Path | None = None) -> None:
    for path in (folder, *folder.rglob("*")):
        if besides is None or not path.is_relative_to(besides):
            os.chown(path, OTHER, OTHER, follow_symlinks=False)


@as_root
@pytest.mark.parametrize("mark", [".git", "pyproject.toml", "setup.py"])
@pytest.mark.parametrize("whole", [True, False])
def test_what_another_user_put_above_is_neither_root_nor_place_of_state(
    stranger: Machine, victim: Machine, mark: str, whole: bool
) -> None:
    """A shared folder, which is another user's itself or the victim's own with another user's files in it."""
    shared = project(stranger.folder / "shared", with_git=mark == ".git")
    if mark != ".git":
        (shared / mark).write_text("")
    crashed(stranger, shared)
    mine = shared / "mine"
    mine.mkdir()
    (mine / "app.py").write_text("def send():\n    return 1\n")
    give_away(shared, besides=mine)
    if not whole:
        os.chown(shared, os.geteuid(), os.getegid())
    before = picture(shared, leaving=lambda name: name.startswith("mine"))
    assert find_root(mine, {}) == mine
    outcome = victim.run(mine, "read", target="app.send")
    assert outcome.warnings == ()
    victim.run(mine, "edit", Context(reload="off"), target="app.send", old="1", new="2")
    assert victim.folders(mine).base == mine / ".bae-source"
    assert len(victim.run(mine, "history").found) == 1
    victim.run(mine, "undo", Context(reload="off"))
    assert picture(shared, leaving=lambda name: name.startswith("mine")) == before
    assert not stranger.mark.exists()


def test_what_the_user_has_above_goes_on_to_count(victim: Machine) -> None:
    top = project(victim.folder / "top")
    below = top / "pkg"
    assert find_root(below, {}) == top
    assert victim.folders(below).base == top / ".git/bae-source"


@as_root
@pytest.mark.parametrize("place", [".bae-source", ".git/bae-source"])
def test_state_of_another_user_in_ones_own_project_is_not_used(stranger: Machine, victim: Machine, place: str) -> None:
    root = project(victim.folder / "p", with_git=place.startswith(".git"))
    crashed(victim, root)
    give_away(root / place)
    leaving = lambda name: name.startswith(".bae-source") and not place.startswith(".bae")  # noqa: E731
    before = picture(root, leaving=leaving)
    outcome = victim.run(root, "read", target="app.send")
    assert [notice.code for notice in outcome.warnings] == ["foreign_state"]
    assert "another user" in outcome.warnings[0].message
    error = victim.fails(root, "edit", Context(reload="off"), target="app.send", old="return", new="return 0 +")
    assert error is not None
    assert error.code == "forbidden"
    assert "another user" in error.message
    error = victim.fails(root, "forget", foreign=True)
    assert error is not None
    assert error.code == "forbidden"
    assert victim.fails(root, "undo") is not None
    assert picture(root, leaving=leaving) == before


@as_root
def test_a_root_of_another_user_that_is_named_is_used_and_nothing_of_ours_lies_in_it(
    stranger: Machine, victim: Machine
) -> None:
    root = project(stranger.folder / "p")
    changed(stranger, root)
    give_away(root)
    before = picture(root)
    done = victim.command(root, "edit", "app.send", "--old", "return", "--new", "return 0 +", "--reload", "off")
    assert done.returncode == 0, done.stderr
    assert victim.folders(root).base.is_relative_to(victim.folder / "state")
    assert "Edited app.send" in victim.command(root, "history").stdout
    assert victim.command(root, "undo", "--reload", "off").returncode == 0
    assert picture(root) == before


def test_a_root_can_be_named_in_the_environment(victim: Machine) -> None:
    root, other = project(victim.folder / "p"), project(victim.folder / "other")
    (other / "app.py").write_text("def other(): ...\n")
    assert find_root(root, {"BAE_SOURCE_ROOT": str(other)}) == other
    assert find_root(root, {"BAE_SOURCE_ROOT": "../other"}).resolve() == other


@pytest.mark.parametrize("to", ["another repository", "a worktree of another", "a submodule of another"])
def test_a_git_file_in_a_project_does_not_choose_where_we_write(victim: Machine, to: str) -> None:
    own = project(victim.folder / "own")
    git_dir = own / ".git"
    if to == "a worktree of another":
        git(own, "worktree", "add", "-q", "../tree")
        git_dir = own / ".git/worktrees/tree"
    if to == "a submodule of another":
        project(victim.folder / "sub")
        git(own, "submodule", "add", "-q", str(victim.folder / "sub"), "sub")
        git_dir = own / ".git/modules/sub"
    root = project(victim.folder / "p", with_git=False)
    (root / ".git").write_text(f"gitdir: {git_dir}\n")
    before = picture(own)
    victim.run(root, "edit", Context(reload="off"), target="app.send", old="1", new="2")
    victim.run(root, "undo", Context(reload="off"))
    assert victim.folders(root).base == root / ".bae-source"
    assert picture(own) == before
