"""The place of a new import statement among those at the head of a module, and the blank lines around it.

    \"\"\"Docstring.\"\"\"
    from __future__ import annotations      <- first
    import os                               <- then the standard library,
    import numpy                            <- what is installed,
    import pkg.base                         <- the project's own modules,
    from . import x                         <- and relative ones

Where the statements are in the order of an import sorter, a new one goes where that has it; else behind the last one of
its kind, else behind those of the kinds before.

Invariants:
- nothing is ever put before a docstring, or before an import from `__future__`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, product

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.syntax.outline.definitions import MODULE, ImportBinding
from bae_source.syntax.outline.locate import reserved_lines
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.items import natural
from bae_source.syntax.text.lexer import end_of_line

_NO_CODE = re.compile(r"(?:[\s);\\]|#[^\r\n]*)*")
_BLANK_BEFORE = re.compile(r"(?:\r\n|\n|\r(?!\n))[ \t\f]*(?:\r\n|\n|\r)\Z")
_IMPORT = re.compile(r"(?:import|from)\b")
_COMPOUND = re.compile(r"(?:def|class|async)\b|@")
FUTURE, STANDARD, INSTALLED, OWN, RELATIVE = range(5)
_Key = tuple[object, ...]


class Line(Struct, frozen=True, kw_only=True):
    """An import statement as far as its place goes.

    Parameters:
        rank: its kind, a constant above.
        plain: whether it is no `from … import …`.
        level, module: what it imports from.
        start, end: where it stands; 0 for one that is new.
    """

    rank: int
    plain: bool
    level: int
    module: str
    start: int = 0
    end: int = 0


class Ranks:
    """The distinction between kinds of imports.

    Parameters:
        module: the dotted name of the module that has the imports.
        is_own: whether a top-level name is a module of the project.
    """

    def __init__(self, module: str, is_own: Callable[[str], bool] | None = None) -> None:
        self._top = module.partition(".")[0]
        self._is_own = is_own
        self._known: dict[str, int] = {}

    def of(self, module: str, level: int) -> int:
        """Return the kind of an import."""
        if level:
            return RELATIVE
        top = module.partition(".")[0]
        if top not in self._known:
            self._known[top] = self._found(top)
        return self._known[top]

    def _found(self, top: str) -> int:
        if top == "__future__":
            return FUTURE
        if top == self._top:
            return OWN
        if top in sys.stdlib_module_names:
            return STANDARD
        return OWN if self._is_own is not None and self._is_own(top) else INSTALLED


def head(tree: Tree, ranks: Ranks, *, limit: int | None = None, after: int = 0) -> list[Line]:
    """Return the import statements at the head of a module: above its first class or function.

    Parameters:
        limit: offset that they end before.
        after: offset that they begin behind, those from `__future__` apart.
    """
    first = next((d.span.start for d in tree.outline.definitions if d.body is not None and d.parent == MODULE), None)
    bounds = [each for each in (limit, first) if each is not None]
    end = min(bounds, default=len(tree.text) + 1)
    top: dict[int, ImportBinding] = {each.start: each for each in reversed(tree.outline.imports) if each.top}
    lines = (line_of(each, ranks) for _, each in sorted(top.items()))
    return [each for each in lines if each.end <= end and (each.start >= after or each.rank == FUTURE)]


def line_of(binding: ImportBinding, ranks: Ranks) -> Line:
    """Return the statement of an import."""
    return Line(
        rank=ranks.of(binding.module, binding.level),
        plain=binding.attribute is None,
        level=binding.level,
        module=binding.module,
        start=binding.start,
        end=binding.end,
    )


def place_in(tree: Tree, lines: Sequence[Line], new: Line, *, otherwise: int | None = None) -> int:
    """Return the offset of the line that a new import goes before.

    Parameters:
        lines: the statements among which it goes, in their order.
        otherwise: where it goes if there are none; below the module's docstring and header if left out.
    """
    at = _sorted_place(lines, new)
    if at is None:
        below = [number for number, each in enumerate(lines) if each.rank <= new.rank]
        at = below[-1] + 1 if below else 0
    before, behind = (lines[at - 1] if at else None), (lines[at] if at < len(lines) else None)
    starts = behind is not None and _begins_line(tree, behind.start)
    if behind is not None and starts and (before is None or (behind.rank == new.rank and before.rank != new.rank)):
        return tree.source.lines.start(tree.source.lines.number(behind.start))
    if before is not None:
        return _behind(tree, before.start, before.end, new.rank)
    return otherwise if otherwise is not None else top_of(tree, new.rank)


def _sorted_place(lines: Sequence[Line], new: Line) -> int | None:
    """Return the number of the statement before which a new one goes by their order; None where they have none.

    Plain imports stand before others or among them, upper and lower case count or not; statements of other kinds stand
    apart, or the file is not sorted by kinds.
    """
    same = [number for number, each in enumerate(lines) if each.rank == new.rank]
    apart = bool(same) and same == list(range(same[0], same[-1] + 1))
    for some, sections in ((range(len(lines)), True), (range(len(lines)), False), (same, True)):
        if some is same and not apart:
            continue
        for key in _keys(sections=sections):
            ranks = [key(lines[number]) for number in some]
            if ranks and all(not second < first for first, second in pairwise(ranks)):
                rank = key(new)
                return next((n for n, each in zip(some, ranks, strict=True) if rank < each), some[-1] + 1)
    return None


def _keys(*, sections: bool) -> Iterable[Callable[[Line], _Key]]:
    """Yield the orders that import sorters have, their usual one first."""
    for mixed, exact, near_first in product((False, True), repeat=3):

        def key(line: Line, *, mixed: bool = mixed, exact: bool = exact, near_first: bool = near_first) -> _Key:
            name = natural(line.module if exact else line.module.casefold())
            named = (line.level if near_first else -line.level, name)
            ordered = (*named, not line.plain) if mixed else (not line.plain, *named)
            return (line.rank, *ordered) if sections else (line.rank != FUTURE, *ordered)

        yield key


def top_of(tree: Tree, rank: int = STANDARD) -> int:
    """Return the offset behind the docstring, or behind the comments that the module begins with."""
    suite, docstring = tree.outline.suites[0], tree.outline.docstring
    if suite and docstring:
        return _behind(tree, suite.start, docstring.end, rank)
    return end_of_header_comments(tree)


def _behind(tree: Tree, start: int, end: int, rank: int) -> int:
    """Return the offset behind the logical line of a statement; other statements may share it.

    Raises:
        Refused: `unsafe_change` if they do, and an import `from __future__` would come too late there.
    """
    place = end_of_line(tree.text, start)
    if rank == FUTURE and not _NO_CODE.fullmatch(tree.text, end, place):
        raise Refused(
            "unsafe_change",
            "There is no place for an import from __future__: what it goes behind shares its line with other code.",
            hints=["Put that code on a line of its own first."],
        )
    return place


def _begins_line(tree: Tree, at: int) -> bool:
    lines = tree.source.lines
    start = lines.start(lines.number(at))
    return not tree.text[start:at].strip() and not lines.joined(start)


def end_of_header_comments(tree: Tree) -> int:
    """Return the offset behind the comments at the module's head, but for a block that touches the first statement.

    The shebang and the encoding cookie belong to the head even where they touch it.
    """
    lines = tree.source.lines
    end, line = reserved_lines(tree), 1
    while line <= len(lines) and (not lines.cut(line).strip() or lines.cut(line).lstrip(" \t\f").startswith("#")):
        if not lines.cut(line).strip():
            end = max(end, line)
        line += 1
    return lines.start(end + 1) if line <= len(lines) else len(tree.text)


def block(tree: Tree, ranks: Ranks, at: int, rank: int, lines: Sequence[str]) -> str:
    """Return new lines for a place, with the blank lines that set them apart from what is around them.

    Parameters:
        at: the offset of the line that they go before.
        rank: the kind of the import that they are; one of its own for a block under a condition.
    """
    newline, text = tree.source.newline, tree.text
    top = [each for each in tree.outline.imports if each.top]
    above = next((ranks.of(each.module, each.level) for each in reversed(top) if each.end <= at), None)
    below = next((ranks.of(each.module, each.level) for each in top if each.start >= at), None)
    pieces = [""] if at and text[at - 1] not in "\r\n" else []
    blank, followed = bool(_BLANK_BEFORE.search(text, 0, at)), bool(_IMPORT.match(text, at))
    if text[:at].strip() and not blank and above != rank and not (above is not None and followed):
        pieces.append("")
    dense = above is not None and not blank and followed
    gap = _gap_below(text[at:], below, rank, dense=dense)
    return newline.join([*pieces, *lines, *gap, ""])


def _gap_below(following: str, rank_below: int | None, rank: int, *, dense: bool) -> list[str]:
    """Return the blank lines between a new import and what follows it; none in a block that has none."""
    if not following.strip() or following[0] in "\r\n":
        return []
    if _IMPORT.match(following):
        return [] if rank_below == rank or dense else [""]
    return ["", ""] if _COMPOUND.match(following) else [""]
