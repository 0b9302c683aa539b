"""From a name to its outline, as `outline` and `read` answer with it."""

from __future__ import annotations

from bae_source.errors import RequestError
from bae_source.model.address import parse_name
from bae_source.model.call import Call
from bae_source.model.outcome import Outcome
from bae_source.project.data_files import DataFolder, entries, find_data
from bae_source.project.files.data_listing import DataFile, data_files
from bae_source.project.files.layout import STUB, import_name
from bae_source.project.files.unseen import unseen
from bae_source.project.interfaces.listing import Listing, Style, list_module, list_symbol, listed
from bae_source.project.interfaces.listings import answer_of, package_listing, project_overview
from bae_source.project.naming.finding import find_code
from bae_source.project.naming.resolve import Resolved
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.summary import summarise


def overview(workspace: Workspace, target: str, style: Style) -> Outcome:
    """Outline what a name means; the project for an empty one.

    Raises:
        RequestError: `invalid_name`, or `invalid_arguments` for a part of a symbol.
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`.
        SourceError: the code that was named does not parse or cannot be decoded.
    """
    if not target:
        return project_overview(workspace, style)
    name = parse_name(target)
    if name.resource is not None:
        return of_data(workspace, find_data(workspace, name))
    return of_found(workspace, find_code(workspace, target), style)


def of_found(workspace: Workspace, resolved: Resolved | str, style: Style) -> Outcome:
    """Outline what `find_code` found."""
    if isinstance(resolved, str):
        return answer_of(_of_package(workspace, resolved, style), resolved)
    if resolved.address.part is not None:
        raise RequestError(
            "invalid_arguments",
            f"{resolved.address} is a part of a symbol, which has no outline.",
            hints=[f"Read it, or outline {resolved.address.whole}."],
        )
    address, summary = str(resolved.address), summarise(resolved.tree)
    if style.attributes:
        from bae_source.project.interfaces.attributes import with_attributes  # which most outlines leave out

        summary = with_attributes(workspace, resolved.module.path, summary)
    if resolved.group is not None:
        return answer_of(list_symbol(summary, resolved.group.members, style), address, Call("read", target=address))
    if resolved.module.package and not resolved.module.name.endswith(STUB):
        listing = _of_package(workspace, resolved.module.name, style)
        return answer_of(listing, address, Call("outline", target=address, depth=style.depth + 1))
    more = [Call("read", target=address, full=True)]
    if import_name(resolved.module) == resolved.module.name and workspace.layout.stubs(
        (*resolved.module.name.split("."),)
    ):
        more += [Call("read", target=f"{resolved.module.name}{STUB}")]
    return answer_of(list_module(resolved.module, summary, style), address, *more)


def of_data(workspace: Workspace, data: DataFile | DataFolder) -> Outcome:
    """List a folder of data files, or a data file by its one line."""
    if isinstance(data, DataFile):
        return answer_of(listed(tuple(entries((data,), data.inner.rpartition("/")[0]))), str(data))
    hidden = unseen(workspace, data.dotted, left="shown", data=True)
    return answer_of(listed(tuple(entries(data.files, data.inner)), unseen=hidden), data.address)


def _of_package(workspace: Workspace, name: str, style: Style) -> Listing:
    data = [file for file in data_files(workspace) if file.package == name] if style.depth else []
    return package_listing(workspace, name, style, data)
