"""Names that an import gives to something else, as targets of their own: the name changes, not what it stands for.

    import numpy as np               app.core.np -> app.core.numpy: here, and where others take `np` from app.core
    from app.core import send as s   app.web.s
    from app.core import send        none: app.web.send is the definition, under its own name

Invariants:
- every statement that binds the name is such an import; what a definition binds, too, is that definition;
- an import in the suite of a class gives an attribute, which is none.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from bae_source.errors import ResourceError
from bae_source.model.address import Segment
from bae_source.model.outcome import Notice
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.locate import Group


def alias_of(workspace: Workspace, target: str) -> Resolved | None:
    """Return the alias that a name means, as a group without members; None where it means anything else."""
    outer, _, name = target.rpartition(".")
    if not outer or not name.isidentifier():
        return None
    try:
        owner = resolve(workspace, outer)
        if owner.through is not None or owner.address.part is not None or owner.module.path.endswith(".pyi"):
            return None
        qualname = (*owner.address.qualname, Segment(name))
        address = structs.replace(owner.address, qualname=qualname)
        found = structs.replace(owner, address=address, group=Group(members=(), qualname=qualname))
        project = project_of(workspace)
        sought = sought_of(project.names, found)
        symbols = [each for each in sought.meanings if isinstance(each, Symbol)]
        return found if symbols and not sought.classes and all(_is_alias(project, each) for each in symbols) else None
    except ResourceError:
        return None


def behind(workspace: Workspace, alias: Resolved | None) -> Iterator[Notice]:
    """Yield the notice that the definition behind an alias keeps its name."""
    if alias is None:
        return
    try:
        meant = resolve(workspace, str(alias.address)).address
    except ResourceError:
        return  # it lies outside
    yield Notice("import_alias", f"{alias.address} is another name of {meant}, which keeps its own.")


def project_with(workspace: Workspace, alias: Resolved) -> Project:
    """Return the project as `project_of` does, in which an alias means itself."""
    project = Project(workspace)
    found = sought_of(project.names, alias).meanings
    project.names.kept = frozenset(each for each in found if isinstance(each, Symbol))
    return project


def _is_alias(project: Project, symbol: Symbol) -> bool:
    uses = project.uses(symbol.path)
    bindings = uses.scopes[symbol.scope].names.get(symbol.name, ())
    imports = [uses.imports[number] if how == u.IMPORTED else None for how, number, *_ in bindings]
    return bool(imports) and all(
        each is not None and symbol.name not in (each.attribute or each.module, "*") for each in imports
    )
