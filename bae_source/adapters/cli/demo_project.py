"""The small project that `demo` makes: a package, a class, a file with Windows line ends, and its owner's git state."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

_CART = '''\
"""The shopping cart."""

from shop.prices import price_of


class Cart:
    """What somebody is about to buy."""

    def __init__(self) -> None:
        self.items: list[str] = []

    def add(self, item: str) -> None:
        self.items.append(item)

    # cents, as everywhere
    def total(self) -> int:
        """Sum up the prices."""
        total = 0
        for item in self.items:
            total += price_of(item)   # odd   spacing survives
        return total
'''

_PRICES = '''\
"""Prices, in a file that came from Windows."""

PRICES = {"tea": 350, "cup": 1200}


def price_of(item: str) -> int:
    return PRICES[item]
'''

_REPORT = '''\
"""What the shop tells its owner."""

from shop.cart import Cart

TITLE = "Today's carts"


def report(cart: Cart) -> str:
    return f"{TITLE}: {cart.total() / 100:.2f}"
'''

FILES: Mapping[str, bytes] = {
    "README.md": b"# shop\n",
    "pyproject.toml": b'[project]\nname = "shop"\nversion = "1.0"\n',
    "shop/__init__.py": b'"""A shop."""\n\nfrom shop.cart import Cart\n\n__all__ = ["Cart"]\n',
    "shop/cart.py": _CART.encode(),
    "shop/prices.py": _PRICES.replace("\n", "\r\n").encode(),
    "shop/report.py": _REPORT.encode(),
}
_STAGED = ("README.md", b"# shop\n\nA change that its owner has staged.\n")
_UNSTAGED = ("shop/report.py", _REPORT.encode() + b"\n\n# A change that its owner has not staged.\n")
_UNTRACKED = ("notes.txt", b"A file that its owner has not added.\n")
_OURS = (".git", ".bae-source", "__pycache__")


class Project(Struct, frozen=True, kw_only=True):
    """The project on disk.

    Parameters:
        root: its folder.
        git: the git program; None where there is none, and then the project is in no repository.
    """

    root: Path
    git: str | None

    def digests(self) -> dict[str, str]:
        """Return the digest of every file of the user's, by project-relative path."""
        files = (path for path in sorted(self.root.rglob("*")) if path.is_file())
        relative = {path.relative_to(self.root): path for path in files}
        return {
            name.as_posix(): sha256(path.read_bytes()).hexdigest()
            for name, path in relative.items()
            if not set(name.parts) & set(_OURS)
        }

    def git_state(self) -> dict[str, str]:
        """Return what git knows of the user's work: status, index, stash, and every commit and branch."""
        questions = {
            "git status": ("status", "--porcelain=v2", "--branch", "--untracked-files=all"),
            "the index": ("ls-files", "--stage"),
            "git diff --cached": ("diff", "--cached"),
            "git stash list": ("stash", "list"),
            "git log --all": ("log", "--all", "--format=%H %D %s"),
        }
        return {name: self._git(*arguments) for name, arguments in questions.items()} if self.git else {}

    def make_repository(self) -> None:
        """Commit everything, then leave a staged, an unstaged and an untracked change, as a person at work has."""
        self._git("-c", "init.defaultBranch=main", "init", "--quiet")
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message=Open the shop")
        self._write(*_STAGED)
        self._git("add", _STAGED[0])
        self._write(*_UNSTAGED)
        self._write(*_UNTRACKED)

    def _write(self, name: str, content: bytes) -> None:
        (self.root / name).write_bytes(content)

    def _git(self, *arguments: str) -> str:
        identity = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _OWNER.items()}
        done = subprocess.run(
            [self.git or "git", "-c", "core.autocrlf=false", *arguments],
            cwd=self.root,
            env={"PATH": os.defpath, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **identity},
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "replace")


_OWNER = {"NAME": "Shop Owner", "EMAIL": "owner@example.org"}


def make(root: Path, search_path: str) -> Project:
    """Make the project in the empty folder `root`; `search_path` says where git is looked for, as `PATH` does."""
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    project = Project(root=root, git=shutil.which("git", path=search_path))
    if project.git:
        project.make_repository()
    return project
