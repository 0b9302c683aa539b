"""Where a program may be taken from: nowhere that a project, or the repository around it, has put one.

within_reach("/repo/.venv/bin:.:/usr/bin", Path("/repo"))        "/usr/bin"
"""

from __future__ import annotations

import os
from pathlib import Path


def within_reach(search_path: str, brought: Path) -> str:
    """Return what of a search path names a folder absolutely, and outside of another one.

    Parameters:
        search_path: as in `PATH`.
        brought: the folder whose programs are not to be started, without links.
    """
    folders = (each for each in search_path.split(os.pathsep) if Path(each).is_absolute())
    return os.pathsep.join(each for each in folders if not Path(os.path.realpath(each)).is_relative_to(brought))
