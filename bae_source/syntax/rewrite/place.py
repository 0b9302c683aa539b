"""Put new statements beside or inside a symbol, or into a module, with the blank lines that belong there."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from bae_source.errors import Refused
from bae_source.model.address import Part
from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE, Definition, Kind, Outline
from bae_source.syntax.outline.locate import (
    comments_above,
    group_span,
    owned_comment,
    part_span,
    suite_indent,
    unit_for,
)
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.rewrite.blank_lines import count, end_of_gap, gap_in_group, start_of_gap, wanted
from bae_source.syntax.rewrite.given import Given, understand
from bae_source.syntax.rewrite.splice import fitted
from bae_source.syntax.text.lexer import LineKind, end_of_header, lex


class Position(Enum):
    """The place of new statements, seen from the target."""

    BEFORE = "before"
    AFTER = "after"
    FIRST = "first"
    LAST = "last"


class Insertion(Struct, frozen=True, kw_only=True):
    """The result of inserting.

    Parameters:
        splices: what changes in the file.
        imports: import statements that led the new source, for the module.
        names: what the new source defines.
        scope: index of the definition that they stand in, or `MODULE`.
    """

    splices: tuple[tuple[Span, str], ...]
    imports: str
    names: tuple[str, ...]
    scope: int


class _Spot(Struct, frozen=True, kw_only=True):
    """A place for new lines: between line starts, in a suite.

    Parameters:
        span: what is replaced; empty but for a `pass` or `...` that only held the place.
        indent: by what the new lines are indented.
        scope: index of the definition that they stand in, or `MODULE`.
        suite: number of the suite.
        opens: whether nothing of the suite comes before.
        ends: whether nothing of the suite comes after.
        lead: text in front of the new lines, where a suite has to be opened first.
        of_module: whether it is the first or the last place of the module itself.
        over, under: the class or function beside it where lines that rule over that definition alone stand in between.
    """

    span: Span
    indent: str
    scope: int
    suite: int
    opens: bool
    ends: bool
    lead: str = ""
    of_module: bool = False
    over: Definition | None = None
    under: Definition | None = None


def insert(
    tree: Tree, members: tuple[int, ...], position: Position, new_source: str, *, lift_imports: bool = True
) -> Insertion:
    """Plan to insert new statements.

    Parameters:
        members: the target's definitions; empty for the module itself.
        lift_imports: whether leading import statements are for the module.

    Raises:
        SourceError: `syntax_invalid`, with line and column in `new_source`.
        Refused: `name_collision` if it defines a name that is there; `unsafe_change` if there is no place.
    """
    spot = _spot(tree, members, position)
    newline = tree.source.newline
    nearest = members or tuple(n for n, d in enumerate(tree.outline.definitions) if d.parent == MODULE)[:1]
    unit = unit_for(tree, nearest)
    given = understand(new_source, unit=unit, newline=newline, target_indent=spot.indent, lift_imports=lift_imports)
    names = _names(given, tree, spot.scope)
    _refuse_collision(tree, spot, given)
    splices: tuple[tuple[Span, str], ...] = ()
    if given.text.strip():
        splices = ((spot.span, _text(tree, spot, given, unit, newline)),)
    elif not given.imports:
        raise Refused("unsafe_change", "The given source is empty.", hints=["Give at least one statement."])
    return Insertion(splices=splices, imports=given.imports, names=names, scope=spot.scope)


def _spot(tree: Tree, members: tuple[int, ...], position: Position) -> _Spot:
    if not members:
        return _in_module(tree, position)
    first = tree.outline.definitions[members[0]]
    if position in (Position.BEFORE, Position.AFTER):
        return _beside(tree, members, position)
    if len(members) > 1 or first.body is None:
        raise Refused(
            "unsafe_change",
            f"{first.names[0]} is no single class or function that something could be put into.",
            hints=["Insert before or after it."],
        )
    return _inside(tree, members[0], position)


def _in_module(tree: Tree, position: Position) -> _Spot:
    if position not in (Position.FIRST, Position.LAST):
        raise Refused(
            "unsafe_change",
            "There is nothing before or after a module.",
            hints=["Use first (behind its docstring and imports) or last."],
        )
    from bae_source.syntax.rewrite.module_parts import insertion_end, insertion_start  # 3 ms, for modules alone

    at = insertion_start(tree) if position is Position.FIRST else insertion_end(tree)
    opens, ends = not tree.text[:at].strip(), not tree.text[at:].strip()
    return _Spot(span=Span(at, at), indent="", scope=MODULE, suite=0, opens=opens, ends=ends, of_module=True)


def _beside(tree: Tree, members: tuple[int, ...], position: Position) -> _Spot:
    first, last = (tree.outline.definitions[index] for index in (members[0], members[-1]))
    suite = tree.outline.suites[first.suite]
    assert suite is not None
    if first.inline or last.inline:
        raise Refused(
            "unsafe_change",
            f"{first.names[0]} shares its line with other code, so nothing can be put beside it.",
            hints=["Edit the symbol around it."],
        )
    around = _ruled(tree, members)
    if position is Position.BEFORE:
        comment = owned_comment(tree, members[0])
        at = around.start if around else comment.start if comment else first.span.start
        opens, ends = first.position == 0, False
    else:
        at = around.end if around else group_span(tree.outline, members).end
        opens, ends = False, last.position == suite.size - 1
    return _Spot(
        span=Span(at, at),
        indent=first.indent,
        scope=first.parent,
        suite=first.suite,
        opens=opens,
        ends=ends,
        over=last if around and last.body is not None and position is Position.AFTER else None,
        under=first if around and first.body is not None and position is Position.BEFORE else None,
    )


def _ruled(tree: Tree, members: tuple[int, ...]) -> Span | None:
    """Return the lines from a comment for a tool to that which ends its range, where a symbol alone stands in between.

    # fmt: off                <- what is put before goes above this line,
    def f(): return   1
    # fmt: on                 <- and what is put after goes below this one
    """
    first, last = (tree.outline.definitions[index] for index in (members[0], members[-1]))
    lines, text = tree.source.lines, tree.text
    end = lines.number(last.span.end)
    above = lines.number(first.span.start)
    top = comments_above(lines, above, first.floor, first.indent)
    if top == above or not text.startswith(f"{first.indent}#", last.span.end):
        return None
    from bae_source.syntax.text.leading import closes  # 2 ms, for comments alone

    opening = next((number for number in range(top, above) if closes(lines.cut(end), lines.cut(number))), None)
    return Span(lines.start(opening), lines.end(end)) if opening is not None else None


def _inside(tree: Tree, index: int, position: Position) -> _Spot:
    definition = tree.outline.definitions[index]
    assert definition.body is not None
    suite = tree.outline.suites[definition.body]
    assert suite is not None
    inner = suite_indent(tree, definition)
    if inner is None:
        return _opened(tree, index, definition, position)
    if suite.placeholder:
        lines = tree.source.lines
        line = lines.number(suite.start)
        span = Span(lines.start(line), lines.end(line))
        opens = not lines.cut(line - 1).lstrip().startswith("#")  # a comment above stays apart from what is put in
        return _Spot(span=span, indent=inner, scope=index, suite=definition.body, opens=opens, ends=True)
    body = part_span(tree, index, Part.BODY)
    assert body is not None
    at = body.start if position is Position.FIRST else definition.span.end
    lines = tree.source.lines
    if at < definition.end and tree.text[lines.start(lines.number(at)) : at].strip():
        raise Refused(
            "unsafe_change",
            f"{definition.names[0]} has its docstring on a line with other code, so nothing can be put first in it.",
            hints=["Use last, or edit its body."],
        )
    opens = position is Position.FIRST and definition.docstring is None
    only_docstring = definition.docstring is not None and suite.size == 1
    ends = position is Position.LAST or only_docstring
    return _Spot(span=Span(at, at), indent=inner, scope=index, suite=definition.body, opens=opens, ends=ends)


def _opened(tree: Tree, index: int, definition: Definition, position: Position) -> _Spot:
    """Turn a suite on its header's line into lines of its own, and put the new ones at its start or end."""
    assert definition.body is not None
    suite = tree.outline.suites[definition.body]
    assert suite is not None
    indent = definition.indent + unit_for(tree, (index,))
    lines = tree.source.lines
    line_end = lines.end(lines.number(suite.end - 1))
    header = end_of_header(tree.text, definition.keyword)
    newline = tree.source.newline
    rest = tree.text[suite.start : line_end].strip(" \t\f\r\n")
    kept = "" if suite.placeholder and rest in ("pass", "...") else f"{indent}{rest}{newline}"
    if kept and position is Position.FIRST:
        raise Refused(
            "unsafe_change",
            f"{definition.names[0]} has its suite on its header's line, so nothing can be put first in it.",
            hints=["Use last, or edit its body."],
        )
    return _Spot(
        span=Span(header, line_end),
        indent=indent,
        scope=index,
        suite=definition.body,
        opens=not kept,
        ends=True,
        lead=newline + kept,
    )


