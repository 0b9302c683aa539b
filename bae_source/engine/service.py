"""The one door: every adapter hands a request to `Service.run` and gets an outcome.

    request -> measured -> within its budget -> checked -> recovered -> steady -> carried out -> outcome

Each layer is a method with that name; what carries a request out is its declared `runner`: a query answers from a
workspace, a change is made by `changing`, a command is one of `COMMANDS`.

Invariants:
- a request that was not made by `parse` is parsed here, so that no caller can skip validation;
- an answer is whole, or it is an error or a page that says how to get the rest;
- what keeping count and keeping caches comes to is never a reason for a request to fail;
- the environment and the terminal are never read: what is needed of them comes in as arguments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from msgspec.structs import replace

from bae_source.engine.approving.seeing import Seeing, called_by
from bae_source.engine.operations import Checking, Composed
from bae_source.engine.registry import REQUESTS
from bae_source.engine.running.commands import COMMANDS, undone
from bae_source.errors import LookupFailed, RequestError, ResourceError
from bae_source.model.address import is_plainly_no_python, is_selector
from bae_source.model.context import Context, checked, has_own_limits, within_budget
from bae_source.model.outcome import Notice, Outcome, telling
from bae_source.model.request import Effect, Request, as_mapping, parse
from bae_source.model.text import Progress
from bae_source.project.facts.kept import Kept
from bae_source.project.files.data_listing import address_of
from bae_source.project.files.port import Disk, FileKind
from bae_source.project.files.settings import own_settings
from bae_source.project.search.short_names import in_full, with_namesakes
from bae_source.project.workspace import Workspace
from bae_source.state.binding import owned
from bae_source.state.folders import folders_upwards
from bae_source.state.journal_head import head_of
from bae_source.system.clock import nanoseconds, ticks

if TYPE_CHECKING:
    from bae_source.engine.approving.deciding import Deciding
    from bae_source.engine.changing import Changing
    from bae_source.engine.drafting import Commit as Committing
    from bae_source.engine.drafting import Draft
    from bae_source.engine.keeping import Keeping
    from bae_source.engine.measuring.telemetry import Log
    from bae_source.engine.search_path import SearchPath
    from bae_source.language_server.language_server import LanguageServers
    from bae_source.model.changeset import Contents
    from bae_source.model.plan import Plan
    from bae_source.reloading.child.interpreter import Interpreter
    from bae_source.state.cache import Cache
    from bae_source.state.folders import StateFolders
    from bae_source.system.programs import Surroundings

__all__ = ("REQUESTS", "Context", "Query", "Service", "find_root")

ROOT_VARIABLE = "BAE_SOURCE_ROOT"
_SIGNS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
"""Names of files and folders that mark the folder of a project."""
_SWITCH = "BAE_SOURCE_TELEMETRY"
_OFF = ("0", "off", "false", "no")
_READINGS = 3
"""The number of times that files which others change meanwhile are read."""


@runtime_checkable
class Query(Protocol):
    """A request that answers from a workspace."""

    navigates: ClassVar[bool]

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer."""


def typed_lines(root: Path, environment: Mapping[str, str]) -> Path | None:
    """Return the file that remembers what the user typed in shells on a project; None where none can be had.

    Parameters:
        environment: says where the user's own state folder is.
    """
    from bae_source.state.binding import UserState  # for shells alone

    users = UserState(environment)
    place = users.place_of(root)
    try:
        return None if place is None else users.make("shell") / place.name
    except OSError:
        return None


