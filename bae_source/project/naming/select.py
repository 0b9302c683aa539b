"""From a selector to the one thing that it means.

    sym://python/mod/utils           utils.py, and pkg/utils.py       ->  ambiguous: both, and how to reach each
    sym://python/mod/pkg/utils       pkg/utils.py alone               ->  that module
    sym://python/mod/x               x.py beside x/__init__.py        ->  ambiguous; x/__init__ is the package's file

A path matches whole trailing components of a module's path from its source root, and a package is named with and
without `__init__`. Read exactly, a path names all components, and a file that is called just so comes before a package.

Invariants:
- one thing, or an error: nothing is picked, and what is near is offered, never taken;
- nothing is imported or executed; imports are followed only to say where a name that was not found is defined.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from bae_source.errors import LookupFailed, ResourceError, SourceError
from bae_source.model.address import Address, Segment, is_selector
from bae_source.model.call import Call
from bae_source.model.closest import closest
from bae_source.model.plan import ModuleFile
from bae_source.model.request import Request
from bae_source.model.selector import Selector, is_identifier, parse_selector, selector_of
from bae_source.project.files.unseen import behind_unseen, unseen
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.locate import Group, find, has_parts
from bae_source.syntax.outline.tree import Tree
from bae_source.syntax.text.source import Source

R = TypeVar("R", bound=Request)

_NEAR = 3


class Candidate(Struct, frozen=True, kw_only=True):
    """One thing that may have been meant.

    Parameters:
        selector: names it, together with `options`.
        module: the file that it lies in.
        options: what a call of `ast` needs beside the selector to reach this one and no other.
        name: its dotted name, for other calls; None where it has none.
    """

    selector: Selector
    module: ModuleFile
    options: str
    name: str | None = None

    @property
    def ready(self) -> str:
        """Return the call that can be made as it stands."""
        return self.name or str(self.selector)

    def call(self, verb: str) -> str:
        """Return the call that reaches it."""
        return f"{verb} {self.ready}{self.options if self.name is None else ''}"

    @property
    def detail(self) -> dict[str, str]:
        """Return the entry in an error's details."""
        return {"sym": str(self.selector), "file_rel": self.module.path, "kind": self.selector.kind}


def select(workspace: Workspace, selector: Selector, *, exact: bool = False, verb: str = "ast symbols") -> Resolved:
    """Return what a selector means.

    Parameters:
        exact: whether the path starts at the source root.
        verb: the call that an error's hints repeat for each candidate.

    Raises:
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`; hints are calls, details hold the candidates.
        SourceError: the module's own code does not parse or cannot be decoded.
    """
    return _Selection(workspace, selector, exact=exact, verb=verb).run()


def by_name(workspace: Workspace, request: R) -> R:
    """Return a reading request with the selector that is its target or scope replaced by the dotted name that it means.

    Raises:
        RequestError: `invalid_selector_syntax` or `language_not_supported`.
        LookupFailed: `symbol_not_found` or `ambiguous_symbol`, with candidates.
        SourceError: the module's own code does not parse or cannot be decoded.
    """
    field = "target" if hasattr(request, "target") else "scope"
    target = getattr(request, field, None)
    if not isinstance(target, str) or not is_selector(target):
        return request
    return replace(request, **{field: dotted_name(workspace, target, verb=request.verb)})


def dotted_name(workspace: Workspace, target: str, *, verb: str) -> str:
    """Return the dotted name that a selector means.

    Parameters:
        verb: of the request, for hints.

    Raises:
        as `by_name`.
    """
    found = select(workspace, parse_selector(target), verb=verb)
    name = reading_name(workspace, found.module, found.address.qualname)
    if name is None:
        raise LookupFailed(
            "ambiguous_symbol",
            f"{target} lies in {found.module.name}, which several files have for a name.",
            hints=[f"ast snippet {target} reaches it."],
            details={"sym": target},
        )
    return name


def tree_of(workspace: Workspace, module: ModuleFile, uri: str) -> Tree:
    """Return a module's definitions.

    Raises:
        SourceError: `syntax_invalid` or `encoding_invalid`, with the URI in its details.
    """
    try:
        return workspace.tree_at(module.path)
    except SourceError as error:
        raise SourceError(
            _fault(workspace, module, error),
            error.message,
            hints=error.hints,
            details={"sym": uri, **error.details},
        ) from None


def reading_name(workspace: Workspace, module: ModuleFile, qualname: Iterable[Segment] = ()) -> str | None:
    """Return the dotted name by which `read` reaches something in a module; None where no name leads to its file."""
    for name in (module.name, f"{module.name}@module", f"{module.name}.__init__"):
        try:
            found = resolve(workspace, name)
        except ResourceError:
            continue
        if found.module.path == module.path and found.group is None:
            return ".".join((name, *map(str, qualname)))
    return None


