"""The calls in a definition: each by the address of the callee, or as it is written where that is not known.

g()              app.core.g
self.n()         app.core.A.n, where A is a base that defines it
json.dumps(x)    json.dumps, outside the project
x.send()         x.send, unsure
table[0]()       table[…](), unsure
x.size = 1       app.core.A.size@setter, where that is a property
@g               app.core.g, if what it decorates is defined there
@h(1)            app.core.h, and app.core.h.inner, which it returns
self.step()      app.core.A.step and app.core.A.other, unsure, where A has that method and `self.step = self.other`
config.run()     likewise, where any code has `config.run = other`; sure where `run` is a variable itself
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct, structs

from bae_source.errors import ResourceError
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.project.references.meaning.meanings import InModule, Meaning, Outside, Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.project.references.meaning.variables import WHATEVER, Variables
from bae_source.project.references.types.values import (
    FITTED,
    NO_VALUE,
    REPLACED,
    Class,
    Function,
    Instance,
    OfClass,
    OutsideInstance,
    Rebound,
    Value,
    Values,
    class_around,
    in_order,
    is_bound,
    lacks,
)
from bae_source.syntax.names import uses as u

_BUILTIN = "builtins."
_DRAWN = dict.fromkeys((u.CALLED, u.TYPED, u.TYPE_OF, u.NEW), "{}()") | {u.AWAITED: "(await {})", u.SUBSCRIPT: "{}[…]"}
_ACCESSORS = {u.READ: "getter", u.WRITE: "setter", u.DELETE: "deleter"}
"""By the kinds of mentions, which accessor of a property they call."""
_NEW, _CLASS = "__new__", "__class__"
_SEVERAL = Reason.SEVERAL.of(what="what is called")
_VALUE_OF = {u.ASSIGNED: 1, u.ANNOTATED: 2}
"""By how a name is bound to a value, where that stands in the binding."""
_NO_VALUES = (u.FUNCTION, u.CLASS, u.IMPORTED, u.GLOBAL, u.NONLOCAL, u.DECLARED)


class Call(Struct):
    """One call.

    Parameters:
        addresses: of what it may call, as far as that is known.
        why: this is not sure; "" where it is.
        certain: those of the addresses that are sure all the same.
    """

    path: str
    name: str
    mention: u.Mention
    addresses: Collection[str]
    why: str
    certain: Collection[str] = ()


def called_by(project: Project, path: str, within: str) -> tuple[list[Reference], dict[str, ResourceError]]:
    """Return the calls in a definition, and the files that could not be read and may bind anew what it calls.

    Parameters:
        within: its qualname; "" for a whole module.
    """
    uses = project.uses(path)
    inside = {
        number for number, name in enumerate(uses.owners) if not within or name == within or _is_inside(name, within)
    }
    places = [
        (path, name, mention)
        for name, mentions in uses.mentions.items()
        for mention in mentions
        if mention.kind in (u.CALL, u.DECORATOR)
        and mention.owner in inside
        and name != "super"
        # what a definition is decorated with is called before there is what it makes
        and not (mention.kind == u.DECORATOR and uses.owners[mention.owner] == within)
    ]
    calls, unreadable = calls_at(project, places)
    calls = [call for call in calls if call.addresses or not _is_handed(uses, call)]
    calls += _accesses(project, path, inside)
    found = [each for call in calls for each in _shown(project, call)]
    return sorted(found, key=lambda each: (each.line, each.column, each.address)), unreadable


def _is_handed(uses: u.Uses, call: Call) -> bool:
    """Return whether a call is the second one of `@f(1)`: that of the value of `f(1)` with the decorated function."""
    is_decorator = call.name == u.NAMELESS and call.mention.kind == u.DECORATOR
    return is_decorator and uses.expressions[call.mention.receiver][:1] in ((), (u.CALLED,), (u.TYPED,))


def _accesses(project: Project, path: str, inside: Collection[int]) -> Iterator[Call]:
    """Yield the uses of properties in some definitions, which call one of their accessors."""
    uses = project.uses(path)
    for name, mentions in uses.mentions.items():
        for mention in mentions:
            kind, receiver, owner = mention[3:]
            if kind in _ACCESSORS and receiver > 0 and owner in inside:
                values = [each for each in project.inference.values(path, receiver) if not lacks(each, name)]
                found = [_accessor(project, value, name, _ACCESSORS[kind]) for value in values]
                addresses = dict.fromkeys(filter(None, found))
                others = any(
                    not address and not isinstance(value, Rebound) for value, address in zip(values, found, strict=True)
                )
                if addresses:
                    why = _SEVERAL if others or len(addresses) > 1 else ""
                    yield Call(path, name, mention, addresses, why)


def _accessor(project: Project, value: Value, name: str, accessor: str) -> str:
    """Return the address of an accessor of a value's property; nothing where it has none."""
    members = project.inference.members(value, name) if isinstance(value, Instance) else []
    if len(members) != 1 or not members[0].sure:
        return ""
    symbol = members[0].symbol
    owner = Class(symbol.path, symbol.scope)
    if not project.inference.orders.is_property(owner, name):
        return ""
    scopes = project.uses(symbol.path).scopes
    functions = [of for how, of, *_ in scopes[symbol.scope].names[name] if how == u.FUNCTION]
    flag = "property" if accessor == "getter" else accessor
    address = next((project.address(symbol.path, scopes[of].owner) for of in functions if flag in scopes[of].flags), "")
    is_one_of_several = len(functions) > 1 and not address.endswith("]")
    return f"{address}@{accessor}" if address and is_one_of_several else address


