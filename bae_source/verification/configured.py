"""The type checker that a project is set up for, by its settings.

Invariant: settings are read, and nothing is looked for on the disk but files of settings; whether a checker is
installed is for others to find out.
"""

from __future__ import annotations

from typing import Any

from bae_source.errors import RequestError
from bae_source.project.files.port import Files
from bae_source.project.files.settings import sections, settings_of, table
from bae_source.verification import type_checkers

CHECKERS = tuple(type_checkers.CHECKERS)
_OWN_FILES = {
    "mypy.ini": "mypy",
    ".mypy.ini": "mypy",
    "ty.toml": "ty",
    "pyrightconfig.json": "pyright",
    "pyrefly.toml": "pyrefly",
}
_MYPY_FILES = ("mypy.ini", ".mypy.ini", "setup.cfg")
_TARGETS = ("files", "packages", "modules")


def wanted_checkers(files: Files) -> tuple[tuple[str, ...], bool]:
    """Return the checkers that may be asked, the first one that is installed, and whether the project names them.

    Raises:
        RequestError: `invalid_arguments` where `[tool.bae-source] types` is none of those that are known.
    """
    settings = table(settings_of(files), "tool")
    named = table(settings, "bae-source").get("types")
    if named is not None:
        if not isinstance(named, str) or named not in CHECKERS:
            raise RequestError(
                "invalid_arguments",
                f"[tool.bae-source] types is {named!r}, which is no type checker that is known.",
                hints=[f"There are {', '.join(CHECKERS)}."],
            )
        return (named,), True
    found = {name for name in CHECKERS if isinstance(settings.get(name), dict)}
    found |= {name for file, name in _OWN_FILES.items() if files.kind(file) is not None}
    if _section(files, "setup.cfg", "mypy"):
        found.add("mypy")
    return tuple(name for name in CHECKERS if name in found or not found), bool(found)


def mypy_has_targets(files: Files) -> bool:
    """Return whether mypy's settings tell it what to check."""
    tables: list[Any] = [_section(files, name, "mypy") for name in _MYPY_FILES]
    tables.append(table(settings_of(files), "tool").get("mypy"))
    return any(key in found for found in tables if isinstance(found, dict) for key in _TARGETS)


def _section(files: Files, name: str, title: str) -> dict[str, str]:
    """Return the section of a title in a file; empty where there is no such file."""
    return sections(files, name).get(title, {})
