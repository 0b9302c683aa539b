"""A small project with settings, and the calls that tests of them make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.adapters.cli.cli import through_service
from bae_source.errors import ResourceError
from tests.adapters.support import Called, call

SETTINGS = """\
# settings of the demo
[build-system]
requires = ["hatchling>=1.27"]
build-backend = "hatchling.build"

[project]
name = "demo"
version = "1.0"
dependencies = [
    "httpx>=0.27",  # the client
]

[project.optional-dependencies]
dev = ["pytest"]

[dependency-groups]
test = ["pytest>=8"]
all = [{ include-group = "test" }]

[tool.bae-source]
telemetry = false

[tool.ruff]
line-length = 100

[[tool.mypy.overrides]]
module = "a"
"""


def made(root: Path, settings: str | bytes | None = SETTINGS) -> Path:
    """Make a project with a module, and with settings unless they are None."""
    (root / "app").mkdir(parents=True)
    (root / "app/__init__.py").write_text("x = 1\n")
    if settings is not None:
        content = settings.encode() if isinstance(settings, str) else settings
        (root / "pyproject.toml").write_bytes(content)
    return root


def called(root: Path, *words: str) -> Called:
    """Call the command line for real, in this process."""
    return call("--root", str(root), *words, door=through_service)


def refused(root: Path, verb: str, *placed: Any, **named: Any) -> ResourceError:
    """Expect an error, after which the file is as it was, and there is nothing else in the project."""
    file, source = root / "pyproject.toml", Source(root)
    before = file.read_bytes() if file.exists() else None
    with pytest.raises(ResourceError) as raised:
        getattr(source, verb)(*placed, **named)
    assert (file.read_bytes() if file.exists() else None) == before
    assert not [path for path in root.iterdir() if path.name not in ("app", "pyproject.toml", ".bae-source")]
    return raised.value
