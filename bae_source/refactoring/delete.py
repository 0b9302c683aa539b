"""Delete a definition, a module, a package or a data file.

A definition's decorators, comments and the blank lines that only it needed go with it; a module's stub goes with the
module, and everything that belongs to the project with a package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError
from bae_source.model.address import Part
from bae_source.model.call import Call, call_of
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.request import Effect, IfMatch, Request, Target, described
from bae_source.project.naming.changeable import resolve_to_change
from bae_source.project.naming.resolve import Resolved
from bae_source.project.naming.spans import definition_of, single, span_of
from bae_source.project.workspace import Workspace, etag_of
from bae_source.refactoring.planning.extent import (
    Extent,
    check_etag_of,
    check_removable,
    counted,
    cut_off,
    extent_of,
    gone,
    stays,
)
from bae_source.refactoring.planning.plan import Spliced, check_etag, planned, planned_files, still_in_use
from bae_source.syntax.outline.locate import group_span
from bae_source.syntax.rewrite.parts import replace_part
from bae_source.syntax.rewrite.remove import remove
from bae_source.syntax.rewrite.splice import Splices


class Delete(Request, frozen=True, kw_only=True):
    """Delete a symbol, a module, a package or a data file.

    A symbol goes with its decorators and comments, and the string below that documents it; what speaks for the file or
    opens a range, such as a licence or `# fmt: off`, stays. A suite that would be left empty gets `pass`. The
    decorators or the docstring of a symbol can be deleted on their own (`pkg.mod.f@docstring`), and so can the
    docstring, the imports or the main block of a module (`pkg.mod@main`). A package or a folder of data files goes with
    all that is in it, if `recursive` says so. What is surely used or imported elsewhere stays, unless `force` lets it
    go; `with_imports` takes imports and `__all__` entries along. What may use it is named in a warning, and
    `verify=["import"]` imports it too. Several go together: what uses one of them may go with another.
    """

    verb: ClassVar[str] = "delete"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it when nothing refers to the target any more: ask references first."
    examples: ClassVar[tuple[str, ...]] = (
        "delete app.net.Client.send --dry-run",
        'delete app.config.load@docstring --why "says nothing"',
    )
    idempotent: ClassVar[bool] = True

    target: Annotated[
        Target | Annotated[tuple[Target, ...], described("Several.", min_length=1)],
        described("Dotted name of a symbol, a part, a module, a package or data; or of several, as a list."),
    ]
    recursive: Annotated[bool, described("Delete a package, or a folder of data files, with all that is in it.")] = (
        False
    )
    with_imports: Annotated[bool, described("Take imports of it, and its names in __all__, along.")] = False
    force: Annotated[bool, described("Delete it though it is still used; what uses it is named.")] = False
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            Refused: `unsafe_change` for a package without `recursive`, a body or a signature, a statement that binds
                other names too, or what is still used; `stale`.
        """
        targets = (self.target,) if isinstance(self.target, str) else self.target
        outermost = [each for each in dict.fromkeys(targets) if not any(_is_inside(each, other) for other in targets)]
        if len(outermost) > 1 and self.if_match is not None:
            raise RequestError(
                "invalid_arguments", "An etag is of one target.", hints=["Delete one of them, or leave if_match out."]
            )
        is_single = len(outermost) == 1
        plan = self._plan_one(workspace, outermost[0]) if is_single else self._plan_several(workspace, outermost)
        if self.with_imports and not (self.force or workspace.lets_used_go):
            _check_resolved(workspace, plan)
        plan = replace(plan, takes=True)
        return plan if workspace.lets_used_go else _reported(workspace, plan, outermost)

    def _plan_several(self, workspace: Workspace, targets: Sequence[str]) -> Plan:
        """Plan to delete several, each on the project after the ones before; users are searched for in the end."""
        from bae_source.refactoring.planning.joining import joined  # most deletions are of one thing

        plans: list[Plan] = []
        now, is_part = workspace, workspace.lets_used_go
        is_unused = self.force or self._are_unused(workspace, targets, is_part=is_part)
        try:
            for target in targets:
                now.lets_used_go = True
                plans.append(self._plan_one(now, target, is_unused=is_unused))
                now = now.after(plans[-1].changes)
        finally:
            workspace.lets_used_go = is_part
        plan = joined(workspace, now, plans)
        if not is_part:
            from bae_source.refactoring.planning.still_used import check_unused

            check_unused(workspace, now, plan)
        return plan

    def _are_unused(self, workspace: Workspace, targets: Sequence[str], *, is_part: bool) -> bool:
        """Return whether several targets have no users but each other, and imports that go along.

        Raises:
            Refused: `unsafe_change` if something does, and no later change may mend it.
        """
        from bae_source.refactoring.planning.users import Going, users_of, users_of_modules

        found = [(target, extent_of(workspace, target)) for target in targets]
        symbols = [resolve_to_change(workspace, target, "delete") for target, extent in found if extent is None]
        symbols = [each for each in symbols if each.group is not None and each.address.part is None]
        modules = [extent for _, extent in found if extent is not None and extent.kind in ("module", "package")]
        going = Going(symbols, [each.name for each in modules])
        for address, users in (
            *((str(each.address), users_of(workspace, each)) for each in symbols),
            *((each.address, users_of_modules(workspace, each)) for each in modules),
        ):
            left = going.without(users)
            if left.using or (left.importing and not self.with_imports):
                if is_part:
                    return False
                raise self._still_used(address, left.shown, with_imports=not left.using)
        return True

    def _still_used(self, address: str, places: str, *, with_imports: bool) -> Refused:
        """Return the refusal to delete a used target, with the calls that delete it all the same.

        Parameters:
            with_imports: whether only imports stand in the way.
        """
        along = call_of(replace(self, with_imports=True)).and_then("takes the imports along.")
        forced = call_of(replace(self, force=True)).and_then("deletes it all the same.")
        return still_in_use(address, places, *([along] if with_imports and not self.with_imports else []), forced)

    def _plan_one(self, workspace: Workspace, target: str, *, is_unused: bool = False) -> Plan:
        extent = extent_of(workspace, target)
        if extent is None:
            return self._plan_symbol(workspace, target, is_unused=is_unused)
        check_etag_of(workspace, extent, self.if_match)
        check_removable(workspace, extent)
        if extent.folder is not None and not self.recursive:
            what = "package" if extent.kind == "package" else "folder of data files"
            raise Refused(
                "unsafe_change",
                f"{extent.address} is a {what} with {counted(extent)} in it; nothing was deleted.",
                hints=[
                    Call(
                        "delete", target=extent.address, recursive=True, if_match=extent.etag, then="deletes it whole."
                    )
                ],
                details={"etag": extent.etag, "files": len(extent.files)},
            )
        is_code = extent.kind in ("module", "package")
        notices = tuple(_notices(workspace, extent))
        importers = list(self._importers(workspace, extent, notices, is_unused=is_unused)) if is_code else []
        inside = f", with {counted(extent)}" if extent.folder is not None else ""
        and_others = f", and what imports it in {_counted(len(importers), 'module')}" if importers else ""
        plan = planned_files(
            workspace,
            spliced=importers,
            contents=dict.fromkeys(extent.files),
            summary=f"Deleted {extent.address}{inside}{and_others}.",
            changed=(extent.address,),
            seen=(extent.etag,),
            warnings=[each for each in notices if not importers or each.code != "still_imported"],
        )
        unused = (extent.name,) if is_code and not self.force else ()
        return replace(plan, gone=gone(extent), unused=unused)

    def _importers(
        self, workspace: Workspace, extent: Extent, notices: Sequence[Notice], *, is_unused: bool
    ) -> Iterator[Spliced]:
        """Yield the changes that take a module, and its definitions, out of its importers, if imports go along.

        Raises:
            Refused: `unsafe_change` where it is still imported, or used.
        """
        from bae_source.refactoring.planning.left_behind import importing  # which symbols need not wait for

        places = importing(notices)
        if places and not self.with_imports and not (self.force or workspace.lets_used_go):
            raise self._still_used(extent.address, places, with_imports=True)
        if places and self.with_imports:
            from bae_source.refactoring.planning.users import users_of_modules, without_importers_of_modules

            users = users_of_modules(workspace, extent)
            if users.using and not (self.force or workspace.lets_used_go):
                raise self._still_used(extent.address, users.shown, with_imports=False)
            if users.using and workspace.lets_used_go and not (self.force or is_unused):
                return  # a later change may mend what uses it
            yield from without_importers_of_modules(workspace, extent)

    def _plan_symbol(self, workspace: Workspace, target: str, *, is_unused: bool) -> Plan:
        resolved = resolve_to_change(workspace, target, "delete")
        part = resolved.address.part
        if part in (Part.BODY, Part.SIGNATURE):
            raise Refused("unsafe_change", f"A {part.value} cannot be deleted.", hints=["Delete a symbol, or edit it."])
        check_etag(resolved, self.if_match)
        if resolved.group is None:
            from bae_source.refactoring.planning.module_changes import delete_module_part  # likewise

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
        alone = replace(plan, unused=() if self.force else (str(resolved.address),))
        return self._plan_unused(workspace, resolved, alone, splices, notices, is_unused=is_unused)

    def _plan_unused(
        self,
        workspace: Workspace,
        resolved: Resolved,
        plan: Plan,
        splices: Splices,
        notices: Sequence[Notice],
        *,
        is_unused: bool,
    ) -> Plan:
        """Plan to delete a symbol that nothing uses, or nothing but imports that go along.

        Parameters:
            plan: to delete it alone.
            is_unused: whether what uses it is known to go as well.
        """
        from bae_source.refactoring.planning.still_used import check_unused  # names across files, which parts need not
        from bae_source.refactoring.planning.users import is_bound, users_of, without_importers

        if workspace.lets_used_go and not self.with_imports:
            return plan
        after = workspace.after(plan.changes)
        if is_bound(after, resolved):
            return plan
        if workspace.lets_broken_in:  # what is in the file is not known before it is mended
            check_unused(workspace, after, plan)
            return plan
        users = users_of(workspace, resolved)
        if not (self.force or workspace.lets_used_go) and (users.using or (users.importing and not self.with_imports)):
            raise self._still_used(str(resolved.address), users.shown, with_imports=not users.using)
        if users.using and not (self.force or is_unused):
            return plan  # a later change may mend what uses it, and needs the imports until then
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
            summary=f"{plan.summary[:-1]}, and what imports it in {_counted(len(users.importing), 'place')}.",
            changed=(str(resolved.address),),
            seen=(etag_of(span.cut(resolved.tree.text)),),
            warnings=[each for each in notices if each.code != "still_exported"],
        )
        return replace(both, unused=plan.unused)