def calls_at(
    project: Project, places: Iterable[tuple[str, str, u.Mention]]
) -> tuple[list[Call], dict[str, ResourceError]]:
    """Return the callees of some calls, and the files that could not be read and may bind them anew.

    Parameters:
        places: the file of each call, its name, and its mention.
    """
    calls: list[Call] = []
    for path, name, mention in places:
        addresses, unknown = leading_to(project, path, name, mention)
        calls.append(Call(path, name, mention, addresses, _SEVERAL if len(addresses) > 1 or unknown else ""))
        if name == _NEW and mention.kind == u.CALL:
            addresses, unknown = _of_values(project, _given_to_new(project, path, mention.receiver))
            why = _SEVERAL if len(addresses) > 1 or unknown else ""
            calls += [Call(path, name, mention, addresses, why)] if addresses else []
    return calls, _doubt(project, [call for call in calls if call.addresses and not call.why])


def values_called(project: Project, path: str, name: str, mention: u.Mention) -> Values:
    """Return the called values of a call without a name, of a variable, or that makes an instance by `__new__`."""
    _, _, scope, _, receiver, _ = mention
    inference = project.inference
    if name == _NEW:
        return _given_to_new(project, path, receiver)
    if name == u.NAMELESS:
        return inference.values(path, receiver)
    if receiver != u.PLAIN:
        return inference.taken(path, inference.values(path, receiver), name)
    meanings = project.names.named(path, scope, name)
    return frozenset[Value]().union(*(inference.values_of(each) for each in meanings if isinstance(each, Symbol)))


def _given_to_new(project: Project, path: str, receiver: int) -> Values:
    """Return the classes that `__new__` is given which is taken from a receiver: `super().__new__(cls)`."""
    expressions = project.uses(path).expressions[:]
    calls = (form for form in expressions if form[:1] == (u.NEW,))
    first = (int(form[2]) for form in calls if expressions[int(form[1])] == (u.ATTRIBUTE, receiver, _NEW))
    return frozenset[Value]().union(*(project.inference.values(path, each) for each in first))


def _is_inside(name: str, within: str) -> bool:
    return name.startswith(f"{within}.")


def _shown(project: Project, call: Call) -> Iterator[Reference]:
    shown = project.shown(Mentioned(call.path, call.mention, "sure", ""), project.lines(call.path))
    for address in call.addresses:
        why = "" if address in call.certain else call.why
        yield structs.replace(shown, address=address, certainty="unsure" if why else "sure", why=why)
    if not call.addresses:
        written = _written(project.uses(call.path), call.name, call.mention.receiver)
        yield structs.replace(shown, address=written, certainty="unsure", why=Reason.UNKNOWN.of())


