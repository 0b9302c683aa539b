"""The rest of an answer besides its text, kept within the budget: errors, warnings, what changed, the diff.

The text itself is kept by `model.page`: whole, refused, or in pages. All the rest together may be as long again.

Invariants:
- a notice has what is left out, the number of all, and a way to get them;
- of a change the diff is cut first, and the line of its verdict never;
- the code of an error, what is short of its message and first hint, and an operation's id always stay;
- so do the checks, and the first next action of an answer, unless it alone takes half: that of a page is the call of
  the next page;
- of the places that JSON has beside the text as many are left as fit; the counts still tell how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.model.outcome import WARNED, Changed, Notice, Outcome, telling, verdict, warned_by
from bae_source.model.page import cut_to, size_of

T = TypeVar("T")
_CANDIDATES, _TEXT, _WARNINGS, _CHANGED, _ACTIONS = 4, 8, 8, 8, 16
"""The part of the budget that each may take: a fourth, an eighth. The diff has the rest."""
_KEYS = 100
"""Bytes of what stands around the values of a place."""
_NOTE = 400
"""Bytes kept back for saying what was left out; a message, hint or call that has no more is never cut."""


def shortened(outcome: Outcome, budget: int | None, *, answer: bool) -> Outcome:
    """Return an outcome whose parts beside its text keep to a budget.

    Parameters:
        budget: how many bytes they may have together as UTF-8; None for any number.
        answer: whether the text is an answer, which is kept otherwise; else it is shortened here as well.
    """
    if budget is None:
        return outcome
    outcome = _with_fewer_places(outcome, budget)
    if _room_of(outcome, answer=answer) <= budget:
        return outcome
    left_out: list[str] = []
    room = budget - _NOTE - _room_of(replace(outcome, diff=""), answer=answer)
    if outcome.diff and room >= 0:
        less = replace(outcome, diff=_cut("the diff", outcome.diff, room, left_out))
        return replace(less, warnings=(*less.warnings, Notice("shortened", _note(left_out, outcome, budget))))

    def few(what: str, items: Sequence[T], part: int, size: Callable[[T], int], least: int = 0) -> tuple[T, ...]:
        is_short = bool(items) and size(items[0]) <= max(budget // 2, _NOTE)
        kept = _first(items, budget // part, size, least if is_short else 0)
        if len(kept) < len(items):
            left_out.append(f"{len(kept):,} of {len(items):,} {what}")
        return kept

    warnings = few("warnings", tuple(_short(each, budget) for each in outcome.warnings), _WARNINGS, _of_notice)
    changed = few("changed symbols", outcome.changed, _CHANGED, _of_changed)
    actions = few("next actions", outcome.next_actions, _ACTIONS, size_of, int(answer))
    less = replace(outcome, warnings=warnings, changed=changed, next_actions=actions)
    if not answer:
        first = size_of(outcome.text.partition("\n")[0]) + 1
        text = _cut("the text", outcome.text, max(budget // _TEXT, first), left_out)
        last = verdict(outcome.checks)
        less = replace(less, text=text if not last or last not in outcome.text or last in text else f"{text} {last}")
    if warnings != outcome.warnings[: len(warnings)]:
        left_out.append("the beginning of a warning")
    room = budget - _NOTE - _room_of(replace(less, diff=""), answer=answer)
    less = replace(less, diff=_cut("the diff", outcome.diff, max(room, 0), left_out))
    if not left_out:
        return outcome  # nothing is left out, however small the budget
    return replace(less, warnings=(*warnings, Notice("shortened", _note(left_out, outcome, budget))))


def shortened_error(error: ResourceError, budget: int | None) -> ResourceError:
    """Return an error that keeps to a budget: of its candidates and hints those that fit, and how many there are."""
    size = size_of(error.message) + _sum(error.hints) + _sum(error.candidates) + _preview(error)
    size += sum(map(_of_notice, warned_by(error)))
    if budget is None or size <= budget:
        return error
    left_out: list[str] = []
    message = _cut("the message", error.message, max(budget // 4, _NOTE), left_out)
    hints = [
        _cut("a hint", hint, max(budget // 4, _NOTE), left_out)
        for hint in _first(error.hints, budget // _CANDIDATES, size_of, 1)
    ]
    candidates = _first(error.candidates, budget // _CANDIDATES, size_of)
    if len(candidates) < len(error.candidates):
        left_out.append(f"{len(candidates):,} of {len(error.candidates):,} candidates")
    if len(hints) < len(error.hints):
        left_out.append(f"{len(hints):,} of {len(error.hints):,} hints")
    details = dict(error.details)
    if "preview" in details:
        details["preview"] = _cut("the preview", str(details["preview"]), budget // 4, left_out)
    kept = _first([_short(each, budget) for each in warned_by(error)], budget // _WARNINGS, _of_notice)
    if details.pop(WARNED, ()) and len(kept) < len(warned_by(error)):
        left_out.append(f"{len(kept):,} of {len(warned_by(error)):,} warnings")
    if list(kept) != list(warned_by(error))[: len(kept)]:
        left_out.append("the beginning of a warning")
    if not left_out:
        return error  # likewise
    hints.append(f"Shown, within {budget:,} bytes: {', '.join(left_out)}. A larger budget shows more.")
    less: dict[str, Any] = {"hints": hints, "candidates": candidates, "details": details}
    if message != error.message:
        less |= {"reason": message, "subject": "", "unchanged": None}
    return telling(error.altered(**less), kept)


def _note(left_out: Sequence[str], outcome: Outcome, budget: int) -> str:
    whole = f"history {outcome.operation_id} --diff --cursor 0" if outcome.operation_id else "a larger budget"
    return f"Shown, within {budget:,} bytes: {', '.join(left_out)}. For all of it: {whole}."


def _cut(what: str, text: str, room: int, left_out: list[str]) -> str:
    """Return the whole lines of a text that fit; of a text without line ends as many characters as do."""
    whole = size_of(text)
    if whole <= room:
        return text
    kept = cut_to(text, room)
    left_out.append(f"{size_of(kept):,} of {whole:,} bytes of {what}")
    return kept


def _short(notice: Notice, budget: int) -> Notice:
    """Return a notice whose message takes no more than half of what all warnings may."""
    room = budget // _WARNINGS // 2
    if size_of(notice.message) <= room:
        return notice
    return Notice(notice.code, f"{cut_to(notice.message, room)} … ({size_of(notice.message):,} bytes)")


def _first(items: Sequence[T], room: int, size: Callable[[T], int], least: int = 0) -> tuple[T, ...]:
    kept: list[T] = []
    for each in items:
        room -= size(each)
        if room < 0 and len(kept) >= least:
            break
        kept.append(each)
    return tuple(kept)


def _with_fewer_places(outcome: Outcome, budget: int) -> Outcome:
    if outcome.report is not None:
        outcome = replace(outcome, report=_of_report(outcome.report, budget))
    kept = _first(outcome.found, budget, _of_place) if outcome.counts else outcome.found
    return outcome if len(kept) == len(outcome.found) else replace(outcome, found=kept)


def _of_report(report: Mapping[str, Any], budget: int) -> dict[str, Any]:
    """Return a report of which each list has as many entries as fit a fifth of the budget."""
    room = budget // 5
    return {
        key: list(_first(value, room, _of_place)) if isinstance(value, list) and key != "unparsed" else value
        for key, value in report.items()
    }


def _of_place(place: Any) -> int:
    fields = place.values() if isinstance(place, Mapping) else place.as_data().values()
    return _KEYS + sum(size_of(str(field)) for field in fields)


def _room_of(outcome: Outcome, *, answer: bool) -> int:
    errors = sum(size_of(each.message) + _sum(each.hints) + _sum(each.candidates) for each in outcome.errors)
    lists = sum(map(_of_notice, outcome.warnings)) + sum(map(_of_changed, outcome.changed)) + _sum(outcome.next_actions)
    return errors + lists + size_of(outcome.diff) + (0 if answer else size_of(outcome.text))


def _of_notice(notice: Notice) -> int:
    return len(notice.code) + size_of(notice.message)


def _of_changed(changed: Changed) -> int:
    return size_of(changed.address) + len(changed.etag or "")


def _sum(texts: Sequence[str]) -> int:
    return sum(map(size_of, texts))


def _preview(error: ResourceError) -> int:
    preview: Any = error.details.get("preview", "")
    return size_of(str(preview))
