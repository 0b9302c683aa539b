"""The place of a module that is not there yet, and the packages that have to be created on the way to it.

    pkg.sub.mod    pkg/__init__.py            ->  pkg/sub/__init__.py, empty, and pkg/sub/mod.py
                   pkg/, a namespace package  ->  pkg/sub/mod.py alone: what is new in it is one as well
                   nothing                    ->  below the first source root

Invariants:
- a name that something has already is refused, whatever has it: a module, a package, an attribute of the parent, a
  folder of data files, or another spelling that some file systems do not tell apart;
- a name that Python cannot import is refused, and so is a place that is no part of the project.
"""

from __future__ import annotations

import keyword
import posixpath
import sys
from collections.abc import Sequence

from msgspec import Struct

from bae_source.errors import LookupFailed, Refused, RequestError, SourceError
from bae_source.model.call import Call
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.project.files.ignored import is_ignored
from bae_source.project.files.layout import Found
from bae_source.project.files.port import FileKind, Files
from bae_source.project.naming import not_found
from bae_source.project.naming.resolve import check_no_path
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE, ImportBinding

_LEFTOVERS = ("__pycache__",)
"""Entries that an empty folder may have."""


class NewModule(Struct, frozen=True, kw_only=True):
    """A module that is not there yet.

    Parameters:
        module: its name and its file.
        packages: the missing packages on the way to it that get an `__init__`, by the path of that.
        parent: the package whose `__init__` could expose it; None at the top and in a namespace package.
        notices: what the caller should know.
    """

    module: ModuleFile
    packages: dict[str, str]
    parent: str | None
    notices: tuple[Notice, ...] = ()


def new_module(
    workspace: Workspace,
    parts: Sequence[str],
    *,
    package: bool = False,
    root: str | None = None,
    any_stem: bool = False,
) -> NewModule:
    """Find the place of a module that is not there yet.

    Parameters:
        parts: the components of its name.
        package: whether it is to be a package with an `__init__`.
        root: the source root of a name that no package has the beginning of; the first one if left out.
        any_stem: whether its last component may be one that no import statement can hold, such as `0001_initial`.

    Raises:
        RequestError: `invalid_name` if Python cannot import such a name.
        Refused: `name_collision` with what has the name already; `outside_project` where it would be no part of it.
    """
    parts = tuple(parts)
    _check_names(parts[:-1] if any_stem and not parts[-1].isidentifier() else parts)
    check_no_path(workspace, parts)
    found = workspace.layout.prefixes(parts)
    _check_free(workspace, parts, found, package=package)
    base = _nearest(workspace, parts, found)
    top = workspace.layout.roots[0] if root is None else root
    folder = base.folder if base and base.folder is not None else top
    known = base.length if base else 0
    namespace = base is not None and base.file is None
    _check_spelling(workspace.files, folder, parts[known:])
    lead = posixpath.join(folder, *parts[known:-1])
    path = f"{posixpath.join(lead, parts[-1])}/__init__.py" if package else f"{posixpath.join(lead, parts[-1])}.py"
    created = {} if namespace else _missing(folder, parts, known)
    _check_way(workspace.files, posixpath.join(lead, parts[-1]))
    for each in (*created, path):
        _check_inside(workspace.files, each)
    module = workspace.layout.module_at(path)
    if module is None or module.name != ".".join(parts):
        raise Refused(
            "outside_project",
            f"{'.'.join(parts)} would not be found under that name where it would have to lie.",
            hints=["Name a module below a source root of the project; outline lists them."],
        )
    if base is not None and base.file is not None and known == len(parts) - 1:
        _check_attribute(workspace, base.file, parts[-1])
    parent = None if len(parts) == 1 or namespace else ".".join(parts[:-1])
    return NewModule(module=module, packages=created, parent=parent, notices=_notices(workspace, parts, created))


def _check_names(parts: tuple[str, ...]) -> None:
    for part in parts:
        if part.isidentifier() and not keyword.iskeyword(part) and part != "__init__":
            continue
        why = "a keyword" if keyword.iskeyword(part) else "the name of a package's own file"
        raise RequestError(
            "invalid_name",
            f"{'.'.join(parts)} could not be imported: {part!r} is {why if part.isidentifier() else 'no identifier'}.",
            hints=["Choose identifiers that are no keywords, such as pkg.mod."],
        )


def _check_free(workspace: Workspace, parts: tuple[str, ...], found: Sequence[Found], *, package: bool) -> None:
    """Refuse a name that a module, a package or a folder has, and one below a module that is no package."""
    name = ".".join(parts)
    for item in found:
        if item.length == len(parts) and item.file is not None:
            raise taken(item.file)
    for item in found:
        if item.folder is None and item.file is not None and not _is_package(found, item.length):
            raise Refused(
                "name_collision",
                f"{item.name} is a module and no package, so {name} cannot lie in it.",
                hints=[f"Insert into {item.name} instead, or choose a name beside it."],
                candidates=[item.name],
            )
    for item in found:
        if item.file is not None or item.folder is None or is_empty(workspace.files, item.folder):
            continue
        python = any(path.startswith(f"{item.folder}/") for path in workspace.census.stamps)
        if item.length == len(parts) and not package:
            kind = "a namespace package" if python else "a folder of data files"
            raise Refused(
                "name_collision",
                f"{name} is {kind} already, which a module of that name would hide.",
                hints=["Choose another name, or make it a package with an __init__: package=True."],
            )
        if item.length < len(parts) and not python:
            raise Refused(
                "name_collision",
                f"{item.name} is a folder of data files and no package.",
                hints=[f"Make it one first: write {item.name} with package=True."],
            )


