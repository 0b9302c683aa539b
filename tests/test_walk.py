"""README's walk as a new user goes it: a real package with work in progress, edits by name, and the way back."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import corpus

GIT = {
    "GIT_AUTHOR_NAME": "user", "GIT_AUTHOR_EMAIL": "user@example.org", "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_COMMITTER_NAME": "user", "GIT_COMMITTER_EMAIL": "user@example.org", "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
}  # fmt: skip


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A real package as its owner works on it: one change staged, one not, one file untracked, one in CRLF."""
    release = next(release for release in corpus.RELEASES if release.name == "attrs")
    root = tmp_path / "attrs"
    shutil.copytree(corpus.fetch(release), root)
    crlf = root / "src" / "attr" / "_cmp.py"
    crlf.write_bytes(crlf.read_bytes().replace(b"\n", b"\r\n"))
    git(root, "init", "-q")
    git(root, "-c", "core.autocrlf=false", "add", "-A")
    git(root, "commit", "-q", "-m", "as it came")
    (root / "src" / "attr" / "filters.py").open("a").write("\n# staged\n")
    git(root, "add", "src/attr/filters.py")
    (root / "README.md").open("a").write("not staged\n")
    (root / "notes.txt").write_text("untracked\n")
    return root


def git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=root, env={**os.environ, **GIT}, capture_output=True, text=True, check=True
    )
    return done.stdout


def bae_source(root: Path, *words: str, source: str | None = None) -> tuple[int, dict[str, object]]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-m", "bae_source", *words, "--root", str(root), "--json"],
        env=environment, input=(source or "").encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert b"Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


def digests(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not {".git", ".bae-source", "__pycache__"}.intersection(path.relative_to(root).parts)
    }


def seen_by_git(root: Path) -> list[str]:
    views = ("status --porcelain", "stash list", "log --all --oneline", "ls-files --stage", "diff --cached", "diff")
    return [git(root, *view.split()) for view in views]


def test_three_edits_and_undo_leave_the_users_work_as_it_was(package: Path) -> None:
    before, known = digests(package), seen_by_git(package)
    index = (package / ".git" / "index").read_bytes()

    pasted = "def __call__(self, inst, attr, value):\n            '''Let all pass.'''\n            return None\n"
    status, first = bae_source(package, "edit", "attr.validators._InValidator.__call__", "--source", "-", source=pasted)
    assert (status, first["status"]) == (0, "applied")
    validators = (package / "src" / "attr" / "validators.py").read_text()
    assert (
        "\n    def __call__(self, inst, attr, value):\n        '''Let all pass.'''\n        return None\n" in validators
    )

    status, second = bae_source(
        package, "edit", "attr._cmp._make_init", "--old", "self.value = value", "--new", "self.value = (value)"
    )
    assert (status, second["status"]) == (0, "applied")
    crlf = (package / "src" / "attr" / "_cmp.py").read_bytes()
    assert b"self.value = (value)\r\n" in crlf
    assert crlf.count(b"\n") == crlf.count(b"\r\n")

    between = digests(package)
    broken = "import nothing_of_that_name\n\ndef evolve(*args, **changes):\n    return None\n"
    status, third = bae_source(package, "edit", "attr._make.evolve", "--source", "-", source=broken)
    assert (status, third["status"]) == (6, "error")
    assert "nothing_of_that_name" in str(third["errors"])
    assert digests(package) == between

    assert len(str(bae_source(package, "history")[1]["text"]).splitlines()) == 2
    assert bae_source(package, "undo")[0] == 0
    assert bae_source(package, "undo")[0] == 0
    status, nothing = bae_source(package, "undo")
    assert (status, nothing["status"]) == (7, "error")

    assert digests(package) == before
    assert (package / ".git" / "index").read_bytes() == index
    assert seen_by_git(package) == known
