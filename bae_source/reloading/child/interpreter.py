"""The project's interpreter: what is set, else the active virtual environment, else the project's own, else ours.

Invariant: nothing is run and the environment is never read; `VIRTUAL_ENV` comes in as an argument.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

OURS = "sys.executable"
"""The origin of the interpreter that runs us, where nothing names another."""
_PROGRAMS = ("bin/python", "Scripts/python.exe")


class Interpreter(Struct, frozen=True, kw_only=True):
    """The Python that runs the project.

    Parameters:
        path: the program; links are not resolved, because a virtual environment is known by its link.
        origin: what named it, for messages.
    """

    path: str
    origin: str


def find_interpreter(root: Path, *, setting: str | None, virtual_env: str | None) -> Interpreter:
    """Choose the interpreter of the project at `root`.

    Parameters:
        setting: `[tool.bae-source] python`: a program, or a path relative to the root. It is taken as it stands, so
            that a wrong one is reported and not passed over.
        virtual_env: the value of `VIRTUAL_ENV`.
    """
    if setting:
        path = str(root / setting) if "/" in setting or "\\" in setting else setting
        return Interpreter(path=path, origin="[tool.bae-source] python")
    for folder, origin in ((Path(virtual_env) if virtual_env else None, "VIRTUAL_ENV"), (root / ".venv", ".venv")):
        program = _program(folder) if folder else None
        if program is not None:
            return Interpreter(path=str(program), origin=origin)
    return Interpreter(path=sys.executable, origin=OURS)


def _program(environment: Path) -> Path | None:
    for name in _PROGRAMS:
        with suppress(OSError):  # what may not be looked into cannot be run either
            if (environment / name).is_file():
                return environment / name
    return None
