"""Bring old text of the engine back, where it does not start any more: a program that needs nothing but Python.

    python way_back.py FOLDER        one of the folders that an outcome of `meta` names

Invariants:
- nothing of the engine is imported;
- nothing is written unless every file is as the change left it, or as it was before.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path


def main(folder: Path) -> str:
    """Bring the text back, and return the message.

    Parameters:
        folder: with `manifest.json`, and the old text.

    Raises:
        ValueError: nothing was written; the message says why.
        OSError: it cannot be read or written.
    """
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    root = Path(manifest["root"])
    wanted: dict[Path, bytes | None] = {}
    for each in manifest["files"]:
        parts = each["path"].split("/")
        if parts[0] != "bae_source" or ".." in parts:
            raise ValueError(f"{each['path']} is no file of bae_source")
        before = None if each["before"] is None else (folder / each["before"]).read_bytes()
        file = root.joinpath(*parts)
        now = file.read_bytes() if file.exists() else None
        digest = None if now is None else hashlib.sha256(now).hexdigest()
        if now != before and digest != each["after"]:
            raise ValueError(f"{file} was changed since")
        wanted[file] = before
    for file, content in wanted.items():
        _write(file, content)
    return f"{len(wanted)} files of bae_source are as they were before the change.\n"


def _write(file: Path, content: bytes | None) -> None:
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()
    if content is None:
        file.unlink(missing_ok=True)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


if __name__ == "__main__":
    try:
        if len(sys.argv) != 2:
            raise ValueError("give the folder that the outcome of the change named")
        sys.stdout.write(main(Path(sys.argv[1])))
    except (OSError, ValueError, KeyError) as error:
        sys.stderr.write(f"Nothing was brought back: {error}.\n")
        sys.exit(1)
