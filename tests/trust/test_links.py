"""No link is followed in our state, and git starts on nothing but a history of our own making."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source.model.context import Context
from tests.trust.support import Machine, changed, git, picture, project

pytestmark = pytest.mark.sampled

NAMES = [
    "journal", "lock", "staging", "pending", "kept", "history.git", "history.1.git", "history.lock", "history.new",
    "history.git/objects", "history.git/refs", "history.git/HEAD", "history.git/objects/pack", "history.git/config",
]  # fmt: skip
"""Everything in the folder of changes that a link may stand for."""


@pytest.fixture
def victim(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "victim")


@pytest.mark.parametrize("to", ["own/.git", "copy"])
@pytest.mark.parametrize("name", NAMES)
def test_a_link_in_the_place_of_any_of_it_leads_nowhere(victim: Machine, name: str, to: str) -> None:
    """It leads to the user's own repository, or to a copy of what stood there, which is as good as the original."""
    own = project(victim.folder / "own")
    root = project(victim.folder / "p", with_git=False)
    changed(victim, root)
    place, outside = root / ".bae-source" / name, victim.folder / to
    if to == "copy" and place.exists():
        place.rename(outside)
    elif place.exists():
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    place.symlink_to(outside)
    before = picture(own), facts(outside)
    for verb, given in (
        ("read", {"target": "app.send"}), ("doctor", {}), ("history", {}), ("prune", {"keep": 1}), ("undo", {}),
        ("edit", {"target": "app.send", "old": "return", "new": "return 0 +"}), ("forget", {}),
    ):  # fmt: skip
        error = victim.fails(root, verb, Context(reload="off") if verb in ("undo", "edit") else None, **given)
        assert error is None or error.exit_code in (5, 6, 7)
    assert (picture(own), facts(outside)) == before


def facts(place: Path) -> object:
    """What a file holds, or what lies in a folder; None for nothing."""
    return place.read_bytes() if place.is_file() else picture(place) if place.exists() else None


def config(text: str) -> Callable[[Path, Path], None]:
    def write(history: Path, program: Path) -> None:
        with (history / "config").open("a") as file:
            file.write(text.replace("PROGRAM", str(program)))

    return write


def file(name: str, text: str = "", mode: int = 0o755) -> Callable[[Path, Path], None]:
    def write(history: Path, program: Path) -> None:
        place = history / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text.replace("PROGRAM", str(program)) or program.read_text())
        place.chmod(mode)

    return write


STRANGE: dict[str, Callable[[Path, Path], None]] = {
    "a promisor remote": config(
        '[remote "o"]\nurl = ext::PROGRAM\npromisor = true\n[protocol "ext"]\nallow = always\n'
        "[extensions]\npartialClone = o\n"
    ),
    "an ssh command": config("[core]\nsshCommand = PROGRAM\n"),
    "a file monitor": config("[core]\nfsmonitor = PROGRAM\n"),
    "a pager": config("[core]\npager = PROGRAM\n[pager]\nlog = true\n"),
    "an included file": config("[include]\npath = /etc/passwd\n"),
    "a signing program": config("[gpg]\nprogram = PROGRAM\n[log]\nshowSignature = true\n"),
    "an alias": config("[alias]\nlog = !PROGRAM\n"),
    "a text conversion": config('[diff "x"]\ntextconv = PROGRAM\n'),
    "settings of a worktree": file("config.worktree", "[core]\nfsmonitor = PROGRAM\n"),
    "a hook": file("hooks/reference-transaction"),
    "attributes": file("info/attributes", "* diff=x\n"),
    "alternates": file("objects/info/alternates", "/nonexistent\n"),
    "alternates over HTTP": file("objects/info/http-alternates", "http://127.0.0.1:1/\n"),
    "a common folder": file("commondir", "/nonexistent\n"),
    "grafts": file("info/grafts", "\n"),
    "a shallow history": file("shallow", "\n"),
    "a promised pack": file("objects/pack/pack-0123.promisor", "\n"),
    "a folder of its own": file("worktrees/x/gitdir", "/nonexistent\n"),
    "a file of no meaning": file("description", "x"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_git_does_not_start_on_a_history_with_anything_that_is_not_of_our_making(victim: Machine, kind: str) -> None:
    """Put into a history that is the user's own, as whatever has the user's rights could."""
    root = project(victim.folder / "p", with_git=False)
    changed(victim, root)
    history = root / ".bae-source/history.git"
    for pack in (history / "objects/pack").glob("*"):
        pack.unlink()  # so that git looks for what is missing
    STRANGE[kind](history, victim.program)
    error = victim.fails(root, "history")
    assert error is not None
    assert error.code == "nothing_to_undo"
    assert "holds what bae_source did not put there" in error.message
    assert any("history.git" in hint for hint in error.hints)
    for verb in ("undo", "redo"):
        assert victim.fails(root, verb) is not None
    [trouble] = victim.run(root, "doctor").found
    assert trouble.code == "history_unreadable"
    done = victim.run(root, "edit", Context(reload="off"), target="app.send", old="return", new="return 0 +")
    assert "history_unavailable" in {notice.code for notice in done.warnings}
    assert not victim.mark.exists()


def test_inherited_and_own_settings_of_git_have_no_say(victim: Machine) -> None:
    root = project(victim.folder / "p", with_git=False)
    (victim.folder / ".gitconfig").write_text(f"[core]\nfsmonitor = {victim.program}\nhooksPath = {victim.folder}\n")
    (victim.folder / "reference-transaction").write_text(victim.program.read_text())
    (victim.folder / "reference-transaction").chmod(0o755)
    victim.environment |= {
        "HOME": str(victim.folder), "GIT_CONFIG_GLOBAL": str(victim.folder / ".gitconfig"), "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": str(victim.folder), "GIT_DIR": str(root),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(victim.folder), "GIT_TRACE": str(victim.folder / "mark"),
    }  # fmt: skip
    changed(victim, root)
    victim.run(root, "undo", Context(reload="off"))
    assert len(victim.run(root, "history").found) == 3
    assert not victim.mark.exists()


def test_a_history_that_leads_to_the_users_repository_is_not_pruned_there(victim: Machine) -> None:
    own = project(victim.folder / "own")
    git(own, "commit", "-q", "--allow-empty", "-m", "kept by its name alone")
    lost = git(own, "rev-parse", "HEAD").strip()
    git(own, "reset", "-q", "--hard", "HEAD~1")
    root = project(victim.folder / "p", with_git=False)
    changed(victim, root)
    shutil.rmtree(root / ".bae-source/history.git")
    (root / ".bae-source/history.git").symlink_to(own / ".git")
    before = picture(own / ".git")
    assert victim.fails(root, "prune", keep=0) is not None
    victim.run(root, "edit", Context(reload="off"), target="app.send", old="return", new="return 0 +")
    assert picture(own / ".git") == before
    assert git(own, "cat-file", "-t", lost).strip() == "commit"
    text = victim.run(root, "forget").text
    assert (own / ".git/HEAD").exists()
    assert "the history" in text
