"""Definitions of the names that stand at a place.

    app/web.py:7:5      of `c.send()` there: app.core.Client.send, with the line of its `def`

Invariants:
- a name that may mean several things leads to all of them, each of them unsure;
- a symbol from outside the project has its dotted name, and the place where it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from bae_source.errors import LookupFailed
from bae_source.model.reasons import Reason
from bae_source.model.reference import Reference
from bae_source.project.naming.resolve import resolve
from bae_source.project.references.calls.calls import addresses_of, leading_to
from bae_source.project.references.meaning.meanings import Symbol
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.sought import Mentioned
from bae_source.syntax.names import uses as u

_SEVERAL = Reason.SEVERAL.of(what="what this refers to")


def defined_at(project: Project, path: str, line: int, column: int | None) -> list[Reference]:
    """Return where the names at a place are defined.

    Parameters:
        line: counted from 1.
        column: counted from 1, in characters; None for every name of the line.

    Returns:
        For each thing that a name may mean its address with the place of its definition, in the order of the names.
    """
    here: list[tuple[str, Reference, u.Mention]] = []
    lines = project.lines(path)
    for name, mentions in project.uses(path).mentions.items():
        for mention in mentions:
            if mention.line != line or name == u.NAMELESS or mention.kind in (u.STRING, u.KEYWORD):
                continue
            shown = project.shown(Mentioned(path, mention, "sure", ""), lines)
            if column is None or shown.column <= column < shown.column + len(name):
                here.append((name, shown, mention))
    here.sort(key=lambda each: each[1].column)
    found = [each for name, shown, mention in here for each in _defined(project, path, name, shown, mention)]
    return found or list(_bound_at(project, path, line, column))


def _bound_at(project: Project, path: str, line: int, column: int | None) -> Iterator[Reference]:
    """Yield the definitions that a line itself begins."""
    content = project.lines(path).cut(line)
    words = [(match[0], match.start() + 1, match.end()) for match in re.finditer(r"\w+", content)]
    here = {word for word, first, last in words if column is None or first <= column <= last}
    for number, scope in enumerate(project.uses(path).scopes):
        for name in here & scope.names.keys():
            bindings = (each for each in scope.names[name] if each[3] == line)
            yield from (project.bound(path, number, name, each) for each in bindings)


def _defined(project: Project, path: str, name: str, shown: Reference, mention: u.Mention) -> Iterator[Reference]:
    line, _, scope, kind, receiver, _ = mention
    if kind != u.IMPORT and receiver == u.PLAIN:
        meanings = project.names.named(path, scope, name, line)
        local = [each for each in meanings if isinstance(each, Symbol) and _is_local(project, each)]
        if local and len(local) == len(meanings):
            for symbol in local:
                bindings = project.uses(path).scopes[symbol.scope].names[symbol.name]
                yield from (project.bound(symbol.path, symbol.scope, symbol.name, binding) for binding in bindings)
            return
    if kind == u.IMPORT:
        addresses, unknown = addresses_of(project, project.names.imported(path, mention.receiver))
    else:
        addresses, unknown = leading_to(project, path, name, mention)
    why = _SEVERAL if len(addresses) > 1 or unknown else ""
    for address in addresses:
        yield _at_definition(project, address, structs.replace(shown, certainty="unsure" if why else "sure", why=why))
    if not addresses:
        yield structs.replace(shown, address=name, certainty="unsure", why=Reason.UNKNOWN.of())


def _at_definition(project: Project, address: str, used: Reference) -> Reference:
    """Return the place of a definition; of one that lies outside, the place where it is used."""
    try:
        found = resolve(project.workspace, address)
    except LookupFailed:
        return structs.replace(used, address=address)
    path = found.module.path
    outline, source = found.tree.outline, found.tree.source
    start = outline.definitions[found.group.members[0]].span.start if found.group else 0
    line = source.lines.number(start)
    return structs.replace(
        used,
        module=found.module.name,
        address=str(found.address),
        line=line,
        column=1,
        kind="definition",
        text=project.lines(path).cut(line).strip(),
    )


def _is_local(project: Project, symbol: Symbol) -> bool:
    return project.uses(symbol.path).scopes[symbol.scope].kind not in (u.MODULE_SCOPE, u.CLASS_SCOPE)
