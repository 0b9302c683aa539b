"""The imports of a module, and its importers.

from app import client       imports app, and something in it
from . import client         the same, in a module of app
from .client import send     imports app.client, and, in a module of app, something in app
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bae_source.errors import RequestError, ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Certainty, Reference
from bae_source.project.facts.mentions import unseen_in
from bae_source.project.files.layout import import_name
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.references.meaning.meanings import InFolder, InModule, Meaning, Outside, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.references.search.search import mentions_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.static_values import IMPORTERS, Loaded, loaded_at
from bae_source.syntax.text.source import SingleLines, may_name_encoding

_MOST_LINES = 6
"""Lines of a call that imports a module."""
_BY_DOTS = re.compile(rb"\bfrom[\s\\]*\.")


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
    """Return the imports of a module, in source order: modules, and names by their definitions."""
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
    """Return the import statements that name a module, or something in it, and the calls and strings that import it."""
    mentions, unreadable = mentions_of(project, sought, [u.IMPORT, u.STRING])
    mentions += (each for each, _ in calls_importing(project, sought))
    folders = _folders(sought)
    inside = _inside(project, sought, folders)
    unseen = unseen_in(project.workspace, _may_import_by_dots) if folders else ()
    unreadable.update((path, error) for path, error in unseen if path.startswith(folders))
    project.load(inside)
    for path in inside:
        try:
            mentions += _by_dots(project, path, sought)
        except ResourceError as error:
            unreadable[path] = error
    found: dict[tuple[str, int], Reference] = {}
    lines: dict[str, SingleLines] = {}
    for mentioned in sorted(mentions, key=lambda each: each.certainty == "mention"):
        if mentioned.path not in lines:
            lines[mentioned.path] = project.lines(mentioned.path)
        reference = project.shown(mentioned, lines[mentioned.path])
        found.setdefault((mentioned.path, reference.line), reference)
    ordered = sorted(found.values(), key=lambda each: (each.module, each.line, each.column))
    return ordered, unreadable


def _folders(sought: Sought) -> tuple[str, ...]:
    """Return the folders of the package that is searched for, if it is one."""
    paths = [each.path for each in sought.meanings if isinstance(each, InModule)]
    return tuple(path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] == "__init__.py")


def _may_import_by_dots(content: bytes) -> bool:
    return bool(_BY_DOTS.search(content)) or may_name_encoding(content)


def _inside(project: Project, sought: Sought, folders: tuple[str, ...]) -> list[str]:
    """Return the files that seem to import something by dots, which may be in the package that is searched for.

    Parameters:
        folders: of the package.
    """
    census, workspace = project.workspace.census, project.workspace
    if not folders:
        return []
    found = []
    for path in (*(path for path in census.paths if path.startswith(folders)), *census.stubs):
        module = census.module(path)
        if module is None or import_name(module) == sought.module:
            continue  # no other module depends on what a package imports from itself
        try:
            content = workspace.glance(path) or b""
        except ResourceError:
            continue  # the search for the name tells of it
        if _may_import_by_dots(content):
            found.append(path)
    return found


def _by_dots(project: Project, path: str, sought: Sought) -> Iterator[Mentioned]:
    """Yield the import statements of a file whose dots lead to the package that is searched for."""
    uses = project.uses(path)
    leading = {
        number: imported.line
        for number, imported in enumerate(uses.imports)
        if imported.level and sought.meanings.intersection(map(InModule, project.names.files(path, "", imported.level)))
    }
    begun: dict[int, u.Mention] = {
        uses.imports[number].line: u.Mention(0, 0, 0, u.IMPORT, number, 0) for number in leading
    }
    mentions = (mention for found in uses.mentions.values() for mention in found) if leading else ()
    for _, _, scope, kind, number, owner in mentions:
        if kind == u.IMPORT and number in leading:
            begun[leading[number]] = u.Mention(0, 0, scope, kind, number, owner)
    for line, mention in begun.items():
        yield Mentioned(path, mention._replace(line=line), "sure", "")


def calls_importing(project: Project, sought: Sought) -> Iterator[tuple[Mentioned, Loaded]]:
    """Yield the calls that import a module, or something in it, by a name in them, with what they import."""
    for path in project.workspace.index.naming([sought.name]).paths:
        content = project.workspace.content(path) or b""
        if not any(each.encode() in content for each in IMPORTERS):
            continue
        try:
            uses = project.uses(path)
        except ResourceError:
            continue  # the search for its name tells of it
        renamed = {each.name for each in uses.imports if each.attribute == IMPORTERS[0]}.difference(IMPORTERS)
        for function in (*IMPORTERS, *sorted(renamed)):
            for mention in uses.mentions.get(function, ()):
                loaded = (
                    loaded_at(_from(project.lines(path), *mention[:2]), renamed) if mention.kind == u.CALL else None
                )
                if loaded is not None and _leads_into(project, path, loaded, sought):
                    is_known = _is_importer(project, path, function, mention)
                    why = "" if is_known else Reason.OTHER_IMPORTER.of(name=function)
                    found = Mentioned(path, mention._replace(kind=u.IMPORT), "unsure" if why else "sure", why)
                    yield found, loaded


def _from(lines: SingleLines, line: int, column: int) -> str:
    """Return the text of some lines from a place on."""
    first = lines.cut(line).encode()[column:].decode(errors="replace")
    return "".join([first, *(lines.cut(line + each) for each in range(1, _MOST_LINES))])


def _leads_into(project: Project, path: str, loaded: Loaded, sought: Sought) -> bool:
    module, level = loaded
    parts = module.split(".")
    files = (project.names.files(path, ".".join(parts[:length]), level) for length in range(1, len(parts) + 1))
    return any(sought.meanings.intersection(map(InModule, each)) for each in files)


def _is_importer(project: Project, path: str, function: str, mention: u.Mention) -> bool:
    """Return whether a call is of the function that imports a module by name."""
    line, column, scope, _, receiver, _ = mention
    if receiver != u.PLAIN:
        return project.inference.values(path, receiver) == {Outside("importlib")}
    known = frozenset({Outside(f"importlib.{IMPORTERS[0]}"), Outside(f"builtins.{IMPORTERS[1]}")})
    return project.names.named(path, scope, function, line, column) <= known


def _imported(project: Project, path: str, number: int, imported: u.Imported) -> tuple[str, Certainty, str]:
    """Return the address of an import, its certainty, and the reason where it is not sure."""
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
    if addresses:
        return addresses[0], "unsure", Reason.SEVERAL.of(what="what is imported")
    written = "." * imported.level + written
    return written, "unsure", Reason.BOUND_NOWHERE.of(name=written)


def _address(project: Project, meaning: Meaning) -> str:
    if isinstance(meaning, Outside):
        return meaning.name
    if isinstance(meaning, InModule):
        return project.address(meaning.path, 0)
    if isinstance(meaning, InFolder):
        package = project.workspace.census.layout.module_at(f"{meaning.path}/__init__.py")
        return package.name if package else ""
    assert isinstance(meaning, Symbol)
    first = project.uses(meaning.path).scopes[meaning.scope].names[meaning.name][0]
    return project.bound(meaning.path, meaning.scope, meaning.name, first).address