def _reported(workspace: Workspace, plan: Plan, targets: Sequence[str]) -> Plan:
    """Return a plan with the report on the code that it takes away."""
    going = []
    for target in targets:
        try:
            resolved = resolve_to_change(workspace, target, "delete")
        except ResourceError:
            continue  # a folder, or data
        if resolved.address.part is None and resolved.module.path.endswith(".py"):
            going.append(resolved)
    if not going or workspace.lets_broken_in:
        return plan
    from bae_source.refactoring.planning.users import report_of  # names across files, which parts need not wait for

    report = report_of(workspace, going, plan.changes)
    unread = "not_searched" if report.unparsed else ""  # the files stand in the report
    return replace(plan, report=report, warnings=tuple(each for each in plan.warnings if each.code != unread))


def _check_resolved(workspace: Workspace, plan: Plan) -> None:
    """Check that no module which lost imports uses a name that it has no more.

    Raises:
        Refused: `unsafe_change`.
    """
    from bae_source.project.references.meaning.project import project_of
    from bae_source.refactoring.planning.unresolved import check_resolved  # names across files

    paths = [each.path for each in plan.changes.files if each.path.endswith(".py") and each.after is not None]
    check_resolved(project_of(workspace), project_of(workspace.after(plan.changes)), paths)


def _is_inside(target: str, other: str) -> bool:
    return target.startswith((f"{other}.", f"{other}@", f"{other}:"))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _notices(workspace: Workspace, extent: Extent) -> Iterator[Notice]:
    if extent.kind == "module" and len(extent.files) > 1:
        yield Notice("stub_deleted", f"{extent.name}@stub, which describes it, was deleted with it.")
    yield from stays(extent)
    yield from cut_off(workspace, extent)
    if extent.kind in ("module", "package"):
        from bae_source.refactoring.planning.left_behind import (
            left_behind,  # names across files, which a symbol need not wait for
        )

        yield from left_behind(workspace, extent)
