"""The hook as git and pre-commit run it: on files by name, with the index that is about to be committed."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bae_source.adapters.cli.cli import through_service
from bae_source.state.journal_head import MAGIC
from tests.adapters.support import REPOSITORY, Called, call
from tests.checks.staging import ENVIRONMENT, git, staged, write
from tests.state_folders import state_folders

BROKEN = "x = = 1\n"
WRONG = "app.core:1: SYNTAX_INVALID app.core does not parse: line 1, column 5: invalid syntax.\n"
INIT = "from .core import f\n\n__all__ = [\n    'f',  # kept\n    'gone',\n]\n"
EXPORT = "app:5: EXPORT_NOT_FOUND __all__ of app names gone, which app does not have."
IDENTITY = {f"GIT_{role}_{what}": "u@u" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
OWN = {**ENVIRONMENT, **IDENTITY, "PYTHONPATH": str(REPOSITORY), "PYTHON": sys.executable}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a package that is in order and committed; the working folder is its top."""
    root = staged(tmp_path / "repo", {"app/__init__.py": "from .core import f\n", "app/core.py": "def f(): ...\n"})
    git(root, "commit", "-qm", "first")
    monkeypatch.chdir(root)
    return root


def hook(*argv: str, **changes: str) -> Called:
    """Run the hook in this process."""
    return call("hook", *argv, environment=ENVIRONMENT | changes)


def stage(root: Path, path: str, text: str) -> None:
    write(root, {path: text})
    git(root, "add", "--", path)


