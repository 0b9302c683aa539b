"""The message about a name that means nothing, or several files: what may have been meant instead.

Invariants:
- every candidate is an address that can be used as it stands, and none is ever chosen for the caller;
- nothing here is loaded or worked out before a name has failed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bae_source.errors import LookupFailed, ResourceError
from bae_source.model.address import Segment
from bae_source.model.closest import closest
from bae_source.model.plan import ModuleFile
from bae_source.project.files.layout import STUB, Found, as_setting, without_names
from bae_source.project.files.unseen import behind_unseen
from bae_source.syntax.outline.locate import find

if TYPE_CHECKING:
    from bae_source.project.workspace import Workspace


def no_module(workspace: Workspace, parts: tuple[str, ...], prefixes: Sequence[Found]) -> LookupFailed:
    """Return the error where no prefix of a name is a module.

    Parameters:
        prefixes: the folders that prefixes of it name, the longest first.
    """
    if alone := _stub_alone(workspace, tuple(map(Segment, parts))):
        return alone
    layout = workspace.layout
    if prefixes:
        folders = [item.folder for item in prefixes if item.name == prefixes[0].name and item.folder]
        inside = [name for folder in folders for name in layout.modules_below(prefixes[0].name, folder)]
        if not inside and (hidden := _unseen(workspace, ".".join(parts))):
            return hidden
        if not any(folder in workspace.census.around for folder in folders):
            return LookupFailed(
                "symbol_not_found",
                f"{prefixes[0].name} is a folder that holds no Python.",
                hints=[f"read :{folders[0]} lists its files."],
                candidates=[f":{folders[0]}"],
            )
        return LookupFailed(
            "symbol_not_found",
            f"{prefixes[0].name} is a namespace package, which has no code of its own"
            + ("." if prefixes[0].length == len(parts) else f", and it has no module {parts[prefixes[0].length]}."),
            candidates=[name for name in inside if layout.prefixes(tuple(name.split(".")))][:10],
        )
    if hidden := _unseen(workspace, ".".join(parts)):
        return hidden
    for project, roots, inner in without_names(layout):
        if any(f"{'.'.join(parts)}.".startswith(f"{name}.") for name in inner):
            address = ".".join((*project.folder.split("/"), *parts)) if roots == [project.folder] else ""
            return LookupFailed(
                "symbol_not_found",
                f"{parts[0]} is in {project.folder}, a project of its own, and not known by the name that imports it.",
                hints=[f"Set {as_setting(layout)} in [tool.bae-source], or take that folder as the root (--root)."],
                candidates=[address] if address and layout.prefixes(tuple(address.split("."))) else [],
            )
    names = sorted({name for root in layout.roots for name in _top_names(workspace, root)} - {parts[0]})
    top = [name for name in names if any(item.file for item in layout.prefixes((name,)))]
    return LookupFailed(
        "symbol_not_found",
        f"The project has no module {parts[0]}.",
        hints=[
            "Check the name, or the root (--root); outline lists the modules.",
            *([f"search {parts[0]} looks for code of that name."] if len(parts) == 1 else []),
        ],
        candidates=close(parts[0], top, n=5),
    )


def several_files(places: Sequence[Found]) -> LookupFailed:
    """Return the error for a name that several files have."""
    name = places[0].file.name if places[0].file else places[0].name
    packages = [item for item in places if item.file and item.file.package and not item.file.name.endswith(STUB)]
    which = "one beside the module, one in a stub package" if name.endswith(STUB) else "a module and a package"
    return LookupFailed(
        "ambiguous_symbol",
        f"{name} is the name of {len(places)} files: {which}, or modules of several source roots.",
        hints=["Rename one of them, or open one source root as a project of its own (--root)."],
        candidates=[f"{item.name}.__init__" for item in packages],
    )


def imported_from(module: ModuleFile, name: str, inside: Sequence[str], outside: Sequence[str]) -> LookupFailed:
    """Return the error for a name that a module imports from several places, or from outside the project.

    Parameters:
        inside: addresses of what it may mean in the project.
        outside: names of modules that are no part of it.
    """
    if inside:
        also = f", and from {', '.join(outside)} outside the project" if outside else ""
        return LookupFailed(
            "ambiguous_symbol",
            f"{module.name} imports {name} from several places{also}.",
            hints=["Name one of the candidates."],
            candidates=inside,
        )
    return LookupFailed(
        "symbol_not_found",
        f"{module.name} imports {name} from {outside[0]}, which is no part of this project.",
        hints=["Only the project's own code can be addressed."],
    )


def no_stub(workspace: Workspace, module: str, code: Sequence[str]) -> LookupFailed:
    """Return the error for the stub of a module that has none.

    Parameters:
        code: the requested address in the code itself, if it is there.
    """
    census = workspace.census
    stubs = [found.name for path in census.stubs if (found := census.module(path))]
    near = close(f"{module}{STUB}", stubs, n=3, cutoff=0.7)
    return LookupFailed(
        "symbol_not_found",
        f"{module} has no stub in this project.",
        hints=["Leave @stub out to name the code itself."],
        candidates=[*code, *near],
    )


def in_package(
    workspace: Workspace, error: LookupFailed, package: ModuleFile, rest: Sequence[Segment], exposed: Sequence[str]
) -> LookupFailed:
    """Return the error where a package's `__init__` does not define a name: it may mean a stub, a module or data.

    Parameters:
        exposed: names like it that the package takes from elsewhere.
    """
    if alone := _stub_alone(workspace, (*map(Segment, package.name.split(".")), *rest)):
        return alone
    layout, name = workspace.layout, f"{package.name}.{rest[0].name}"
    inside = layout.modules_below(package.name, package.path.rpartition("/")[0])
    whole = ".".join((package.name, *(segment.name for segment in rest)))
    if hidden := _unseen(workspace, whole, below=package.name):
        return hidden
    if name in inside:
        message = f"{name} is there, but as no file of the project: it may be a link that leads nowhere."
        return LookupFailed(error.code, message, hints=["Put the file itself in its place."])
    candidates = list(dict.fromkeys([*exposed, *close(name, inside, n=3, cutoff=0.7), *error.candidates]))
    hints = error.hints if candidates else ("Read the module to see what it defines.",)
    if any(item.name == name and item.folder and item.file is None for item in layout.prefixes((*name.split("."),))):
        hints = (f"{name} is a folder of data files: read {package.name}:{rest[0].name} lists them.",)
    return error.altered(hints=hints, candidates=candidates)


def in_class(error: LookupFailed, name: str, above: Sequence[str]) -> LookupFailed:
    """Return the error where a class does not define a name, and classes above it do, or one like it.

    Parameters:
        above: what they define.
    """
    if above[0].rpartition(".")[2].partition("@")[0].partition("[")[0] != name:
        candidates = [*error.candidates, *above]
        return error.altered(hints=["Name one of the candidates."], candidates=candidates)
    reason = f"{error.clause} itself; it inherits it."
    return error.altered(reason=reason, hints=["Name it where it is defined."], candidates=above)


def _stub_alone(workspace: Workspace, segments: tuple[Segment, ...]) -> LookupFailed | None:
    """Return the error for a module that has a stub and no Python code; None if the name leads to none."""
    layout, parts = workspace.layout, tuple(segment.name for segment in segments)
    known = {item.length for item in layout.prefixes(parts) if item.file}
    found = next((item for item in layout.stubs(parts) if item.length not in known), None)
    if found is None or found.file is None:
        return None

    candidate, rest = found.file.name, segments[found.length :]
    try:
        find(workspace.tree(found.file), found.file.name, rest)
        candidate = ".".join((candidate, *map(str, rest)))
    except ResourceError:
        pass  # the stub as a whole is offered
    message = f"{found.name} has no Python code in this project, only a stub."
    return LookupFailed("symbol_not_found", message, hints=["Name it in the stub."], candidates=[candidate])


def _unseen(workspace: Workspace, name: str, *, below: str | None = None) -> LookupFailed | None:
    """Return the error for a name that may be in a place that cannot be read; see `unseen.behind_unseen`."""
    return behind_unseen(workspace, name, below=below)


def close(name: str, names: Sequence[str], *, n: int, cutoff: float = 0.6) -> list[str]:
    """Return the names that are most like one."""
    return closest(name, names, n=n, cutoff=cutoff)


def _top_names(workspace: Workspace, root: str) -> list[str]:
    names = []
    for entry in workspace.files.names(root):
        if entry.endswith(".py") or "." not in entry:
            names.append(entry.removesuffix(".py"))
    return names
