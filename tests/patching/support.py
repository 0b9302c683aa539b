"""A small project in a repository of its own, and what several tests of patches do with it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

CORE = "import os\n\n\ndef f():\n    a = 1\n    return a\n\n\nclass A:\n    def g(self):\n        return os.name\n"
USES = "from app.core import f\n\nVALUE = f()\n"
GUIDE = "# Guide\n\nOne.\n\nTwo.\n\nThree.\n"


def make(root: Path) -> Path:
    """Make the project, with a commit."""
    (root / "app").mkdir(parents=True)
    (root / "docs").mkdir()
    (root / "app" / "__init__.py").write_text("")
    (root / "app" / "core.py").write_text(CORE)
    (root / "app" / "uses.py").write_text(USES)
    (root / "docs" / "guide.md").write_text(GUIDE)
    (root / "pyproject.toml").write_text('[project]\nname = "app"\n')
    git(root, "init", "-q", ".")
    git(root, "config", "core.autocrlf", "false")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root


def git(root: Path, *arguments: str, given: bytes = b"") -> bytes:
    """Run git, which has to succeed."""
    done = subprocess.run(
        ["git", "-c", "user.email=a@example.org", "-c", "user.name=A", *arguments],
        cwd=root,
        input=given,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def state(root: Path) -> dict[str, tuple[bytes, bool]]:
    """Return the files of the user, each with whether it is a program; our own state and caches are left out."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), os.access(path, os.X_OK))
        for path in root.rglob("*")
        if path.is_file() and not {".bae-source", "__pycache__", ".git"} & set(path.parts)
    }
