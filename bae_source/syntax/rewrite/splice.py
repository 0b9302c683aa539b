"""Fit new text into its place: indentation, line ends and the last newline as they are there.

Every function returns splices on the text of the file, never a new file: what lies outside them cannot change.
"""

from __future__ import annotations

from collections.abc import Mapping

from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE, Outline
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.given import Given
from bae_source.syntax.rewrite.reindent import Shift, reindent
from bae_source.syntax.text.byte_edits import splice
from bae_source.syntax.text.source import NEWLINE, Source, dominant_newline

Splices = list[tuple[Span, str]]


def dedented(tree: Tree, span: Span, indent: str) -> str:
    """Return the lines of `span` with `indent` taken off, strings untouched."""
    return moved(tree, span, Shift(old=indent, new=""))


def moved(tree: Tree, span: Span, shift: Shift, kept: Mapping[int, str] | None = None) -> str:
    """Return the lines of `span` at another indentation."""
    splices = reindent(tree.text, span, tree.outline, shift, kept)
    return splice(span.cut(tree.text), [(Span(s.start - span.start, s.end - span.start), new) for s, new in splices])


def fitted(given: Given, span: Span, *, indent: str, unit: str, kept: Mapping[int, str] | None = None) -> str:
    """Return a span of the given source as it shall stand: indented by `indent`, its suites by `unit`.

    Parameters:
        kept: docstrings of the given source that stand as they are, by offset.
    """
    shift = Shift(old=given.indent, new=indent, old_unit=given.unit, new_unit=unit if given.unit else None)
    return moved(given.tree, span, shift, kept)


def newline_at(source: Source, span: Span) -> str:
    """Return the line end in use at `span`: the one that it uses most, else the file's."""
    return dominant_newline(span.cut(source.text)) or source.newline


def ended_like(text: str, replaced: str, newline: str) -> str:
    """Return `text` with a newline at its end just if `replaced` has one."""
    bare = text.rstrip(" \t\f\r\n") if not text.strip() else _without_last_newlines(text)
    if not replaced or replaced.endswith(("\n", "\r")):
        last = text[len(bare) :]
        return bare + (NEWLINE.match(last)[0] if NEWLINE.match(last) else newline)  # type: ignore[index]
    return bare


def qualnames_of_docstrings(outline: Outline, roots: tuple[int, ...]) -> dict[tuple[int, tuple[str, ...]], Span]:
    """Return the docstrings of some classes and functions and of all inside them.

    The key is which of `roots` it is (from 0), and the path of names from there.
    """
    result: dict[tuple[int, tuple[str, ...]], Span] = {}
    order = {index: number for number, index in enumerate(roots)}
    for index, definition in enumerate(outline.definitions):
        if definition.docstring is None or definition.body is None:
            continue
        path: list[str] = []
        up = index
        while up != MODULE and up not in order:
            path.append(outline.definitions[up].names[0])
            up = outline.definitions[up].parent
        if up != MODULE:
            result.setdefault((order[up], tuple(path)), definition.docstring)
    return result


def kept_docstrings(
    present: Tree, present_members: tuple[int, ...], given: Given, given_members: tuple[int, ...]
) -> dict[int, str]:
    """Return the docstrings of the given source that are the present ones, so that the present bytes stay.

    A given docstring is the present one if it equals it as it stands, or as reading it dedented shows it.

    Returns:
        The present literals, by the offset of the given ones.
    """
    # In the file:                  Read dedented, and given back:
    #     def f(self):              def f(self):
    #         """Send.                  """Send.
    #
    #         Twice."""                 Twice."""
    # The literals differ; once the present one is dedented with its member they are equal, so its bytes stay.
    given_docstrings = qualnames_of_docstrings(given.outline, given_members)
    dedents: dict[int, Splices] = {}
    result: dict[int, str] = {}
    for (root, path), span in qualnames_of_docstrings(present.outline, present_members).items():
        other = given_docstrings.get((root, path))
        stands = span.cut(present.text)
        if other is None or len(NEWLINE.findall(stands)) == 0:
            continue
        shown = _plain(other.cut(given.text))
        if shown != _plain(stands):
            member = present.outline.definitions[present_members[root]]
            if root not in dedents:
                dedents[root] = reindent(present.text, member.span, present.outline, Shift(old=member.indent, new=""))
            if shown != _plain(_spliced_inside(span, present.text, dedents[root])):
                continue
        result[other.start] = stands
    return result


def _spliced_inside(piece: Span, text: str, splices: Splices) -> str:
    """Return `piece` of the text with the splices inside it applied."""
    inside = [(Span(s.start - piece.start, s.end - piece.start), new) for s, new in splices if piece.contains(s)]
    return splice(piece.cut(text), inside)


def _plain(text: str) -> str:
    return NEWLINE.sub("\n", text)


def _without_last_newlines(text: str) -> str:
    end = len(text)
    while end and text[end - 1] in "\r\n":
        end -= 1
    return text[:end]