class _Selection:
    """One look-up."""

    def __init__(self, workspace: Workspace, selector: Selector, *, exact: bool, verb: str) -> None:
        self.workspace = workspace
        self.selector = selector
        self.exact = exact
        self.verb = verb
        self._of_ast = verb.startswith("ast ")

    def run(self) -> Resolved:
        files = self._files(self.selector.path, exact=self.exact)
        if not files:
            raise self._no_file()
        if len(files) > 1:
            raise self._several_files(files)
        module = files[0]
        tree = tree_of(self.workspace, module, str(self.selector))
        if not self.selector.names:
            return Resolved(address=Address(module=module.name), module=module, tree=tree, group=None)
        group = self._group(module, tree)
        address = Address(module=module.name, qualname=group.qualname)
        return Resolved(address=address, module=module, tree=tree, group=group)

    def _files(self, path: tuple[str, ...], *, exact: bool) -> list[ModuleFile]:
        """Return the files that a path matches."""
        ending = self._ending.get(path[-1], ())
        if exact:
            literal = [module for module in ending if _components(module) == path]
            return literal or [it for it in ending if it.package and _components(it)[:-1] == path]
        count = len(path)
        return [
            module
            for module in ending
            if (parts := _components(module))[-count:] == path or (module.package and parts[:-1][-count:] == path)
        ]

    @cached_property
    def _ending(self) -> dict[str, list[ModuleFile]]:
        """The project's modules by what their path may end in; a package's ends in its folder as well."""
        ending: dict[str, list[ModuleFile]] = {}
        for module in self.workspace.census.modules:
            for last in set(_components(module)[-2:] if module.package else _components(module)[-1:]):
                ending.setdefault(last, []).append(module)
        return ending

    def _group(self, module: ModuleFile, tree: Tree) -> Group:
        """Return the definitions that the selector's names mean."""
        names = tuple(map(Segment, self.selector.names))
        try:
            group = find(tree, module.name, names)
        except LookupFailed as error:
            if error.code == "ambiguous_symbol":
                raise self._several_places(module, error) from None
            raise self._no_symbol(module, tree, error) from None
        kinds = [tree.outline.definitions[index] for index in group.members]
        if any(has_parts(definition) for definition in kinds):
            return group
        readable = reading_name(self.workspace, module, group.qualname)
        raise LookupFailed(
            "symbol_not_found",
            f"{'.'.join(self.selector.names)} is no class or function of {module.name}, and nothing else has a "
            "selector; use its dotted name.",
            hints=[Call("read", target=readable)] if readable else (),
            details={"sym": str(self.selector), "candidates": []},
        )

    def _several_files(self, files: list[ModuleFile]) -> LookupFailed:
        candidates = [self._candidate(module, self._names_in(module)) for module in files]
        return self._error(
            "ambiguous_symbol",
            f"{'/'.join(self.selector.path)} is the path of {len(files)} files; say which one is meant.",
            candidates,
            [candidate.call(self.verb) for candidate in candidates],
        )

    def _several_places(self, module: ModuleFile, error: LookupFailed) -> LookupFailed:
        """Return the error for a name that is defined in several places; only dotted names tell them apart."""
        readable = reading_name(self.workspace, module)
        places = [candidate.removeprefix(f"{module.name}.") for candidate in error.candidates]
        candidates = [
            Candidate(selector=self.selector, module=module, options="", name=f"{readable}.{it}" if readable else None)
            for it in places
        ]
        return self._error(
            "ambiguous_symbol",
            f"{error.clause}, which no selector tells apart; use their dotted names.",
            candidates,
            [f"read {candidate.name}" for candidate in candidates if candidate.name],
        )

    def _no_file(self) -> LookupFailed:

        path = "/".join(self.selector.path)
        if hidden := behind_unseen(self.workspace, ".".join(self.selector.path), given=path):
            return self._error("symbol_not_found", hidden.message, [], ["doctor"])
        beyond = () if self.exact else unseen(self.workspace)
        wanted = self.selector.path[-1]
        stems: dict[str, list[ModuleFile]] = {}
        for module in self.workspace.census.modules:
            parts = _components(module)
            stem = parts[-2] if module.package and len(parts) > 1 else parts[-1]
            if is_identifier(stem):
                stems.setdefault(stem, []).append(module)
        near = [module for stem in closest(wanted, stems, n=_NEAR) for module in stems[stem]][:_NEAR]
        candidates = [self._candidate(module, self._names_in(module)) for module in near]
        where = "from a source root on" if self.exact else "or a path that ends in it"
        return self._error(
            "symbol_not_found",
            " ".join([f"No module of the project has the path {path}, {where}.", *(each.message for each in beyond)]),
            candidates,
            [
                *(["doctor"] if beyond else []),
                *(candidate.call(self.verb) for candidate in candidates),
                f"search {self._last_name()}",
            ],
        )

    def _no_symbol(self, module: ModuleFile, tree: Tree, error: LookupFailed) -> LookupFailed:
        near = [name.removeprefix(f"{module.name}.").split(".") for name in error.candidates]
        candidates = [
            self._candidate(module, tuple(names)) for names in near[:_NEAR] if _has_selector(tree, module, names)
        ]
        imported = self._imported(module)
        calls = [candidate.call(self.verb) for candidate in candidates]
        whole = self._candidate(module, ()).call("ast symbols" if self._of_ast else self.verb)
        return self._error(
            "symbol_not_found",
            f"{error.clause}{' but imports it' if imported else ''}.",
            [*([imported] if imported else []), *candidates],
            [*([imported.call(self.verb)] if imported else []), *calls, whole],
        )

    def _imported(self, module: ModuleFile) -> Candidate | None:
        """Return where a name is defined that the module only imports."""
        readable = reading_name(self.workspace, module)
        if readable is None:
            return None
        try:
            found = resolve(self.workspace, ".".join((f"{module.name}@module", *self.selector.names)))
        except ResourceError:
            return None
        selector = selector_for(found)
        return self._candidate(found.module, selector.names) if selector else None

    def _names_in(self, module: ModuleFile) -> tuple[str, ...]:
        """Return the selector's names where a module defines them, and none where it does not, or cannot be read."""
        try:
            tree = self.workspace.tree_at(module.path)
        except ResourceError:
            return ()
        return self.selector.names if _has_selector(tree, module, self.selector.names) else ()

    def _candidate(self, module: ModuleFile, names: tuple[str, ...]) -> Candidate:
        """Return a module, or something in it, as a candidate that can be reached."""
        parts = _components(module)
        odd = max((number for number, part in enumerate(parts, 1) if not is_identifier(part)), default=0)
        path = parts[odd:]
        selector = Selector(kind="type" if names else "mod", path=path, names=names)
        if not self._of_ast:
            name = reading_name(self.workspace, module, map(Segment, names))
            return Candidate(selector=selector, module=module, options="", name=name)
        if self._files(path, exact=False) == [module]:
            options = ""
        elif not odd and self._files(path, exact=True) == [module]:
            options = " --exact"
        else:
            lead = "/".join((*module.source_root.split("/"), *parts[:odd])).strip("/")
            options = f" --exact --root {lead}"
        return Candidate(selector=selector, module=module, options=options)

    def _error(self, code: str, message: str, candidates: list[Candidate], calls: list[str]) -> LookupFailed:
        return LookupFailed(
            code,
            message,
            hints=dict.fromkeys(calls),
            candidates=dict.fromkeys(candidate.ready for candidate in candidates),
            details={"sym": str(self.selector), "candidates": [candidate.detail for candidate in candidates]},
        )

    def _last_name(self) -> str:
        return (*self.selector.path, *self.selector.names)[-1]


