"""Settings and dependencies that differ between two states of a pyproject.toml, compared as data and never as text.

    [tool.ruff]                                    config tool.ruff.line-length
    line-length = 100        -> 120
    [project]                                      config project.dependencies
    dependencies = ["rich"]  -> ["rich>=14"]       deps rich

Invariants:
- a file that cannot be read as TOML has no settings; where it had some of ours, they are gone with the change;
- the table of our own settings, `[tool.bae-source]`, is a person's: no change may touch it, in whatever spelling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from bae_source.approval.policy import Subject
from bae_source.errors import SourceError
from bae_source.model.plan import distribution_of
from bae_source.project.files.settings import parsed_toml, table
from bae_source.resources.config.key import written_key

PYPROJECT = "pyproject.toml"
_Key = tuple[str, ...]

_OURS = ("tool", "bae-source")
_OWN = "[tool.bae-source] has the settings of this engine, which no request changes"
_BUILD = "it decides what runs when the project is built"
_INSTALLS = "it decides what is installed, and from where"
_TESTS = "it decides what runs with the tests"
_COMMANDS = "it says which commands are run"
_PLUGINS = "it says which code is loaded"
_RUNS: Mapping[tuple[str, ...], str] = {
    ("build-system",): _BUILD,
    ("project", "entry-points"): _PLUGINS,
    ("tool", "uv"): _INSTALLS,
    ("tool", "pip"): _INSTALLS,
    ("tool", "pixi"): _INSTALLS,
    ("tool", "rye"): _INSTALLS,
    ("tool", "conda-lock"): _INSTALLS,
    ("tool", "poetry", "source"): _INSTALLS,
    ("tool", "poetry", "build"): _BUILD,
    ("tool", "poetry", "plugins"): _PLUGINS,
    ("tool", "poetry", "packages"): _BUILD,
    ("tool", "pdm"): _BUILD,
    ("tool", "hatch"): _BUILD,
    ("tool", "setuptools"): _BUILD,
    ("tool", "setuptools_scm"): _BUILD,
    ("tool", "flit"): _BUILD,
    ("tool", "maturin"): _BUILD,
    ("tool", "meson-python"): _BUILD,
    ("tool", "scikit-build"): _BUILD,
    ("tool", "cibuildwheel"): _BUILD,
    ("tool", "mypyc"): _BUILD,
    ("tool", "pytest"): _TESTS,
    ("tool", "tox"): _TESTS,
    ("tool", "nox"): _TESTS,
    ("tool", "coverage"): _TESTS,
    ("tool", "mutmut"): _TESTS,
    ("tool", "poe"): _COMMANDS,
    ("tool", "taskipy"): _COMMANDS,
    ("tool", "pyprojectx"): _COMMANDS,
    ("tool", "commitizen"): _COMMANDS,
    ("tool", "bumpversion"): _COMMANDS,
    ("tool", "semantic_release"): _COMMANDS,
    ("tool", "mypy", "plugins"): _PLUGINS,
    ("tool", "pylint"): _PLUGINS,
    ("tool", "flake8"): _PLUGINS,
    ("tool", "sphinx"): _PLUGINS,
}
"""Tables and keys by which other programs run something, and what each of them decides."""
_LISTS: tuple[_Key, ...] = (
    ("project", "dependencies"),
    ("build-system", "requires"),
    ("tool", "uv", "dev-dependencies"),
    ("tool", "uv", "override-dependencies"),
    ("tool", "uv", "constraint-dependencies"),
    ("tool", "uv", "build-constraint-dependencies"),
)
"""Lists of requirements."""
_TABLES: tuple[_Key, ...] = (
    ("project", "optional-dependencies"),
    ("dependency-groups",),
    ("tool", "pdm", "dev-dependencies"),
)
"""Tables of lists of requirements."""
_NAMED: tuple[_Key, ...] = (
    ("tool", "poetry", "dependencies"),
    ("tool", "poetry", "dev-dependencies"),
    ("tool", "uv", "sources"),
)
"""Tables whose keys are the names of distributions."""
_REQUIREMENT = re.compile(r"[ \t]*([A-Za-z0-9][\w.-]*)[^\r\n]*")


def of_pyproject(path: str, before: bytes | None, after: bytes | None) -> Iterator[Subject]:
    """Yield the settings and distributions that a change of a pyproject.toml touches.

    Parameters:
        before, after: its content; None where there is none.
    """
    old, new = _settings(path, before), _settings(path, after)
    for key in _differing(old or {}, new or {}, ()):
        if key[:2] != _OURS:
            yield Subject(kind="config", name=written_key(key), runs=_runs(key))
    if touches_ours(path, before, after):
        yield Subject(kind="config", name=written_key(_OURS), never=_OWN)
    first, second = set(_requirements(old or {})), set(_requirements(new or {}))
    for name in dict.fromkeys(name for _, name, _ in sorted(first ^ second)):
        yield Subject(kind="deps", name=name)


def touches_ours(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Return whether the engine's own settings in a pyproject.toml are others after a change."""
    old, new = _settings(path, before), _settings(path, after)
    if old is None and new is None:
        return any(_may_be_ours(content) for content in (before, after)) and before != after
    if old is None or new is None:
        known, unknown = (new, before) if old is None else (old, after)
        return _ours(known or {}) is not None or _may_be_ours(unknown)
    return any(_differing({"": _ours(old)}, {"": _ours(new)}, ()))


