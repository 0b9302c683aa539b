"""The references to a symbol or a module.

    from app.core import send as s       sure: the import, and every `s` that this import alone binds
    core.send()                          sure where `core` is the module
    self.send(), Client().send()         sure where the class's own order of bases leads to it
    thing.send()                         unsure: it is not known unless the code runs
    mock.patch("app.core.send")          a string

Invariants:
- a file that could not be read is in the answer;
- the definition itself is no reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.project.facts.kept import Recent
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.classes.hierarchy import sought_class
from bae_source.project.references.meaning.meanings import InModule, Outside, Symbol
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought
from bae_source.project.references.meaning.stubs import declarations, with_stub
from bae_source.project.references.search.search import Candidates, Search
from bae_source.project.references.search.strings import in_settings, lower_name
from bae_source.project.references.types.values import Class, Value, class_around
from bae_source.syntax.names import uses as u

if TYPE_CHECKING:
    from bae_source.project.references.classes.registered import Registered

_LOOKUPS = ("getattr", "hasattr", "setattr", "delattr")
_LOOKUP = re.compile(
    rb"attr\s*\(\s*(?P<receiver>[\w.]+)\s*,\s*(?:"
    rb"[\"'](?P<begin>\w+)[\"']\s*\+|[\w.]+\s*\+\s*[\"'](?P<end>\w+)[\"']"
    rb"|[fF][\"'](?P<before>\w*)\{[^{}\n]*\}(?P<behind>\w*)[\"']"
    rb"|[\"'](?P<head>\w*)(?:%s|\{\w*\})(?P<tail>\w*)[\"']\s*(?:%|\.\s*format\b))"
)
_LEAST = 2
"""Characters that are known of a name; less fits too much."""
_MOST_FILES = 60
"""Most files beside the candidates that are parsed to find the classes below one."""

_MOST_KEPT = 100_000
"""Most references kept of a project, of all symbols together."""


class References(Struct, frozen=True, kw_only=True):
    """References to one symbol, and files that could not be read.

    Parameters:
        found: by module, line and column.
        unreadable: files that may hold more, each with the reason.
        names: what was searched for: the symbol's name, and those that imports give it everywhere.
        paths: the files in which code refers to it.
    """

    found: tuple[Reference, ...]
    names: frozenset[str]
    paths: tuple[str, ...]
    unreadable: tuple[tuple[str, ResourceError], ...] = ()

    @property
    def complete(self) -> bool:
        """Return whether every file was read."""
        return not self.unreadable


def references_to(project: Project, resolved: Resolved) -> References:
    """Find what refers to a symbol or a module; what was found is kept as long as no file changes."""
    qualname = resolved.address.qualname
    words = [qualname[-1].name if qualname else resolved.module.name.rpartition(".")[2]]
    candidates = _first_look(project, resolved, words)
    sought = with_stub(project, sought_of(project.names, resolved))
    kept = project.workspace.derived.get(References, _room)
    programs = project.workspace.programs.mark
    key = (resolved.address, programs)
    known = kept.get(key)
    if known is None:
        known = searched(project, sought, candidates)
        if (
            known.complete and programs is not None and not project.workspace.census.outside
        ):  # whose stamps are not known
            kept.put(key, known, len(known.found))
    settings = in_settings(project.workspace, sought, known.names, project.inference)
    found = sorted([*known.found, *settings], key=lambda each: (each.module, each.line, each.column))
    return structs.replace(known, found=tuple(found))


def _room() -> Recent[References]:
    return Recent(_MOST_KEPT)


def searched(project: Project, sought: Sought, candidates: Candidates, families: Families | None = None) -> References:
    """Find what refers to the target, but in the project's settings.

    Parameters:
        candidates: finds the files that have one of some words.
        families: where it is kept what is below a class, for several searches.
    """
    matches = search_code(project, sought, candidates, families)
    found: list[Reference] = []
    for path, mentions in matches.files:
        lines = project.lines(path)
        found += [project.shown(mentioned, lines) for mentioned in mentions]
    found += declarations(project, sought)
    return References(
        found=tuple(found),
        names=matches.names,
        paths=tuple(path for path, _ in matches.files),
        unreadable=matches.unreadable,
    )


class Matches(Struct, frozen=True, kw_only=True):
    """The finds of a search in code: mentions by the paths of their files, and the rest as `References` has it."""

    files: tuple[tuple[str, list[Mentioned]], ...]
    names: frozenset[str]
    unreadable: tuple[tuple[str, ResourceError], ...]


def search_code(project: Project, sought: Sought, candidates: Candidates, families: Families | None = None) -> Matches:
    """Find what mentions one thing, or one of several that have one name.

    Parameters:
        candidates, families: as of `searched`.
    """
    families = families or Families(project)
    search = Search(project, sought, below=families.below, registered=families.registered)
    search.run(candidates, [sought.name])
    if label := lower_name(sought):
        search.run(candidates, [label])
    if not sought.is_module and not any(each.certainty != "mention" for each in search.found.values()):
        # what is called by its name is hardly looked up by a name that is put together, and all files would be read
        for mentioned in families.put_together.of(sought):
            search.found.setdefault((mentioned.path, *mentioned.mention[:2]), mentioned)
        search.unreadable = {**families.put_together.unreadable, **search.unreadable}
    if _may_be_fixture(project, sought):
        for mentioned in requests_for(project, sought, search.unreadable):
            search.found.setdefault((mentioned.path, *mentioned.mention[:2]), mentioned)
    unreadable = {**families.unreadable, **search.unreadable}
    return Matches(
        files=tuple(search.by_file()), names=frozenset(search.known), unreadable=tuple(sorted(unreadable.items()))
    )


def requests_for(project: Project, sought: Sought, unreadable: dict[str, ResourceError]) -> Iterator[Mentioned]:
    """Yield where tests ask for a fixture of pytest.

    Parameters:
        unreadable: takes the files that could not be read, with the reason.
    """
    symbols = {each for each in sought.meanings if isinstance(each, Symbol)}
    defined = [item for path in {each.path for each in symbols} for item in project.fixtures.defined(path).items()]
    for name in sorted({name for (_, name), symbol in defined if symbol in symbols}):
        naming = project.workspace.index.naming([name])
        unreadable.update(naming.unreadable)
        project.load(naming.paths)
        for path in naming.paths:
            try:
                yield from project.fixtures.requested_in(path, name, symbols, sought.word)
            except ResourceError as error:
                unreadable[path] = error


def calls_of(project: Project, resolved: Resolved, references: References) -> References:
    """Return references with the calls that do not stand behind a name of the symbol."""
    from bae_source.project.references.calls.calling import Calling  # only answers about calls need it

    calling = Calling(project, sought_of(project.names, resolved))
    known = {(each.module, each.line, each.column, each.kind) for each in references.found}
    more = calling.run([resolved.module.path, *references.paths], references.names)
    added = [each for each in more if (each.module, each.line, each.column, each.kind) not in known]
    doubted = [calling.doubted(each) for each in references.found]
    found = sorted([*doubted, *added], key=lambda each: (each.module, each.line, each.column))
    unreadable = {**calling.unreadable, **dict(references.unreadable)}
    return structs.replace(references, found=tuple(found), unreadable=tuple(sorted(unreadable.items())))


def _may_be_fixture(project: Project, sought: Sought) -> bool:
    """Return whether something stands in a file that defines fixtures of pytest."""
    paths = {each.path for each in sought.meanings if isinstance(each, Symbol)}
    return any(
        "fixture" in project.uses(path).mentions or "yield_fixture" in project.uses(path).mentions for path in paths
    )


def _first_look(project: Project, resolved: Resolved, words: list[str]) -> Candidates:
    """Look for candidates, while another process works on the symbol's own file; return what finds these and others.

    Parameters:
        words: the symbol's name.
    """
    index, bases, path = project.workspace.index, project.bases, resolved.module.path
    if project.knows(path):
        return index.naming
    index.begin(path)
    is_member = len(resolved.address.qualname) > 1  # a search for one will need the classes below its own
    found = index.naming(words, bases.note if is_member and bases.are_unknown else None)
    return lambda asked: found if asked == words else index.naming(asked)


class Families:
    """Answers that several searches share: classes below a class, or registered with it, and names put together.

    Each is found once; files that may hold more are noted.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.unreadable: dict[str, ResourceError] = {}
        self._known: dict[Class, tuple[Class, ...] | None] = {}

    def below(self, owner: Class) -> tuple[Class, ...] | None:
        """Return every class below one; None where they are too many to look at."""
        if owner not in self._known:
            from bae_source.project.references.classes.lineage import headed  # which only questions about members need

            hierarchy = headed(self.project, sought_class(self.project, owner), _MOST_FILES)
            self.unreadable.update(hierarchy.unreadable)
            self._known[owner] = None if hierarchy.cut_short else tuple(each.of for each in hierarchy.below)
        return self._known[owner]

    def registered(self, above: Class | str) -> frozenset[Class | None]:
        """Return what is registered with an abstract class; None among them where it may be any class."""
        if isinstance(above, Class) and not self.project.inference.orders.is_abstract(above):
            return frozenset()
        found = self._registered.under(above)
        self.unreadable.update(self._registered.unreadable)
        return found

    @cached_property
    def put_together(self) -> PutTogether:
        """The places where names are put together."""
        return PutTogether(self.project)

    @cached_property
    def _registered(self) -> Registered:
        from bae_source.project.references.classes.registered import (
            Registered,  # hardly any receiver is of an abstract class
        )

        return Registered(self.project)


