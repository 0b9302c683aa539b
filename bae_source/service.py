"""The one door: every adapter hands a request to `Service.run` and gets an outcome.

    request -> parse again -> answer, or plan -> (dry run: stop here) -> transaction -> outcome

Invariants:
- a request that was not made by `parse` is parsed here, so that no caller can skip validation;
- a change that was planned on bytes which are no longer there is planned anew, as long as the symbol it names is as it
  was, and refused as stale otherwise;
- the environment and the terminal are never read: what is needed of them comes in as arguments.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeGuard, runtime_checkable

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import Refused, RequestError, ResourceError, TransactionError
from bae_source.model.outcome import Changed, Notice, Outcome
from bae_source.model.plan import ModuleFile, Plan, ReloadMode
from bae_source.model.request import Request, as_mapping, parse
from bae_source.operations.delete import Delete
from bae_source.operations.edit import Edit
from bae_source.operations.insert import Insert
from bae_source.project.files import Disk
from bae_source.project.layout import settings_of
from bae_source.project.planning import span_of
from bae_source.project.resolve import resolve
from bae_source.project.workspace import Trees, Workspace, etag_of
from bae_source.queries.read import Read
from bae_source.transaction.commands import History, Redo, Undo

if TYPE_CHECKING:
    from bae_source.runtime.reload import Reload
    from bae_source.state.folders import StateFolders
    from bae_source.transaction.history import History as Store
    from bae_source.transaction.transaction import Transactions

REQUESTS: tuple[type[Request], ...] = (Read, Edit, Insert, Delete, Undo, Redo, History)
"""Every request, in the order in which help and references show them."""

_ATTEMPTS = 5
_CONTEXT = "dry_run is a bool; reload is auto, process, child or off; who and why are text."
_ROOT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")


class Context(Struct, frozen=True, kw_only=True):
    """How a request is run; what is asked stands in the request itself.

    Parameters:
        dry_run: whether a change is only planned and shown.
        reload: how a change is verified: `auto`, `process`, `child` or `off`.
        who: the caller, for the history and for `undo`; None for the user's name.
        why: the caller's reason, for the history.
    """

    dry_run: bool = False
    reload: ReloadMode = "auto"
    who: str | None = None
    why: str | None = None


@runtime_checkable
class Operation(Protocol):
    """A request that plans a change."""

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change."""


@runtime_checkable
class Query(Protocol):
    """A request that answers from a workspace."""

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer."""


def request(verb: str, given: Mapping[str, Any]) -> Request:
    """Make a request from its verb and a mapping of its parameters.

    Raises:
        RequestError: `unknown_operation`, or `invalid_arguments` with every problem.
    """
    kind = next((kind for kind in REQUESTS if kind.verb == verb), None)
    if kind is None:
        raise RequestError(
            "unknown_operation",
            f"There is no {verb!r}.",
            hints=[f"There are {', '.join(kind.verb for kind in REQUESTS)}."],
        )
    return parse(kind, given)


def find_root(start: Path) -> Path:
    """Return the nearest folder upwards that looks like a project's root; `start` itself where none does."""
    start = Path(os.path.realpath(start))
    return next(
        (folder for folder in (start, *start.parents) if any((folder / m).exists() for m in _ROOT_MARKS)), start
    )


