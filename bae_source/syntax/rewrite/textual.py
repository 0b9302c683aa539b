"""Replace a piece of text that occurs exactly once in a span, or in a whole text that need be no Python."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bae_source.errors import LookupFailed, RequestError, SourceError
from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE, Definition
from bae_source.syntax.outline.locate import owned_comment
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.given import WRAPPER, understand
from bae_source.syntax.rewrite.splice import fitted, newline_at
from bae_source.syntax.text.source import NEWLINE, kept_uniform, newline_kinds, with_newlines

_SHOWN = 3
_LAST_NEWLINE = re.compile(r"(?:\r\n|\n|\r)\Z")


def replace_text(tree: Tree, span: Span, old: str, new: str, *, name: str) -> tuple[Span, str] | None:
    """Return the splice that puts `new` in the place of `old`; None where `new` stands there already.

    One line end at the end of either counts for nothing: shells put it there. Both take the line ends of a file that
    has only one kind; in others, those of the text around `old` where it has none or does not occur with its own.
    Nothing else is bent: no white space is ignored.

    Parameters:
        name: what the span is, for errors.

    Raises:
        RequestError: `invalid_arguments` if `old` is empty.
        LookupFailed: `symbol_not_found` with the nearest lines, or `ambiguous_symbol` with the lines it occurs on.
    """
    old, new = kept_uniform(old, tree.text), kept_uniform(new, tree.text)
    splice = place_text(span.cut(tree.text), old, new, newline=newline_at(tree.source, span), name=name)
    if splice is None:
        return None
    found, text = splice
    return Span(span.start + found.start, span.start + found.end), text


def place_text(text: str, old: str, new: str, *, newline: str, name: str) -> tuple[Span, str] | None:
    """Return the splice on `text` that puts `new` in the place of `old`; None where `new` stands there already.

    Parameters:
        newline: the line end that both take, where the text has several kinds and `old` does not occur with its own.
        name: what the text is, for errors.

    Raises:
        RequestError, LookupFailed: as `replace_text`.
    """
    if not old:
        raise RequestError("invalid_arguments", "old is empty.", hints=["Give the text that is to be replaced."])
    old, new = kept_uniform(old, text), kept_uniform(new, text)
    if old not in text or not newline_kinds(old):
        old, new = with_newlines(old, newline), with_newlines(new, newline)
    places = _places(text, old)
    bare = _LAST_NEWLINE.sub("", old)
    if bare and not places:
        places, old = _places(text, bare), bare
    if bare and new:
        old, new = bare, _LAST_NEWLINE.sub("", new)
    if places and all(stands(text, place, old, new) for place in places):
        return None
    if not places:
        raise _absent(text, old, name)
    if len(places) > 1:
        lines = ", ".join(str(len(NEWLINE.findall(text[:place])) + 1) for place in places[:10])
        raise LookupFailed(
            "ambiguous_symbol",
            f"old occurs {len(places)} times in {name}, on its lines {lines}.",
            hints=["Give more of the text around it, so that it occurs once."],
        )
    return Span(places[0], places[0] + len(old)), new


def stands(text: str, place: int, old: str, new: str) -> bool:
    """Say whether a text has `new` already where it has `old`, which `new` holds: it was put there before, say."""
    at = new.find(old)
    while at >= 0:
        if at <= place and text.startswith(new, place - at):
            return True
        at = new.find(old, at + 1)
    return False


def is_indented_twice(tree: Tree, span: Span, new: str) -> bool:
    """Say whether new text of several lines brings the white space that stands before the text it replaces."""
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


def _absent(text: str, old: str, name: str) -> LookupFailed:
    from difflib import get_close_matches  # 10 ms, only for errors

    from bae_source.syntax.rewrite.pasted import why_absent

    if pasted := why_absent(old, text):
        reason, hint = pasted
        return LookupFailed("symbol_not_found", f"old does not occur in {name}: {reason}.", hints=[hint])
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
