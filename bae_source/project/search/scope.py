"""The scope of a search: the whole project, or the part that one dotted name means.

    httpx                     a package with all its modules and data files
    httpx._client             a module and its stub
    httpx._client.Client      the lines of a class or function, or of a part of it
    pkg:templates/page.html   one data file of a package

Invariants:
- a module whose code does not parse can be searched too, since it is known by its file;
- no ignored file, and none behind a link to a folder, is ever in a scope;
- files that belong to it and may not be read are reported.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from bae_source.errors import LookupFailed, RequestError, SourceError
from bae_source.model.address import DottedName, parse_name
from bae_source.model.outcome import Notice
from bae_source.model.span import Span
from bae_source.model.text import on_a_line
from bae_source.project.files.data_listing import DataFile, data_files, data_names
from bae_source.project.files.unseen import unseen
from bae_source.project.search.sieve import Sieve
from bae_source.project.workspace import Workspace


class Searched(Struct, frozen=True, order=True):
    """A file to search.

    Parameters:
        name: how answers name it: a module, `module@stub`, or `package:path/of/data`.
        path: relative to the project's root.
        python: whether it is source code.
        size: of a data file, in bytes.
    """

    name: str
    path: str
    python: bool = True
    size: int = 0


class Scope(Struct, frozen=True, kw_only=True):
    """The files and lines that a search looks at.

    Parameters:
        files: sorted by name.
        span: of the only file's text, what counts; None for all of it.
        notices: what belongs to the scope and cannot be looked at.
    """

    files: tuple[Searched, ...]
    span: Span | None = None
    notices: tuple[Notice, ...] = ()

    @property
    def complete(self) -> bool:
        """Return whether everything that the name stands for can be looked at."""
        return not self.notices


def scope_of(
    workspace: Workspace, name: str | None, *, stubs: bool = False, data: bool = False, sieve: Sieve | None = None
) -> Scope:
    """Return what a name stands for; the whole project if there is none.

    Parameters:
        stubs: whether `.pyi` files are looked at without being named.
        data: whether data files of packages are looked at.
        sieve: lets only those files of the whole project through that need a closer look.

    Raises:
        RequestError: `invalid_name`, or `invalid_arguments` for a data file where only code is looked at.
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`, with candidates.
        SourceError: a symbol was named in a module that does not parse.
    """
    if name is None:
        everything = _everything(workspace, stubs=stubs, data=data, sieve=sieve)
        return Scope(files=everything, notices=unseen(workspace, data=data))
    asked = parse_name(name)
    if asked.resource is not None:
        return _data_scope(workspace, asked, data=data)
    return _named_scope(workspace, name, stubs=stubs, data=data)


def _named_scope(workspace: Workspace, name: str, *, stubs: bool, data: bool) -> Scope:
    from bae_source.project.naming.resolve import resolve
    from bae_source.project.naming.spans import span_of  # 8 ms, which a search of the whole project need not pay

    everything = _everything(workspace, stubs=stubs, data=data)
    inside = _below(everything, name)
    whole = Scope(files=inside, notices=unseen(workspace, name, data=data))
    try:
        found = resolve(workspace, name)
    except LookupFailed as error:
        if error.code == "symbol_not_found" and inside and not workspace.census.find(name):
            return whole  # a namespace package, which has no code of its own
        raise
    except SourceError:
        if inside:
            return whole
        raise
    home = found.module
    if found.group is not None or found.address.part is not None:
        return Scope(files=(Searched(home.name, home.path),), span=span_of(found))
    if home.package:
        return Scope(files=_below(everything, home.name), notices=unseen(workspace, home.name, data=data))
    own = [file for file in everything if file.name == f"{home.name}@stub"]
    return Scope(files=(Searched(home.name, home.path), *own))


def _everything(workspace: Workspace, *, stubs: bool, data: bool, sieve: Sieve | None = None) -> tuple[Searched, ...]:
    census = workspace.census
    paths: Iterable[str] = census.paths
    behind: Iterable[str] = census.stubs if stubs else ()
    if sieve is not None:
        paths, behind = sieve.sifted((*census.paths, *behind)), ()
    others = _data(workspace, sieve) if data else ()
    files = [Searched(module.name, module.path) for path in (*paths, *behind) if (module := census.module(path))]
    return tuple(sorted([*files, *map(_of_data, others)]))


def _data(workspace: Workspace, sieve: Sieve | None) -> tuple[DataFile, ...]:
    if sieve is None:
        return data_files(workspace)
    names = data_names(workspace)
    stamps = workspace.files.stamps(names.paths)
    return names.files([(path, stamps[path].size) for path in sieve.sifted_data(stamps)])


def _of_data(file: DataFile) -> Searched:
    return Searched(on_a_line(str(file)), file.path, False, file.size)


def _below(files: tuple[Searched, ...], name: str) -> tuple[Searched, ...]:
    """Return the files of a package or of a module, with what lies below it."""
    leads = (f"{name}.", f"{name}:", f"{name}@")
    return tuple(file for file in files if file.name == name or file.name.startswith(leads))


def _data_scope(workspace: Workspace, asked: DottedName, *, data: bool) -> Scope:
    if not data:
        raise RequestError(
            "invalid_arguments",
            f"{asked} is a data file, and only code is searched here.",
            hints=["grep searches data files."],
        )
    from bae_source.project.data_files import DataFolder, find_data  # as above

    found = find_data(workspace, asked)
    files = found.files if isinstance(found, DataFolder) else (found,)
    return Scope(files=tuple(sorted(map(_of_data, files))))
