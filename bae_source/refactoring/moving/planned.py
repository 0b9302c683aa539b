"""The plan of a move of definitions to another module, checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused, RequestError, ResourceError
from bae_source.model.address import parse_name
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.text import listed
from bae_source.project.naming.changeable import resolve_to_change, through
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.references.meaning.project import project_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.moving.choice import Choice
from bae_source.refactoring.moving.moving import Moving
from bae_source.refactoring.moving.prose import Moved, with_prose
from bae_source.refactoring.moving.refusing import check_importable, check_unsure, counted_places
from bae_source.refactoring.moving.symbols import is_method, named_by_doctests
from bae_source.refactoring.moving.users import sought_of
from bae_source.refactoring.planning.generated import check_written_by_hand, without_generated
from bae_source.refactoring.planning.joining import joined
from bae_source.refactoring.planning.new_modules import NewModule, new_module
from bae_source.refactoring.planning.plan import check_etag, planned_files
from bae_source.refactoring.planning.unresolved import check_resolved, doctests_left
from bae_source.refactoring.renaming.safety import checked_name


def plan_symbols(
    workspace: Workspace,
    targets: Sequence[str],
    to: str,
    choice: Choice,
    *,
    if_match: str | None = None,
    as_name: str | None = None,
    shim: bool = False,
    local_imports: bool = False,
) -> Plan:
    """Plan to move definitions of one or several modules to another.

    Raises:
        RequestError: `invalid_arguments` for what is no definition, or is named twice, or a place that is no module.
        LookupFailed: there is no such thing, or several.
        Refused: `name_collision` if a name is taken there; `unsafe_change` where it is unsure what means one of them,
            or what is moved cannot stand elsewhere; `stale`.
    """
    resolved = [resolve_to_change(workspace, each, "move") for each in targets]
    _check_targets(resolved, targets, if_match, as_name)
    target, _ = _destination(workspace, to, resolved[0])
    if len(resolved) == 1 and is_method(resolved[0]):
        return _plan_method(workspace, resolved[0], target, as_name, choice, shim=shim, local_imports=local_imports)
    names = {str(each.address): _name(each) if as_name is None else checked_name(each, as_name) for each in resolved}
    changed = tuple(f"{target.name}.{name}" for name in names.values())
    _check_distinct(names, target)
    going = [each for each in resolved if each.module.path != target.path]
    if not going:
        return _stays(workspace, resolved, target, changed, as_name)
    if choice.skip_generated:
        places = {each.module.path: each.address for each in going}
        check_written_by_hand(workspace, {**places, target.path: target.name})
    notices = [notice for each, given in zip(resolved, targets, strict=True) for notice in through(each, given)]
    plans: list[Plan] = []
    now = workspace
    for origin in dict.fromkeys(each.module.path for each in going):
        here = [each for each in going if each.module.path == origin]
        here = here if now is workspace else [resolve(now, str(each.address)) for each in here]
        target, new = _destination(now, to, here[0])
        wanted = {_name(each): names[str(each.address)] for each in here}
        project = project_of(now)
        moved = Moving(project, here, target, new, wanted, shim=shim, local_imports=local_imports).moved_all()
        spliced, report = moved.spliced, moved.report
        if choice.skip_generated:
            spliced, report = without_generated(project, spliced, report, list(wanted))
        plan = planned_files(
            now,
            spliced=spliced,
            contents=dict(moved.contents),
            summary="",
            changed=(),
            warnings=(*(new.notices if new else ()), *moved.notices),
        )
        plans.append(replace(plan, report=report))
        now = now.after(plan.changes)
    whole = joined(workspace, now, plans) if len(plans) > 1 else plans[0]
    assert whole.report is not None
    check_unsure(listed(names), whole.report, choice, several=len(names) > 1)
    check_resolved(project_of(workspace), project_of(now), [each.path for each in whole.modules])
    shown = listed(str(each.address) for each in going)
    plan = replace(
        whole,
        summary=f"Moved {shown} to {target.name}: {counted_places(whole.report)}.",
        changed=(*changed, *names),
        warnings=(*notices, *whole.warnings),
        circles=True,
    )
    spoken = [
        Moved(
            sought=sought_of(each.module, _name(each)),
            new=f"{target.name}.{names[str(each.address)]}",
            code={each.module.path: named_by_doctests(each, going)},
        )
        for each in going
    ]
    plan = with_prose(workspace, plan, spoken, choice)
    after = project_of(workspace.after(plan.changes))
    left = doctests_left(project_of(workspace), after, [each.path for each in plan.modules])
    return replace(plan, warnings=(*plan.warnings, *left))


def _plan_method(
    workspace: Workspace,
    resolved: Resolved,
    to: ModuleFile,
    as_name: str | None,
    choice: Choice,
    *,
    shim: bool,
    local_imports: bool,
) -> Plan:
    """Return the plan of a move of a method: to the module of its class, and on from there."""
    if shim:
        raise RequestError(
            "invalid_arguments",
            f"{resolved.address} is a method, and shim keeps names of modules alone.",
            hints=["Leave shim out."],
        )
    from bae_source.refactoring.moving.methods import plan_function  # few moves are of methods

    plan = plan_function(workspace, resolved, as_name, choice)
    if to.path == resolved.module.path:
        return plan
    now, function = workspace.after(plan.changes), plan.changed[0]
    further = plan_symbols(now, [function], to.name, choice, local_imports=local_imports)
    whole = joined(workspace, now.after(further.changes), [plan, further])
    assert whole.report is not None
    return replace(
        whole,
        summary=f"Moved {resolved.address} to {further.changed[0]}: {counted_places(whole.report)}.",
        changed=(further.changed[0], str(resolved.address)),
    )


def _name(resolved: Resolved) -> str:
    return resolved.address.qualname[-1].name


def _check_targets(
    resolved: Sequence[Resolved], targets: Sequence[str], if_match: str | None, as_name: str | None
) -> None:
    """Check that all that is to move are definitions, each named once, and that options for one are for one."""
    addresses = [str(each.address) for each in resolved]
    for number, (each, asked) in enumerate(zip(resolved, targets, strict=True)):
        if each.group is None or each.address.part is not None:
            raise RequestError(
                "invalid_arguments",
                f"{each.address} is {'a module' if each.address.part is None else 'a part of a symbol'};"
                " only definitions are moved together.",
                hints=["Move it by itself."],
            )
        if addresses[number] in addresses[:number]:
            raise RequestError("invalid_arguments", f"{asked} is named twice", unchanged=True, hints=["Name it once."])
    if len(resolved) > 1 and (as_name is not None or if_match is not None):
        what = "have one name" if as_name is not None else "have one etag"
        raise RequestError("invalid_arguments", f"Several definitions cannot {what}.", hints=["Move them one by one."])
    check_etag(resolved[0], if_match)


def _check_distinct(names: Mapping[str, str], to: ModuleFile) -> None:
    """Check that no two definitions are to have the same name there."""
    taken: dict[str, str] = {}
    for address, name in names.items():
        if other := taken.get(name):
            raise Refused(
                "name_collision",
                f"{other} and {address} cannot both be {to.name}.{name}; nothing was moved.",
                hints=[f"move {address} {to.name} --as NAME moves it under another name."],
                candidates=[other, address],
            )
        taken[name] = address


def _stays(
    workspace: Workspace, resolved: Sequence[Resolved], to: ModuleFile, changed: Sequence[str], as_name: str | None
) -> Plan:
    """Return the plan of a move that has nothing to do."""
    if as_name is not None and changed[0] != str(resolved[0].address):
        raise RequestError(
            "invalid_arguments",
            f"{resolved[0].address} is in {to.name} already.",
            hints=[f"rename {resolved[0].address} {as_name} gives it another name there."],
        )
    shown = listed(str(each.address) for each in resolved)
    return planned_files(workspace, summary=f"{shown} is there already.", changed=changed)


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
        except RequestError:
            raise  # it is no name that a module can have
        except ResourceError:
            raise error from None
        return new.module, new
    if found.group is not None:
        raise RequestError(
            "invalid_arguments",
            f"{to} is a definition, and {moved.address} can go to a module alone.",
            hints=[f"Name its module: {found.module.name}."],
        )
    check_importable(found.module)
    if found.module.package:
        last = moved.module.name.rpartition(".")[2]
        raise RequestError(
            "invalid_arguments",
            f"{to} is a package; name a module in it.",
            hints=[f"move {moved.address} {found.module.name}.{last} makes or takes that module."],
        )
    return found.module, None
