"""The destination of the files of a module, a package or data that gets another name.

    pkg.core -> pkg.net.base         pkg/core.py -> pkg/net/base.py, its stub too; pkg/net/__init__.py if it is missing
    pkg.sub -> lib.part              everything in pkg/sub/ -> lib/part/
    pkg:a.css -> pkg:css/main.css    pkg/a.css -> pkg/css/main.css

Invariants:
- the new name means one thing, and is free: what is to be moved is thought away, anything else that is there refuses;
- no file is moved to a place that is not part of the project.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from bae_source.errors import Refused, RequestError
from bae_source.model.address import parse_name
from bae_source.model.call import Call
from bae_source.model.changeset import between
from bae_source.model.outcome import Notice
from bae_source.model.text import is_text
from bae_source.project.files.ignored import Patterns, is_ignored, never_entered
from bae_source.project.files.layout import Layout
from bae_source.project.files.overlay import Planned
from bae_source.project.files.port import FileKind, Files, Folder
from bae_source.project.workspace import Workspace
from bae_source.refactoring.planning.data_changes import check_free, data_place, same_letters
from bae_source.refactoring.planning.extent import Extent
from bae_source.refactoring.planning.new_modules import is_empty, new_module


class Destination(Struct, frozen=True, kw_only=True):
    """The destination of a move.

    Parameters:
        address: the new one.
        paths: where each file goes, by the path that it has now; empty where it has the name already.
        created: the `__init__` of each package that is missing on the way.
        notices: what the caller should know.
    """

    address: str
    paths: Mapping[str, str]
    created: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


def destination_of(workspace: Workspace, extent: Extent, to: str) -> Destination:
    """Return where a module, a package or data goes.

    Parameters:
        to: the name that it is to have: a dotted one, or `pkg:inner` for data.

    Raises:
        RequestError: `invalid_name`, or `invalid_arguments` for a name of another kind.
        LookupFailed: the package that it is to lie in is ambiguous, or, for data, not there.
        Refused: `name_collision`, `unsafe_change` or `outside_project`.
    """
    data = extent.kind in ("data file", "data folder")
    if (parse_name(to).resource is not None) is not data:
        shape = f":{to}, or pkg:inner.txt, as a data file" if data else "pkg.mod, as a module or a package"
        raise RequestError(
            "invalid_arguments", f"{extent.address} cannot be called {to}.", hints=[f"Give a name such as {shape} has."]
        )
    if not is_text(to):
        raise Refused("unsafe_change", f"{to!r} is no UTF-8.", hints=["Choose another name."])
    found = _of_data(workspace, extent, to) if data else _of_code(workspace, extent, to)
    contents = dict.fromkeys((*found.paths.values(), *found.created), b"")
    if _holds_ignored(Planned(workspace.files, {**dict.fromkeys(extent.files), **contents}), sorted(contents)):
        raise Refused(
            "outside_project",
            f"Git ignores files such as {extent.address} would have as {to}, so it would be no part of the project.",
            hints=["Choose another name, or mend .gitignore first."],
        )
    return found


def _of_code(workspace: Workspace, extent: Extent, to: str) -> Destination:
    name = parse_name(to)
    parts = tuple(segment.name for segment in name.segments)
    plain = name.part is None and name.marked is None and all(segment.plain for segment in name.segments)
    if not plain or "__init__" in parts:
        raise RequestError("invalid_name", f"{to} is no name of a module.", hints=["Give a name such as pkg.sub.mod."])
    if parts == tuple(extent.name.split(".")):
        return Destination(address=extent.address, paths={})
    if extent.folder is not None and to.startswith(f"{extent.name}."):
        raise Refused(
            "unsafe_change",
            f"{extent.name} is a package, which cannot be moved into itself.",
            hints=["Choose a name outside of it."],
        )
    gone = _without(workspace, extent)
    _check_taken(gone, extent, parts)
    place = new_module(gone, parts, root=_root(workspace, extent), any_stem=extent.folder is None)
    new = place.module.path
    _check_letters(workspace, extent, to, extent.name, new.removesuffix(".py"))
    if extent.folder is None:
        paths = {path: f"{new}i" if path.endswith(".pyi") else new for path in extent.files}
    else:
        paths = {path: new.removesuffix(".py") + path[len(extent.folder) :] for path in extent.files}
    folders = {path.rpartition("/")[0] for path in paths.values()}
    if file := next((folder for folder in sorted(folders) if gone.files.kind(folder) is FileKind.FILE), None):
        raise Refused(
            "name_collision",
            f"A file called {file.rpartition('/')[2]} lies where {to} would have its folder",
            unchanged=True,
            hints=["Choose another name, or move the file first."],
        )
    if any(gone.files.kind(path) is not None for path in paths.values()):
        raise Refused(
            "name_collision",
            f"There is a stub {to}@stub already",
            unchanged=True,
            hints=[f"Delete {to}@stub first, or choose another name."],
            candidates=[f"{to}@stub"],
        )
    return Destination(address=".".join(parts), paths=paths, created=tuple(place.packages), notices=place.notices)


def _of_data(workspace: Workspace, extent: Extent, to: str) -> Destination:
    path, address = data_place(workspace, parse_name(to))
    old = extent.folder or extent.files[0]
    if path == old:
        return Destination(address=extent.address, paths={})
    if path.startswith(f"{old}/"):
        raise Refused(
            "unsafe_change",
            f"{extent.address} cannot be moved into itself.",
            hints=["Choose a name outside of it."],
        )
    _check_letters(workspace, extent, address, extent.address, path)
    if workspace.files.kind(path) is not FileKind.FOLDER:  # which is in the way also if all that is in it goes
        check_free(_without(workspace, extent), path, address)
    else:
        check_free(workspace, path, address)
    return Destination(address=address, paths={each: path + each[len(old) :] for each in extent.files})


def _without(workspace: Workspace, extent: Extent) -> Workspace:
    """Return the project without the files that move."""
    present = {path: workspace.content(path) for path in extent.files}
    gone = workspace.after(between(present, dict.fromkeys(present)))
    # a source root stays one, even if nothing else was in it
    gone.layout = Layout(gone.files, workspace.layout.roots, workspace.layout.packages)
    return gone


def _root(workspace: Workspace, extent: Extent) -> str | None:
    """Return the source root that a module or a package lies in."""
    module = extent.module or workspace.layout.module_at(f"{extent.folder}/__init__.py")
    return module.source_root if module else None


def _check_letters(workspace: Workspace, extent: Extent, to: str, name: str, path: str) -> None:
    """Refuse to rename a folder by its letters' case alone where both are one: files move from one to the other."""
    if extent.folder is not None and same_letters(to, name) and workspace.files.kind(path) is not None:
        raise Refused(
            "name_collision",
            f"{to} differs from {name} by its letters' case alone, and the file system here holds the two for one.",
            hints=["Move it to another name first, and from there."],
        )


