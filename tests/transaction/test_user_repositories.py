"""Whatever state a user's repository is in, changing, undoing and redoing leave all of it but the files as it was."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source import Source

TEXT = b"def f():\n    return 1\n\n\ndef g():\n    return 2\n"
IDENTITY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "u"), ("EMAIL", "u@u"), ("DATE", "2026-11-21T12:00:00Z"))
}
HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit", "post-index-change",
    "post-merge", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit",
    "pre-push", "pre-rebase", "prepare-commit-msg", "push-to-checkout", "reference-transaction", "update",
)  # fmt: skip
QUIET = (
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*", "-c", "core.pager=cat",
    "--no-optional-locks",
)  # fmt: skip


def git(folder: Path, *arguments: str) -> bytes:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", **IDENTITY}
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env=environment).stdout


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of two commits, with work that is stashed, staged, changed, and not known to git."""
    root = tmp_path_factory.mktemp("template") / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", ".")
    (root / "m.py").write_bytes(TEXT)
    (root / "other.py").write_bytes(b"O = 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "other.py").write_bytes(b"O = 2\n")
    git(root, "commit", "-qam", "second")
    git(root, "tag", "v1")
    for content, command in ((b"O = 'stashed'\n", "stash"), (b"O = 'staged'\n", "add other.py")):
        (root / "other.py").write_bytes(content)
        git(root, *command.split())
    (root / "other.py").write_bytes(b"O = 'changed'\n")
    (root / "new.py").write_bytes(b"N = 1\n")
    return root


def as_it_is(root: Path) -> Path:
    return root


def detached(root: Path) -> Path:
    git(root, "checkout", "-q", "--detach")
    return root


def unborn(root: Path) -> Path:
    git(root, "checkout", "-q", "--orphan", "fresh")
    return root


def in_a_merge(root: Path) -> Path:
    (root / ".git/MERGE_HEAD").write_bytes(git(root, "rev-parse", "v1^"))
    (root / ".git/MERGE_MSG").write_text("merging\n")
    return root


def linked_worktree(root: Path) -> Path:
    git(root, "worktree", "add", "-q", "-b", "side", "../linked", "v1")
    return root.parent / "linked"


def submodule(root: Path) -> Path:
    (root.parent / "top").mkdir()
    top = root.parent / "top"
    git(top, "init", "-q", ".")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "sub")
    git(top, "commit", "-qm", "with a submodule")
    return top / "sub"


def sparse(root: Path) -> Path:
    git(root, "checkout", "-q", "-f")
    git(root, "sparse-checkout", "set", "--no-cone", "/m.py")
    return root


def shallow(root: Path) -> Path:
    git(root.parent, "clone", "-q", "--depth=1", f"file://{root}", "shallow")
    return root.parent / "shallow"


def autocrlf(root: Path) -> Path:
    git(root, "config", "core.autocrlf", "true")
    (root / "m.py").write_bytes(TEXT.replace(b"\n", b"\r\n"))
    return root


def failing_hooks(root: Path) -> Path:
    script = programs(root)
    (root / ".git/hooks").mkdir(exist_ok=True)
    for hook in HOOKS:
        shutil.copy(script, root / ".git/hooks" / hook)
    git(root, "config", "core.hooksPath", str(root / ".git/hooks"))
    return root


def signing(root: Path) -> Path:
    script = programs(root)
    for name, value in {"commit.gpgSign": "true", "tag.gpgSign": "true", "gpg.program": str(script)}.items():
        git(root, "config", name, value)
    return root


def watched(root: Path) -> Path:
    git(root, "config", "core.fsmonitor", str(programs(root)))
    git(root, "config", "core.untrackedCache", "true")
    return root


def filtered(root: Path) -> Path:
    script = str(programs(root))
    for name in ("filter.f.clean", "filter.f.smudge", "filter.f.process", "diff.f.textconv", "diff.external"):
        git(root, "config", name, script)
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/attributes").write_text("*.py filter=f diff=f\n")
    return root


def of_somebody_else(root: Path) -> Path:
    if os.geteuid() == 0:  # who is not root owns what he makes, and cannot give it away
        for path in (root, *root.rglob("*")):
            os.chown(path, 1234, 1234, follow_symlinks=False)
    return root


def longer_hashes(root: Path) -> Path:
    fresh = root.parent / "sha256"
    fresh.mkdir()
    git(fresh, "init", "-q", "--object-format=sha256", ".")
    (fresh / "m.py").write_bytes(TEXT)
    git(fresh, "add", ".")
    git(fresh, "commit", "-qm", "first")
    return fresh


