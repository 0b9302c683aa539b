"""The plan of a move of definitions to another module, checked as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError
from bae_source.model.address import parse_name
from bae_source.model.listed import listed
from bae_source.model.outcome import REPORT
from bae_source.model.plan import ModuleFile, Plan
from bae_source.project.changeable import resolve_to_change
from bae_source.project.moving.moving import Moved, Moving
from bae_source.project.new_modules import NewModule, new_module
from bae_source.project.planning import check_etag, planned_files
from bae_source.project.renaming.safety import checked_name
from bae_source.project.resolve import Resolved, resolve
from bae_source.project.unresolved import check_resolved
from bae_source.project.usage.project import whole_project_of
from bae_source.project.workspace import Workspace

_MOST_SHOWN = 10


def plan_symbols(
    workspace: Workspace,
    targets: Sequence[str],
    to: str,
    *,
    leaves_unsure: bool,
    if_match: str | None,
    as_name: str | None = None,
    shim: bool = False,
    local_imports: bool = False,
) -> Plan:
    """Plan to move definitions of one module to another.

    Raises:
        RequestError: `invalid_arguments` for definitions of several modules, or a place that is no module.
        LookupFailed: there is no such thing, or several.
        Refused: `name_collision` if a name is taken there; `unsafe_change` where it is unsure what means one of them,
            or what is moved cannot stand elsewhere; `stale`.
    """
    resolved = [resolve_to_change(workspace, each, "move") for each in dict.fromkeys(targets)]
    check_etag(resolved[0], if_match)
    origin = resolved[0].module
    for each in resolved:
        if each.group is None or each.address.part is not None or each.module.path != origin.path:
            what = "is a module" if each.group is None else f"is not in {origin.name}"
            raise RequestError(
                "invalid_arguments",
                f"{each.address} {what if each.address.part is None else 'is a part of a symbol'};"
                " definitions of one module are moved together.",
                hints=["Move it by itself."],
            )
    target, new = _destination(workspace, to, resolved[0])
    names = {each.address.qualname[-1].name: each.address.qualname[-1].name for each in resolved}
    if as_name is not None:
        names = {old: checked_name(resolved[0], as_name) for old in names}
        if len(resolved) > 1:
            raise RequestError(
                "invalid_arguments", "Several definitions cannot have one name.", hints=["Move them one by one."]
            )
    changed = tuple(f"{target.name}.{name}" for name in names.values())
    if target.path == origin.path:
        if as_name is not None and changed[0] != str(resolved[0].address):
            raise RequestError(
                "invalid_arguments",
                f"{resolved[0].address} is in {target.name} already.",
                hints=[f"rename {resolved[0].address} {as_name} gives it another name there."],
            )
        shown = listed(str(each.address) for each in resolved)
        return planned_files(workspace, summary=f"{shown} is there already.", changed=changed)
    project = whole_project_of(workspace)
    moved = Moving(project, resolved, target, new, names, shim=shim, local_imports=local_imports).moved_all()
    if moved.report.unsure and not leaves_unsure:
        raise _unsafe(resolved, moved)
    plan = planned_files(
        workspace,
        spliced=moved.spliced,
        contents=dict(moved.contents),
        summary=_summary(resolved, target, moved),
        changed=(*changed, *(str(each.address) for each in resolved)),
        warnings=(*(new.notices if new else ()), *moved.notices),
    )
    after = whole_project_of(workspace.after(plan.changes))
    check_resolved(project, after, moved.paths)
    return replace(plan, report=moved.report, circles=True)


def _destination(workspace: Workspace, to: str, moved: Resolved) -> tuple[ModuleFile, NewModule | None]:
    """Return the module that definitions go to, and its place if it is not there yet."""
    name = parse_name(to)
    if name.resource is not None or name.part is not None or name.marked is not None:
        raise RequestError("invalid_arguments", f"{to} is no module.", hints=["Name the module to move to."])
    try:
        found = resolve(workspace, to)
    except LookupFailed as error:
        if error.code != "symbol_not_found":
            raise
        parts = tuple(segment.name for segment in name.segments)
        try:
            new = new_module(workspace, parts)
        except ResourceError:
            raise error from None
        return new.module, new
    if found.group is not None:
        raise RequestError(
            "invalid_arguments",
            f"{to} is a definition, and {moved.address} can go to a module alone.",
            hints=[f"Name its module: {found.module.name}."],
        )
    if found.module.package:
        last = moved.module.name.rpartition(".")[2]
        raise RequestError(
            "invalid_arguments",
            f"{to} is a package; name a module in it.",
            hints=[f"move {moved.address} {found.module.name}.{last} makes or takes that module."],
        )
    return found.module, None


def _unsafe(resolved: Sequence[Resolved], moved: Moved) -> Refused:
    unsure = moved.report.unsure
    shown = "; ".join(f"{each.module}:{each.line} ({each.why})" for each in unsure[:_MOST_SHOWN])
    more = f" and {len(unsure) - _MOST_SHOWN} more" if len(unsure) > _MOST_SHOWN else ""
    names = listed(str(each.address) for each in resolved)
    return Refused(
        "unsafe_change",
        f"{names} was not moved, since other places may mean it: {shown}{more}.",
        hints=["Repeat it with unsure set to leave, which leaves these places as they are."],
        details={REPORT: moved.report.as_data()},
    )


def _summary(resolved: Sequence[Resolved], to: ModuleFile, moved: Moved) -> str:
    names = listed(str(each.address) for each in resolved)
    places, files = moved.report.places, len(moved.report.changed)
    return f"Moved {names} to {to.name}: {places:,} places in {files:,} {'file' if files == 1 else 'files'}."
