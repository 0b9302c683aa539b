"""Calls of a function or a class that do not stand behind its name: the callee is known by its value.

    run = send; run()                     `run` holds `send`, wherever else it is imported
    (send if c else wait)(x)              unsure
    kind()()                              where `kind` returns a class
    partial(send, 1)(), MethodType(send, x)(), send.__get__(x)()
    @kind()                               likewise, since what `kind` returns is called with what is decorated
    TABLE[key](x)                         unsure: the value of code that names it is not known
    cls(1), type(self)(1), self.__class__(1), super().__new__(cls)
                                          in a method of the class; in one of a class above it is unsure

Invariants:
- `calls` alone decides the callee of a call, so callers and callees of one call agree;
- a place is looked at where a name stands near it, in the same function, that holds what is called, gives it, or has
  it inside, as tables do: a value that goes through parameters without annotations is not followed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct, structs

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.project.references.calls.calls import Call, calls_at, of_symbol, values_called
from bae_source.project.references.meaning.bound_elsewhere import owner_of
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned, Sought, sought_by
from bae_source.project.references.meaning.variables import WHATEVER, Variables
from bae_source.project.references.search.search import Search
from bae_source.project.references.types.values import NO_VALUE, Class, Function, OfClass, Rebound, Value, in_order
from bae_source.syntax.names import uses as u

_MOST_FOLLOWED = 30
"""Most names followed that hold the target, or return it."""
_SEVERAL = Reason.SEVERAL.of(what="what is called")
_BY_OTHERS = Reason.BOUND_BY_OTHERS.of(name="what is called")
_HOLDING = (u.ASSIGNED, u.ANNOTATED, u.PARAMETER, u.OTHER, u.OWN_CLASS)
_CALLS = (u.CALL, u.DECORATOR)
_OF_CLASS = ("__class__", "__new__")
_PARTS: dict[object, int] = {
    **dict.fromkeys((u.ATTRIBUTE, u.CALLED, u.SUBSCRIPT, u.AWAITED, u.ANY_OF, u.SEVERAL, u.ITEM), 1),
    u.LITERAL: 2,
}
"""By the form of an expression, from where on it has others in it."""
_NAMING: dict[object, int] = {u.NAME: 1, u.ATTRIBUTE: 2}
"""By the form of an expression that is a name or an attribute, where that stands."""
_TYPED = "\0"
_BUILT_WITH_IT = Reason.MADE_BY_CODE.of(what="what is called", name="it")

_Place = tuple[str, str, u.Mention]
"""A call: its file, its name and its mention."""


class _Near(Struct, frozen=True):
    """Names that stand in a file.

    Parameters:
        names: those that mean the target.
        carriers: those that hold it inside something else; more are found.
    """

    names: frozenset[str]
    carriers: set[str]


class Calling:
    """A search for calls of the target that stand behind other names, or behind none.

    Attributes:
        unreadable: files that may hold more.
    """

    def __init__(self, project: Project, sought: Sought) -> None:
        self.project = project
        self.sought = sought
        self.targets = frozenset(self._targets())
        self.unreadable: dict[str, ResourceError] = {}
        self.found: dict[tuple[str, int, int], Mentioned] = {}
        self._followed: dict[Symbol, str | None] = {}
        """By each name that holds the target, why it may hold something else, or ""; None where it returns it."""
        self._waiting: list[Symbol] = []
        self._follows = 0
        self._places: dict[_Place, list[_Near]] = {}
        """Calls that are to be looked at, with the names that stand around."""
        self._known_words: dict[tuple[str, int], frozenset[str]] = {}
        self._carrying: set[Symbol] = set()
        """Those of them that hold it inside something else."""

    def run(self, paths: Iterable[str], names: Collection[str]) -> list[Reference]:
        """Return the calls.

        Parameters:
            paths: files in which something refers to it.
            names: by which.
        """
        if not self.targets:
            return []
        for path in dict.fromkeys(paths):
            self._look_around(path, names)
        for target in self.targets:
            if isinstance(target, Class):
                self._look_into_methods(target)
        while self._waiting or self._places:
            places, self._places = self._places, {}
            self._note(places)
            following, self._waiting = self._waiting[: _MOST_FOLLOWED - self._follows], []
            self._follows += len(following)
            for symbol in following:
                self._follow(symbol)
        shown = []
        for (path, *_), mentioned in sorted(self.found.items()):
            shown.append(self.project.shown(mentioned, self.project.lines(path)))
        return shown

    def doubted(self, reference: Reference) -> Reference:
        """Return a call that stands behind the name as one that is not sure, where other code binds that anew."""
        if reference.certainty != "sure" or reference.kind != u.KINDS[u.CALL] or not self.bound_anew:
            return reference
        return structs.replace(reference, certainty="unsure", why=self.bound_anew)

    @cached_property
    def bound_anew(self) -> str:
        """Return the reason why calls by name may reach a replacement that code assigns; "" where there is none."""
        if not self.targets:
            return ""
        variables = Variables(self.project, WHATEVER)
        symbols = {each for each in self.sought.meanings if isinstance(each, Symbol)}
        addresses = {self._address(target) for target in self.targets}
        if any(set(found) - addresses or unknown for found, unknown in (of_symbol(self.project, s) for s in symbols)):
            return _SEVERAL
        bound = variables.bound_anew(symbols)
        self.unreadable.update(variables.unreadable)
        others = (symbol for symbol, values in bound.items() if not values <= self.targets | {NO_VALUE})
        return next((variables.why(symbol) for symbol in sorted(others, key=in_order)), "")

    def _targets(self) -> Iterator[Value]:
        for symbol in self.sought.meanings:
            if not isinstance(symbol, Symbol):
                continue
            scopes = self.project.uses(symbol.path).scopes
            bindings = scopes[symbol.scope].names.get(symbol.name, ())
            if any(how == u.FUNCTION and u.Flag.PROPERTY in scopes[first].flags for how, first, *_ in bindings):
                continue
            for how, first, second, _ in bindings:
                if how == u.CLASS:
                    yield Class(symbol.path, first)
                elif how == u.FUNCTION:
                    yield Function(symbol.path, first, second)

    def _look_around(self, path: str, names: Collection[str], *, as_carriers: bool = False) -> None:
        """Note the calls near some names, and the other names that get their values.

        Parameters:
            as_carriers: whether these names hold the target inside something else, such as a table.
        """
        uses = self.project.uses(path)
        here = {*names, *(each.name for each in uses.imports if each.name and each.attribute in names)}
        found = [mention for name in here for mention in uses.mentions.get(name, ())]
        string_owners = {text.owner for name in here for text in uses.strings.get(name, ())}
        scopes = _scopes_of(uses, found)
        functions = {number for number in scopes if uses.scopes[number].kind == u.FUNCTION_SCOPE}
        for number, scope in enumerate(uses.scopes) if functions or string_owners else ():
            if scope.owner in string_owners or self._takes_on(path, scope, functions):
                scopes.add(number)
        near = _Near(frozenset() if as_carriers else frozenset(here), here if as_carriers else set())
        places: list[_Place] = []
        for number in sorted(scopes):
            scope = uses.scopes[number]
            if scope.kind in (u.MODULE_SCOPE, u.CLASS_SCOPE):
                self._note_holders(path, number, scope.names, near)
            else:
                self._note_carriers(path, scope.names, near)
                places += self._calls_of_variables(path, number)
                self._note_giver(path, number, here)
                around = self.project.inference.orders.class_around(path, number)
                if around:
                    self._note_holders(path, around.scope, uses.scopes[around.scope].attributes, near)
        for name in (u.NAMELESS, *_OF_CLASS):
            calls = (each for each in uses.mentions.get(name, ()) if each[2] in scopes and each[3] in _CALLS)
            places += [(path, name, each) for each in calls]
        self._note_set(path, here)
        for place in places:
            self._places.setdefault(place, []).append(near)

    def _takes_on(self, path: str, scope: u.Scope, around: Collection[int]) -> bool:
        """Return whether a function inside some has a parameter whose default is the target."""
        if scope.kind != u.FUNCTION_SCOPE or scope.parent not in around:
            return False
        bindings = (each for several in scope.names.values() for each in several)
        return any(how == u.PARAMETER and default and self._gives(path, default) for how, _, default, _ in bindings)

    def _calls_of_variables(self, path: str, scope: int) -> Iterator[_Place]:
        """Yield the calls of variables of a function."""
        uses, names = self.project.uses(path), self.project.names
        for name, bindings in uses.scopes[scope].names.items():
            if any(how in _HOLDING for how, *_ in bindings):
                for each in uses.mentions.get(name, ()):
                    if each[3] in _CALLS and each[4] == u.PLAIN and names.scope_of(path, each[2], name) == scope:
                        yield path, name, each

    def _note(self, near: Mapping[_Place, Sequence[_Near]]) -> None:
        """Note the calls of a target, and those of an unknown value that is computed from one."""
        addresses = {self._address(target) for target in self.targets}
        calls, unreadable = calls_at(self.project, near)
        self.unreadable.update(unreadable)
        for call in calls:
            if not addresses.isdisjoint(call.addresses):
                self._add(call, call.why)
            elif call.why or not call.addresses:
                several = near[call.path, call.name, call.mention]
                if any(self._may_lead_to_target(call, each) for each in several):
                    self._add(call, _BUILT_WITH_IT)

    def _may_lead_to_target(self, call: Call, near: _Near) -> bool:
        _, _, scope, _, receiver, _ = call.mention
        if call.name != u.NAMELESS and receiver != u.PLAIN:
            return False
        if None not in values_called(self.project, call.path, call.name, call.mention):
            return False
        if call.name == u.NAMELESS:
            return self._may_contain(call.path, receiver, near)
        bound = self.project.names.scope_of(call.path, scope, call.name)
        bindings = self.project.uses(call.path).scopes[bound or 0].names.get(call.name, ())
        return any(self._may_contain(call.path, number, near) for number in map(_given, bindings))

    def _note_carriers(self, path: str, bound: Mapping[str, list[u.Binding]], near: _Near) -> None:
        """Note the variables of a function that hold the target inside something else."""
        for name, bindings in bound.items():
            if name not in near.carriers and any(self._carries(path, number, near) for number in map(_given, bindings)):
                near.carriers.add(name)

    def _carries(self, path: str, number: int, near: _Near) -> bool:
        words = self._words(path, number) if number != u.OPAQUE else frozenset[str]()
        if words.isdisjoint(near.names) and words.isdisjoint(near.carriers) and _TYPED not in words:
            return False
        if not self._may_contain(path, number, near):
            return False
        values = self.project.inference.values(path, number)
        is_display = self.project.uses(path).expressions[number][0] in (u.LITERAL, u.SEVERAL)
        if is_display or any(isinstance(each, OfClass) and each.of in self.targets for each in values):
            return True
        return None in values and self.targets.isdisjoint(values)

    def _may_contain(self, path: str, number: int, near: _Near, *, taken: bool = False) -> bool:
        """Return whether an expression may hold what a name in it stands for, or gives something out of it.

        Parameters:
            taken: whether it is an attribute of that, so that the name itself does not count.
        """
        expressions = self.project.uses(path).expressions
        what, *rest = expressions[number] or (None,)
        if what == u.NAME:
            return self._is_it(path, number, str(rest[0]), near, taken=taken)
        if what == u.ATTRIBUTE:
            is_it = self._is_it(path, number, str(rest[1]), near, taken=taken)
            return is_it or self._may_contain(path, int(rest[0]), near, taken=True)
        if what == u.CALLED:
            called = expressions[int(rest[0])]
            of = int(called[1]) if called[:1] == (u.ATTRIBUTE,) else u.OPAQUE
            return self._may_contain(path, of, near, taken=True) or self._any_may_contain(path, rest[1:], near, taken)
        if what in (u.SUBSCRIPT, u.NARROWED):
            return self._may_contain(path, int(rest[0]), near, taken=taken)
        several = (
            rest[1:]
            if what in (u.LITERAL, u.TYPED)
            else rest
            if what in (u.ANY_OF, u.SEVERAL, u.ITEM, u.AWAITED)
            else ()
        )
        return self._any_may_contain(path, several, near, taken)

    def _is_it(self, path: str, number: int, name: str, near: _Near, *, taken: bool) -> bool:
        """Return whether an expression that is a name, or an attribute, holds the target, or has it inside."""
        if name in near.names and not taken and (self._gives(path, number) or self._is_of_unknown(path, number)):
            return True
        if name not in near.carriers:
            return False
        what, *rest = self.project.uses(path).expressions[number]
        inference, found = self.project.inference, set[object]()
        if what == u.NAME:
            found.update(self.project.names.named(path, int(rest[1]), name))
        else:
            for value in inference.values(path, int(rest[0])):
                found.update(inference.attribute(value, name) if value is not None else ())
        is_local = any(isinstance(each, Symbol) and self._is_variable(each) for each in found)
        return is_local or not self._carrying.isdisjoint(found)

    def _is_of_unknown(self, path: str, number: int) -> bool:
        """Return whether an expression is an attribute of an unknown value, and a member is searched for."""
        what, *rest = self.project.uses(path).expressions[number]
        known = what != u.ATTRIBUTE or not self.sought.classes
        return not known and None in self.project.inference.values(path, int(rest[0]))

    def _is_variable(self, symbol: Symbol) -> bool:
        kind = self.project.uses(symbol.path).scopes[symbol.scope].kind
        return kind not in (u.MODULE_SCOPE, u.CLASS_SCOPE)

    def _any_may_contain(self, path: str, several: Iterable[int | str], near: _Near, taken: bool) -> bool:
        return any(self._may_contain(path, each, near, taken=taken) for each in several if isinstance(each, int))

    def _add(self, call: Call, why: str) -> None:
        place = (call.path, *call.mention[:2])
        before = self.found.get(place)
        if before is None or (before.certainty != "sure" and not why):
            self.found[place] = Mentioned(call.path, call.mention, "unsure" if why else "sure", why)

    def _address(self, value: Value) -> str:
        assert isinstance(value, (Class, Function))
        return self.project.address(value.path, self.project.uses(value.path).scopes[value.scope].owner)

    def _note_holders(self, path: str, scope: int, bound: Mapping[str, list[u.Binding]], near: _Near) -> None:
        """Note the names of a module or a class that are assigned the target, or what has it inside."""
        names = {*near.names, *near.carriers}
        for name, bindings in bound.items():
            numbers = [_given(each) for each in bindings if each[0] in (u.ASSIGNED, u.ANNOTATED)]
            symbol = Symbol(path, scope, name)
            if any(self._names(path, number, names) and self._gives(path, number) for number in numbers):
                values = {each for each in self.project.inference.values_of(symbol) if not isinstance(each, Rebound)}
                self._follow_later(symbol, "" if values and values <= self.targets | {NO_VALUE} else _SEVERAL)
            elif any(self._carries(path, number, near) for number in map(_given, bindings)):
                self._carrying.add(symbol)
                self._follow_later(symbol, _BUILT_WITH_IT)

    def _note_set(self, path: str, names: Collection[str]) -> None:
        """Note the attributes of modules and classes that are assigned the target."""
        uses = self.project.uses(path)
        for name, bindings in uses.bound.items():
            for _, number, receiver, _ in bindings:
                if receiver != u.PLAIN and self._names(path, number, names) and self._gives(path, number):
                    for owner in map(owner_of, self.project.inference.values(path, receiver)):
                        if owner is not None:
                            scope = owner.scope if isinstance(owner, Class) else 0
                            self._follow_later(Symbol(owner.path, scope, name), _BY_OTHERS)

    def _note_giver(self, path: str, scope: int, names: Collection[str]) -> None:
        """Note the function that has a scope, if it returns the target."""
        uses = self.project.uses(path)
        returns = uses.scopes[scope].returns
        is_giver = any(self._names(path, number, names) and self._gives(path, number) for number in returns)
        around = uses.scopes[scope].parent
        for name, bindings in uses.scopes[around].names.items():
            for how, number, note, _ in bindings:
                if how == u.FUNCTION and number == scope and (is_giver or self._tells(path, note, names)):
                    self._follow_later(Symbol(path, around, name), None)

    def _follow_later(self, symbol: Symbol, why: str | None) -> None:
        if symbol not in self._followed and symbol not in self.sought.meanings:
            self._followed[symbol] = why
            self._waiting.append(symbol)

    def _follow(self, symbol: Symbol) -> None:
        """Look at the calls of a name that holds the target, or gives it, and what it is handed on to."""
        uses = self.project.uses(symbol.path)
        scope = uses.scopes[symbol.scope]
        if scope.kind not in (u.MODULE_SCOPE, u.CLASS_SCOPE):
            return self._look_around(symbol.path, [symbol.name])
        sought = sought_by(self.project.uses, self.project.address, symbol)
        search = Search(self.project, sought, kinds=frozenset({*_CALLS, u.READ, u.ANNOTATION}))
        search.run(self.project.workspace.index.naming, [symbol.name])
        self.unreadable.update(search.unreadable)
        other = self._followed[symbol]
        for path, mentions in search.by_file():
            for each in mentions:
                if each.mention.kind in _CALLS and other is not None:
                    self._add(Call(path, symbol.name, each.mention, (), ""), each.why or other)
            self._look_around(path, search.known, as_carriers=symbol in self._carrying)
        return None

    def _names(self, path: str, number: int, names: Collection[str]) -> bool:
        """Return whether an expression has one of some names in it."""
        return number != u.OPAQUE and not self._words(path, number).isdisjoint(names)

    def _words(self, path: str, number: int) -> frozenset[str]:
        """Return the names inside an expression, and `_TYPED` where a type may have more; worked out once."""
        known = self._known_words.get((path, number))
        if known is None:
            expressions, words, waiting = self.project.uses(path).expressions, set[str](), [number]
            while waiting:
                form = expressions[waiting.pop()]
                if form and form[0] in _NAMING:
                    words.add(str(form[_NAMING[form[0]]]))
                if form and form[0] in _PARTS:
                    waiting += [each for each in form[_PARTS[form[0]] :] if isinstance(each, int)]
                if form[:1] == (u.TYPED,):
                    words.add(_TYPED)
            self._known_words[path, number] = known = frozenset(words)
        return known

    def _gives(self, path: str, number: int) -> bool:
        return self._is_any(self.project.inference.values(path, number))

    def _tells(self, path: str, note: int, names: Collection[str]) -> bool:
        """Return whether an annotation says that the target is given, as `type[C]` does."""
        return self._names(path, note, names) and self._is_any(self.project.inference.annotated(path, note))

    def _is_any(self, values: Collection[Value]) -> bool:
        """Return whether one of some values is the target, or it or a class below it."""
        return any((each.of if isinstance(each, OfClass) else each) in self.targets for each in values)

    def _look_into_methods(self, target: Class) -> None:
        """Look at what calls `cls`, or the class of `self`, in a class and those above it."""
        orders = self.project.inference.orders
        for owner in orders.of(target).classes:
            try:
                places = list(self._by_class(owner))
                calls, unreadable = calls_at(self.project, places)
            except ResourceError as error:
                self.unreadable[owner.path] = error
                continue
            self.unreadable.update(unreadable)
            for call in calls:
                if self._address(owner) not in call.addresses:
                    continue
                if owner == target:
                    self._add(call, call.why)
                elif any(
                    isinstance(each, OfClass) and not each.exact
                    for each in values_called(self.project, call.path, call.name, call.mention)
                ):
                    self._add(call, Reason.CALLED_BELOW.of())

    def _by_class(self, owner: Class) -> Iterator[_Place]:
        """Yield the calls in a class that may be of the class itself."""
        uses = self.project.uses(owner.path)
        own = {
            name
            for scope in uses.scopes
            if scope.parent == owner.scope
            for name, bindings in scope.names.items()
            if any(how == u.OWN_CLASS for how, *_ in bindings)
        }
        found = [each for word in (*own, *_OF_CLASS, "type") for each in uses.mentions.get(word, ())]
        for number in _scopes_of(uses, found):
            if _is_inside(uses.scopes, number, owner.scope):
                yield from self._calls_of_variables(owner.path, number)
        for name in (*sorted(own), *_OF_CLASS, u.NAMELESS):
            for mention in uses.mentions.get(name, ()):
                if mention.kind in _CALLS and _is_inside(uses.scopes, mention.scope, owner.scope):
                    yield owner.path, name, mention


def _given(binding: u.Binding) -> int:
    """Return the number of the value that a binding gives; `OPAQUE` where it has none."""
    how, first, second, _ = binding
    if how in (u.ASSIGNED, u.OTHER):
        return first
    return second if how in (u.ANNOTATED, u.PARAMETER) else u.OPAQUE


def _scopes_of(uses: u.Uses, mentions: Iterable[u.Mention]) -> set[int]:
    """Return the scopes in which mentions stand, those around these, and of headers those of the functions."""
    scopes = uses.scopes
    found: set[int] = set()
    for _, _, number, kind, _, owner in mentions:
        at = number
        found.add(at)
        while scopes[at].kind == u.INNER_SCOPE:
            found.add(at := scopes[at].parent)
        if kind in (u.READ, u.ANNOTATION):
            around = scopes[number].parent if scopes[number].kind == u.TYPE_SCOPE else number
            name = uses.owners[owner].rpartition(".")[2].partition("[")[0]
            bindings = scopes[around].names.get(name, ())
            found.update(of for how, of, *_ in bindings if how == u.FUNCTION and scopes[of].owner == owner)
    return found


def _is_inside(scopes: Sequence[u.Scope], scope: int, owner: int) -> bool:
    while scope > owner:
        scope = scopes[scope].parent
    return scope == owner
