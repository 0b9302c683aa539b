"""A module cut into pieces by its definitions, and the pieces that differ between two states of it.

    LIMIT = 1                  the piece of LIMIT
    # Retries of a send.       part of the piece of `send`, since it stands directly above
    def send(x):               the piece of `send`, but for `inner`
        def inner(): ...       the piece of `send.inner`
        return inner()
    print(LIMIT)               the piece of the module itself, whose name is ""

Each character belongs to the piece of the innermost definition around it. What a definition has inside of it stands in
its own piece by name, so that one that moves to another place is a change of what is around it, while one that comes or
goes is not.

Invariant: two modules whose pieces are all alike differ in blank lines at most, which the caller has to see to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE, Definition, Outline
from bae_source.syntax.outline.locate import comments_above, segments_of
from bae_source.syntax.outline.tree import Tree

_BLANK_LINES = re.compile(r"(?:[ \t\f]*(?:\r\n|\n|\r))*")
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_SPACES = re.compile(r"(?<![ \t])[ \t]++(?=[\r\n]|\Z)")
_LINE_ENDS = re.compile(r"(?:\r\n|\n|\r)(?:[ \t\f]*(?:\r\n|\n|\r))*")


class Inner(Struct, frozen=True):
    """The place of a definition in the piece around it, by its names."""

    names: tuple[str, ...]


class Piece(Struct, frozen=True, kw_only=True):
    """The own text of one definition, or of a module.

    Parameters:
        parts: spans of text and places of definitions in it, in turn.
        index: of the definition in the outline; `MODULE` for the module.
        tree: that it is of.
    """

    parts: tuple[Span | Inner, ...]
    index: int
    tree: Tree

    @property
    def definition(self) -> Definition | None:
        """The definition; None for the module."""
        return None if self.index == MODULE else self.tree.outline.definitions[self.index]

    def within(self, text: str) -> list[str | Inner]:
        """Return the parts, cut out of the module's text, or of one in which something is overwritten."""
        return [part if isinstance(part, Inner) else part.cut(text) for part in self.parts]


class Difference(Struct, frozen=True, kw_only=True):
    """A piece that is another one in two states of a module, or that only one of them has.

    Parameters:
        name: the path of names that leads to its definition, `A.f` or `A.f[1]`; "" for the module.
    """

    name: str
    before: Piece | None
    after: Piece | None


def differences(before: Tree | None, after: Tree | None) -> list[Difference]:
    """Return the pieces that differ between two states of a module, of which one may be missing, in source order."""
    old, new = (_pieces(tree) if tree else {} for tree in (before, after))
    found = []
    for name in (*new, *(name for name in old if name not in new)):
        first, second = old.get(name), new.get(name)
        if first is None or second is None or not are_alike(first, second):
            found.append(Difference(name=name, before=first, after=second))
    return found


def whole(before: Tree, after: Tree) -> Difference:
    """Return the difference of a module that is another one by what is in none of its pieces."""
    first, second = (Piece(parts=(), index=MODULE, tree=tree) for tree in (before, after))
    return Difference(name="", before=first, after=second)


def rebound(before: Tree, after: Tree) -> Iterator[str]:
    """Yield the names that a module had, and that import statements bind otherwise, or no longer."""
    old, new = _imported(before.outline), _imported(after.outline)
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name) and name != "*" and (name in old or before.outline.named(MODULE, name)):
            yield name


def _imported(outline: Outline) -> dict[str, list[tuple[object, ...]]]:
    found: dict[str, list[tuple[object, ...]]] = {}
    for each in outline.imports:
        found.setdefault(each.name, []).append((each.module, each.attribute, each.level))
    return found


def _pieces(tree: Tree) -> Mapping[str, Piece]:
    """Return the pieces of a module by name, the module's own first."""
    outline = tree.outline
    inside: dict[int, list[int]] = {}
    for index, definition in enumerate(outline.definitions):
        inside.setdefault(definition.parent, []).append(index)
    names: dict[int, tuple[str, ...]] = {MODULE: ("",)}
    for index, definition in enumerate(outline.definitions):
        names[index] = _names(outline, index, names[definition.parent][0])
    comments: dict[int, Span] = {}
    found: dict[str, Piece] = {}
    for index in range(MODULE, len(outline.definitions)):
        parts = _parts(tree, index, [(number, Inner(names[number])) for number in inside.get(index, ())], comments)
        found |= dict.fromkeys(names[index], Piece(parts=parts, index=index, tree=tree))
    return found


