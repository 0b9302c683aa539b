"""Delete a definition, a module, a package or a data file.

A definition's decorators, comments and the blank lines that only it needed go with it; a module's stub goes with the
module, and everything that belongs to the project with a package.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar

from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused
from bae_source.model.address import Part
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, IfMatch, Request, Target, described
from bae_source.project.changeable import resolve_to_change
from bae_source.project.extent import Extent, check_etag_of, check_removable, counted, cut_off, extent_of, gone, stays
from bae_source.project.planning import check_etag, definition_of, planned, planned_files, single, span_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.parts import replace_part
from bae_source.syntax.remove import remove


class Delete(Request, frozen=True, kw_only=True):
    """Delete a symbol, a module, a package or a data file.

    A symbol goes with its decorators and comments, and the string below that documents it; what speaks for the file or
    opens a range, such as a licence or `# fmt: off`, stays. A suite that would be left empty gets `pass`. The
    decorators or the docstring of a symbol can be deleted on their own (`pkg.mod.f@docstring`), and so can the
    docstring, the imports or the main block of a module (`pkg.mod@main`). A package or a folder of data files goes with
    all that is in it, if `recursive` says so. What still uses or imports what goes is named in a warning, and
    `verify=["import"]` imports it too.
    """

    verb: ClassVar[str] = "delete"
    effect: ClassVar[Effect] = Effect.DESTROYS
    when: ClassVar[str] = "Use it when nothing refers to the target any more: ask references first."
    idempotent: ClassVar[bool] = True

    target: Target
    recursive: Annotated[bool, described("Delete a package, or a folder of data files, with all that is in it.")] = (
        False
    )
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            Refused: `unsafe_change` for a package without `recursive`, a body or a signature, or a statement that binds
                other names too; `stale`.
        """
        extent = extent_of(workspace, self.target)
        if extent is None:
            return self._plan_symbol(workspace)
        check_etag_of(extent, self.if_match)
        check_removable(workspace, extent)
        if extent.folder is not None and not self.recursive:
            what = "package" if extent.kind == "package" else "folder of data files"
            raise Refused(
                "unsafe_change",
                f"{extent.address} is a {what} with {counted(extent)} in it; nothing was deleted.",
                hints=[f"delete {extent.address} --recursive --if-match {extent.etag} deletes all of it."],
                details={"etag": extent.etag, "files": len(extent.files)},
            )
        held = f", with {counted(extent)}" if extent.folder is not None else ""
        plan = planned_files(
            workspace,
            contents=dict.fromkeys(extent.files),
            summary=f"Deleted {extent.address}{held}.",
            changed=(extent.address,),
            seen=(extent.etag,),
            warnings=_notices(workspace, extent),
        )
        return replace(plan, gone=gone(extent))

    def _plan_symbol(self, workspace: Workspace) -> Plan:
        resolved = resolve_to_change(workspace, self.target, "delete")
        part = resolved.address.part
        if part in (Part.BODY, Part.SIGNATURE):
            raise Refused("unsafe_change", f"A {part.value} cannot be deleted.", hints=["Delete a symbol, or edit it."])
        check_etag(resolved, self.if_match)
        if resolved.group is None:
            from bae_source.project.module_changes import delete_module_part  # what symbols need not wait for

            return delete_module_part(workspace, resolved)
        notices: list[Notice] = []
        if part is Part.DECORATORS and not definition_of(resolved).decorators:
            raise LookupFailed(
                "symbol_not_found",
                f"{resolved.address.whole} has no decorators.",
                hints=["There is nothing to delete."],
            )
        if part is not None:
            span_of(resolved)  # a docstring that is not there is not found
            splices = replace_part(resolved.tree, single(resolved), part, "")
        else:
            splices, notices = remove(resolved.tree, resolved.module.name, resolved.group)
        return planned(workspace, resolved, splices, summary=f"Deleted {resolved.address}.", warnings=notices)


def _notices(workspace: Workspace, extent: Extent) -> Iterator[Notice]:
    if extent.kind == "module" and len(extent.files) > 1:
        yield Notice("stub_deleted", f"{extent.name}@stub, which describes it, was deleted with it.")
    yield from stays(extent)
    yield from cut_off(workspace, extent)
    if extent.kind in ("module", "package"):
        from bae_source.project.left_behind import left_behind  # names across files, which a symbol need not wait for

        yield from left_behind(workspace, extent)
