"""The scene that the doctor examines: a project and what belongs to it, each thing read once.

Invariant: nothing here writes, recovers, or runs the project's code.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from bae_source.errors import ResourceError
from bae_source.project.files.layout import Layout
from bae_source.project.files.port import FileKind
from bae_source.project.files.settings import settings_of
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.interpreter import Interpreter, find_interpreter
from bae_source.state.folders import StateFolders
from bae_source.system.programs import within_reach


class Scene:
    """A project that is examined.

    Parameters:
        workspace: the project as it is now.
        folders: where our own state lies.
        environment: the caller's environment variables.
        noting: whether a line about each request is kept.

    Attributes:
        policies: tells of folders with settings below the root, and of what is around them, each table of a policy that
            is in force, in a line, and why others are unknown.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        folders: StateFolders,
        environment: Mapping[str, str],
        noting: bool,
    ) -> None:
        self.workspace = workspace
        self.folders = folders
        self.environment = environment
        self.noting = noting
        self.policies: Callable[[Sequence[str]], tuple[Sequence[str], Sequence[ResourceError]]] = lambda _: ((), ())

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.folders.root

    @property
    def search_path(self) -> str:
        """Return the folders in which programs are looked for."""
        return self.environment.get("PATH", os.defpath)

    @cached_property
    def programs(self) -> str:
        """Folders in which programs are looked for before they are started."""
        return within_reach(self.search_path, self.folders.top)

    @cached_property
    def git(self) -> str | None:
        """The git that is started; None where there is none."""
        return shutil.which("git", path=self.programs)

    @cached_property
    def _pyproject(self) -> tuple[Mapping[str, Any], ResourceError | None]:
        try:
            return settings_of(self.workspace.files), None
        except ResourceError as error:
            return {}, error

    @property
    def pyproject(self) -> Mapping[str, Any]:
        """Return the content of pyproject.toml; empty where it cannot be read."""
        return self._pyproject[0]

    @property
    def obstacle(self) -> ResourceError | None:
        """Return the error that keeps pyproject.toml from being read."""
        return self._pyproject[1]

    @cached_property
    def homeless(self) -> ResourceError | None:
        """Return the error that keeps the source roots from being found."""
        try:
            _ = self.workspace.layout
        except ResourceError as error:
            return error
        return None

    @property
    def own_settings(self) -> object:
        """Return our own table."""
        tool = self.pyproject.get("tool", {})
        return tool.get("bae-source", {}) if isinstance(tool, dict) else tool

    @cached_property
    def interpreter(self) -> Interpreter:
        """The project's interpreter, whether it is there or not."""
        own = self.own_settings
        setting = own.get("python") if isinstance(own, dict) else None
        return find_interpreter(
            self.root,
            setting=setting if isinstance(setting, str) else None,
            virtual_env=self.environment.get("VIRTUAL_ENV"),
        )

    @cached_property
    def program(self) -> str | None:
        """The interpreter's program, as an absolute path; None where there is none that can be run."""
        found = shutil.which(self.interpreter.path, path=self.search_path)
        return None if found is None else os.path.abspath(found)  # noqa: PTH100  # a link stays a link

    @cached_property
    def readable(self) -> Workspace:
        """The project; with the source roots that most have where its own cannot be found out."""
        if self.homeless is None:
            return self.workspace
        files = self.workspace.files
        usual = [root for root in ("src",) if files.kind(root) is FileKind.FOLDER]
        return Workspace(files, kept=self.workspace.kept, layout=Layout(files, [*usual, ""]))


def quoted(path: Path) -> str:
    """Return a path as a shell takes it."""
    return shlex.quote(str(path))


def megabytes(size: int) -> str:
    """Return a size in bytes as text."""
    return f"{size / 1e6:.1f} MB"
