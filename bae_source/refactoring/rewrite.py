"""Rewrite code wherever a pattern matches.

rewrite 'requests.get($URL)' 'http.get($URL, timeout=5)' app --import 'from app import http'
"""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from msgspec.structs import replace

from bae_source.errors import Refused
from bae_source.model.call import Call
from bae_source.model.outcome import REPORT, Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.reasons import CHANGES_THEM, has_word
from bae_source.model.report import Report
from bae_source.model.request import Effect, Imports, Request, SkipGenerated, described
from bae_source.model.text import counted, listed
from bae_source.project.files.layout import import_name
from bae_source.project.importing.plan import added_imports
from bae_source.project.search.scope import scope_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.choice import Choice, by_reason, left_as_they_are
from bae_source.refactoring.planning.generated import refusing
from bae_source.refactoring.planning.plan import Spliced, planned_files
from bae_source.refactoring.rewriting.conditions import parse_conditions
from bae_source.refactoring.rewriting.free_names import by_name, check_names, free_names, imports_of, lost_in, unbinding
from bae_source.refactoring.rewriting.rewriting import Rewriting, Rewritten, rewritten
from bae_source.syntax.importing.adding import IMPORTS_ADDED, imports_added
from bae_source.syntax.patterns.pattern import parse_pattern
from bae_source.syntax.templates.template import parse_template

_MOST_ADDRESSES = 5
_MOST_CHANGED = 20
"""Symbols that an outcome lists with their etags; of more it lists the modules, and the report has the symbols."""