class Service:
    """The engine on one project.

    Parameters:
        root: the project's folder.
        environment: the caller's environment variables: `PATH`, `VIRTUAL_ENV`, `USER` and what children inherit.

    Raises:
        RequestError: `invalid_arguments` if `root` is no folder.
    """

    def __init__(self, root: Path, *, environment: Mapping[str, str] | None = None) -> None:
        if not root.is_dir():
            raise RequestError("invalid_arguments", f"The root {str(root)!r} is no folder.", hints=["Check --root."])
        self.root = Path(os.path.realpath(root))
        self.environment = dict(environment or {})
        self._trees = Trees()

    def run(self, asked: Request, context: Context | None = None) -> Outcome:
        """Do what is asked.

        Raises:
            ResourceError: why it cannot be done; what the project's state is then, its class says.
        """
        context = _checked(context or Context())
        again = parse(type(asked), as_mapping(asked))
        if isinstance(again, History):
            return self._list_history(again, context)
        if isinstance(again, (Undo, Redo)):
            return self._travel(again, context)
        if _answers(again):
            return again.answer(self._workspace())
        if _plans(again):
            return self._change(again, context)
        raise RequestError("unknown_operation", f"Nothing knows how to do {again.verb!r}.")

    def _workspace(self, overlay: Mapping[str, bytes] | None = None) -> Workspace:
        return Workspace(Disk(self.root), trees=self._trees, overlay=overlay)

    def _change(self, asked: Operation, context: Context) -> Outcome:
        """Plan and commit; while somebody else writes the same file, plan anew."""
        first: Plan | None = None
        for attempt in range(_ATTEMPTS):
            workspace = self._workspace()
            plan = asked.plan(workspace)
            first = first or plan
            if plan.seen != first.seen:
                raise Refused(
                    "stale",
                    f"{plan.changed[0]} was changed by somebody else while the change was made; nothing was written.",
                    hints=["Read it again and decide anew."],
                )
            if context.dry_run or not plan.changes:
                return self._outcome(plan, workspace, status="planned" if context.dry_run else "applied")
            try:
                return self._commit(plan, workspace, context, as_mapping(asked), verb=asked.verb)  # type: ignore[arg-type,attr-defined]
            except Refused as error:
                if error.code != "stale" or attempt == _ATTEMPTS - 1:
                    raise
        raise AssertionError("the last attempt returns or raises")

    def _commit(
        self,
        plan: Plan,
        workspace: Workspace,
        context: Context,
        asked: dict[str, Any],
        *,
        verb: str,
        kind: Literal["change", "undo", "redo"] = "change",
        of: str | None = None,
    ) -> Outcome:
        outcome = self._outcome(plan, workspace, status="applied")
        committed = self._transactions.commit(
            plan,
            verifier=self._verifier(workspace, context),
            who=self._who(context),
            why=context.why or "",
            request={"do": verb, **{key: value for key, value in asked.items() if value not in (None, ())}},
            kind=kind,
            of=of,
        )
        unrecorded = any(notice.code == "history_unavailable" for notice in committed.warnings)
        back = f"redo {of}" if kind == "undo" else f"undo {of or committed.operation_id}"
        return replace(
            outcome,
            operation_id=committed.operation_id,
            warnings=(*outcome.warnings, *committed.warnings),
            next_actions=() if unrecorded else (back,),
        )

    def _outcome(self, plan: Plan, workspace: Workspace, *, status: Literal["planned", "applied"]) -> Outcome:
        from bae_source.model.diff import unified_diff  # difflib, which reading needs not

        before = {file.path: workspace.content(file.path) or b"" for file in plan.changes.files}
        overlay = {file.path: file.apply(before[file.path]) for file in plan.changes.files if file.after is not None}
        after = self._workspace(overlay)
        changed = tuple(Changed(address=address, etag=_etag(after, address)) for address in plan.changed)
        return Outcome(
            status=status,
            text=plan.summary if status == "applied" else f"Dry run, nothing was changed: {plan.summary}",
            diff=unified_diff(plan.changes, before),
            changed=changed if plan.changes else (),
            warnings=plan.warnings,
            etag=changed[0].etag if changed else None,
            address=changed[0].address if changed else None,
        )

    def _travel(self, asked: Undo | Redo, context: Context) -> Outcome:
        """Undo or redo, as an operation of its own."""
        from bae_source.transaction.commands import plan_redo, plan_undo

        workspace = self._workspace()
        who = self._who(context)
        if isinstance(asked, Undo):
            changes, entry = plan_undo(asked, self._history, who, self._transactions.read)
        else:
            changes, entry = plan_redo(asked, self._history, who, self._transactions.read)
        modules = [workspace.layout.module_at(file.path) for file in changes.files]
        plan = Plan(
            changes=changes,
            changed=entry.changed,
            modules=tuple(workspace.module_file(module) for module in modules if isinstance(module, ModuleFile)),
            summary=f"{'Undid' if isinstance(asked, Undo) else 'Redid'} {entry.id}: {entry.summary}",
        )
        if context.dry_run:
            return self._outcome(plan, workspace, status="planned")
        kind: Literal["undo", "redo"] = "undo" if isinstance(asked, Undo) else "redo"
        try:
            return self._commit(plan, workspace, context, as_mapping(asked), verb=asked.verb, kind=kind, of=entry.id)
        except TransactionError as error:
            if error.code != "reload_failed":
                raise
            # The state gone back to was there before: that it does not import is told, and no reason to refuse it.
            notice = Notice("import_failed_before", f"{error.message.partition(';')[0]}; it was so before, too.")
            unchecked = replace(context, reload="off")
            return self._commit(
                replace(plan, warnings=(notice,)),
                workspace,
                unchecked,
                as_mapping(asked),
                verb=asked.verb,
                kind=kind,
                of=entry.id,
            )

    def _list_history(self, asked: History, context: Context) -> Outcome:
        from bae_source.transaction.commands import draw, plan_history

        entries = plan_history(asked, self._history)
        undone = self._history.timeline(self._who(context)).undone
        return Outcome(status="answer", text=draw(entries, undone) if entries else "(no operations)")

    def _who(self, context: Context) -> str:
        return context.who or self.environment.get("USER") or self.environment.get("USERNAME") or "anonymous"

    def _verifier(self, workspace: Workspace, context: Context) -> Reload:
        from bae_source.runtime.import_check import Setting
        from bae_source.runtime.interpreter import find_interpreter
        from bae_source.runtime.reload import Reload

        own = settings_of(workspace.files).get("tool", {}).get("bae-source", {})
        python = own.get("python") if isinstance(own, dict) else None
        interpreter = find_interpreter(
            self.root,
            setting=python if isinstance(python, str) else None,
            virtual_env=self.environment.get("VIRTUAL_ENV"),
        )
        setting = Setting(
            root=self.root,
            source_roots=workspace.layout.roots,
            interpreter=interpreter,
            environment=self.environment,
        )
        return Reload(context.reload, setting)

    @cached_property
    def _folders(self) -> StateFolders:
        from bae_source.state.folders import StateFolders

        return StateFolders(self.root)

    @cached_property
    def _history(self) -> Store:
        from bae_source.transaction.history import History as Store

        search_path = self.environment.get("PATH", os.defpath)
        return Store(self._folders.history, project=self._folders.project, search_path=search_path)

    @cached_property
    def _transactions(self) -> Transactions:
        from datetime import UTC, datetime

        from bae_source.transaction.transaction import Transactions

        return Transactions(
            self.root,
            folders=self._folders,
            history=self._history,
            clock=lambda: datetime.now(UTC),
            new_id=lambda: f"op_{os.urandom(6).hex()}",
        )


def _checked(context: Context) -> Context:
    """Return the context, once every field of it is what it should be.

    Raises:
        RequestError: `invalid_arguments`.
    """
    try:
        checked = msgspec.convert({name: getattr(context, name) for name in context.__struct_fields__}, Context)
        "".join(text for text in (checked.who, checked.why) if text).encode("utf-8")
    except msgspec.ValidationError as error:
        raise RequestError("invalid_arguments", f"The context is wrong: {error}.", hints=[_CONTEXT]) from None
    except UnicodeEncodeError:
        raise RequestError("invalid_arguments", "who or why cannot be encoded.", hints=["Give UTF-8 text."]) from None
    return checked


def _answers(asked: Request) -> TypeGuard[Query]:
    return isinstance(asked, Query)


def _plans(asked: Request) -> TypeGuard[Operation]:
    return isinstance(asked, Operation)


def _etag(workspace: Workspace, address: str) -> str | None:
    """Return the etag that a symbol will have; None once it is gone."""
    try:
        resolved = resolve(workspace, address)
        return etag_of(span_of(resolved).cut(resolved.tree.text))
    except ResourceError:
        return None
