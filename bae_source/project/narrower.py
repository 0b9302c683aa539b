"""Calls that ask for less than a request did: the same about the parts of the place that it was about."""

from __future__ import annotations

from bae_source.errors import ResourceError
from bae_source.model.call import call_of
from bae_source.model.request import Request, as_mapping, parse
from bae_source.project.workspace import Workspace

_INSIDE = ("read", "outline")
"""Requests that show what is in their target; others with a target are about what lies elsewhere."""
_MOST = 5


def narrower(workspace: Workspace, asked: Request) -> list[str]:
    """Return a few calls whose answers are shorter; none where nobody can tell which."""
    fields = as_mapping(asked)
    calls: list[str] = []
    if fields.get("full") and fields.get("target"):
        calls.append(_with(asked, "full", False))
    if isinstance(depth := fields.get("depth"), int) and depth > 1:
        calls.append(_with(asked, "depth", 1))
    place = "scope" if "scope" in fields else "target" if "target" in fields and asked.verb in _INSIDE else None
    if place is not None:
        calls += [_with(asked, place, name) for name in _parts(workspace, fields[place] or "")]
    return calls[:_MOST]


def _with(asked: Request, name: str, value: object) -> str:
    return call_of(parse(type(asked), {**as_mapping(asked), name: value}))


def _parts(workspace: Workspace, name: str) -> list[str]:
    """Return the largest of what a package, module or class holds, by name."""
    modules = {module.name: module.path for module in workspace.census.modules}
    inner = f"{name}." if name else ""
    stamps = workspace.census.stamps
    sizes: dict[str, int] = {}
    for module, path in modules.items():
        if module.startswith(inner) and module != name:
            part = inner + module[len(inner) :].partition(".")[0]
            sizes[part] = sizes.get(part, 0) + stamps[path].size
    home = name
    while home and home not in modules:
        home = home.rpartition(".")[0]
    if home:
        sizes.update(
            _definitions(
                workspace, modules[home], home, tuple(name[len(home) + 1 :].split(".")) if name != home else ()
            )
        )
    return sorted(sizes, key=lambda part: (-sizes[part], part))


def _definitions(workspace: Workspace, path: str, module: str, qualname: tuple[str, ...]) -> dict[str, int]:
    """Return the lines of what is defined directly in a module, or in a definition of it, by name."""
    try:
        entries = workspace.index.summary(path).entries
    except ResourceError:
        return {}
    parents = {-1}
    for component in qualname:
        parents = {n for n, entry in enumerate(entries) if entry.parent in parents and component in entry.names}
    lead = ".".join([module, *qualname])
    return {
        f"{lead}.{entry.names[0]}": entry.last - entry.first + 1
        for entry in entries
        if entry.parent in parents and entry.kind in ("class", "function")
    }
