"""Requests about what was done and tried: the ledger shown, its head, and whether its chain holds."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from msgspec import Meta

from bae_source.model.request import Request, described


class LedgerShow(Request, frozen=True, kw_only=True):
    """Show what was done to the project, and tried: one line an entry of the ledger, the newest last.

    An entry has the time, the event, the caller, the verb, and which symbols it was about; never source text. A change
    is there twice: as it begins, right before it is written, and as it ends. One that was refused is there once.
    """

    verb: ClassVar[str] = "ledger_show"
    family: ClassVar[str] = "ledger"
    runner: ClassVar[str] = "ledger"
    when: ClassVar[str] = "Use it to see who changed or tried what, also what was refused and so is in no history."
    examples: ClassVar[tuple[str, ...]] = (
        "ledger show",
        "ledger show --event change_refused --since 2d",
        "ledger show --who bot --limit 100 --json",
    )
    recovers: ClassVar[bool] = False
    abbreviates: ClassVar[bool] = False

    event: Annotated[str | None, described("Only entries of this event, such as change_applied.")] = None
    who: Annotated[str | None, described("Only entries of this caller.")] = None
    since: Annotated[
        str | None,
        described("Only entries from then on: a time such as 2026-11-21, in UTC, or an age such as 90m, 12h, 30d."),
    ] = None
    limit: Annotated[int, described("At most that many entries, the newest.", ge=1, le=100_000)] = 20
    task: Annotated[
        str | None, described("Only entries about this proposal or operation, by its id.", metavar="ID")
    ] = None


class LedgerHead(Request, frozen=True, kw_only=True):
    """Tell the hash of the ledger's last entry, and nothing else.

    Kept where who works on the project cannot write, it shows later that no entry up to that one was taken out.
    """

    verb: ClassVar[str] = "ledger_head"
    family: ClassVar[str] = "ledger"
    runner: ClassVar[str] = "ledger"
    when: ClassVar[str] = "Use it to keep the head of the ledger elsewhere, for `ledger verify` to check against."
    examples: ClassVar[tuple[str, ...]] = ("ledger head", "ledger head > /mnt/elsewhere/head")
    recovers: ClassVar[bool] = False
    abbreviates: ClassVar[bool] = False


class LedgerVerify(Request, frozen=True, kw_only=True):
    """Check that no entry of the ledger was altered, taken out or put elsewhere; the first that was is named.

    The exit status is 1 then. That the last entries were cut off shows only against a head that was kept elsewhere;
    `history ID` shows the one that each operation was made with.
    """

    verb: ClassVar[str] = "ledger_verify"
    family: ClassVar[str] = "ledger"
    runner: ClassVar[str] = "ledger"
    when: ClassVar[str] = "Use it before you rely on the ledger."
    examples: ClassVar[tuple[str, ...]] = ("ledger verify", 'ledger verify --head "$(cat /mnt/elsewhere/head)"')
    recovers: ClassVar[bool] = False
    abbreviates: ClassVar[bool] = False

    head: Annotated[
        Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | None,
        described("A head that was kept: 64 hexadecimal digits.", metavar="HASH"),
    ] = None
