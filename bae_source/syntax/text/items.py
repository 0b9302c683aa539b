"""One item into a run of items and out of it again: lists, tuples, dictionaries, imported names, sums.

    __all__ = ["A", "C"]         B goes between, on the same line
    __all__ = [
        "A",  # why              B gets a line behind this one
        "C"                      D gets a line as well, and C a comma
    ]

Invariants:
- the text between two items, comments included, stays where it is;
- an item goes where the order of the others says, if they have one, and else behind them all;
- taking an item out is the inverse of putting it in: every byte comes back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.text.revision import Splices
from bae_source.syntax.text.source import Lines

_SPACE = r"(?:[ \t\f\r\n]|\\(?:\r\n|\n|\r)|#[^\r\n]*)*"
_BLANK = re.compile(_SPACE)
_REST = re.compile(r"[ \t\f]*(?:#[^\r\n]*)?")
_INDENT = re.compile(r"[ \t\f]*")
_WORDS = re.compile(r"\d+|\D+")
_WIDE = 88

Order = Callable[[str], object]


class Items(Struct, frozen=True, kw_only=True):
    """Items with separators between them.

    Parameters:
        spans: where they stand, in their order.
        keys: what each is sorted by.
        inside: from behind the opening bracket to before the closing one; from the first to the last item where there
            are no brackets.
        bracketed: whether lines may be broken between them.
        ends: for each, the offset behind the separator that follows it; None where none does.
        separator: what stands between two.
        is_tuple: whether a single item needs a comma behind it.
    """

    spans: tuple[Span, ...]
    keys: tuple[str, ...]
    inside: Span
    bracketed: bool
    ends: tuple[int | None, ...]
    separator: str = ","
    is_tuple: bool = False


def items_of(
    text: str,
    spans: Sequence[Span],
    keys: Sequence[str],
    inside: Span,
    *,
    bracketed: bool = True,
    separator: str = ",",
    is_tuple: bool = False,
) -> Items | None:
    """Return items whose separators stand as expected; None for a run that is written in some other way."""
    between = re.compile(f"{_SPACE}{re.escape(separator)}")
    ends: list[int | None] = []
    for number, span in enumerate(spans):
        match = between.match(text, span.end, inside.end)
        ends.append(match.end() if match else None)
        following = spans[number + 1].start if number + 1 < len(spans) else inside.end
        space = _BLANK.match(text, ends[-1] or span.end, following)
        if space is None or space.end() != following or (match is None and number + 1 < len(spans)):
            return None
    first = spans[0].start if spans else inside.end
    space = _BLANK.match(text, inside.start, first)
    if space is None or space.end() != first:
        return None
    return Items(
        spans=tuple(spans),
        keys=tuple(keys),
        inside=inside,
        bracketed=bracketed,
        ends=tuple(ends),
        separator=separator,
        is_tuple=is_tuple,
    )


def by_kind(name: str) -> object:
    """Sort constants before classes before the rest, and numbers in names by their value, as import sorters do."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, natural(name)


def natural(name: str) -> object:
    """Sort numbers in names by their value."""
    return [(word.isdigit(), int(word) if word.isdigit() else 0, word) for word in _WORDS.findall(name)]


def folded(name: str) -> object:
    """Sort without regard to upper and lower case."""
    return name.casefold(), name


def caseless(name: str) -> object:
    """Sort without regard to upper and lower case, names that differ in nothing else as they come."""
    return name.casefold()


ORDERS: tuple[Order, ...] = (str, by_kind, folded, natural, caseless)
"""Orders in which items may stand; the first that fits counts."""


def place_of(keys: Sequence[str], key: str, orders: Sequence[Order] = ORDERS) -> int:
    """Return the number of the item before which a new one goes by their order; behind them if they have none.

    A single item is in order, so that two will be.
    """
    for order in orders:
        ranks = [order(each) for each in keys]
        if keys and all(not second < first for first, second in pairwise(ranks)):  # type: ignore[operator]
            rank = order(key)
            return next((n for n, each in enumerate(ranks) if rank < each), len(keys))  # type: ignore[operator]
    return len(keys)