def _doubt(project: Project, calls: Iterable[Call]) -> dict[str, ResourceError]:
    """Mark those sure calls that go through what other code binds anew, and add what they may call then."""
    variables = Variables(project, WHATEVER)
    through = [
        (call, _own(project, variables, call), variables.behind(call.path, max(call.mention.receiver, u.OPAQUE)))
        for call in calls
    ]
    bound = variables.bound_anew({symbol for _, own, behind in through for symbol in own | behind})
    for call, own, behind in through:
        for symbol in sorted((own | behind) & bound.keys(), key=in_order):
            if symbol in own:
                others, unknown = _of_values(project, bound[symbol])
            elif variables.is_direct(call.path, call.mention.receiver):
                others, unknown = _of_receivers(project, bound[symbol], call.name)
            else:
                others, unknown = [], True
            if unknown or not set(others) <= set(call.addresses):
                if symbol in own and _is_variable(project, symbol):
                    call.certain = [*call.certain, *of_symbol(project, symbol)[0]]  # whatever it holds
                call.addresses = dict.fromkeys([*call.addresses, *others])
                call.why = variables.why(symbol)
    return variables.unreadable


def _is_variable(project: Project, symbol: Symbol) -> bool:
    """Return whether a name is bound to values alone, and defines no function and no class."""
    scope = project.uses(symbol.path).scopes[symbol.scope]
    bindings = (*scope.names.get(symbol.name, ()), *scope.attributes.get(symbol.name, ()))
    return not any(how in (u.FUNCTION, u.CLASS) for how, *_ in bindings)


def _own(project: Project, variables: Variables, call: Call) -> frozenset[Symbol]:
    """Return the names of modules and classes that hold the callee."""
    _, _, scope, _, receiver, _ = call.mention
    if call.name == u.NAMELESS:
        return frozenset()
    if receiver == u.PLAIN:
        return frozenset(variables.behind_name(call.path, scope, call.name))
    values = project.inference.values(call.path, receiver)
    members = (member.symbol for value in values for member in project.inference.members(value, call.name))
    is_property = project.inference.orders.is_property  # which takes what is assigned
    found = frozenset(each for each in members if not is_property(Class(each.path, each.scope), call.name))
    return found.union(variables.behind_attribute(call.path, receiver, call.name))


def leading_to(project: Project, path: str, name: str, mention: u.Mention) -> tuple[Collection[str], bool]:
    """Return the address of each thing that a mention may refer to, and whether there may be more."""
    line, _, scope, _, receiver, _ = mention
    if name == u.NAMELESS:
        return _of_values(project, project.inference.values(path, receiver))
    if receiver == u.PLAIN:
        return addresses_of(project, project.names.named(path, scope, name, line))
    if name == _CLASS:
        return _of_values(project, values_called(project, path, name, mention))
    return _of_receivers(project, project.inference.values(path, receiver), name)


def _of_receivers(project: Project, values: Values, name: str) -> tuple[Collection[str], bool]:
    """Return the addresses that an attribute of any of several values may have, and whether there may be more."""
    addresses: dict[str, None] = {}
    plain = [value for value in values if not isinstance(value, Rebound)]
    known = [value for value in plain if not lacks(value, name)]  # on others the call would fail
    unknown = len(known) == 0
    for value in known:
        if isinstance(value, OutsideInstance):
            unknown = unknown or value.name.rpartition(".")[0] in FITTED
            addresses[f"{value.name}.{name}"] = None
            continue
        found, missed = addresses_of(project, project.inference.attribute(value, name) if value else {None})
        addresses.update(dict.fromkeys(found))
        unknown = unknown or missed or (isinstance(value, Outside) and value.name in REPLACED)
        unknown = unknown or _is_hooked(project, value, name)
    return addresses, unknown


def _is_hooked(project: Project, value: Value, name: str) -> bool:
    """Return whether code that runs when a class is made may put something else in the place of an attribute."""
    orders, owner = project.inference.orders, class_around(value)
    members = project.inference.members(value, name) if owner and orders.is_hooked(owner) else []
    if not members or owner is None:
        return False
    from bae_source.project.references.classes.class_hooks import why_not  # most classes are made as they stand there

    return bool(why_not(orders, owner, name, members[0].symbol, of_class=not isinstance(value, Instance)))


