"""References to modules that go away: reported with the change, and not mended.

    from pkg.old import f           a module that imports it
    patch("pkg.old.f")              a string that may lead to it
    cli = "pkg.old:main"            an entry point in the project's settings
    _LAZY = {"f": ".old"}           a table by which a package finds names when they are asked for

Invariants:
- each notice is sure, or marked as unsure: a file that was not read is counted, never taken for one without uses;
- the work is bounded: the text tells which files can import it at all, and only the first of many are parsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, structs

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.text import listed
from bae_source.project.files.unseen import name_at
from bae_source.project.importing.by_text import may_import
from bae_source.project.importing.importers import calls_importing
from bae_source.project.importing.lazily_named import in_tables
from bae_source.project.naming.resolve import absolute_name
from bae_source.project.references.meaning.meanings import InModule, Symbol
from bae_source.project.references.meaning.project import Project, project_of
from bae_source.project.references.meaning.sought import Sought
from bae_source.project.references.search.strings import in_settings
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.extent import Extent
from bae_source.syntax.names import uses as u

NOTICE_CODES = ("still_imported", "perhaps_imported", "named_in_strings", "not_searched")
"""Codes of the notices of this module."""

_MOST_FILES = 100
_MOST_SHOWN = 10


class _Found(Struct, kw_only=True):
    """References to the modules, as `pkg.mod:12`, and the files that import them."""

    sure: list[str] = []
    importers: list[str] = []
    perhaps: list[str] = []
    strings: list[str] = []
    unread: list[str] = []


def left_behind(workspace: Workspace, extent: Extent) -> tuple[Notice, ...]:
    """Return the notices about places that refer to a module or a package by its name.

    Parameters:
        workspace: the project as it is before the change.
        extent: the module or package.
    """
    return _notices_about(workspace, extent.name, frozenset(extent.files))


def left_at_last(workspace: Workspace, name: str) -> tuple[Notice, ...]:
    """Return the notices about places that still refer to a module or a package by a name that has gone.

    Parameters:
        workspace: the project as all changes leave it; no notices are given if it has such a module again.
    """
    parts = tuple(name.split("."))
    if any(found.length == len(parts) for found in workspace.layout.prefixes(parts)):
        return ()
    return _notices_about(workspace, name, frozenset())


def importing(notices: Iterable[Notice]) -> str:
    """Return the places that surely import a module, by the notices about it; "" if there are none."""
    return next((each.about[0] for each in notices if each.code == "still_imported"), "")


def importers_left(workspace: Workspace, names: Iterable[str]) -> list[str]:
    """Return the files that still import modules or packages by names that have gone.

    Parameters:
        workspace: the project as all changes leave it.
    """
    return [path for name in names for path in _searched(workspace, name, frozenset(), most=None)[0].importers]


def _notices_about(workspace: Workspace, name: str, inside: frozenset[str]) -> tuple[Notice, ...]:
    return tuple(_notices(name, *_searched(workspace, name, inside)))


def _searched(
    workspace: Workspace,
    name: str,
    inside: frozenset[str],
    *,
    most: int | None = _MOST_FILES,
) -> tuple[_Found, int]:
    """Return the references to a module by its name, and the number of files that may hold more and were not read.

    Parameters:
        most: how many are read; None for all.
    """
    project = project_of(workspace)
    found = _Found()
    word = name.rpartition(".")[2]
    mentioning = workspace.index.mentioning([word])
    asked = [path for path in mentioning.paths if path not in inside and _may_refer(workspace, path, name)]
    searched = asked[:most]
    project.load(searched)
    for path in searched:
        _look(project, path, name, inside, found)
    found.unread += [name_at(workspace.census, path) for path, _ in mentioning.unreadable if path not in inside]
    sought = Sought(name=word, word=word, module=name, dotted=name, meanings=frozenset())
    strings = in_settings(workspace, sought, [word], project.inference)
    found.strings += [f"{each.module}:{each.line}" for each in strings]
    found.strings += [each for each in in_tables(workspace, name) if each not in found.strings]
    itself = structs.replace(sought, meanings=frozenset(map(InModule, inside)))
    calls = (each for each, _ in calls_importing(project, itself) if each.path not in inside)
    called = dict.fromkeys(f"{name_at(workspace.census, each.path)}:{each.mention.line}" for each in calls)
    found.strings += [each for each in called if each not in found.strings]
    return found, len(asked) - len(searched)


def _notices(name: str, found: _Found, more: int) -> Iterator[Notice]:
    if found.sure:
        places = listed(found.sure, _MOST_SHOWN) + (f", and {more:,} more files speak of it" if more else "")
        yield Notice("still_imported", f"{name} is still imported: {places}.", (places,))
    if found.perhaps:
        shown = listed(found.perhaps, _MOST_SHOWN)
        yield Notice("perhaps_imported", f"{name} may still be imported, from its own folder: {shown}.")
    elif more and not found.sure:
        yield Notice("perhaps_imported", f"{name} may still be imported: {more:,} files speak of it and were not read.")
    if found.strings:
        yield Notice("named_in_strings", f"{name} is still named in strings: {listed(found.strings, _MOST_SHOWN)}.")
    if found.unread:
        yield Notice("not_searched", f"Not searched, so there may be more: {listed(found.unread, _MOST_SHOWN)}.")


def _look(project: Project, path: str, name: str, inside: frozenset[str], found: _Found) -> None:
    """Note the references of one file to the modules.

    Parameters:
        inside: their files.
    """
    called = name_at(project.workspace.census, path)
    module = project.workspace.census.module(path)
    try:
        uses = project.uses(path)
    except ResourceError:
        found.unread.append(called)
        return
    if any(mention.kind == u.MENTION for mention in uses.mentions.get(name.rpartition(".")[2], ())):
        found.unread.append(called)
    for number, imported in enumerate(uses.imports):
        if imported.begins:
            continue
        base = absolute_name(module, imported) if module else None
        dotted = ".".join(map(str, base or ()))
        if _is_within(dotted, name):
            found.sure.append(f"{called}:{imported.line}")
            found.importers.append(path)
        elif imported.attribute and f"{dotted}.{imported.attribute}" == name:
            meanings = project.names.imported(path, number)
            known = [each for each in meanings if isinstance(each, (InModule, Symbol))]
            if not known or any(isinstance(each, InModule) and each.path in inside for each in known):
                found.sure.append(f"{called}:{imported.line}")
                found.importers.append(path)
        elif not imported.level and inside.intersection(project.names.beside(path, imported.module)):
            found.perhaps.append(f"{called}:{imported.line}")
    found.strings += [
        f"{called}:{text.line}"
        for text in uses.strings.get(name.rpartition(".")[2], ())
        if _is_within(text.text.replace(":", "."), name)
    ]


def _is_within(dotted: str, name: str) -> bool:
    return dotted == name or dotted.startswith(f"{name}.")


def _may_refer(workspace: Workspace, path: str, name: str) -> bool:
    """Return whether a file's text may import a module or name it in a string."""
    word = name.rpartition(".")[2]
    return may_import(workspace, path, [word]) or name.encode() in (workspace.glance(path) or b"")
