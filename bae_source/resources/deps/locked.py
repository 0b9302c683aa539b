"""The releases that a project's lock files fix: uv.lock, poetry.lock, pdm.lock, pylock.toml (PEP 751), Pipfile.lock.

Invariants:
- they are read, and the tools that write them are not run;
- one that cannot be read is named with the reason, and says nothing; it is no error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from bae_source.errors import ResourceError, SourceError
from bae_source.project.files.port import FileKind, Files
from bae_source.project.files.settings import content_of, toml_of
from bae_source.resources.deps.declared import normalised

LARGEST_LOCK = 8_000_000
"""Bytes of a lock file; a larger one is not read."""
_TABLES: Mapping[str, str] = {
    "uv.lock": "package",
    "poetry.lock": "package",
    "pdm.lock": "package",
    "pylock.toml": "packages",
}
_PIPFILE = "Pipfile.lock"
_LONGEST = 100


class Locked(Struct, frozen=True, kw_only=True):
    """The releases that lock files fix.

    Parameters:
        paths: of those that were read.
        versions: the releases of each distribution, by normalised name; several where the lock depends on the platform.
        problems: why others could not be read, in sentences.
    """

    paths: tuple[str, ...] = ()
    versions: Mapping[str, tuple[str, ...]] = {}
    problems: tuple[str, ...] = ()


def locked(files: Files) -> Locked:
    """Return the contents of the lock files at the root of a project."""
    paths: list[str] = []
    problems: list[str] = []
    found: dict[str, dict[str, None]] = {}
    for path in (*_TABLES, _PIPFILE):
        if files.kind(path) is not FileKind.FILE:
            continue
        try:
            for name, version in _pairs(files, path):
                found.setdefault(normalised(name), {})[version] = None
        except ResourceError as error:
            problems.append(f"{error.clause_about(path) if path not in error.clause else error.clause}.")
        else:
            paths.append(path)
    versions = {name: tuple(each) for name, each in found.items()}
    return Locked(paths=tuple(paths), versions=versions, problems=tuple(problems))


def _pairs(files: Files, path: str) -> list[tuple[str, str]]:
    """Return name and version of what a lock file lists.

    Raises:
        ResourceError: it cannot be read.
    """
    if path == _PIPFILE:
        return list(_of_pipfile(files))
    packages = toml_of(files, path, largest=LARGEST_LOCK).get(_TABLES[path])
    return [pair for each in packages if (pair := _pair(each))] if isinstance(packages, list) else []


def _pair(given: Any) -> tuple[str, str] | None:
    name, version = (given.get("name"), given.get("version")) if isinstance(given, Mapping) else (None, None)
    return (name[:_LONGEST], version[:_LONGEST]) if isinstance(name, str) and isinstance(version, str) else None


def _of_pipfile(files: Files) -> Iterator[tuple[str, str]]:
    content = content_of(files, _PIPFILE, largest=LARGEST_LOCK) or b"{}"
    try:
        parsed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise SourceError("syntax_invalid", f"{_PIPFILE} does not parse: {str(error)[:300]}.") from None
    for section in ("default", "develop"):
        listed = parsed.get(section) if isinstance(parsed, dict) else None
        for name, facts in listed.items() if isinstance(listed, dict) else ():
            version = facts.get("version") if isinstance(facts, dict) else None
            if isinstance(version, str):
                yield name[:_LONGEST], version.removeprefix("==")[:_LONGEST]
