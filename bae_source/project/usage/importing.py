"""What a module imports, and who imports it."""

from __future__ import annotations

from bae_source.errors import RequestError, ResourceError
from bae_source.model.reference import Certainty, Reference
from bae_source.project.resolve import Resolved, resolve
from bae_source.project.usage.meaning import InModule, Meaning, Outside, Symbol
from bae_source.project.usage.project import Project
from bae_source.project.usage.search import mentions_of
from bae_source.project.usage.sought import Sought
from bae_source.project.workspace import Workspace
from bae_source.syntax import uses as u
from bae_source.syntax.source import Lines


def module_asked(workspace: Workspace, target: str, *, instead: str) -> Resolved:
    """Return the module that a name means.

    Parameters:
        instead: the verb to ask about a symbol with.

    Raises:
        RequestError: `invalid_arguments` if it means a symbol.
        ResourceError: as `resolve`.
    """
    resolved = resolve(workspace, target)
    if resolved.group is not None:
        raise RequestError(
            "invalid_arguments",
            f"{resolved.address} is no module.",
            hints=[f"Ask about {resolved.module.name}, or {instead} {resolved.address.whole}."],
        )
    return resolved


def imports_of(project: Project, path: str) -> list[Reference]:
    """Return what a module imports, in source order: modules, and names by where they are defined."""
    lines = project.lines(path)
    found = []
    uses = project.uses(path)
    for number, imported in enumerate(uses.imports):
        if imported.begins:
            continue
        address, certainty, why = _imported(project, path, number, imported)
        module = project.workspace.census.module(path)
        found.append(
            Reference(
                module=module.name if module else "",
                address=address,
                line=imported.line,
                column=1,
                kind="import",
                certainty=certainty,
                why=why,
                text=lines.cut(imported.line).strip(),
            )
        )
    return found


def importers_of(project: Project, sought: Sought) -> tuple[list[Reference], dict[str, ResourceError]]:
    """Return the import statements that name a module, or something in it."""
    mentions, unreadable = mentions_of(project, sought, [u.IMPORT])
    found: dict[tuple[str, int], Reference] = {}
    lines: dict[str, Lines] = {}
    for mentioned in mentions:
        if mentioned.path not in lines:
            lines[mentioned.path] = project.lines(mentioned.path)
        reference = project.shown(mentioned, lines[mentioned.path])
        found.setdefault((mentioned.path, reference.line), reference)
    ordered = sorted(found.values(), key=lambda each: (each.module, each.line, each.column))
    return ordered, unreadable


def _imported(project: Project, path: str, number: int, imported: u.Imported) -> tuple[str, Certainty, str]:
    """Return the address of what is imported, how sure that is, and why not."""
    if imported.attribute == "*":
        files = project.names.files(path, imported.module, imported.level)
        outside: frozenset[Meaning] = frozenset({Outside(imported.module)})
        meanings = frozenset(map(InModule, files)) or outside
    else:
        meanings = project.names.imported(path, number)
    addresses = sorted(_address(project, meaning) for meaning in meanings if meaning is not None)
    if len(addresses) == 1 and None not in meanings:
        return addresses[0], "sure", ""
    written = ".".join(part for part in (imported.module, imported.attribute) if part)
    why = "it may be several things" if addresses else "nothing that can be seen defines it"
    return (addresses[0] if addresses else "." * imported.level + written), "unsure", why


def _address(project: Project, meaning: Meaning) -> str:
    if isinstance(meaning, Outside):
        return meaning.name
    if isinstance(meaning, InModule):
        return project.address(meaning.path, 0)
    assert isinstance(meaning, Symbol)
    first = project.uses(meaning.path).scopes[meaning.scope].names[meaning.name][0]
    return project.bound(meaning.path, meaning.scope, meaning.name, first).address