def addresses_of(project: Project, meanings: frozenset[Meaning] | set[None]) -> tuple[Collection[str], bool]:
    """Return the addresses of meanings, and whether there may be more."""
    found: list[str] = []
    unknown = False
    for meaning in meanings:
        if isinstance(meaning, Outside):
            is_there = not meaning.name.startswith(_BUILTIN) or hasattr(builtins, meaning.name[len(_BUILTIN) :])
            found += [meaning.name] if is_there else []
            unknown = unknown or not is_there
        elif isinstance(meaning, InModule):
            found.append(project.address(meaning.path, 0))
        elif isinstance(meaning, Symbol):
            addresses, missed = of_symbol(project, meaning)
            found += addresses
            unknown = unknown or missed or not addresses
        else:
            unknown = True
    return sorted(set(found)), unknown


def of_symbol(project: Project, symbol: Symbol) -> tuple[Collection[str], bool]:
    """Return the addresses of a name's values, and whether there may be more."""
    scope = project.uses(symbol.path).scopes[symbol.scope]
    if scope.kind not in (u.MODULE_SCOPE, u.CLASS_SCOPE):
        return _of_values(project, project.inference.values_of(symbol))
    bindings = [*scope.names.get(symbol.name, ()), *scope.attributes.get(symbol.name, ())]
    defined = _defined(project, symbol, bindings)
    found = dict.fromkeys(
        project.bound(symbol.path, symbol.scope, symbol.name, binding).address for binding in defined or bindings
    )
    others, unknown = _of_values(project, _put_in_place(project, symbol, bindings)) if defined else ((), False)
    return dict.fromkeys([*found, *others]), unknown


def _defined(project: Project, symbol: Symbol, bindings: Iterable[u.Binding]) -> list[u.Binding]:
    """Return the definitions of a function or class; none for a property, which takes assigned values."""
    scopes = project.uses(symbol.path).scopes
    found = [binding for binding in bindings if binding.how in (u.FUNCTION, u.CLASS)]
    return [] if any(u.Flag.PROPERTY in scopes[of].flags for _, of, *_ in found) else found


def _put_in_place(project: Project, symbol: Symbol, bindings: Iterable[u.Binding]) -> Values:
    """Return the values assigned to the name of a function or class."""
    given = (
        project.inference.values(symbol.path, binding[_VALUE_OF[binding.how]] if binding.how in _VALUE_OF else u.OPAQUE)
        for binding in bindings
        if binding.how not in _NO_VALUES and not _is_wrapped(project.uses(symbol.path), symbol.name, binding)
    )
    return frozenset[Value]().union(*given)


def _is_wrapped(uses: u.Uses, name: str, binding: u.Binding) -> bool:
    """Return whether the assigned value is a call with the name's former value: `f = cached(f)`, as decorators do."""
    how, value, _, line = binding
    is_call = how == u.ASSIGNED and uses.expressions[value][:1] in ((u.CALLED,), (u.TYPED,))
    return is_call and any(mention.line == line and mention.kind == u.READ for mention in uses.mentions.get(name, ()))


def _of_values(project: Project, values: Values) -> tuple[Collection[str], bool]:
    """Return the addresses that a call of any of several values reaches, and whether there may be more."""
    addresses = [_of_value(project, each) for each in values if not isinstance(each, Rebound) and each != NO_VALUE]
    return sorted(set(filter(None, addresses))), not all(addresses) or any(map(is_bound, values))


def _of_value(project: Project, value: Value) -> str:
    if isinstance(value, (Class, Function)):
        return project.address(value.path, project.uses(value.path).scopes[value.scope].owner)
    if isinstance(value, OfClass):
        return project.address(value.of.path, project.uses(value.of.path).scopes[value.of.scope].owner)
    return value.name if isinstance(value, Outside) else ""


def _written(uses: u.Uses, name: str, receiver: int) -> str:
    if name == u.NAMELESS:
        return f"{_drawn(uses, receiver)}()"
    return name if receiver == u.PLAIN else f"{_drawn(uses, receiver)}.{name}"


def _drawn(uses: u.Uses, number: int) -> str:
    form = uses.expressions[number]
    if not form:
        return "…"
    if form[0] == u.NAME:
        return u.plain_name(form)
    if form[0] == u.NARROWED:
        return _drawn(uses, int(form[1]))
    if form[0] == u.ATTRIBUTE:
        return f"{_drawn(uses, int(form[1]))}.{form[2]}"
    if form[0] == u.SUPER:
        return "super()"
    drawn = _DRAWN.get(int(form[0]))
    return drawn.format(_drawn(uses, int(form[1]))) if drawn else "…"
