"""What git tracks is part of the project, whatever its patterns say."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bae_source.project.files.ignored import is_ignored
from bae_source.project.files.port import Disk
from bae_source.project.workspace import Workspace


def git(folder: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=u", "-c", "user.email=u@example.org", *words], cwd=folder, check=True,
        capture_output=True,
    )  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    (root / "gen").mkdir(parents=True)
    git(tmp_path, "init", "-q", "repo")
    (root / ".gitignore").write_text("gen/\na.py\n")
    for name in ("gen/kept.py", "gen/left.py", "xa.py", "a.py"):
        (root / name).write_text("x = 1\n")
    git(root, "add", "-f", "gen/kept.py", "xa.py", ".gitignore")
    git(root, "commit", "-q", "-m", "first")
    return root


def test_a_tracked_file_is_not_ignored_and_an_untracked_one_is(repository: Path) -> None:
    files = Disk(repository)
    assert not is_ignored(files, "gen/kept.py")
    assert is_ignored(files, "gen/left.py")


def test_a_name_that_ends_a_tracked_one_is_not_tracked_for_it(repository: Path) -> None:
    assert is_ignored(Disk(repository), "a.py")
    assert not is_ignored(Disk(repository), "xa.py")


def test_a_tracked_file_is_there_in_a_linked_worktree_too(repository: Path) -> None:
    git(repository, "worktree", "add", "-q", "../linked")
    assert not is_ignored(Disk(repository.parent / "linked"), "gen/kept.py")


def test_a_pattern_reaches_into_the_folders_below(repository: Path) -> None:
    (repository / ".gitignore").write_text("*_made.py\n")
    for name in ("pkg/a_made.py", "pkg/inner/deep/b_made.py", "pkg/inner/deep/c.py", "pkg/inner/d.py"):
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text("x = 1\n")
    (repository / "pkg/inner/.gitignore").write_text("d.py\n")
    found = Workspace(Disk(repository)).census.paths
    assert [path for path in found if path.startswith("pkg/")] == ["pkg/inner/deep/c.py"]


TREE = (
    "a.py", "build/a.py", "docs/a.py", "docs/locale/a.py", "docs/locale/de/a.py", "pkg/docs/locale/a.py", "pkg/a.py",
    "pkg/gen/a.py", "pkg/gen/inner/b.py", "pkg/locale/a.py", "pkg/locale/b.py", " docs/b.py",
)  # fmt: skip
PATTERNS = (
    "locale/", "docs/locale/", "docs/locale", "/docs/locale/", "pkg/docs/", "docs/*", "docs/**", "docs/l*/",
    "docs//locale", "/locale", "/a.py", "*/locale", "**/docs/locale", "pkg/**/a.py", "pk?/locale", "pkg/gen/../locale",
    "./docs", "docs/\\locale", " docs/b.py", "docs/locale  ", "pkg/*\n!pkg/locale/\n", "pkg/*/b.py", "/",
)  # fmt: skip


@pytest.mark.parametrize("inner", [False, True], ids=["in the root", "in a folder"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_walk_leaves_out_what_git_leaves_out(tmp_path: Path, pattern: str, inner: bool) -> None:
    git(tmp_path, "init", "-q", "repo")
    root = tmp_path / "repo"
    for path in TREE:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x = 1\n")
    (root / "build/__init__.py").touch()
    (root / ("pkg" if inner else ".") / ".gitignore").write_text(f"{pattern}\n")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard", "*.py"], cwd=root, check=True, capture_output=True
    )
    assert Workspace(Disk(root)).census.paths == tuple(sorted(listed.stdout.decode().split("\0")[:-1]))


def test_a_pattern_that_names_a_folder_is_looked_for_in_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("docs/locale/a.py", "pkg/locale/a.py", "pkg/docs/locale/a.py", "x/a.py", "pkg/x/inner/b.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / ".gitignore").write_text("docs/locale/\n/x\n")
    (tmp_path / "pkg/.gitignore").write_text("x/*.py\nx/inner/b*\n")
    asked: list[str] = []

    def ask(files: Disk, path: str) -> bool:
        asked.append(path)
        return is_ignored(files, path)

    monkeypatch.setattr("bae_source.project.files.walk.is_ignored", ask)
    assert Workspace(Disk(tmp_path)).census.paths == ("pkg/docs/locale/a.py", "pkg/locale/a.py")
    assert sorted(asked) == ["docs/locale/", "pkg/x/inner/b.py", "x/"]


def test_a_line_that_is_no_pattern_hides_no_other(tmp_path: Path) -> None:
    for path in ("gen/a.py", "pkg/a.py", "odd/a.py"):
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).touch()
    (tmp_path / ".gitignore").write_text("!\nodd\\\n[z-a]\ngen/\n")
    assert Workspace(Disk(tmp_path)).census.paths == ("odd/a.py", "pkg/a.py")
