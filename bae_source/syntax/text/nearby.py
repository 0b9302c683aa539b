"""A piece of text in a longer one where it does not stand to the letter: by white space alone, or as the nearest lines.

    text                       piece                fits                     new, as it is put there
        if x:                  if x:                four columns further     if x:      ->      if x:
            go()               ....go()             in                       ....run()          ........run()

Nothing is ignored but white space at line ends, and an indentation that differs by the same on every line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bae_source.model.closest import closest
from bae_source.model.span import Span
from bae_source.syntax.text.source import NEWLINE

_SPACE = " \t\f"
_MOST_LINES = 20_000
"""Lines of a text in which near ones are searched for."""


class Fit(Struct, frozen=True, kw_only=True):
    """A place where a piece of text stands but for white space.

    Parameters:
        span: of what stands there.
        new: what shall stand there instead, indented as that is.
        first, last: its lines, from 1.
        indented: whether the indentation differs; else white space at line ends does.
    """

    span: Span
    new: str
    first: int
    last: int
    indented: bool


def fits(text: str, old: str, new: str) -> list[Fit]:
    """Return the places where `old` stands but for white space at line ends, or where it is indented otherwise.

    Parameters:
        new: what shall stand there instead.
    """
    lines = _lines(text)
    return [*_ends_differ(text, lines, old, new)] or [*_indented_otherwise(text, lines, old, new)]


def nearest(text: str, old: str) -> tuple[int, int] | None:
    """Return the lines of a text, the first and the last from 1, that are most like another text; None if none is."""
    lines = [text[start:end] for start, end in _lines(text)]
    wanted = [old[start:end] for start, end in _lines(old)]
    places: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        places.setdefault(line.strip(), []).append(number)
    votes = Counter(
        number - offset
        for offset, line in enumerate(wanted)
        if line.strip() and len(places.get(line.strip(), ())) <= _COMMON
        for number in places.get(line.strip(), ())
    )
    if votes:
        start = min(votes, key=lambda each: (-votes[each], each))
    else:
        first = next((number for number, line in enumerate(wanted) if line.strip()), None)
        found = None if first is None or len(lines) > _MOST_LINES else _alike(lines, wanted[first])
        if first is None or found is None:
            return None
        start = found - first
    return max(start, 0) + 1, min(start + len(wanted), len(lines))


_COMMON = 50
"""Places of a line from which on it says nothing of where the others are."""


def _alike(lines: Sequence[str], line: str) -> int | None:
    close = closest(line, lines, n=1, cutoff=0.5)
    return lines.index(close[0]) if close else None


def _lines(text: str) -> list[tuple[int, int]]:
    """Return where each line begins and ends, without its line end; none behind a line end that ends the text."""
    found, start = [], 0
    for match in NEWLINE.finditer(text):
        found.append((start, match.start()))
        start = match.end()
    if start < len(text):
        found.append((start, len(text)))
    return found


def _ends_differ(text: str, lines: Sequence[tuple[int, int]], old: str, new: str) -> Iterator[Fit]:
    """Yield the places where lines end otherwise: `old` may begin and end in the middle of a line."""
    wanted = [old[start:end] for start, end in _lines(old)]
    if not any(line.strip() for line in wanted):
        return
    bare = [re.escape(line.rstrip(_SPACE)) for line in wanted]
    end = rf"(?=[{_SPACE}]*(?:[\r\n]|\Z))" if wanted[-1] != wanted[-1].rstrip(_SPACE) else ""
    pattern = rf"[{_SPACE}]*(?:\r\n|\n|\r)".join(bare) + end
    for match in re.finditer(pattern, text):
        first, last = _numbers(lines, match.start(), match.end())
        yield Fit(span=Span(match.start(), match.end()), new=_cut(old, new), first=first, last=last, indented=False)


def _indented_otherwise(text: str, lines: Sequence[tuple[int, int]], old: str, new: str) -> Iterator[Fit]:
    """Yield the places of whole lines that are `old` with another indentation, the same for all of them."""
    wanted = [old[start:end].rstrip(_SPACE) for start, end in _lines(old)]
    while wanted and not wanted[-1]:
        wanted.pop()
    indent = _common(wanted)
    if not wanted or not wanted[0]:
        return
    rest, count = [line[len(indent) :] for line in wanted], len(wanted)
    for number in range(len(lines) - count + 1):
        start, end = lines[number]
        if text[start:end].strip() != wanted[0].strip():
            continue
        window = [text[begin:stop].rstrip(_SPACE) for begin, stop in lines[number : number + count]]
        there = _common(window)
        moved = _moved(_cut(old, new), indent, there)
        if there != indent and moved is not None and [line[len(there) :] for line in window] == rest:
            span = Span(start, lines[number + count - 1][0] + len(window[-1]))
            yield Fit(span=span, new=moved, first=number + 1, last=number + count, indented=True)


def _cut(old: str, new: str) -> str:
    """Return new text without the line end that it has because the old one has it, too."""
    ended = re.search(r"(?:\r\n|\n|\r)\Z", new)
    return new[: ended.start()] if ended and re.search(r"[\r\n]\Z", old) else new


def _common(lines: Sequence[str]) -> str:
    """Return the white space that all lines begin with but blank ones."""
    indents = [line[: len(line) - len(line.lstrip(_SPACE))] for line in lines if line]
    if not indents:
        return ""
    least, most = min(indents), max(indents)
    size = next((n for n, pair in enumerate(zip(least, most, strict=False)) if pair[0] != pair[1]), len(least))
    return least[: min(size, len(most))]


def _moved(text: str, indent: str, there: str) -> str | None:
    """Return lines with another indentation; None where one of them has less than what is to be taken off."""
    pieces = re.split(r"(\r\n|\n|\r)", text)
    if any(line.strip(_SPACE) and not line.startswith(indent) for line in pieces[::2]):
        return None
    pieces[::2] = [there + line[len(indent) :] if line.strip(_SPACE) else line for line in pieces[::2]]
    return "".join(pieces)


def _numbers(lines: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """Return the numbers of the lines that a span begins and ends in, from 1."""
    first = max(number for number, (begin, _) in enumerate(lines, 1) if begin <= start)
    last = max(number for number, (begin, _) in enumerate(lines, 1) if begin < max(end, start + 1))
    return first, last