def selector_for(resolved: Resolved) -> Selector | None:
    """Return the selector of something that was found: a module, a class or a function; None for anything else."""
    definitions = (
        [resolved.tree.outline.definitions[index] for index in resolved.group.members] if resolved.group else []
    )
    if resolved.group and not any(has_parts(definition) for definition in definitions):
        return None
    parts = _components(resolved.module)
    whole = selector_of(Address(module=".".join(parts), qualname=resolved.address.qualname))
    if whole is None or not resolved.module.package or len(parts) == 1:
        return whole
    return Selector(kind=whole.kind, path=parts[:-1], names=whole.names)


def _components(module: ModuleFile) -> tuple[str, ...]:
    """Return a module's path from its source root, without the ending."""
    lead = f"{module.source_root}/" if module.source_root else ""
    return tuple(module.path.removeprefix(lead).removesuffix(".py").split("/"))


def _has_selector(tree: Tree, module: ModuleFile, names: Iterable[str]) -> bool:
    """Return whether names mean one class or function of a module, and are such as a selector can say."""
    path = tuple(names)
    if not path or not all(is_identifier(name) for name in path):
        return False
    try:
        group = find(tree, module.name, tuple(map(Segment, path)))
    except LookupFailed:
        return False
    return any(has_parts(tree.outline.definitions[index]) for index in group.members)


def _fault(workspace: Workspace, module: ModuleFile, error: SourceError) -> str:
    """Return the code of an error as a selector's answer has it: the file's text is at fault, or its encoding."""
    if error.code != "not_lossless":
        return error.code
    try:
        Source(workspace.content(module.path) or b"")
    except SourceError:
        return "encoding_invalid"
    return "syntax_invalid"