def put_in(text: str, items: Items, new: str, at: int, newline: str) -> Splices:
    """Return the splices that put an item in.

    Parameters:
        new: the item's text.
        at: before which item it goes; their number for behind them all.
    """
    lines = Lines(text)
    comma = items.separator
    if not items.spans:
        return [(Span(items.inside.start, items.inside.start), f"{new}," if items.is_tuple else new)]
    if at == 0:
        return _first(items, new, newline, lines)
    before, end = items.spans[at - 1], items.ends[at - 1]
    last = at == len(items.spans)
    own_line = _is_broken(items, lines) or (
        items.bracketed and _would_be_wide(items, new, at, lines) and _ends_line(items, at, lines)
    )
    if own_line:
        return _own_line(items, new, at, newline, lines)
    if not last:
        return [(Span(items.spans[at].start, items.spans[at].start), f"{new}{_tight(comma)}{_gap(text, items)}")]
    if end is not None:  # a comma at the end stays one
        needed = len(items.spans) == 1 and items.is_tuple  # by the one item that was there
        return [(Span(end, end), _gap(text, items) + (new if needed else f"{new}{comma}"))]
    return [(Span(before.end, before.end), f"{_tight(comma)}{_gap(text, items)}{new}")]


def _gap(text: str, items: Items) -> str:
    """Return the white space that stands behind a separator on a line."""
    gaps = [text[end : span.start] for end, span in zip(items.ends, items.spans[1:], strict=False) if end is not None]
    return next((gap for gap in gaps if not gap.strip(" \t")), " ")


def _tight(separator: str) -> str:
    return separator if separator == "," else f" {separator}"


def _first(items: Items, new: str, newline: str, lines: Lines) -> Splices:
    """Put an item before the first."""
    first = items.spans[0]
    comma = _tight(items.separator)
    if not _is_broken(items, lines):
        return [(Span(first.start, first.start), f"{new}{comma}{_gap(lines.text, items)}")]
    if _starts_line(first, lines):
        indent = _indent(first, lines)
        return [(Span(first.start, first.start), f"{new}{comma}{newline}{indent}")]
    return [(Span(first.start, first.start), f"{new}{comma}{newline}{_indent_of(items, lines)}")]


def _own_line(items: Items, new: str, at: int, newline: str, lines: Lines) -> Splices:
    """Put an item on a line of its own behind another."""
    before, end = items.spans[at - 1], items.ends[at - 1]
    indent, comma = _indent_of(items, lines), _tight(items.separator)
    last = at == len(items.spans)
    behind = _REST.match(lines.text, end or before.end)
    place = behind.end() if behind else (end or before.end)
    if lines.text[place : place + 1] not in ("\r", "\n"):  # the closing bracket, or another item
        place = end or before.end
    if end is not None:
        return [(Span(place, place), f"{newline}{indent}{new}{comma}")]
    assert last
    if place == before.end:
        return [(Span(place, place), f"{comma}{newline}{indent}{new}")]
    return [(Span(before.end, before.end), comma), (Span(place, place), f"{newline}{indent}{new}")]


def _breaks_at(text: str, place: int, items: Items) -> bool:
    """Return whether a line ends at a place, or all items do."""
    return place == items.inside.end or text[place : place + 1] in ("\r", "\n")


def take_out(text: str, items: Items, at: int) -> Splices:
    """Return the splices that take an item out."""
    lines, item, end = Lines(text), items.spans[at], items.ends[at]
    line = Span(lines.start(lines.number(item.start)), lines.end(lines.number(item.end - 1)))
    rest = _REST.match(text, end or item.end)
    tail = text[rest.end() if rest else item.end : line.end]
    alone = _starts_line(item, lines) and not tail.strip("\r\n") and line.end <= items.inside.end
    if len(items.spans) == 1:
        others = text[items.inside.start : line.start] + text[line.end : items.inside.end]
        whole = line if others.strip() else items.inside
        return [(whole if alone else Span(item.start, end or item.end), "")]
    if at == len(items.spans) - 1 and end is None:
        return _last_out(text, items, line if alone else None)
    left = [] if len(items.spans) > 2 or not items.is_tuple or items.ends[1 - at] else _comma_behind(items.spans[1])
    if _starts_line(item, lines) and end is not None and end > line.end:
        return [*_detached_out(items, at, end, lines), *left]
    if alone:
        return [(line, ""), *left]
    previous = items.ends[at - 1] if at and not _starts_line(item, lines) else None
    ends_line = not tail.strip("\r\n") or at == len(items.spans) - 1
    if previous is not None and ends_line:  # what stands behind it on the line stays
        return [(Span(previous, end or item.end), ""), *left]
    if at < len(items.spans) - 1:
        return [(Span(item.start, items.spans[at + 1].start), ""), *left]
    return [(Span(items.ends[at - 1] or item.start, end or item.end), "")]


