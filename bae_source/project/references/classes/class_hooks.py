"""The members that code puts into a class or takes out as it is built: metaclass, decorator, `__init_subclass__`.

    class Sealed(type):
        def __init__(cls, *args): cls.send = sealed        `C().send` may be this
    class C(metaclass=Sealed):
        def send(self): …
    class Base:
        def __init_subclass__(cls): setattr(cls, "send", traced)
    class D(Base):
        def send(self): …                                  likewise
    @counting                                              likewise, where `counting` sets `cls.send`
    class E: …

Invariants:
- code that names the attribute is seen, also as a string; code that works out names is not, or no model of a large
  framework would have anything of its own;
- an attribute that a class has, and its `__init_subclass__` sets anew for classes below, is one attribute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bae_source.model.reasons import Reason
from bae_source.project.references.classes.class_order import ClassOrders, decoration_of
from bae_source.project.references.classes.metaclasses import metaclasses
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.types.values import Class, Function, ordered
from bae_source.syntax.names import uses as u

_MAKING = ("__new__", "__init__", "__prepare__")
"""Methods of a metaclass that run when a class is made."""
_BELOW = "__init_subclass__"
_ASKING = ("__getattribute__",)

_Hook = tuple[Class, int]
"""The class that has a method, and the scope of the method."""


def why_not(orders: ClassOrders, of: Class, name: str, symbol: Symbol, *, of_class: bool) -> str:
    """Return why an attribute may be another one than a class of an order binds; nothing where that is not seen.

    Parameters:
        orders: tells which classes are above which.
        of: the class in whose order the attribute was found.
        symbol: what it was found to be.
        of_class: whether the class itself is asked for it, and not an instance.
    """
    owner = Class(symbol.path, symbol.scope)
    above = [orders.of(each) for each in metaclasses(orders.uses, orders.of(of), orders.values)]
    hooks = [hook for each in orders.of(of).classes[1:] for hook in _methods(orders, each, (_BELOW,))]
    hooks += [hook for order in above for each in order.classes for hook in _methods(orders, each, _MAKING)]
    functions = [(each.path, each.scope) for each in _decorators(orders, of, owner)]
    functions += [(around.path, scope) for around, scope in hooks if owner not in orders.of(around).nodes]
    for path, scope in functions:
        if _names(orders.uses(path), scope, name):
            return Reason.CLASS_MAKING.of(owner=_called(orders, of), name=name)
    if of_class and any(any(_methods(orders, each, _ASKING)) for order in above for each in order.classes):
        return Reason.GETATTRIBUTE.of(owner=f"the metaclass of {_called(orders, of)}")
    return ""


def _methods(orders: ClassOrders, of: Class, names: tuple[str, ...]) -> Iterator[_Hook]:
    """Yield the methods of some names that a class's suite defines."""
    bound = orders.uses(of.path).scopes[of.scope].names
    for name in names:
        yield from ((of, first) for how, first, *_ in bound.get(name, ()) if how == u.FUNCTION)


def _decorators(orders: ClassOrders, of: Class, owner: Class) -> Iterator[Function]:
    """Yield the functions that decorate a class, and those above it up to the one that has an attribute."""
    for each in orders.of(of).classes:
        expressions = orders.uses(each.path).expressions
        waiting = [decoration_of(orders.uses(each.path).scopes, orders.uses(each.path).owners, each.scope)]
        while waiting:
            form = expressions[number] if (number := waiting.pop()) else ()
            if form[:1] == (u.ANY_OF,):
                waiting.extend(map(int, form[1:]))
            elif form[:1] == (u.CALLED,):
                waiting.append(int(form[1]))
            else:
                values = orders.values(each.path, number)
                yield from (value for value in ordered(values) if isinstance(value, Function))
        if each == owner:
            return


def _names(uses: u.Uses, hook: int, name: str) -> bool:
    """Return whether a function sets or deletes an attribute of that name, or holds it as a string."""
    scopes = uses.scopes
    changed = (each for each in uses.mentions.get(name, ()) if each[3] in (u.WRITE, u.DELETE) and each[4] > 0)
    return any(_is_inside(scopes, each[2], hook) for each in changed) or any(
        text.text == name and text.owner == scopes[hook].owner for text in uses.strings.get(name, ())
    )


def _called(orders: ClassOrders, of: Class) -> str:
    uses = orders.uses(of.path)
    return uses.owners[uses.scopes[of.scope].owner].rpartition(".")[2].partition("[")[0]


def _is_inside(scopes: Sequence[u.Scope], scope: int, hook: int) -> bool:
    """Return whether a scope is that of a function, or stands in it."""
    while scope > hook:
        scope = scopes[scope].parent
    return scope == hook