class Rewrite(Request, frozen=True, kw_only=True):
    """Rewrite code wherever a pattern matches, with what stands in its holes.

    The pattern is that of `find`: $NAME stands for one expression, statement, parameter or name, $$$NAME for any number
    of arguments, elements or statements. The replacement has the same holes; each is filled with the text that it
    stands for, with its comments and its layout, in brackets where Python would read it otherwise, and with matches in
    it rewritten, too. A replacement of statements is indented as the place is. Where a match cannot take the
    replacement, or it is not known whether a condition holds, the change is refused, with the list, and kept as a
    draft: `commit` says what comes of it.
    """

    verb: ClassVar[str] = "rewrite"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it to change calls and statements of a certain shape everywhere; find shows them."
    examples: ClassVar[tuple[str, ...]] = (
        "rewrite 'get($URL)' 'http.get($URL, timeout=5)' app.net",
        "rewrite '$X == None' '$X is None' --dry-run",
        "rewrite '$C.go()' '$C.run()' --where '$C is app.Job'",
    )

    pattern: Annotated[str, described("Code with holes, such as requests.get($URL).", min_length=1)]
    replacement: Annotated[str, described("Code that takes its place, with the same holes.", min_length=1)]
    scope: Annotated[
        str | None, described("Dotted name to rewrite in: a package, module, class or function.", placed=True)
    ] = None
    where: Annotated[
        tuple[str, ...],
        described(
            "Conditions on single holes, such as `$X is pkg.mod.Class` (of that class, or below it) or `$F is not"
            " pkg.mod.function`.",
            metavar="CONDITION",
        ),
    ] = ()
    imports: Imports = ()
    unsure: Annotated[
        Literal["refuse", "leave", "change"],
        described(
            "Handling of places that cannot take the replacement, which always stay, or where a condition is not"
            " decided: refuse the change, leave them, or change those that can be."
        ),
    ] = "refuse"
    include: Annotated[
        tuple[str, ...],
        described("Undecided places that change all the same, as ADDRESS:LINE or ADDRESS:LINE:COLUMN."),
    ] = ()
    skip_generated: SkipGenerated = False

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` for a pattern, a replacement or a condition that is none.
            LookupFailed: there is nothing of the scope's or a condition's name, or several things.
            SourceError: the code would be at fault.
            Refused: `unsafe_change` where places cannot be decided or changed, or a name would mean nothing.
        """
        pattern = parse_pattern(self.pattern)
        template = parse_template(self.replacement, pattern)
        conditions = parse_conditions(self.where, pattern)
        choice = Choice(unsure=self.unsure == "change", include=self.include, skip_generated=self.skip_generated)
        rewriting = Rewriting(pattern=pattern, template=template, conditions=conditions, choice=choice)
        scope = scope_of(workspace, self.scope, stubs=True)
        with workspace.index.expecting():
            found = rewritten(workspace, scope, rewriting)
            choice.check_included(found.undecided)
            if self.unsure == "refuse" and refusing(found.report):
                raise self._unsafe(found.report)
            plan = self._planned(workspace, found, rewriting)
        return replace(plan, report=found.report)

    def _planned(self, workspace: Workspace, found: Rewritten, rewriting: Rewriting) -> Plan:
        """Plan the change with its imports; names are to mean something afterwards."""
        spliced, notices = self._with_imports(workspace, found.spliced)
        plan = planned_files(
            workspace,
            spliced=spliced,
            summary=self._summary(found),
            changed=_about(found),
            warnings=(*found.notices, *notices),
        )
        names = free_names(rewriting.pattern, rewriting.template)
        binding = unbinding(workspace, rewriting.pattern, rewriting.template, spliced)
        if not names and not binding:
            return plan
        after = workspace.after(plan.changes)
        unbound = check_names(after, spliced, names)
        unbound = {**lost_in(workspace, after, binding), **unbound}
        if unbound and self.unsure == "refuse":
            raise self._undefined(workspace, unbound)
        more = (Notice("name_undefined", f"Names mean nothing there: {by_name(unbound)}."),) if unbound else ()
        return replace(plan, warnings=(*plan.warnings, *more))

    def _undefined(self, workspace: Workspace, unbound: Mapping[str, Sequence[str]]) -> Refused:
        imports = tuple(statement for name in sorted(unbound) for statement in imports_of(workspace, name))
        return Refused(
            "unsafe_change",
            f"With the change, names would mean nothing: {by_name(unbound)}",
            unchanged=True,
            hints=[
                self._again(imports=(*self.imports, *imports), then="adds the import that may be meant.")
                if imports
                else "Give the import of each name with the change (imports), or rewrite first what reads it.",
                self._again(unsure="leave", then="makes the change all the same."),
            ],
        )

    def _with_imports(
        self, workspace: Workspace, spliced: tuple[Spliced, ...]
    ) -> tuple[tuple[Spliced, ...], list[Notice]]:
        """Return the changes with the imports that they bring, and notices about these."""
        if not self.imports:
            return spliced, []
        result: list[Spliced] = []
        added: dict[str, list[str]] = {}
        notices: list[Notice] = []
        for each in spliced:
            wanted = [statement for statement in self.imports if not _is_of_itself(statement, each.module)]
            addition = added_imports(workspace, each.module, workspace.tree(each.module), each.splices, wanted)
            result.append(replace(each, splices=tuple(addition.splices)))
            notices += [notice for notice in addition.notices if notice.code != IMPORTS_ADDED]
            for statement in addition.statements:
                added.setdefault(statement, []).append(each.module.name)
        for statement, modules in added.items():
            notices.append(imports_added(modules, f"{statement}."))
        return tuple(result), notices

    def _again(self, *, then: str, **other: Any) -> Call:
        """Return the call of this change with other choices."""
        given = {
            **({"scope": self.scope} if self.scope is not None else {}),
            **({"where": self.where} if self.where else {}),
            **({"imports": self.imports} if self.imports else {}),
            **other,
        }
        return Call("rewrite", pattern=self.pattern, replacement=self.replacement, then=then, **given)

    def _unsafe(self, report: Report) -> Refused:
        unsure = refusing(report)
        many = "1 place stays as it is" if len(unsure) == 1 else f"{len(unsure):,} places stay as they are"
        can_change = any(has_word(each.why) for each in unsure)
        leaving = self._again(unsure="leave", then="rewrites the others, and leaves these as they are.")
        hints: list[str] = [leaving] if report.places else []
        hints += [self._again(unsure="change", then=CHANGES_THEM)] if can_change else []
        others = f", beside {report.places:,} that would change" if report.places else ""
        return Refused(
            "unsafe_change",
            f"Nothing was rewritten: {many}{others}. {by_reason(unsure)}",
            hints=hints or ["Give a replacement that these places can take."],
            details={REPORT: report.as_data()},
        )

    def _summary(self, found: Rewritten) -> str:
        report = found.report
        left = left_as_they_are(len(report.unsure))
        if report.places:
            at = listed((f"{address} {count}" for address, count in report.changed.items()), _MOST_ADDRESSES)
            files = counted(len(found.spliced), "file")
            return f"Rewrote {counted(report.places, 'place')} in {files}: {at}{left}."
        if found.same:
            return f"Nothing was rewritten: {counted(found.same, 'place')} would be as before{left}."
        if report.unsure:
            return f"Nothing was rewritten{left}. {by_reason(report.unsure)}"
        if found.matches:
            return f"Nothing was rewritten: the conditions rule out {counted(found.matches, 'place')} that match."
        unread = "; what could not be read is listed" if report.unparsed else ""
        return f"Nothing matches {self.pattern!r}{unread}, so nothing was rewritten."


def _is_of_itself(statement: str, module: ModuleFile) -> bool:
    """Return whether an import is one of the very module that it would be added to, or of names in it."""
    found = re.fullmatch(r"\s*(?:from\s+([\w.]+)\s+import\b.*|import\s+([\w.]+)\s*)", statement, re.DOTALL)
    return found is not None and (found[1] or found[2]) == import_name(module)


def _about(found: Rewritten) -> tuple[str, ...]:
    """Return the addresses that a rewrite is about."""
    symbols = tuple(found.report.changed)
    return symbols if len(symbols) <= _MOST_CHANGED else tuple(each.module.name for each in found.spliced)
