"""The budget of an answer, and the pages of one that is too long: nothing is ever left out in silence.

    within(outcome, asked, budget=8000)                         the outcome, or an error that says how to ask for less
    within(outcome, asked, budget=8000, cursor="0")             the first page; its `next_actions` names the second
    within(outcome, asked, budget=8000, cursor="7960-8000-…")   and so on

A cursor holds where its page starts, the size of pages, and a digest of the whole text. Nothing is remembered: the
query is run again for each page, and a page of another answer than the first one's is refused.

Invariants:
- the pages of an answer, joined, are its text to the last character;
- a page ends at a line, unless a single line is longer than the budget: then at a character;
- an answer that has another page after it is not complete;
- the call of the next page takes no more than half of what a page may have, or what a short one needs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate

from msgspec.structs import replace

from bae_source.errors import Refused, RequestError
from bae_source.model.call import Call, call_of
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.request import SMALLEST_BUDGET, Request, command_of
from bae_source.system.hashing import sha256

FIRST = "0"
USUAL = 24_000
"""Bytes of a page where the request names no budget."""
_LONGEST = 400
"""Bytes that the call of the next page may always have."""
_CURSOR = r"(\d{1,12})-(\d{1,9})-([0-9a-f]{12})"


def within(
    outcome: Outcome,
    request: Request,
    *,
    budget: int | None,
    cursor: str | None = None,
    narrower: Callable[[], Iterable[str]] = tuple,
) -> Outcome:
    """Return an answer that keeps to its budget.

    Parameters:
        outcome: the whole answer.
        request: the request that it answers.
        budget: how many bytes its text may have as UTF-8; None for any number.
        cursor: which page is wanted; None for the answer in one piece.
        narrower: calls that ask for less; called only if the budget is exceeded.

    Raises:
        Refused: `budget_exceeded` with the size, the limit and calls that keep to it; `stale` if the answer is another
            one than the cursor's.
        RequestError: `invalid_arguments` if the cursor is none.
    """
    if cursor is not None:
        return _page(outcome, request, cursor, budget)
    if budget is None or _fits(outcome.text, budget):
        return outcome
    size = size_of(outcome.text)
    calls = [*narrower(), call_of(request, budget=budget, cursor=FIRST)]
    raise Refused(
        "budget_exceeded",
        f"The answer has {size:,} bytes, more than the budget of {budget:,}; ask for less, or for pages.",
        hints=calls,
        details={"size": size, "limit": budget, "calls": [str(each) for each in calls]},
    )


def _page(outcome: Outcome, request: Request, cursor: str, budget: int | None) -> Outcome:
    text = outcome.text
    known = sha256(text.encode("utf-8", "surrogatepass"))[:12]
    start, room, digest = _read(cursor, request)
    room = budget or room
    if digest not in (None, known) or start > len(text):
        raise Refused(
            "stale",
            "The answer has changed since its first page.",
            hints=[call_of(request, budget=room, cursor=FIRST)],
        )
    end = start + len(cut_to(text, room, start))
    if end >= len(text):
        return replace(outcome, text=text[start:])
    following = _call_of_next(request, f"{end}-{room}-{known}", room)
    notice = Notice("page", f"These are characters {start + 1:,} to {end:,} of {len(text):,}.")
    return replace(
        outcome,
        text=text[start:end],
        complete=False,
        warnings=(*outcome.warnings, notice),
        next_actions=(following, *outcome.next_actions),
    )


def _call_of_next(request: Request, cursor: str, room: int) -> str:
    """Return the call of the next page; where it is too long, what the call that the caller has gets in addition."""
    call = call_of(request, cursor=cursor)
    if size_of(call) <= max(room // 2, _LONGEST):
        return call
    command = command_of(type(request))
    return Call(command, line=f"{command} … --cursor {cursor}", cursor=cursor)


def _read(cursor: str, request: Request) -> tuple[int, int, str | None]:
    if cursor == FIRST:
        return 0, USUAL, None
    match = re.fullmatch(_CURSOR, cursor)
    if match is None or int(match[2]) < SMALLEST_BUDGET:
        raise RequestError(
            "invalid_arguments",
            f"{cursor!r} is no cursor.",
            hints=[call_of(request, cursor=FIRST), "The next page's cursor stands in next_actions."],
        )
    return int(match[1]), int(match[2]), match[3]


def cut_to(text: str, room: int, start: int = 0) -> str:
    """Return the whole lines from `start` on that fit into so many bytes; of a longer line, characters that do."""
    piece = text[start : start + room]
    if not piece.isascii():
        ends = list(accumulate(size_of(character) for character in piece))
        piece = piece[: bisect_right(ends, room)]
    if start + len(piece) < len(text):
        piece = piece[: piece.rfind("\n") + 1] or piece
    return piece


def size_of(text: str) -> int:
    """Return the bytes of a text as UTF-8, a call the longest of its forms; a surrogate escape counts three."""
    text = text.longest if isinstance(text, Call) else text
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _fits(text: str, budget: int) -> bool:
    return len(text) * 4 <= budget or (len(text) <= budget and size_of(text) <= budget)
