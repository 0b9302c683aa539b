"""Calls that ask for less than a request did: the same about the parts of the place that it was about."""

from __future__ import annotations

from bae_source.errors import ResourceError
from bae_source.model.call import call_of
from bae_source.model.plan import ModuleFile
from bae_source.model.request import Request, as_mapping, parse
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace

_INSIDE = ("read", "outline")
"""Requests that show what is in their target; others with a target are about what lies elsewhere."""
_ANYWHERE = "**"
_MOST = 5


def narrower(workspace: Workspace, request: Request) -> list[str]:
    """Return a few calls whose answers are shorter; none where such calls are not known."""
    fields = as_mapping(request)
    calls: list[str] = []
    if fields.get("full") and fields.get("target"):
        calls.append(_with(request, "full", False))
    if isinstance(depth := fields.get("depth"), int) and depth > 1:
        calls.append(_with(request, "depth", 1))
    place = "scope" if "scope" in fields else "target" if "target" in fields and request.verb in _INSIDE else None
    if place is not None and isinstance(fields[place], tuple):
        calls += [_with(request, place, name) for name in fields[place]]
    elif place is not None:
        calls += [_with(request, place, name) for name in _parts(workspace, fields[place] or "")]
    if request.verb == "glob" and fields["pattern"].startswith(_ANYWHERE):
        calls += [_with(request, "pattern", f"{name}.{fields['pattern']}") for name in _parts(workspace, "")]
    return calls[:_MOST]


def _with(request: Request, name: str, value: object) -> str:
    return call_of(parse(type(request), {**as_mapping(request), name: value}))


def _parts(workspace: Workspace, name: str) -> list[str]:
    """Return the names of the largest members of a package, module or class."""
    inner = f"{name}." if name else ""
    stamps = workspace.census.stamps
    sizes: dict[str, int] = {}
    for module in workspace.census.modules:
        if module.name.startswith(inner) and module.name != name:
            part = inner + module.name[len(inner) :].partition(".")[0]
            sizes[part] = sizes.get(part, 0) + stamps[module.path].size
    if name:
        sizes.update(_defined(workspace, name))
    return sorted(sizes, key=lambda part: (-sizes[part], part))


def _defined(workspace: Workspace, name: str) -> dict[str, int]:
    """Return the number of lines of each definition directly in a module or a symbol, by its own name."""
    try:
        found = resolve(workspace, name)
    except ResourceError:
        return {}  # a namespace package, or data files
    return _definitions(workspace, found.module, tuple(segment.name for segment in found.address.qualname))


def _definitions(workspace: Workspace, module: ModuleFile, qualname: tuple[str, ...]) -> dict[str, int]:
    try:
        entries = workspace.index.summary(module.path).entries
    except ResourceError:
        return {}
    parents = {-1}
    for component in qualname:
        parents = {n for n, entry in enumerate(entries) if entry.parent in parents and component in entry.names}
    lead = ".".join([module.name, *qualname])
    return {
        f"{lead}.{entry.names[0]}": entry.last - entry.first + 1
        for entry in entries
        if entry.parent in parents and entry.kind in ("class", "function")
    }
