"""Rename a symbol wherever the project names it.

rename app.client.Client.send post      the method, those that override it, its calls, and what names it in strings
"""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated, ClassVar, Literal

from msgspec.structs import replace

from bae_source.errors import LookupFailed, Refused, RequestError
from bae_source.model.call import Call
from bae_source.model.outcome import REPORT
from bae_source.model.plan import Plan
from bae_source.model.reasons import CHANGES_THEM, has_word
from bae_source.model.report import Report
from bae_source.model.request import Effect, IfMatch, Request, SkipGenerated, Target, described
from bae_source.model.text import counted
from bae_source.project.naming.changeable import through
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.calls.parameters import parameter_family
from bae_source.project.references.classes.family import family_of
from bae_source.project.references.meaning.instance_attributes import resolve_asked
from bae_source.project.references.meaning.project import project_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.choice import Choice, by_reason, left_as_they_are
from bae_source.refactoring.planning.generated import check_written_by_hand, refusing
from bae_source.refactoring.planning.plan import check_etag, planned_files
from bae_source.refactoring.renaming import safety
from bae_source.refactoring.renaming.aliases import alias_of, behind, project_with
from bae_source.refactoring.renaming.fixtures import fixture_family
from bae_source.refactoring.renaming.renaming import Renamed, renamed


