"""Requests that remove what is kept: prune the history, forget everything."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from bae_source.model.request import Effect, Request, described


class Prune(Request, frozen=True):
    """Delete old operations from the history for ever; they can be neither undone nor looked at after that.

    With both limits, only what is beyond both is deleted. The project's files are not touched.
    """

    verb: ClassVar[str] = "prune"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "prune"
    when: ClassVar[str] = "Use it when the history takes too much room."
    examples: ClassVar[tuple[str, ...]] = (
        "prune --keep 1000",
        "prune --older-than 30d --dry-run",
    )
    idempotent: ClassVar[bool] = True

    keep: Annotated[Annotated[int, Meta(ge=0)] | None, described("Keep that many, the newest.")] = None
    older_than: Annotated[
        str | None, described("Delete only what is older: than 30d or 12h, or than a time such as 2026-11-21.")
    ] = None


class Forget(Request, frozen=True):
    """Remove every trace of bae_source from this project: history, journal, cache, telemetry and what else there is.

    The project's own files stay as they are, and nothing can be undone any more. State that came with the project, by a
    clone or a copy, is never used; it stays, unless `foreign` asks for it to go instead.
    """

    verb: ClassVar[str] = "forget"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "forget"
    when: ClassVar[str] = "Use it when bae_source is to leave the project for good; nothing can be undone after it."
    examples: ClassVar[tuple[str, ...]] = (
        "forget --dry-run",
        "forget",
    )
    idempotent: ClassVar[bool] = True

    foreign: Annotated[
        bool, described("Remove what stands in the place of our state and was not made here by you; nothing of yours.")
    ] = False
