"""From splices on one module to a plan that has passed every check; the last step of each operation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bae_source.errors import LookupFailed, Refused, ResourceError, SourceError
from bae_source.model.address import Address, Part, Segment
from bae_source.model.changeset import FileChange, changeset
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.span import Span
from bae_source.project.resolve import Resolved
from bae_source.project.workspace import Workspace, etag_of
from bae_source.syntax.locate import group_span, has_parts, part_span
from bae_source.syntax.outline import Definition
from bae_source.syntax.postcondition import check
from bae_source.syntax.tree import Tree, too_new_for


def span_of(resolved: Resolved) -> Span:
    """Return the span of what was resolved: a module's text, a symbol's lines, or a part.

    Raises:
        LookupFailed: `symbol_not_found` if the symbol has no such part; `ambiguous_symbol` if it is a group.
    """
    tree, group, part = resolved.tree, resolved.group, resolved.address.part
    if group is None:
        if part not in (None, Part.DOCSTRING):
            raise LookupFailed("symbol_not_found", f"A module has no {part.value}.", hints=["Read the module itself."])
        span = tree.outline.docstring if part else Span(0, len(tree.text))
    elif part is None:
        return group_span(tree.outline, group.members)
    else:
        span = part_span(tree, single(resolved), part)
    if span is None:
        raise LookupFailed(
            "symbol_not_found",
            f"{resolved.address.whole} has no docstring.",
            hints=[f"Give it one by editing {resolved.address}."],
        )
    return span


def single(resolved: Resolved) -> int:
    """Return the one definition that a part belongs to.

    Raises:
        LookupFailed: as `span_of`.
    """
    assert resolved.group is not None
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
    """Return the first definition of what was resolved."""
    assert resolved.group is not None
    return resolved.tree.outline.definitions[resolved.group.members[0]]


def check_etag(resolved: Resolved, if_match: str | None) -> None:
    """Refuse a change whose caller has seen another state of the symbol.

    Raises:
        Refused: `stale`.
    """
    if if_match is None:
        return
    present = etag_of(span_of(resolved).cut(resolved.tree.text))
    if if_match != present:
        raise Refused(
            "stale",
            f"{resolved.address} is not what it was when its etag was read.",
            hints=[f"Read {resolved.address} again and repeat the change with the new etag {present}."],
            details={"etag": present},
        )


def planned(
    workspace: Workspace,
    resolved: Resolved,
    splices: Sequence[tuple[Span, str]],
    *,
    summary: str,
    changed: Iterable[Address] = (),
    warnings: Iterable[Notice] = (),
) -> Plan:
    """Make the plan that a set of splices on one module comes to, and check it.

    Raises:
        SourceError: `syntax_invalid` if the new file would not parse; `encoding_invalid`; `not_lossless`.
        Refused: `unsafe_change` if another definition would change.
    """
    change = workspace.change(resolved.module, splices)
    notices = list(warnings)
    if change.edits:
        after = _parsed_after(workspace, resolved, change)
        check(resolved.tree, change, splices, after)
        _check_version(workspace, resolved, after)
        if after.newer and not resolved.tree.newer:
            notices.append(
                Notice("syntax_unchecked", "The new code is newer than the Python that runs here; it was not compiled.")
            )
    return Plan(
        changes=changeset([change]),
        changed=tuple(map(str, changed)) or (str(resolved.address),),
        seen=_seen(resolved),
        modules=(workspace.module_file(resolved.module),) if change.edits else (),
        warnings=tuple(notices),
        summary=summary,
    )


def _seen(resolved: Resolved) -> tuple[str, ...]:
    """Return the etag of the symbol that was resolved; a module is no symbol, it only gives the place."""
    if resolved.group is None:
        return ()
    return (etag_of(group_span(resolved.tree.outline, resolved.group.members).cut(resolved.tree.text)),)


def _check_version(workspace: Workspace, resolved: Resolved, after: Tree) -> None:
    """Refuse syntax that the oldest Python of the project does not know, unless the module has some already."""
    version = workspace.oldest_python
    if version is None or resolved.tree.newer:
        return
    error = too_new_for(after.text, version)
    if error is not None and too_new_for(resolved.tree.text, version) is None:
        shown = ".".join(map(str, version))
        raise SourceError(
            "syntax_invalid",
            f"{resolved.module.name} would need a newer Python than {shown}, which the project supports: "
            f"{error.details['reason']}.",
            hints=["Write it without the newer syntax, or raise requires-python first."],
            details=error.details,
        )


def _parsed_after(workspace: Workspace, resolved: Resolved, change: FileChange) -> Tree:
    content = change.apply(resolved.tree.source.content)
    try:
        return workspace.kept.trees.get(content, change.after)
    except SourceError as error:
        raise _would_not_parse(error, resolved) from None


def _would_not_parse(error: SourceError, resolved: Resolved) -> ResourceError:
    return SourceError(
        error.code,
        f"With the change, {resolved.module.name} would be at fault: {error.message}",
        hints=["Nothing was changed; give source that fits where it is to stand."],
        details=error.details,
    )