def without_git(root: Path) -> Path:
    shutil.rmtree(root / ".git")
    return root


def programs(root: Path) -> Path:
    """A program that leaves a mark when it is run, and fails."""
    script = root.parent / "program"
    script.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{root.parent}/mark'\nexit 1\n")
    script.chmod(0o755)
    return script


def photograph(project: Path) -> dict[str, object]:
    """Everything git knows and keeps of a project, and the files themselves; our own folders left out."""
    if not (project / ".git").exists():
        return {"files": files(project)}
    place = project / git(project, *QUIET, "rev-parse", "--git-dir").decode().strip()
    common = project / git(project, *QUIET, "rev-parse", "--git-common-dir").decode().strip()
    commands = ("stash list", "log --all --format=%H%D", "for-each-ref", "ls-files --stage --debug", "count-objects -v")
    return {
        "files": files(project),
        "git": {folder: files(folder) for folder in (place, common)},
        **{command: git(project, *QUIET, *command.split()) for command in commands},
    }


def files(folder: Path) -> dict[str, tuple[int, int, str]]:
    found = {}
    for top, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in ("bae-source", ".bae-source", ".git", "linked")]
        for name in names:
            path = Path(top) / name
            status = path.stat()
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            found[path.relative_to(folder).as_posix()] = (status.st_mode, status.st_uid, content)
    return found


def status(project: Path) -> list[str]:
    """What `git status` says, asked without the programs that the repository is configured to run."""
    if not (project / ".git").exists():
        return []
    off = ["-c", "filter.f.clean=", "-c", "filter.f.process=", "-c", "diff.external="]
    return git(project, *QUIET, *off, "status", "--porcelain", "--ignored").decode().splitlines()


STATES: dict[str, Callable[[Path], Path]] = {
    state.__name__: state
    for state in (
        as_it_is, detached, unborn, in_a_merge, linked_worktree, submodule, sparse, shallow, autocrlf, failing_hooks,
        signing, watched, filtered, of_somebody_else, longer_hashes, without_git,
    )
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("state", STATES)
def test_a_repository_is_what_it_was_but_for_the_file_that_is_changed(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    shutil.copytree(template, tmp_path / "repo", symlinks=True)
    project = STATES[state](tmp_path / "repo")
    git_says = status(project)
    before, known = photograph(project), status(project)
    (tmp_path / "mark").unlink(missing_ok=True)
    monkeypatch.setenv("BAE_SOURCE_TELEMETRY", "off")

    source = Source(project, who="me")
    outcomes = [
        source.edit("m.f", old="1", new="10", reload="off"),
        source.insert("m", "def h():\n    return 3\n", position="last", reload="off"),
        source.undo(reload="off"),
        source.redo(reload="off"),
    ]
    changed = photograph(project)
    assert [notice for outcome in outcomes for notice in outcome.warnings] == []
    assert len(source.history().splitlines()) == 4
    assert differing(before, changed) == {"m.py"}
    assert {line[3:] for line in set(status(project)) ^ set(known)} <= {"m.py", ".bae-source/"}

    source.undo(count=2, reload="off")
    after = photograph(project)
    assert after == before
    assert status(project) in (git_says, [*git_says, "!! .bae-source/"])
    assert not (tmp_path / "mark").exists(), (tmp_path / "mark").read_text()


def differing(before: dict[str, object], after: dict[str, object]) -> set[str]:
    """Return the files of the project that differ; anything else that does is named, too."""
    old, new = before["files"], after["files"]
    assert isinstance(old, dict)
    assert isinstance(new, dict)
    rest = {name for name in before if name != "files" and before[name] != after[name]}
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)} | rest


@pytest.mark.parametrize(
    ("state", "command"),
    [
        (failing_hooks, "commit -qm x --allow-empty"),
        (signing, "commit -qm x --allow-empty"),
        (watched, "status"),
        (filtered, "add new.py"),
        (filtered, "diff"),
    ],
)
def test_git_itself_would_have_run_these_programs(
    template: Path, tmp_path: Path, state: Callable[[Path], Path], command: str
) -> None:
    shutil.copytree(template, tmp_path / "repo", symlinks=True)
    project = state(tmp_path / "repo")
    (tmp_path / "mark").unlink(missing_ok=True)
    subprocess.run(["git", *command.split()], cwd=project, check=False, capture_output=True, env=os.environ | IDENTITY)
    assert (tmp_path / "mark").exists()
