"""The plan of a change of a signature: parameters are renamed first, then the rest changes, then callers follow.

Invariants:
- no name in a body means something else afterwards: what goes is used no more, and what comes hides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from bae_source.errors import Refused, RequestError, ResourceError
from bae_source.model.call import Call
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.text import listed
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.choice import Choice
from bae_source.refactoring.planning.generated import check_written_by_hand, without_generated
from bae_source.refactoring.planning.plan import planned_files
from bae_source.refactoring.planning.unresolved import check_resolved
from bae_source.refactoring.signature.changing import Changed, SignatureChange
from bae_source.refactoring.signature.members import Member, header_of
from bae_source.refactoring.signature.sites import scopes_around
from bae_source.refactoring.signature.views import Wanted, callers_of
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.signatures.signature import Kind


def planned_change(workspace: Workspace, resolved: Resolved, wanted: Wanted, choice: Choice) -> Plan:
    """Return the plan of one change of a signature.

    Raises:
        RequestError: `invalid_arguments` where calls lack a parameter.
        Refused: `unsafe_change` where a body uses what goes; `name_collision` where what comes hides something.
    """
    project = project_of(workspace)
    changed = SignatureChange(project, resolved, wanted, choice).result()
    spliced, report = changed.spliced, changed.report
    if choice.skip_generated:
        check_written_by_hand(workspace, {resolved.module.path: resolved.address})
        word = resolved.address.qualname[-1].name
        spliced, report = without_generated(project, spliced, report, [word])
    notices = [*changed.notices]
    for member, after in changed.members:
        before = member.header.signature.named
        for name in after.named:
            if name not in before:
                is_passed = name in wanted.threaded and member.address in wanted.passing
                notices += _hidden(project, member, name, is_passed=is_passed)
    plan = planned_files(
        workspace,
        spliced=spliced,
        summary="",
        changed=(str(resolved.address),),
        warnings=tuple(notices),
    )
    after_it = workspace.after(plan.changes)
    _check_bodies(project_of(after_it), changed)
    return replace(plan, report=report)


def check_names(before: Workspace, after: Workspace, plan: Plan) -> None:
    """Check that a plan leaves no name without a meaning.

    Raises:
        Refused: `unsafe_change`.
    """
    try:
        check_resolved(project_of(before), project_of(after), [each.path for each in plan.modules])
    except Refused as error:
        raise error.altered(
            hints=["Give the imports that defaults, annotations and values need with --import STATEMENT."]
        ) from None


def threaded_plans(workspace: Workspace, passing: Sequence[str], wanted: Wanted, choice: Choice) -> Iterator[Plan]:
    """Yield the plans that give functions the parameters which they pass on, each made on what the one before left.

    Parameters:
        workspace: the project in which their calls pass them on already.
        passing: addresses of the functions.
        wanted: the change of the function that they lead to.

    Raises:
        as `planned_change`.
    """
    for address in passing:
        resolved = resolve(workspace, address)
        present = header_of(resolved).signature
        passed = (wanted.after.named[name] for name in wanted.threaded if name not in present.named)
        new = [replace(each, kind=Kind.KEYWORD_ONLY) for each in passed]
        parameters = sorted((*present.parameters, *new), key=lambda each: each.kind)
        after = replace(present, parameters=tuple(parameters))
        plan = planned_change(workspace, resolved, replace(wanted, after=after), choice)
        yield plan
        workspace = workspace.after(plan.changes)


def passing_on(project: Project, target: Resolved, up_to: Sequence[str]) -> list[str]:
    """Return the functions that get a parameter to pass it on: those on the way to a function, from its callers up.

    main() calls load(), which calls read()        from `read` up to `main` it is `load` and `main`

    Parameters:
        up_to: addresses of the functions at which passing on begins; none for the callers alone.

    Raises:
        RequestError: `invalid_arguments` for one that does not lead to the function.
    """
    first = str(target.address)
    calling: dict[str, list[str]] = {first: callers_of(project, target)}
    if not up_to:
        return calling[first]
    waiting = list(calling[first])
    while waiting:
        address = waiting.pop(0)
        if address not in calling:
            resolved = resolve(project.workspace, address)
            calling[address] = [] if address in up_to else callers_of(project, resolved)
            waiting += calling[address]
    if lost := [each for each in up_to if each not in calling]:
        raise RequestError(
            "invalid_arguments",
            f"up_to has {listed(lost)}, from which no call leads to {first}",
            unchanged=True,
            hints=[Call("callers", target=first, then="lists what calls it.")],
        )
    leading = set(up_to)
    while True:
        more = {each for each, callers in calling.items() if each not in leading and not leading.isdisjoint(callers)}
        if not more:
            break
        leading |= more
    return [each for each in calling if each in leading and each != first]


def _check_bodies(project: Project, changed: Changed) -> None:
    """Check that no function uses a parameter that it has no more.

    Raises:
        Refused: `unsafe_change`, with the lines.
    """
    for member, after in changed.members:
        gone = [each.name for each in member.header.signature.parameters]
        gone = [name for name in gone if all(name != each.name for each in after.parameters)]
        for name in gone:
            path = member.module.path
            try:
                tree = project.workspace.tree_at(path)
            except ResourceError:
                continue
            scope = _scope_at(project, tree, member)
            below = _below(project, path, scope)
            used = [
                each[0]
                for each in _inside(project, path, name, scope)
                if project.names.scope_of(path, each[2], name) not in below
            ]
            if used:
                before = member.tree.source.lines.number(member.tree.outline.definitions[member.number].keyword)
                now = tree.source.lines.number(tree.outline.definitions[member.number].keyword)
                lines = listed(f"line {line - now + before}" for line in used)
                raise Refused(
                    "unsafe_change",
                    f"{member.address} uses {name} in {lines}, and would not have it",
                    unchanged=True,
                    hints=[Call("edit", target=member.address, then="first; one apply can make both changes.")],
                )


def _hidden(project: Project, member: Member, name: str, *, is_passed: bool) -> Iterator[Notice]:
    """Yield the notice that a body binds the name of a new parameter itself.

    Parameters:
        is_passed: whether the function gets the parameter to pass it on.

    Raises:
        Refused: `name_collision` where the body uses a name of the module, or of a function around, that it hides, or
            binds the name of what it is to pass on.
    """
    path = member.module.path
    around = _below(project, path, member.scope)
    bindings = project.uses(path).scopes[member.scope].names.get(name, ())
    if bindings and not is_passed:
        text = (
            f"{member.address} assigns {name} itself in line {bindings[0].line}: what calls give for it is lost there."
        )
        yield Notice("parameter_rebound", text)
        return
    hidden = [
        each[0]
        for each in _inside(project, path, name, member.scope)
        if (bound := project.names.scope_of(path, each[2], name)) is not None and bound not in around
    ]
    if bindings or hidden:
        what = "assigns {0} itself in line {1}" if bindings else "uses the {0} from outside of it in line {1}"
        raise Refused(
            "name_collision",
            f"{member.address} {what.format(name, bindings[0].line if bindings else hidden[0])},"
            " which the new parameter would hide",
            unchanged=True,
            hints=[f"Call the parameter otherwise, or edit {member.address} first."],
        )


def _inside(project: Project, path: str, name: str, scope: int) -> Iterator[u.Mention]:
    """Yield the places that use a name in a function."""
    for each in project.uses(path).mentions.get(name, ()):
        is_name = each[4] == u.PLAIN and each[3] not in (u.STRING, u.EXPORT, u.IMPORT, u.MENTION)
        if is_name and scope in scopes_around(project, path, each[2]):
            yield each


def _below(project: Project, path: str, scope: int) -> set[int]:
    """Return a scope and those inside it."""
    scopes = project.uses(path).scopes
    return {number for number in range(scope, len(scopes)) if scope in scopes_around(project, path, number)}


def _scope_at(project: Project, tree: Tree, member: Member) -> int:
    """Return the scope of a definition in the changed file."""
    line = tree.source.lines.number(tree.outline.definitions[member.number].keyword)
    uses = project.uses(member.module.path)
    for scope in uses.scopes:
        for bindings in scope.names.values():
            for each in bindings:
                if each[0] == u.FUNCTION and each[3] == line:
                    return each[1]
    return 0
