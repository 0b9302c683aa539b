"""Modules that a change may keep from being imported: they import, at any distance, one that loses something.

    app/core.py        loses `f`, or takes it out of `__all__`
    app/__init__.py    from .core import *        imports app.core, and takes whatever there is
    app/web.py         from app import f          imports it through app, and its text has an `f`
    app/cli.py         import app                 imports it, and its text has no `f`: not among them

Imports and words decide, not what the words mean: the import of a module that uses nothing of it takes time, and does
no harm. So what is found where it is used by what a name means (`planning/still_used`) is only a part of this.

Invariants:
- a change that takes nothing away costs the comparison of two outlines;
- imports that run when a function is called are not followed, nor those for type checkers alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Set

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.changeset import ChangeSet
from bae_source.project.importing.graph import ImportGraph
from bae_source.project.importing.importers import calls_importing
from bae_source.project.references.meaning.meanings import InModule
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE, ImportBinding, Kind, Outline

_MOST_WORDS = 200
"""Words beyond which every importer is taken for one that has some of them."""
_STAR = re.compile(rb"\bimport[\s\\(]*\*")
_Path = tuple[str, ...]


class _Losing(Struct, frozen=True, kw_only=True):
    """A module that loses something.

    Parameters:
        paths: its file, and that of the package which has it as an attribute, if the module goes itself.
        words: by which others may use what goes.
        callers: files that import the module, which goes, by a call.
    """

    paths: tuple[str, ...]
    words: frozenset[str]
    callers: tuple[str, ...] = ()


def breakable(workspace: Workspace, changes: ChangeSet) -> list[str]:
    """Return the files of modules that a change may keep from being imported, without those that it changes.

    Parameters:
        workspace: the project as it is before the change.
    """
    altered = list(_altered(workspace, changes))
    if not altered:
        return []
    graph = ImportGraph(workspace, workspace.census)
    found: dict[str, None] = {}
    for path, before, after in altered:
        losing = _gone(workspace, graph, path, before) if after is None else _losing(graph, path, before, after)
        importers = graph.importing(losing.paths) if losing.words else []
        every = "__getattr__" in losing.words or len(losing.words) > _MOST_WORDS
        speaking = set(importers if every else workspace.index.naming(losing.words).paths)
        found |= dict.fromkeys(path for path in importers if path in speaking or _stars(workspace, path))
        found |= dict.fromkeys(losing.callers)
    changed = {file.path for file in changes.files}
    return [path for path in found if path not in changed]


def _stars(workspace: Workspace, path: str) -> bool:
    try:
        return _STAR.search(workspace.glance(path) or b"") is not None
    except ResourceError:
        return False


def _altered(workspace: Workspace, changes: ChangeSet) -> Iterator[tuple[str, Outline, Outline | None]]:
    """Yield the modules that bind other names than before, or export others, as they are before and afterwards."""
    for file in changes.files:
        module = workspace.layout.module_at(file.path) if file.path.endswith(".py") else None
        if module is None or file.before is None:
            continue
        try:
            tree = workspace.tree(module)
            trees = workspace.kept.trees
            after = None if file.after is None else trees.get(file.apply(tree.source.content), file.after).outline
        except ResourceError:
            continue  # a module that does not parse has no names to take; if it does not afterwards, it fails itself
        if after is None or _facts(tree.outline) != _facts(after):
            yield file.path, tree.outline, after


def _facts(outline: Outline) -> tuple[object, ...]:
    imports = [(each.name, each.module, each.attribute, each.level) for each in outline.imports]
    return _defined(outline), imports, outline.exported


def _gone(workspace: Workspace, graph: ImportGraph, path: str, outline: Outline) -> _Losing:
    """Return the names lost with a module that goes, or that another file replaces."""
    name = graph.name(path)
    word = name.rpartition(".")[2]
    itself = Sought(name=word, word=word, module=name, dotted=name, meanings=frozenset({InModule(path)}))
    return _Losing(
        paths=(path, *graph.packages(path)[-1:]),
        words=frozenset({word, *_bound(outline)}),
        callers=tuple(each.path for each, _ in calls_importing(project_of(workspace), itself)),
    )


def _losing(graph: ImportGraph, path: str, before: Outline, after: Outline) -> _Losing:
    words = {*_undefined(before, after), *_taken_out(before, after), *_unimported(graph, path, before, after)}
    return _Losing(paths=(path,), words=frozenset(words))


def _bound(outline: Outline) -> Iterator[str]:
    yield from outline.names_in(MODULE)
    yield from (each.name for each in outline.imports if each.name != "*")


def _undefined(before: Outline, after: Outline) -> Iterator[str]:
    """Yield the names that are defined less often than before: one of two branches may be the one that runs."""
    for path in _defined(before) - _defined(after):
        yield path[-1]
        if len(path) > 1 and path[-1].startswith("__"):
            yield path[-2]  # nothing but the class mentions its `__init__`


def _defined(outline: Outline) -> Counter[_Path]:
    """Return how often each name is defined outside functions."""
    found: Counter[_Path] = Counter()
    inside: set[int] = set()
    for index, each in enumerate(outline.definitions):
        if each.parent in inside:
            inside.add(index)
            continue
        if each.kind is Kind.FUNCTION:
            inside.add(index)
        above = outline.qualname(each.parent)
        found.update((*above, name) for name in each.names)
    return found


def _taken_out(before: Outline, after: Outline) -> Set[str]:
    """Return the names that a star import takes either before or afterwards, if `__all__` says so."""
    if before.exported == after.exported:
        return frozenset()
    return {*before.public} ^ {*after.public}


def _unimported(graph: ImportGraph, path: str, before: Outline, after: Outline) -> Iterator[str]:
    """Yield the words by which others may use what a module no longer imports from the project.

    from .a import f        in a package: `f`, and the module `a`, which it had as an attribute
    """
    still = {file for each in after.imports for file in _run_by(graph, path, each)}
    names = Counter(each.name for each in before.imports) - Counter(each.name for each in after.imports)
    for each in before.imports:
        gone = [file for file in _run_by(graph, path, each) if file not in still]
        if gone or (each.name in names and any(_run_by(graph, path, each))):
            yield from {each.name, each.attribute or each.name} - {"*"}
        yield from (graph.name(file).rpartition(".")[2] for file in gone)


def _run_by(graph: ImportGraph, path: str, each: ImportBinding) -> Iterator[str]:
    return graph.run_by(path, each.module, each.attribute, each.level)
