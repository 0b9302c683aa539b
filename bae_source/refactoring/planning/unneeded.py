"""Imports that surely nothing needs, taken out of the modules that have them, until none is left.

    from typing import TYPE_CHECKING       goes as well, once the suite below has gone
    if TYPE_CHECKING:
        from app.mail import Mail          nothing reads it: it goes, and the `if` with it

Invariants:
- with a change goes only what was read before it, and what all changes of one transaction leave is looked at once;
- what one removal leaves needless goes too, in the requested modules;
- a file that a program writes stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.model.changeset import ChangeSet, FileChange
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.reference import Reference
from bae_source.project.files.generated import is_generated
from bae_source.project.importing.unread import Unread, unread_here, unread_imports
from bae_source.project.references.meaning.project import Project, project_of, shown
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.joining import joined
from bae_source.refactoring.planning.left_unread import UNREAD
from bae_source.refactoring.planning.plan import Spliced, planned_files
from bae_source.syntax.importing.removing import without_names
from bae_source.syntax.text.revision import Revision

_MOST_ROUNDS = 20


class Unneeded(Struct, frozen=True, kw_only=True):
    """Imports that go, and those that may be needed.

    Parameters:
        spliced: what takes them out.
        gone: the names that go, by module.
        unsure: those that stay, with the reason.
        generated: names of files that a program writes, and that have some.
        unreadable: files that could not be read, each with the reason.
    """

    spliced: tuple[Spliced, ...]
    gone: Mapping[str, tuple[str, ...]]
    unsure: tuple[Reference, ...]
    generated: tuple[str, ...]
    unreadable: tuple[tuple[str, ResourceError], ...]

    @property
    def count(self) -> int:
        """Number of imports that go."""
        return sum(map(len, self.gone.values()))


Counts = Callable[[Unread], bool]


def without_unneeded(
    workspace: Workspace, modules: Sequence[ModuleFile], counts: Counts = lambda _: True, *, rounds: int = _MOST_ROUNDS
) -> Unneeded:
    """Work out how some modules lose the imports that surely nothing needs.

    Parameters:
        counts: says which imports are looked at.
        rounds: how often to look again for what is needless only because others have gone.
    """
    return _Rounds(workspace, modules, counts).run(rounds)


def unread_by(workspace: Workspace, plan: Plan, modules: Sequence[ModuleFile], *, tidy: bool) -> Plan:
    """Return a plan that names the imports it leaves unread, or takes them out.

    Parameters:
        workspace: the project as it is before the change.
        modules: those that perhaps have some.
        tidy: whether it takes them out.
    """
    later = workspace.after(plan.changes)
    found = without_unneeded(later, modules, _were_read(workspace))
    if not found.count:
        return plan
    if not tidy:
        notices = [Notice(UNREAD, _message(name, gone), (name, *gone)) for name, gone in found.gone.items()]
        return replace(plan, warnings=(*plan.warnings, *notices))
    shown = ", ".join(f"{name} ({', '.join(gone)})" for name, gone in found.gone.items())  # all, since they are gone
    tidied = planned_files(later, spliced=found.spliced, changed=(), summary=f"Took out unused imports of {shown}.")
    both = joined(workspace, later.after(tidied.changes), [plan, tidied])
    notice = Notice("imports_removed", f"Took out imports that nothing needs any more: {shown}.")
    return replace(plan, changes=both.changes, modules=both.modules, warnings=(*plan.warnings, notice))


def _message(name: str, gone: tuple[str, ...]) -> str:
    it, names = "it" if len(gone) == 1 else "them", ", ".join(gone)
    return f"Nothing uses {names} of {name} any more: imports remove takes {it} out, and tidy with the change."


def _were_read(workspace: Workspace) -> Callable[[Unread], bool]:
    """Return a test whether the name of an import was read before a change."""
    read: dict[str, set[str]] = {}
    project = project_of(workspace)

    def was_read(each: Unread) -> bool:
        if each.path not in read:
            try:
                unread = {one.name for one in unread_here(project, each.path)}
                read[each.path] = {one.name for one in project.uses(each.path).imports} - unread
            except ResourceError:
                return False
        return each.imported.name in read[each.path]

    return was_read


class _Rounds:
    def __init__(self, workspace: Workspace, modules: Sequence[ModuleFile], counts: Counts) -> None:
        self.workspace = workspace
        self._modules = {each.path: each for each in modules}
        self._counts = counts
        self._revisions: dict[str, Revision] = {}
        self._gone: dict[str, list[str]] = {}
        self._generated: dict[str, None] = {}

    def run(self, rounds: int) -> Unneeded:
        """Return the imports that go."""
        first = unread_imports(self.workspace, list(self._modules.values()))
        counted = [each for each in first.imports if self._counts(each)]
        project = project_of(self.workspace)
        unsure = tuple(_reference(project, each) for each in counted if each.why)
        now, going = self.workspace, self._going(counted)
        for _ in range(rounds):
            if not going:
                break
            again = self._take_out(now, going)
            now = self.workspace.after(ChangeSet(tuple(map(self._change, sorted(self._revisions)))))
            found = unread_imports(now, [self._modules[path] for path in sorted(again)]).imports
            going = self._going([each for each in found if self._counts(each)])
        return Unneeded(
            spliced=tuple(self._spliced(path) for path in sorted(self._revisions)),
            gone={name: tuple(names) for name, names in self._gone.items()},
            unsure=unsure,
            generated=tuple(self._generated),
            unreadable=first.unreadable,
        )

    def _going(self, found: Sequence[Unread]) -> dict[str, list[Unread]]:
        """Return the certainly unneeded imports, by path; generated files are noted instead."""
        going: dict[str, list[Unread]] = {}
        for each in found:
            if not each.why:
                going.setdefault(each.path, []).append(each)
        for path in list(going):
            if is_generated(path, self.workspace.content(path) or b""):
                del going[path]
                self._generated[self._modules[path].name] = None
        return going

    def _take_out(self, now: Workspace, going: Mapping[str, Sequence[Unread]]) -> Collection[str]:
        """Take imports out, and return the files whose other imports may be needless now."""
        project, again = project_of(now), dict.fromkeys(going)
        for path, found in going.items():
            module = self._modules[path]
            revision = self._revisions.setdefault(path, Revision(self.workspace.source(module).text))
            revision.apply(without_names(revision.text, [each.imported for each in found]))
            self._gone.setdefault(module.name, []).extend(each.imported.shown for each in found)
            for each in found:
                taken = project.names.files(path, each.imported.module, each.imported.level)
                again.update(dict.fromkeys(other for other in taken if other in self._modules))
        return again

    def _change(self, path: str) -> FileChange:
        return self.workspace.change(self._modules[path], self._revisions[path].splices())

    def _spliced(self, path: str) -> Spliced:
        splices = tuple(self._revisions[path].splices())
        return Spliced(module=self._modules[path], splices=splices, targets=tuple(span for span, _ in splices))


def _reference(project: Project, each: Unread) -> Reference:
    """Return an import that may be needed as a place."""
    module = project.workspace.census.module(each.path)
    name = module.name if module else ""
    line = each.imported.lines[1]
    return Reference(
        module=name,
        address=name,
        line=line,
        column=1,
        kind="import",
        certainty="unsure",
        why=each.why,
        text=shown(project.lines(each.path).cut(line)),
    )
