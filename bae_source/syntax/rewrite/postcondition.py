"""The conditions that must hold after every plan, checked in production: the engine distrusts itself.

- the new file parses, and is decoded as the old one was;
- its bytes outside the planned edits are those of the old file;
- every definition outside the edits is still there: same names, same kind, in the same place but for the shift;
- no edit stands inside a definition that is neither a target, nor in one, nor around one;
- the code of an edit ends with it or with the target: no statement behind is drawn into a definition, and none that
  belongs to one around the target falls out of it;
- a string that stays documents what it documented: no other attribute, function or class, and no module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from keyword import iskeyword

from msgspec import Struct

from bae_source.errors import Refused, SourceError
from bae_source.model.changeset import FileChange
from bae_source.model.span import Span
from bae_source.syntax.outline.compiling import compiles
from bae_source.syntax.outline.definitions import MODULE, Definition, Outline
from bae_source.syntax.outline.tree import Tree, parses
from bae_source.syntax.text.byte_edits import coalesced, splice
from bae_source.syntax.text.source import Source

_NO_CODE = re.compile(r"(?:[\s;\\]|#[^\r\n]*)*")


class _Place(Struct, frozen=True):
    """One edit: what it replaces in the old text, and where what it wrote stands in the new one."""

    span: Span
    written: Span


def check(
    before: Tree,
    change: FileChange,
    splices: Sequence[tuple[Span, str]],
    after: Tree,
    *,
    targets: Sequence[Span] = (),
    broken: bool = False,
) -> None:
    """Compare a file before and after.

    Parameters:
        targets: spans of what may change inside; all else is only moved.
        broken: whether the file did not parse, so that a target may have drawn in what stands behind it.

    Raises:
        SourceError: `not_lossless` if bytes outside the edits differ.
        Refused: `unsafe_change` if another definition changed.
    """
    if not _same_outside(before.source.content, after.source.content, change):
        raise SourceError("not_lossless", "The change would alter bytes outside the request", unchanged=True)
    if after.text != splice(before.text, list(splices)):
        raise Refused(
            "unsafe_change",
            "The change would make Python decode the file in another way",
            unchanged=True,
            hints=["Leave encoding cookies (# coding: …) out of the new source."],
        )
    places = _places(coalesced(list(splices)))
    old = _standing(before.outline, [place.span for place in places])
    new = _standing(after.outline, [place.written for place in places])
    if broken:
        free = [_now(target, places) for target in targets]
        old = [each for each in old if not any(target.contains(each.span) for target in targets)]
        new = [each for each in new if not any(target.start <= each.keyword < target.end for target in free)]
    if (
        len(old) == len(new)
        and not any(_is_cut(definition, places, targets) for definition in before.outline.definitions)
        and _all_same(old, new, places, targets, after.text)
        and not any(_overruns(definition, places, targets, after.text) for definition in after.outline.definitions)
    ):
        if not broken:
            _check_strings(before, after, places)
        return
    names = sorted({d.names[0] for d in old}.symmetric_difference(d.names[0] for d in new))
    what = f"definitions outside the request ({', '.join(names[:5])})" if names else "code outside the request"
    raise Refused(
        "unsafe_change",
        f"The change would alter {what}",
        unchanged=True,
        hints=["Give source whose strings and brackets are closed, at one indentation."],
    )


def check_renamed(
    before: Tree, change: FileChange, splices: Sequence[tuple[Span, str]], after: Tree, names: tuple[str, str]
) -> None:
    """Compare a file before and after a rename: every definition is where it was, and none has got another name.

    Parameters:
        names: the old name and the new one.

    Raises:
        SourceError: `not_lossless` if bytes outside the edits differ.
        Refused: `unsafe_change` if a definition is not what it was.
    """
    old, new = names
    if not _same_outside(before.source.content, after.source.content, change):
        raise SourceError("not_lossless", "The change would alter bytes outside the request", unchanged=True)
    places = _places(coalesced(list(splices)))
    pairs = list(zip(before.outline.definitions, after.outline.definitions, strict=False))
    if (
        after.text != splice(before.text, list(splices))
        or len(before.outline.definitions) != len(after.outline.definitions)
        or not all(
            each.kind is later.kind
            and (each.parent, each.position) == (later.parent, later.position)
            and all(was == now or (was, now) == (old, new) for was, now in zip(each.names, later.names, strict=True))
            and _moved(each.keyword, places) == later.keyword
            for each, later in pairs
        )
    ):
        raise Refused(
            "unsafe_change",
            f"With the name {new}, Python would read the file in another way",
            unchanged=True,
            hints=["Choose another name."],
        )


def renames_alone(before: Source, change: FileChange, splices: Sequence[tuple[Span, str]], after: Source) -> bool:
    """Return whether a change puts names for names, and Python takes the file with them, or took it neither before.

    Then all other tokens of it are those that they were, so every definition is where it was.
    """
    return (
        names_alone(before.text, splices)
        and _same_outside(before.content, after.content, change)
        and after.text == splice(before.text, list(splices))
        and (compiles(after.text) or not parses(before.text))
    )


def names_alone(text: str, splices: Iterable[tuple[Span, str]]) -> bool:
    """Return whether splices put names for names, with as many dots: those bring no other syntax than there was."""
    return all(_are_alike(text, span, new) for span, new in splices)


def _are_alike(text: str, span: Span, new: str) -> bool:
    old, later = span.cut(text).split("."), new.split(".")
    beside = text[max(0, span.start - 1) : span.start] + text[span.end : span.end + 1]
    return (
        len(old) == len(later)
        and all(was == now or (_is_name(was) and _is_name(now)) for was, now in zip(old, later, strict=True))
        and not any(each.isalnum() or each == "_" for each in beside)
    )


def _is_name(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)


def replaced_and_written(splices: Sequence[tuple[Span, str]]) -> tuple[list[Span], list[Span]]:
    """Return the replaced spans of the old text, each with the span of its new text."""
    places = _places(coalesced(list(splices)))
    return [place.span for place in places], [place.written for place in places]


def _same_outside(before: bytes, after: bytes, change: FileChange) -> bool:
    position_before = position_after = 0
    for edit in change.edits:
        length = edit.start - position_before
        if before[position_before : edit.start] != after[position_after : position_after + length]:
            return False
        position_before, position_after = edit.end, position_after + length + len(edit.new)
    return before[position_before:] == after[position_after:]


def _places(splices: list[tuple[Span, str]]) -> list[_Place]:
    result, moved = [], 0
    for span, new in splices:
        start = span.start + moved
        result.append(_Place(span, Span(start, start + len(new))))
        moved += len(new) - len(span)
    return result


def _standing(outline: Outline, spans: list[Span]) -> list[Definition]:
    """Return the definitions whose keyword lies in none of the spans."""
    if len(spans) == 1:
        start, end = spans[0].start, spans[0].end
        return [d for d in outline.definitions if not start <= d.keyword < end]
    return [d for d in outline.definitions if not any(s.start <= d.keyword < s.end for s in spans)]


def _is_cut(definition: Definition, places: list[_Place], targets: Sequence[Span]) -> bool:
    """Return whether an edit stands inside a definition in which nothing may change."""
    start, end = definition.span.start, definition.end
    return any(start < p.span.start and p.span.end < end for p in places) and not _may_change(definition, targets)


def _may_change(definition: Definition, targets: Sequence[Span]) -> bool:
    """Return whether a definition is a target, or in one, or around one."""
    return any(definition.span.contains(target) or target.contains(definition.span) for target in targets)


def _overruns(definition: Definition, places: list[_Place], targets: Sequence[Span], text: str) -> bool:
    """Return whether a new definition begins in an edit and ends behind it, and behind the target that it is in."""
    for place in places:
        if place.written.start <= definition.keyword < place.written.end:
            last = Span(max(place.span.start, place.span.end - 1), place.span.end)  # where the edit ends, it is inside
            limit = max(place.written.end, _limit(last, places, targets))
            return not _ends_by(definition, limit, text)
    return False


def _ends_by(definition: Definition, limit: int, text: str) -> bool:
    """Return whether a definition, and a comment that it ends with, draw in nothing that stands behind an offset.

    What the string below an attribute documents is checked on its own.
    """
    below = definition.body is None and definition.docstring is not None
    from bae_source.syntax.text.lexer import end_of_line  # 2 ms, which what is only read need not wait for

    behind = end_of_line(text, definition.keyword) if below else definition.span.end
    return definition.end <= limit and bool(_NO_CODE.fullmatch(text, limit, max(limit, behind)))


def _all_same(
    old: list[Definition], new: list[Definition], places: list[_Place], targets: Sequence[Span], text: str
) -> bool:
    """Return whether the definitions outside the edits are unchanged; most lie wholly before or behind them."""
    last, moved = (places[-1].span.end, places[-1].written.end - places[-1].span.end) if places else (0, 0)
    for before, after in zip(old, new, strict=True):
        shift = moved if before.keyword >= last else 0
        at_home = before.keyword + shift == after.keyword and (
            before.end + shift == after.end and before.span.end + shift == after.span.end
        )
        if not (at_home and before.names == after.names and before.kind is after.kind):
            if not _same(before, after, places, targets, text):
                return False
        elif (before.parent == MODULE) != (after.parent == MODULE):
            return False
    return True


def _same(old: Definition, new: Definition, places: list[_Place], targets: Sequence[Span], text: str) -> bool:
    if old.names != new.names or old.kind is not new.kind or (old.parent == MODULE) != (new.parent == MODULE):
        return False
    if _moved(old.keyword, places) != new.keyword:
        return False
    if limit := _limit(old.span, places, targets):
        return _ends_by(new, limit, text)
    tail = [place for place in places if place.span.start <= old.span.end and place.span.end >= old.end]
    if not tail or not _may_change(old, targets):
        return _end_moved(old.end, places) == new.end
    between = new.end >= tail[0].written.start or _NO_CODE.fullmatch(text, new.end, tail[0].written.start)
    return bool(between) and new.end <= tail[-1].written.end


def _limit(span: Span, places: list[_Place], targets: Sequence[Span]) -> int:
    """Return where the targets that hold a span end in the new text; 0 where none does."""
    ends = [target.end for target in targets if target.contains(span)]
    written = [p.written.end for p in places for end in ends if p.span.start <= end <= p.span.end]
    return max([*written, *(_end_moved(end, places) for end in ends)], default=0)


def _check_strings(before: Tree, after: Tree, places: list[_Place]) -> None:
    """Check that no string outside the edits documents something else now.

    An owner that has only got another name is the same one.
    """
    old = {
        _moved(start, places): owner
        for start, owner in _documented(before.outline)
        if not any(place.span.start <= start < place.span.end for place in places)
    }
    for start, owner in _documented(after.outline):
        if any(place.written.start <= start < place.written.end for place in places):
            continue
        path = after.outline.qualname(owner)
        was = before.outline.qualname(old[start]) if start in old else None
        if was == path or (was and path and was not in _paths(after.outline) and path not in _paths(before.outline)):
            continue
        line = after.source.lines.cut(after.source.lines.number(start)).strip()
        raise Refused(
            "unsafe_change",
            f"The change would make the string {line} document {'.'.join(path) or 'the module'}",
            unchanged=True,
            hints=["Change the string in the same edit, or put the new code below it."],
        )


def _documented(outline: Outline) -> Iterator[tuple[int, int]]:
    """Yield where each string that documents something starts, and what it documents."""
    if outline.docstring is not None:
        yield outline.docstring.start, MODULE
    for index, definition in enumerate(outline.definitions):
        if definition.docstring is not None:
            yield definition.docstring.start, index


def _paths(outline: Outline) -> set[tuple[str, ...]]:
    return {outline.qualname(index) for index in range(len(outline.definitions))}


def _moved(offset: int, places: list[_Place]) -> int:
    """Return where the character at an offset outside the edits stands in the new text."""
    return offset + next((p.written.end - p.span.end for p in reversed(places) if p.span.end <= offset), 0)


def _now(target: Span, places: list[_Place]) -> Span:
    """Return where a target stands in the new text, with all that an edit over its start or end wrote."""
    starts = [each.written.start for each in places if each.span.start <= target.start < each.span.end]
    ends = [each.written.end for each in places if each.span.start < target.end <= each.span.end]
    return Span(*starts or [_moved(target.start, places)], *ends or [_end_moved(target.end, places)])


def _end_moved(end: int, places: list[_Place]) -> int:
    """Return the offset behind a character in the new text, if no edit has it."""
    return _moved(end - 1, places) + 1
