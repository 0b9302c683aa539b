"""Names that code assigns what is looked for to, and calls it by.

    run = self.send; run()             in the same function
    loads = registry.loads             in a module: `loads()` there, and wherever it is imported
    go = send                          in a class: `self.go()`, likewise where a method has `self.go = send`
    run, other = a.send, a.close       one by one

What is handed on in any other way, as an argument or in a list, is not followed.

Invariants:
- each name is followed once, so aliases in a circle end;
- what goes through an unsure place is unsure, for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, structs

from bae_source.project.usage.meaning import Symbol
from bae_source.project.usage.project import Project
from bae_source.project.usage.sought import Mentioned, Sought, bound_in, is_empty
from bae_source.project.usage.values import Class
from bae_source.syntax import uses as u

_VALUE = {u.ASSIGNED: 1, u.ANNOTATED: 2}
"""By how a name is bound to a value, where that stands in the binding."""


class Alias(Struct, frozen=True):
    """A name that is assigned what is looked for.

    Parameters:
        why: it may be something else; "" if it is not.
    """

    symbol: Symbol
    why: str


class Aliases:
    """Finds the names that code assigns something to.

    Parameters:
        project: where to look.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self._given: dict[tuple[str, int], dict[u.Expression, list[tuple[Symbol, bool]]]] = {}
        """By scope and expression, the names that it is assigned to, and whether these hold nothing else."""

    def of(self, name: str, mentioned: Mentioned) -> Iterator[Alias]:
        """Yield the names that are assigned what stands at a place.

        Parameters:
            name: what stands there.
        """
        path, (_, _, scope, _, receiver, _) = mentioned.path, mentioned.mention
        if (path, scope) not in self._given:
            self._given[path, scope] = _given_in(path, self.project.uses(path), scope)
        form = (u.NAME, name, scope) if receiver == u.PLAIN else (u.ATTRIBUTE, receiver, name)
        for symbol, holds_nothing_else in self._given[path, scope].get(form, ()):
            several = f"{symbol.name} may also be something else: it is bound in several ways"
            yield Alias(symbol, mentioned.why or ("" if holds_nothing_else else several))


def sought_by(project: Project, symbol: Symbol) -> Sought:
    """Return what to look for to find the uses of a name that something is assigned to."""
    uses = project.uses(symbol.path)
    scope = uses.scopes[symbol.scope]
    module, owner = project.address(symbol.path, 0), project.address(symbol.path, scope.owner)
    in_class = scope.kind == u.CLASS_SCOPE
    class_name = owner.rpartition(".")[2].partition("[")[0].lstrip("_")
    is_private = in_class and symbol.name.startswith(f"_{class_name}__")
    word = symbol.name.removeprefix(f"_{class_name}") if is_private else symbol.name
    return Sought(
        name=symbol.name,
        word=word,
        module=module,
        dotted=f"{owner}.{word}",
        meanings=frozenset({symbol}),
        classes=frozenset({Class(symbol.path, symbol.scope)} if in_class else ()),
    )


def through(alias: Alias, mentioned: Mentioned) -> Mentioned:
    """Return a mention of an alias as one of what it stands for."""
    if mentioned.certainty != "sure" or not alias.why:
        return mentioned
    return structs.replace(mentioned, certainty="unsure", why=alias.why)


def _bound_around(path: str, uses: u.Uses, scope: int) -> Iterator[tuple[Symbol, list[u.Binding]]]:
    """Yield what is bound in a scope, by `global` in another one, and to attributes of the class around it."""
    scopes = uses.scopes
    for name in list(scopes[scope].names):
        if "@" not in name:
            target = bound_in(scopes, scope, name)
            yield Symbol(path, target, name), scopes[target].names.get(name, [])
    outer = scope
    while outer >= 0 and scopes[outer].kind != u.CLASS_SCOPE:
        outer = scopes[outer].parent
    for name in list(scopes[outer].attributes) if outer >= 0 and outer != scope else ():
        bindings = [*scopes[outer].attributes[name], *scopes[outer].names.get(name, ())]
        yield Symbol(path, outer, name), bindings


def _given_in(path: str, uses: u.Uses, scope: int) -> dict[u.Expression, list[tuple[Symbol, bool]]]:
    """Return by each name and attribute that code in a scope assigns what it assigns it to."""
    found: dict[u.Expression, list[tuple[Symbol, bool]]] = {}
    for symbol, bindings in _bound_around(path, uses, scope):
        given = [binding for binding in bindings if not is_empty(uses, binding)]
        leaves = [_leaves(uses, binding[_VALUE[binding[0]]]) if binding[0] in _VALUE else [] for binding in given]
        for form in dict.fromkeys(form for each in leaves for form in each):
            found.setdefault(form, []).append((symbol, all(each == [form] for each in leaves)))
    return found


def _leaves(uses: u.Uses, number: int) -> list[u.Expression]:
    """Return the names and attributes that an expression gives: several of `a if x else b`, or `a or b`."""
    form = uses.expressions[number]
    if form[:1] == (u.ANY_OF,):
        return [leaf for inner in form[1:] for leaf in _leaves(uses, int(inner)) or [()]]
    return [form[:3]] if form[:1] in ((u.NAME,), (u.ATTRIBUTE,)) else []
