"""The tools of a transaction, declared like requests: begin, look at it, and make it or forget it.

They are no requests: the engine's own transaction is an object, and these are what stands for it where only text
passes. All other tools that can be part of one take its handle as their argument `transaction`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from bae_source.model.context import Context
from bae_source.model.outcome import DRAFT_LIFETIME
from bae_source.model.request import Effect, Parameter, Request, described, parameters, values_of

PARAMETER = "transaction"
"""The argument by which other tools become part of one."""
RULE = f"The handle ends {DRAFT_LIFETIME // 60} minutes after its last use; any door takes it until then."
"""The end of a handle by itself, in a sentence."""
PARAMETER_HELP = "Handle of transaction_begin: see what is planned in it, or plan this change with the others."

Handle = Annotated[str, described("Handle that transaction_begin gave.", min_length=1, max_length=64)]


class Ending(Request, frozen=True, kw_only=True):
    """Base of what is done with a transaction.

    Class attributes:
        steered: which parameters of the context it takes.
    """

    steered: ClassVar[tuple[str, ...]] = ()


class TransactionBegin(Ending, frozen=True, kw_only=True):
    """Begin a transaction and return its handle: changes that carry it are planned, and made together by one commit."""

    verb: ClassVar[str] = "transaction_begin"
    when: ClassVar[str] = f"Use it for changes that must all be made or none. {RULE}"

    why: Annotated[str, described("The reason, for the history.", max_length=10_000)] = ""


class TransactionPreview(Ending, frozen=True, kw_only=True):
    """Show the diff of everything that is planned in a transaction, and write nothing."""

    verb: ClassVar[str] = "transaction_preview"
    when: ClassVar[str] = "Use it before the commit."
    steered: ClassVar[tuple[str, ...]] = ("budget",)

    transaction: Handle


class TransactionCommit(Ending, frozen=True, kw_only=True):
    """Make everything that is planned in a transaction, or nothing; one undo takes all of it back.

    If the code changed meanwhile, it is refused as stale and planned anew; the next commit makes it so. It takes the
    handle that a refusal gave, too.
    """

    verb: ClassVar[str] = "transaction_commit"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "commit"
    when: ClassVar[str] = "Use it once all changes are planned."
    steered: ClassVar[tuple[str, ...]] = ("reload", "verify", "tidy", "format", "cascade", "propose", "goal", "budget")

    transaction: Handle
    unsure: Annotated[
        Literal["refuse", "leave", "change"], described("Of a refusal alone: what comes of the unsure places.")
    ] = "refuse"
    include: Annotated[tuple[str, ...], described("Of a refusal alone: places that change all the same.")] = ()


class TransactionAbandon(Ending, frozen=True, kw_only=True):
    """Forget everything that is planned in a transaction; nothing has been written, and the handle ends."""

    verb: ClassVar[str] = "transaction_abandon"
    when: ClassVar[str] = "Use it when the changes are not wanted after all."

    transaction: Handle


KINDS: tuple[type[Ending], ...] = (TransactionBegin, TransactionPreview, TransactionCommit, TransactionAbandon)
"""In the order in which they are listed."""


def can_be_part(kind: type[Request]) -> bool:
    """Return whether a request can be made inside a transaction: it changes code, or asks about it."""
    return hasattr(kind, "plan") or hasattr(kind, "answer")


def declared(kind: type[Request]) -> tuple[Parameter, ...]:
    """Return the parameters of one of these tools: its own and those of the context that it takes."""
    known = {each.name: each for each in parameters(Context)}
    return (*parameters(kind), *(known[name] for name in getattr(kind, "steered", ())))


def given(kind: type[Request], arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the request's own values of a call, and those of its context.

    Raises:
        RequestError: `invalid_arguments`, with every problem.
    """
    values = values_of(kind, declared(kind), arguments)
    own = {each.name for each in parameters(kind)}
    return (
        {name: value for name, value in values.items() if name in own},
        {name: value for name, value in values.items() if name not in own},
    )
