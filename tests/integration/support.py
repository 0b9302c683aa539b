"""Projects written down as a mapping, made on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def made(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder and return it; one that is called `latin.py` is written in Latin-1."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("latin-1" if path.name == "latin.py" else "utf-8"))
    return folder
