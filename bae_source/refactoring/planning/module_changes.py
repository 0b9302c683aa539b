"""The text of a module changed in place, outside its definitions too: its parts, or a piece that occurs once.

    edit pkg.mod --old 'import os' --new 'import sys'       any text of the module
    edit pkg.mod@docstring, pkg.mod@imports, pkg.mod@main   a part of it, or one that it has not got yet

Definitions that come, go, or change by it are named; another class or function of a name that is there is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused
from bae_source.model.address import Address, Segment
from bae_source.model.call import Call
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.span import Span
from bae_source.project.importing.plan import with_imports
from bae_source.project.naming.resolve import Resolved
from bae_source.project.naming.spans import check_part, span_of
from bae_source.project.workspace import Workspace, etag_of
from bae_source.refactoring.planning.plan import Spliced, planned_files, telling_etag
from bae_source.syntax.outline.locate import group_span, qualname_of
from bae_source.syntax.rewrite.module_parts import altered_module, remove_module_part, replace_module_part, touched
from bae_source.syntax.rewrite.placeholders import check_complete
from bae_source.syntax.rewrite.splice import Splices
from bae_source.syntax.rewrite.textual import Piece, replace_texts


class ModuleChange(Struct, frozen=True, kw_only=True):
    """Change that is wanted of a module, but for a whole definition.

    Parameters:
        source: of the part that the address names.
        pieces: text in the module, or in that part, and what stands there instead.
        imports: statements to add.
    """

    source: str | None = None
    pieces: Sequence[Piece] = ()
    imports: Sequence[str] = ()


def edit_module(workspace: Workspace, resolved: Resolved, change: ModuleChange) -> Plan:
    """Plan the change of a module's text.

    Raises:
        Refused: `unsafe_change` for the whole of it, or if another definition would change; `name_collision`.
        LookupFailed, SourceError, RequestError: as fitting the text raises.
    """
    check_part(resolved)
    part = resolved.address.part
    splices: Splices = []
    fitted: tuple[Notice, ...] = ()
    if change.pieces:
        span = span_of(resolved)
        with telling_etag(etag_of(span.cut(resolved.tree.text))):
            found = replace_texts(resolved.tree, span, change.pieces, name=str(resolved.address))
        splices, fitted = list(found.splices), found.notices
    elif change.source is not None and part is not None:
        splices = replace_module_part(resolved.tree, part, change.source)
    elif change.source is not None:
        raise Refused(
            "unsafe_change",
            f"{resolved.address} is a module, of which edit changes a part or a piece of text.",
            hints=[
                f"edit {resolved.address} takes old and new, or imports; {resolved.address}@docstring, @imports and "
                "@main are its parts.",
                Call("write", target=resolved.address, overwrite=True, then="replaces the whole of it."),
            ],
        )
    whole, notices = with_imports(workspace, resolved, splices, change.imports)
    plan = _planned(workspace, resolved, list(whole), splices, "Edited", [*fitted, *notices])
    if plan.changes:
        after = workspace.tree_after(plan.changes.files[0].apply(resolved.tree.source.content))
        given = change.source or "\n".join(piece.new for piece in change.pieces)
        check_complete(given, resolved.tree, after, resolved.module.name)
    return plan


def delete_module_part(workspace: Workspace, resolved: Resolved) -> Plan:
    """Plan to take a part of a module away.

    Raises:
        LookupFailed: `symbol_not_found` if the module has no such part.
        Refused: `unsafe_change` if it cannot be taken out alone.
    """
    part = resolved.address.part
    assert part is not None
    span_of(resolved)
    splices = remove_module_part(resolved.tree, part)
    return _planned(workspace, resolved, splices, splices, "Deleted", [])


def _planned(
    workspace: Workspace, resolved: Resolved, splices: Splices, text: Splices, verb: str, notices: list[Notice]
) -> Plan:
    """Make the plan, with notices about the changes of the module's definitions.

    Parameters:
        text: those of the splices that are no added imports.
    """
    outline = resolved.tree.outline
    about = list(dict.fromkeys(index for span, _ in text for index in touched(outline, span)))
    spliced = Spliced(
        module=resolved.module,
        splices=tuple(splices),
        targets=tuple(group_span(outline, (index,)) for index in about),
    )
    names: list[tuple[Segment, ...]] = [qualname_of(outline, index) for index in about]
    plan = planned_files(
        workspace,
        spliced=[spliced],
        summary=f"{verb} {resolved.address}.",
        changed=(),
        seen=_seen(resolved, text),
        warnings=notices,
    )
    about_names: tuple[Notice, ...] = ()
    if plan.changes and text:
        after = workspace.tree_after(plan.changes.files[0].apply(resolved.tree.source.content))
        found = altered_module(resolved.tree, after)
        about_names = found.notices
        names += [(Segment(name),) for name in found.added]
    home = resolved.address.whole
    changed = [Address(module=home.module, qualname=name, marker=home.marker) for name in names]
    return replace(
        plan,
        changed=tuple(dict.fromkeys(map(str, (resolved.address, *changed)))),
        warnings=(*about_names, *plan.warnings),
        summary=plan.summary if plan.changes else f"{resolved.address} is like that already.",
    )


def _seen(resolved: Resolved, text: Splices) -> tuple[str, ...]:
    """Return the etag of the part that is changed; a module as a whole only gives the place."""
    if resolved.address.part is None or not text:
        return ()
    try:
        span: Span = span_of(resolved)
    except LookupFailed:
        return ()
    return (etag_of(span.cut(resolved.tree.text)),)
