"""The variables that tell git where things lie, which git sets for its hooks.

Invariants:
- what git reads relative to its working folder is made absolute; the rest means the same anywhere, and stays.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

PATHS = ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")
LISTS = ("GIT_ALTERNATE_OBJECT_DIRECTORIES",)


def absolute_places(environment: Mapping[str, str], here: Path) -> dict[str, str]:
    """Return those of git's places that an environment has and that depend on the working folder, absolute.

    Parameters:
        here: the working folder.
    """
    found = {name: str(here / environment[name]) for name in PATHS if environment.get(name)}
    for name in LISTS:
        if environment.get(name):
            found[name] = os.pathsep.join(_absolute(each, here) for each in environment[name].split(os.pathsep))
    return found


def _absolute(path: str, here: Path) -> str:
    return path if not path or path.startswith('"') else str(here / path)  # git quotes what has odd letters
