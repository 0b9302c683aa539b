"""Delete a definition, a module, a package or a data file.

A definition's decorators, comments and the blank lines that only it needed go with it; a module's stub goes with the
module, and everything that belongs to the project with a package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused
from bae_source.model.address import Part
from bae_source.model.call import Call
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, IfMatch, Request, Target, described
from bae_source.project.changeable import resolve_to_change
from bae_source.project.extent import Extent, check_etag_of, check_removable, counted, cut_off, extent_of, gone, stays
from bae_source.project.planning import (
    Spliced,
    check_etag,
    definition_of,
    planned,
    planned_files,
    single,
    span_of,
    still_in_use,
)
from bae_source.project.resolve import Resolved
from bae_source.project.workspace import Workspace, etag_of
from bae_source.syntax.locate import group_span
from bae_source.syntax.parts import replace_part
from bae_source.syntax.remove import remove
from bae_source.syntax.splice import Splices


class Delete(Request, frozen=True, kw_only=True):
    """Delete a symbol, a module, a package or a data file.

    A symbol goes with its decorators and comments, and the string below that documents it; what speaks for the file or
    opens a range, such as a licence or `# fmt: off`, stays. A suite that would be left empty gets `pass`. The
    decorators or the docstring of a symbol can be deleted on their own (`pkg.mod.f@docstring`), and so can the
    docstring, the imports or the main block of a module (`pkg.mod@main`). A package or a folder of data files goes with
    all that is in it, if `recursive` says so. What is surely used or imported elsewhere stays, unless `force` lets it
    go; `with_imports` takes imports and `__all__` entries along. What may use it is named in a warning, and
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
    with_imports: Annotated[bool, described("Take imports of the symbol, and its names in __all__, along.")] = False
    force: Annotated[bool, described("Delete it though it is still used; what uses it is named.")] = False
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            Refused: `unsafe_change` for a package without `recursive`, a body or a signature, a statement that binds
                other names too, or what is still used; `stale`.
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
                hints=[
                    Call(
                        "delete", target=extent.address, recursive=True, if_match=extent.etag, then="deletes all of it."
                    )
                ],
                details={"etag": extent.etag, "files": len(extent.files)},
            )
        held = f", with {counted(extent)}" if extent.folder is not None else ""
        notices = tuple(_notices(workspace, extent))
        if not (self.force or workspace.lets_used_go):
            _check_not_imported(extent, notices)
        plan = planned_files(
            workspace,
            contents=dict.fromkeys(extent.files),
            summary=f"Deleted {extent.address}{held}.",
            changed=(extent.address,),
            seen=(extent.etag,),
            warnings=notices,
        )
        return replace(plan, gone=gone(extent), unused=not self.force and extent.kind in ("module", "package"))

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
        summary = f"Deleted {resolved.address}."
        plan = planned(workspace, resolved, splices, summary=summary, warnings=notices)
        if part is not None or resolved.module.path.endswith(".pyi") or (self.force and not self.with_imports):
            return plan
        return self._plan_unused(workspace, resolved, plan, splices, notices)

    def _plan_unused(
        self, workspace: Workspace, resolved: Resolved, plan: Plan, splices: Splices, notices: Sequence[Notice]
    ) -> Plan:
        """Plan to delete a symbol that nothing uses, or nothing but imports that go along.

        Parameters:
            plan: to delete it alone.
        """
        from bae_source.project.usage.still_used import used_at_last  # names across files, which parts need not
        from bae_source.project.users import is_bound, users_of, without_importers

        plan = replace(plan, unused=not self.force)
        if workspace.lets_used_go and not self.with_imports:
            return plan
        after = workspace.after(plan.changes)
        if is_bound(after, resolved):
            return plan
        if workspace.lets_broken_in:  # what is in the file is not known before it is mended
            if places := "" if self.force else used_at_last(workspace, after, plan):
                raise still_in_use(str(resolved.address), places)
            return plan
        users = users_of(workspace, resolved)
        if not (self.force or workspace.lets_used_go) and (users.using or (users.importing and not self.with_imports)):
            also = (
                None
                if users.using
                else Call("delete", target=resolved.address, with_imports=True, then="takes the imports along.")
            )
            raise still_in_use(str(resolved.address), users.shown, also)
        if not (users.importing and self.with_imports):
            return replace(plan, warnings=(*plan.warnings, *users.from_outside))
        others = {each.module.path: each for each in without_importers(workspace, resolved)}
        own = others.pop(resolved.module.path, None)
        assert resolved.group is not None
        span = group_span(resolved.tree.outline, resolved.group.members)
        both = planned_files(
            workspace,
            spliced=[
                Spliced(
                    module=resolved.module,
                    splices=(*splices, *(own.splices if own else ())),
                    targets=(span, *(own.targets if own else ())),
                ),
                *others.values(),
            ],
            summary=f"{plan.summary[:-1]}, and what imports it in {_places(len(users.importing))}.",
            changed=(str(resolved.address),),
            seen=(etag_of(span.cut(resolved.tree.text)),),
            warnings=[each for each in notices if each.code != "still_exported"],
        )
        return replace(both, unused=plan.unused)


def _check_not_imported(extent: Extent, notices: Sequence[Notice]) -> None:
    from bae_source.project.left_behind import importing  # names across files, which a symbol need not wait for

    if places := importing(notices, extent.name):
        raise still_in_use(str(extent.address), places)


def _places(count: int) -> str:
    return f"{count} {'place' if count == 1 else 'places'}"


def _notices(workspace: Workspace, extent: Extent) -> Iterator[Notice]:
    if extent.kind == "module" and len(extent.files) > 1:
        yield Notice("stub_deleted", f"{extent.name}@stub, which describes it, was deleted with it.")
    yield from stays(extent)
    yield from cut_off(workspace, extent)
    if extent.kind in ("module", "package"):
        from bae_source.project.left_behind import left_behind  # names across files, which a symbol need not wait for

        yield from left_behind(workspace, extent)