def of_requirements(before: bytes | None, after: bytes | None) -> Iterator[Subject]:
    """Yield the distributions that a change of a file of requirements, as pip's `-r` takes it, touches."""
    old, new = (set((content or b"").decode("utf-8", "replace").splitlines()) for content in (before, after))
    found = (_REQUIREMENT.fullmatch(line) for line in sorted(old ^ new))
    for name in dict.fromkeys(distribution_of(match[1]) for match in found if match):
        yield Subject(kind="deps", name=name)


def _settings(path: str, content: bytes | None) -> dict[str, Any] | None:
    """Return the settings of a file; none of one that is not there, and None for one that cannot be read."""
    if not content:
        return {}
    try:
        return parsed_toml(content, path)
    except SourceError:
        return None


def _ours(settings: Mapping[str, Any]) -> Any:
    """Return the value in the place of our own table; None where there is none."""
    tool = settings.get("tool")
    return tool.get("bae-source") if isinstance(tool, Mapping) else None


def _may_be_ours(content: bytes | None) -> bool:
    """Return whether a file that cannot be read may have our table in it, escaped or not."""
    return any(mark in (content or b"") for mark in (b"bae-source", b"\\u", b"\\U", b"\\x"))


def _differing(old: Mapping[str, Any], new: Mapping[str, Any], lead: _Key) -> Iterator[_Key]:
    """Yield the keys of two tables whose values differ, each at the depth at which no table stands."""
    for name in dict.fromkeys((*old, *new)):
        key, first, second = (*lead, name), old.get(name), new.get(name)
        inner, other = (each if isinstance(each, Mapping) else {} for each in (first, second))
        is_deeper = (inner or other) and all(each is None or isinstance(each, Mapping) for each in (first, second))
        if not is_deeper and not _is_same(first, second):
            yield key
        yield from _differing(inner, other, key)


def _is_same(first: Any, second: Any) -> bool:
    """Return whether two values are the same, 1 and 1.0 and true being three."""
    return type(first) is type(second) and repr(first) == repr(second)


def _runs(key: _Key) -> str:
    return next((reason for length in range(1, len(key) + 1) if (reason := _RUNS.get(key[:length]))), "")


def _requirements(settings: Mapping[str, Any]) -> Iterator[tuple[_Key, str, str]]:
    """Yield each requirement: the place where it stands, the name of the distribution, and how it is written."""
    for key in _LISTS:
        yield from _listed(key, table(settings, *key[:-1]).get(key[-1]))
    for key in _TABLES:
        for group, given in table(settings, *key).items():
            yield from _listed((*key, group), given)
    for name in table(settings, "tool", "hatch", "envs"):
        for part in ("dependencies", "extra-dependencies"):
            envs = ("tool", "hatch", "envs", name)
            yield from _listed((*envs, part), table(settings, *envs).get(part))
    groups = (("tool", "poetry", "group", name, "dependencies") for name in table(settings, "tool", "poetry", "group"))
    for key in (*_NAMED, *groups):
        for name, given in table(settings, *key).items():
            yield key, distribution_of(name), repr(given)


def _listed(key: _Key, given: Any) -> Iterator[tuple[_Key, str, str]]:
    for each in given if isinstance(given, list) else ():
        if isinstance(each, str):
            yield key, distribution_of(each.strip()) or each.strip(), each
