"""Modules that take every public name of a module by a star import, and mean something else by a new one.

    from math import *
    from util import *        a new `util.pi` is what `pi` means here from now on
    print(pi)

Invariants:
- star imports are followed through other modules; a name that a module lets out by neither is not asked about.
"""

from __future__ import annotations

from bae_source.errors import ResourceError
from bae_source.model.plan import ModuleFile
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u


def read_by_star(workspace: Workspace, module: ModuleFile, name: str) -> str:
    """Return where code reads a name that a star import would bind to a new one of a module; "" where none does."""
    project = project_of(workspace)
    exported = project.uses(module.path).exported
    if name.startswith("_") or (exported is not None and name not in exported):
        return ""
    for path in sorted(workspace.index.naming([name]).paths):
        try:
            line = _line(project, path, module.path, name) if path != module.path else 0
        except ResourceError:
            continue
        if line:
            found = workspace.census.module(path)
            return f"{found.name if found is not None else path}:{line}"
    return ""


def _line(project: Project, path: str, of: str, name: str) -> int:
    uses = project.uses(path)
    for imported in uses.imports:
        if imported.attribute == name:
            files = project.names.files(path, imported.module, imported.level)
            if any(each != of and _leads(project, each, of) for each in files):
                return imported.line
    if not uses.stars or not _leads(project, path, of):
        return 0
    plain = (u.Mention(*each) for each in uses.mentions.get(name, ()))
    own = (each.line for each in plain if each.receiver == u.PLAIN and not (each.scope and _binds(uses, each, name)))
    return next(own, 0)


def _binds(uses: u.Uses, mention: u.Mention, name: str) -> bool:
    return name in uses.scopes[mention.scope].names


def _leads(project: Project, path: str, of: str) -> bool:
    """Return whether star imports of a file lead to another."""
    waiting, seen = [path], {path}
    while waiting:
        here = waiting.pop()
        uses = project.uses(here)
        for imported in (uses.imports[number] for number in uses.stars):
            files = set(project.names.files(here, imported.module, imported.level))
            if of in files:
                return True
            waiting += files - seen
            seen |= files
    return False
