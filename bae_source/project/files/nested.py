"""Projects in folders of a project, told by what each says of itself, and the names by which code imports them.

    part_a/pyproject.toml      [project]
    part_a/pkg_a/core.py       pkg_a.core, since a flat project is imported from its own folder
    part_b/setup.py
    part_b/src/pkg_b.py        pkg_b

Invariants:
- a folder with a pyproject.toml that only sets up tools is none, and nothing is looked for in packages;
- projects among tests, examples, templates and the like are somebody's data, and left out;
- so few folders are listed that it can be done before each request.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.files.ignored import is_ignored, never_entered
from bae_source.project.files.settings import content_of

if TYPE_CHECKING:
    from bae_source.project.files.port import Files

_INIT = "__init__.py"
_DEEPEST = 3
"""`python_modules/libraries/dagster-aws/setup.py` has as many folders around it."""
_MOST_LISTED = 400
_DATA = frozenset(
    {"test", "tests", "testing", "testdata", "test_data", "fixture", "fixtures", "example", "examples", "sample",
     "samples", "template", "templates", "doc", "docs", "documentation", "demo", "demos", "benchmark", "benchmarks",
     "vendor", "vendored", "third_party", "third-party", "thirdparty", "build", "dist"}
)  # fmt: skip
"""Names of folders whose projects are nobody's source."""
_NO_PACKAGES = _DATA | {"bin", "ci", "python", "scripts", "tools", "util", "utils"}
"""Names of folders that a flat project does not install."""
_PROJECT = rb"(?m)^[ \t]*\[[ \t]*(?:project|tool\.poetry|tool\.flit\.(?:metadata|module))[ \t]*\]"
_SAYING = (
    ("pyproject.toml", _PROJECT),
    ("setup.cfg", rb"(?m)^\[(?:metadata|options)\]"),
    ("setup.py", rb"\bsetup\s*\("),
)
_MARKS = frozenset(name for name, _ in _SAYING)


class Nested(Struct, frozen=True, kw_only=True):
    """A project in a folder of another one.

    Parameters:
        folder: its own.
        flat: packages directly in its folder, or in namespace packages there, by dotted name.
    """

    folder: str
    flat: tuple[tuple[str, str], ...]


def nested_projects(files: Files) -> list[Nested]:
    """Return the projects in folders of a project, sorted by folder; none below another one."""
    found: list[Nested] = []
    level, listed = [""], 0
    for _ in range(_DEEPEST):
        following: list[str] = []
        for outer in level:
            for name in files.folder(outer).folders:
                if never_entered(name) or name.startswith((".", "_")) or name.lower() in _DATA:
                    continue
                listed += 1
                if listed > _MOST_LISTED:
                    return sorted(found, key=lambda each: each.folder)
                path = f"{outer}/{name}" if outer else name
                folder = files.folder(path)
                if _MARKS.intersection(folder.files) and says_project(files, path):
                    if not is_ignored(files, f"{path}/"):
                        found.append(Nested(folder=path, flat=tuple(_packages(files, path, "", _DEEPEST))))
                elif _INIT not in folder.files:
                    following.append(path)
        level = following
    return sorted(found, key=lambda each: each.folder)


def says_project(files: Files, folder: str) -> bool:
    """Say whether a folder says of itself that it is a project, and not only that tools find settings there."""
    for name, saying in _SAYING:
        try:
            content = content_of(files, posixpath.join(folder, name))
        except ResourceError:
            continue
        if content and re.search(saying, content):
            return True
    return False


def has_own_code(files: Files) -> bool:
    """Say whether a package lies directly in the root, whose names those in folders would stand beside."""
    return any(
        "." not in name and name not in _NO_PACKAGES and files.kind(f"{name}/{_INIT}") is not None
        for name in files.names("")
    )


def _packages(files: Files, folder: str, lead: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the packages in a folder by their names, those in namespace packages too.

    Parameters:
        lead: the name of the folder, if it is a namespace package.
    """
    for name in files.folder(folder).folders:
        if not name.isidentifier() or never_entered(name) or name.startswith("_") or name.lower() in _NO_PACKAGES:
            continue
        path, dotted = f"{folder}/{name}", f"{lead}.{name}".lstrip(".")
        if _INIT in files.folder(path).files:
            yield dotted, path
        elif depth and (name != "src" or lead):
            yield from _packages(files, path, dotted, depth - 1)