class Service:
    """The engine on one project.

    Parameters:
        root: the project's folder.
        environment: the caller's environment variables: `PATH`, `VIRTUAL_ENV`, `USER`, `BAE_SOURCE_TELEMETRY`, …,
            and what children inherit.
        clock: nanoseconds since the epoch, as the file system counts them.
        timer: nanoseconds from any beginning.
        process_is_ours: whether only our code and threads have been in this process since it began, so that a
            large project may be read by copies of it.
        process_stays: whether many requests are to come, so that what they read is worth its memory.

    Attributes:
        progress: called while something takes long, with how much is done, of how much, and what came last: a test by
            its address, a file that is copied.
        arriving: takes lines of an answer that is waited for as they come, and says whether there is a reader for more;
            the outcome has them as well.

    Raises:
        RequestError: `invalid_arguments` if `root` is no folder.
    """

    def __init__(
        self,
        root: Path,
        *,
        environment: Mapping[str, str] | None = None,
        clock: Callable[[], int] = nanoseconds,
        timer: Callable[[], int] = ticks,
        process_is_ours: bool = False,
        process_stays: bool = False,
    ) -> None:
        if not os.path.isdir(root):  # noqa: PTH112 - false where one may not look
            raise RequestError("invalid_arguments", f"The root {str(root)!r} is no folder.", hints=["Check --root."])
        self.root = Path(os.path.realpath(root))
        self.environment = dict(environment or {})
        self.seeing = Seeing(self.root, self.environment)
        self.clock = clock
        self.timer = timer
        self.progress: Progress | None = None
        self.arriving: Callable[[str], bool] | None = None
        self._kept = Kept(
            cache=self._cache,
            clock=clock,
            timer=timer,
            process_is_ours=process_is_ours,
            process_stays=process_stays,
            packages=self._packages,
            surroundings=self._surroundings,
        )

    def run(self, request: Request, context: Context | None = None) -> Outcome:
        """Carry a request out.

        Raises:
            ResourceError: why it cannot be done; what the project's state is then, its class says.
        """
        return self._run(request, context or Context())

    def adopt(self, agrees: Callable[[tuple[Path, ...]], bool]) -> Outcome:
        """Adopt state that was copied or moved with the project, if a person agrees; no request does this.

        Raises:
            ResourceError: why it was not done.
        """
        from bae_source.engine.travelling import adopted  # hardly ever

        self.close()
        return adopted(self.changing, agrees)

    @property
    def deciding(self) -> Deciding:
        """Return the door for a person's decisions about proposals; no request leads there."""
        from bae_source.engine.approving.deciding import Deciding  # for terminals and the review page

        return Deciding(self.changing)

    def close(self) -> None:
        """Let go of what is open between requests; the next request opens it again."""
        self._kept.close()
        if "_language_servers" in self.__dict__:
            self._language_servers.close()

    def begin_anew(self, environment: Mapping[str, str]) -> None:
        """Be as in a process that begins now, with this environment, but for what is known of files by their stamps."""
        self.close()
        self.environment = dict(environment)
        self.seeing = type(self.seeing)(self.root, self.environment)
        for name in ("folders", "log", "changing", "keeping", "_language_servers"):
            self.__dict__.pop(name, None)
        self._kept.begin_anew()

    @property
    def committed_id(self) -> str | None:
        """The operation that was made last, for who is interrupted before he has the outcome; None if none was."""
        return self.changing.committed_id if "changing" in self.__dict__ else None

    def draft(self, message: str = "") -> Draft:
        """Begin a transaction of several changes.

        Parameters:
            message: the reason, for the history.
        """
        return self._draft(message, self._run)

    @cached_property
    def keeping(self) -> Keeping:
        """The drafts that outlive a call: open transactions with a handle, and refused changes."""
        from bae_source.engine.keeping import Keeping  # most changes come alone, and are not refused

        return Keeping(self.changing, lambda message: self._draft(message, self.changing.change))

    def _draft(self, message: str, commit: Committing) -> Draft:
        from bae_source.engine.drafting import Draft  # likewise

        return Draft(
            self.changing,
            read=lambda workspace, asked, context: self._paged(*self._checked(asked, context), workspace),
            commit=commit,
            recover=self._recover,
            message=message,
        )

    def _run(self, request: Request, context: Context, planned: Plan | None = None) -> Outcome:
        """Carry a request out: measured, within its budget, checked, on a project that is whole and stands still."""

        def bounded() -> Outcome:
            return within_budget(request, context, lambda: self._recovered(*self._checked(request, context), planned))

        with called_by(context.who):
            return self._measured(request, bounded)

    def _measured(self, request: Request, do: Callable[[], Outcome]) -> Outcome:
        """The layer of telemetry: note how a request went."""
        begun, code, answered = self.timer(), "internal_error", ""
        try:
            with self._kept.together():
                outcome = do()
            code, answered = outcome.errors[0].code if outcome.errors else outcome.status, outcome.text
        except ResourceError as error:
            code = error.code
            raise
        finally:
            self._note(request, code, answered, self.timer() - begun)
        return outcome

    def _checked(self, request: Request, context: Context) -> tuple[Request, Context]:
        """Return a request and its context once more, with everything in them checked."""
        return parse(type(request), as_mapping(request)), checked(context)

    def _recovered(self, request: Request, context: Context, planned: Plan | None) -> Outcome:
        """The layer of recovery: finish what a process that died left half done, and say so."""
        notices = [*self.folders.unused(), *self._recover()] if request.recovers else []
        try:
            outcome = self._steady(request, context, planned, notices)
        except ResourceError as error:
            notices += self._recovered_since()
            if notices:
                raise telling(error, dict.fromkeys(notices)) from error.__cause__
            raise
        notices += self._recovered_since()
        return replace(outcome, warnings=(*dict.fromkeys(notices), *outcome.warnings)) if notices else outcome

    def _recover(self) -> tuple[Notice, ...]:
        """Finish what a process that died left half done, and say so; one that is writing is waited for."""
        return () if self.folders.is_idle() else self.changing.transactions.recover()

    def _recovered_since(self) -> tuple[Notice, ...]:
        """Return the notices of recovery by a transaction that waited for one whose process died meanwhile."""
        return self.changing.recovered() if "changing" in self.__dict__ else ()

    def _steady(self, request: Request, context: Context, planned: Plan | None, notices: list[Notice]) -> Outcome:
        """The layer of the stable snapshot: answer anew where a change was begun while the project was read.

        Parameters:
            notices: takes the notices of that change.
        """
        if request.effect is not Effect.READS or request.staged or request.waits or not request.recovers:
            return self._carried_out(request, context, planned)
        for attempt in range(_READINGS):
            head = head_of(self.folders.base)
            try:
                outcome = self._carried_out(request, context, planned)
            except ResourceError:
                if head_of(self.folders.base) == head or attempt == _READINGS - 1:
                    raise
            else:
                if head_of(self.folders.base) == head:
                    return outcome
            notices += self._recover()
        return outcome

    def _carried_out(self, request: Request, context: Context, planned: Plan | None) -> Outcome:
        """Hand a request to what carries it out; a name that was not found is an error with the symbols that end so."""
        try:
            return self._handed(request, context, planned)
        except ResourceError as error:
            if request.effect is not Effect.READS:
                from bae_source.engine.approving.recording import enter_refusal  # of changes alone

                enter_refusal(self.folders, self.changing.who(context), request, context, error)
            if isinstance(error, LookupFailed):
                raise with_namesakes(self.workspace(), request, error) from error.__cause__
            raise

    def _handed(self, request: Request, context: Context, planned: Plan | None) -> Outcome:
        if request.staged:
            return self._judged(request, context)
        if request.effect is Effect.READS:
            return self._paged(request, context, self.workspace())
        if context.cursor is not None:
            raise RequestError(
                "invalid_arguments", f"{request.verb} has no pages.", hints=["Leave the cursor out; it is for reading."]
            )
        request, _ = in_full(self.workspace(), request)
        if request.runner != "change":
            return self._command(request, context)
        if isinstance(request, Composed) and request.steps():
            from bae_source.engine.applying import as_steps  # few changes stand for several

            request = as_steps(request)
        if isinstance(request, Checking) and request.check:
            context = replace(context, dry_run=True)
        try:
            outcome = self.changing.change(request, context, planned)  # type: ignore[arg-type]  # what is a change has a plan
            return self.keeping.planned(request, context, outcome) if context.dry_run else outcome
        except ResourceError as error:
            raise self.keeping.refusal(request, context, error) from error.__cause__

    def _judged(self, request: Request, context: Context) -> Outcome:
        """Answer about what git has staged instead of the files."""
        from bae_source.project.git.index import GitIndex  # for the hook alone
        from bae_source.project.git.staged import StagedWorkspace

        unfinished = not self.folders.is_idle()
        with GitIndex(self.root, self.environment) as index:
            workspace = StagedWorkspace(self.seeing.staged(index), kept=self._kept.beside(), unfinished=unfinished)
            return self._paged(request, context, workspace)

    def _paged(self, request: Request, context: Context, workspace: Workspace) -> Outcome:
        """Answer, in pages where the caller wants them; what belongs to a family has limits of its own."""
        outcome = self._answer(workspace, request, context)
        if has_own_limits(request) or (context.budget is None and context.cursor is None):
            return outcome
        from bae_source.model.page import within  # most callers want the answer in one piece, however long

        def less() -> list[str]:
            from bae_source.project.naming.narrower import narrower  # only for an answer that is too long

            return narrower(workspace, request)

        return within(outcome, request, budget=context.budget, cursor=context.cursor, narrower=less)

    def _answer(self, workspace: Workspace, request: Request, context: Context) -> Outcome:
        request, notices = in_full(workspace, request)
        if request.runner != "query":
            outcome = self._command(request, context)
        else:
            assert isinstance(request, Query), "what is a query answers"
            if request.navigates:
                outcome = self._navigated(workspace, request, context)
            else:
                outcome = _by_name(workspace, request).answer(workspace)
        return replace(outcome, warnings=(*notices, *outcome.warnings)) if notices else outcome

    def _command(self, request: Request, context: Context) -> Outcome:
        return COMMANDS[request.runner](self, request, context)

    def _navigated(self, workspace: Workspace, request: Query, context: Context) -> Outcome:
        """Answer without a language server, and then add a server's answer."""
        from bae_source.model.selection import Selected
        from bae_source.project.naming.navigation import navigated

        answered = request.answer(workspace)
        assert isinstance(answered, Selected), "only what selects can be navigated"
        chosen = "off" if workspace.hides else context.language_server  # it would read everything
        wanted, named = self._language_servers.choice(chosen, by_model=context.by_model)
        return navigated(workspace, answered, named, wanted=wanted, seconds=context.language_server_seconds)

    def _packages(self) -> tuple[str, ...]:
        """Return the folders of packages of the project's interpreter."""
        from bae_source.reloading.child.installed import package_folders  # few questions ask for them

        return package_folders(self._surroundings().python)

    def _surroundings(self) -> Surroundings:
        """Return the surroundings in which the project's own programs run."""
        from bae_source.reloading.child.interpreter import OURS  # as above
        from bae_source.system.programs import Surroundings

        found = self._interpreter()
        named = found.origin != OURS
        return Surroundings(
            root=self.root,
            python=found.path,
            environment=self.environment,
            is_named=named,
            progress=self._progressed,
            permit=lambda paths: self.changing.gate.check_may_plan(paths, self.seeing.caller),
        )

    def _interpreter(self) -> Interpreter:
        """Return the project's interpreter."""
        from bae_source.reloading.child.interpreter import find_interpreter  # likewise

        python = own_settings(self.workspace().files).get("python")
        setting = python if isinstance(python, str) else None
        return find_interpreter(self.root, setting=setting, virtual_env=self.environment.get("VIRTUAL_ENV"))

    def search_path(self, ours: Collection[str]) -> SearchPath:
        """Return where code that runs in this process finds the project's modules; none of it is run.

        Parameters:
            ours: top-level names that mean modules of ours in this process, whatever the project has.
        """
        from bae_source.engine.search_path import search_path  # for sessions alone

        return search_path(self.workspace(), self.root, self._interpreter, ours)

    def workspace(self, overlay: Contents | None = None) -> Workspace:
        """Return a fresh snapshot of the project, with planned content by path."""
        files = self.seeing.files()
        return Workspace(files, kept=self._kept, overlay=overlay, guard=files)

    def address_at(self, path: str) -> str | None:
        """Return the address of the file at a path from the root, be it there or not; None for what is no path.

        src/app/core.py     app.core
        docs/guide.md       :docs/guide.md
        app, app.core       None, as they are names; and of folders
        """
        parts = path.removeprefix("./").split("/")
        if {"", ".", ".."} & set(parts) or "\\" in path or "\0" in path:
            return None
        workspace, place = self.workspace(), "/".join(parts)
        is_python = place.endswith((".py", ".pyi"))
        kind = workspace.files.kind(place)
        may_be_new = "/" in path or is_python or is_plainly_no_python(place)
        if kind is FileKind.FOLDER or (kind is None and not may_be_new):
            return None
        module = workspace.layout.module_at(place) if is_python else None
        return address_of(workspace.census, place) if module is None else module.name

    def _note(self, request: Request, code: str, answered: str, nanoseconds: int) -> None:
        """Note the result of a request, unless that is switched off."""
        parsed = self._kept.timings.taken()
        if request.verb == "forget" or not self.is_measuring():
            return  # files that `forget` removed must not come back with the note of it
        from bae_source.engine.measuring.telemetry import Line, buckets, tokens

        verb = request.verb if type(request) in REQUESTS else "unknown"
        line = Line(
            request=verb,
            code=code,
            ms=round(nanoseconds / 1e6, 2),
            bytes=len(answered.encode("utf-8", "surrogatepass")),
            ast_tokens=tokens(answered),
            parse=buckets(parsed),
        )
        self.log.note(line)

    def is_measuring(self) -> bool:
        """Return whether telemetry is switched on."""
        if self.environment.get(_SWITCH, "").lower() in _OFF:
            return False
        try:
            return own_settings(Disk(self.root), only="telemetry").get("telemetry") is not False
        except ResourceError:
            return False  # whether it is wanted is unknown

    def _cache(self) -> Cache:
        from bae_source.project.facts.kinds import key
        from bae_source.state.cache import Cache

        return Cache(self.folders, key=key())

    @cached_property
    def log(self) -> Log:
        """The lines of telemetry."""
        from bae_source.engine.measuring.telemetry import Log

        return Log(self.folders)

    @cached_property
    def changing(self) -> Changing:
        """Planner and maker of changes."""
        from bae_source.engine.changing import Changing

        return Changing(
            self.root,
            environment=self.environment,
            workspace=self.workspace,
            folders=lambda: self.folders,
            undo=undone,
            progress=self._progressed,
            policies=lambda paths: self.seeing.policies(paths),
        )

    def _progressed(self, done: int, of: int, last: str) -> None:
        if self.progress is not None:
            self.progress(done, of, last)

    @cached_property
    def _language_servers(self) -> LanguageServers:
        from bae_source.language_server.language_server import LanguageServers

        return LanguageServers(self.root, self.environment)

    @cached_property
    def folders(self) -> StateFolders:
        """Folders of our own state."""
        from bae_source.state.binding import UserState
        from bae_source.state.folders import StateFolders

        return StateFolders(self.root, UserState(self.environment))


def _by_name(workspace: Workspace, request: Query) -> Query:
    """Return a query with a dotted name where it has a selector."""
    given = (getattr(request, "target", None), getattr(request, "scope", None))
    if not any(isinstance(each, str) and is_selector(each) for each in given):
        return request
    from bae_source.project.naming.select import by_name  # 2 ms, for selectors alone

    return by_name(workspace, request)  # type: ignore[type-var]  # a query is a request


def find_root(start: Path, environment: Mapping[str, str]) -> Path:
    """Return the folder that `BAE_SOURCE_ROOT` names; else the nearest one upwards that looks like a project's root.

    Neither a folder of another user nor a sign that another user put somewhere makes a root; a folder that the caller
    names is one, whomever it belongs to.

    Parameters:
        start: where to begin, which is returned where nothing looks like one.
    """
    if named := environment.get(ROOT_VARIABLE):
        return start / named
    start = Path(os.path.realpath(start))
    found = (folder for folder in folders_upwards(start) if any(owned(folder / sign) for sign in _SIGNS))
    return next(found, start)
