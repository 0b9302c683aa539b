"""What a search for references looks for: a symbol or a module, as the bindings of its file know it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from bae_source.errors import RequestError
from bae_source.model.address import Segment
from bae_source.model.reference import Certainty
from bae_source.project.files.layout import import_name
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.meaning.meaning import InModule, Meaning, Names, Symbol
from bae_source.project.references.types.values import Class
from bae_source.syntax.names import uses as u

_GIVES_NOTHING = (u.IMPORTED, u.GLOBAL, u.NONLOCAL, u.DECLARED)
"""How a name is bound to what is found elsewhere, or to nothing."""


class Sought(Struct, frozen=True, kw_only=True):
    """What is looked for.

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
        others: dotted names of the members that are looked for along with it, such as those that override it.
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
        """The dotted names of all that is looked for."""
        return (self.dotted, *self.others)

    @property
    def is_module(self) -> bool:
        """Whether a module is looked for."""
        return any(isinstance(each, InModule) for each in self.meanings)


ACCESSING = {
    "getter": frozenset({u.READ, u.CALL, u.MENTION, u.DECORATOR, u.BASE, u.ANNOTATION}),
    "setter": frozenset({u.WRITE, u.MENTION}),
    "deleter": frozenset({u.DELETE, u.MENTION}),
}
"""By the accessors of a property, the kinds of mentions that call each."""


class Mentioned(Struct, frozen=True):
    """A mention that was decided: where it is, how it is sure, and why not."""

    path: str
    mention: u.Mention
    certainty: Certainty
    why: str


def sought_of(names: Names, resolved: Resolved) -> Sought:
    """Return what to look for, for a name that was resolved.

    Raises:
        RequestError: `invalid_arguments` for what stands in the stub of a module that has code.
        SourceError: its file cannot be analysed.
    """
    path, module, uses = resolved.module.path, import_name(resolved.module), names.uses
    if path.endswith(".pyi") and names.census.find(module):
        code = str(resolved.address.whole).replace("@stub", "", 1)
        word = code.rpartition(".")[2].partition("[")[0]
        raise RequestError(
            "invalid_arguments",
            f"{resolved.address} stands in a stub, which nobody refers to.",
            hints=[
                f"Ask about {code}, which it describes.",
                f"If the project has no code of that name, look for the word: bae-source grep {word} --word",
            ],
        )
    qualname = resolved.address.qualname
    if not qualname:
        name = module.rpartition(".")[2]
        return Sought(name=name, word=name, module=module, dotted=module, meanings=frozenset({InModule(path)}))
    scopes = uses(path).scopes
    around = scopes_inside(scopes, qualname[:-1])
    word = qualname[-1].name
    owner = qualname[-2].name if len(qualname) > 1 else ""
    in_class = any(scopes[number].kind == u.CLASS_SCOPE for number in around)
    name = u.mangled(word, owner) if in_class else word
    bound = [
        bound_in(scopes, number, name)
        for number in around
        if name in scopes[number].names or name in scopes[number].attributes
    ]
    bound = bound or _type_parameters(uses(path), qualname)
    accessor = qualname[-1].accessor or ""
    accessor = accessor if accessor in ACCESSING else ""
    return Sought(
        name=name,
        word=word,
        module=module,
        dotted=".".join([module, *(segment.name for segment in qualname)]),
        meanings=frozenset(Symbol(path, number, name) for number in bound),
        classes=frozenset(Class(path, number) for number in bound if scopes[number].kind == u.CLASS_SCOPE),
        one_of_several=any(segment.index is not None for segment in qualname),
        bound_again=not accessor and any(_is_bound_again(uses(path), number, name, resolved) for number in bound),
        accessor=accessor,
    )


def _type_parameters(uses: u.Uses, qualname: Sequence[Segment]) -> list[int]:
    """Return the scopes of the type parameters that a path of names leads to: those of its last owner."""
    *around, last = map(str, qualname)
    return [
        number
        for number, scope in enumerate(uses.scopes)
        if scope.kind == u.TYPE_SCOPE and last in scope.names and uses.owners[scope.owner] == ".".join(around)
    ]


def _is_bound_again(uses: u.Uses, number: int, name: str, resolved: Resolved) -> bool:
    """Say whether a scope binds a name by more than what defines it: in a loop, by `with`, `match`, `except` or `:=`.

    What functions assign to a variable that they declare `global` is one more value of it; to a function, another one.
    """
    members = resolved.group.members if resolved.group else ()
    if not members:
        return False  # nothing defines it
    given = [
        binding
        for binding in uses.scopes[number].names.get(name, ())
        if binding[0] not in _GIVES_NOTHING and not is_empty(uses, binding)
    ]
    if len(given) <= len(members):
        return False
    definitions, lines = resolved.tree.outline.definitions, resolved.tree.source.lines
    own = {lines.number(definitions[member].keyword) for member in members}
    is_variable = not any(binding[0] in (u.FUNCTION, u.CLASS) for binding in given if binding[3] in own)
    passed = {
        mention[0]
        for mention in uses.mentions.get(name, ())
        if mention[3] == u.DELETE or (is_variable and mention[3] == u.WRITE and mention[2] != number)
    }
    return any(binding[3] not in own | passed for binding in given)


def is_empty(uses: u.Uses, binding: u.Binding) -> bool:
    """Say whether a binding gives a name no value, or None: that stands for what is still to come, or is no more."""
    how, first, second, _ = binding
    if how == u.ANNOTATED and not second:
        return True
    value = {u.ASSIGNED: first, u.ANNOTATED: second}.get(how, u.OPAQUE)
    return uses.expressions[value][:2] == (u.LITERAL, "NoneType")


def scopes_inside(scopes: Sequence[u.Scope], qualname: Sequence[Segment]) -> list[int]:
    """Return the scopes of the definitions that a path of names leads to."""
    current, owner = [0], ""
    for segment in qualname:
        inner = []
        for number in current:
            name = u.mangled(segment.name, owner) if scopes[number].kind == u.CLASS_SCOPE else segment.name
            outer = bound_in(scopes, number, name)
            bindings = scopes[outer].names.get(name, ())
            defined = [binding[1] for binding in bindings if binding[0] in (u.FUNCTION, u.CLASS)]
            inner += [each for each in defined if outer == number or _is_within(scopes, each, number)]
        current = inner[segment.index : segment.index + 1] if segment.index is not None else inner
        owner = segment.name
    return current


def bound_in(scopes: Sequence[u.Scope], number: int, name: str) -> int:
    """Return the scope that a name of a scope is bound in: another one, if it is declared `global` or `nonlocal`."""
    declared = {binding[0] for binding in scopes[number].names.get(name, ())} & {u.GLOBAL, u.NONLOCAL}
    if u.GLOBAL in declared:
        return 0
    outer = scopes[number].parent
    while declared and outer > 0:
        if scopes[outer].kind != u.CLASS_SCOPE and name in scopes[outer].names:
            return bound_in(scopes, outer, name)
        outer = scopes[outer].parent
    return number


def _is_within(scopes: Sequence[u.Scope], inner: int, outer: int) -> bool:
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
