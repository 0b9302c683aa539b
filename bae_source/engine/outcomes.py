"""The outcome of a plan: its verdict, its diff, the symbols that change, and notices for the caller."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from bae_source.engine.lock_files import locked, shown
from bae_source.errors import ResourceError
from bae_source.history.record.diff import unified_diff
from bae_source.model.changeset import digest
from bae_source.model.outcome import Changed, Notice, Outcome
from bae_source.model.plan import Plan
from bae_source.model.text import counted, listed
from bae_source.project.files.generated import is_generated
from bae_source.project.files.unseen import name_at
from bae_source.project.naming.resolve import resolve
from bae_source.project.naming.spans import span_of
from bae_source.project.workspace import Workspace, etag_of
from bae_source.syntax.text.source import Source

_MOST_NAMED = 3
"""Files that a notice names; the report has all of them."""


def outcome_of(
    plan: Plan,
    workspace: Workspace,
    *,
    status: Literal["planned", "applied", "unchanged"],
    quiet: bool,
    mode_of: Callable[[str], int | None],
) -> Outcome:
    """Return the outcome of a plan, before it is made or instead.

    Parameters:
        quiet: whether mentions are only counted.
        mode_of: the permission bits of a file; None where that is unknown.
    """
    before = {file.path: workspace.content(file.path) or b"" for file in plan.changes.files}
    after = workspace.after(plan.changes)
    files = _files(plan, workspace)
    changed = tuple(Changed(address=each, etag=_etag(after, each, files.get(each))) for each in plan.changed)
    return Outcome(
        status=status,
        text=_text(plan, status, quiet=quiet),
        diff=unified_diff(shown(plan.changes), before, mode_of),
        changed=changed if plan.changes else (),
        warnings=(*plan.warnings, *_unread(plan), *_generated(plan, before), *locked(plan.changes, before)),
        etag=changed[0].etag if changed else None,
        address=changed[0].address if changed else None,
        report=plan.report.as_data() if plan.report is not None else None,
    )


def _unread(plan: Plan) -> list[Notice]:
    """Return notices of files that a refactoring could not read."""
    unparsed = plan.report.unparsed if plan.report is not None else ()
    if len(unparsed) > _MOST_NAMED:
        named = listed([name for name, _ in unparsed], _MOST_NAMED)
        message = f"{len(unparsed)} files could not be looked into, so there may be more places in them: {named}."
        return [Notice("not_searched", message)]
    reasons = (error.clause_about(name) for name, error in unparsed)
    return [Notice("not_searched", f"{reason}, so there may be more places in it.") for reason in reasons]


def _generated(plan: Plan, before: Mapping[str, bytes]) -> list[Notice]:
    """Return notices of files that a refactoring changes although a program writes them."""
    if plan.report is None:
        return []

    names = {each.path: each.name for each in plan.modules}
    found = [names[path] for path, content in before.items() if path in names and is_generated(path, content)]
    what = "is generated: what writes it" if len(found) == 1 else "are generated: what writes them"
    message = f"{listed(found, _MOST_NAMED)} {what} has to change as well."
    return [Notice("generated", message)] if found else []


def _text(plan: Plan, status: str, *, quiet: bool) -> str:
    verdict = plan.summary if status != "planned" else f"Dry run, nothing was changed: {plan.summary}"
    if plan.report is None:
        return verdict
    from bae_source.project.references.search.answering import listed_places  # for refactorings alone

    if not quiet or not plan.report.mentions:
        return "\n\n".join([verdict, *listed_places(plan.report.left)])
    left = (*plan.report.probable, *plan.report.unsure)
    mentions = f"{counted(len(plan.report.mentions), 'mention')} left as they are."
    return "\n\n".join([verdict, *(listed_places(left) if left else ()), mentions])


def _files(plan: Plan, workspace: Workspace) -> dict[str, str]:
    """Return the paths of the files that a refactoring changes, by their names; there may be hundreds to look up."""
    if plan.report is None:
        return {}

    return {name_at(workspace.census, file.path): file.path for file in plan.changes.files if file.after is not None}


def _etag(workspace: Workspace, address: str, path: str | None) -> str | None:
    """Return the etag that a symbol or a file will have; None once it is gone.

    Parameters:
        path: of the file, where it is known.
    """
    try:
        content = workspace.content(path) if path is not None else None
        if content is not None:
            return digest(content)[:16] if ":" in address else etag_of(Source(content).text)
        if ":" in address:
            from bae_source.refactoring.planning.data_changes import etag_of_data  # which code has nothing to do with

            return etag_of_data(workspace, address)
        resolved = resolve(workspace, address)
        return etag_of(span_of(resolved).cut(resolved.tree.text))
    except ResourceError:
        return None
