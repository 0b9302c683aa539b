"""The names of files in the notation of one folder, so that a policy there is about what it means there.

    /repo/pyproject.toml                   [tool.bae-source.policy]  read.deny = ["app.secrets", ":private/**"]
    /repo/src/app/secrets.py               app.secrets, and :src/app/secrets.py
    /repo/src/app/data/a.csv               :src/app/data/a.csv, and app:data/a.csv
    /repo/var/log/app.log                  :var/log/app.log, and as a log app.log
    --root /repo/src/app                   where the module is `secrets`, and is covered all the same

A file has several names where it lies in several packages, or is Python; what is forbidden under one is forbidden.

Invariant: the names rest on the layout of the folder alone, so none needs a walk.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

from bae_source.approval.policy import Kind
from bae_source.errors import ResourceError
from bae_source.project.files.layout import Layout, layout_of
from bae_source.project.files.port import Disk
from bae_source.project.files.settings import own_settings

PYTHON = (".py", ".pyi", ".pyw")
_TESTS = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test|tests?|conftest)\.pyi?")
"""Files of tests by their names, as `resources.tests.suite` has them where pytest is given no others."""


class Names:
    """Names of files in the notation of a folder.

    Parameters:
        folder: absolute, links followed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def layout(self) -> Layout:
        """The source roots of the folder; itself alone where its settings cannot be read."""
        files = Disk(self.folder)
        try:
            return layout_of(files)
        except ResourceError:
            return Layout(files, ["src", ""])

    def of(self, path: str) -> tuple[tuple[Kind, str], ...]:
        """Return the kinds and names of a file, that by which it is mostly called first.

        Parameters:
            path: relative to the folder, with forward slashes.
        """
        return tuple(dict.fromkeys(self._of(path)))

    def is_submodule(self, path: str, name: str) -> bool:
        """Return whether a name in a package, whose `__init__` is at a path, is that of a module in it."""
        inner = f"{path.rpartition('/')[0]}/{name}".lstrip("/")
        kind = self.layout.files.kind
        return any(kind(each) is not None for each in (inner, f"{inner}.py", f"{inner}.pyi"))

    @cached_property
    def _logs(self) -> str:
        """The folder of logs, with a slash behind it; "" where none is set."""
        try:
            found = own_settings(Disk(self.folder), only="logs").get("logs")
        except ResourceError:
            return ""
        return f"{posixpath.normpath(found)}/" if isinstance(found, str) and found.strip() else ""

    def _of(self, path: str) -> Iterator[tuple[Kind, str]]:
        if path.endswith(PYTHON):
            module = self.layout.module_at(path.removesuffix("w"))
            kind: Kind = "tests" if _TESTS.fullmatch(path) else "code"
            if module is not None:
                yield kind, module.name
            yield kind, f":{path}"
            return
        owners = list(self._owners(path))
        if not owners:
            yield "data", f":{path}"
        yield from (("data", f"{package}:{path[len(folder) + 1 :]}") for package, folder in owners)
        if owners:
            yield "data", f":{path}"
        if self._logs and path.startswith(self._logs):
            yield "logs", path[len(self._logs) :]

    def _owners(self, path: str) -> Sequence[tuple[str, str]]:
        """Return the packages that a file may lie in, and their folders, the innermost first."""
        found: list[tuple[str, str]] = []
        folder = path.rpartition("/")[0]
        while folder:
            module = self.layout.module_at(f"{folder}/__init__.py")
            if module is not None and module.package and module.name != "__init__":
                found.append((module.name, folder))
            folder = folder.rpartition("/")[0]
        return found