def _text(tree: Tree, spot: _Spot, given: Given, unit: str, newline: str) -> str:
    """Return the new lines with the blank lines around them."""
    lexed = lex(given.text)
    wrapped = 1 if given.indent else 0
    first = next(n for n, kind in enumerate(lexed.kinds) if kind is not LineKind.BLANK and n >= wrapped)
    body = fitted(given, Span(lexed.starts[first], len(given.text)), indent=spot.indent, unit=unit)
    body = body.rstrip(" \t\f\r\n")
    above, below = _gaps(tree, spot, given)
    before = tree.text[: spot.span.start]
    unended = bool(before) and not before.endswith(("\n", "\r")) and not spot.lead
    final = "" if unended and spot.span.end == len(tree.text) else newline
    return f"{spot.lead}{newline if unended else ''}{newline * above}{body}{final}{newline * below}"


def _gaps(tree: Tree, spot: _Spot, given: Given) -> tuple[int, int]:
    """Return how many blank lines to add above and below."""
    text, start, end = tree.text, spot.span.start, spot.span.end
    present_above = count(text, start_of_gap(text, start), start)
    present_below = count(text, end, end_of_gap(text, end))
    siblings = [d for d in tree.outline.definitions if d.suite == spot.suite]
    apart = wanted(tree, spot.suite, nested=bool(spot.indent))
    definitions = given.outline.definitions
    first_is_block = bool(given.definitions) and definitions[given.definitions[0]].body is not None
    last_is_block = bool(given.definitions) and definitions[given.definitions[-1]].body is not None
    over = next((d for d in siblings if d.body is not None and start_of_gap(text, start) == d.span.end), spot.over)
    below = end_of_gap(text, end)
    beneath = next((d for d in siblings if d.body is not None and _begins(tree, d) == below), spot.under)
    names = [definitions[index].names for index in given.definitions]
    above = 0 if spot.opens or spot.lead or not (first_is_block or over) else apart
    if above and over is not None and over.names in names[:1]:
        above = gap_in_group(tree, over, above)
    if not spot.opens and not above and (_behind_head(tree, spot) or _beside_blocks(tree, spot)[0]):
        above = 1
    if spot.lead and not spot.opens and first_is_block:
        return apart, 0
    under = 0 if spot.ends or not (last_is_block or beneath) else apart
    if under and beneath is not None and beneath.names in names[-1:]:
        under = gap_in_group(tree, beneath, under)
    if not spot.ends and not under and _beside_blocks(tree, spot)[1]:
        under = max(1, min(apart, present_above))
    return max(0, above - present_above), max(0, under - present_below)


