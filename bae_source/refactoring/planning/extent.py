"""The extent of a module, a package, or a data file on the disk: all that goes when it is deleted, or moves with it.

    pkg.core            pkg/core.py, and pkg/core.pyi where there is one
    pkg.sub             everything in pkg/sub/, data files too
    pkg:logo.svg        pkg/logo.svg
    pkg:templates       the data files in pkg/templates/

Invariants:
- ignored files, and others that are not part of the project, stay where they are, and are named;
- compiled code is of no account: it goes with the folder, and comes back by itself;
- a path through a link does not belong to the project, and a folder with a repository or a source root of its own is
  more than a package: both are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from bae_source.errors import Refused, ResourceError, SourceError
from bae_source.model.address import DottedName, Marker, parse_name
from bae_source.model.changeset import digest
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.text import listed
from bae_source.project.data_files import find_data
from bae_source.project.files.data_listing import DataFile
from bae_source.project.files.ignored import Patterns, is_ignored, never_entered
from bae_source.project.files.layout import STUB, import_name
from bae_source.project.files.port import Folder
from bae_source.project.files.second_names import is_link
from bae_source.project.files.walk import VENV
from bae_source.project.naming.changeable import Verb, resolve_to_change
from bae_source.project.naming.resolve import namespace
from bae_source.project.workspace import Workspace, etag_of
from bae_source.refactoring.planning.plan import outdated
from bae_source.syntax.text.source import Source, codec_of

_REPOSITORIES = (".git", ".hg", ".svn", ".bzr")
_COMPILED = "__pycache__"
_LARGEST = 256_000_000
"""Bytes; what a change takes back has to be kept, so there is an end to it."""
_SHOWN = 10

Kind = Literal["module", "stub", "package", "data file", "data folder"]


class Extent(Struct, frozen=True, kw_only=True):
    """The files and folders that a name stands for.

    Parameters:
        address: canonical.
        name: without markers: as an import statement has it, or `pkg:inner`.
        kind: what it is.
        files: paths of all that belongs to it, sorted; the module's own file comes first where it has a stub.
        folder: of a package or of data files.
        module: the module's file; the `__init__` of a package, if it has one.
        left: what lies in its folder and is no part of the project, as `pkg:inner`.
        etag: tells it from any other state of it.
    """

    address: str
    name: str
    kind: Kind
    files: tuple[str, ...]
    folder: str | None = None
    module: ModuleFile | None = None
    left: tuple[str, ...] = ()
    etag: str


def extent_of(workspace: Workspace, target: str, verb: Verb = "delete") -> Extent | None:
    """Return the files that a name stands for; None for a symbol, or a part of one or of a module.

    Parameters:
        verb: what is to be done with it, for errors.

    Raises:
        RequestError: `invalid_name`.
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`, with candidates.
        Refused: `unsafe_change` or `forbidden`, if it cannot be taken as a whole.
    """
    name = parse_name(target)
    if name.resource is not None:
        return _of_data(workspace, name)
    package = namespace(workspace, target)
    if package is not None:
        assert package.folder is not None
        return _of_package(workspace, package.name, package.name, package.folder, None)
    try:
        resolved = resolve_to_change(workspace, target, verb)
    except SourceError:
        module = _broken(workspace, name)
        if module is None:
            raise
        return _of_module(workspace, module.name, module)
    if resolved.group is not None or resolved.address.part is not None:
        return None
    return _of_module(workspace, str(resolved.address), resolved.module)


def check_etag_of(workspace: Workspace, extent: Extent, if_match: str | None) -> None:
    """Refuse a change whose caller has seen another state of a module, a package or data.

    Raises:
        Refused: `stale`, with what a single text file holds now.
    """
    if if_match is None or if_match == extent.etag:
        return
    content = workspace.content(extent.files[0]) if len(extent.files) == 1 else None
    codec = None if content is None else codec_of(content)
    source = None if content is None or codec is None else content.decode(codec)
    raise outdated(extent.address, extent.etag, source)


def check_way(workspace: Workspace, name: str, folder: str) -> None:
    """Refuse what is reached through a link to a folder: it would change where it really lies.

    Raises:
        Refused: `unsafe_change`.
    """
    above = ""
    for part in folder.split("/") if folder else ():
        if part not in workspace.files.folder(above).folders:
            raise Refused(
                "unsafe_change",
                f"{name} is reached through a link to a folder",
                unchanged=True,
                hints=["Name it by where it really lies, or remove the link by hand."],
            )
        above = f"{above}/{part}" if above else part


def check_removable(workspace: Workspace, extent: Extent) -> None:
    """Refuse to take away what could not be brought back: links, and files whose names are no text.

    Raises:
        Refused: `unsafe_change`.
    """
    links: dict[str, frozenset[str]] = {}
    for path in extent.files:
        folder, _, name = path.rpartition("/")
        if folder not in links:
            links[folder] = frozenset(workspace.files.folder(folder).links)
        problem = "is a link" if name in links[folder] else "" if is_text(name) else "has a name that is no UTF-8"
        if problem:
            shown = _shown(extent, path)
            raise Refused(
                "unsafe_change",
                f"{shown} {problem}, and could not be brought back by undo",
                unchanged=True,
                hints=["Remove or rename it by hand first."],
            )


def is_text(name: str) -> bool:
    """Return whether a file's name is UTF-8 on the disk, so that it can be written down."""
    return name == name.encode("utf-8", "replace").decode()


def counted(extent: Extent) -> str:
    """Return how much a package or a folder of data files holds, in words."""
    modules = sum(path.endswith((".py", ".pyi")) for path in extent.files)
    data = len(extent.files) - modules
    parts = [f"{modules} module{'' if modules == 1 else 's'}"] if modules else []
    parts += [f"{data} data file{'' if data == 1 else 's'}"] if data else []
    return " and ".join(parts)


def gone(extent: Extent) -> str | None:
    """Return the name that others may import and that goes with it; None for data files, which no code imports."""
    return extent.name if extent.kind in ("module", "package") else None


def stays(extent: Extent) -> tuple[Notice, ...]:
    """Return the notices about files in a folder that do not go with it."""
    if not extent.left:
        return ()
    text = f"No part of the project, and left where it is: {listed(extent.left, _SHOWN)}."
    return (Notice("left_in_place", text),)


def cut_off(workspace: Workspace, extent: Extent) -> tuple[Notice, ...]:
    """Return the notices about modules that are links to files which go: they lead nowhere then."""
    stamps = workspace.files.stamps(workspace.census.paths)
    going = {stamp for path in extent.files if (stamp := stamps.get(path)) is not None}
    alike = [path for path, stamp in stamps.items() if stamp in going and path not in extent.files]
    linked = [path for path in alike if is_link(workspace.files, path)]
    if not linked:
        return ()
    names = listed([module.name for path in linked if (module := workspace.census.module(path))], _SHOWN)
    return (
        Notice("links_cut_off", f"Links to {extent.address} lead nowhere then, and are left as they are: {names}."),
    )


def _shown(extent: Extent, path: str) -> str:
    """Return the name of a file of a module, a package or data in messages."""
    if extent.folder is None:
        return extent.address
    inner = path[len(extent.folder) + 1 :].encode("utf-8", "replace").decode()
    return f"{extent.name}{'/' if ':' in extent.name else ':'}{inner}"


def _broken(workspace: Workspace, name: DottedName) -> ModuleFile | None:
    """Return the one module whose whole name this is, though it does not parse."""
    parts = tuple(segment.name for segment in name.segments)
    if name.part is not None or not all(segment.plain for segment in name.segments):
        return None
    stub = name.marked is not None and name.marked[1] is Marker.STUB
    found = workspace.layout.stubs(parts) if stub else workspace.layout.prefixes(parts)
    whole = {item.file.path: item.file for item in found if item.length == len(parts) and item.file}
    return next(iter(whole.values())) if len(whole) == 1 else None


def _of_module(workspace: Workspace, address: str, module: ModuleFile) -> Extent:
    stub = module.name.endswith(STUB)
    if module.package and not stub:
        return _of_package(workspace, address, module.name, module.path.rpartition("/")[0], module)
    check_way(workspace, address, module.path.rpartition("/")[0])
    beside = "" if stub else f"{module.path}i"
    files = [module.path, *([beside] if workspace.content(beside) is not None else [])]
    content = _content(workspace, address, module.path)
    try:
        etag = etag_of(Source(content).text)
    except SourceError:
        etag = digest(content)[:16]
    return Extent(
        address=address,
        name=import_name(module),
        kind="stub" if stub else "module",
        files=tuple(files),
        module=module,
        etag=etag,
    )


def _of_package(workspace: Workspace, address: str, name: str, folder: str, module: ModuleFile | None) -> Extent:
    check_way(workspace, address, folder)
    if any(root == folder or root.startswith(f"{folder}/") for root in workspace.layout.roots):
        raise Refused(
            "unsafe_change",
            f"A source root of the project lies in {name}, which is more than a package",
            unchanged=True,
            hints=["Name the packages in it one by one."],
        )
    content = _FolderContent(workspace, name, folder)
    files = tuple(sorted(content.files))
    return Extent(
        address=address,
        name=name,
        kind="package",
        files=files,
        folder=folder,
        module=module,
        left=tuple(sorted(content.left)),
        etag=_digest(workspace, name, folder, files),
    )


def _of_data(workspace: Workspace, name: DottedName) -> Extent:
    data = find_data(workspace, name)
    if isinstance(data, DataFile):
        check_way(workspace, str(data), data.path.rpartition("/")[0])
        _check_size(workspace, str(data), (data.path,))
        etag = digest(_content(workspace, str(data), data.path))[:16]
        return Extent(address=str(data), name=str(data), kind="data file", files=(data.path,), etag=etag)
    folder = data.files[0].path.removesuffix(data.files[0].inner) + data.inner
    check_way(workspace, data.address, folder)
    files = tuple(sorted(file.path for file in data.files))
    etag = _digest(workspace, data.address, folder, files)
    return Extent(address=data.address, name=data.address, kind="data folder", files=files, folder=folder, etag=etag)


def _digest(workspace: Workspace, name: str, folder: str, files: tuple[str, ...]) -> str:
    """Return the etag of many files: of their names in their folder, and of their contents."""
    _check_size(workspace, name, files)
    lines = (f"{path[len(folder) :]}\0{digest(_content(workspace, name, path))}" for path in files)
    return digest("\n".join(lines).encode("utf-8", "surrogateescape"))[:16]


def _check_size(workspace: Workspace, name: str, files: tuple[str, ...]) -> None:
    stamps = workspace.files.stamps(files)
    if sum(stamp.size for stamp in stamps.values()) > _LARGEST:
        raise Refused(
            "unsafe_change",
            f"{name} holds more than {_LARGEST:,} bytes, which is more than can be kept for taking it back.",
            hints=["Delete or move large data files by other means."],
        )


def _content(workspace: Workspace, name: str, path: str) -> bytes:
    try:
        content = workspace.content(path)
    except ResourceError as error:
        raise Refused("forbidden", f"{name}: {error.message}", hints=error.hints) from None
    if content is None:
        raise Refused("stale", f"{name} changed while it was read.", hints=["Ask again."])
    return content


class _FolderContent:
    """The contents of a package's folder.

    Attributes:
        files: paths of what belongs to the project.
        left: what does not, as `pkg:inner`.
    """

    def __init__(self, workspace: Workspace, name: str, folder: str) -> None:
        self.files: list[str] = []
        self.left: list[str] = []
        self._workspace = workspace
        self._name = name
        self._top = folder
        self._patterns = Patterns(workspace.files)
        for outer in _above(folder):
            self._patterns.enter(workspace.files.folder(outer))
        waiting = [folder]
        while waiting:
            waiting += self._enter(waiting.pop())

    def _enter(self, path: str) -> Iterator[str]:
        """Sort out what lies in one folder, and yield the folders in it that belong to the project."""
        folder = self._workspace.files.folder(path)
        self._patterns.enter(folder)
        if not folder.readable:
            raise Refused("forbidden", f"A folder in {self._name} may not be listed.", hints=["Check its permissions."])
        names = self._workspace.files.names(path)
        if any(name in _REPOSITORIES for name in names):
            raise Refused(
                "unsafe_change",
                f"{self._name} holds a repository of its own",
                unchanged=True,
                hints=["Delete or move it by the means of its version control."],
            )
        if not names or VENV in folder.files:
            self.left.append(self._address(f"{path}/"))
            return
        for name in names:
            if name == _COMPILED:
                continue
            full = f"{path}/{name}"
            if name in folder.folders and not self._is_out(folder, name, end="/"):
                yield full
            elif name in folder.files and not self._is_out(folder, name):
                self.files.append(full)
            else:
                self.left.append(self._address(f"{full}/" if name in folder.folders else full))

    def _is_out(self, folder: Folder, name: str, end: str = "") -> bool:
        if end and never_entered(name):
            return True
        may = self._patterns.may_exclude(folder, name)
        return may and is_ignored(self._workspace.files, f"{folder.path}/{name}{end}")

    def _address(self, path: str) -> str:
        return f"{self._name}:{path[len(self._top) + 1 :]}"


def _above(folder: str) -> list[str]:
    """Return every folder around one, the project's own first."""
    parts = folder.split("/")
    return ["/".join(parts[:length]) for length in range(len(parts))]
