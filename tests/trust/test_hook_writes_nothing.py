"""Whatever form a repository has, the hook reads its index right, and leaves every byte and time of it as it was."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adapters.support import call
from tests.checks.staging import ENVIRONMENT, git, staged, write

FINE, BROKEN = "x = 1\n", "x = = 1\n"
FILES = {
    "app/__init__.py": "",
    "app/core.py": FINE,
    "lib/deep/x.py": FINE,
    "lib/y.py": FINE,
    "other/z.py": FINE,
    "z.py": FINE,
}
FOUND = [
    "app.core:1: SYNTAX_INVALID app.core does not parse: line 1, column 5: invalid syntax.",
    "app.new:1: NAME_NOT_FOUND lib.y has no gone.",
    "app.new:2: MODULE_NOT_FOUND There is no app.nowhere.",
]
NEW = "from lib.y import x, gone\nimport app.nowhere\nfrom lib.deep.x import x\nimport other.z\n"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = staged(tmp_path_factory.mktemp("template") / "repo", FILES)
    git(root, "commit", "-qm", "first")
    return root


def as_it_is(root: Path) -> Path:
    return root


def before_the_first_commit(root: Path) -> Path:
    git(root, "checkout", "-q", "--orphan", "fresh")
    return root


def detached(root: Path) -> Path:
    git(root, "checkout", "-q", "--detach")
    return root


def folded(root: Path) -> Path:
    git(root, "update-index", "-q", "--refresh")  # what was copied only seems to have changed
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "app")
    assert b"040000" in git(root, "ls-files", "--sparse", "--stage")
    return root


def with_a_name_like_the_mark_of_a_folded_one(root: Path) -> Path:
    write(root, {"sdir": "", "lib/sdir": ""})
    git(root, "add", "sdir", "lib/sdir")
    return root


def with_something_intended(root: Path) -> Path:
    write(root, {"app/nowhere.py": FINE})
    git(root, "add", "--intent-to-add", "app/nowhere.py")
    return root


def sparse(root: Path) -> Path:
    git(root, "sparse-checkout", "set", "--no-cone", "/app")
    return root


def split(root: Path) -> Path:
    git(root, "update-index", "--split-index")
    return root


def split_in_a_linked_worktree(root: Path) -> Path:
    return split(linked(root))


def version_4(root: Path) -> Path:
    git(root, "update-index", "--index-version", "4")
    return root


def untracked_cache(root: Path) -> Path:
    git(root, "update-index", "--force-untracked-cache")
    git(root, "status")
    return root


def watched(root: Path) -> Path:
    (root.parent / "watch").write_text("#!/bin/sh\nprintf '0\\0/\\0'\n")
    (root.parent / "watch").chmod(0o755)
    git(root, "config", "core.fsmonitor", str(root.parent / "watch"))
    git(root, "update-index", "--fsmonitor")
    return root


def packed(root: Path) -> Path:
    git(root, "gc", "-q")
    git(root, "pack-refs", "--all")
    git(root, "multi-pack-index", "write")
    git(root, "commit-graph", "write", "--reachable")
    return root


def linked(root: Path) -> Path:
    git(root, "worktree", "add", "-q", "-b", "side", str(root.parent / "linked"))
    return root.parent / "linked"


def with_objects_of_another(root: Path) -> Path:
    git(root.parent, "clone", "-q", "--shared", str(root), "shared")
    return root.parent / "shared"


def shallow(root: Path) -> Path:
    git(root.parent, "clone", "-q", "--depth=1", f"file://{root}", "shallow")
    return root.parent / "shallow"


def partial(root: Path) -> Path:
    git(root, "config", "uploadpack.allowFilter", "true")
    git(root.parent, "clone", "-q", "--filter=blob:none", f"file://{root}", "partial")
    return root.parent / "partial"


def longer_names(root: Path) -> Path:
    top = root.parent / "sha256"
    top.mkdir()
    write(top, FILES)
    git(top, "init", "-q", "--object-format=sha256", ".")
    git(top, "add", ".")
    git(top, "commit", "-qm", "first")
    return top


def below_the_top(root: Path) -> Path:
    moved = root.parent / "moved"
    for path, text in FILES.items():
        write(moved, {f"back/{path}": text, f"front/{path}": BROKEN})
    write(moved, {"back/pyproject.toml": ""})
    git(moved, "init", "-q", ".")
    git(moved, "add", ".")
    git(moved, "commit", "-qm", "first")
    return moved / "back"


def without_rights_to_write(root: Path) -> Path:
    return root


FORMS: dict[str, Callable[[Path], Path]] = {
    form.__name__: form
    for form in (
        as_it_is, before_the_first_commit, detached, with_something_intended,
        with_a_name_like_the_mark_of_a_folded_one, sparse, split, split_in_a_linked_worktree,
        version_4, untracked_cache, watched, packed, linked, with_objects_of_another, shallow, partial, longer_names,
        below_the_top, without_rights_to_write,
    )
}  # fmt: skip


def photograph(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything in a git folder, folders too, with content, mode and the time of the last change."""
    found: dict[str, tuple[object, ...]] = {}
    for path in [folder, *folder.rglob("*")]:
        status = path.lstat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (status.st_mode, status.st_ino, status.st_mtime_ns, status.st_ctime_ns, content)
    return found


def git_folders(root: Path) -> list[Path]:
    asked = ("rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir")
    return [Path(line) for line in git(root, *asked).decode().splitlines()]


@pytest.mark.sampled
@pytest.mark.parametrize("form", FORMS)
def test_a_git_folder_stays_as_it_is(template: Path, tmp_path: Path, form: str) -> None:
    shutil.copytree(template, tmp_path / "repo", symlinks=True)
    root = FORMS[form](tmp_path / "repo")
    write(root, {"app/core.py": BROKEN, "app/new.py": NEW})
    git(root, "add", "app/core.py", "app/new.py")
    folders = git_folders(root)
    for folder in folders:
        for path in folder.rglob("*"):
            os.utime(path, (1_000_000_000, 1_000_000_000))  # what is touched, and no more, shows as well
            if form == "without_rights_to_write":
                path.chmod(path.stat().st_mode & ~0o222)
    before = [photograph(folder) for folder in folders]
    for files in ((), (str(root / "app/core.py"), str(root / "app/new.py"))):
        called = call("hook", "--root", str(root), *files, environment=ENVIRONMENT)
        found = called.out.decode().replace("; it is in the working tree, and not staged", "")
        assert found.splitlines() == FOUND, called.err_text
    assert [photograph(folder) for folder in folders] == before


def test_an_index_with_folders_in_it_is_refused_and_stays_as_it_is(template: Path, tmp_path: Path) -> None:
    shutil.copytree(template, tmp_path / "repo", symlinks=True)
    root = folded(tmp_path / "repo")
    before = photograph(root / ".git")
    called = call("hook", "--root", str(root), environment=ENVIRONMENT)
    assert (called.status, called.out) == (2, b"")
    assert "git sparse-checkout reapply --no-sparse-index" in called.err_text
    assert photograph(root / ".git") == before


def test_what_git_does_itself_would_show(template: Path, tmp_path: Path) -> None:
    shutil.copytree(template, tmp_path / "repo", symlinks=True)
    root = folded(tmp_path / "repo")
    write(root, {"app/core.py": BROKEN})
    git(root, "add", "app/core.py")
    before = photograph(root / ".git")
    git(root, "diff-index", "--cached", "HEAD")
    assert photograph(root / ".git") != before
