"""From a name to the code that it means, for requests that also show what does not parse, or has no code of its own."""

from __future__ import annotations

from bae_source.errors import SourceError
from bae_source.model.plan import ModuleFile
from bae_source.project.naming.resolve import Resolved, namespace, resolve
from bae_source.project.workspace import Workspace


def find_code(workspace: Workspace, target: str) -> Resolved | str:
    """Return what a name means; the name alone of a package that has no `__init__`, or one that does not parse.

    Raises:
        ResourceError: as `resolve`.
    """
    package = namespace(workspace, target)
    if package is not None:
        return package.name
    try:
        return resolve(workspace, target)
    except SourceError:
        module = module_named(workspace, target)
        if module is None or not module.package:
            raise
        return module.name


def module_named(workspace: Workspace, target: str) -> ModuleFile | None:
    """Return the one module whose whole name this is, whether it parses or not."""
    parts = tuple(target.split("."))
    whole = [item.file for item in workspace.layout.prefixes(parts) if item.length == len(parts) and item.file]
    return whole[0] if len(whole) == 1 else None
