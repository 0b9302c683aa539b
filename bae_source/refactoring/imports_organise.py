"""Take out imports that nothing needs, and sort the rest as the project's own tool does.

import json, os          nothing reads `json`:     import os
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, ClassVar

from msgspec.structs import replace

from bae_source.errors import RequestError, ResourceError
from bae_source.model.changeset import ChangeSet
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.report import Report
from bae_source.model.request import Effect, Request, described
from bae_source.model.span import Span
from bae_source.model.text import counted, listed
from bae_source.project.files.generated import is_generated
from bae_source.project.files.unseen import name_at
from bae_source.project.importing.unread import Unread
from bae_source.project.search.scope import scope_of
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.plan import Spliced, planned_files
from bae_source.refactoring.planning.sorted_imports import sorting
from bae_source.refactoring.planning.unneeded import Unneeded, without_unneeded
from bae_source.syntax.text.revision import Revision

_MOST_SHOWN = 20


class ImportsOrganise(Request, frozen=True, kw_only=True):
    """Take out the imports that surely nothing needs, and sort the others on request.

    An import stays where its name is read: in code, an annotation, a type comment, a doctest, `__all__`, or by another
    module that takes it from here; in a package's `__init__`; in a `try` or an `if`; as `import x as x`; and where
    `# noqa`, or the settings of ruff or flake8, let it stay. Others are listed as unsure, with the reason: a module of
    the project that does something when it is imported, a comment that says what it is for, a string that may name it,
    what pytest may ask for. `imports remove` takes these out one by one. A dry run that would change something ends
    with exit status 1.
    """

    verb: ClassVar[str] = "imports_organise"
    family: ClassVar[str] = "imports"
    effect: ClassVar[Effect] = Effect.DESTROYS
    runner: ClassVar[str] = "change"
    when: ClassVar[str] = "Use it to take out unused imports, of a module, a package or the whole project."
    examples: ClassVar[tuple[str, ...]] = (
        "imports organise app.net --dry-run",
        "imports organise app --sort",
    )
    idempotent: ClassVar[bool] = True

    scope: Annotated[
        str | None,
        described("Package, module or function whose imports are checked; all if left out.", placed=True),
    ] = None

    sort: Annotated[
        bool, described("Sort the imports as well, by the project's own tool (ruff or isort) and its settings.")
    ] = False

    def plan(self, workspace: Workspace) -> Plan:
        """Plan the change.

        Raises:
            RequestError: `invalid_arguments` where imports are to be sorted, and the project has no tool for that.
            TransactionError: that tool failed.
            ResourceError: whatever resolving the scope raises.
        """
        with workspace.index.expecting():
            scope = scope_of(workspace, self.scope, stubs=True)
            modules = [module for file in scope.files if (module := workspace.census.module(file.path))]
            if self.sort and scope.span is not None:
                raise RequestError(
                    "invalid_arguments",
                    f"sort is for whole modules, and {self.scope} is a part of one.",
                    hints=[f"Name the module: {modules[0].name}."],
                )
            if scope.span is None:
                found = without_unneeded(workspace, modules)
            else:
                inside = _inside(workspace, modules[0], scope.span)
                found = without_unneeded(workspace, modules, inside, rounds=1)
        found, left = _possible(workspace, found)
        summary = _summary(found)
        if self.sort:
            found, count = _sorted(workspace, found, modules)
            summary += f" Sorted the imports of {counted(count, 'module')}." if count else " All imports are in order."
        unparsed = tuple((name_at(workspace.census, path), error) for path, error in found.unreadable)
        plan = planned_files(
            workspace,
            spliced=found.spliced,
            changed=tuple(found.gone),
            summary=summary,
            warnings=[*scope.notices, *_generated(found), *left],
        )
        report = Report(
            changed={name: len(names) or 1 for name, names in found.gone.items()},
            unsure=found.unsure,
            unparsed=unparsed,
            complete=not unparsed and scope.complete,
        )
        return replace(plan, report=report, finds=True)


def _inside(workspace: Workspace, module: ModuleFile, span: Span) -> Callable[[Unread], bool]:
    """Return a test for imports in a span of a module, by their places before any removal."""
    lines = workspace.tree(module).source.lines
    first, last = lines.number(span.start), lines.number(max(span.end - 1, span.start))
    return lambda each: first <= each.imported.line <= last


def _possible(workspace: Workspace, found: Unneeded) -> tuple[Unneeded, list[Notice]]:
    """Return the imports that go without harm, and notices about modules that have to stay as they are."""
    left: dict[str, Notice] = {}
    for each in found.spliced:
        try:
            planned_files(workspace, spliced=[each], changed=(), summary="")
        except ResourceError as error:
            name = each.module.name
            left[name] = Notice("left_as_it_is", f"{name} keeps {listed(found.gone[name])}: {error.message}")
    if not left:
        return found, []
    less = replace(
        found,
        spliced=tuple(each for each in found.spliced if each.module.name not in left),
        gone={name: names for name, names in found.gone.items() if name not in left},
    )
    return less, list(left.values())


def _sorted(workspace: Workspace, found: Unneeded, modules: Sequence[ModuleFile]) -> tuple[Unneeded, int]:
    """Return the changes, with those that sort the imports of all readable modules, and the number of sorted ones."""
    unread = {path for path, _ in found.unreadable}
    given = [each for each in modules if each.path not in unread]
    given = [each for each in given if not is_generated(each.path, workspace.content(each.path) or b"")]
    changes = ChangeSet(tuple(workspace.change(each.module, each.splices) for each in found.spliced))
    steps = sorting(workspace.after(changes), given)
    revisions = {each.path: Revision(workspace.source(each).text) for each in given}
    for each in found.spliced:
        revisions[each.module.path].apply(each.splices)
    for path, splices in steps.items():
        revisions[path].apply(splices)
    named = {each.path: each for each in given}
    touched = sorted({*steps, *(each.module.path for each in found.spliced)})
    spliced = []
    for path in touched:
        both = tuple(revisions[path].splices())
        spliced.append(Spliced(module=named[path], splices=both, targets=tuple(span for span, _ in both)))
    gone = {**found.gone, **{named[path].name: found.gone.get(named[path].name, ()) for path in steps}}
    return replace(found, spliced=tuple(spliced), gone=gone), len(steps)


def _summary(found: Unneeded) -> str:
    if not found.count:
        return "No import was found that is certainly unneeded."
    modules = "" if len(found.gone) == 1 else f"{counted(len(found.gone), 'module')}: "
    shown = listed((f"{name} ({listed(names)})" for name, names in found.gone.items()), _MOST_SHOWN)
    return f"Took out {counted(found.count, 'import')} that nothing needs, of {modules}{shown}."


def _generated(found: Unneeded) -> list[Notice]:
    if not found.generated:
        return []
    return [Notice("generated", f"Not changed, since a program generates them: {listed(found.generated)}.")]
