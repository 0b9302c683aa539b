"""Requests on the history and on drafts: undo, redo, list, commit, abandon.

Invariant: what they come to is planned in `undoing` and `listing`; here is only what can be asked.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from bae_source.model.request import Effect, Request, described

OperationId = Annotated[
    str | tuple[str, ...] | None,
    described(
        "Id of the operation, or its unique beginning; several for all of them at once; left out, the last one.",
        placed=True,
        metavar="ID",
    ),
]
Count = Annotated[
    Annotated[int, Meta(ge=1)] | None, described("Instead of ids: so many of your last ones, all of them or none.")
]
Moment = Annotated[
    str | None, described("A time, such as 2026-11-21 or 2026-11-21T12:00, in UTC; or an age, such as 90m, 12h, 30d.")
]


DraftHandle = Annotated[str, described("Handle of the draft, as the refusal gave it.", min_length=1, max_length=64)]


class Undo(Request, frozen=True):
    """Take back your last change, or the ones of the given ids.

    Where other parts of a file changed since, only what the change did to its own symbols is taken back. Where one of
    them changed, or what came later uses it, nothing happens, and the error names what came after and shows it. Several
    are taken back together or not at all. An undo is an operation itself, and `redo` takes it back. A deleted
    file comes back with its mode and owner, but without extended attributes.
    """

    verb: ClassVar[str] = "undo"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "travel"
    refuses_none: ClassVar[tuple[str, ...]] = ("operation_id",)
    when: ClassVar[str] = "Use it when a change was a mistake; it is refused rather than overwrite what came later."
    examples: ClassVar[tuple[str, ...]] = (
        "undo",
        "undo op_7f3a --dry-run",
        "undo --count 3",
    )

    operation_id: OperationId = None
    count: Count = None
    to: Annotated[
        str | None,
        described(
            "Instead of ids: all your changes that came later than the operation of this id, or than a time such as "
            "2026-11-21T12:00, in UTC, or an age such as 90m, 12h, 30d."
        ),
    ] = None


class Redo(Request, frozen=True):
    """Make the change again that was undone last, or the ones of the given ids.

    Possible until you make another change, or at any time by its id; and only while its own symbols are as the undo
    left them.
    """

    verb: ClassVar[str] = "redo"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "travel"
    refuses_none: ClassVar[tuple[str, ...]] = ("operation_id",)
    when: ClassVar[str] = "Use it when an undo was a mistake."
    examples: ClassVar[tuple[str, ...]] = (
        "redo",
        "redo op_7f3a",
    )

    operation_id: OperationId = None
    count: Count = None


class Commit(Request, frozen=True, kw_only=True):
    """Make a change that was refused because of places that are unsure, and was kept as a draft.

    It is planned anew on the files as they are now. If it comes to something else than it did when it was refused, it
    is refused once more, and shows what it comes to.
    """

    verb: ClassVar[str] = "commit"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "commit"
    when: ClassVar[str] = "Use it once you have looked at the unsure places of a refusal."
    examples: ClassVar[tuple[str, ...]] = (
        "commit draft_9f2c --unsure leave",
        "commit draft_9f2c --unsure leave --include app.web:7",
    )

    draft: DraftHandle
    unsure: Annotated[
        Literal["refuse", "leave", "change"],
        described("What comes of the unsure places: leave or change them; refuse if any is left beside `include`."),
    ] = "refuse"
    include: Annotated[
        tuple[str, ...],
        described("Places that change though they are unsure or mentions, as ADDRESS:LINE or ADDRESS:LINE:COLUMN."),
    ] = ()


class Amend(Request, frozen=True, kw_only=True):
    """Change one request of a draft, or one text in it, and make it: what was refused is not given once more.

    A change that was refused is kept where its text is long; the refusal names the draft. `old` and `new` replace text
    that occurs once in what was given; `new_source` gives the source anew, and `set` other parameters. What was refused
    is made then, or refused again and kept as amended; an open transaction is only planned anew.
    """

    verb: ClassVar[str] = "amend"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "amend"
    when: ClassVar[str] = "Use it after a refusal, instead of giving the whole change again."
    examples: ClassVar[tuple[str, ...]] = (
        'amend draft_9f2c --old "retrun x" --new "return x"',
        'amend draft_9f2c --set \'{"if_match": "0a1b2c3d4e5f6071"}\'',
        "amend draft_9f2c --number 2 --source send.py",
    )

    draft: DraftHandle
    old: Annotated[
        str | tuple[str, ...] | None, described("Text in what was given, to replace; or several, each with its new.")
    ] = None
    new: Annotated[str | tuple[str, ...] | None, described("What stands there instead of old; one for each.")] = None
    new_source: Annotated[str | None, described("The new source, instead of the one that was given.")] = None
    set: Annotated[
        dict[str, Any] | None, described('Parameters that get other values, such as {"target": "app.g"}.')
    ] = None
    number: Annotated[
        Annotated[int, Meta(ge=1)] | None, described("Which of the draft's requests, counted from 1.")
    ] = None


class Abandon(Request, frozen=True, kw_only=True):
    """Forget a draft; nothing of it was written."""

    verb: ClassVar[str] = "abandon"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "abandon"
    when: ClassVar[str] = "Use it when a change that was refused is not wanted any more; it ends by itself, too."
    examples: ClassVar[tuple[str, ...]] = ("abandon draft_9f2c",)

    draft: DraftHandle


class History(Request, frozen=True):
    """List the operations on this project, the newest first, or tell one of them in full.

    Each line has the id, the time, who made it, what it did and why, and whether it has been undone.
    """

    verb: ClassVar[str] = "history"
    effect: ClassVar[Effect] = Effect.READS
    runner: ClassVar[str] = "history"
    when: ClassVar[str] = "Use it to see what was changed, by whom and why, and to find the id that undo takes."
    examples: ClassVar[tuple[str, ...]] = (
        "history",
        "history app.net.Client --since 2d --diff",
        "history op_7f3a",
    )

    target: Annotated[
        str,
        described(
            "Only operations that changed this code or anything in it; or the id of one, to tell it in full.",
            placed=True,
        ),
    ] = ""
    limit: Annotated[int, described("At most that many operations.", ge=1, le=100_000)] = 20
    who: Annotated[str | None, described("Only the operations of this caller.")] = None
    since: Moment = None
    diff: Annotated[bool, described("Show what each of them changed.")] = False
