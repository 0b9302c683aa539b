"""Which type checker a project is set up for, and which files of tests, told by its settings.

Invariant: settings are read, and nothing is looked for on the disk but files of settings; whether a checker is
installed is for others to find out.
"""

from __future__ import annotations

from typing import Any

from bae_source.errors import RequestError
from bae_source.project.files.port import Files
from bae_source.project.files.settings import sections, settings_of, table

CHECKERS = ("mypy", "ty", "basedpyright", "pyright", "pyrefly")
_OWN_FILES = {
    "mypy.ini": "mypy",
    ".mypy.ini": "mypy",
    "ty.toml": "ty",
    "pyrightconfig.json": "pyright",
    "pyrefly.toml": "pyrefly",
}
_MYPY_FILES = ("mypy.ini", ".mypy.ini", "setup.cfg")
_TARGETS = ("files", "packages", "modules")
_PYTEST_FILES = (
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
)


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
    """Say whether mypy's settings tell it what to check."""
    tables: list[Any] = [_section(files, name, "mypy") for name in _MYPY_FILES]
    tables.append(table(settings_of(files), "tool").get("mypy"))
    return any(key in found for found in tables if isinstance(found, dict) for key in _TARGETS)


def patterns_of_tests(files: Files) -> tuple[str, ...]:
    """Return what pytest is told, beside its usual patterns, to take for files of tests."""
    return tuple(_told_to_pytest(files, "python_files"))


def names_tests_otherwise(files: Files) -> bool:
    """Say whether pytest is told to take functions or classes of other names than usual for tests."""
    return any(_told_to_pytest(files, key) for key in ("python_functions", "python_classes"))


def runs_doctests(files: Files) -> bool:
    """Say whether pytest is told to take the examples in docstrings for tests."""
    return "--doctest-modules" in _told_to_pytest(files, "addopts")


def _told_to_pytest(files: Files, key: str) -> list[str]:
    """Return the words of a setting of pytest, of all files that may have it."""
    tables: list[Any] = [_section(files, name, title) for name, title in _PYTEST_FILES]
    tool = table(settings_of(files), "tool", "pytest")
    told = [each.get(key) for each in (*tables, tool, table(tool, "ini_options"))]
    words = [each.split() if isinstance(each, str) else each for each in told]
    return [word for each in words if isinstance(each, list) for word in each if isinstance(word, str)]


def _section(files: Files, name: str, title: str) -> dict[str, str]:
    """Return what stands under a title in a file; nothing where there is no such file."""
    return sections(files, name).get(title, {})
