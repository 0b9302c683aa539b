"""Replace a piece of text that occurs exactly once in a span, or in a whole text that need be no Python."""

from __future__ import annotations

from bae_source.errors import LookupFailed, RequestError
from bae_source.model.span import Span
from bae_source.syntax.source import NEWLINE, with_newlines
from bae_source.syntax.splice import newline_at
from bae_source.syntax.tree import Tree

_SHOWN = 3


def replace_text(tree: Tree, span: Span, old: str, new: str, *, name: str) -> tuple[Span, str] | None:
    """Return the splice that puts `new` in the place of `old`; None where they are equal.

    Where `old` does not occur with its own line ends, those of both are taken as the file's. Nothing else is bent: no
    white space is ignored.

    Parameters:
        name: what the span is, for errors.

    Raises:
        RequestError: `invalid_arguments` if `old` is empty.
        LookupFailed: `symbol_not_found` with the nearest lines, or `ambiguous_symbol` with the lines it occurs on.
    """
    newline = newline_at(tree.source, span)
    splice = place_text(span.cut(tree.text), old, new, newline=newline, name=name)
    if splice is None:
        return None
    found, text = splice
    return Span(span.start + found.start, span.start + found.end), text


def place_text(text: str, old: str, new: str, *, newline: str, name: str) -> tuple[Span, str] | None:
    """Return the splice on `text` that puts `new` in the place of `old`; None where they are equal.

    Parameters:
        newline: the line end that both take where `old` does not occur with its own.
        name: what the text is, for errors.

    Raises:
        RequestError, LookupFailed: as `replace_text`.
    """
    if not old:
        raise RequestError("invalid_arguments", "old is empty.", hints=["Give the text that is to be replaced."])
    if old not in text:
        old, new = with_newlines(old, newline), with_newlines(new, newline)
    places = _places(text, old)
    if not places:
        raise _absent(text, old, name)
    if len(places) > 1:
        lines = ", ".join(str(len(NEWLINE.findall(text[:place])) + 1) for place in places[:10])
        raise LookupFailed(
            "ambiguous_symbol",
            f"old occurs {len(places)} times in {name}, on its lines {lines}.",
            hints=["Give more of the text around it, so that it occurs once."],
        )
    return (Span(places[0], places[0] + len(old)), new) if new != old else None


def _places(text: str, old: str) -> list[int]:
    places, position = [], text.find(old)
    while position >= 0:
        places.append(position)
        position = text.find(old, position + 1)
    return places


def _absent(text: str, old: str, name: str) -> LookupFailed:
    from difflib import get_close_matches  # 10 ms, only for errors

    lines = NEWLINE.split(text)
    first = next((line for line in NEWLINE.split(old) if line.strip()), old)
    near = get_close_matches(first, lines, n=_SHOWN, cutoff=0.5)
    stripped = [line for line in lines if line.strip() and line.strip() == first.strip()]
    shown = list(dict.fromkeys([*stripped, *near]))[:_SHOWN]
    hints = [f"line {lines.index(line) + 1} of it is {line!r}" for line in shown]
    return LookupFailed(
        "symbol_not_found",
        f"old does not occur in {name}.",
        hints=[*hints, "Give the text exactly as read shows it."] if hints else [f"Read {name} and copy the text."],
    )
