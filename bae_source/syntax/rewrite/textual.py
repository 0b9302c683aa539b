"""Replace pieces of text in a span, or in any text: what occurs there once, or the places that are named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from msgspec import Struct, structs

from bae_source.errors import LookupFailed, RequestError, SourceError
from bae_source.model.closest import closest
from bae_source.model.outcome import Notice
from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE, Definition
from bae_source.syntax.outline.locate import owned_comment
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.given import WRAPPER, understand
from bae_source.syntax.rewrite.pasted import why_absent
from bae_source.syntax.rewrite.splice import fitted, newline_at
from bae_source.syntax.text.nearby import fits, nearest
from bae_source.syntax.text.source import NEWLINE, kept_uniform, newline_kinds, with_newlines

_SHOWN = 3
_MOST_LINES = 10
_MOST_SHOWN = 60
_MOST_COMPARED = 5_000
_LAST_NEWLINE = re.compile(r"(?:\r\n|\n|\r)\Z")


class Piece(Struct, frozen=True, kw_only=True):
    """A piece of text to replace.

    Parameters:
        old: what stands there; exactly once, unless the others say which of its places are meant.
        new: what shall stand there.
        every: whether all places are meant.
        nth: which of its places is meant, from 1.
    """

    old: str
    new: str
    every: bool = False
    nth: int | None = None


def pieces_of(
    old: str | tuple[str, ...] | None,
    new: str | tuple[str, ...] | None,
    *,
    verb: str,
    every: bool = False,
    nth: int | None = None,
) -> tuple[Piece, ...]:
    """Return the pieces that texts in pairs stand for; none where there is no text.

    Raises:
        RequestError: `invalid_arguments` unless each old one has a new one.
    """
    olds, news = ((each,) if isinstance(each, str) else each or () for each in (old, new))
    if len(olds) != len(news) or (old is not None and not olds):
        raise RequestError(
            "invalid_arguments",
            f"{verb} takes a new for each old; there are {len(olds)} of old and {len(news)} of new.",
            hints=["Give old and new in pairs, in the same order."],
        )
    return tuple(Piece(old=one, new=other, every=every, nth=nth) for one, other in zip(olds, news, strict=True))


class Replaced(Struct, frozen=True):
    """Splices that replace pieces of text, in order; none where the new ones stand there already.

    Parameters:
        notices: remarks about them.
    """

    splices: tuple[tuple[Span, str], ...] = ()
    notices: tuple[Notice, ...] = ()


def replace_texts(tree: Tree, span: Span, pieces: Sequence[Piece], *, name: str) -> Replaced:
    """Return the splices that put new pieces of text in the place of old ones.

    One line end at the end of either counts for nothing: shells put it there. Both take the line ends of a file that
    has only one kind; in others, those of the text around `old` where it has none or does not occur with its own.
    Where `old` does not occur, white space at line ends, or an indentation that differs by the same on every line, is
    overlooked if exactly one place differs by that alone.

    Parameters:
        name: what the span is, for errors.

    Raises:
        RequestError: `invalid_arguments` if a piece is empty, or two of them overlap.
        LookupFailed: `symbol_not_found` with the nearest lines, or `ambiguous_symbol` with the lines it occurs on.
    """
    uniform = [
        structs.replace(each, old=kept_uniform(each.old, tree.text), new=kept_uniform(each.new, tree.text))
        for each in pieces
    ]
    found = place_texts(span.cut(tree.text), uniform, newline=newline_at(tree.source, span), name=name)
    moved = tuple((Span(span.start + place.start, span.start + place.end), text) for place, text in found.splices)
    return Replaced(moved, found.notices)


def place_texts(text: str, pieces: Sequence[Piece], *, newline: str, name: str) -> Replaced:
    """Return the splices on `text` that put new pieces of text in the place of old ones.

    Parameters:
        newline: the line end that both take, where the text has several kinds and `old` does not occur with its own.
        name: what the text is, for errors.

    Raises:
        RequestError, LookupFailed: as `replace_texts`.
    """
    found = [_placed(text, piece, newline=newline, name=name) for piece in pieces]
    splices = sorted((splice for each in found for splice in each.splices), key=lambda splice: splice[0].start)
    for (first, _), (second, _) in pairwise(splices):
        if second.start < first.end:
            line = len(NEWLINE.findall(text[: second.start])) + 1
            raise RequestError(
                "invalid_arguments",
                f"Two pieces of old overlap in {name}, on its line {line}.",
                hints=["Give what they share once, in one piece."],
            )
    return Replaced(tuple(splices), tuple(notice for each in found for notice in each.notices))


def _placed(text: str, piece: Piece, *, newline: str, name: str) -> Replaced:
    """Return the splices of one piece."""
    old, new = piece.old, piece.new
    if not old:
        raise RequestError("invalid_arguments", "old is empty.", hints=["Give the text that is to be replaced."])
    old, new = kept_uniform(old, text), kept_uniform(new, text)
    if old not in text or not newline_kinds(old):
        old, new = with_newlines(old, newline), with_newlines(new, newline)
    given, places = (old, new), _places(text, old)
    bare = _LAST_NEWLINE.sub("", old)
    if bare and not places:
        places, old = _places(text, bare), bare
    if bare and new:
        old, new = bare, _LAST_NEWLINE.sub("", new)
    if places and all(stands(text, place, old, new) for place in places):
        return Replaced()
    if not places:
        return _fitted(text, *given, name)
    if piece.nth is not None and piece.nth > len(places):
        times = "once" if len(places) == 1 else f"{len(places)} times"
        raise LookupFailed(
            "symbol_not_found",
            f"old occurs {times} in {name}, on {_on_lines(text, places)}; there is no number {piece.nth}.",
            hints=["nth counts from 1, in the order of the text."],
        )
    if piece.nth is not None:
        places = places[piece.nth - 1 : piece.nth]
    elif piece.every:
        places = [place for place in _apart(places, len(old)) if not stands(text, place, old, new)]
    elif len(places) > 1:
        raise LookupFailed(
            "ambiguous_symbol",
            f"old occurs {len(places)} times in {name}, on {_on_lines(text, places)}.",
            hints=["Give more of the text around it, or say which: nth, counted from 1, or every for all of them."],
        )
    return Replaced(tuple((Span(place, place + len(old)), new) for place in places))


def _fitted(text: str, old: str, new: str, name: str) -> Replaced:
    """Return the splice for a text that stands at exactly one place but for white space.

    Raises:
        LookupFailed: `symbol_not_found`, with the nearest lines.
    """
    found = fits(text, old, new)
    if len(found) != 1:
        raise _absent(text, old, name, [fit.first for fit in found])
    [fit] = found
    where = f"line {fit.first}" if fit.first == fit.last else f"lines {fit.first} to {fit.last}"
    what = "its indentation, and new was indented as it is" if fit.indented else "white space at line ends"
    notice = Notice("old_fitted", f"old differs from {where} of {name} by {what}; it was replaced there.")
    if fit.new == fit.span.cut(text):
        return Replaced()
    return Replaced(((fit.span, fit.new),), (notice,))


def _on_lines(text: str, places: Sequence[int]) -> str:
    lines = ", ".join(str(len(NEWLINE.findall(text[:place])) + 1) for place in places[:_MOST_LINES])
    return f"its line {lines}" if len(places) == 1 else f"its lines {lines}{', …' if len(places) > _MOST_LINES else ''}"


def _apart(places: Sequence[int], size: int) -> list[int]:
    """Return the places that do not overlap, from the first on."""
    found: list[int] = []
    for place in places:
        if not found or place >= found[-1] + size:
            found.append(place)
    return found


def stands(text: str, place: int, old: str, new: str) -> bool:
    """Return whether a text has `new` already where it has `old`, which `new` holds: it was put there before, say."""
    at = new.find(old)
    while at >= 0:
        if at <= place and text.startswith(new, place - at):
            return True
        at = new.find(old, at + 1)
    return False


def is_indented_twice(tree: Tree, span: Span, new: str) -> bool:
    """Return whether new text of several lines brings the white space that stands before the text it replaces."""
    lines = tree.source.lines
    before = tree.text[lines.start(lines.number(span.start)) : span.start]
    return bool(before) and not before.strip() and new[:1] in (" ", "\t") and bool(NEWLINE.search(new))


def fitted_to_line(tree: Tree, span: Span, new: str, unit: str) -> str | None:
    """Return statements of several lines as they stand where they begin at a span, indented as its line is.

        return y         old: return y     new: z = y         ->      z = y
                                                print(z)              print(z)

    Parameters:
        unit: by what suites are indented there.

    Returns:
        None where they are no whole statements, or the span begins behind a line.
    """
    lines = tree.source.lines
    number = lines.number(span.start)
    indent, before = lines.indentation(number), tree.text[lines.start(number) : span.start]
    if NEWLINE.match(tree.text, span.start) or not NEWLINE.search(new):
        return None
    try:
        given = understand(new, unit=unit, target_indent=indent, lift_imports=False)
    except (SourceError, RequestError):
        return None
    text = fitted(given, Span(len(WRAPPER) if given.indent else 0, len(given.text)), indent=indent, unit=unit)
    return text[len(before) :] if not before.strip() and text.startswith(before) else text.lstrip(" \t\f")


def left_suite(tree: Tree, members: Sequence[int], written: Span) -> Definition | None:
    """Return the class or function of a written span that stands in a suite around that of some definitions."""
    definitions = tree.outline.definitions
    end, suite = definitions[members[-1]].span.end, definitions[members[0]].suite
    found = (each for each in definitions if written.start <= each.keyword < written.end and each.keyword >= end)
    return next((each for each in found if each.body is not None and each.suite < suite), None)


def outside(tree: Tree, members: Sequence[int], written: Span) -> str:
    """Return what of a written span is in none of some definitions, nor in others that it brought beside them."""
    definitions, around, suite = tree.outline.definitions, set(), tree.outline.definitions[members[0]].suite
    up = members[0]
    while (up := definitions[up].parent) != MODULE:
        around.add(up)
    position, left = written.start, []
    for index, each in enumerate(definitions):
        if index in around or each.span.end <= position or each.span.start >= written.end or each.suite < suite:
            continue
        comment = None if index in members else owned_comment(tree, index)
        left.append(tree.text[position : comment.start if comment else each.span.start])
        position = max(position, each.span.end)
    return "".join([*left, tree.text[position : written.end]]).strip(" \t\f\r\n;\\")


def _places(text: str, old: str) -> list[int]:
    places, position = [], text.find(old)
    while position >= 0:
        places.append(position)
        position = text.find(old, position + 1)
    return places


def _absent(text: str, old: str, name: str, fitting: Sequence[int]) -> LookupFailed:
    """Return the error of a text that does not occur: with what is nearest to it.

    Parameters:
        fitting: the lines where it stands but for white space.
    """
    if pasted := why_absent(old, text):
        reason, hint = pasted
        return LookupFailed("symbol_not_found", f"old does not occur in {name}: {reason}.", hints=[hint])
    if fitting:
        lines = ", ".join(map(str, fitting[:_MOST_LINES]))
        reason = f"but for white space it stands {len(fitting)} times, on its lines {lines}"
        hint = "Give the text exactly as read shows it, with more of what stands around it."
        return LookupFailed("symbol_not_found", f"old does not occur in {name}: {reason}.", hints=[hint])
    if not NEWLINE.search(_LAST_NEWLINE.sub("", old)):
        return _absent_line(text, old, name)
    found = nearest(text, old)
    if found is None:
        return LookupFailed(
            "symbol_not_found", f"old does not occur in {name}.", hints=[f"Read {name} and copy the text."]
        )
    first, last = found
    shown = NEWLINE.split(text)[first - 1 : min(last, first - 1 + _MOST_SHOWN)]
    more = f" (the first {_MOST_SHOWN} of them)" if last - first >= _MOST_SHOWN else ""
    return LookupFailed(
        "symbol_not_found",
        f"old does not occur in {name}.",
        hints=[f"The nearest are its lines {first} to {last}, below{more}. Give old as it stands there."],
        details={"preview": "\n".join([*shown, ""])},
    )


def _holding_most(lines: Sequence[str], text: str) -> list[str]:
    """Return the line that holds most of a text in one piece, if that is half of it or more."""
    matcher = SequenceMatcher(b=text, autojunk=False)
    best = (len(text) // 2, "")
    for line in lines[:_MOST_COMPARED]:
        if line.strip():
            matcher.set_seq1(line)
            best = max(best, (matcher.find_longest_match().size, line), key=lambda each: each[0])
    return [best[1]] if best[1] else []


def _absent_line(text: str, old: str, name: str) -> LookupFailed:
    lines = NEWLINE.split(text)
    first = next((line for line in NEWLINE.split(old) if line.strip()), old)
    near = closest(first, lines, n=_SHOWN, cutoff=0.5) or _holding_most(lines, first)
    stripped = [line for line in lines if line.strip() and line.strip() == first.strip()]
    shown = list(dict.fromkeys([*stripped, *near]))[:_SHOWN]
    hints = [f"line {lines.index(line) + 1} of it is {line!r}" for line in shown]
    return LookupFailed(
        "symbol_not_found",
        f"old does not occur in {name}.",
        hints=[*hints, "Give the text exactly as read shows it."] if hints else [f"Read {name} and copy the text."],
    )
