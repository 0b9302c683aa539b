"""The names that match a pattern: modules, what they define, and data files.

    app.*             what stands directly in a package
    **.Client.send    any method `send` of a class `Client`
    :docs/**          with a colon, files that are no Python

Invariant: what could not be read, and may hold a match, is in the notices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.project.files.data_listing import data_files, matching
from bae_source.project.files.packages import Nameable
from bae_source.project.files.unseen import unseen
from bae_source.project.interfaces.listing import not_listed
from bae_source.project.naming.listed_symbols import address_in, is_method, module_address, symbols_of
from bae_source.project.search.answer import not_searched
from bae_source.project.search.name_pattern import NamePattern, State, name_pattern
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.summary import Entry, Summary

if TYPE_CHECKING:
    from bae_source.project.files.data_listing import DataFile

Kind = Literal["package", "module", "class", "function", "method", "assignment", "type alias", "attribute", "variable"]
_BOUND = ("attribute", "variable")


class Match(Struct, frozen=True, order=True):
    """A name that matches.

    Parameters:
        address: canonical.
        kind: `package`, `module`, `class`, `function`, `method`, `assignment`, `type alias` or `data file`; of what is
            bound without a definition `attribute`, of instances, or `variable`.
        module: the module that it stands in; of a data file its address.
        line: where it begins, from 1.
    """

    address: str
    kind: Kind | Literal["data file"]
    module: str
    line: int


def symbols_matching(
    workspace: Workspace, text: str, *, kind: Kind | None = None, attributes: bool = False
) -> tuple[list[Match], list[Notice]]:
    """Return the modules and symbols that match a pattern, sorted, and notices about files that were not read.

    Parameters:
        kind: the only kind that is wanted.
        attributes: whether what is bound without a definition may match, too.

    Raises:
        RequestError: `invalid_name` if the pattern is none.
    """
    pattern = name_pattern(text)
    modules, unnamed = _modules_for(workspace, pattern)
    found = [*_modules(workspace, modules, pattern)] if kind in (None, "package", "module") else []
    notices = list(unseen(workspace))
    if kind not in ("package", "module"):
        attributes = attributes or kind in _BOUND
        for module, state, summary in _candidates(workspace, modules, pattern, notices, attributes=attributes):
            found += _symbols(workspace, module, summary, pattern, state)
    if unnamed:
        notices.append(not_listed(unnamed))
    return sorted({match for match in found if kind in (None, match.kind)}), notices


def data_matching(workspace: Workspace, pattern: str) -> tuple[list[Match], list[Notice]]:
    """Return the data files that match a pattern with a colon, sorted, and what could not be listed."""
    found = [Match(str(file), "data file", str(file), 1) for file in files_matching(workspace, pattern)]
    return sorted(found), list(unseen(workspace, left="listed", data=True))


def files_matching(workspace: Workspace, pattern: str) -> Iterator[DataFile]:
    """Yield the data files that match a pattern with a colon."""
    return matching(data_files(workspace), pattern)


def _modules(workspace: Workspace, modules: Sequence[ModuleFile], pattern: NamePattern) -> Iterator[Match]:
    """Yield the modules and packages that match; a folder of modules is a package without a file."""
    names = {module.name for module in modules}
    for module in modules:
        if _matches(pattern, module.name):
            address = module.name if pattern.stubs else module_address(workspace, module.name)
            yield Match(address, "package" if module.package else "module", address, 1)
    outer = {name[:end] for name in names for end, char in enumerate(name) if char == "."} - names  # none has a marker
    yield from (Match(name, "package", name, 1) for name in outer if _matches(pattern, name))


def _modules_for(workspace: Workspace, pattern: NamePattern) -> tuple[Sequence[ModuleFile], int]:
    """Return the stubs if the pattern asks for them, and the modules of code otherwise.

    Files that no dotted name means are left out; the number that might match is returned.
    """
    census, nameable = workspace.census, Nameable(workspace.census)
    every = [module for path in census.stubs if (module := census.module(path))] if pattern.stubs else census.modules
    modules: list[ModuleFile] = []
    others: list[ModuleFile] = []
    for module in every:
        (modules if nameable.has_name(module) else others).append(module)
    return modules, sum(_may_match(pattern, module) for module in others)


def _may_match(pattern: NamePattern, module: ModuleFile) -> bool:
    """Return whether a module, or something in it, may match."""
    return bool(pattern.walk(pattern.start, tuple(module.name.split("."))))


def _matches(pattern: NamePattern, name: str) -> bool:
    return pattern.ended(pattern.walk(pattern.start, tuple(name.split("."))))


def _candidates(
    workspace: Workspace,
    modules: Sequence[ModuleFile],
    pattern: NamePattern,
    notices: list[Notice],
    *,
    attributes: bool,
) -> Iterator[tuple[ModuleFile, State, Summary]]:
    """Yield the modules that may define a match, with how far their own names go; note those that cannot be read."""
    possible: dict[str, tuple[ModuleFile, State]] = {}
    for module in modules:
        if state := pattern.walk(pattern.start, tuple(module.name.split("."))):
            possible[module.path] = (module, state)
    paths = list(possible)
    if pattern.last is not None and not pattern.stubs:
        mentioning = workspace.index.mentioning({pattern.last})
        named = set(mentioning.paths).union(path for path, _ in mentioning.unreadable)
        paths = [path for path in paths if path in named]
    if attributes:
        from bae_source.project.interfaces.attributes import summaries_with_attributes  # which most questions leave out

        summaries = summaries_with_attributes(workspace, paths)
    else:
        summaries = workspace.index.summaries(paths)
    for path, summary in summaries:
        module, state = possible[path]
        if isinstance(summary, ResourceError):
            notices.append(not_searched(module.name, summary))
        else:
            yield module, state, summary


def _symbols(
    workspace: Workspace, module: ModuleFile, summary: Summary, pattern: NamePattern, state: State
) -> Iterator[Match]:
    for named in symbols_of(summary):
        if pattern.ended(pattern.walk(state, named.path)):
            entry = summary.entries[named.index]
            address = address_in(workspace, module.name, module.path, named.address)
            yield Match(address, _kind(summary, entry), module.name, entry.first)


def _kind(summary: Summary, entry: Entry) -> Kind:
    return "method" if is_method(summary, entry) else entry.kind  # type: ignore[return-value]  # Kind's own values
