"""The target of a search for references, of a name that was resolved."""

from __future__ import annotations

from collections.abc import Sequence

from bae_source.errors import RequestError
from bae_source.model.address import Segment
from bae_source.project.files.layout import import_name
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.meaning.meaning import Names
from bae_source.project.references.meaning.meanings import InModule, Symbol
from bae_source.project.references.meaning.sought import ACCESSING, Sought, bound_in, scopes_inside
from bae_source.project.references.types.values import Class
from bae_source.syntax.names import uses as u

_GIVES_NOTHING = (u.IMPORTED, u.GLOBAL, u.NONLOCAL, u.DECLARED)
"""Ways to bind a name to what is found elsewhere, or to nothing."""


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
            f"{resolved.address} stands in a stub, to which no code refers.",
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
    """Return whether a scope binds a name apart from its definition: by a loop, `with`, `match`, `except` or `:=`.

    What functions assign to a variable that they declare `global` is one more value of it; to a function, another one.
    """
    members = resolved.group.members if resolved.group else ()
    if not members:
        return False  # nothing defines it
    given = [
        binding
        for binding in uses.scopes[number].names.get(name, ())
        if binding.how not in _GIVES_NOTHING and not _is_empty(uses, binding)
    ]
    if len(given) <= len(members):
        return False
    definitions, lines = resolved.tree.outline.definitions, resolved.tree.source.lines
    own = {lines.number(definitions[member].keyword) for member in members}
    is_variable = not any(binding.how in (u.FUNCTION, u.CLASS) for binding in given if binding.line in own)
    passed = {
        mention.line
        for mention in uses.mentions.get(name, ())
        if mention.kind == u.DELETE or (is_variable and mention.kind == u.WRITE and mention.scope != number)
    }
    return any(binding.line not in own | passed for binding in given)


def _is_empty(uses: u.Uses, binding: u.Binding) -> bool:
    """Return whether a binding gives a name no value, or None: that stands for what is still to come, or is no more."""
    how, first, second, _ = binding
    if how == u.ANNOTATED and not second:
        return True
    value = {u.ASSIGNED: first, u.ANNOTATED: second}.get(how, u.OPAQUE)
    return uses.expressions[value][:2] == (u.LITERAL, "NoneType")
