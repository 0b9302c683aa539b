"""Real projects with their tests, as a developer has them: a git repository with a `.venv` and an editable install.

Invariants:
- releases and all that their tests need are pinned; what cannot pass on this kind of machine is deselected in the
  project's own pytest settings, with its reason here, so every run of pytest leaves it out;
- the cache keeps a project with its environment, complete or absent; what is measured is a copy of it in a temporary
  folder, whose editable install names the copy.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections.abc import Collection
from pathlib import Path

from filelock import FileLock
from msgspec import Struct

from benchmarks.corpus import CACHE, Release, fetch
from benchmarks.read.greps import repository
from benchmarks.read.processes import run

_REQUIREMENTS = Path(__file__).with_name("requirements")
_COMPLETE = "complete"
_IGNORED = (".venv/", "__pycache__/", ".pytest_cache/", ".hypothesis/", ".bae-source/")
"""Patterns that a developer's checkout ignores; not every release has its `.gitignore`."""


class Change(Struct, frozen=True, kw_only=True):
    """A change of one function that keeps its behaviour."""

    target: str
    old: str
    new: str

    @property
    def back(self) -> Change:
        """The change that takes this one back."""
        return Change(target=self.target, old=self.new, new=self.old)


class Recipe(Struct, frozen=True, kw_only=True):
    """Recipe by which a project is made of its release.

    Parameters:
        release: its source distribution.
        code: folders of its packages, relative to its own.
        rare: a change that at most a tenth of its tests reach.
        central: a change that most of them reach.
        third: a change of a third module.
        deselected: tests that cannot pass here, by the beginnings of their ids, with the reason.
        tools: requirements of programs that its environment has as well, pinned.
    """

    release: Release
    code: tuple[str, ...]
    rare: Change
    central: Change
    third: Change
    deselected: dict[str, str] = {}
    tools: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The project's name."""
        return self.release.name

    @property
    def digest(self) -> str:
        """Digest of all that the kept project depends on."""
        parts = (
            self.release.sha256,
            self.requirements.read_text(),
            *self.deselected,
            *self.tools,
            sys.version,
            *_IGNORED,
        )
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

    @property
    def requirements(self) -> Path:
        """The file with the pinned versions of what its tests need."""
        return _REQUIREMENTS / f"{self.name}.txt"


class Project(Struct, frozen=True, kw_only=True):
    """A project to measure.

    Parameters:
        root: its folder.
        python: the interpreter that runs its tests.
        code: folders of its packages, relative to `root`.
    """

    root: Path
    python: Path
    code: tuple[str, ...]


def copied(recipe: Recipe, root: Path, *, cache: Path = CACHE) -> Project:
    """Put a fresh copy of a project at `root`, which is not there yet.

    Raises:
        Unavailable: if its release cannot be had.
        Failed: if its environment cannot be made.
    """
    return another(kept(recipe, cache), root)


def another(project: Project, root: Path) -> Project:
    """Copy a project with its environment, and have the copy's editable install name the copy."""
    shutil.copytree(project.root, root, symlinks=True)
    for path in root.glob(".venv/lib/python*/site-packages/*.pth"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(str(project.root), str(root)), encoding="utf-8")
    try:
        python = root / project.python.relative_to(project.root)
    except ValueError:
        python = project.python  # of an environment that lies elsewhere
    return Project(root=root, python=python, code=project.code)


def kept(recipe: Recipe, cache: Path) -> Project:
    """Return the project that the cache keeps, made with its environment unless it is there."""
    folder = cache / "verify" / f"{recipe.release.folder}-{recipe.digest}"
    root = folder / recipe.name
    project = Project(root=root, python=root / ".venv/bin/python", code=recipe.code)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "lock"):
        if not (folder / _COMPLETE).is_file():
            shutil.rmtree(root, ignore_errors=True)
            shutil.copytree(fetch(recipe.release, cache), root, symlinks=True)
            _deselect(root / "pyproject.toml", recipe.deselected)
            repository(root)
            with (root / ".git/info/exclude").open("a", encoding="utf-8") as file:
                file.writelines(f"{name}\n" for name in _IGNORED)
            _install(project, recipe)
            (folder / _COMPLETE).touch()
    return project


def _deselect(settings: Path, tests: Collection[str]) -> None:
    """Add tests to those that the project's own options of pytest leave out.

    addopts = "-rxXs"   ->   addopts = "--deselect=tests/test_a.py::test_b -rxXs", and likewise in a list
    """
    if not tests:
        return
    words = [f"--deselect={each}" for each in tests]
    text = settings.read_text(encoding="utf-8")
    quoted = "".join(f'"{each}", ' for each in words)
    text, lists = re.subn(r"^addopts = \[", lambda found: found[0] + quoted, text, flags=re.MULTILINE)
    plain = "".join(f"{each} " for each in words)
    text, strings = re.subn(r'^addopts = "', lambda found: found[0] + plain, text, flags=re.MULTILINE)
    assert lists + strings == 1, settings
    settings.write_text(text, encoding="utf-8")


def _install(project: Project, recipe: Recipe) -> None:
    """Make the environment: what the tests need at its pinned versions, then the project itself, editable."""
    run([sys.executable, "-m", "venv", str(project.root / ".venv")], cwd=project.root)
    pip = [str(project.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    run([*pip, "-r", str(recipe.requirements), *recipe.tools], cwd=project.root)
    # Without the history of the release's own repository its version comes from here.
    version = {"SETUPTOOLS_SCM_PRETEND_VERSION": recipe.release.version}
    run([*pip, "--editable", str(project.root)], cwd=project.root, environment=version)
