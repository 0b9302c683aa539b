"""Small projects on disk, asked through the Python API."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bae_source import Source


def laid(root: Path, files: Mapping[str, str | bytes]) -> Source:
    """Lay out a project and open it."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Source(root)
