"""What a definition calls: each call in it, by the address of what is called, or as it is written where nobody can say.

g()              app.core.g
self.n()         app.core.A.n, where A is a base that defines it
json.dumps(x)    json.dumps, outside the project
x.send()         x.send, unsure
table[0]()       table[…](), unsure
@g               app.core.g, if what it decorates is defined there
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from msgspec import structs

from bae_source.model.reference import Reference
from bae_source.project.usage.meaning import InModule, Meaning, Outside, Symbol
from bae_source.project.usage.project import Project
from bae_source.project.usage.sought import Mentioned
from bae_source.project.usage.values import (
    FITTED,
    REPLACED,
    Class,
    Function,
    OfClass,
    OutsideInstance,
    Rebound,
    Value,
    lacks,
)
from bae_source.syntax import uses as u

_BUILTIN = "builtins."
_DRAWN = {u.CALLED: "{}()", u.AWAITED: "(await {})", u.SUBSCRIPT: "{}[…]"}


def called_by(project: Project, path: str, within: str) -> list[Reference]:
    """Return the calls in a definition.

    Parameters:
        within: its qualname; "" for a whole module.
    """
    uses = project.uses(path)
    inside = {
        number for number, name in enumerate(uses.owners) if not within or name == within or _is_inside(name, within)
    }
    lines = project.lines(path)
    found: list[Reference] = []
    for name, mentions in uses.mentions.items():
        for mention in mentions:
            kind, owner = mention[3], mention[5]
            is_own = kind == u.DECORATOR and uses.owners[owner] == within  # it is called before there is what it makes
            if kind in (u.CALL, u.DECORATOR) and owner in inside and name != "super" and not is_own:
                shown = project.shown(Mentioned(path, mention, "sure", ""), lines)
                found += [
                    structs.replace(shown, address=address, certainty="sure" if not why else "unsure", why=why)
                    for address, why in _called(project, path, name, mention)
                ]
    return sorted(found, key=lambda each: (each.line, each.column, each.address))


def _is_inside(name: str, within: str) -> bool:
    return name.startswith(f"{within}.")


def _called(project: Project, path: str, name: str, mention: u.Mention) -> Iterator[tuple[str, str]]:
    """Yield the address of each thing that a call may call, and why that is not sure."""
    line, _, scope, _, receiver, _ = mention
    addresses: dict[str, None] = {}
    unknown = False
    if name == u.NAMELESS:
        held = [_of_value(project, value) if value else "" for value in project.inference.values(path, receiver)]
        addresses.update(dict.fromkeys(filter(None, held)))
        unknown = not all(held)
    elif receiver == u.PLAIN:
        found, missed = _addresses(project, project.names.named(path, scope, name, line))
        addresses.update(dict.fromkeys(found))
        unknown = missed
    else:
        for value in project.inference.values(path, receiver):
            if isinstance(value, Rebound):
                continue
            if isinstance(value, OutsideInstance):
                unknown = unknown or lacks(value, name) or value.name.rpartition(".")[0] in FITTED
                if not lacks(value, name):
                    addresses[f"{value.name}.{name}"] = None
                continue
            found, missed = _addresses(project, project.inference.attribute(value, name) if value else {None})
            addresses.update(dict.fromkeys(found))
            unknown = unknown or missed or (isinstance(value, Outside) and value.name in REPLACED)
    several = len(addresses) > 1 or unknown
    for address in addresses:
        yield address, "it may call several things" if several else ""
    if not addresses:
        yield _written(project.uses(path), name, receiver), "what is called is not known statically"


def _addresses(project: Project, meanings: frozenset[Meaning] | set[None]) -> tuple[list[str], bool]:
    """Return the addresses of what may be meant, and whether there may be more."""
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
            addresses = _of_symbol(project, meaning)
            found += addresses
            unknown = unknown or not addresses
        else:
            unknown = True
    return sorted(found), unknown


def _of_symbol(project: Project, symbol: Symbol) -> list[str]:
    scopes = project.uses(symbol.path).scopes
    scope = scopes[symbol.scope]
    if scope.kind in (u.MODULE_SCOPE, u.CLASS_SCOPE):
        bindings = [*scope.names.get(symbol.name, ()), *scope.attributes.get(symbol.name, ())]
        found = dict.fromkeys(
            project.bound(symbol.path, symbol.scope, symbol.name, binding).address for binding in bindings
        )
        return list(found)
    held = [_of_value(project, value) for value in project.inference.held(symbol)]
    return sorted({address for address in held if address}) if all(held) else []


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
        return str(form[1])
    if form[0] == u.ATTRIBUTE:
        return f"{_drawn(uses, int(form[1]))}.{form[2]}"
    if form[0] == u.SUPER:
        return "super()"
    drawn = _DRAWN.get(int(form[0]))
    return drawn.format(_drawn(uses, int(form[1]))) if drawn else "…"
