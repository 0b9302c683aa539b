"""The one door: every adapter hands a request to `Service.run` and gets an outcome.

    request -> parse again -> answer, kept within its budget, or change (`changing`) -> outcome

Invariants:
- a request that was not made by `parse` is parsed here, so that no caller can skip validation;
- an answer is whole, or it is an error or a page that says how to get the rest;
- what keeping count and keeping caches comes to is never a reason for a request to fail;
- the environment and the terminal are never read: what is needed of them comes in as arguments.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeGuard, runtime_checkable

from msgspec.structs import replace

from bae_source.engine.registry import REQUESTS
from bae_source.errors import Refused, RequestError, ResourceError
from bae_source.model.address import is_selector
from bae_source.model.context import Context, checked, has_own_limits, steering, within_budget
from bae_source.model.outcome import Notice, Outcome, telling
from bae_source.model.request import Effect, Request, as_mapping, parameters, parse, values_of
from bae_source.project.facts.kept import Kept
from bae_source.project.files.port import Disk
from bae_source.project.files.root import find_root
from bae_source.project.files.settings import own_settings
from bae_source.project.workspace import Workspace
from bae_source.state.journal_head import head_of
from bae_source.system.clock import nanoseconds, ticks

if TYPE_CHECKING:
    from bae_source.engine.changing import Changing
    from bae_source.engine.drafting import Commit as Committing
    from bae_source.engine.drafting import Draft
    from bae_source.engine.keeping import Keeping
    from bae_source.engine.telemetry import Log
    from bae_source.language_server.language_server import LanguageServers
    from bae_source.model.changeset import Contents
    from bae_source.model.plan import Plan
    from bae_source.state.cache import Cache
    from bae_source.state.folders import StateFolders

__all__ = ("REQUESTS", "Context", "Query", "Service", "called", "find_root", "request", "takes")

_SWITCH = "BAE_SOURCE_TELEMETRY"
_OFF = ("0", "off", "false", "no")
_READINGS = 3
"""How often what others change meanwhile is read."""


@runtime_checkable
class Query(Protocol):
    """A request that answers from a workspace."""

    navigates: ClassVar[bool]

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer."""


def request(verb: str, given: Mapping[str, Any]) -> Request:
    """Make a request from its verb and a mapping of its parameters.

    Raises:
        RequestError: `unknown_operation`, or `invalid_arguments` with every problem.
    """
    return parse(_kind(verb), given)


def called(verb: str, arguments: Mapping[str, Any], context: Context | None = None) -> tuple[Request, Context]:
    """Make a request, and the context that it is run in, of the arguments of one call, where both stand together.

    Parameters:
        verb: the request's verb.
        arguments: the request's own parameters and those of the context that go with it (`model.context.steering`).
        context: how it is run where the arguments say nothing.

    Raises:
        RequestError: `unknown_operation`, or `invalid_arguments` with every problem.
    """
    kind = _kind(verb)
    steered = steering(kind)
    values = values_of(kind, (*parameters(kind), *steered), arguments)
    around = {each.name: values.pop(each.name) for each in steered if each.name in values}
    return kind(**values), replace(context or Context(), **around)


def takes(verb: str, name: str) -> bool:
    """Say whether a call of a request may say something about the context that it is run in, such as its budget."""
    return any(each.name == name for each in steering(_kind(verb)))


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


def _kind(verb: str) -> type[Request]:
    if (kind := REQUESTS.named(verb)) is not None:
        return kind
    from difflib import get_close_matches  # 10 ms, and most calls are right

    close = get_close_matches(verb, REQUESTS.verbs)
    raise RequestError(
        "unknown_operation",
        f"There is no {verb!r}.",
        hints=[*(f"Did you mean {each}?" for each in close), f"There are {', '.join(REQUESTS.verbs)}."],
    )


