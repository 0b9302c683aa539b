"""The values that code outside a class's methods binds to attributes of the class, of its instances, or of a module.

    app.handler = Spare()             a Spare, for App and the classes above and below it, where `app` is an App
    thing.handler = Spare()           a Spare, for every class with a handler, where `thing` is not known
    thing.handler = given             nothing, where neither is known: most of that is about other classes
    app.handler = given               anything, in the file of App and where `app.handler` stands
    copy.handler = self.handler       nothing new
    app.client = Spare()              a Spare, for the module app

Invariants:
- the files are read that bind the attribute in a class or take it, and those that name the target; an
  index of what all files bind would cost each search more than its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from bae_source.errors import ResourceError
from bae_source.project.references.classes.class_order import ClassOrders
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.meaning.meanings import InModule, Symbol
from bae_source.project.references.types.values import (
    NOT_KNOWN,
    Class,
    Function,
    Instance,
    OfClass,
    Value,
    Values,
    class_around,
)
from bae_source.syntax.names import uses as u

Owner = Class | InModule
_NOTHING: Values = frozenset()
_CACHED = "cached_property"
"""A decorator that makes a property with the assigned value."""
_NAMED: dict[int | str, int] = {u.NAME: 1, u.ATTRIBUTE: 2}
"""By the form of an expression, where its last name stands in it."""


class BoundElsewhere:
    """The values that one file binds attributes to.

    Parameters:
        uses: gives a file's uses.
        orders: tells which classes are above which.
        values: tells what an expression of a file may give.
    """

    def __init__(
        self, uses: Callable[[str], u.Uses], orders: ClassOrders, values: Callable[[str, int], Values]
    ) -> None:
        self.uses = uses
        self.orders = orders
        self.values = values
        self._written_classes: dict[str, list[u.Mention]] = {}

    def values_bound(self, path: str, owners: Iterable[Owner], name: str) -> Values:
        """Return the values that a file binds the attribute of a class or a module to."""
        several, found = list(owners), _NOTHING
        for receiver, given in self.bindings(path, name):
            if receiver == u.PLAIN:
                found |= NOT_KNOWN
                continue
            receivers = self.values(path, receiver)
            if any(self.concerns(owner, receivers) for owner in several):
                found |= self.values(path, given)
            elif None in receivers and any(isinstance(owner, Class) for owner in several):
                found |= known_of(self.values(path, given))
        return found

    def bindings(self, path: str, name: str) -> Iterator[tuple[int, int]]:
        """Yield what a file binds an attribute of a name of, and what it binds it to, as numbers of expressions.

        What it is of is `PLAIN` where code that does not parse may bind it, of anything to anything.
        """
        uses = self.uses(path)
        for _, given, receiver, _ in uses.bound[name]:
            form = uses.expressions[given]
            if form[:1] != (u.ATTRIBUTE,) or form[2] != name:
                yield receiver, given

    def changes_class(self, names: Names, symbol: Symbol) -> bool:
        """Return whether its file assigns another class to a variable's value: `x.__class__ = A`."""
        written = self._classes_written(symbol.path)
        return bool(written) and any(
            self.uses(symbol.path).expressions[receiver][:2] == (u.NAME, symbol.name)
            and names.scope_of(symbol.path, scope, symbol.name) == symbol.scope
            for _, _, scope, _, receiver, _ in written
        )

    def _classes_written(self, path: str) -> list[u.Mention]:
        """Return where a file assigns another class; it is asked for whatever a name may hold."""
        if path not in self._written_classes:
            found = self.uses(path).mentions.get("__class__", ())
            self._written_classes[path] = [mention for mention in found if mention.kind == u.WRITE]
        return self._written_classes[path]

    def concerns(self, owner: Owner, receivers: Values) -> bool:
        """Return whether one of some receivers is a module, or of a class, or of one above or below it."""
        return any(self._is_kin(each, owner) for each in receivers)

    def _is_kin(self, value: Value, owner: Owner) -> bool:
        if isinstance(owner, InModule):
            return value == owner
        of = class_around(value)
        return of is not None and (owner in self.orders.of(of).nodes or of in self.orders.of(owner).nodes)