class Rename(Request, frozen=True, kw_only=True):
    """Rename a symbol wherever the project names it.

    A function, a class, a variable, a method with those that override it or are overridden, an attribute, a parameter,
    a local variable, an alias of an import or a module gets another name: where it is defined, imported and used, in
    `__all__`, in stubs and in strings with its dotted name. Places that are probable change, too, and are listed. Where
    it is unsure whether code means it, the change is refused, with the list, and kept as a draft: `commit` says what
    comes of it.
    """

    verb: ClassVar[str] = "rename"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it instead of a search and replace; it says what it leaves."
    examples: ClassVar[tuple[str, ...]] = (
        "rename app.net.Client.send post",
        "rename app.net.Client.send.timeout seconds --dry-run",
        "rename app.config.LIMIT MOST --text words",
    )
    idempotent: ClassVar[bool] = True

    target: Target
    new_name: Annotated[str, described("The new name: one identifier.", min_length=1)]
    unsure: Annotated[
        Literal["refuse", "leave", "change"],
        described("Handling of unsure places: refuse the rename, leave them, or change them, too."),
    ] = "refuse"
    include: Annotated[
        tuple[str, ...],
        described("Places that change though they are unsure or mentions, as ADDRESS:LINE or ADDRESS:LINE:COLUMN."),
    ] = ()
    text: Annotated[
        Literal["none", "exact", "words"],
        described(
            "Comments, docstrings and text files that change, too: none, those with its dotted name, or every word"
            " that speaks of it."
        ),
    ] = "none"
    skip_generated: SkipGenerated = False
    if_match: IfMatch = None

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_name` for what is no name, `invalid_arguments` for a module or a part.
            LookupFailed: there is no such symbol, or several.
            Refused: `name_collision` if the name is taken, captured or shadowed; `unsafe_change` where it is unsure
                whether code means it; `stale`.
        """
        try:
            alias = alias_of(workspace, self.target)
            resolved = alias or resolved_whole(workspace, self.target)
        except LookupFailed as error:
            if error.code == "symbol_not_found" and (known := _renamed_before(workspace, self.target, self.new_name)):
                return known
            raise
        with workspace.index.expecting():
            return self._plan(workspace, resolved, alias)

    def _plan(self, workspace: Workspace, resolved: Resolved, alias: Resolved | None) -> Plan:
        """Plan the rename of a resolved symbol."""
        if resolved.group is None:
            return self._plan_module(workspace, resolved)
        new = safety.checked_name(resolved, self.new_name)
        if resolved.group is not None and resolved.group.members:
            check_etag(resolved, self.if_match)
        old = resolved.address.qualname[-1].name
        if new == old:
            return planned_files(
                workspace, summary=f"{resolved.address} is called that already.", changed=(str(resolved.address),)
            )
        if self.skip_generated:
            check_written_by_hand(workspace, {resolved.module.path: resolved.address})
        project = project_with(workspace, alias) if alias else project_of(workspace)
        look = project.bases.note if len(resolved.address.qualname) > 1 and project.bases.are_unknown else None
        workspace.index.naming([old, new], look)  # for all that is asked about either, each file is read once
        family = fixture_family(project, parameter_family(project, family_of(project, resolved)))
        safety.check_free(project, family, new)
        safety.check_field(project, family, new)
        choice = Choice(
            unsure=self.unsure == "change", include=self.include, text=self.text, skip_generated=self.skip_generated
        )
        found = renamed(project, family, new, choice)
        self._check_unsure(resolved, found.report)
        address = replace(
            resolved.address,
            qualname=(*resolved.address.qualname[:-1], replace(resolved.address.qualname[-1], name=new)),
        )
        plan = planned_files(
            workspace,
            spliced=found.spliced,
            contents=found.contents,
            summary=_summary(resolved, found, new),
            changed=(str(address), str(resolved.address)),
            warnings=(
                *through(resolved, self.target, "renamed"),
                *behind(workspace, alias),
                *safety.notices(family, project, new),
            ),
        )
        code = [path for path in found.paths if path not in found.contents]
        planned = workspace.after(plan.changes)
        after = project_with(planned, replace(alias, address=address)) if alias else project_of(planned)
        safety.check_meanings(project, after, family, new, code)
        return replace(plan, report=found.report)

    def _check_unsure(self, resolved: Resolved, report: Report) -> None:
        """Check that no place is unsure but for those that are to stay.

        Raises:
            Refused: `unsafe_change`.
        """
        if refusing(report) and self.unsure == "refuse":
            raise _unsafe(self, resolved, report)

    def _plan_module(self, workspace: Workspace, resolved: Resolved) -> Plan:
        """Plan to rename a module or a package: to move it to another name in the same package."""
        from bae_source.refactoring.moving.choice import Choice
        from bae_source.refactoring.moving.files import plan_files  # most renames are of symbols
        from bae_source.refactoring.planning.extent import check_etag_of, check_removable, extent_of

        choice = Choice(leaves_unsure=self.unsure == "leave", text=self.text, skip_generated=self.skip_generated)
        extent = extent_of(workspace, self.target, "move")
        assert extent is not None
        check_etag_of(workspace, extent, self.if_match)
        check_removable(workspace, extent)
        new, package = safety.identifier(self.new_name), resolved.module.name.rpartition(".")[0]
        to = f"{package}.{new}" if package else new
        return plan_files(workspace, extent, to, choice)


def resolved_whole(workspace: Workspace, target: str) -> Resolved:
    """Return what a name means; of several definitions that one scope binds to it the first.

    Raises:
        RequestError, LookupFailed, SourceError: as `resolve`; `invalid_arguments` for a part.
    """
    try:
        resolved = resolve_asked(workspace, target)
    except LookupFailed as error:
        several = [re.sub(r"\[\d+\]\Z", "", each) for each in error.candidates]
        if error.code != "ambiguous_symbol" or len({target, *several}) > 1:
            raise
        resolved = resolve_asked(workspace, error.candidates[0])  # all that one scope binds under a name change
    if resolved.address.part is not None:
        raise RequestError("invalid_arguments", f"{target} is a part of a symbol.", hints=["Name the symbol."])
    return resolved


def _renamed_before(workspace: Workspace, target: str, new: str) -> Plan | None:
    """Return a plan that changes nothing where only the new name is there; None where that is not there either."""
    owner, _, old = target.rpartition(".")
    try:
        named = f"{owner}.{new}"
        found = (alias_of(workspace, named) or resolve_asked(workspace, named)) if owner else None
    except (LookupFailed, RequestError):
        return None
    if found is None or found.group is None:
        return None
    summary = f"There is no {old} in {owner}, and {found.address} is there: nothing was renamed."
    return planned_files(workspace, summary=summary, changed=(str(found.address),))


def _unsafe(asked: Rename, resolved: Resolved, report: Report) -> Refused:
    unsure = len(report.unsure)
    may = "1 place may mean it" if unsure == 1 else f"{unsure:,} places may mean it"
    call = partial(Call, "rename", target=asked.target, new_name=asked.new_name)
    return Refused(
        "unsafe_change",
        f"{resolved.address} was not renamed: {may}, beside {report.places:,} that do. {by_reason(report.unsure)}",
        hints=[
            call(unsure="leave", then="renames it, and leaves these places as they are."),
            *([call(unsure="change", then=CHANGES_THEM)] if any(has_word(each.why) for each in report.unsure) else []),
            Call("references", target=resolved.address, certainty="unsure", then="lists them with their lines."),
        ],
        details={REPORT: report.as_data()},
    )


def _summary(resolved: Resolved, found: Renamed, new: str) -> str:
    places, files = found.report.places, len(found.paths)
    where = f"{counted(places, 'place')} in {counted(files, 'file')}"
    left = left_as_they_are(len(found.report.unsure))
    return f"Renamed {resolved.address} to {new}: {where}{left}."
