"""The plan of an inlining: what changes, what stays, and whether the definition goes.

Invariants:
- the definition goes only where no place is left that may name it;
- no name means nothing afterwards that meant something before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from msgspec.structs import replace

from bae_source.errors import Refused, RequestError
from bae_source.model.call import Call
from bae_source.model.outcome import Notice
from bae_source.model.plan import Plan
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.calls.parameters import is_given
from bae_source.project.references.classes.family import family_of
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.search.prose import in_prose
from bae_source.project.workspace import Workspace
from bae_source.refactoring.inlining.codes import Codes
from bae_source.refactoring.inlining.found import Places, found_of, letting_out, unparsed
from bae_source.refactoring.inlining.function import callee_of, calls_inlined
from bae_source.refactoring.inlining.parameter import ParameterInlining
from bae_source.refactoring.inlining.variable import Inlined, definition_of, inlined, removed, with_added_imports
from bae_source.refactoring.moving.replaced import replaced_names
from bae_source.refactoring.planning.choice import Choice
from bae_source.refactoring.planning.generated import check_written_by_hand
from bae_source.refactoring.planning.joining import joined
from bae_source.refactoring.planning.plan import planned_files
from bae_source.refactoring.planning.unresolved import check_resolved, doctests_left
from bae_source.refactoring.renaming.exported import public_gone
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.definitions import Kind
from bae_source.syntax.outline.locate import group_span

Removing = Callable[[Workspace, str], Plan]


def inlining_of(
    workspace: Workspace, resolved: Resolved, choice: Choice, only: Sequence[str], removing: Removing
) -> Inlining | ParameterInlining:
    """Return the inlining of what was resolved.

    Parameters:
        only: the places that alone change; none for all.
        removing: plans to delete a definition, and what imports it.

    Raises:
        RequestError: `invalid_arguments` for what has no value and no body.
    """
    project = project_of(workspace)
    members = resolved.group.members if resolved.group else ()
    symbols = family_of(project, resolved).symbols if not members else ()
    if any(is_given(project, each) for each in symbols):
        return ParameterInlining(workspace, resolved, choice, only)
    return Inlining(workspace, resolved, choice, only, removing)


class Inlining:
    """One inlining.

    Parameters:
        workspace: the project.
        resolved: what is inlined.
        only, removing: as of `inlining_of`.
    """

    def __init__(
        self, workspace: Workspace, resolved: Resolved, choice: Choice, only: Sequence[str], removing: Removing
    ) -> None:
        self.removing = removing
        self.workspace = workspace
        self.resolved = resolved
        self.address = str(resolved.address)
        self.project = project_of(workspace)
        self.codes = Codes(self.project)
        self.family = family_of(self.project, resolved)
        self.places = Places(self.project, choice, only)
        self._kind()

    def _kind(self) -> None:
        """See what is inlined.

        Raises:
            RequestError: `invalid_arguments` for what has no value and no body.
        """
        definitions = self.resolved.tree.outline.definitions
        members = self.resolved.group.members if self.resolved.group else ()
        kinds = {definitions[each].kind for each in members}
        if kinds - {Kind.FUNCTION, Kind.ASSIGNMENT}:
            what = "a class" if Kind.CLASS in kinds else "a type alias"
            raise RequestError(
                "invalid_arguments",
                f"{self.address} is {what}, which has no value to put in its place.",
                hints=["Name a variable, a constant, a function, a method or a parameter."],
            )
        self.is_function = kinds == {Kind.FUNCTION}

    def report(self) -> Report:
        """Work out what changes, and return the report on it.

        Raises:
            RequestError: `invalid_arguments` for a place that is not there.
            Refused: `unsafe_change` for what cannot be inlined anywhere.
        """
        self.found = found_of(self.project, self.family)
        self.made = self._made()
        if not self.places.only:
            for mentioned, why in letting_out(self.found):
                doubted = replace(mentioned, certainty="unsure", why=why)
                self.places.takes(doubted, None)
        self.places.choice.check_included(self.places.asked)
        self.stays = bool(self.places.only or self.places.left)
        missing = unparsed(self.project, self.found)
        if not self.places.changed and not self.places.left:
            raise Refused(
                "unsafe_change",
                f"Nothing {'calls' if self.is_function else 'reads'} {self.address}, so it has no place to go to",
                unchanged=True,
                hints=[Call("delete", target=self.address, then="takes it away.")],
            )
        mentions = [self.places.shown(each) for each in self.found.others if self._is_listed(each)]
        spoken, notices = ([], []) if self.family.local else self._spoken(mentions)
        return Report(
            changed=dict(sorted(self.places.changed.items())),
            probable=tuple(self.places.probable),
            unsure=tuple(sorted(self.places.left, key=lambda each: (each.module, each.line, each.column))),
            mentions=(*(replace(each, certainty="mention") for each in mentions), *spoken),
            unparsed=missing,
            complete=not missing and not notices,
        )

    def _spoken(self, known: Sequence[Reference]) -> tuple[list[Reference], Sequence[Notice]]:
        """Return where prose speaks of what goes, outside of it, and what could not be searched."""
        lines = {(each.module, each.line) for each in (*known, *self.places.left)}
        spoken, notices = in_prose(self.workspace, self.family.sought, lines)
        first, last = self._lines
        own = self.resolved.module.name
        return [each for each in spoken if not (each.module == own and first <= each.line <= last)], notices

    def _is_listed(self, mentioned: Mentioned) -> bool:
        """Say whether a mention is listed: none in what goes, and no string that has the word of a local variable."""
        if self.family.local and not self.is_function and mentioned.mention[3] == u.STRING:
            return False
        first, last = self._lines
        is_inside = mentioned.path == self.resolved.module.path and first <= mentioned.mention[0] <= last
        return self.stays or not is_inside

    @cached_property
    def _lines(self) -> tuple[int, int]:
        """First and last line of the definition; none for a local variable."""
        group = self.resolved.group
        if group is None or not group.members:
            return 0, 0
        span, source = group_span(self.resolved.tree.outline, group.members), self.resolved.tree.source
        return source.lines.number(span.start), source.lines.number(max(span.start, span.end - 1))

    def _made(self) -> Inlined:
        if self.is_function:
            callee = callee_of(self.project, self.codes, self.family, self.resolved, self.found)
            return calls_inlined(self.project, self.codes, self.family, callee, self.found, self.places)
        self.definition = definition_of(self.project, self.codes, self.family, self.address)
        return inlined(self.project, self.codes, self.definition, self.found, self.places, self.address)

    def plan(self, report: Report) -> Plan:
        """Return the plan of what was worked out, with the definition gone where nothing names it.

        Raises:
            Refused: `unsafe_change` where the definition cannot go, or a name would mean nothing.
        """
        is_local = self.family.is_local and not self.is_function
        if is_local and not self.stays:
            self.made.edits.setdefault(self.definition.symbol.path, []).append(removed(self.definition))
        spliced, notices = with_added_imports(self.project, self.codes, self.made)
        if any(path != self.resolved.module.path for path in self.made.edits):
            notices += replaced_names(self.project, self.resolved.module, self.made.names)
        plan = planned_files(
            self.workspace,
            spliced=spliced,
            summary="",
            changed=(self.address,),
            warnings=(*self.made.notices, *notices),
        )
        now = self.workspace.after(plan.changes)
        if not self.stays and not is_local:
            plan, now = self._without_definition(plan, now)
        paths = [each.path for each in plan.changes.files if each.path.endswith(".py") and each.after is not None]
        after = project_of(now)
        check_resolved(self.project, after, paths)
        left = doctests_left(self.project, after, paths)
        plan = replace(plan, warnings=(*plan.warnings, *left))
        return replace(plan, report=report, circles=any(self.made.imports.values()))

    def _without_definition(self, plan: Plan, now: Workspace) -> tuple[Plan, Workspace]:
        """Return the plan with the definition gone, and what imports it."""
        if self.places.choice.skip_generated:
            check_written_by_hand(self.workspace, {self.resolved.module.path: self.resolved.address})
        plans = [plan]
        for address in (self.address, *self._stubs()):
            plans.append(self.removing(now, address))
            now = now.after(plans[-1].changes)
        whole = joined(self.workspace, now, plans)
        return replace(whole, warnings=(*whole.warnings, *public_gone(self.project, self.family))), now

    def _stubs(self) -> list[str]:
        """Return the addresses of what describes the definition in a stub."""
        found = []
        for each in self.family.symbols:
            module = self.workspace.census.module(each.path)
            scope = self.project.uses(each.path).scopes[each.scope]
            if each.path.endswith(".pyi") and module is not None and scope.kind in (u.MODULE_SCOPE, u.CLASS_SCOPE):
                owner = self.project.uses(each.path).owners[scope.owner]
                name = f"{owner}.{self.family.sought.word}" if owner else self.family.sought.word
                found.append(f"{module.name.removesuffix('@stub')}@stub.{name}")
        return found
