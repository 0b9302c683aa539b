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
from bae_source.model.span import Span
from bae_source.syntax.lexer import end_of_header
from bae_source.syntax.outline import MODULE, REST_OF_LINE, Definition, Kind, Outline
from bae_source.syntax.tree import Tree

_BLANK_LINES = re.compile(r"(?:[ \t\f]*(?:\r\n|\n|\r))*")


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
    """Return the span of the comment block directly above a definition, in whole lines; None where there is none."""
    definition, lines = tree.outline.definitions[index], tree.source.lines
    if definition.inline:
        return None
    first = line = lines.number(definition.span.start)
    while line - 1 > max(definition.floor, reserved_lines(tree)):
        above = lines.cut(line - 1)
        bare = above.lstrip(" \t\f")
        if not bare.startswith("#") or above[: len(above) - len(bare)].rpartition("\f")[2] != definition.indent:
            break
        line -= 1
    return Span(lines.start(line), definition.span.start) if line < first else None


def part_span(tree: Tree, index: int, part: Part) -> Span | None:
    """Return the span of a part of a definition; None for a docstring that is not there.

    Signature: from the start of the line of `def` or `class` to its colon. Decorators: their lines, empty where there
    are none. Docstring: its literals, with the white space in front of them. Body: the suite without its docstring, in
    whole lines unless it stands on the header's line.
    """
    definition, text = tree.outline.definitions[index], tree.text
    if part is Part.SIGNATURE:
        return Span(definition.keyword - len(definition.indent), end_of_header(text, definition.keyword))
    if part is Part.DECORATORS:
        if not definition.decorators:
            return Span(definition.span.start, definition.span.start)
        return Span(definition.span.start, definition.keyword - len(definition.indent))
    if part is Part.DOCSTRING:
        return _with_indent(tree, definition.docstring) if definition.docstring else None
    return _body_span(tree, definition)


def has_parts(definition: Definition) -> bool:
    """Say whether a definition has a signature, decorators, a docstring and a body."""
    return definition.kind in (Kind.CLASS, Kind.FUNCTION)


def suite_is_inline(tree: Tree, definition: Definition) -> bool:
    """Say whether a definition's suite begins on its header's line."""
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


def indent_unit(tree: Tree, definition: Definition) -> str | None:
    """Return by what a definition's suite is indented against it; None where that cannot be said."""
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
    definition = outline.definitions[index]
    if definition.role or definition.kind is not Kind.FUNCTION:
        return definition.role
    roles = {outline.definitions[other].role for other in outline.named(definition.parent, definition.names[0])}
    if "overload" in roles:
        return "impl"
    return "getter" if roles & {"setter", "deleter"} else None


def segment_of(outline: Outline, index: int) -> Segment:
    """Return the component that names one definition alone within its parent."""
    definition = outline.definitions[index]
    name = definition.names[0]
    found = outline.named(definition.parent, name)
    return Segment(name) if len(found) == 1 else _segment_for(outline, found, index, name)


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
        chosen = [index for index in found if effective_role(outline, index) == segment.accessor]
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
    return _segment_for(outline, found, chosen[0], name)


def _segment_for(outline: Outline, found: Sequence[int], index: int, name: str) -> Segment:
    """Return the component that means one of several definitions: by its role where that is enough, else by number."""
    role = effective_role(outline, index)
    alike = [other for other in found if effective_role(outline, other) == role]
    if role == "overload":
        return Segment(name, accessor=role, number=alike.index(index))
    if role and alike == [index]:
        return Segment(name, accessor=role)
    return Segment(name, index=list(found).index(index))


def _ready(
    outline: Outline, module: str, outer: tuple[Segment, ...], found: Sequence[int], chosen: Sequence[int]
) -> list[str]:
    name = next(
        iter(set(outline.definitions[found[0]].names).intersection(*[outline.definitions[i].names for i in found]))
    )
    return [_address(module, (*outer, _segment_for(outline, found, index, name))) for index in chosen]


def _no_such_choice(
    outline: Outline, module: str, outer: tuple[Segment, ...], found: list[int], segment: Segment
) -> LookupFailed:
    candidates = [_address(module, (*outer, _segment_for(outline, found, index, segment.name))) for index in found]
    if len(found) == 1:
        candidates = [_address(module, (*outer, Segment(segment.name)))]
    return LookupFailed(
        "symbol_not_found", f"There is no {_address(module, (*outer, segment))}.", candidates=candidates
    )


def _not_found(
    outline: Outline, module: str, outer: tuple[Segment, ...], parents: Sequence[int], segment: Segment
) -> LookupFailed:
    from difflib import get_close_matches  # 10 ms, only for errors

    siblings = [name for parent in parents for name in outline.names_in(parent)]
    close = [_address(module, (*outer, Segment(name))) for name in get_close_matches(segment.name, siblings, n=5)]
    elsewhere = [
        _address(module, tuple(map(Segment, outline.qualname(index))))
        for index, definition in enumerate(outline.definitions)
        if segment.name in definition.names
    ][:5]
    where = _address(module, outer) if outer else module
    return LookupFailed(
        "symbol_not_found",
        f"{where} defines no {segment.name}.",
        hints=["Name one of the candidates, or read the module to see what it defines."],
        candidates=list(dict.fromkeys(close + elsewhere)),
    )


def _address(module: str, qualname: tuple[Segment, ...]) -> str:
    return str(Address(module=module, qualname=qualname))


def reserved_lines(tree: Tree) -> int:
    """Return how many lines at the top belong to the file: the shebang and the encoding cookie."""
    lines = tree.source.lines
    if "coding" in lines.cut(2) and lines.cut(2).lstrip().startswith("#"):
        return 2
    first = lines.cut(1)
    return 1 if first.startswith("#!") or (first.lstrip().startswith("#") and "coding" in first) else 0


def _first_line_with_text(text: str, position: int) -> int:
    """Return the start of the first line from `position` on that is not blank."""
    match = _BLANK_LINES.match(text, position)
    return match.end() if match else position


def _with_indent(tree: Tree, span: Span) -> Span:
    """Return the span with the white space in front of it, if there is nothing else on the line."""
    start = tree.source.lines.start(tree.source.lines.number(span.start))
    prefix = tree.text[start : span.start]
    return Span(span.start - len(prefix.rpartition("\f")[2]), span.end) if not prefix.strip(" \t\f") else span


def _body_span(tree: Tree, definition: Definition) -> Span:
    assert definition.body is not None
    suite, text, lines = tree.outline.suites[definition.body], tree.text, tree.source.lines
    assert suite is not None
    inline = suite_is_inline(tree, definition)
    if definition.docstring is None:
        if inline:
            return Span(suite.start, definition.end)
        header = end_of_header(text, definition.keyword)
        return Span(_first_line_with_text(text, lines.end(lines.number(header - 1))), definition.span.end)
    behind = definition.docstring.end
    while text[behind : behind + 1] in (" ", ")", "\t"):
        behind += 1
    if suite.size == 1 or not inline:
        rest = REST_OF_LINE.match(text, behind)
        if rest:
            start = rest.end() if suite.size == 1 else _first_line_with_text(text, rest.end())
            return Span(behind, behind) if inline else Span(start, max(start, definition.span.end))
    start = text.index(";", behind) + 1
    while text[start : start + 1] in (" ", "\t"):
        start += 1
    return Span(start, definition.end)