class PutTogether:
    """The places where code puts a name together to look something up, and the known part fits; gathered once.

        getattr(self, "handle_" + method)          may be `handle_get` of the class around, of one above or below it
        getattr(core, f"{kind}_filter")            may be `date_filter` of the module `core`
        getattr(self, "handle")                    is put together of nothing

    What a receiver surely is decides: a name that is looked up in another class or module is none. It is only asked
    about what nothing names in the code, as names that are dispatched to mostly are.

    Parameters:
        project: where to look.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.unreadable: dict[str, ResourceError] = {}

    def of(self, sought: Sought) -> Iterator[Mentioned]:
        """Yield where a name is put together that may be the one that is searched for."""
        word = sought.word
        for each in self._lookups:
            known = len(each.begin) + len(each.end)
            if known < len(word) and word.startswith(each.begin) and word.endswith(each.end):
                try:
                    yield from _decided(self.project, sought, each)
                except ResourceError as error:
                    self.unreadable[each.path] = error

    @cached_property
    def _lookups(self) -> tuple[_Lookup, ...]:
        workspace = self.project.workspace
        naming = workspace.index.naming(_LOOKUPS)
        self.unreadable.update(naming.unreadable)
        found: list[_Lookup] = []
        for path in naming.paths:
            try:
                content = workspace.content(path) or b""
            except ResourceError as error:
                self.unreadable[path] = error
                continue
            for match in _LOOKUP.finditer(content):
                begin = match["begin"] or match["before"] or match["head"] or b""
                end = match["end"] or match["behind"] or match["tail"] or b""
                if len(begin) + len(end) >= _LEAST:
                    line = content.count(b"\n", 0, match.start()) + 1
                    words = (each.decode("utf-8", "replace") for each in (match["receiver"], begin, end))
                    found.append(_Lookup(path, line, *words))
        return tuple(found)


class _Lookup(Struct, frozen=True):
    """One place: its file and line, the object that a name is looked up in, and the known part of the name."""

    path: str
    line: int
    receiver: str
    begin: str
    end: str


def _decided(project: Project, sought: Sought, at: _Lookup) -> Iterator[Mentioned]:
    for name in _LOOKUPS:
        for mention in project.uses(at.path).mentions.get(name, ()):
            if (
                mention.line == at.line
                and mention.kind == u.CALL
                and _may_be(project, sought, at.path, mention.scope, at.receiver)
            ):
                string = u.Mention(*mention[:2], 0, u.STRING, u.OPAQUE, mention.owner)
                yield Mentioned(at.path, string, "mention", Reason.PUT_TOGETHER.of())


def _may_be(project: Project, sought: Sought, path: str, scope: int, receiver: str) -> bool:
    """Return whether what a name is looked up in may have the target."""
    first, *rest = receiver.split(".")
    values: set[Value] = set()
    for meaning in project.names.named(path, scope, first):
        values |= project.inference.values_of(meaning) if isinstance(meaning, Symbol) else {meaning}
    for attribute in rest:
        values = set(project.inference.taken(path, frozenset(values), attribute))
    return any(_may_have(project, sought, each) for each in values)


def _may_have(project: Project, sought: Sought, value: Value) -> bool:
    if isinstance(value, InModule):
        return any(isinstance(each, Symbol) and each.path == value.path for each in sought.meanings)
    if isinstance(value, Outside):
        return False
    of, orders = class_around(value), project.inference.orders
    if of is None:
        return True
    return any(owner in orders.of(of).nodes or of in orders.of(owner).nodes for owner in sought.classes)
