"""Turn paths in the output of programs into module names.

Invariant: a file of the project is called by its module, one of an installed package or of the standard library by
its dotted name; any other path is part of what the program itself says, and stays.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_PACKAGES = r"(?:lib/python3\.\d+/)?(?:site|dist)-packages/|lib/python3\.\d+/"
_INSTALLED = re.compile(rf"/[^\s'\"()<>]*?/(?:{_PACKAGES})([^\s'\"()<>]+?)\.pyc?\b")
_RELATIVE = re.compile(r"(?<![\w./\\~$-])(?:\./)?((?:[\w.@+-]+/)+[\w.@+-]*[\w+-]|[\w-]+\.pyi?)\b((?:::\w+)*)")
_BELOW = r"(/[^\s'\"()<>|*?,;:]+)?"


class Addresses:
    """The names of the files of one project.

    Parameters:
        root: the project's root.
        source_roots: the folders on `sys.path`, project-relative; "" for the root itself.
        known: modules by project-relative path.
        tree: the project's own folder, where `root` is a copy of it.
    """

    def __init__(
        self, root: Path, source_roots: Iterable[str], known: Mapping[str, str], *, tree: Path | None = None
    ) -> None:
        places = [place for place in (root, tree) if place is not None]
        self._roots = tuple(
            dict.fromkeys(each for place in places for each in (os.path.realpath(place), os.path.abspath(place)))  # noqa: PTH100
        )
        self._source_roots = sorted({folder.strip("/") for folder in source_roots} | {""}, key=len, reverse=True)
        self._known = dict(known)
        pattern = "|".join(map(re.escape, sorted(self._roots, key=len, reverse=True)))
        self._pattern = re.compile(rf"(?<![\w./-])(?:{pattern})(?![\w.-]){_BELOW}")

    def inside(self, file: str) -> bool:
        """Return whether a file is the project's own, not one of an environment that lies in it."""
        return "site-packages" not in file and any(file.startswith(root + "/") for root in self._roots)

    def module(self, file: str) -> str | None:
        """Return the module of a file of the project, None for any other file."""
        for root in self._roots:
            if self.inside(file) and file.startswith(root + "/"):
                return self._name(file.removeprefix(root + "/"))
        return None

    def module_from_root(self, path: str) -> str | None:
        """Return the module of a file that is named from the root, None for any other file."""
        return None if os.path.isabs(path) else self.module(os.path.join(self._roots[0], path))  # noqa: PTH117, PTH118

    def convert(self, text: str) -> str:
        """Return `text` with the paths in it turned into names."""
        text = _INSTALLED.sub(lambda match: _dotted(match[1]), text)
        return self._pattern.sub(lambda match: self._name(match[1][1:]) if match[1] else "the project", text)

    def convert_from_root(self, text: str) -> str:
        """Convert the output of a program that ran in the root: relative paths that name a file, too.

        app/core.py:3: unused      ->  app.core:3: unused
        tests/test_a.py::test_f    ->  tests.test_a.test_f
        """
        return _RELATIVE.sub(self._named, self.convert(text))

    def _named(self, match: re.Match[str]) -> str:
        path = os.path.normpath(match[1])
        outside = path.startswith("..") or not os.path.isfile(os.path.join(self._roots[0], path))  # noqa: PTH113, PTH118
        return match[0] if outside else self._name(path) + match[2].replace("::", ".")

    def _name(self, path: str) -> str:
        if path in self._known:
            return self._known[path]
        for folder in self._source_roots:
            if folder and path.startswith(folder + "/"):
                path = path.removeprefix(folder + "/")
                break
        if path.endswith(".py"):
            return _dotted(path.removesuffix(".py"))
        folder, _, name = path.rpartition("/")
        return f"{folder.replace('/', '.')}:{name}" if folder else name


def _dotted(path: str) -> str:
    return path.removesuffix("/__init__").replace("/", ".")