def _behind_head(tree: Tree, spot: _Spot) -> bool:
    """Return whether the new lines follow the docstring or the imports of a module."""
    if spot.scope != MODULE or not spot.span.start:
        return False
    from bae_source.syntax.rewrite.module_parts import insertion_start

    return spot.span.start == insertion_start(tree)


def _beside_blocks(tree: Tree, spot: _Spot) -> tuple[bool, bool]:
    """Return whether a compound statement of the module ends above the new lines, and whether one begins below them."""
    if not spot.of_module:
        return False, False
    from bae_source.syntax.rewrite.module_parts import blocks_beside

    return blocks_beside(tree, spot.span.start, spot.span.end)


def _begins(tree: Tree, definition: Definition) -> int:
    comment = owned_comment(tree, tree.outline.definitions.index(definition))
    return comment.start if comment else definition.span.start


def _names(given: Given, tree: Tree, scope: int) -> tuple[str, ...]:
    """Return the names that can be addressed afterwards: a function's local variables cannot."""
    local = scope != MODULE and tree.outline.definitions[scope].kind is Kind.FUNCTION
    definitions = [given.outline.definitions[index] for index in given.definitions]
    names = [
        name for definition in definitions if definition.body is not None or not local for name in definition.names
    ]
    return tuple(dict.fromkeys(names))


def _refuse_collision(tree: Tree, spot: _Spot, given: Given) -> None:
    """Refuse a name that is there, except where accessors and overloads are meant to share it."""
    scope = spot.scope
    for index in given.definitions:
        definition = given.outline.definitions[index]
        for name in definition.names:
            present = tree.outline.named(scope, name)
            if scope == MODULE and any(binding.name == name for binding in tree.outline.imports):
                raise Refused(
                    "name_collision",
                    f"{name} is imported there already.",
                    hints=["Insert it under another name, or take the import out first."],
                )
            if present and not _shares(tree.outline, present, definition, spot.span.start):
                raise Refused(
                    "name_collision",
                    f"{name} is defined there already.",
                    hints=[f"Edit {name} instead, or insert under another name."],
                )
            if scope == MODULE and not present and definition.body is not None and _binds(tree, name):
                raise Refused(
                    "name_collision",
                    f"{name} is bound to something else there already, such as by a loop or by global.",
                    hints=["Insert it under another name."],
                )


def _shares(outline: Outline, present: list[int], given: Definition, at: int) -> bool:
    """Return whether a definition joins those of its name that are there, instead of taking their place.

    An accessor joins the others where it is a new one, behind what is there; an overload stands before the
    implementation, and an implementation behind overloads that have none.
    """
    roles = {outline.definitions[index].role for index in present}
    last = outline.definitions[present[-1]]
    if given.role in ("setter", "deleter"):
        return given.role not in roles and last.keyword < at
    if given.role == "overload":
        return last.role == "overload" or (last.kind is Kind.FUNCTION and last.role is None and at <= last.span.start)
    return given.role is None and given.kind is Kind.FUNCTION and roles == {"overload"} and last.keyword < at


def _binds(tree: Tree, name: str) -> bool:
    from bae_source.syntax.names.reading import binds  # 10 ms, for new classes and functions

    return binds(tree.source, name)
