"""List the names that match a pattern."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Struct

from bae_source.errors import RequestError, ResourceError
from bae_source.model.address import is_selector
from bae_source.model.call import Call
from bae_source.model.outcome import Notice, Outcome
from bae_source.model.plan import ModuleFile
from bae_source.model.request import Effect, Request, described
from bae_source.project.files.packages import Nameable
from bae_source.project.files.unseen import unseen
from bae_source.project.interfaces.listing import not_listed
from bae_source.project.naming.listed_symbols import address_in, is_method, module_address, symbols_of
from bae_source.project.search.answer import answer_of, closer_look, not_searched
from bae_source.project.search.name_pattern import NamePattern, State, name_pattern
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.summary import Entry, Summary

if TYPE_CHECKING:
    from bae_source.project.files.data_listing import DataFile

Kind = Literal["package", "module", "class", "function", "method", "assignment", "type alias", "attribute", "variable"]
_BOUND = ("attribute", "variable")
_DATA: Literal["data file"] = "data file"


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


class Glob(Request, frozen=True, kw_only=True):
    """List the modules, symbols and data files whose names match a pattern, sorted.

    `*` stands for anything within one component, `**` for any number of components, `?` for one character, `[ab]` for
    one of some. Names with a leading underscore match like any other. `pkg.mod@stub.*` looks into stubs.
    Attributes of instances and what is bound without a definition are left out, unless asked for; `read` lists the
    statements that bind one.
    With a colon the pattern is one of files that are no Python: `pkg:*.html`, `:docs/**` below the project's root.
    """

    verb: ClassVar[str] = "glob"
    effect: ClassVar[Effect] = Effect.READS
    when: ClassVar[str] = "Use it when you know how a name looks, and not where it is."
    examples: ClassVar[tuple[str, ...]] = (
        'glob "app.*"',
        'glob "**.Client.send*" --kind method',
    )

    pattern: Annotated[str, described("Pattern over dotted names, such as pkg.* or **.Client.send.")]
    kind: Annotated[Kind | None, described("Only what is of this kind.")] = None
    attributes: Annotated[
        bool, described("Also what classes set on their instances, and what loops, `with` and `:=` bind.")
    ] = False

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace."""
        if ":" in self.pattern and not is_selector(self.pattern):
            return self._data(workspace)
        pattern = name_pattern(self.pattern)
        modules, unnamed = _looked_at(workspace, pattern)
        found = [*_modules(workspace, modules, pattern)] if self.kind in (None, "package", "module") else []
        notices = list(unseen(workspace))
        if self.kind not in ("package", "module"):
            for module, state, summary in _candidates(
                workspace, modules, pattern, notices, attributes=self.attributes or self.kind in _BOUND
            ):
                found += _symbols(workspace, module, summary, pattern, state)
        if unnamed:
            notices.append(not_listed(unnamed))
        kept = sorted({match for match in found if self.kind in (None, match.kind)})
        lines = list(dict.fromkeys(match.address for match in kept))
        actions = [_look(match) for match in kept[:1]]
        if not kept and self.kind is None and next(_files(workspace, f":{self.pattern}"), None):
            actions = [f"glob :{self.pattern}"]
        return answer_of(lines, kept, notices, next_actions=actions)

    def _data(self, workspace: Workspace) -> Outcome:
        """List data files."""
        if self.kind is not None:
            raise RequestError(
                "invalid_arguments", f"A data file is no {self.kind}.", hints=["Leave kind out, or the colon."]
            )
        found = [Match(str(file), _DATA, str(file), 1) for file in _files(workspace, self.pattern)]
        kept = sorted(found)
        notices = unseen(workspace, left="listed", data=True)
        return answer_of(
            [match.address for match in kept],
            kept,
            notices,
            next_actions=[Call("read", target=match.address) for match in kept[:1]],
        )


def _files(workspace: Workspace, pattern: str) -> "Iterator[DataFile]":
    from bae_source.project.files.data_listing import data_files, matching  # for data alone

    return matching(data_files(workspace), pattern)


def _look(match: Match) -> str:
    module = match.address if match.kind in ("package", "module") else match.module
    return closer_look(module.removesuffix("@module"), match.address, match.kind)


def _modules(workspace: Workspace, modules: Sequence[ModuleFile], pattern: NamePattern) -> Iterator[Match]:
    """Yield the modules and packages that match; a folder of modules is a package without a file."""
    names = {module.name for module in modules}
    for module in modules:
        if _matches(pattern, module.name):
            address = module.name if pattern.stubs else module_address(workspace, module.name)
            yield Match(address, "package" if module.package else "module", address, 1)
    outer = {name[:end] for name in names for end, char in enumerate(name) if char == "."} - names  # none has a marker
    yield from (Match(name, "package", name, 1) for name in outer if _matches(pattern, name))


def _looked_at(workspace: Workspace, pattern: NamePattern) -> tuple[Sequence[ModuleFile], int]:
    """Return the stubs if the pattern asks for them, and the modules of code otherwise.

    Files that no dotted name means are left out; how many of them might match is told.
    """
    census, nameable = workspace.census, Nameable(workspace.census)
    every = [module for path in census.stubs if (module := census.module(path))] if pattern.stubs else census.modules
    modules: list[ModuleFile] = []
    others: list[ModuleFile] = []
    for module in every:
        (modules if nameable.has_name(module) else others).append(module)
    return modules, sum(_may_match(pattern, module) for module in others)


def _may_match(pattern: NamePattern, module: ModuleFile) -> bool:
    """Say whether a module, or something in it, may match."""
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
    """Yield the modules that may define a match, with how far their own names go; note those that nobody can read."""
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
