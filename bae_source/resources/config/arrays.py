"""Items put into arrays and taken out of them, and pairs of inline tables, in the layout that is there.

    ["a"]  +  "b"       ["a", "b"]              [                        [
                                                    "a",  # first            "a",  # first
                                                ]         +  "b"             "b",
                                                                         ]

Invariant: to take out what was put in last gives every byte back.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence

from bae_source.model.span import Span
from bae_source.resources.config.entries import Entry, Scope, newline_at

Splices = list[tuple[Span, str]]
"""Disjoint spans of a text, and what stands there afterwards."""

_REST = re.compile(r"[ \t]*+,?[ \t]*+(?:#[^\n]*+)?\r?\n")
_COMMA = re.compile(r"(?>(?:[ \t\r\n]++|#[^\n]*+)*),")
_SPACES = re.compile(r"[ \t]*+")


def with_item(text: str, array: Scope, item: str) -> Splices:
    """Return the splices that put an item at an array's end.

    Parameters:
        item: as TOML writes it.
    """
    if not array.entries:
        return _first(text, array.span, item)
    last = array.entries[-1].span
    comma = _comma(text, last.end)
    if _is_alone(text, last):
        lead = text[_line_start(text, last.start) : last.start]
        behind = _REST.match(text, last.end).end()  # type: ignore[union-attr]
        line = (Span(behind, behind), f"{lead}{item}{',' if comma else ''}{newline_at(text, behind)}")
        return [line] if comma else [(Span(last.end, last.end), ","), line]
    if comma:
        return [(Span(comma, comma), f" {item},")]
    between = text[array.entries[-2].span.end : last.start] if len(array.entries) > 1 else ", "
    return [(Span(last.end, last.end), f"{', ' if '#' in between else between}{item}")]


def with_pair(text: str, table: Scope, pair: str, behind: Entry | None) -> Splices:
    """Return the splices that put a pair into an inline table.

    Parameters:
        pair: key and value.
        behind: the pair that it follows.
    """
    if behind is None:
        return _first(text, table.span, pair)
    return [(Span(behind.span.end, behind.span.end), f", {pair}")]


def without(text: str, scope: Scope, gone: Sequence[Entry]) -> Splices:
    """Return the splices that take items out of an array, or pairs out of an inline table."""
    starts = {each.span.start for each in gone}
    kept = [each.span for each in scope.entries if each.span.start not in starts]
    spans: list[Span] = []
    for each in gone:
        number = bisect(kept, each.span)
        before, after = kept[max(0, number - 1) : number], kept[number : number + 1]
        spans += _without(text, scope.span, each.span, before, after)
    return [(each, "") for each in _disjoint(spans)]


def _disjoint(spans: Sequence[Span]) -> list[Span]:
    """Return spans in order, those that overlap as one."""
    found: list[Span] = []
    for each in sorted(spans):
        if found and each.start < found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, each.end))
        else:
            found.append(each)
    return found


def _without(text: str, outer: Span, item: Span, before: list[Span], after: list[Span]) -> list[Span]:
    comma = _comma(text, item.end)
    if _is_alone(text, item):
        lines = Span(_line_start(text, item.start), _REST.match(text, item.end).end())  # type: ignore[union-attr]
        last = _comma(text, before[0].end) if before and not comma else None
        return [lines, *([Span(last - 1, last)] if last else [])]
    if before and comma and not after and (start := _comma(text, before[0].end)):
        return [Span(start, comma)]
    if before and "#" not in text[before[0].end : item.start]:
        return [Span(before[0].end, item.end)]
    if after and "#" not in text[item.end : after[0].start]:
        return [Span(item.start, after[0].start)]
    end = comma or item.end
    if not before and not after and text[outer.start + 1 : item.start].strip(" \t") == "":
        spaces = _SPACES.match(text, end).end()  # type: ignore[union-attr]
        end = spaces if item.start > outer.start + 1 and spaces == outer.end - 1 else end
    if comma and "#" in text[item.end : comma]:
        return [item, Span(comma - 1, comma)]
    return [Span(item.start, end)]


def _first(text: str, outer: Span, item: str) -> Splices:
    """Put the first item between brackets: `[]`, `[ ]`, or with a line for the closing one."""
    close = outer.end - 1
    if "\n" not in outer.cut(text):
        space = text[outer.start + 1 : close]
        return [(Span(close, close), f"{item}{space}")]
    start = _line_start(text, close)
    lead = text[start:close]
    indent = lead if not lead.strip(" \t") else ""
    return [(Span(start, start), f"{indent}    {item},{newline_at(text, start)}")]


def _is_alone(text: str, item: Span) -> bool:
    """Return whether nothing but a comma and a comment stands on the lines of an item."""
    rest = _REST.match(text, item.end)
    if rest is None or text[_line_start(text, item.start) : item.start].strip(" \t"):
        return False
    return (_comma(text, item.end) or 0) <= rest.end()


def _comma(text: str, end: int) -> int | None:
    """Return the end of the comma behind an item."""
    found = _COMMA.match(text, end)
    return found.end() if found else None


def _line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1
