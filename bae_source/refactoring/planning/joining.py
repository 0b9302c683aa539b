"""Several plans, each made on what the one before comes to, as one plan on what was there first.

Invariants:
- what a later plan may have mended is looked at once more, in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from bae_source.model.changeset import ChangeSet, FileChange, between
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.report import together
from bae_source.project.workspace import Workspace


def joined(first: Workspace, last: Workspace, plans: Sequence[Plan]) -> Plan:
    """Return the plan that several, each made on what the one before comes to, are together.

    Parameters:
        first: what the first of them was planned on.
        last: what the last of them comes to.
    """
    paths = sorted({file.path for plan in plans for file in plan.changes.files})
    origins, made = _provenance(plans)
    before = {path: first.content(path) for path in paths}
    found = between(before, {path: last.content(path) for path in paths}, origins)
    changes = ChangeSet(tuple(_anew(file) if file.path in made else file for file in found.files))
    touched = {file.path for file in changes.files}
    modules: dict[str, ModuleFile] = {module.path: module for plan in plans for module in plan.modules}
    return Plan(
        changes=changes,
        changed=tuple(dict.fromkeys(address for plan in plans for address in plan.changed)),
        seen=tuple(etag for plan in plans for etag in plan.seen),
        modules=tuple(module for path, module in modules.items() if path in touched),
        warnings=tuple(dict.fromkeys(_warnings(first, last, plans, changes))),
        summary=_summary(plans, to_nothing=not changes),
        report=together([plan.report for plan in plans if plan.report is not None]),
        unused=tuple(address for plan in plans for address in plan.unused),
        takes=any(plan.takes for plan in plans),
        circles=any(plan.circles for plan in plans),
    )


def _provenance(plans: Sequence[Plan]) -> tuple[dict[str, str], set[str]]:
    """Return where each file in the end came from that has another name than at first, and which ones are made here."""
    origins: dict[str, str] = {}
    made: set[str] = set()
    for plan in plans:
        came, fresh = dict(origins), set(made)
        for file in plan.changes.files:
            if file.before is not None and file.after is not None and file.origin is None:
                continue  # it stays what it is
            origins.pop(file.path, None)
            made.discard(file.path)
            if file.after is not None and (file.origin is None or file.origin in fresh):
                made.add(file.path)
            elif file.after is not None and file.origin is not None:
                origins[file.path] = came.get(file.origin, file.origin)
    return {path: origin for path, origin in origins.items() if path != origin}, made


def _anew(file: FileChange) -> FileChange:
    """Return the change of a file that takes the name of another."""
    return file if file.before is None else replace(file, anew=True)


def _summary(plans: Sequence[Plan], *, to_nothing: bool) -> str:
    if len(plans) == 1:
        return plans[0].summary
    come = " that come to nothing" if to_nothing else ""
    about = list(dict.fromkeys(plan.summary.rstrip(".") for plan in plans))
    shown = "; ".join(about[:3]) + (f"; and {len(about) - 3} more" if len(about) > 3 else "")
    return f"{len(plans)} changes{come}: {shown}."


def _warnings(first: Workspace, last: Workspace, plans: Sequence[Plan], changes: ChangeSet) -> Iterator[Notice]:
    """Yield what is to be said: what a later change may have mended is looked at once more, in the end."""
    names = dict.fromkeys(plan.gone for plan in plans[:-1] if plan.gone)
    if not names:
        for plan in plans:
            yield from plan.warnings
        return
    from bae_source.refactoring.planning import (
        left_behind,
        moved_imports,  # names across files, which most changes need not
    )

    names.update(dict.fromkeys(plan.gone for plan in plans if plan.gone))
    again = {*left_behind.TOLD, *moved_imports.TOLD}
    for plan in plans:
        yield from (notice for notice in plan.warnings if not plan.gone or notice.code not in again)
    yield from moved_imports.broken_at_last(first, last, changes)
    reported = {plan.gone for plan in plans if plan.report is not None}  # which says of all else where it is named
    for name in names:
        found = left_behind.left_at_last(last, name)
        yield from (each for each in found if name not in reported or each.code == "still_imported")
