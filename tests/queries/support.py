"""Small projects on disk, asked through the Python API."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from bae_source import Source


def laid(root: Path, files: Mapping[str, str | bytes]) -> Source:
    """Lay out a project and open it."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Source(root)


def close(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let nobody list the folder of a name, as where its owner does not."""
    listed = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith(name):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "scandir", refusing)
