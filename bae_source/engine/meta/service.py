"""The door to the engine's own source: a service whose project is the installed package, and which takes every request.

    bae-source meta read bae_source.queries.read.Read        Meta(…).run(request, context)

Invariants:
- a project never reaches it: nothing but the words `meta` of a command line, `Source.meta`, a place of a session, and
  a server that was started for it make one;
- nothing beside the package is read, and nothing of our state lies in the installation;
- what is about tests, dependencies, logs or settings, or about a repository around the package, is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bae_source.engine.meta.changing import EngineChanging
from bae_source.engine.meta.installation import NAME, installed
from bae_source.engine.meta.seeing import PartSeeing
from bae_source.engine.running.commands import undone
from bae_source.engine.service import Query, Service
from bae_source.errors import RequestError
from bae_source.model.context import Context
from bae_source.model.outcome import Outcome
from bae_source.model.plan import Plan
from bae_source.model.request import Request, command_of
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.interpreter import Interpreter
from bae_source.state.binding import UserState
from bae_source.state.folders import StateFolders

if TYPE_CHECKING:
    from bae_source.engine.changing import Changing
    from bae_source.model.changeset import Contents
    from bae_source.reloading.child.interpreter import Interpreter
    from bae_source.state.folders import StateFolders

_OF_PROJECTS = f"{NAME}.resources."
"""The modules of requests about other facts of a project than its code: tests, dependencies, logs, settings."""


class Meta(Service):
    """The engine on its own source.

    Parameters:
        environment: the caller's environment variables.
        stays: whether this process goes on after a change, and so has to take it.
        process_is_ours: as `Service` has it.

    Raises:
        Refused: `forbidden`, where the source of the engine cannot be read.
    """

    def __init__(
        self, *, environment: Mapping[str, str] | None = None, stays: bool = False, process_is_ours: bool = False
    ) -> None:
        self._users = UserState(environment or {})
        self._installation = installed(self._users)
        self._stays = stays
        super().__init__(
            self._installation.root,
            environment=environment,
            process_is_ours=process_is_ours,
            process_stays=stays,
        )
        self.seeing = PartSeeing(self.root, self.environment)

    def workspace(self, overlay: Contents | None = None) -> Workspace:
        """Return a fresh snapshot of the package, with planned content by path."""
        files = self.seeing.files()
        return Workspace(files, kept=self._kept, overlay=overlay, guard=files)

    def is_measuring(self) -> bool:
        """Return False: the notes are about work on projects."""
        return False

    @cached_property
    def changing(self) -> Changing:
        """Planner and maker of changes."""
        return EngineChanging(
            self._installation,
            stays=self._stays,
            environment=self.environment,
            workspace=self.workspace,
            folders=lambda: self.folders,
            undo=undone,
            progress=self._progressed,
            policies=lambda paths: self.seeing.policies(paths),
        )

    @cached_property
    def folders(self) -> StateFolders:
        """Folders of our own state, which lie in the user's."""
        return StateFolders(self.root, self._users, NAME)

    def _run(self, request: Request, context: Context, planned: Plan | None = None) -> Outcome:
        return super()._run(request, replace(context, of_engine=True), planned)

    def _checked(self, request: Request, context: Context) -> tuple[Request, Context]:
        request, context = super()._checked(request, context)
        if request.staged or type(request).__module__.startswith(_OF_PROJECTS):
            raise RequestError(
                "unknown_operation",
                f"{command_of(type(request))} is about a project, and the engine's own source is none.",
                hints=["Without meta it is about your project."],
            )
        return request, context

    def _navigated(self, workspace: Workspace, request: Query, context: Context) -> Outcome:
        return super()._navigated(workspace, request, replace(context, language_server="off"))

    def _packages(self) -> tuple[str, ...]:
        return ()

    def _interpreter(self) -> Interpreter:
        return Interpreter(path=sys.executable, origin="sys.executable")
