"""Fresh copies to do a task on: a git repository of one commit, and an environment with the project's own tools.

The projects are those of `benchmarks.verify`, with ruff and mypy, which all of them use, in their environments; whoever
works by the shell may use them as ours may.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from msgspec import structs

from benchmarks.economy.model import Task
from benchmarks.read.greps import ENVIRONMENT
from benchmarks.read.processes import environment_of
from benchmarks.verify.projects import Project, copied
from benchmarks.verify.recipes import RECIPES

PACKAGES = ("httpx", "marshmallow", "starlette")
_TOOLS = (
    "ruff==0.17.6",
    "mypy==2.4.1",
    "mypy_extensions==1.2.0",
    "pathspec==1.1.1",
    "librt==0.17.0",
    "ast_serialize==0.13.1",
    "typing_extensions==4.16.0",
)
_LEFT_BY_TESTS = "/test\n"
"""A file that the tests of httpx leave, as the log of a TLS context."""
_RECIPES = {recipe.name: structs.replace(recipe, tools=_TOOLS) for recipe in RECIPES if recipe.name in PACKAGES}


def fresh(task: Task, root: Path) -> Project:
    """Put a copy for a task at `root`, which is not there yet.

    Raises:
        Unavailable: if its release cannot be had.
        Failed: if its environment cannot be made.
    """
    project = copied(_RECIPES[task.package], root)
    _lead_scripts(project)
    prepare(task, root)
    return project


def prepare(task: Task, root: Path) -> None:
    """Make what is given part of the first commit of a repository."""
    with (root / ".git/info/exclude").open("a", encoding="utf-8") as file:
        file.write(_LEFT_BY_TESTS)
    for given in task.given:
        path = root / given.path
        text = path.read_text(encoding="utf-8")
        assert text.count(given.old) == 1, given
        path.write_text(text.replace(given.old, given.new), encoding="utf-8")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--amend", "--no-edit", "--allow-empty")


def tree(root: Path) -> str:
    """Return the id of the tree of all files that are not ignored: two trees are equal if their ids are."""
    git(root, "add", "--all")
    return git(root, "write-tree").strip()


def diff(root: Path) -> str:
    """Return what differs from the first commit; `tree` comes first."""
    return git(root, "diff", "--cached", "--no-color", "--no-ext-diff")


def _lead_scripts(project: Project) -> None:
    """Have the scripts of the environment, as pytest is one, started by the copy's Python."""
    for path in project.python.parent.iterdir():
        if path.is_file() and not path.is_symlink() and path.read_bytes().startswith(b"#!"):
            _, _, rest = path.read_bytes().partition(b"\n")
            path.write_bytes(b"#!" + bytes(project.python) + b"\n" + rest)


def git(root: Path, *words: str) -> str:
    """Return what git prints, without the user's settings."""
    done = subprocess.run(
        ["git", *words], cwd=root, env=environment_of(ENVIRONMENT), capture_output=True, text=True, check=True
    )
    return done.stdout
