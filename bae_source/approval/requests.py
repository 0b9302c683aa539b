"""Requests on what waits for a person: list it, show it, wait for the decision; to decide is no request."""

from __future__ import annotations

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
    runner: ClassVar[str] = "pending"
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
    runner: ClassVar[str] = "show"
    when: ClassVar[str] = "Use it to read a change before it is approved, or to see why it was not."
    examples: ClassVar[tuple[str, ...]] = ("show code_mod_1a2b3c4d",)

    task: Task


class Wait(Request, frozen=True, kw_only=True):
    """Wait until a person has decided about a proposed change, and say what became of it.

    What was refused of it is named with the reason. If nobody has decided in that time, the answer says so, and the
    exit status is 10.
    """

    verb: ClassVar[str] = "wait"
    effect: ClassVar[Effect] = Effect.READS
    runner: ClassVar[str] = "wait"
    when: ClassVar[str] = "Use it after a change was proposed, before what needs it."
    examples: ClassVar[tuple[str, ...]] = (
        "wait code_mod_1a2b3c4d",
        "wait code_mod_1a2b3c4d --seconds 600",
    )

    task: Task
    seconds: Annotated[Annotated[float, Meta(ge=0, le=_LONGEST)], described("How long at most.")] = 60
