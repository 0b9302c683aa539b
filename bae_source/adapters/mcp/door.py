"""A client's calls on the project: each through the one door, or into the transaction whose handle it carries.

Invariants:
- a call never raises but `KeyboardInterrupt`: every error is an outcome;
- an engine that was interrupted is not used again: another one takes its place, so what an interruption left half
  remembered is forgotten, and with it every open transaction, of which nothing was written;
- a transaction whose handle nobody got does not stay open;
- a commit that was asked for wrongly leaves its transaction open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from bae_source.adapters.bug import bug
from bae_source.adapters.mcp.handles import Handles
from bae_source.adapters.mcp.offer import Offer
from bae_source.adapters.mcp.transactions import PARAMETER, given
from bae_source.adapters.tools import Tool, Toolbox, as_called
from bae_source.drafting import Draft
from bae_source.errors import RequestError, ResourceError
from bae_source.model.context import Context, checked
from bae_source.model.outcome import DRAFT_HANDLE, Notice, Outcome, failed
from bae_source.model.request import Effect
from bae_source.model.shortened import shortened_error
from bae_source.service import Service, called

T = TypeVar("T")


class Caller(Struct, frozen=True, kw_only=True):
    """Who calls.

    Parameters:
        who: the client's name, for the history; None for the user's.
        session: the session of the protocol, where it has any: handles of one are no good in another.
    """

    who: str | None = None
    session: str = ""


class Door:
    """The engine on a project, for the clients of one server.

    Parameters:
        engine: makes an engine; called again after `close`.
        offer: the tools that may be called.
        budget: bytes of an answer where a call says nothing.
    """

    def __init__(
        self, engine: Callable[[], Service], offer: Offer, *, budget: int, handles: Handles | None = None
    ) -> None:
        self._engine = engine
        self._service: Service | None = None
        self._offer = offer
        self._budget = budget
        self.handles = Handles() if handles is None else handles

    def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Outcome:
        """Call a tool."""
        return self._guarded(name, lambda: self._call(name, arguments, caller))

    def ask(self, verb: str, arguments: Mapping[str, Any], *, budget: int | None) -> Outcome:
        """Answer a reading request, whether it is offered as a tool or not."""
        context = Context(budget=budget, by_model=True)
        return self._guarded(verb, lambda: self.service.run(*called(verb, arguments, context)))

    def unheard(self, outcome: Outcome) -> None:
        """End the transaction that a call began whose answer nobody got."""
        self.handles.drop(outcome.text)

    def close(self) -> None:
        """Abandon every transaction, and let go of the engine; after an interruption, too."""
        self.handles.abandon()
        service, self._service = self._service, None
        if service is not None:
            service.close()

    @property
    def service(self) -> Service:
        """The engine."""
        if self._service is None:
            self._service = self._engine()
        return self._service

    def _guarded(self, name: str, do: Callable[[], Outcome]) -> Outcome:
        try:
            return do()
        except ResourceError as error:
            return as_called(name, failed(shortened_error(error, self._budget)))
        except Exception as error:  # noqa: BLE001  # the edge: the server goes on
            return as_called(name, bug(error, name))

    def _call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> Outcome:
        tool = self._offer.tools.get(name)
        if tool is not None and tool in self._offer.transactions:
            own, around = given(tool.kind, arguments)
            context = replace(self._context(caller), **around)
            return _ENDINGS[name](self, own, context, caller)
        if tool is not None and self._offer.takes_transaction(tool) and arguments.get(PARAMETER) is not None:
            rest = {key: value for key, value in arguments.items() if key != PARAMETER}
            return self._in_transaction(tool, arguments[PARAMETER], rest, caller)
        if PARAMETER in arguments and arguments[PARAMETER] is None:
            arguments = {key: value for key, value in arguments.items() if key != PARAMETER}
        box = Toolbox(self.service, offered=self._offer.tools.values(), who=caller.who, budget=self._budget)
        return box.call(name, arguments)

    def _context(self, caller: Caller) -> Context:
        return Context(who=caller.who, budget=self._budget, by_model=True)

    def _in_transaction(self, tool: Tool, handle: Any, arguments: Mapping[str, Any], caller: Caller) -> Outcome:
        asked, context = called(tool.name, arguments, self._context(caller))
        if not isinstance(handle, str):
            raise RequestError("invalid_arguments", f"{PARAMETER} is a text.", hints=["transaction_begin gives one."])
        changes = tool.kind.effect is not Effect.READS
        once = [each for each in ("dry_run", "reload", "verify", "cascade", "why") if each in arguments]
        if changes and once:
            raise RequestError(
                "invalid_arguments",
                f"{', '.join(once)} cannot be said of one change of a transaction.",
                hints=["Give them to transaction_commit, and why to transaction_begin."],
            )
        outcome = self.handles.draft(handle, caller.session).run(asked, context)
        return replace(outcome, next_actions=(_commit_of(handle),)) if changes else outcome

    def _begin(self, own: Mapping[str, Any], _: Context, caller: Caller) -> Outcome:
        handle = self.handles.begin(lambda: self.service.draft(own.get("why", "")), caller.session)
        ends = Notice("handle", f"The handle ends {self.handles.rule}.")
        hints = (f'edit, insert, … with {PARAMETER}="{handle}"', _commit_of(handle))
        return Outcome(status="answer", text=handle, warnings=(ends,), next_actions=hints)

    def _preview(self, own: Mapping[str, Any], context: Context, caller: Caller) -> Outcome:
        return self.handles.draft(own[PARAMETER], caller.session).preview(context.budget)

    def _commit(self, own: Mapping[str, Any], context: Context, caller: Caller) -> Outcome:
        context, handle = checked(context), own[PARAMETER]  # before the handle ends
        chosen = {key: own[key] for key in ("unsure", "include") if own.get(key)}
        if handle.startswith(DRAFT_HANDLE):
            return self.service.run(*called("commit", {"draft": handle, **chosen}, context))
        if chosen:
            raise RequestError(
                "invalid_arguments",
                f"{' and '.join(chosen)} are for drafts; the changes of a transaction have their own.",
                hints=[_commit_of(handle)],
            )
        draft = self.handles.end(handle, caller.session)
        try:
            outcome = draft.commit(context)
        except ResourceError as error:
            self.handles.remember(handle, "its commit was refused, and nothing of it was written")
            raise _ended(error) from error.__cause__
        self.handles.remember(handle, f"it was committed as {outcome.operation_id or 'nothing, being empty'}")
        return outcome

    def _abandon(self, own: Mapping[str, Any], context: Context, caller: Caller) -> Outcome:
        if own[PARAMETER].startswith(DRAFT_HANDLE):
            return self.service.run(*called("abandon", {"draft": own[PARAMETER]}, context))
        draft: Draft = self.handles.end(own[PARAMETER], caller.session)
        planned = len(draft)
        draft.abandon()
        self.handles.remember(own[PARAMETER], "it was abandoned, and nothing of it was written")
        return Outcome(status="answer", text=f"Abandoned, with {planned} planned changes; nothing was written.")


def _commit_of(handle: str) -> str:
    return f'transaction_commit({PARAMETER}="{handle}")'


def _ended(error: ResourceError) -> ResourceError:
    """Return the error of a commit, which says as well what has become of the transaction."""
    hint = "The transaction has ended with this: begin another one with transaction_begin, and plan its changes anew."
    hints, candidates = (*error.hints, hint), error.candidates
    return type(error)(error.code, error.message, hints=hints, candidates=candidates, details=error.details)


_Ending = Callable[[Door, Mapping[str, Any], Context, Caller], Outcome]
_ENDINGS: Mapping[str, _Ending] = {
    "transaction_begin": Door._begin,  # noqa: SLF001  # here and below: its own
    "transaction_preview": Door._preview,  # noqa: SLF001
    "transaction_commit": Door._commit,  # noqa: SLF001
    "transaction_abandon": Door._abandon,  # noqa: SLF001
}