def process(root: Path, *argv: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a program as git does: in the repository, in a process of its own."""
    return subprocess.run(argv, cwd=root, env=OWN | changes, capture_output=True, text=True, timeout=120)


def install(root: Path) -> None:
    """Make the hook git's own pre-commit hook."""
    script = root / ".git/hooks/pre-commit"
    script.write_text('#!/bin/sh\nexec "$PYTHON" -m bae_source hook\n')
    script.chmod(0o755)


def test_findings_are_reported_a_line_each_and_the_status_is_1(root: Path) -> None:
    stage(root, "app/core.py", BROKEN)
    called = hook("app/core.py")
    assert (called.status, called.out.decode(), called.err) == (1, WRONG, b"")


def test_nothing_found_is_status_0(root: Path) -> None:
    assert (hook().status, hook("app/core.py").out) == (0, b"(no findings in 2 modules)\n")


def test_json_is_an_outcome(root: Path) -> None:
    stage(root, "app/core.py", BROKEN)
    called = hook("app/core.py", "--json")
    assert called.status == 1
    assert called.json["status"] == "answer"
    assert called.json["text"] + "\n" == WRONG
    assert called.json["errors"] == []


@pytest.mark.parametrize("kind", ["absolute", "from below", "above and below", "through a link"])
def test_a_file_is_named_from_anywhere(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    stage(root, "app/core.py", BROKEN)
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(root / "app" if "below" in kind else tmp_path)
    name = {"absolute": str(root / "app/core.py"), "through a link": str(tmp_path / "link/app/core.py"),
            "from below": "core.py", "above and below": "../app/core.py"}[kind]  # fmt: skip
    called = hook(name) if "below" in kind else hook("--root", str(root), name)
    assert called.out.decode() == WRONG


def test_a_name_that_begins_with_a_dash_stands_behind_two(root: Path) -> None:
    stage(root, "-x.py", BROKEN)
    assert hook("--", "-x.py").out.startswith(b"-x:1: SYNTAX_INVALID")
    assert hook("-x.py").status == 2


def test_a_file_elsewhere_or_without_python_in_it_is_no_finding(root: Path, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(BROKEN)
    assert (hook("../x.py").status, hook("../x.py").out[:20]) == (0, b"(nothing was looked ")
    write(root, {"README.md": BROKEN})
    assert (hook("app/core.py", "README.md").status, hook("app/core.py", "README.md").err) == (0, b"")


def test_a_file_that_is_deleted_is_followed_to_its_importers(root: Path) -> None:
    git(root, "rm", "-q", "app/core.py")
    for files in ((), ("app/core.py",), ("README.md",)):
        called = hook(*files)
        assert (called.status, called.out) == (1, b"app:1: MODULE_NOT_FOUND There is no .core.\n")


def test_what_is_named_and_not_looked_at_is_reported(root: Path) -> None:
    called = hook("../x.py", "app", "app/core.py", "../README.md")
    assert (called.status, called.out) == (0, b"(no findings in 2 modules)\n")
    assert "incomplete: This is not all there is: the warnings below say why." in called.err_text
    assert "Not looked at, for it lies outside of the project: ../x.py." in called.err_text
    assert "Not looked at: app." in called.err_text


def test_outside_of_a_repository_the_call_is_malformed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    called = hook("x.py")
    assert (called.status, called.out) == (2, b"")
    assert called.err_text.startswith("error[invalid_arguments]: There is no git repository here.\n  -> Run it inside")
    assert not (tmp_path / ".bae-source").exists()


def test_without_git_the_call_is_malformed(root: Path) -> None:
    called = hook("app/core.py", PATH=str(root))
    assert (called.status, "Git is needed" in called.err_text) == (2, True)


def test_the_index_is_the_one_that_git_says(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = tmp_path / "index"
    index.write_bytes((root / ".git/index").read_bytes())
    stage(root, "app/core.py", BROKEN)
    assert hook("app/core.py").status == 1
    assert hook("app/core.py", GIT_INDEX_FILE=str(index)).status == 0
    assert hook("app/core.py", GIT_INDEX_FILE="../index").status == 0
    assert hook("app/core.py", GIT_DIR=".git", GIT_INDEX_FILE=".git/index").status == 1
    (root / "pyproject.toml").write_text("")
    (root / "app/pyproject.toml").write_text("")
    called = hook("--root", "app", "app/core.py", GIT_DIR=".git", GIT_INDEX_FILE=".git/index")
    assert called.out.decode() == WRONG.replace("app.core", "core")


def test_objects_lie_where_git_says(root: Path, tmp_path: Path) -> None:
    """Git sets both for hooks that run before objects are taken over; they may be relative."""
    stage(root, "app/core.py", BROKEN)
    (root / ".git/objects").rename(tmp_path / "objects")
    (root / ".git/objects").mkdir()
    (root / "app/pyproject.toml").write_text("")
    for places in ({"GIT_ALTERNATE_OBJECT_DIRECTORIES": "nowhere:../objects"}, {"GIT_OBJECT_DIRECTORY": "../objects"}):
        called = hook("--root", "app", "app/core.py", **places)
        assert called.out.decode() == WRONG.replace("app.core", "core"), called.err_text


def test_fix_mends_what_is_as_it_was_staged_and_stages_nothing(root: Path) -> None:
    stage(root, "app/__init__.py", INIT)
    index = git(root, "ls-files", "-s")
    called = hook("--fix", "app/__init__.py")
    assert called.status == 1
    assert called.out.decode().startswith(f"{EXPORT}  (mended)\nLook at the change, and stage it.  (take it back: ")
    assert (root / "app/__init__.py").read_text() == INIT.replace("    'gone',\n", "")
    assert git(root, "ls-files", "-s") == index
    git(root, "add", ".")
    assert hook("--fix", "app/__init__.py").status == 0
    assert call("undo", "--root", str(root), environment=ENVIRONMENT, door=through_service).status == 0
    assert (root / "app/__init__.py").read_text() == INIT


def test_fix_tells_what_is_left(root: Path) -> None:
    stage(root, "app/__init__.py", INIT)
    stage(root, "app/core.py", "from app import nope\ndef f(): ...\n")
    called = hook("--fix", "app/core.py", "--json")
    assert called.json["text"].splitlines() == [
        "app.core:1: NAME_NOT_FOUND app has no nope.",
        f"{EXPORT}  (mended)",
        "Look at the change, and stage it.",
    ]
    assert (called.status, called.json["status"], called.json["operation_id"][:3]) == (1, "applied", "op_")


def test_fix_leaves_what_is_not_as_it_was_staged(root: Path) -> None:
    stage(root, "app/__init__.py", INIT)
    write(root, {"app/__init__.py": INIT + "# my work\n"})
    called = hook("--fix", "app/__init__.py")
    text = f"{EXPORT} The working tree has another version of the module, so it is not mended.\n"
    assert (called.status, called.out.decode()) == (1, text)
    assert (root / "app/__init__.py").read_text() == INIT + "# my work\n"


def test_fix_that_is_refused_is_reported_and_changes_nothing(root: Path) -> None:
    stage(root, "app/__init__.py", INIT)
    write(root, {"pyproject.toml": "[tool.bae-source\n"})
    called = hook("--fix", "app/__init__.py")
    assert (called.status, called.out.decode()) == (1, f"{EXPORT}\n")
    assert "warning[not_mended]: Not mended: pyproject.toml does not parse" in called.err_text
    assert (root / "app/__init__.py").read_text() == INIT


def test_fix_waits_while_a_transaction_is_unfinished(root: Path) -> None:
    stage(root, "app/__init__.py", INIT)
    folders = state_folders(root)
    journal = folders.make(folders.base) / "journal"
    journal.write_bytes(MAGIC + b"\nprepared\n")
    called = hook("--fix", "app/__init__.py")
    assert (called.status, called.out.decode().splitlines()[1:], called.err) == (1, [EXPORT], b"")
    assert called.out.startswith(b"UNFINISHED_TRANSACTION ")
    assert (root / "app/__init__.py").read_text() == INIT
    assert journal.read_bytes() == MAGIC + b"\nprepared\n"


def test_git_commit_is_refused_for_what_it_is_about_to_commit(root: Path) -> None:
    install(root)
    write(root, {"app/core.py": BROKEN, "app/more.py": "y = 1\n"})
    git(root, "add", "app/more.py")
    for how in (["-a"], ["app/core.py"]):
        done = process(root, "git", "commit", "-qm", "second", *how)
        assert (done.returncode, done.stdout + done.stderr) == (1, WRONG)
    assert process(root, "git", "commit", "-qm", "second").returncode == 0  # what is staged is in order
    assert git(root, "log", "--format=%s").split() == [b"second", b"first"]


def test_git_commit_works_in_a_linked_worktree(root: Path, tmp_path: Path) -> None:
    install(root)
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"))
    stage(tmp_path / "linked", "app/core.py", BROKEN)
    done = process(tmp_path / "linked", "git", "commit", "-qm", "second")
    assert (done.returncode, done.stdout + done.stderr) == (1, WRONG)


def test_a_quick_look_loads_nothing_heavy(root: Path) -> None:
    stage(root, "app/more.py", "from app.core import f\n")
    program = (
        "import sys; from bae_source.__main__ import main; status = main(); "
        "heavy = {'libcst', 'rich', 'git', 'argparse', 'pathspec', 'asyncio'} & set(sys.modules); print(status, heavy)"
    )
    done = process(root, sys.executable, "-c", program, "hook", "app/more.py")
    assert done.stdout == "(no findings in 2 modules)\n0 set()\n", done.stderr


def test_pre_commit_takes_what_we_declare() -> None:
    manifest = str(REPOSITORY / ".pre-commit-hooks.yaml")
    done = process(REPOSITORY, sys.executable, "-m", "pre_commit", "validate-manifest", manifest)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_pre_commit_runs_it_on_what_is_staged(root: Path, tmp_path: Path) -> None:
    entry = f"{shlex.quote(sys.executable)} -m bae_source hook --fix"
    own = {"id": "ours", "name": "ours", "entry": entry, "args": ["--"], "language": "system", "types_or": ["python"]}
    config = {"repos": [{"repo": "local", "hooks": [{**own, "require_serial": True}]}]}
    stage(root, ".pre-commit-config.yaml", json.dumps(config))
    stage(root, "app/__init__.py", INIT)
    stage(root, "größe ü.py", BROKEN)
    write(root, {"größe ü.py": "x = 1\n", "app/core.py": "def f(): ...  # not staged\n"})
    run = (sys.executable, "-m", "pre_commit", "run")
    home = {"PRE_COMMIT_HOME": str(tmp_path / "home"), "PRE_COMMIT_COLOR": "never", "HOME": str(tmp_path)}
    done = process(root, *run, **home)
    assert done.returncode == 1, done.stderr
    assert "größe ü:1: SYNTAX_INVALID" in done.stdout
    assert f"{EXPORT}  (mended)" in done.stdout
    assert "- files were modified by this hook" in done.stdout
    assert (root / "app/core.py").read_text() == "def f(): ...  # not staged\n"
    git(root, "add", ".")
    again = process(root, *run, **home)
    assert (again.returncode, "Passed" in again.stdout) == (0, True), again.stdout


def test_pre_commit_runs_it_on_a_commit_that_only_deletes(root: Path, tmp_path: Path) -> None:
    manifest = (REPOSITORY / ".pre-commit-hooks.yaml").read_text()
    assert manifest.count("always_run: true") == manifest.count("- id: ") == 2
    entry = f"{shlex.quote(sys.executable)} -m bae_source hook"
    own = {"id": "ours", "name": "ours", "entry": entry, "args": ["--"], "language": "system", "types_or": ["python"]}
    config = {"repos": [{"repo": "local", "hooks": [{**own, "require_serial": True, "always_run": True}]}]}
    stage(root, ".pre-commit-config.yaml", json.dumps(config))
    git(root, "commit", "-qm", "second")
    git(root, "rm", "-q", "app/core.py")
    home = {"PRE_COMMIT_HOME": str(tmp_path / "home"), "PRE_COMMIT_COLOR": "never", "HOME": str(tmp_path)}
    done = process(root, sys.executable, "-m", "pre_commit", "run", **home)
    assert (done.returncode, "app:1: MODULE_NOT_FOUND There is no .core." in done.stdout) == (1, True), done.stdout