def _detached_out(items: Items, at: int, end: int, lines: Lines) -> Splices:
    """Take out an item whose separator stands on a later line, and ends at `end`."""
    item, last = items.spans[at], at == len(items.spans) - 1
    span = Span(items.ends[at - 1] or item.start, end) if last else Span(item.start, items.spans[at + 1].start)
    if not _has_comment(lines.text, span.start, span.end):
        return [(span, "")]
    return [(_line_of(each, lines), "") for each in (item, Span(end - len(items.separator), end))]


def _line_of(span: Span, lines: Lines) -> Span:
    """Return the whole line of an item that has it to itself, else its own span."""
    line = Span(lines.start(lines.number(span.start)), lines.end(lines.number(span.end - 1)))
    return line if line.cut(lines.text).strip() == span.cut(lines.text) else span


def _comma_behind(span: Span) -> Splices:
    return [(Span(span.end, span.end), ",")]


def _last_out(text: str, items: Items, line: Span | None) -> Splices:
    """Take out the last item, behind which no comma stands; the one before it loses its own, but keeps its comment.

    Parameters:
        line: the item's line, if it has one to itself.
    """
    before, item, behind = items.spans[-2], items.spans[-1], items.ends[-2]
    assert behind is not None
    start = behind - len(items.separator) if _has_comment(text, before.end, behind) else before.end
    place = Span(start, behind) if start == before.end else _line_of(Span(start, behind), Lines(text))
    comma: Splices = [] if items.is_tuple and len(items.spans) == 2 else [(place, "")]
    if line is not None and behind <= line.start:
        return [*comma, (line, "")]
    if _has_comment(text, behind, item.start):
        return [*comma, (Span(_line_end(text, behind), item.end), "")]
    if comma and start > before.end:
        return [(_line_of(Span(start, item.end), Lines(text)), "")]
    return [*comma, (Span(behind, item.end), "")]


def _has_comment(text: str, start: int, end: int) -> bool:
    return "#" in text[start:end]


def _line_end(text: str, position: int) -> int:
    rest = _REST.match(text, position)
    return rest.end() if rest else position


def _is_broken(items: Items, lines: Lines) -> bool:
    """Return whether each item has a line of its own."""
    if not items.bracketed:
        return False
    numbers = [lines.number(span.start) for span in items.spans]
    if len(numbers) > 1:
        return len(set(numbers)) == len(numbers)
    return bool(numbers) and _starts_line(items.spans[0], lines)


def _starts_line(span: Span, lines: Lines) -> bool:
    return not lines.text[lines.start(lines.number(span.start)) : span.start].strip(" \t\f")


def _ends_line(items: Items, at: int, lines: Lines) -> bool:
    """Return whether a line ends behind the item before `at`."""
    end = items.ends[at - 1] or items.spans[at - 1].end
    return _breaks_at(lines.text, _line_end(lines.text, end), items)


def _would_be_wide(items: Items, new: str, at: int, lines: Lines) -> bool:
    """Return whether the line would be longer with an item than any line is that the others stand on."""
    line = lines.number(items.spans[at - 1].start)
    widths = [len(lines.cut(lines.number(span.start)).rstrip("\r\n")) for span in items.spans]
    return len(lines.cut(line).rstrip("\r\n")) + len(new) + 2 > max(*widths, _WIDE)


def _indent(span: Span, lines: Lines) -> str:
    match = _INDENT.match(lines.text, lines.start(lines.number(span.start)))
    return match[0] if match else ""


def _indent_of(items: Items, lines: Lines) -> str:
    """Return the indentation of the lines of items."""
    for span in items.spans[::-1]:
        if _starts_line(span, lines):
            return _indent(span, lines)
    first = items.spans[0]
    return " " * (first.start - lines.start(lines.number(first.start)))
