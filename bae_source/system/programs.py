"""Folders of programs: those of a project lie beside its interpreter, ours nowhere that a project can reach.

find_program("mypy", "/repo/.venv/bin/python", "/usr/bin")       "/repo/.venv/bin/mypy"
within_reach("/repo/.venv/bin:.:/usr/bin", Path("/repo"))        "/usr/bin"
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct


class Surroundings(Struct, frozen=True, kw_only=True):
    """The folder and the environment that a project's own programs run in.

    Parameters:
        root: the project's folder, links followed.
        python: the project's interpreter.
        environment: the caller's environment variables.
        is_named: whether the project or the caller names the interpreter; else it is the one that runs us.
        progress: called while one of them takes long, with how much is done, of how much, and what came last.
        permit: sees that the caller may change some of these files, before code runs that plans it; it raises if not.
    """

    root: Path
    python: str
    environment: Mapping[str, str]
    is_named: bool = True
    progress: Callable[[int, int, str], None] = lambda *_: None
    permit: Callable[[Sequence[str]], None] = lambda _: None


def find_program(name: str, python: str, search_path: str) -> str | None:
    """Return a program of a project: beside its interpreter, else on the search path; None where there is none."""
    beside = Path(python).parent if "/" in python or "\\" in python else None
    found = shutil.which(name, path=str(beside)) if beside else None
    return found or shutil.which(name, path=search_path)


def within_reach(search_path: str, brought: Path) -> str:
    """Return the parts of a search path that are absolute, and outside of a folder.

    Parameters:
        search_path: as in `PATH`.
        brought: the folder whose programs are not to be started, without links.
    """
    folders = (each for each in search_path.split(os.pathsep) if Path(each).is_absolute())
    return os.pathsep.join(each for each in folders if not Path(os.path.realpath(each)).is_relative_to(brought))
