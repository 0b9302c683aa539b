"""Changes of projects in memory, as plans that checks can be asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bae_source.model.changeset import ChangeSet, between
from bae_source.model.plan import Plan
from bae_source.project.workspace import Workspace
from tests.project.support import workspace

Texts = Mapping[str, str | None]


def changes(files: Mapping[str, str], new: Texts, origins: Mapping[str, str] | None = None) -> ChangeSet:
    """Return the changes that put `new` in the place of what there is; None deletes."""
    before = {path: files[path].encode() if path in files else None for path in new}
    after = {path: text.encode() if text is not None else None for path, text in new.items()}
    return between(before, after, origins)


def planned(
    files: Mapping[str, str], new: Texts, changed: Sequence[str], origins: Mapping[str, str] | None = None
) -> tuple[Workspace, Workspace, Plan]:
    """Return the project before and after a change, and its plan.

    Parameters:
        changed: addresses of the symbols that it is about.
    """
    space = workspace(files)
    made = changes(files, new, origins)
    modules = [space.layout.module_at(path) for path in new]
    plan = Plan(
        changes=made,
        changed=tuple(changed),
        modules=tuple(module for module in modules if module is not None),
        summary="A change.",
    )
    return space, space.after(made), plan
