"""A transaction of the Python API: changes are planned, reads see what is planned, the end of the block makes them."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from bae_source.adapters.python.methods import named, return_of, valued
from bae_source.adapters.python.verbs import CodeVerbs
from bae_source.model.context import Context
from bae_source.model.outcome import Outcome
from bae_source.model.request import Request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bae_source.engine.drafting import Draft
    from bae_source.engine.service import Service


class User:
    """Stands for all objects that use one engine; they share it, and the engine's files are closed with it.

    A finalizer in its place would keep the engine, and with it errors whose tracebacks lead to those objects, for ever.
    """

    def __init__(self, service: Service) -> None:
        self._service = service

    def __del__(self) -> None:
        self._service.close()


class Transaction(CodeVerbs):
    """Several changes that are made together or not at all.

        with src.transaction("retry on timeouts") as tx:
            tx.edit("app.client.Client.send", new_source)
            tx.read("app.client.Client.send")          # the new source
        tx.outcome.operation_id                        # one undo for all of it

    The end of the block commits; an exception in it, or `abandon`, forgets what was planned. A change that fails while
    it is planned raises its error, and leaves the transaction as it was before. Nothing is locked until the commit; if
    one of the named symbols has changed meanwhile, the commit is refused as stale.

    Attributes:
        outcome: what the commit came to; None before.
    """

    def __init__(self, draft: Draft, context: Context, user: User) -> None:
        self._draft = draft
        self._user = user
        self._context = context
        self.outcome: Outcome | None = None
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self.abandon()
        elif not self._ended:
            self.commit()

    def apply(self, requests: Sequence[Mapping[str, Any]] = (), *, patch: str | None = None) -> Outcome:
        """Plan several changes, or those of a patch, as `Source.apply` makes them.

        Raises:
            ResourceError: one of them cannot be planned; none of them is then.
        """
        planned: Outcome = self._call(named("apply"), (), {"requests": requests, "patch": patch})
        return planned

    def diff(self) -> str:
        """Return the plan so far as a unified diff that `git apply` takes."""
        return self._draft.preview().diff

    def preview(self) -> Outcome:
        """Return the outcome of the plan so far."""
        return self._draft.preview()

    def commit(self) -> Outcome:
        """Make what was planned, and end the transaction.

        Raises:
            ResourceError: it was not made; the class says why.
        """
        self._ended = True
        self.outcome = self._draft.commit(self._context)
        return self.outcome

    def abandon(self) -> None:
        """Forget what was planned, and end the transaction; nothing has been written."""
        self._ended = True
        self._draft.abandon()

    def _call(self, kind: type[Request], placed: Sequence[Any], given: Mapping[str, Any]) -> Any:
        """Make the request of a method's call in the transaction."""
        asked, context = return_of(kind, placed, given, Context(who=self._context.who, calls="python"), {})
        return valued(asked, self._draft.run(asked, context))