def _check_taken(gone: Workspace, extent: Extent, parts: tuple[str, ...]) -> None:
    """Refuse the name of a module or of a package that is there."""
    to, last = ".".join(parts), extent.name.rpartition(".")[2]
    for item in gone.layout.prefixes(parts):
        if item.length < len(parts) or (item.file is None and is_empty(gone.files, item.folder or "")):
            continue
        if same_letters(to, extent.name):
            raise Refused(
                "name_collision",
                f"The file system here does not tell {to} from {extent.name}",
                unchanged=True,
                hints=["Move it to another name first, and from there."],
            )
        candidates = [*([to] if item.file else []), *([f"{to}.{last}"] if item.folder else [])]
        what = "module" if item.folder is None else "package" if item.file else "folder"
        raise Refused(
            "name_collision",
            f"There is a {what} {to} already",
            unchanged=True,
            hints=[
                Call("move", target=extent.address, to=f"{to}.{last}", then="puts it in there.")
                if item.folder
                else "Choose another name."
            ],
            candidates=candidates,
        )


def _holds_ignored(files: Files, paths: Sequence[str]) -> bool:
    """Return whether one of some files would be no part of the project.

    Parameters:
        paths: sorted.
    """
    patterns = Patterns(files)
    entered: dict[str, Folder] = {}
    for path in paths:
        parts = path.split("/")
        for length in range(len(parts)):
            here = "/".join(parts[:length])
            if here not in entered:
                entered[here] = files.folder(here)
                patterns.enter(entered[here])
            inner = f"{here}/{parts[length]}" if here else parts[length]
            if length < len(parts) - 1 and inner in entered:
                continue
            end = "/" if length < len(parts) - 1 else ""
            out = bool(end) and never_entered(parts[length])
            if out or (patterns.may_exclude(entered[here], parts[length]) and is_ignored(files, inner + end)):
                return True
    return False
