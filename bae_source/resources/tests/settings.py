"""The settings of pytest, as far as they say which files, classes and functions are tests.

    pytest.ini   pyproject.toml   tox.ini   setup.cfg      the first that speaks of pytest counts, as it does for pytest

Invariant: settings are read, and nothing is run; a hook or plugin that decides otherwise is not known.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from bae_source.project.files.port import Files
from bae_source.project.files.settings import sections, settings_of, table, toml_of

_SECTIONS = (
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
)
_FILES = ("test_*.py", "*_test.py")
_CLASSES = ("Test",)
_FUNCTIONS = ("test",)
_NOT_ENTERED = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")
_SELECTING = ("-k", "-m", "--deselect", "--lf", "--last-failed", "--sw", "--stepwise")
_WITH_VALUE = ("-k", "-m", "-n", "-p", "-c", "-o", "-W", "-r")


class PytestSettings(Struct, frozen=True, kw_only=True):
    """The files, classes and functions that pytest collects in a project.

    Parameters:
        files: patterns of names of files.
        classes, functions: beginnings of names, or patterns of them.
        paths: patterns of places that are looked into, project-relative; none for all.
        not_entered: patterns of folders that are not looked into.
        ignored: paths that are left out.
        selects: the options by which pytest leaves out some of what it collects.
        doctests: whether the examples in docstrings are tests.
    """

    files: tuple[str, ...] = _FILES
    classes: tuple[str, ...] = _CLASSES
    functions: tuple[str, ...] = _FUNCTIONS
    paths: tuple[str, ...] = ()
    not_entered: tuple[str, ...] = _NOT_ENTERED
    ignored: tuple[str, ...] = ()
    selects: tuple[str, ...] = ()
    doctests: bool = False

    def holds_tests(self, path: str) -> bool:
        """Return whether pytest collects a file of the project."""
        folder, _, name = path.rpartition("/")
        if not any(fnmatchcase(name, pattern) for pattern in self.files) or self._is_ignored(path):
            return False
        inside = self._below(path) if self.paths else folder
        if inside is None:
            return False
        return not any(fnmatchcase(part, each) for part in inside.split("/") if part for each in self._by_name)

    @property
    def _by_name(self) -> tuple[str, ...]:
        return tuple(pattern for pattern in self.not_entered if "/" not in pattern)

    def _is_ignored(self, path: str) -> bool:
        given = (*self.ignored, *(pattern for pattern in self.not_entered if "/" in pattern))
        return any(fnmatchcase(path, each) or fnmatchcase(path, f"{each.rstrip('/')}/*") for each in given)

    def _below(self, path: str) -> str | None:
        """Return the folders of a file below the place that is looked into; None where it lies in none."""
        parts = path.split("/")
        for place in self.paths:
            bare = place.removeprefix("./").rstrip("/")
            if bare in ("", "."):
                return "/".join(parts[:-1])
            for length in range(1, len(parts) + 1):
                if fnmatchcase("/".join(parts[:length]), bare) and bare.count("/") == length - 1:
                    return "/".join(parts[length:-1])
        return None

    @property
    def are_named_otherwise(self) -> bool:
        """True where classes or functions of other names than usual are tests."""
        return (self.classes, self.functions) != (_CLASSES, _FUNCTIONS)

    def is_class(self, name: str) -> bool:
        """Return whether pytest takes a class of such a name for one of tests, whatever its bases."""
        return _fits(name, self.classes)

    def is_function(self, name: str) -> bool:
        """Return whether pytest takes a function of such a name for a test."""
        return _fits(name, self.functions)


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(name.startswith(each) or ("*" in each and fnmatchcase(name, each)) for each in patterns)


def pytest_settings(files: Files) -> PytestSettings:
    """Return the settings of a project.

    Raises:
        SourceError: `syntax_invalid` if a file of settings does not parse.
    """
    given = _table(files)
    options = _words(given.get("addopts"), _split)
    values = {key: tuple(_words(given.get(key), str.split)) for key in given}
    places, ignored, selects = _options(options)
    return PytestSettings(
        files=values.get("python_files") or _FILES,
        classes=values.get("python_classes") or _CLASSES,
        functions=values.get("python_functions") or _FUNCTIONS,
        paths=places or values.get("testpaths", ()),
        not_entered=values.get("norecursedirs") or _NOT_ENTERED,
        ignored=ignored,
        selects=selects,
        doctests="--doctest-modules" in options,
    )


def has_settings(files: Files) -> bool:
    """Return whether the root of a project has settings of pytest, which then count for all tests."""
    return any(files.kind(name) is not None for name in ("pytest.ini", ".pytest.ini", "pytest.toml")) or bool(
        _table(files)
    )


def _options(options: list[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the places to search, the paths to ignore and the options that select tests, from `addopts`."""
    places: list[str] = []
    ignored: list[str] = []
    selects: list[str] = []
    words = iter(options)
    for word in words:
        name, equals, value = word.partition("=")
        if name in ("--ignore", "--ignore-glob"):
            ignored.append((value if equals else next(words, "")).removeprefix("./"))
        elif name in _SELECTING or word[:2] in ("-k", "-m"):
            takes = not equals and word in ("-k", "-m", "--deselect")
            selects.append(f"{word} {next(words, '')}" if takes else word)
        elif word in _WITH_VALUE:
            next(words, "")
        elif not word.startswith("-") and ("/" in word or word.endswith(".py")):
            places.append(word.partition("::")[0])
    return tuple(places), tuple(ignored), tuple(selects)


def _table(files: Files) -> Mapping[str, Any]:
    """Return the settings of the first file that has some."""
    for name in ("pytest.toml", ".pytest.toml"):
        if found := table(toml_of(files, name), "pytest"):
            return found
    for name, title in _SECTIONS[:2]:
        if (own := sections(files, name).get(title)) is not None:
            return own
    tool = table(settings_of(files), "tool", "pytest")
    if tool:
        return table(tool, "ini_options") or tool
    for name, title in _SECTIONS[2:]:
        if (own := sections(files, name).get(title)) is not None:
            return own
    return {}


def _split(options: str) -> list[str]:
    try:
        return shlex.split(options)
    except ValueError:  # a quotation mark without another, of which pytest complains itself
        return options.split()


def _words(value: Any, split: Callable[[str], list[str]]) -> list[str]:
    if isinstance(value, str):
        return list(split(value))
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
