"""Relative imports that mean something else once their module has another name.

    pkg/core.py     from .base import f      moved to pkg.net.core: it meant pkg.base, and means pkg.net.base then

Invariants:
- what leads into what is moved along means the same as before, and is not spoken of;
- a file that cannot be read is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.project.resolve import absolute_name
from bae_source.project.usage.project import project_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.uses import Imported

_MOST_SHOWN = 10
_RELATIVE = re.compile(rb"(?m)\bfrom(?:[ \t\f]|\\\r?\n)*\.")


def broken_imports(workspace: Workspace, old: str, new: str, paths: Mapping[str, str]) -> tuple[Notice, ...]:
    """Return what to say of relative imports that a move makes mean something else.

    Parameters:
        workspace: the project as it is before the move.
        old, new: the dotted names of what is moved.
        paths: where its files go.
    """
    found: list[str] = []
    unread: list[str] = []
    asked = [path for path in paths if path.endswith((".py", ".pyi")) and _RELATIVE.search(_bytes(workspace, path))]
    project = project_of(workspace)
    project.load(asked)
    for path in asked:
        here, there = workspace.layout.module_at(path), workspace.layout.module_at(paths[path])
        if here is None or there is None:
            continue
        try:
            uses = project.uses(path)
        except ResourceError:
            unread.append(here.name)
            continue
        found += [
            _told(there, each, before, now) for each, before, now in _changed(uses.imports, here, there, old, new)
        ]
    return tuple(_notices(list(dict.fromkeys(found)), unread))


def _changed(
    imports: tuple[Imported, ...], here: ModuleFile, there: ModuleFile, old: str, new: str
) -> Iterator[tuple[Imported, str, str | None]]:
    """Yield each relative import that changes, with the module that it names before and afterwards."""
    for each in imports:
        if not each.level or each.begins:
            continue
        before, after = _named(here, each), _named(there, each)
        if before is None:
            continue  # it has led nowhere before
        wanted = new + before[len(old) :] if before == old or before.startswith(f"{old}.") else before
        if after != wanted:
            yield each, before, after


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