class BoundByOthers:
    """The values that receivers may be bound to by the files of one search.

    Parameters:
        names: looks names up.
        elsewhere: gives the attributes that one file binds, and their values.
    """

    def __init__(self, names: Names, elsewhere: BoundElsewhere) -> None:
        self.names = names
        self.elsewhere = elsewhere
        self._binding: dict[str, list[str]] = {}
        """By attribute, the files that bind it."""
        self._bound: dict[str, tuple[Values, list[tuple[Values | None, Values]]]] = {}
        """By attribute, the values that may be bound for every class, and those bound for some receivers, or any."""
        self._known: dict[tuple[Owner, str], Values] = {}
        self._files_read: dict[str, None] = {}
        self._setting: dict[str, bool] = {}

    def look_into(self, paths: Iterable[str]) -> None:
        """Note which attributes some files bind."""
        self._setting.clear()
        for path in paths:
            self._files_read[path] = None
            try:
                bound = self.names.uses(path).bound
            except ResourceError:
                continue  # the search tells of it
            for name in bound:
                self._binding.setdefault(name, []).append(path)

    def may_set(self, name: str) -> bool:
        """Return whether these files set or delete an attribute, or have its name as a string; so if none was read."""
        if name not in self._setting:
            self._setting[name] = not self._files_read or any(self._sets(path, name) for path in self._files_read)
        return self._setting[name]

    def _sets(self, path: str, name: str) -> bool:
        try:
            uses = self.names.uses(path)
        except ResourceError:
            return False  # nothing that is decided comes from it
        changed = (each[3] in (u.WRITE, u.DELETE) and each[4] > 0 for each in uses.mentions.get(name, ()))
        return any(each.text == name for each in uses.strings.get(name, ())) or any(changed)

    def values_bound(self, path: str, receiver: u.Expression) -> Values:
        """Return the values that these files bind a receiver to, if it is an attribute or a name of a module."""
        place = _NAMED.get(receiver[0]) if receiver else None
        name = str(receiver[place]) if place else ""
        if name not in self._binding:
            return _NOTHING
        if receiver[0] == u.ATTRIBUTE:
            values = self.elsewhere.values(path, int(receiver[1]))
            owners = [owner for owner in map(owner_of, values) if owner is not None and self._is_free(owner, name)]
        else:
            is_global = self.names.scope_of(path, int(receiver[2]), name) == 0
            owners = [InModule(path)] if is_global else []
        return _NOTHING.union(*(self._values_of(owner, name) for owner in owners))

    def _is_free(self, owner: Owner, name: str) -> bool:
        """Return whether an attribute has the assigned value: a property takes that, or refuses it."""
        orders = self.elsewhere.orders
        members = orders.members(orders.of(owner), name) if isinstance(owner, Class) else ()
        if not members or not members[0].sure:
            return True
        path, scope = members[0].symbol.path, members[0].symbol.scope
        if not orders.is_property(Class(path, scope), name):
            return True
        scopes = self.names.uses(path).scopes
        owners = {scopes[of].owner for how, of, *_ in scopes[scope].names[name] if how == u.FUNCTION}
        decorators = self.names.uses(path).mentions.get(_CACHED, ())
        return any(kind == u.DECORATOR and owner in owners for _, _, _, kind, _, owner in decorators)

    def _values_of(self, owner: Owner, name: str) -> Values:
        key = (owner, name)
        if key not in self._known:
            if name not in self._bound:
                self._bound[name] = self._worked_out(name)
            found, bound = self._bound[name]
            found = found if isinstance(owner, Class) else _NOTHING
            fitting = (
                given for receivers, given in bound if receivers is None or self.elsewhere.concerns(owner, receivers)
            )
            self._known[key] = found.union(*fitting)
        return self._known[key]

    def _worked_out(self, name: str) -> tuple[Values, list[tuple[Values | None, Values]]]:
        everywhere, bound = _NOTHING, list[tuple[Values | None, Values]]()
        for path in self._binding[name]:
            for receiver, number in self.elsewhere.bindings(path, name):
                if receiver == u.PLAIN:
                    bound.append((None, NOT_KNOWN))
                    continue
                given = known_of(self.elsewhere.values(path, number))
                if not given:
                    continue  # as of most bindings
                receivers = self.elsewhere.values(path, receiver)
                bound.append((receivers, given))
                if None in receivers:
                    everywhere |= given
        return everywhere, bound


def joined(own: Values, others: Values) -> Values:
    """Return the values of an attribute; `NOT_KNOWN` is one of them where only other code binds it to known ones."""
    return own | others if not others or any(map(_is_known, own)) else own | others | NOT_KNOWN


def owner_of(value: Value) -> Owner | None:
    """Return the owner of a value's attributes: its class, or a module."""
    return value if isinstance(value, InModule) else class_around(value)


def known_of(values: Values) -> Values:
    """Return those of some values that are of the project."""
    return frozenset(filter(_is_known, values))


def _is_known(value: Value) -> bool:
    return isinstance(value, (Class, Function, Instance, OfClass))
