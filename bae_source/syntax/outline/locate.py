"""From a qualname to the definitions it means, and from those to the spans that are read and replaced.

A *group* is a run of definitions of one name that stand next to each other in one suite: overloads with their
implementation, a property with its setter, plain redefinitions. It is one symbol. Several groups of one name are
ambiguous, and the error lists addresses that are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from bae_source.errors import LookupFailed
from bae_source.model.address import Address, Part, Segment
from bae_source.model.closest import closest
from bae_source.model.span import Span
from bae_source.syntax.outline.definitions import MODULE, Definition, Kind, Outline, rest_of_line
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.source import Lines

_BLANK_LINES = r"(?:[ \t\f]*(?:\r\n|\n|\r))*"


class Group(Struct, frozen=True, kw_only=True):
    """The definitions that one name means.

    Parameters:
        members: indices in the outline, in source order, next to each other.
        qualname: canonical; a component says which of several only where it must.
    """

    members: tuple[int, ...]
    qualname: tuple[Segment, ...]


def find(tree: Tree, module: str, qualname: Sequence[Segment]) -> Group:
    """Return the definitions that `qualname` means in a module.

    Parameters:
        module: the module's name as the candidates of an error shall have it.

    Raises:
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`, with ready addresses.
    """
    outline = tree.outline
    parents: tuple[int, ...] = (MODULE,)
    canonical: tuple[Segment, ...] = ()
    chosen: tuple[int, ...] = ()
    for segment in qualname:
        found = [index for parent in parents for index in outline.named(parent, segment.name)]
        if not found:
            raise _not_found(outline, module, canonical, parents, segment)
        chosen = _choose(outline, module, canonical, found, segment)
        canonical = (*canonical, _canonical(outline, found, chosen, segment.name))
        parents = chosen
    return Group(members=chosen, qualname=canonical)


def group_span(outline: Outline, members: Sequence[int]) -> Span:
    """Return the span from the first to the last definition of a group."""
    return Span(outline.definitions[members[0]].span.start, outline.definitions[members[-1]].span.end)


def owned_comment(tree: Tree, index: int) -> Span | None:
    """Return the span of the comment block directly above a definition, in whole lines; None where there is none.

    What speaks for the file or for all that follows is no part of it (`syntax/leading`).
    """
    definition = tree.outline.definitions[index]
    return None if definition.inline else _own(tree, definition)[1]


def comment_apart(tree: Tree, index: int) -> Span | None:
    """Return the span of the comment lines in one block with a definition that are not its own."""
    definition = tree.outline.definitions[index]
    return None if definition.inline else _own(tree, definition)[0]


def shared_comment(tree: Tree, members: Sequence[int]) -> str | None:
    """Return the owned comment of a symbol if it may be about the code below it, too; None where it is not.

    It may where the next statement of the suite follows line by line, without a comment of its own, as in a group below
    a heading; and where it has a ruled line.

        # warm                  <- may be about both
        RED = 1
        ORANGE = 2
    """
    outline, last = tree.outline, tree.outline.definitions[members[-1]]
    comment, suite = owned_comment(tree, members[0]), outline.suites[last.suite]
    if comment is None or suite is None or last.position == suite.size - 1:
        return None
    from bae_source.syntax.text.leading import is_of_an_attribute, is_ruled  # 2 ms, for comments alone

    text = comment.cut(tree.text)
    below = tree.source.lines.cut(tree.source.lines.number(last.span.end)).strip()
    follows = bool(below) and not below.startswith("#")
    return text if (follows and not is_of_an_attribute(text)) or is_ruled(text) else None


def on_one_line(text: str) -> str:
    """Return a comment or a string in one line, for a notice."""
    return " ".join(line for each in text.splitlines() if (line := each.strip()))


def is_at_head(outline: Outline, definition: Definition) -> bool:
    """Return whether nothing but the module's docstring stands above a definition."""
    return definition.suite == 0 and definition.position <= (outline.docstring is not None)


def _own(tree: Tree, definition: Definition) -> tuple[Span | None, Span | None]:
    """Split the comment block directly above a definition into what is not its own, and what is."""
    lines = tree.source.lines
    line = lines.number(definition.span.start)
    top = comments_above(lines, line, definition.floor, definition.indent)
    at_head = is_at_head(tree.outline, definition)
    own = top + kept_above(lines, top, line, at_head=at_head) if top < line else line
    begin, start, end = lines.start(top), lines.start(own), definition.span.start
    return (Span(begin, start) if begin < start else None), (Span(start, end) if own < line else None)


def comments_above(lines: Lines, line: int, floor: int = 0, indent: str = "") -> int:
    """Return the first line of the comment block directly above a line; that line itself where there is none.

    Parameters:
        floor: the line that the block stands below.
        indent: what indents it.
    """
    while line - 1 > floor:
        above = lines.cut(line - 1)
        bare = above.lstrip(" \t\f")
        if not bare.startswith("#") or above[: len(above) - len(bare)].rpartition("\f")[2] != indent:
            break
        line -= 1
    return line


def kept_above(lines: Lines, top: int, line: int, *, at_head: bool) -> int:
    """Return how many lines of a comment block, which begins at `top` and ends above `line`, belong to no symbol."""
    from bae_source.syntax.text.leading import lines_kept  # 2 ms, for comments alone

    block = [lines.cut(number) for number in range(top, line)]
    return max(lines_kept(block, at_head=at_head, text=lines.text), _cookie_lines(lines) - top + 1)


def part_span(tree: Tree, index: int, part: Part) -> Span | None:
    """Return the span of a part of a definition; None for a docstring that is not there.

    Signature: from the start of the line of `def` or `class` to its colon. Decorators: their lines, empty where there
    are none. Docstring: its literals, with the white space in front of them. Body: the suite without its docstring, in
    whole lines unless it stands on the header's line.
    """
    definition, text = tree.outline.definitions[index], tree.text
    if part is Part.SIGNATURE:
        return Span(definition.keyword - len(definition.indent), _end_of_header(text, definition))
    if part is Part.DECORATORS:
        if not definition.decorators:
            return Span(definition.span.start, definition.span.start)
        return Span(definition.span.start, definition.keyword - len(definition.indent))
    if part is Part.DOCSTRING:
        return _with_indent(tree, definition.docstring) if definition.docstring else None
    return _body_span(tree, definition)


def has_parts(definition: Definition) -> bool:
    """Return whether a definition has a signature, decorators, a docstring and a body."""
    return definition.kind in (Kind.CLASS, Kind.FUNCTION)


def suite_is_inline(tree: Tree, definition: Definition) -> bool:
    """Return whether a definition's suite begins on its header's line."""
    assert definition.body is not None
    suite = tree.outline.suites[definition.body]
    assert suite is not None
    start = tree.source.lines.start(tree.source.lines.number(suite.start))
    return bool(tree.text[start : suite.start].strip(" \t\f\\"))


def suite_indent(tree: Tree, definition: Definition) -> str | None:
    """Return the white space that indents a definition's suite; None where it stands on the header's line."""
    if definition.body is None or suite_is_inline(tree, definition):
        return None
    suite = tree.outline.suites[definition.body]
    assert suite is not None
    return tree.source.lines.indentation(tree.source.lines.number(suite.start)).rpartition("\f")[2]


def definition_around(outline: Outline, offset: int) -> int | None:
    """Return the innermost class or function that an offset lies in; None for none."""
    definitions = outline.definitions
    around = (n for n, each in enumerate(definitions) if each.span.start <= offset < each.end and each.body is not None)
    return max(around, default=None)


def indent_unit(tree: Tree, definition: Definition) -> str | None:
    """Return the indentation of a definition's suite against it; None where it is not known."""
    inner = suite_indent(tree, definition)
    if inner is None or not inner.startswith(definition.indent):
        return None
    return inner[len(definition.indent) :]


def unit_for(tree: Tree, members: Sequence[int]) -> str:
    """Return the indentation unit for code at some definitions: their own, else that around them, else the file's."""
    definitions = tree.outline.definitions
    for index in members:
        if unit := indent_unit(tree, definitions[index]):
            return unit
    up = definitions[members[0]].parent if members else MODULE
    while up != MODULE:
        if unit := indent_unit(tree, definitions[up]):
            return unit
        up = definitions[up].parent
    return next((unit for d in definitions if (unit := indent_unit(tree, d))), "    ")


def effective_role(outline: Outline, index: int) -> str | None:
    """Return which accessor or overload a definition is, seen beside the others of its name."""
    return effective_roles(outline, [index])[0]


def effective_roles(outline: Outline, indices: Iterable[int]) -> list[str | None]:
    """Return the role of each of some definitions: its accessor, or that it is an overload."""
    beside: dict[tuple[int, str], set[str | None]] = {}
    found: list[str | None] = []
    for index in indices:
        definition = outline.definitions[index]
        role = definition.role
        if not role and definition.kind is Kind.FUNCTION:
            key = (definition.parent, definition.names[0])
            if key not in beside:
                beside[key] = {outline.definitions[other].role for other in outline.named(*key)}
            accessed = "getter" if beside[key] & {"setter", "deleter"} else None
            role = "impl" if "overload" in beside[key] else accessed
        found.append(role)
    return found


def segment_of(outline: Outline, index: int) -> Segment:
    """Return the component that names one definition alone within its parent."""
    definition = outline.definitions[index]
    name = definition.names[0]
    found = outline.named(definition.parent, name)
    return Segment(name) if len(found) == 1 else segments_of(outline, found, name)[index]


def qualname_of(outline: Outline, index: int) -> tuple[Segment, ...]:
    """Return the path of components that leads to one definition and no other."""
    path: list[Segment] = []
    while index != MODULE:
        path.append(segment_of(outline, index))
        index = outline.definitions[index].parent
    return tuple(reversed(path))


def _choose(
    outline: Outline, module: str, outer: tuple[Segment, ...], found: list[int], segment: Segment
) -> tuple[int, ...]:
    if segment.index is not None:
        if segment.index < len(found):
            return (found[segment.index],)
        raise _no_such_choice(outline, module, outer, found, segment)
    if segment.accessor is not None:
        chosen = [i for i, role in zip(found, effective_roles(outline, found), strict=True) if role == segment.accessor]
        if segment.number is not None:
            chosen = chosen[segment.number : segment.number + 1]
        if not chosen:
            raise _no_such_choice(outline, module, outer, found, segment)
    else:
        chosen = found
    runs = runs_of(outline, chosen)
    if len(runs) > 1:
        raise LookupFailed(
            "ambiguous_symbol",
            f"{_address(module, (*outer, segment))} is defined in {len(runs)} separate places.",
            hints=["Name one of the candidates."],
            candidates=_ready(outline, module, outer, found, chosen),
        )
    return tuple(runs[0])


def runs_of(outline: Outline, indices: Iterable[int]) -> list[list[int]]:
    """Split definitions of one name into runs that stand next to each other."""
    runs: list[list[int]] = []
    for index in indices:
        if runs:
            last, this = outline.definitions[runs[-1][-1]], outline.definitions[index]
            if last.suite == this.suite and last.position + 1 == this.position:
                runs[-1].append(index)
                continue
        runs.append([index])
    return runs


def _canonical(outline: Outline, found: list[int], chosen: tuple[int, ...], name: str) -> Segment:
    if tuple(found) == chosen:
        return Segment(name)
    if len(chosen) > 1:
        role = effective_role(outline, chosen[0])
        return Segment(name, accessor=role) if role else Segment(name)
    return segments_of(outline, found, name)[chosen[0]]


def segments_of(outline: Outline, indices: Sequence[int], name: str) -> dict[int, Segment]:
    """Return the component that means each of several definitions of one name: by its role if only it has that."""
    roles = effective_roles(outline, indices)
    segments: dict[int, Segment] = {}
    overloads = 0
    for number, (index, role) in enumerate(zip(indices, roles, strict=True)):
        if role == "overload":
            segments[index] = Segment(name, accessor=role, number=overloads)
            overloads += 1
        elif role and roles.count(role) == 1:
            segments[index] = Segment(name, accessor=role)
        else:
            segments[index] = Segment(name, index=number)
    return segments


def _ready(
    outline: Outline, module: str, outer: tuple[Segment, ...], found: Sequence[int], chosen: Sequence[int]
) -> list[str]:
    name = next(
        iter(set(outline.definitions[found[0]].names).intersection(*[outline.definitions[i].names for i in found]))
    )
    segments = segments_of(outline, found, name)
    return [_address(module, (*outer, segments[index])) for index in chosen]


def _no_such_choice(
    outline: Outline, module: str, outer: tuple[Segment, ...], found: list[int], segment: Segment
) -> LookupFailed:
    candidates = [_address(module, (*outer, each)) for each in segments_of(outline, found, segment.name).values()]
    if len(found) == 1:
        candidates = [_address(module, (*outer, Segment(segment.name)))]
    return LookupFailed(
        "symbol_not_found", f"There is no {_address(module, (*outer, segment))}.", candidates=candidates
    )


def _not_found(
    outline: Outline, module: str, outer: tuple[Segment, ...], parents: Sequence[int], segment: Segment
) -> LookupFailed:
    siblings = [name for parent in parents for name in outline.names_in(parent)]
    close = [_address(module, (*outer, Segment(name))) for name in closest(segment.name, siblings, n=5)]
    elsewhere = [
        _address(module, tuple(map(Segment, outline.qualname(index))))
        for index, definition in enumerate(outline.definitions)
        if segment.name in definition.names
    ][:5]
    where = _address(module, outer) if outer else module
    candidates = list(dict.fromkeys(close + elsewhere))
    return LookupFailed(
        "symbol_not_found",
        f"{where} defines no {segment.name}.",
        hints=[f"{'Name one of the candidates, or read' if candidates else 'Read'} the module to see what it defines."],
        candidates=candidates,
    )


def _address(module: str, qualname: tuple[Segment, ...]) -> str:
    return str(Address(module=module, qualname=qualname))


def reserved_lines(tree: Tree) -> int:
    """Return how many lines at the top belong to the file though they touch its first statement.

    These are the shebang, the encoding cookie and, of the comment block that they are in, what speaks for the file.
    """
    lines, line = tree.source.lines, 1
    while line <= len(lines) and (not (cut := lines.cut(line).strip()) or cut.startswith("#")):
        line += 1
    top = comments_above(lines, line)
    return top - 1 + kept_above(lines, top, line, at_head=True) if top < line else _cookie_lines(lines)


def _cookie_lines(lines: Lines) -> int:
    """Return how many lines at the top are the shebang and the encoding cookie."""
    if "coding" in lines.cut(2) and lines.cut(2).lstrip().startswith("#"):
        return 2
    first = lines.cut(1)
    return 1 if first.startswith("#!") or (first.lstrip().startswith("#") and "coding" in first) else 0


def _first_line_with_text(text: str, position: int) -> int:
    """Return the start of the first line from `position` on that is not blank."""
    match = re.compile(_BLANK_LINES).match(text, position)
    return match.end() if match else position


def _with_indent(tree: Tree, span: Span) -> Span:
    """Return the span with the white space in front of it, if there is nothing else on the line."""
    start = tree.source.lines.start(tree.source.lines.number(span.start))
    prefix = tree.text[start : span.start]
    return Span(span.start - len(prefix.rpartition("\f")[2]), span.end) if not prefix.strip(" \t\f") else span


def _end_of_header(text: str, definition: Definition) -> int:
    from bae_source.syntax.text.lexer import end_of_header  # 2 ms, for parts alone

    return end_of_header(text, definition.keyword)


def _body_span(tree: Tree, definition: Definition) -> Span:
    assert definition.body is not None
    suite, text, lines = tree.outline.suites[definition.body], tree.text, tree.source.lines
    assert suite is not None
    inline = suite_is_inline(tree, definition)
    if definition.docstring is None:
        if inline:
            return Span(suite.start, definition.end)
        header = _end_of_header(text, definition)
        return Span(_first_line_with_text(text, lines.end(lines.number(header - 1))), definition.span.end)
    behind = definition.docstring.end
    while text[behind : behind + 1] in (" ", ")", "\t"):
        behind += 1
    if suite.size == 1 or not inline:
        rest = rest_of_line(text, behind)
        if rest:
            start = rest.end() if suite.size == 1 else _first_line_with_text(text, rest.end())
            return Span(behind, behind) if inline else Span(start, max(start, definition.span.end))
    start = text.index(";", behind) + 1
    while text[start : start + 1] in (" ", "\t"):
        start += 1
    return Span(start, definition.end)
