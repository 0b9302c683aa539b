"""Projects with an environment that is laid out by hand, as pip leaves one, and whose Python must never be started."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PACKAGES = ".venv/lib/python3.12/site-packages"
RAN = "ran"
_PYTHON = f"#!/bin/sh\ntouch $(dirname $0)/../../{RAN}\n"


def written(root: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def environment(root: Path) -> Path:
    """Lay out an environment without packages; its Python leaves a mark if anything starts it."""
    written(root, {".venv/bin/python": _PYTHON, ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.1\n"})
    (root / ".venv/bin/python").chmod(0o755)
    (root / PACKAGES).mkdir(parents=True)
    return root


def distribution(
    root: Path,
    name: str,
    version: str = "1.0",
    *,
    record: str | None = None,
    metadata: str | None = None,
    requires: tuple[str, ...] = (),
    files: Mapping[str, str] | None = None,
) -> Path:
    """Lay out the record of a distribution, which gives a package of its name unless `record` says otherwise.

    Parameters:
        record: the paths in its RECORD, one a line.
        metadata: instead of what name, version and requirements make; "" for no METADATA.
        files: others in the record's folder.
    """
    folder = root / PACKAGES / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    if metadata is None:
        lines = [f"Requires-Dist: {each}\n" for each in requires]
        metadata = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{''.join(lines)}\nRequires-Dist: no\n"
    if metadata:
        (folder / "METADATA").write_text(metadata)
    paths = f"{name.replace('-', '_')}/__init__.py" if record is None else record
    lines = [f"{path},sha256=abc,10\n" for path in paths.split("\n") if path]
    (folder / "RECORD").write_text("".join([*lines, f"{folder.name}/METADATA,,\n", "../../../bin/tool,,\n"]))
    return written(folder, files or {})


def has_run(root: Path) -> bool:
    """Say whether the environment's Python was started."""
    return (root / RAN).exists()