def _names(outline: Outline, index: int, around: str) -> tuple[str, ...]:
    """Return the definition's address by each name that it binds, with its place among several."""
    definition = outline.definitions[index]
    lead = f"{around}." if around else ""
    found = []
    for name in definition.names:
        alike = outline.named(definition.parent, name)
        found.append(f"{lead}{name}" if len(alike) == 1 else f"{lead}{segments_of(outline, alike, name)[index]}")
    return tuple(found)


def _parts(
    tree: Tree, index: int, inside: list[tuple[int, Inner]], comments: dict[int, Span]
) -> tuple[Span | Inner, ...]:
    """Return the parts of a piece, and note the comments that belong to the definitions in it."""
    definitions = tree.outline.definitions
    whole = Span(0, len(tree.text)) if index == MODULE else definitions[index].span
    parts: list[Span | Inner] = [comments[index]] if index in comments else []
    position = whole.start
    for number, place in inside:
        inner = definitions[number].span
        above = max(position, _comment(tree, definitions[number]))
        if above < inner.start:
            comments[number] = Span(above, inner.start)
        parts += [Span(position, above), place]
        position = max(position, inner.end)
    return (*parts, Span(position, max(position, whole.end)))


def _comment(tree: Tree, definition: Definition) -> int:
    """Return where the comment directly above a definition begins; one at the top speaks for the module."""
    start, lines = definition.span.start, tree.source.lines
    if definition.inline:
        return start
    line = lines.number(start)
    top = comments_above(lines, line, definition.floor, definition.indent)
    return lines.start(top) if 1 < top < line else start


def are_alike(first: Piece, second: Piece, texts: tuple[str, str] | None = None) -> bool:
    """Return whether two pieces are the same.

    Parameters:
        texts: of their modules with something overwritten, to compare them in these; blank lines do not count then.
    """
    one, other = (
        piece.within(text) for piece, text in zip((first, second), texts or _texts(first, second), strict=True)
    )
    if one == other:
        return True
    inner, again = ({part for part in parts if isinstance(part, Inner)} for parts in (one, other))
    common = inner & again
    reduced = _reduced(one, common), _reduced(other, common)
    if inner != again or texts:  # what comes between two statements, or goes, takes the blank lines between them along
        return _without_blank_lines(reduced[0]) == _without_blank_lines(reduced[1])
    return reduced[0] == reduced[1]


def _texts(first: Piece, second: Piece) -> tuple[str, str]:
    return first.tree.text, second.tree.text


def _reduced(parts: list[str | Inner], common: set[Inner]) -> list[str | Inner]:
    """Return parts without blank lines at their ends, and without the places of what only one of two states has.

    ["x()\\n\\n", f, "\\n\\n", g, "y()\\n"], where f is new      ["x()", g, "y()"]
    """
    found: list[str | Inner] = []
    for part in parts:
        if isinstance(part, Inner):
            if part in common:
                found.append(part)
            continue
        text = _without_ends(part)
        if text and found and isinstance(found[-1], str):
            found[-1] += f"\n{text}"
        elif text:
            found.append(text)
    return found


def _without_ends(text: str) -> str:
    """Return a text without the blank lines at its ends."""
    bare = text.rstrip()
    end = _REST_OF_LINE.match(text, len(bare)).end() if bare else 0  # type: ignore[union-attr]  # it may be empty
    return text[_BLANK_LINES.match(text).end() : end]  # type: ignore[union-attr]  # as above


def _without_blank_lines(parts: list[str | Inner]) -> list[str | Inner]:
    return [_LINE_ENDS.sub("\n", _SPACES.sub("", part)) if isinstance(part, str) else part for part in parts]
