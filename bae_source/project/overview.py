"""From a name to its outline, as `outline` and `read` answer with it."""

from __future__ import annotations

from bae_source.errors import RequestError, SourceError
from bae_source.model.address import parse_name
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.plan import ModuleFile
from bae_source.project.data_files import DataFolder, entries, find_data
from bae_source.project.layout import STUB, import_name
from bae_source.project.listing import Listing, Style, list_module, list_packages, list_symbol
from bae_source.project.packages import Packages
from bae_source.project.resolve import Resolved, namespace, resolve
from bae_source.project.search.data import DataFile, data_files
from bae_source.project.workspace import Workspace, etag_of
from bae_source.syntax.summary import summarise


def overview(workspace: Workspace, target: str, style: Style) -> Outcome:
    """Outline what a name means; the project for an empty one.

    Raises:
        RequestError: `invalid_name`, or `invalid_arguments` for a part of a symbol.
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`.
        SourceError: the code that was named does not parse or cannot be decoded.
    """
    if not target:
        listing = list_packages(workspace, "", style)
        return answer_of(listing if listing.lines else _of_nothing(workspace), None)
    name = parse_name(target)
    if name.resource is not None:
        return of_data(find_data(workspace, name))
    return of_found(workspace, find_code(workspace, target), style)


def find_code(workspace: Workspace, target: str) -> Resolved | str:
    """Return what a name means; the name alone of a package that has no `__init__`, or one that does not parse.

    Raises:
        ResourceError: as `resolve`.
    """
    package = namespace(workspace, target)
    if package is not None:
        return package.name
    try:
        return resolve(workspace, target)
    except SourceError:
        module = module_named(workspace, target)
        if module is None or not module.package:
            raise
        return module.name


def module_named(workspace: Workspace, target: str) -> ModuleFile | None:
    """Return the one module whose whole name this is, whether it parses or not."""
    parts = tuple(target.split("."))
    whole = [item.file for item in workspace.layout.prefixes(parts) if item.length == len(parts) and item.file]
    return whole[0] if len(whole) == 1 else None


def of_found(workspace: Workspace, found: Resolved | str, style: Style) -> Outcome:
    """Outline what `find_code` found."""
    if isinstance(found, str):
        return answer_of(_of_package(workspace, found, style), found)
    if found.address.part is not None:
        raise RequestError(
            "invalid_arguments",
            f"{found.address} is a part of a symbol, which has no outline.",
            hints=[f"Read it, or outline {found.address.whole}."],
        )
    address, summary = str(found.address), summarise(found.tree)
    if found.group is not None:
        return answer_of(list_symbol(summary, found.group.members, style), address, f"read {address}")
    if found.module.package and not found.module.name.endswith(STUB):
        listing = _of_package(workspace, found.module.name, style)
        return answer_of(listing, address, f"outline {address} --depth {style.depth + 1}")
    more = [f"read {address} --full"]
    if import_name(found.module) == found.module.name and workspace.layout.stubs((*found.module.name.split("."),)):
        more += [f"read {found.module.name}{STUB}"]
    return answer_of(list_module(found.module, summary, style), address, *more)


def of_data(data: DataFile | DataFolder) -> Outcome:
    """List a folder of data files, or a data file by its one line."""
    if isinstance(data, DataFile):
        return answer_of(Listing(lines=tuple(entries((data,), data.inner.rpartition("/")[0]))), str(data))
    return answer_of(Listing(lines=tuple(entries(data.files, data.inner))), data.address)


def answer_of(listing: Listing, address: str | None, *actions: str) -> Outcome:
    """Return a listing as an answer; it is complete only if everything could be read."""
    warnings = [Notice(error.code, _named(module, error.message)) for module, error in listing.problems]
    if listing.unnamed:
        files = f"{listing.unnamed} Python file{'' if listing.unnamed == 1 else 's'}"
        warnings.append(Notice("unnamed_files", f"Not listed: {files} that no dotted name means."))
    return Outcome(
        status="answer",
        text=listing.text,
        etag=etag_of(listing.text),
        address=address,
        complete=not listing.problems,
        warnings=tuple(warnings),
        next_actions=actions,
    )


def _of_nothing(workspace: Workspace) -> Listing:
    """Say how much there is in a project of which no member is listed."""
    packages, modules = Packages(workspace.census).counts("")
    if not packages and not modules:
        return Listing(lines=("(no Python modules)",))
    counted = f"{packages} package{'' if packages == 1 else 's'}, {modules} module{'' if modules == 1 else 's'}"
    return Listing(lines=(f"({counted})",))


def _of_package(workspace: Workspace, name: str, style: Style) -> Listing:
    data = [file for file in data_files(workspace) if file.package == name] if style.depth else []
    return list_packages(workspace, name, style, data)


def _named(module: str, message: str) -> str:
    return message if module in message else f"{module}: {message}"
