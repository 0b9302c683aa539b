"""What must hold after every plan, checked in production: the engine distrusts itself.

- the new file parses, and is decoded as the old one was;
- its bytes outside the planned edits are those of the old file;
- every definition outside the edits is still there: same names, same kind, in the same place but for the shift.
"""

from __future__ import annotations

from collections.abc import Sequence

from bae_source.errors import Refused, SourceError
from bae_source.model.changeset import FileChange
from bae_source.model.span import Span
from bae_source.syntax.outline import MODULE, Definition, Outline
from bae_source.syntax.source import coalesced, splice
from bae_source.syntax.tree import Tree


def check(before: Tree, change: FileChange, splices: Sequence[tuple[Span, str]], after: Tree) -> None:
    """Compare a file before and after.

    Raises:
        SourceError: `not_lossless` if bytes outside the edits differ.
        Refused: `unsafe_change` if another definition changed.
    """
    if not _same_outside(before.source.content, after.source.content, change):
        raise SourceError(
            "not_lossless", "The change would alter bytes outside of what was asked; nothing was changed."
        )
    if after.text != splice(before.text, list(splices)):
        raise Refused(
            "unsafe_change",
            "The change would make Python decode the file in another way; nothing was changed.",
            hints=["Leave encoding cookies (# coding: …) out of the new source."],
        )
    places = coalesced(list(splices))
    old = _standing(before.outline, [span for span, _ in places])
    new = _standing(after.outline, _written(places))
    if len(old) == len(new) and _all_same(old, new, places):
        return
    names = sorted({d.names[0] for d in old}.symmetric_difference(d.names[0] for d in new))
    shown = f" ({', '.join(names[:5])})" if names else ""
    raise Refused(
        "unsafe_change",
        f"The change would alter definitions outside of what was asked{shown}; nothing was changed.",
        hints=["Give source whose strings and brackets are closed, at one indentation."],
    )


def _same_outside(before: bytes, after: bytes, change: FileChange) -> bool:
    position_before = position_after = 0
    for edit in change.edits:
        length = edit.start - position_before
        if before[position_before : edit.start] != after[position_after : position_after + length]:
            return False
        position_before, position_after = edit.end, position_after + length + len(edit.new)
    return before[position_before:] == after[position_after:]


def _written(places: list[tuple[Span, str]]) -> list[Span]:
    """Return where the new texts stand in the new file."""
    result, moved = [], 0
    for span, new in places:
        start = span.start + moved
        result.append(Span(start, start + len(new)))
        moved += len(new) - len(span)
    return result


def _standing(outline: Outline, spans: list[Span]) -> list[Definition]:
    """Return the definitions whose keyword lies in none of the spans."""
    if len(spans) == 1:
        start, end = spans[0].start, spans[0].end
        return [d for d in outline.definitions if not start <= d.keyword < end]
    return [d for d in outline.definitions if not any(s.start <= d.keyword < s.end for s in spans)]


def _shifts(places: list[tuple[Span, str]]) -> list[tuple[int, int]]:
    """Return from which old offset on everything is moved by how much."""
    result, moved = [(0, 0)], 0
    for span, new in places:
        moved += len(new) - len(span)
        result.append((span.end, moved))
    return result


def _all_same(old: list[Definition], new: list[Definition], places: list[tuple[Span, str]]) -> bool:
    """Say whether the definitions outside the edits are as they were; most lie wholly before or wholly behind them."""
    shifts = _shifts(places)
    last, moved = shifts[-1]
    for before, after in zip(old, new, strict=True):
        shift = moved if before.keyword >= last else 0
        at_home = before.keyword + shift == after.keyword and before.end + shift == after.end
        if not (at_home and before.names == after.names and before.kind is after.kind):
            if not _same(before, after, places, shifts):
                return False
        elif (before.parent == MODULE) != (after.parent == MODULE):
            return False
    return True


def _same(old: Definition, new: Definition, places: list[tuple[Span, str]], shifts: list[tuple[int, int]]) -> bool:
    if old.names != new.names or old.kind is not new.kind or (old.parent == MODULE) != (new.parent == MODULE):
        return False
    if _moved(old.keyword, shifts) != new.keyword:
        return False
    touched = any(span.start <= old.span.end and span.end >= old.keyword for span, _ in places)
    return touched or _moved(old.end, shifts) == new.end


def _moved(offset: int, shifts: list[tuple[int, int]]) -> int:
    if len(shifts) == 2:
        return offset + shifts[1][1] if offset >= shifts[1][0] else offset
    return offset + next(moved for start, moved in reversed(shifts) if offset >= start)
