"""An index of wheels, and a project with an environment, for tests of dependencies that change."""

from __future__ import annotations

from pathlib import Path

import pytest
from filelock import FileLock

from tests.resources.deps.installable import PYPROJECT, copied, environment, wheel


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment and an index, made once for all processes that run tests."""
    top = tmp_path_factory.getbasetemp()
    top = top.parent if top.name.startswith("popen-") else top
    folder = top / "installable"
    with FileLock(top / "installable.lock"):
        if not (folder / "whole").exists():
            environment(folder / "environment")
            index(folder / "index")
            (folder / "whole").touch()
    return folder


def index(folder: Path) -> None:
    """Fill the index: alpha needs beta, gamma an old one; Foo.Bar has an extra, and needy wants an old alpha."""
    folder.mkdir()
    for version in ("1.0", "1.1", "2.0"):
        inner = f'VERSION = "{version}"\n\n\nclass Kept:\n    pass\n'
        files = {"alpha/inner.py": inner, "alpha/new.py" if version == "2.0" else "alpha/old.py": ""}
        wheel(folder, "alpha", version, requires=["beta"], files=files)
    wheel(folder, "broken", "1.0")
    wheel(folder, "broken", "2.0", files={"broken/__init__.py": "raise RuntimeError('no')\n"})
    wheel(folder, "ending", "1.0")
    wheel(folder, "ending", "2.0", files={"ending/__init__.py": "raise SystemExit(3)\n"})
    wheel(folder, "beta", "1.0")
    wheel(folder, "beta", "2.0")
    wheel(folder, "gamma", "1.0", requires=["beta<2"])
    wheel(folder, "needy", "1.0", requires=["alpha<2"])
    wheel(folder, "Foo.Bar", "1.0", requires=['never; python_version < "3"'], extras={"x": ["gamma"]})
    wheel(folder, "local", "1.0+here")
    wheel(folder, "early", "1.0")
    wheel(folder, "early", "2.0b1")


@pytest.fixture
def links(made_once: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The index, which pip and uv are to use."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(made_once / "index"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    return made_once / "index"


@pytest.fixture
def root(tmp_path: Path, links: Path, made_once: Path) -> Path:
    """A project with an environment in which nothing is installed yet."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text(PYPROJECT)
    (root / "app").mkdir()
    (root / "app" / "__init__.py").write_text("")
    copied(made_once / "environment", root / ".venv")
    return root
