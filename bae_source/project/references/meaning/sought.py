"""The target of a search for references: a symbol or a module, as the bindings of its file know it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from bae_source.model.address import Segment
from bae_source.model.reference import Certainty
from bae_source.project.references.meaning.meanings import InModule, Meaning, Symbol
from bae_source.project.references.types.values import Class
from bae_source.syntax.names import uses as u

ACCESSING = {
    "getter": frozenset({u.READ, u.CALL, u.MENTION, u.DECORATOR, u.BASE, u.ANNOTATION}),
    "setter": frozenset({u.WRITE, u.MENTION}),
    "deleter": frozenset({u.DELETE, u.MENTION}),
}
"""By the accessors of a property, the kinds of mentions that call each."""


class Sought(Struct, frozen=True, kw_only=True):
    """The target of a search.

    Parameters:
        name: what it is called where it is defined, as Python stores it: a private name of a class is mangled.
        word: what its mentions look like in text.
        module: dotted name of its module, or its own.
        dotted: its dotted name, without which-of-several.
        meanings: what names that mean it mean.
        classes: the classes that it is a member of; empty for anything else.
        one_of_several: whether only some of the definitions under this name are meant.
        bound_again: whether statements that define nothing bind it too, so that it may hold something else.
        accessor: which accessor of a property is meant, if it is one: `getter`, `setter` or `deleter`.
        others: dotted names of the members that are searched for along with it, such as those that override it.
    """

    name: str
    word: str
    module: str
    dotted: str
    meanings: frozenset[Meaning]
    classes: frozenset[Class] = frozenset()
    one_of_several: bool = False
    bound_again: bool = False
    accessor: str = ""
    others: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        """The dotted names of all that is searched for."""
        return (self.dotted, *self.others)

    @property
    def is_module(self) -> bool:
        """Return whether the target is a module."""
        return any(isinstance(each, InModule) for each in self.meanings)


class Mentioned(Struct, frozen=True):
    """A mention that was decided: where it is, how it is sure, and why not."""

    path: str
    mention: u.Mention
    certainty: Certainty
    why: str


def scopes_inside(scopes: Sequence[u.Scope], qualname: Sequence[Segment]) -> list[int]:
    """Return the scopes of the definitions that a path of names leads to."""
    current, owner = [0], ""
    for segment in qualname:
        inner = []
        for number in current:
            name = u.mangled(segment.name, owner) if scopes[number].kind == u.CLASS_SCOPE else segment.name
            outer = bound_in(scopes, number, name)
            bindings = scopes[outer].names.get(name, ())
            defined = [binding.first for binding in bindings if binding.how in (u.FUNCTION, u.CLASS)]
            inner += [each for each in defined if outer == number or is_within(scopes, each, number)]
        current = inner[segment.index : segment.index + 1] if segment.index is not None else inner
        owner = segment.name
    return current


def bound_in(scopes: Sequence[u.Scope], number: int, name: str) -> int:
    """Return the scope that a name of a scope is bound in: another one, if it is declared `global` or `nonlocal`."""
    declared = {binding.how for binding in scopes[number].names.get(name, ())} & {u.GLOBAL, u.NONLOCAL}
    if u.GLOBAL in declared:
        return 0
    outer = scopes[number].parent
    while declared and outer > 0:
        if scopes[outer].kind != u.CLASS_SCOPE and name in scopes[outer].names:
            return bound_in(scopes, outer, name)
        outer = scopes[outer].parent
    return number


def is_within(scopes: Sequence[u.Scope], inner: int, outer: int) -> bool:
    """Return whether a scope is another one, or lies in it."""
    while inner > outer:
        inner = scopes[inner].parent
    return inner == outer


def sought_by(uses: Callable[[str], u.Uses], address: Callable[[str, int], str], symbol: Symbol) -> Sought:
    """Return what to look for to find the uses of a name that something is assigned to.

    Parameters:
        address: gives the address of a definition by its file and number.
    """
    scope = uses(symbol.path).scopes[symbol.scope]
    owner = address(symbol.path, scope.owner)
    in_class = scope.kind == u.CLASS_SCOPE
    class_name = owner.rpartition(".")[2].partition("[")[0].lstrip("_")
    is_private = in_class and symbol.name.startswith(f"_{class_name}__")
    word = symbol.name.removeprefix(f"_{class_name}") if is_private else symbol.name
    return Sought(
        name=symbol.name,
        word=word,
        module=address(symbol.path, 0),
        dotted=f"{owner}.{word}",
        meanings=frozenset({symbol}),
        classes=frozenset({Class(symbol.path, symbol.scope)} if in_class else ()),
    )
