"""A project with logs, and a user with settings."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

SETTINGS = '[tool.bae-source]\nlogs = "var/log"\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with an old log and a newer one below it."""
    root = tmp_path / "project"
    folder = root / "var/log"
    (folder / "web").mkdir(parents=True)
    (root / "pyproject.toml").write_text(SETTINGS)
    (folder / "app.log").write_text("".join(f"line {number}\n" for number in range(1, 1235)))
    (folder / "web/access.log").write_text("GET /\nGET /favicon.ico")
    os.utime(folder / "app.log", (1_700_000_000, 1_700_000_000))
    os.utime(folder / "web/access.log", (1_800_000_000, 1_800_000_000))
    return root


@pytest.fixture
def users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Writes the user's own file of settings."""
    folder = tmp_path / "config/bae-source"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent))

    def write(text: str) -> Path:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "settings.toml").write_text(text)
        (folder / "settings.toml").chmod(0o600)
        return folder / "settings.toml"

    return write
