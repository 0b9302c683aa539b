"""Requests about proposals and about the ledger; to decide is no request."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from bae_source.model.request import Effect, Request, described

Task = Annotated[
    str, described("Which one: its name, or the unique beginning of that.", placed=True, min_length=1, max_length=64)
]
_LONGEST = 3_600


class Pending(Request, frozen=True, kw_only=True):
    """List the changes that wait for a person, those with the highest risk first.

    Each line has the name, the risk, who proposed it and when, what it does, and why it is wanted. A person approves
    one by `bae-source approve NAME` at a terminal.
    """

    verb: ClassVar[str] = "pending"
    effect: ClassVar[Effect] = Effect.READS
    runner: ClassVar[str] = "proposals"
    when: ClassVar[str] = "Use it to see what waits for a person, and what became of what you proposed."
    examples: ClassVar[tuple[str, ...]] = (
        "pending",
        "pending --who bot --state rejected",
    )

    who: Annotated[str | None, described("Only what this caller proposed.")] = None
    state: Annotated[
        Literal["waiting", "approved", "applied", "rejected", "stale", "failed", "expired", "all"],
        described("Only those that stand there; `waiting` has stale and failed ones, too, which can be planned anew."),
    ] = "waiting"
    limit: Annotated[Annotated[int, Meta(ge=1, le=100_000)], described("How many at most.")] = 1_000


class Show(Request, frozen=True, kw_only=True):
    """Show one proposed change whole: what it does, why, its risk, its checks, its digest and its diff."""

    verb: ClassVar[str] = "show"
    effect: ClassVar[Effect] = Effect.READS
    runner: ClassVar[str] = "proposals"
    when: ClassVar[str] = "Use it to read a change before it is approved, or to see why it was not."
    examples: ClassVar[tuple[str, ...]] = ("show code_mod_1a2b3c4d",)

    task: Task


class Wait(Request, frozen=True, kw_only=True):
    """Wait until a person has decided about a proposed change.

    The answer says what became of it; what was refused of it is named with the reason. The exit status is 1 where it
    was not made, and 10 where it was not decided about in that time.
    """

    verb: ClassVar[str] = "wait"
    effect: ClassVar[Effect] = Effect.READS
    runner: ClassVar[str] = "proposals"
    waits: ClassVar[bool] = True
    when: ClassVar[str] = "Use it after a change was proposed, before what needs it."
    examples: ClassVar[tuple[str, ...]] = (
        "wait code_mod_1a2b3c4d",
        "wait code_mod_1a2b3c4d --seconds 600",
    )

    task: Task
    seconds: Annotated[Annotated[float, Meta(ge=0, le=_LONGEST)], described("How long at most.")] = 60


class Withdraw(Request, frozen=True, kw_only=True):
    """End one of your proposed changes that is not wanted any more; nothing of it is made."""

    verb: ClassVar[str] = "withdraw"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "withdraw"
    when: ClassVar[str] = "Use it before you propose the same thing in another form, so that a person reads it once."
    examples: ClassVar[tuple[str, ...]] = ("withdraw code_mod_1a2b3c4d",)

    task: Task


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
        str | None, described("Only entries about this proposal or operation, by its id.", placed=True, metavar="ID")
    ] = None


class LedgerHead(Request, frozen=True, kw_only=True):
    """Return the hash of the ledger's last entry, and nothing else.

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
    examples: ClassVar[tuple[str, ...]] = ("ledger verify", "ledger verify --head 41d0c7aa9f2c7c1e9a5b03c1d2a9e4f0")
    recovers: ClassVar[bool] = False
    abbreviates: ClassVar[bool] = False

    head: Annotated[
        Annotated[str, Meta(pattern="^[0-9a-f]{32,64}$")] | None,
        described("A head that was kept, or at least its first 32 digits.", metavar="HASH"),
    ] = None
