"""Users of a symbol or module that is to go: those that prevent it, and those that can go with it.

    delete app.core.send                    refused: app.web:7 calls it
    delete app.core.send --with-imports     app/__init__.py: from .core import send, and "send" in `__all__`, go along
    delete app.core --with-imports          the same for all that app.core defines, and for `import app.core`

Invariants:
- code inside the symbols that go is no user.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, structs

from bae_source.errors import ResourceError
from bae_source.model.changeset import ChangeSet
from bae_source.model.outcome import Notice
from bae_source.model.reference import Reference
from bae_source.model.report import Report
from bae_source.model.text import listed
from bae_source.project.files.unseen import name_at
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.calls.from_outside import reasons
from bae_source.project.references.meaning.meanings import InModule, Meaning, Symbol
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.references.search.prose import in_prose
from bae_source.project.references.search.references import references_to, search_code
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.extent import Extent
from bae_source.refactoring.planning.plan import Spliced
from bae_source.syntax.exports.all_names import take_out_of_all
from bae_source.syntax.exports.view import view_of
from bae_source.syntax.importing.removing import Import, remove_imported
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.locate import group_span
from bae_source.syntax.rewrite.altered import by_path
from bae_source.syntax.text.revision import Revision

_MOST_SHOWN = 10
_IMPORTING = ("import", "export")


class Users(Struct, frozen=True, kw_only=True):
    """References to a symbol from outside of it.

    Parameters:
        using: sure places that use it.
        importing: sure places that only import or export it.
        from_outside: where nothing refers to it, what may use it all the same, as a decorator that keeps it may.
    """

    using: tuple[Reference, ...]
    importing: tuple[Reference, ...]
    from_outside: tuple[Notice, ...] = ()

    @property
    def shown(self) -> str:
        """The places, as a sentence has them."""
        places = sorted({(each.module, each.line) for each in (*self.using, *self.importing)})
        return listed((f"{module}:{line}" for module, line in places), _MOST_SHOWN)


class Going:
    """Symbols and modules that go together, so that none of them is a user of another.

    Parameters:
        symbols: definitions.
        modules: names of modules and packages.
    """

    def __init__(self, symbols: Iterable[Resolved], modules: Iterable[str]) -> None:
        self._lines = [(each.module.name, *_lines_of(each)) for each in symbols]
        self._modules = tuple(modules)

    def without(self, users: Users) -> Users:
        """Return the users that stay."""
        return structs.replace(
            users,
            using=tuple(each for each in users.using if not self.goes(each)),
            importing=tuple(each for each in users.importing if not self.goes(each)),
        )

    def goes(self, place: Reference) -> bool:
        """Return whether a place goes itself."""
        if any(place.module == name or place.module.startswith(f"{name}.") for name in self._modules):
            return True
        return any(place.module == name and first <= place.line <= last for name, first, last in self._lines)


def _lines_of(resolved: Resolved) -> tuple[int, int]:
    """Return the first and the last line of a symbol."""
    assert resolved.group is not None
    tree = resolved.tree
    span, lines = group_span(tree.outline, resolved.group.members), tree.source.lines
    return lines.number(span.start), lines.number(max(span.start, span.end - 1))


def users_of(workspace: Workspace, resolved: Resolved) -> Users:
    """Return the sure references to a symbol, without those that go with it."""
    first, last = _lines_of(resolved)
    project = project_of(workspace)
    found = [
        each
        for each in references_to(project, resolved).found
        if each.certainty == "sure" and not (each.module == resolved.module.name and first <= each.line <= last)
    ]
    return Users(
        using=tuple(each for each in found if each.kind not in _IMPORTING),
        importing=tuple(each for each in found if each.kind in _IMPORTING),
        from_outside=() if found else tuple(_from_outside(project, resolved)),
    )


def _from_outside(project: Project, resolved: Resolved) -> Iterator[Notice]:
    if resolved.module.path not in project.workspace.census.stamps or project.workspace.lets_broken_in:
        return
    for reason in reasons(project, sought_of(project.names, resolved)):
        yield Notice("called_from_outside", f"Nothing in the project names {resolved.address}, but {reason}.")
        return


def users_of_modules(workspace: Workspace, extent: Extent) -> Users:
    """Return the sure references to modules, or to their definitions, from outside them."""
    project, inside = project_of(workspace), frozenset(extent.files)
    found = [
        project.shown(each, project.lines(path))
        for sought in _in_modules(project, inside)
        for path, mentions in search_code(project, sought, workspace.index.naming).files
        for each in mentions
        if path not in inside and each.certainty == "sure"
    ]
    return Users(
        using=tuple(each for each in found if each.kind not in _IMPORTING),
        importing=tuple(each for each in found if each.kind in _IMPORTING),
    )


def report_of(workspace: Workspace, going: Sequence[Resolved], changes: ChangeSet) -> Report:
    """Return the report on symbols and modules that go: possible references, and mentions, which stay.

    Parameters:
        changes: all that their deletion changes.
    """
    project = project_of(workspace)
    symbols = [each for each in going if each.group is not None]
    modules = [each.module.name for each in going if each.group is None]
    inside = Going(symbols, modules)
    unsure: dict[Reference, None] = {}
    mentions: dict[Reference, None] = {}
    unread: dict[str, ResourceError] = {}
    complete = True
    for resolved in going:
        found = references_to(project, resolved)
        left = [each for each in found.found if each.certainty != "sure" and not inside.goes(each)]
        unread.update(found.unreadable)
        named = {(each.module, each.line) for each in left if each.certainty == "mention"}
        spoken, notices = in_prose(workspace, sought_of(project.names, resolved), named)
        complete = complete and not notices
        unsure.update(dict.fromkeys(each for each in left if each.certainty != "mention"))
        mentions.update(dict.fromkeys(each for each in left if each.certainty == "mention"))
        mentions.update(dict.fromkeys(each for each in spoken if not inside.goes(each)))
    own = {each.module.path for each in going}
    others = {name_at(workspace.census, file.path): len(file.edits) for file in changes.files if file.path not in own}
    return Report(
        changed={**{str(each.address): 1 for each in going}, **others},
        unsure=tuple(unsure),
        mentions=tuple(mentions),
        unparsed=tuple((name_at(workspace.census, path), unread[path]) for path in sorted(unread)),
        complete=complete and not unread,
    )


def is_bound(after: Workspace, resolved: Resolved) -> bool:
    """Return whether a module binds the name of a symbol, as a change leaves it."""
    outline = after.tree(resolved.module).outline
    path = tuple(segment.name for segment in resolved.address.qualname)
    return path in by_path(outline) or path in {(each.name,) for each in outline.imports}


def without_importers(workspace: Workspace, resolved: Resolved) -> Iterator[Spliced]:
    """Yield the changes that take a symbol out of the imports and the `__all__` of other modules, and of its own.

    What changes in its own module has no targets, and is to be joined with the deletion.
    """
    project = project_of(workspace)
    yield from _without(project, [sought_of(project.names, resolved)], frozenset())


def without_importers_of_modules(workspace: Workspace, extent: Extent) -> Iterator[Spliced]:
    """Yield the changes that take modules, and their definitions, out of the imports and `__all__` of other modules."""
    project, inside = project_of(workspace), frozenset(extent.files)
    yield from _without(project, list(_in_modules(project, inside)), inside)


def _in_modules(project: Project, inside: Iterable[str]) -> Iterator[Sought]:
    """Yield the targets of searches for modules and their definitions."""
    for path in inside:
        if (module := project.workspace.census.module(path)) is None or not path.endswith(".py"):
            continue
        word = module.name.rpartition(".")[2]
        yield Sought(name=word, word=word, module=module.name, dotted=module.name, meanings=frozenset({InModule(path)}))
        for name, bindings in project.uses(path).scopes[0].names.items():
            if any(binding.how != u.IMPORTED for binding in bindings):
                dotted, meanings = f"{module.name}.{name}", frozenset[Meaning]({Symbol(path, 0, name)})
                yield Sought(name=name, word=name, module=module.name, dotted=dotted, meanings=meanings)


def _without(project: Project, soughts: Sequence[Sought], inside: frozenset[str]) -> Iterator[Spliced]:
    """Yield the changes that take symbols and modules out of the imports and the `__all__` of all modules but some."""
    exported: dict[str, set[str]] = {}
    imported: dict[str, set[_Key]] = {}
    for sought in soughts:
        for path, mentions in search_code(project, sought, project.workspace.index.naming).files:
            kinds = {each.mention.kind for each in mentions if each.certainty == "sure"}
            if u.EXPORT in kinds:
                exported.setdefault(path, set()).add(sought.word)
            if u.IMPORT in kinds:
                imported.setdefault(path, set()).update(_imports(project, sought, path, inside))
    for path in sorted({*exported, *imported} - inside):
        module = project.workspace.census.module(path)
        try:
            tree = project.workspace.tree(module) if module is not None else None
        except ResourceError:
            continue
        if module is None or tree is None:
            continue
        revision = Revision(tree.text)
        for word in sorted(exported.get(path, ())):
            while splices := take_out_of_all(view_of(revision.text), word):
                revision.apply(splices)
        gone = imported.get(path, set())
        remove_imported(revision, lambda node, alias, gone=gone: _key(node, alias) in gone)  # type: ignore[misc]
        if splices := revision.splices():
            yield Spliced(module=module, splices=tuple(splices), targets=tuple(span for span, _ in splices))


_Key = tuple[str, int, str]


def _imports(project: Project, sought: Sought, path: str, inside: frozenset[str]) -> Iterator[_Key]:
    """Yield module, level and name of each import of a file that takes the symbol, or anything of modules that go."""
    for number, imported in enumerate(project.uses(path).imports):
        files = project.names.files(path, imported.module, imported.level) if inside and not imported.begins else ()
        is_of_modules = bool(files) and inside.issuperset(files)
        if is_of_modules or (imported.attribute and project.names.imported(path, number) <= sought.meanings):
            yield imported.module, imported.level, imported.attribute


def _key(node: Import, alias: ast.alias) -> _Key:
    return (node.module or "", node.level, alias.name) if isinstance(node, ast.ImportFrom) else (alias.name, 0, "")
