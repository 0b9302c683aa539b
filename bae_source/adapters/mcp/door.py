"""A client's calls on the project: each through the one door, or into the transaction whose handle it carries.

Invariants:
- a call never raises but `KeyboardInterrupt`: every error is an outcome;
- an engine that was interrupted is not used again: another one takes its place, so what an interruption left half
  remembered is forgotten;
- a transaction whose handle no client received does not stay open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from bae_source.adapters.bug import bug
from bae_source.adapters.mcp.offer import TRANSACTIONS, takes_transaction
from bae_source.adapters.mcp.transactions import PARAMETER, RULE, given
from bae_source.adapters.offer import HELP, META, Offer
from bae_source.adapters.tools import Tool, as_called
from bae_source.engine.registry import called
from bae_source.engine.service import Service
from bae_source.errors import RequestError, ResourceError
from bae_source.model.call import Call
from bae_source.model.context import Context
from bae_source.model.outcome import Notice, Outcome, failed
from bae_source.model.request import Effect
from bae_source.model.shortened import shortened_error
from bae_source.model.text import so_far

T = TypeVar("T")


class Door:
    """The engine on a project, for the clients of one server.

    Parameters:
        engine: makes an engine; called again after `close`.
        offer: the tools that may be called.
        budget: bytes of an answer where a call says nothing.
        of_engine: makes an engine on its own source; None where that is out of reach.

    Attributes:
        at: how far the call has come that is being answered; "" where nothing tells.
    """

    def __init__(
        self,
        engine: Callable[[], Service],
        offer: Offer,
        *,
        budget: int,
        of_engine: Callable[[], Service] | None = None,
    ) -> None:
        self._engine = engine
        self._service: Service | None = None
        self._of_engine = of_engine
        self._meta: Service | None = None
        self._offer = offer
        self._budget = budget
        self.at = ""

    def call(self, name: str, arguments: Mapping[str, Any], who: str | None = None) -> Outcome:
        """Call a tool.

        Parameters:
            who: the client's name, for the history; None for the user's.
        """
        try:
            verb, own = self._offer.opened(name, arguments)
        except RequestError as error:
            return as_called(name, failed(shortened_error(error, self._budget)))
        if verb == HELP:
            return self._guarded(verb, lambda: self._offer.helped(own))
        do = self._on_engine if verb.startswith(META) else self._call
        verb = verb.removeprefix(META)
        return self._guarded(verb, lambda: do(verb, own, who))

    def ask(self, verb: str, arguments: Mapping[str, Any], *, budget: int | None) -> Outcome:
        """Answer a reading request, whether it is offered as a tool or not."""
        context = Context(budget=budget, by_model=True, calls="tool")
        return self._guarded(verb, lambda: self.service.run(*called(verb, arguments, context)))

    def unheard(self, outcome: Outcome) -> None:
        """End the transaction that a call began whose answer no client received."""
        self.service.keeping.drop(outcome.text)

    def close(self) -> None:
        """Let go of the engine; after an interruption, too."""
        services = self._service, self._meta
        self._service = self._meta = None
        for service in services:
            if service is not None:
                service.close()

    @property
    def service(self) -> Service:
        """The engine."""
        if self._service is None:
            self._service = self._engine()
            self._service.progress = self._progressed
        return self._service

    def _progressed(self, done: int, of: int, last: str) -> None:
        self.at = so_far(done, of, last)

    def _guarded(self, verb: str, do: Callable[[], Outcome]) -> Outcome:
        self.at = ""
        try:
            return do()
        except ResourceError as error:
            return as_called(verb, failed(shortened_error(error, self._budget)))
        except Exception as error:  # noqa: BLE001  # the edge: the server goes on
            return as_called(verb, bug(error, verb))

    def _call(self, verb: str, arguments: Mapping[str, Any], who: str | None) -> Outcome:
        tool = self._offer.reached[verb]
        if tool in TRANSACTIONS:
            own, around = given(tool.kind, arguments)
            context = replace(self._context(who), **around)
            return _ENDINGS[verb](self, own, context)
        if takes_transaction(self._offer, tool) and arguments.get(PARAMETER) is not None:
            rest = {key: value for key, value in arguments.items() if key != PARAMETER}
            return self._in_transaction(tool, arguments[PARAMETER], rest, who)
        if PARAMETER in arguments and arguments[PARAMETER] is None:
            arguments = {key: value for key, value in arguments.items() if key != PARAMETER}
        return self.service.run(*called(verb, arguments, self._context(who)))

    def _on_engine(self, verb: str, arguments: Mapping[str, Any], who: str | None) -> Outcome:
        """Make a call about the engine's own source."""
        if self._meta is None:
            assert self._of_engine is not None, "an offer with meta comes with it"
            self._meta = self._of_engine()
            self._meta.progress = self._progressed
        outcome = self._meta.run(*called(verb, arguments, self._context(who, self._offer.relayed)))
        if outcome.status == "applied":
            self._offer.renew()
        return outcome

    def _context(self, who: str | None, through: Mapping[str, str] | None = None) -> Context:
        by = dict(self._offer.through if through is None else through)
        return Context(who=who, budget=self._budget, by_model=True, calls="tool", through=by)

    def _in_transaction(self, tool: Tool, handle: Any, arguments: Mapping[str, Any], who: str | None) -> Outcome:
        asked, context = called(tool.name, arguments, self._context(who))
        if not isinstance(handle, str):
            raise RequestError("invalid_arguments", f"{PARAMETER} is a text.", hints=["transaction_begin gives one."])
        changes = tool.kind.effect is not Effect.READS
        whole = ("dry_run", "reload", "verify", "tidy", "format", "cascade", "why", "propose", "goal")
        once = [each for each in whole if each in arguments]
        if changes and once:
            raise RequestError(
                "invalid_arguments",
                f"{', '.join(once)} cannot be given for one change of a transaction.",
                hints=["Give them to transaction_commit, and why to transaction_begin."],
            )
        outcome = self.service.keeping.run(handle, asked, context)
        return replace(outcome, next_actions=(self._commit_of(handle),)) if changes else outcome

    def _begin(self, own: Mapping[str, Any], _: Context) -> Outcome:
        handle = self.service.keeping.begin(own.get("why", ""))
        hints = (f'edit, insert, … with {PARAMETER}="{handle}"', self._commit_of(handle))
        return Outcome(status="answer", text=handle, warnings=(Notice("handle", RULE),), next_actions=hints)

    def _commit_of(self, handle: str) -> str:
        return Call("transaction_commit", transaction=handle).written("tool", self._offer.through)

    def _preview(self, own: Mapping[str, Any], context: Context) -> Outcome:
        return self.service.keeping.preview(own[PARAMETER], context.budget)

    def _commit(self, own: Mapping[str, Any], context: Context) -> Outcome:
        chosen = {key: own[key] for key in ("unsure", "include") if own.get(key)}
        return self.service.run(*called("commit", {"draft": own[PARAMETER], **chosen}, context))

    def _abandon(self, own: Mapping[str, Any], context: Context) -> Outcome:
        return self.service.run(*called("abandon", {"draft": own[PARAMETER]}, context))


_Ending = Callable[[Door, Mapping[str, Any], Context], Outcome]
_ENDINGS: Mapping[str, _Ending] = {
    "transaction_begin": Door._begin,  # noqa: SLF001  # here and below: its own
    "transaction_preview": Door._preview,  # noqa: SLF001
    "transaction_commit": Door._commit,  # noqa: SLF001
    "transaction_abandon": Door._abandon,  # noqa: SLF001
}
