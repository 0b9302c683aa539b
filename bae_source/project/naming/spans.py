"""Spans of resolved names: a module's text, a symbol's lines, or a part."""

from __future__ import annotations

from bae_source.errors import LookupFailed
from bae_source.model.address import Address, Part, Segment
from bae_source.model.span import Span
from bae_source.project.naming.resolve import Resolved
from bae_source.syntax.outline.definitions import Definition
from bae_source.syntax.outline.locate import group_span, has_parts, part_span


def span_of(resolved: Resolved) -> Span:
    """Return the span of a resolved name: a module's text, a symbol's lines, or a part.

    Raises:
        LookupFailed: `symbol_not_found` if the symbol has no such part; `ambiguous_symbol` if it is a group.
    """
    tree, group, part = resolved.tree, resolved.group, resolved.address.part
    if group is None:
        span = _module_span(resolved)
    elif part is None:
        return group_span(tree.outline, group.members)
    else:
        span = part_span(tree, single(resolved), part)
    if span is None:
        assert part is not None
        raise LookupFailed(
            "symbol_not_found",
            f"{resolved.address.whole} has no {_called(part)}.",
            hints=[f"Give it one by editing {resolved.address}."],
        )
    return span


def _module_span(resolved: Resolved) -> Span | None:
    """Return the span of a module's text, or of a part of it; None where it has no such part."""
    part = resolved.address.part
    if part is None:
        return Span(0, len(resolved.tree.text))
    check_part(resolved)
    from bae_source.syntax.rewrite.module_parts import module_part_span  # 3 ms, for parts of modules alone

    return module_part_span(resolved.tree, part)


def check_part(resolved: Resolved) -> None:
    """Check that a part is one that the thing can have: modules have others than definitions.

    Raises:
        LookupFailed: `symbol_not_found`.
    """
    part, whole = resolved.address.part, resolved.address.whole
    of_module = (Part.DOCSTRING, Part.IMPORTS, Part.MAIN)
    if part is None or (part in of_module if resolved.group is None else part not in of_module[1:]):
        return
    what = "module, whose parts are" if resolved.group is None else "definition; parts of modules are"
    raise LookupFailed(
        "symbol_not_found",
        f"{resolved.address} is no part: {whole} is a {what} @docstring, @imports and @main.",
        hints=[f"Read {whole} itself."],
    )


def _called(part: Part) -> str:
    return "main block" if part is Part.MAIN else part.value


def single(resolved: Resolved) -> int:
    """Return the one definition that a part belongs to.

    Raises:
        LookupFailed: as `span_of`.
    """
    assert resolved.group is not None
    check_part(resolved)
    members, outline = resolved.group.members, resolved.tree.outline
    if len(members) > 1:
        whole = resolved.address.whole
        *outer, last = whole.qualname
        names = outline.named(outline.definitions[members[0]].parent, last.name)
        candidates = [
            str(
                Address(
                    module=whole.module,
                    qualname=(*outer, Segment(last.name, index=names.index(index))),
                    part=resolved.address.part,
                )
            )
            for index in members
        ]
        raise LookupFailed(
            "ambiguous_symbol",
            f"{whole} is {len(members)} definitions; say whose part is meant.",
            candidates=candidates,
        )
    if not has_parts(outline.definitions[members[0]]):
        kind = outline.definitions[members[0]].kind.value
        raise LookupFailed(
            "symbol_not_found",
            f"{resolved.address.whole} is {'an' if kind[0] in 'aeiou' else 'a'} {kind}, which has no parts.",
            hints=[f"Use {resolved.address.whole} itself."],
        )
    return members[0]


def definition_of(resolved: Resolved) -> Definition:
    """Return the first definition of a resolved name."""
    assert resolved.group is not None
    return resolved.tree.outline.definitions[resolved.group.members[0]]