def _is_package(found: Sequence[Found], length: int) -> bool:
    return any(item.length == length and item.folder is not None for item in found)


def taken(module: ModuleFile) -> Refused:
    """Return the refusal of a name that a module has."""
    what = "package" if module.package else "module"
    return Refused(
        "name_collision",
        f"There is a {what} {module.name} already",
        unchanged=True,
        hints=[
            Call("read", target=module.name, full=True, then="shows it."),
            Call("write", target=module.name, overwrite=True, if_match="ETAG", then="replaces it."),
        ],
        candidates=[module.name],
    )


def _nearest(workspace: Workspace, parts: tuple[str, ...], found: Sequence[Found]) -> Found | None:
    """Return the longest prefix that is a package; a folder that holds nothing is none."""
    inside = [item for item in found if item.length < len(parts) and item.folder is not None]
    packages = [item for item in inside if item.file is not None or not is_empty(workspace.files, item.folder or "")]
    if not packages:
        return None
    longest = [item for item in packages if item.length == packages[0].length]
    with_code = [item for item in longest if item.file is not None]
    if len(with_code) > 1:
        raise not_found.several_files(with_code)
    return with_code[0] if with_code else longest[0]


def _missing(folder: str, parts: tuple[str, ...], known: int) -> dict[str, str]:
    """Return the missing packages above the new module, by the path of their `__init__`."""
    created = {}
    for length in range(known + 1, len(parts)):
        created[f"{posixpath.join(folder, *parts[known:length])}/__init__.py"] = ".".join(parts[:length])
    return created


def _check_spelling(files: Files, folder: str, names: Sequence[str]) -> None:
    """Refuse a name that some file systems do not tell from one that is there."""
    for name in names:
        beside = files.names(folder)
        stems = {entry.removesuffix(".py"): entry for entry in beside if entry.endswith(".py") or "." not in entry}
        other = next((stem for stem in stems if stem != name and stem.casefold() == name.casefold()), None)
        if other is not None:
            raise Refused(
                "name_collision",
                f"{name!r} differs from {other!r}, which is there, in upper and lower case alone; "
                "not every file system tells them apart.",
                hints=[f"Use {other!r}, or a name that differs in more."],
            )
        folder = posixpath.join(folder, name)


def _check_inside(files: Files, path: str) -> None:
    """Refuse a path that is no part of the project, or at which something stands that is no plain file or folder."""
    _check_way(files, path)
    if is_ignored(files, path):
        raise Refused(
            "outside_project",
            "Git ignores files of that name, so the module would be no part of the project.",
            hints=["Choose another name, or mend .gitignore first."],
        )


def _check_way(files: Files, path: str) -> None:
    """Refuse a path on which something stands that is no plain file or folder, or leads elsewhere."""
    here = ""
    for part in path.split("/"):
        here, above = posixpath.join(here, part), here
        if part in files.names(above) and files.kind(here) is None:
            raise Refused(
                "outside_project",
                f"{part!r} leads out of the project, or is no plain file or folder; nothing is written there.",
                hints=["Choose another name."],
            )


def _check_attribute(workspace: Workspace, parent: ModuleFile, name: str) -> None:
    """Refuse a name that the parent package binds to something else."""
    try:
        outline = workspace.tree(parent).outline
    except SourceError:
        return  # a package whose own code is at fault does not keep modules from being made in it
    if outline.named(MODULE, name) or any(
        each.name == name and not _means_submodule(parent, each) for each in outline.imports
    ):
        raise Refused(
            "name_collision",
            f"{parent.name} has an attribute {name} already, which a module of that name would be confused with.",
            hints=["Choose another name, or rename the attribute first."],
            candidates=[f"{parent.name}.{name}"],
        )


def _means_submodule(parent: ModuleFile, binding: ImportBinding) -> bool:
    """Return whether an import in a package's `__init__` names its submodule of the bound name, there or not."""
    if binding.attribute is None:
        return binding.module == f"{parent.name}.{binding.name}"
    own = (1, "") if binding.level else (0, parent.name)
    return (binding.level, binding.module) == own and binding.attribute == binding.name


def is_empty(files: Files, folder: str) -> bool:
    """Return whether a folder is empty: it has no file in it or below it, compiled ones left out."""
    return all(
        name in _LEFTOVERS
        or (
            files.kind(posixpath.join(folder, name)) is FileKind.FOLDER
            and is_empty(files, posixpath.join(folder, name))
        )
        for name in files.names(folder)
    )


def _notices(workspace: Workspace, parts: tuple[str, ...], created: dict[str, str]) -> tuple[Notice, ...]:
    notices = []
    if created:
        notices.append(Notice("packages_made", f"Made the missing packages: {', '.join(created.values())}."))
    if parts[0] in sys.stdlib_module_names and not workspace.layout.prefixes(parts[:1]):
        message = f"{parts[0]} is a module of the standard library too; one of the two will hide the other."
        notices.append(Notice("shadows_stdlib", message))
    try:
        stubs = [item for item in workspace.layout.stubs(parts) if item.length == len(parts)]
    except LookupFailed:
        stubs = []
    if stubs:
        name = ".".join(parts)
        notices.append(Notice("stub_there", f"{name} has a stub already, {name}@stub, which type checkers believe."))
    return tuple(notices)
