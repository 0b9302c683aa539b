"""Users of a symbol that is to go: what keeps it from going, and what can go with it.

    delete app.core.send            refused: app.web:7 calls it
    delete --with-imports           app/__init__.py: from .core import send, and "send" in `__all__`, go along

Invariants:
- what stands inside of the symbol itself is no user.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.listed import listed
from bae_source.model.reference import Reference
from bae_source.project.planning import Spliced
from bae_source.project.resolve import Resolved
from bae_source.project.usage.project import Project, project_of
from bae_source.project.usage.references import looked_for, references_to
from bae_source.project.usage.sought import Sought, sought_of
from bae_source.project.workspace import Workspace
from bae_source.syntax import uses as u
from bae_source.syntax.altered import by_path
from bae_source.syntax.exports_all import take_out_of_all
from bae_source.syntax.exports_revision import Revision
from bae_source.syntax.exports_view import view_of
from bae_source.syntax.importing.removing import Import, remove_imported
from bae_source.syntax.locate import group_span

_MOST_SHOWN = 10
_IMPORTING = ("import", "export")


class Users(Struct, frozen=True, kw_only=True):
    """What refers to a symbol from outside of it.

    Parameters:
        using: sure places that use it.
        importing: sure places that only import or export it.
    """

    using: tuple[Reference, ...]
    importing: tuple[Reference, ...]

    @property
    def shown(self) -> str:
        """The places, as a sentence has them."""
        places = sorted({(each.module, each.line) for each in (*self.using, *self.importing)})
        return listed((f"{module}:{line}" for module, line in places), _MOST_SHOWN)


def users_of(workspace: Workspace, resolved: Resolved) -> Users:
    """Return what surely refers to a symbol, but for what goes with it."""
    assert resolved.group is not None
    tree = resolved.tree
    span, lines = group_span(tree.outline, resolved.group.members), tree.source.lines
    first, last = lines.number(span.start), lines.number(max(span.start, span.end - 1))
    found = [
        each
        for each in references_to(project_of(workspace), resolved).found
        if each.certainty == "sure" and not (each.module == resolved.module.name and first <= each.line <= last)
    ]
    return Users(
        using=tuple(each for each in found if each.kind not in _IMPORTING),
        importing=tuple(each for each in found if each.kind in _IMPORTING),
    )


def is_bound(after: Workspace, resolved: Resolved) -> bool:
    """Say whether a module binds the name of a symbol, as a change leaves it."""
    outline = after.tree(resolved.module).outline
    path = tuple(segment.name for segment in resolved.address.qualname)
    return path in by_path(outline) or path in {(each.name,) for each in outline.imports}


def without_importers(workspace: Workspace, resolved: Resolved) -> Iterator[Spliced]:
    """Yield what takes a symbol out of the imports and the `__all__` of other modules, and of its own.

    What changes in its own module has no targets, and is to be joined with the deletion.
    """
    project = project_of(workspace)
    sought = sought_of(project.names, resolved)
    for path, mentions in looked_for(project, sought, workspace.index.naming).files:
        module = workspace.census.module(path)
        if module is None:
            continue
        kinds = {each.mention[3] for each in mentions if each.certainty == "sure"}
        try:
            tree = workspace.tree(module)
        except ResourceError:
            continue
        revision = Revision(tree.text)
        if u.EXPORT in kinds:
            while splices := take_out_of_all(view_of(revision.text), sought.word):
                revision.apply(splices)
        if u.IMPORT in kinds:
            gone = set(_imports(project, sought, path))
            remove_imported(revision, lambda node, alias, gone=gone: _key(node, alias) in gone)  # type: ignore[misc]
        if splices := revision.splices():
            yield Spliced(module=module, splices=tuple(splices), targets=tuple(span for span, _ in splices))


_Key = tuple[str, int, str]


def _imports(project: Project, sought: Sought, path: str) -> Iterator[_Key]:
    """Yield module, level and name of each import of a file that takes the symbol."""
    for number, imported in enumerate(project.uses(path).imports):
        if imported.attribute and project.names.imported(path, number) <= sought.meanings:
            yield imported.module, imported.level, imported.attribute


def _key(node: Import, alias: ast.alias) -> _Key:
    return (node.module or "", node.level, alias.name) if isinstance(node, ast.ImportFrom) else ("", 0, "")
