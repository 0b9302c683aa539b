"""The value of an expression, as far as code shows it without being run: classes, instances, functions, modules.

    x = Client()            an instance of exactly Client
    def f(x: Client): x     an instance of Client or of a class below it
    self, cls               an instance of the class around it or below; the class itself or one below
    make().send             what `make` is annotated to return

Invariants:
- a value is known or it is `None`; a set of values holds everything that bindings tell, `None` included;
- inference is bounded: past a depth, and in circles, nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from bae_source.errors import ResourceError
from bae_source.project.references.classes.class_order import ClassOrders
from bae_source.project.references.meaning.bound_elsewhere import BoundElsewhere, joined, owner_of
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.meaning.meanings import InFolder, InModule, Meaning, Outside, Symbol
from bae_source.project.references.types.annotations import ANNOTATED, CALLABLES, LEFT_TO_THE_VALUE, Annotations
from bae_source.project.references.types.called_on import CalledOn, Receivers, nothing, self_of
from bae_source.project.references.types.entering import METHODS, Entering
from bae_source.project.references.types.enumerations import is_no_member, may_be_member
from bae_source.project.references.types.items import Items
from bae_source.project.references.types.making import Making
from bae_source.project.references.types.tested import narrowed
from bae_source.project.references.types.type_variables import Call, TypeVariables
from bae_source.project.references.types.values import (
    BINDERS,
    CALL,
    CHANGED_IN_PLACE,
    COPIERS,
    COROUTINE,
    ITEM,
    NOT_KNOWN,
    TELLING_OF_RAISED,
    UNPACKED,
    Above,
    Class,
    Function,
    Instance,
    Member,
    OfClass,
    OutsideInstance,
    Rebound,
    Value,
    Values,
    bound_by,
    class_around,
    class_of,
    is_bound,
    new_instance,
    outside_result,
    raised_of,
    union_of,
)
from bae_source.syntax.names import uses as u

if TYPE_CHECKING:
    from bae_source.project.references.classes.computed_bases import ComputedBases

T = TypeVar("T")

_DEEPEST = 40
_MOST_STEPS = 3_000
"""Most levels and most steps of one question, past which its answer is not known."""
_LINKS = (u.ATTRIBUTE, u.CALLED, u.AWAITED, u.SUBSCRIPT)


class Inference:
    """The values of expressions.

    Parameters:
        names: looks names up.
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.uses = names.uses
        self._known: dict[object, Values] = {}
        self._running: set[object] = set()
        self._steps = 0
        self._is_cut = False
        """True where the value being worked out is incomplete, because it went too deep or in a circle."""
        self.orders = ClassOrders(self.uses, lambda path, number: self._afresh(lambda: self.values(path, number)))
        self.variables = TypeVariables(self.names, self.values, lambda path, number: self.items.of(path, number))
        self.annotations = Annotations(self.uses, self.values, self.names, self.variables.named)
        self.annotated = self.annotations.declared
        self.items = Items(
            self.uses,
            self.values,
            self.names,
            self.annotated,
            self.members,
            lambda of: self.orders.of(of).outside,
            self.annotations.aliased,
        )
        self.entering = Entering(self.uses, self.orders, self.values, self.annotated, self.items)
        self.elsewhere = BoundElsewhere(self.uses, self.orders, self.values)
        self._computed: ComputedBases | None = None
        self.making = Making(self.names, self.orders, self.values, self._called)
        self.called_on = CalledOn(self)
        self.requested: Callable[[Symbol], Collection[Symbol]] = lambda _: ()
        """A function that gives the fixtures of pytest behind a parameter."""

    @property
    def computed(self) -> ComputedBases:
        """Return the answers about bases that code computes."""
        if self._computed is None:  # kept so, as `cached_property` makes access to all attributes slower
            from bae_source.project.references.classes.computed_bases import ComputedBases  # hardly any class needs it

            self._computed = ComputedBases(self.names, self.orders, self.annotated, self.values_of)
        return self._computed

    def values(self, path: str, number: int) -> Values:
        """Return the possible values of an expression of a file."""
        # make().send(), below `def make() -> Client`; 13 to 15 are valued first, so the chain makes no deep recursion
        #   13 (NAME, "make")          Function make
        #   14 (CALLED, 13)            Instance(Client, exact=False), by the annotation
        #   15 (ATTRIBUTE, 14, send)   Function Client.send, and Rebound: a class below may bind it to something else
        #   16 (CALLED, 15)            None, since `send` has no annotation and returns nothing, and Rebound + "()"
        if not self._running:
            if (own := self.called_on.itself(path, number)) is not None:
                return own
            self._steps = 0
            for inner in self._before_it(path, number):  # a long chain is no deep one
                self._valued(path, inner)
        return self._valued(path, number)

    def _before_it(self, path: str, number: int) -> list[int]:
        """Return the expressions before one in its chain of attributes and calls, the first one first."""
        chain: list[int] = []
        try:
            expressions = self.uses(path).expressions
        except ResourceError:
            return chain
        while number and (path, number) not in self._known:
            form = expressions[number]
            if form[0] not in _LINKS:
                break
            number = int(form[1])
            chain.append(number)
        return chain[::-1]

    def _valued(self, path: str, number: int) -> Values:
        if not number:
            return NOT_KNOWN
        key = (path, number)
        if key in self._known:
            return self._known[key]
        return self.once(key, lambda: self._values(path, self.uses(path).expressions[number]))

    def once(self, key: object, work: Callable[[], Values]) -> Values:
        """Return the result of some work, done once; `NOT_KNOWN` where it goes too deep, too far, or in a circle."""
        if key in self._known:
            return self._known[key]
        self._steps += 1
        if key in self._running or len(self._running) > _DEEPEST or self._steps > _MOST_STEPS:
            self._is_cut = True
            return NOT_KNOWN
        around, self._is_cut = self._is_cut, False
        self._running.add(key)
        try:
            found = work()
        except ResourceError:
            found = NOT_KNOWN
        finally:
            self._running.discard(key)
        if not self._is_cut or not self._running:
            self._known[key] = found
        self._is_cut = bool(self._running) and (around or self._is_cut)
        return found

    def _afresh(self, work: Callable[[], T]) -> T:
        """Return the result of some work, with limits that begin anew, however deep its question came up."""
        running, self._running = self._running, set()
        around = self._is_cut, self._steps
        try:
            return work()
        finally:
            self._running, (self._is_cut, self._steps) = running, around

    def attribute(self, value: Value, name: str) -> frozenset[Meaning]:
        """Return the meanings of an attribute of a value."""
        if isinstance(value, InModule):
            return self.names.attribute(value.path, name) or frozenset({None})
        if isinstance(value, InFolder):
            return self.names.inside(value, name) or frozenset({None})
        if isinstance(value, Outside):
            return frozenset({Outside(f"{value.name}.{name}")})
        if isinstance(value, OutsideInstance) and value.exact and name == "__enter__":
            return frozenset({Outside(f"{value.name}.{name}")})
        members = self.members(value, name)
        found: set[Meaning] = {member.symbol for member in members}
        if not members or is_bound(value) or not all(member.sure for member in members) or self._is_intercepted(value):
            found.add(None)
        elif (owner := class_around(value)) and not (order := self.orders.of(owner)).whole:
            found |= self._afresh(lambda: self.computed.bound(order, members, name))
        return frozenset(found)

    def _is_intercepted(self, value: Value) -> bool:
        return isinstance(value, Instance) and self.orders.intercepts(value.of)

    def members(self, value: Value, name: str) -> list[Member]:
        """Return where an attribute of a class, an instance or `super()` is bound; nothing where no class binds it."""
        if isinstance(value, Class):
            return self.orders.members(self.orders.of(value), name)
        if isinstance(value, (Instance, OfClass)):
            return self.orders.members(self.orders.of(value.of), name, of_instance=isinstance(value, Instance))
        if isinstance(value, Above):
            return self.orders.members(self.orders.of(value.of).behind(value.of), name)
        return []

    def _values(self, path: str, form: u.Expression) -> Values:
        what = form[0]
        if what == u.NAME:
            how = int(form[3]) if len(form) > 3 else 0
            return self._values_of_meanings(self.names.named(path, int(form[2]), str(form[1]), how), frozenset())
        if what == u.ATTRIBUTE:
            return self.taken(path, self.values(path, int(form[1])), str(form[2]))
        if what == u.CALLED:
            return self._of_call(path, form)
        if what == u.SUBSCRIPT:
            results = union_of(map(self.making.by_brackets, self.values(path, int(form[1]))))
            return self.items.at(path, int(form[1]), int(form[2])) if results == NOT_KNOWN else results
        if what == u.LITERAL:
            return frozenset({OutsideInstance(f"builtins.{form[1]}")})
        if what == u.AWAITED:
            return self._awaited(path, int(form[1]))
        if what == u.ANY_OF:
            return union_of(self.values(path, int(number)) for number in form[1:])
        if what == u.NEW:
            return self.making.by_new(self.values(path, int(form[1])), self.values(path, int(form[2])))
        if what == u.SUPER:
            return self.called_on.above(path, int(form[1]), int(form[2]))
        if what in (u.ITEM, u.PART):
            return self.items.bound(path, form)
        return self._less_plain(path, form)

    def _less_plain(self, path: str, form: u.Expression) -> Values:
        if form[0] == u.NARROWED:
            return self._narrowed(path, form)
        if form[0] == u.OPERATED:
            before = self.values(path, int(form[1]))
            return self.calls(
                self.taken(path, before, str(form[2])), lambda: self.called_on.given(before, str(form[2]))
            )
        return self._by_types(path, form) if form[0] in (u.TYPED, u.TYPE_OF) else NOT_KNOWN

    def _by_types(self, path: str, form: u.Expression) -> Values:
        called, given = self.values(path, int(form[1])), int(form[2])
        resolve = self.annotations.class_of if form[0] == u.TYPE_OF else self.annotations.typing_call
        by_types = resolve(path, called, given)
        return self.calls(called) if by_types is None else by_types

    def _narrowed(self, path: str, form: u.Expression) -> Values:
        values, types = self.values(path, int(form[1])), self.annotated(path, int(form[2]))
        if any(isinstance(each, Instance) and self.making.takes_others(each.of) for each in types):
            return values
        return narrowed(values, types, self.orders.of, is_one=bool(form[3]))

    def _of_call(self, path: str, form: u.Expression) -> Values:
        number = int(form[1])
        called = self.uses(path).expressions[number]
        if called[0] == u.ATTRIBUTE and called[2] == "__get__":
            return frozenset(map(_function_of, self.values(path, int(called[1]))))
        if (entered := self._entered(path, called)) != NOT_KNOWN:
            return entered
        call = Call(path, form, self._before_dot(path, number))
        results = self.calls(self.values(path, number), call.receivers, call)
        if None not in results:
            return results
        found = union_of(
            each for each in (self.items.called(path, form), self.entering.expecting(path, form)) if None not in each
        )
        return results if found == NOT_KNOWN else results - NOT_KNOWN | found

    def _entered(self, path: str, called: u.Expression) -> Values:
        """Return the values that `with` binds, by the called method of the manager; `NOT_KNOWN` of other calls."""
        is_manager = called[0] == u.ATTRIBUTE and called[2] in METHODS
        return self.entering.entered(path, int(called[1])) if is_manager else NOT_KNOWN

    def taken(self, path: str, receivers: Values, name: str) -> Values:
        """Return the values of an attribute that code of a file takes from any of several values."""
        found = self._taken_from(receivers, name)
        if receivers == NOT_KNOWN or name not in self.uses(path).bound:
            return found
        owners = (owner for owner in map(owner_of, receivers) if owner is not None and owner.path != path)
        return joined(found, self.elsewhere.values_bound(path, owners, name))

    def _taken_from(self, receivers: Values, name: str) -> Values:
        """Return the possible values of an attribute of any of several values."""
        if name == "__class__":
            return frozenset(map(class_of, receivers))
        if name in TELLING_OF_RAISED and (raised := raised_of(receivers)):
            return union_of(each.expected for each in raised)
        asked = {each: found for each in receivers if (found := self._by_getattr(each, name)) != NOT_KNOWN}
        having = receivers.difference(asked)
        found = self._values_of_meanings(self._attributes(having, name), receivers).union(*asked.values())
        return found | self._rebound(having, name)

    def _by_getattr(self, value: Value, name: str) -> Values:
        """Return the annotated values of `__getattr__`, for an attribute that no class of an instance has."""
        if not isinstance(value, Instance) or name.startswith("__") or self.members(value, name):
            return NOT_KNOWN
        if not self.orders.of(value.of).whole or self._is_intercepted(value):
            return NOT_KNOWN
        functions = self.making.functions(self.members(value, "__getattr__"))
        return union_of(self._called(each, lambda: frozenset({value})) for each in functions if each.returns)

    def calls(self, called: Values, receivers: Receivers = nothing, call: Call | None = None) -> Values:
        """Return the possible values of a call of any of several values."""
        return union_of(
            each.then(CALL) if isinstance(each, Rebound) else self._called(each, receivers, call) for each in called
        )

    def _before_dot(self, path: str, number: int) -> Receivers:
        """Return a function that gives the values of the receiver of a called expression."""
        form = self.uses(path).expressions[number] if number else ()
        if form[:1] != (u.ATTRIBUTE,):
            return nothing
        return lambda: self.called_on.given(self.values(path, int(form[1])), str(form[2]))

    def bound_below(self, rebound: Rebound, owner: Class) -> Values:
        """Return the values that a class below binds instead, after the steps behind the attribute."""
        members = self.orders.members(self.orders.of(owner), rebound.name)
        steps, before = rebound.steps, frozenset[Value]({Instance(owner, False)})
        if ITEM in steps:  # the items are known by the declaration of a class above
            above = self.orders.of(rebound.below).nodes
            others = [each.symbol for each in members if Class(each.symbol.path, each.symbol.scope) not in above]
            if not others:
                return frozenset()
            taken = steps.index(ITEM)
            values = union_of(self.items.below(symbol, steps[:taken]) for symbol in others)
            steps = steps[taken + 1 :]
        else:
            values = union_of(self.values_of(member.symbol, before) for member in members)
        name = rebound.name
        for step in steps:
            if step == CALL:
                values, before = self.calls(values, partial(self.called_on.given, before, name)), NOT_KNOWN
            else:
                values, before, name = self._taken_from(values, step), values, step
        return values

    def _attributes(self, receivers: Values, name: str) -> set[Meaning]:
        """Return the meanings of an attribute of any of several values."""
        found: set[Meaning] = set()
        for value in receivers:
            if not isinstance(value, Rebound):
                found |= self.attribute(value, name)
        return found

    def _rebound(self, receivers: Values, name: str) -> Values:
        """Return the mark of an attribute that a class below the receiver's may bind otherwise."""
        loose = (each for each in receivers if isinstance(each, (Instance, OfClass)) and not each.exact)
        further = (each.then(name) for each in receivers if isinstance(each, Rebound))
        return frozenset(Rebound(each.of, name) for each in loose).union(*further)

    def _values_of_meanings(self, meanings: Iterable[Meaning], receivers: Values) -> Values:
        found: set[Value] = set()
        instances = frozenset(each for each in receivers if isinstance(each, Instance)) if receivers else receivers
        for meaning in meanings:
            if isinstance(meaning, Symbol):
                found |= self.values_of(meaning, instances)
            else:
                found.add(meaning)
        return frozenset(found)

    def values_of(self, symbol: Symbol, instances: Values = frozenset()) -> Values:
        """Return the possible values of a bound name.

        Parameters:
            instances: those that it is taken from, so that a property gives its value.
        """
        if symbol in self._running or len(self._running) > _DEEPEST:
            self._is_cut = True
            return NOT_KNOWN
        self._running.add(symbol)
        try:
            scope = self.uses(symbol.path).scopes[symbol.scope]
            bindings = [*scope.names.get(symbol.name, ()), *scope.attributes.get(symbol.name, ())]
            given = [binding for binding in bindings if binding.how != u.OTHER or not binding.second]
            found = union_of(self._bound(symbol, binding, instances) for binding in given)
            if len(given) < len(bindings) and not found <= CHANGED_IN_PLACE:
                found |= NOT_KNOWN
            if None in found and "@" in symbol.name:  # what is bound in a part of a function fits its annotation, too
                noted = [each for each in scope.names.get(symbol.name.partition("@")[0], ()) if each[0] in ANNOTATED]
                bindings += noted
                found |= frozenset().union(*(self._bound(symbol, binding, instances) for binding in noted))
            if None in found and len(bindings) > 1:
                found = self.annotations.fitting(symbol.path, bindings, found)
            if scope.kind == u.CLASS_SCOPE:
                if symbol.name in self.uses(symbol.path).bound:
                    others = self.elsewhere.values_bound(symbol.path, [Class(symbol.path, symbol.scope)], symbol.name)
                    found = joined(found, self.annotations.fitting(symbol.path, bindings, others))
                return self._taken(symbol, scope, found)
            return NOT_KNOWN if self.elsewhere.changes_class(self.names, symbol) else found
        except ResourceError:
            return NOT_KNOWN
        finally:
            self._running.discard(symbol)

    def _taken(self, symbol: Symbol, scope: u.Scope, values: Values) -> Values:
        """Return the value of an attribute access where it differs from the stored one.

        A member of an enumeration is an instance of it; the value of a descriptor is not known.
        """
        if any(isinstance(each, Instance) and self.members(each, "__get__") for each in values):
            return NOT_KNOWN
        owner = Class(symbol.path, symbol.scope)
        if may_be_member(symbol.name, scope) and self.orders.is_enumeration(owner):
            assigned = [binding.first for binding in scope.names[symbol.name]]
            if not any(is_no_member(self.uses, self.values, symbol.path, each) for each in assigned):
                return frozenset({Instance(owner, True)})
        return values

    def _bound(self, symbol: Symbol, binding: u.Binding, instances: Values) -> Values:
        how, first, second, _ = binding
        path = symbol.path
        if how == u.CLASS:
            owner = Class(path, first)
            return self.making.instead_of_class(owner, second) | {owner} if second else frozenset({owner})
        if how == u.FUNCTION:
            function = Function(path, first, second)
            flags = self.uses(path).scopes[first].flags if instances else ()
            if "setter" in flags or "deleter" in flags:
                return frozenset()
            return self._called(function, lambda: instances) if u.Flag.PROPERTY in flags else frozenset({function})
        if how == u.ASSIGNED and symbol.scope and self.uses(path).scopes[symbol.scope].kind == u.TYPE_SCOPE:
            return frozenset(map(bound_by, self.annotated(path, first)))
        if how == u.ASSIGNED or (how == u.OTHER and symbol.scope):  # in a module others may bind it too
            return self._stored(symbol, first)
        if how == u.ANNOTATED:
            declared = self.annotated(path, first)
            if second and declared <= LEFT_TO_THE_VALUE:
                return self.values(path, second)
            return declared | self._against(symbol, declared, second)
        if how in (u.PARAMETER, u.DECLARED, u.CAUGHT):
            declared = self.annotated(path, first)
            return self._parameter(symbol, declared, first, second) if how == u.PARAMETER else declared
        if how in (u.INSTANCE, u.OWN_CLASS):
            return frozenset({(Instance if how == u.INSTANCE else OfClass)(Class(path, first), False)})
        if how == u.IMPORTED:
            meanings = () if self.names.is_itself(symbol, first) else self.names.imported(path, first)
            return self._values_of_meanings(meanings, frozenset())
        return NOT_KNOWN

    def _of_fixture(self, fixture: Symbol) -> Values:
        """Return the value of a fixture of pytest in its tests: the returned or the yielded one."""
        scopes, found = self.uses(fixture.path).scopes, []
        for how, number, note, _ in scopes[fixture.scope].names[fixture.name]:
            if how == u.FUNCTION:
                values = union_of(self.values(fixture.path, each) for each in scopes[number].returns)
                noted = self.items.inside if u.Flag.GENERATOR in scopes[number].flags else self.annotated
                found.append(noted(fixture.path, note) if note and None in values else values)
        return union_of(found)

    def _parameter(self, symbol: Symbol, declared: Values, note: int, default: int) -> Values:
        """Return the values of a parameter: the first one of a method is `self`, whatever its annotation.

        Parameters:
            declared: what the annotation says, which has the number `note`.
        """
        if default and not note:
            return declared | self.values(symbol.path, default)
        if not note and (fixtures := self.requested(symbol)):
            return union_of(map(self._of_fixture, fixtures))
        if not any(map(is_bound, declared)):
            return declared
        scopes = self.uses(symbol.path).scopes
        is_first = next(iter(scopes[symbol.scope].names)) == symbol.name
        is_self = is_first and self.variables.is_method(symbol.path, symbol.scope)
        owner = self.orders.class_around(symbol.path, symbol.scope) if is_self else None
        return frozenset(
            type(each)(owner or each.of, False) if isinstance(each, (Instance, OfClass)) else each for each in declared
        )

    def _stored(self, symbol: Symbol, number: int) -> Values:
        """Return the assigned values; of an attribute with a parameter's value, the type variable of its annotation."""
        form = self.uses(symbol.path).expressions[number]
        if form[:1] == (u.NAME,) and self.uses(symbol.path).scopes[symbol.scope].kind == u.CLASS_SCOPE:
            names = self.uses(symbol.path).scopes[int(form[2])].names
            notes = [note for how, note, *_ in names.get(str(form[1]), ()) if how == u.PARAMETER and note]
            declared = frozenset[Value]().union(*(self.annotated(symbol.path, note) for note in notes))
            if any(map(is_bound, declared)):
                return declared
        return self.values(symbol.path, number)

    def _against(self, symbol: Symbol, declared: Values, number: int) -> Values:
        """Return the assigned values that an annotation does not fit: instances of classes that are not below it.

        What a class's suite assigns may tell of the attribute and not be its value, as `field()` does.
        """
        uses = self.uses(symbol.path)
        is_call = uses.expressions[number][:1] == (u.CALLED,) and uses.scopes[symbol.scope].kind != u.CLASS_SCOPE
        owners = [each.of for each in declared if isinstance(each, Instance)] if is_call else []
        if not owners or len(owners) < len(declared) or any(map(self.orders.is_protocol, owners)):
            return frozenset()
        instances = (each for each in self.values(symbol.path, number) if isinstance(each, Instance))
        orders = ((each, self.orders.of(each.of)) for each in instances)
        return frozenset(each for each, order in orders if order.whole and not set(owners) & set(order.nodes))

    def _called(self, value: Value, receivers: Receivers = nothing, call: Call | None = None) -> Values:
        if isinstance(value, Class):
            return self.making.by_class(value, exact=True)
        if isinstance(value, OfClass):
            results = self.making.by_class(value.of, exact=value.exact)
            return frozenset(new_instance(value) if each == Instance(value.of, False) else each for each in results)
        if isinstance(value, Instance) and value.exact:
            functions = self.making.functions(self.members(value, "__call__"))
            return union_of(self._called(each, lambda: frozenset({value})) for each in functions)
        if isinstance(value, Function):
            flags = self.uses(value.path).scopes[value.scope].flags
            if u.Flag.WRAPPED in flags:
                return NOT_KNOWN
            return frozenset({COROUTINE}) if u.Flag.ASYNC in flags else self._returned(value, receivers, call)
        if not isinstance(value, Outside):
            return NOT_KNOWN
        if call and (value.name in COPIERS or value.name in BINDERS):
            given = union_of(self.values(call.path, each) for each in call.form[2:3] if isinstance(each, int))
            return frozenset(map(_callable_of, given)) if value.name in BINDERS else given
        if call and value.name in UNPACKED and len(call.form) > 2:
            return self._unpacked(call.path, int(call.form[2]), UNPACKED[value.name])
        return frozenset({outside_result(value)})

    def _unpacked(self, path: str, number: int, packing: str) -> Values:
        """Return the argument of a call of a certain outside function, if an expression is one."""
        form = self.uses(path).expressions[number]
        given = form[2] if form[:1] == (u.CALLED,) and len(form) > 2 else u.OPAQUE
        is_packed = isinstance(given, int) and given and self.values(path, int(form[1])) == {Outside(packing)}
        return self.values(path, int(given)) if is_packed else NOT_KNOWN

    def _returned(self, function: Function, receivers: Receivers, call: Call | None = None) -> Values:
        """Return the values of a function: by its annotation, else by its `return` statements."""
        noted = NOT_KNOWN
        if function.returns:
            given = call or Call(function.path, (), receivers)
            itself = lambda: self_of(receivers())  # noqa: E731
            noted = self.annotations.returned(function, itself, partial(self.variables.solved, function, call=given))
            if not noted <= CALLABLES:
                return noted
        scope = self.uses(function.path).scopes[function.scope]
        if not scope.returns or u.Flag.GENERATOR in scope.flags:
            return noted
        seen = self.called_on.returned(function, receivers)
        found = seen or union_of(self.values(function.path, number) for number in scope.returns)
        return found - NOT_KNOWN | noted if noted != NOT_KNOWN and None in found else found

    def _awaited(self, path: str, number: int) -> Values:
        form = self.uses(path).expressions[number]
        if form[0] != u.CALLED:
            return NOT_KNOWN
        entered = self._entered(path, self.uses(path).expressions[int(form[1])])
        receivers = self._before_dot(path, int(form[1]))
        call = Call(path, form, receivers)
        return (
            entered
            if entered != NOT_KNOWN
            else union_of(
                self._returned(value, receivers, call)
                if isinstance(value, Function) and u.Flag.ASYNC in self.uses(value.path).scopes[value.scope].flags
                else NOT_KNOWN
                for value in self.values(path, int(form[1]))
            )
        )


def _callable_of(value: Value) -> Value:
    """Return the callable behind a partial or bound one; other uses of that do not lead to it."""
    return value if isinstance(value, (Function, Class, OfClass, Outside, Rebound)) else None


def _function_of(value: Value) -> Value:
    """Return a function, which `f.__get__(x)` binds; of anything else it is not known."""
    return value if isinstance(value, Function) else None