class Service:
    """The engine on one project.

    Parameters:
        root: the project's folder.
        environment: the caller's environment variables: `PATH`, `VIRTUAL_ENV`, `USER`, `BAE_SOURCE_TELEMETRY`, …,
            and what children inherit.
        clock: nanoseconds since the epoch, as the file system counts them.
        timer: nanoseconds from any beginning.
        process_is_ours: whether nobody else's code or threads have been in this process since it began, so that a
            large project may be read by copies of it.

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
    ) -> None:
        if not os.path.isdir(root):  # noqa: PTH112 - false where one may not look
            raise RequestError("invalid_arguments", f"The root {str(root)!r} is no folder.", hints=["Check --root."])
        self.root = Path(os.path.realpath(root))
        self.environment = dict(environment or {})
        self.timer = timer
        self._kept = Kept(
            cache=self._cache, clock=clock, timer=timer, process_is_ours=process_is_ours, packages=self._packages
        )

    def run(self, asked: Request, context: Context | None = None) -> Outcome:
        """Do what is asked.

        Raises:
            ResourceError: why it cannot be done; what the project's state is then, its class says.
        """
        return self._noted(asked, context or Context(), lambda: self._run(asked, context or Context()))

    def adopt(self, agrees: Callable[[tuple[Path, ...]], bool]) -> Outcome:
        """Make state that was copied or moved with the project the user's own, if a person agrees; no request asks it.

        Raises:
            ResourceError: why it was not done.
        """
        from bae_source.engine.travelling import adopted  # hardly ever

        self.close()
        return adopted(self._changing, agrees)

    def close(self) -> None:
        """Let go of what is open between requests; it is opened again when something is asked."""
        self._kept.close()
        if "_language_servers" in self.__dict__:
            self._language_servers.close()

    @property
    def made(self) -> str | None:
        """The operation that was made last, for who is interrupted before he has the outcome; None if none was."""
        return self._changing.made if "_changing" in self.__dict__ else None

    def draft(self, message: str = "") -> Draft:
        """Begin a transaction of several changes.

        Parameters:
            message: the reason, for the history.
        """
        return self._draft(
            message, lambda asked, context, plan: self._noted(asked, context, lambda: self._run(asked, context, plan))
        )

    @cached_property
    def keeping(self) -> Keeping:
        """The drafts that outlive a call: open transactions with a handle, and refused changes."""
        from bae_source.engine.keeping import Keeping  # most changes come alone, and are not refused

        return Keeping(self._changing, lambda message: self._draft(message, self._changing.change))

    def _draft(self, message: str, commit: Committing) -> Draft:
        from bae_source.engine.drafting import Draft  # likewise

        return Draft(
            self._changing,
            read=lambda workspace, asked, context: self._read(*self._checked(asked, context), workspace),
            commit=commit,
            recover=lambda asked: self._recovered(asked, Context(dry_run=True)),  # which waits for nobody
            message=message,
        )

    def _noted(self, asked: Request, context: Context, do: Callable[[], Outcome]) -> Outcome:
        """Do what is asked within the budget, and note how it went."""
        begun, code, answered = self.timer(), "internal_error", ""
        try:
            with self._kept.together():
                outcome = within_budget(asked, context, do)
            code, answered = outcome.errors[0].code if outcome.errors else outcome.status, outcome.text
        except ResourceError as error:
            code = error.code
            raise
        finally:
            self._note(asked, code, answered, self.timer() - begun)
            self._kept.watch()
        return outcome

    def _run(self, asked: Request, context: Context, planned: Plan | None = None) -> Outcome:
        again, context = self._checked(asked, context)
        told = [*self._folders.unused(), *self._recovered(again, context)] if again.recovers else []
        try:
            outcome = self._done_once(again, context, planned, told)
        except ResourceError as error:
            told += self._recovered_since()
            if told:
                raise telling(error, dict.fromkeys(told)) from error.__cause__
            raise
        told += self._recovered_since()
        return replace(outcome, warnings=(*dict.fromkeys(told), *outcome.warnings)) if told else outcome

    def _done_once(self, again: Request, context: Context, planned: Plan | None, told: list[Notice]) -> Outcome:
        """Do what is asked; what was read while somebody began a change is read anew, and that he is at it is told."""
        if again.effect is not Effect.READS or again.staged or not again.recovers:
            return self._done(again, context, planned)
        for attempt in range(_READINGS):
            head = head_of(self._folders.base)
            try:
                outcome = self._done(again, context, planned)
            except ResourceError:
                if head_of(self._folders.base) == head or attempt == _READINGS - 1:
                    raise
            else:
                if head_of(self._folders.base) == head:
                    return outcome
            told += self._recovered(again, context)
        return outcome

    def _recovered(self, asked: Request, context: Context) -> tuple[Notice, ...]:
        """Finish what a process that died left half done, and return what there is to say of what is under way."""
        if self._folders.is_idle():
            return ()
        will_wait = asked.effect is not Effect.READS and not context.dry_run
        return self._changing.transactions.recover(will_wait=will_wait)

    def _recovered_since(self) -> tuple[Notice, ...]:
        """Return what was recovered by what waited for somebody who died meanwhile, and told nobody of it."""
        return self._changing.recovered() if "_changing" in self.__dict__ else ()

    def _done(self, again: Request, context: Context, planned: Plan | None) -> Outcome:
        if again.staged:
            return self._judged(again, context)
        if again.effect is Effect.READS:
            return self._read(again, context, self._workspace())
        if context.cursor is not None:
            raise RequestError(
                "invalid_arguments", f"{again.verb} has no pages.", hints=["Leave the cursor out; it is for reading."]
            )
        return self._change(again, context, planned)

    def _judged(self, asked: Request, context: Context) -> Outcome:
        """Answer about what git has staged instead of the files."""
        from bae_source.project.git.staged import staged_workspace  # for the hook alone

        unfinished = not self._folders.is_idle()
        kept = self._kept.beside()
        with staged_workspace(self.root, self.environment, kept=kept, unfinished=unfinished) as workspace:
            return self._read(asked, context, workspace)

    def _checked(self, asked: Request, context: Context) -> tuple[Request, Context]:
        """Return a request and its context once more, with everything in them checked."""
        return parse(type(asked), as_mapping(asked)), checked(context)

    def _change(self, asked: Request, context: Context, planned: Plan | None) -> Outcome:
        from bae_source.engine.changing import Operation  # planning and committing, which reading needs not

        if isinstance(asked, Operation):
            try:
                return self._changing.change(asked, context, planned)
            except Refused as error:
                raise self.keeping.refusal(asked, context, error) from error.__cause__
        from bae_source.history.travel.commands import Abandon, Commit

        if isinstance(asked, Commit):
            return self.keeping.commit(asked.draft, asked.unsure, asked.include, context)
        if isinstance(asked, Abandon):
            return self.keeping.abandon(asked.draft)
        from bae_source.engine.travelling import Forget, Prune, Redo, Undo, forgotten, pruned, travel

        if isinstance(asked, (Undo, Redo)):
            return travel(self._changing, asked, context)
        if isinstance(asked, Prune):
            return pruned(self._changing, asked, context)
        if isinstance(asked, Forget):
            self.close()
            return forgotten(self._changing, asked, context)
        raise RequestError("unknown_operation", f"Nothing knows how to do {asked.verb!r}.")

    def _read(self, asked: Request, context: Context, workspace: Workspace) -> Outcome:
        """Answer, within the budget; what belongs to a family has limits of its own."""
        outcome = self._answer(workspace, asked, context)
        if has_own_limits(asked) or (context.budget is None and context.cursor is None):
            return outcome
        from bae_source.model.page import within  # most callers want the answer in one piece, however long

        def less() -> list[str]:
            from bae_source.project.naming.narrower import narrower  # only for an answer that is too long

            return narrower(workspace, asked)

        return within(outcome, asked, budget=context.budget, cursor=context.cursor, narrower=less)

    def _answer(self, workspace: Workspace, asked: Request, context: Context) -> Outcome:
        if _answers(asked):
            if asked.navigates:
                return self._navigated(workspace, asked, context)
            return _by_name(workspace, asked).answer(workspace)
        from bae_source.engine.usage import Telemetry, usage  # neither is about the project's code
        from bae_source.history.travel.commands import History

        if isinstance(asked, History):
            from bae_source.engine.travelling import told

            return told(self._changing, asked, context)
        if isinstance(asked, Telemetry):
            return usage(self._log.lines())
        from bae_source.doctor.doctor import Doctor, examined

        if isinstance(asked, Doctor):
            from bae_source.doctor.scene import Scene

            scene = Scene(workspace, folders=self._folders, environment=self.environment, noting=self._is_noting())
            return examined(asked, scene)
        raise RequestError("unknown_operation", f"Nothing knows how to do {asked.verb!r}.")

    def _navigated(self, workspace: Workspace, asked: Query, context: Context) -> Outcome:
        """Answer without a language server, and then add what one knows."""
        from bae_source.model.selection import Selected
        from bae_source.project.naming.navigation import navigated

        answered = asked.answer(workspace)
        assert isinstance(answered, Selected), "only what selects can be navigated"
        wanted, named = self._language_servers.choice(context.language_server, by_model=context.by_model)
        return navigated(workspace, answered, named, wanted=wanted, seconds=context.language_server_seconds)

    def _packages(self) -> tuple[str, ...]:
        """Return the folders of packages of the project's interpreter."""
        from bae_source.project.files.settings import own_settings  # few questions ask for them
        from bae_source.reloading.child.installed import package_folders
        from bae_source.reloading.child.interpreter import find_interpreter

        python = own_settings(self._workspace().files).get("python")
        setting = python if isinstance(python, str) else None
        found = find_interpreter(self.root, setting=setting, virtual_env=self.environment.get("VIRTUAL_ENV"))
        return package_folders(found.path)

    def _workspace(self, overlay: Contents | None = None) -> Workspace:
        return Workspace(Disk(self.root), kept=self._kept, overlay=overlay)

    def _note(self, asked: Request, code: str, answered: str, nanoseconds: int) -> None:
        """Note how a request went, unless that is switched off."""
        parsed = self._kept.timings.taken()
        if asked.verb == "forget" or not self._is_noting():
            return  # what was asked to go must not come back with the note of it
        from bae_source.engine.telemetry import Line, buckets, tokens

        verb = asked.verb if type(asked) in REQUESTS else "unknown"
        line = Line(
            request=verb,
            code=code,
            ms=round(nanoseconds / 1e6, 2),
            bytes=len(answered.encode("utf-8", "surrogatepass")),
            ast_tokens=tokens(answered),
            parse=buckets(parsed),
        )
        self._log.note(line)

    def _is_noting(self) -> bool:
        if self.environment.get(_SWITCH, "").lower() in _OFF:
            return False
        try:
            return own_settings(Disk(self.root), only="telemetry").get("telemetry") is not False
        except ResourceError:
            return False  # nobody knows whether it is wanted

    def _cache(self) -> Cache:
        from bae_source.project.facts.kinds import key
        from bae_source.state.cache import Cache

        return Cache(self._folders, key=key())

    @cached_property
    def _log(self) -> Log:
        from bae_source.engine.telemetry import Log

        return Log(self._folders)

    @cached_property
    def _changing(self) -> Changing:
        from bae_source.engine.changing import Changing

        return Changing(
            self.root, environment=self.environment, workspace=self._workspace, folders=lambda: self._folders
        )

    @cached_property
    def _language_servers(self) -> LanguageServers:
        from bae_source.language_server.language_server import LanguageServers

        return LanguageServers(self.root, self.environment)

    @cached_property
    def _folders(self) -> StateFolders:
        from bae_source.state.binding import UserState
        from bae_source.state.folders import StateFolders

        return StateFolders(self.root, UserState(self.environment))


def _answers(asked: Request) -> TypeGuard[Query]:
    return isinstance(asked, Query)


def _by_name(workspace: Workspace, asked: Query) -> Query:
    """Return a query with a dotted name where it has a selector."""
    given = (getattr(asked, "target", None), getattr(asked, "scope", None))
    if not any(isinstance(each, str) and is_selector(each) for each in given):
        return asked
    from bae_source.project.naming.select import by_name  # 2 ms, for selectors alone

    return by_name(workspace, asked)  # type: ignore[type-var]  # a query is a request
