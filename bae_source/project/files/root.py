"""The folder that is the project when none is named: the nearest one upwards that shows signs of being a root.

Invariant: neither a folder of another user nor a sign that another user put somewhere makes a root; a folder that the
caller names is one, whomever it belongs to.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from bae_source.state.binding import owned
from bae_source.state.folders import folders_upwards

VARIABLE = "BAE_SOURCE_ROOT"
_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")


def find_root(start: Path, environment: Mapping[str, str]) -> Path:
    """Return the folder that `BAE_SOURCE_ROOT` names; else the nearest one upwards that looks like a project's root.

    Parameters:
        start: where to begin, which is returned where nothing looks like one.
    """
    if named := environment.get(VARIABLE):
        return start / named
    start = Path(os.path.realpath(start))
    return next((folder for folder in folders_upwards(start) if _is_root(folder)), start)


def _is_root(folder: Path) -> bool:
    return any(owned(folder / mark) for mark in _MARKS)
