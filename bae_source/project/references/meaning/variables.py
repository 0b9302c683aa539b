"""Names of modules, and of classes, that other code binds anew, so that a use may get another value.

    handler = first                    in app.config
    config.handler = other             in a file that need not name the target of the search
    config.handler()                   may call either
    Client.send = spare                likewise, where `send` is a method of Client

Invariants:
- what binds it is found by its text, `.handler =`; other targets and `setattr` count in files that are found so, and an
  attribute of an instance that holds the variable's value is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.text import normalised
from bae_source.project.facts.mentions import Words, unseen_in
from bae_source.project.files.contents import Content, contents_of
from bae_source.project.references.meaning.meanings import InModule, Meaning, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.types.values import NOT_KNOWN, Class, Value, Values, in_order
from bae_source.syntax.names import uses as u

VARIABLES = (u.ASSIGNED, u.ANNOTATED, u.DECLARED)
"""Bindings that make a name a variable."""
WHATEVER = (*VARIABLES, u.FUNCTION, u.CLASS)
_LINKS = (u.ATTRIBUTE, u.CALLED, u.AWAITED, u.SUBSCRIPT, u.TYPE_OF)
_LEADING = frozenset({u.ASSIGNED, u.IMPORTED, u.GLOBAL, u.NONLOCAL})
"""Bindings of a name in a function or class that may lead to a name of a module."""
_PIECES = (".{} =", ".{}=")
_OF_OTHERS = rb"(?<!\bself)(?<!\bcls)\.(?:%b)\s*=(?!=)"
_ASSIGNED = r"\.(\w+)\s*=(?!=)"
_FEW = 8
"""Names; to look for each in the text of all files takes less time than to look for whatever is assigned there."""
_MOST_LINKS = 40


class _Bound(Struct):
    """The values that attributes of one name are bound to.

    Parameters:
        receivers: what they are attributes of; None for anything.
        places: the expressions that say what they are bound to, each with its file.
        values: the values of these, once requested.
    """

    receivers: Values | None
    places: list[tuple[str, int]]
    values: Values | None = None


class Variables:
    """The names of modules that expressions go through, and the values that other code binds these to.

    Parameters:
        project: where to look.
        kinds: how a name is bound that counts.
    """

    def __init__(self, project: Project, kinds: Collection[int] = VARIABLES) -> None:
        self.project = project
        self.kinds = kinds
        self.unreadable: dict[str, ResourceError] = {}
        self._behind: dict[tuple[str, int], frozenset[Symbol]] = {}

    def behind(self, path: str, number: int) -> frozenset[Symbol]:
        """Return the names of modules that an expression goes through; it must be of a file that can be read."""
        key = (path, number)
        if key not in self._behind:
            self._behind[key] = frozenset()  # in a circle
            self._behind[key] = frozenset(self._walk_chain(path, number))
        return self._behind[key]

    def behind_name(self, path: str, scope: int, name: str) -> Iterator[Symbol]:
        """Yield the names of modules that a name leads to which stands alone in a scope."""
        found = self.project.names.scope_of(path, scope, name)
        if found is None:
            return
        scopes = self.project.uses(path).scopes
        if found and _LEADING.isdisjoint([binding.how for binding in scopes[found].names[name]]):
            return  # what a function is given, such as `self`, is no variable of a module
        asked = Symbol(path, found, name)
        yield from self._behind_meanings(asked, self.project.names.bound(asked))

    def behind_attribute(self, path: str, receiver: int, name: str) -> Iterator[Symbol]:
        """Yield the names of modules that an attribute leads to, if the receiver is a module."""
        for module in self._modules(path, receiver):
            yield from self._behind_meanings(Symbol(module, 0, name), self.project.names.attribute(module, name))

    def is_direct(self, path: str, number: int) -> bool:
        """Return whether an expression is what a name of a module holds, and nothing that comes of it."""
        form = self.project.uses(path).expressions[number]
        return form[0] == u.NAME or (form[0] == u.ATTRIBUTE and bool(self._modules(path, int(form[1]))))

    def _walk_chain(self, path: str, number: int) -> Iterator[Symbol]:
        expressions = self.project.uses(path).expressions
        for _ in range(_MOST_LINKS):
            form = expressions[number]
            if form[:1] == (u.NAME,):
                yield from self.behind_name(path, int(form[2]), str(form[1]))
            if not form or form[0] not in _LINKS:
                return
            if form[0] == u.ATTRIBUTE:
                yield from self.behind_attribute(path, int(form[1]), str(form[2]))
            number = int(form[2 if form[0] == u.TYPE_OF else 1])

    def _modules(self, path: str, number: int) -> list[str]:
        return [each.path for each in self.project.inference.values(path, number) if isinstance(each, InModule)]

    def _behind_meanings(self, itself: Symbol, meanings: Iterable[Meaning]) -> Iterator[Symbol]:
        """Yield the names behind a name: where it is asked for, where it is bound, and those that it is given."""
        for symbol in meanings:
            if not isinstance(symbol, Symbol):
                continue
            scope = self.project.uses(symbol.path).scopes[symbol.scope]
            bindings = [binding for binding in scope.names.get(symbol.name, ()) if binding.how in self.kinds]
            if bindings and scope.kind == u.MODULE_SCOPE:
                yield from (each for each in (itself, symbol) if each.scope == 0)
            for how, value, *_ in bindings:
                if how == u.ASSIGNED and value:
                    yield from self.behind(symbol.path, value)

    def bound_anew(self, symbols: Collection[Symbol]) -> dict[Symbol, Values]:
        """Return what other code binds names of modules or classes to, where that is something new."""
        paths = self._binding({symbol.name for symbol in symbols}) if symbols else ()
        bound: dict[str, list[_Bound]] = {}
        found: dict[Symbol, Values] = {}
        for symbol in sorted(symbols, key=in_order):
            if symbol.name not in bound:
                bound[symbol.name] = self._bound(paths, symbol.name)
            values = self._given(bound[symbol.name], symbol)
            if symbol.scope == 0:
                values -= self.project.inference.values_of(symbol)
            if values:
                found[symbol] = values
        return found

    def _bound(self, paths: Iterable[str], name: str) -> list[_Bound]:
        """Return what some files bind attributes of a name to; once for all modules and classes that have it."""
        inference = self.project.inference
        found: dict[Values | None, _Bound] = {}
        for path in paths:
            try:
                if name not in self.project.uses(path).bound:
                    continue
                for of, number in inference.elsewhere.bindings(path, name):
                    receivers = None if of == u.PLAIN else inference.values(path, of)
                    found.setdefault(receivers, _Bound(receivers, [])).places.append((path, number))
            except ResourceError as error:
                self.unreadable[path] = error
        return list(found.values())

    def _given(self, bound: Iterable[_Bound], symbol: Symbol) -> Values:
        """Return what code binds a name of a module or a class to."""
        inference = self.project.inference
        owner = Class(symbol.path, symbol.scope) if symbol.scope else InModule(symbol.path)
        found = frozenset[Value]()
        for each in bound:
            if each.receivers is None:
                found |= NOT_KNOWN
            elif inference.elsewhere.concerns(owner, each.receivers):
                if each.values is None:
                    each.values = frozenset[Value]().union(*(inference.values(*place) for place in each.places))
                found |= each.values
        return found

    def _binding(self, names: Collection[str]) -> list[str]:
        """Return the files that bind attributes of these names, not only of `self` or `cls`."""
        workspace = self.project.workspace
        pieces = [piece.format(name) for name in sorted(names) for piece in _PIECES]
        if len(names) > _FEW:
            found = list(self._assigning(frozenset(names)))
            self.unreadable.update(unseen_in(workspace, Words(pieces).occur_in))
            self.project.load(found)
            return found
        mentioning = workspace.index.mentioning(pieces)
        self.unreadable.update(mentioning.unreadable)
        pattern = re.compile(_OF_OTHERS % b"|".join(re.escape(name.encode()) for name in sorted(names)))
        found = []
        for path in mentioning.paths:
            content = workspace.content(path) or b""
            if not content.isascii() or pattern.search(content):
                found.append(path)
        self.project.load(found)
        return found

    def _assigning(self, names: frozenset[str]) -> Iterator[str]:
        """Yield the files that bind attributes of these names."""
        workspace = self.project.workspace
        for content in contents_of(workspace, workspace.census.sources):
            try:
                if not names.isdisjoint(_assigned_in(content)):
                    yield content.path
            except ResourceError as error:
                self.unreadable[content.path] = error

    def why(self, symbol: Symbol) -> str:
        """Return why what goes through a name is not sure where other code binds it anew."""
        if symbol.scope:
            scope = self.project.uses(symbol.path).scopes[symbol.scope]
            around = self.project.address(symbol.path, scope.owner)
        else:
            module = self.project.workspace.census.module(symbol.path)
            around = module.name if module else ""
        return Reason.BOUND_BY_OTHERS.of(name=f"{around}.{symbol.name}".removeprefix("."))


def _assigned_in(content: Content) -> Collection[str]:
    """Return the names of the attributes that a file binds."""
    source = content.source()
    if source is None:
        return {name.decode() for name in re.findall(_ASSIGNED.encode(), content.read())}
    return set(re.findall(_ASSIGNED, normalised(source.text)))
