"""Relative imports that mean something else once several changes have given their module another name.

    pkg/core.py     from .base import f      moved to pkg.net.core, and written with the same import once more there:
                                             it meant pkg.base, and means pkg.net.base

Invariants:
- what leads into what is moved along means the same as before, and is not spoken of;
- a file that cannot be read is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bae_source.errors import ResourceError
from bae_source.model.changeset import ChangeSet
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.project.naming.resolve import absolute_name
from bae_source.project.references.meaning.project import project_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.names.uses import Imported

TOLD = ("relative_imports", "not_searched")
"""The codes of what is said here."""

_MOST_SHOWN = 10
_RELATIVE = re.compile(rb"(?m)\bfrom(?:[ \t\f]|\\\r?\n)*\.")


def broken_at_last(first: Workspace, last: Workspace, changes: ChangeSet) -> tuple[Notice, ...]:
    """Return what to say of relative imports that several changes move and leave as they were.

    Parameters:
        first: the project as it is before all of them.
        last: as all of them leave it.
        changes: what they come to together.
    """
    paths = {file.origin: file.path for file in changes.files if file.origin and file.path.endswith((".py", ".pyi"))}
    before = {path: first.layout.module_at(path) for path in paths}
    after = {path: last.layout.module_at(new) for path, new in paths.items()}
    names = {here.name: there.name for path, here in before.items() if here and (there := after[path])}
    found: list[str] = []
    unread: list[str] = []
    for path, new in paths.items():
        here, there = before[path], after[path]
        if here is None or there is None or not _RELATIVE.search(_bytes(last, new)):
            continue
        try:
            stood = {_words(each) for each in project_of(first).uses(path).imports}
            imports = project_of(last).uses(new).imports
        except ResourceError:
            unread.append(there.name)
            continue
        for each in (each for each in imports if each.level and not each.begins and _words(each) in stood):
            meant, means = _named(here, each), _named(there, each)
            if meant is not None and means != _moved(meant, names):
                found.append(_told(there, each, meant, means))
    return tuple(_notices(list(dict.fromkeys(found)), unread))


def _words(imported: Imported) -> tuple[int, str, str]:
    return imported.level, imported.module, imported.attribute


def _moved(name: str, names: Mapping[str, str]) -> str:
    """Return what a module is called after the moves: by itself, or along with a package around it."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        new = names.get(".".join(parts[:length]))
        if new is not None:
            return ".".join((new, *parts[length:]))
    return name


def _named(module: ModuleFile, imported: Imported) -> str | None:
    """Return the module that a relative import names: what it takes from a package alone counts as one."""
    base = absolute_name(module, imported)
    if base is None:
        return None
    bare = not imported.module and imported.attribute not in ("", "*")
    return ".".join([*map(str, base), *([imported.attribute] if bare else [])])


def _told(module: ModuleFile, imported: Imported, before: str, now: str | None) -> str:
    means = f"means {now} now" if now else "leads out of the top package now"
    return f"{module.name}:{imported.line} meant {before} and {means}"


def _notices(found: list[str], unread: list[str]) -> Iterator[Notice]:
    if found:
        more = f"; and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        yield Notice("relative_imports", f"Relative imports to mend: {'; '.join(found[:_MOST_SHOWN])}{more}.")
    if unread:
        shown = ", ".join(unread[:_MOST_SHOWN]) + (" and more" if len(unread) > _MOST_SHOWN else "")
        yield Notice("not_searched", f"Their relative imports could not be read: {shown}.")


def _bytes(workspace: Workspace, path: str) -> bytes:
    return workspace.content(path) or b""
