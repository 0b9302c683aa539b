"""Names that code binds by other statements than definitions: they can be asked about, and are read as a list.

    with open(path) as stream: …       `pkg.mod.stream`, and what loops, `match`, `except … as` and `:=` bind
    def load():
        global cache
        cache = read()                 `pkg.mod.cache`
    class A:
        for size in SIZES: …           `pkg.mod.A.size`
    class Box[T]: …                    `pkg.mod.Box.T`

Invariants:
- a name that a definition binds, too, is that definition; what is only imported is where it is defined;
- nothing is changed by such a name: the statements that bind it have no address of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from bae_source.errors import LookupFailed, ResourceError
from bae_source.model.address import Marker, Segment, parse_name
from bae_source.model.call import Call
from bae_source.model.outcome import Outcome
from bae_source.model.plan import ModuleFile
from bae_source.model.reference import Shown
from bae_source.model.text import listed
from bae_source.project.naming.resolve import Resolved, resolve, resolve_with
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u
from bae_source.syntax.text.source import SingleLines

_MOST_SHOWN = 5
_ELSEWHERE = (u.IMPORTED, u.GLOBAL, u.NONLOCAL, u.DECLARED)


def resolve_to_ask(workspace: Workspace, target: str) -> Resolved:
    """Return what a name means to a question about its users; of a name that nothing defines the group is empty.

    Raises:
        RequestError, LookupFailed, SourceError: as `resolve`.
    """
    try:
        return resolve(workspace, target)
    except LookupFailed as error:
        name = parse_name(target)
        is_in_stub = name.marked is not None and name.marked[1] is Marker.STUB
        if error.code != "symbol_not_found" or name.resource is not None or name.part or is_in_stub:
            raise
        try:
            return resolve_with(workspace, target, lambda *place: bool(_lines(workspace, *place)))
        except ResourceError:
            raise error from None


def read_bound(workspace: Workspace, target: str) -> Outcome | None:
    """Return the list of the statements that bind a name which nothing defines; None for any other."""
    found = _bound(workspace, target)
    if found is None:
        return None
    content, module = SingleLines(workspace.content(found.module.path) or b""), found.module
    lines = _lines(workspace, module, found.address.qualname)
    text = "".join(f"{module.name}:{line}: {content.cut(line).strip()}\n" for line in lines)
    address = str(found.address)
    shown = Shown(module=module.name, address=address, line=lines[0], kind="variable", etag=None)
    return Outcome(status="answer", text=text, address=address, found=(shown,))


def not_to_be_changed(workspace: Workspace, target: str) -> LookupFailed | None:
    """Return the error for a change to a name that nothing defines; None for any other."""
    found = _bound(workspace, target)
    if found is None:
        return None
    places = [f"{found.module.name}:{line}" for line in _lines(workspace, found.module, found.address.qualname)]
    return LookupFailed(
        "symbol_not_found",
        f"No definition binds {found.address}: it is bound in {listed(places, _MOST_SHOWN)}.",
        hints=[
            Call("read", target=found.address, then="shows these statements."),
            Call("edit", target=found.module.name, then="with old and new changes them."),
        ],
    )


def _bound(workspace: Workspace, target: str) -> Resolved | None:
    try:
        found = resolve_to_ask(workspace, target)
    except ResourceError:
        return None
    return found if found.group is not None and not found.group.members else None


def _lines(workspace: Workspace, module: ModuleFile, qualname: Sequence[Segment]) -> list[int]:
    """Return the lines of the statements that bind a name of a module, or of a class in it, in their order."""
    *around, last = qualname
    if last.index is not None or last.accessor is not None:
        return []
    from bae_source.syntax.names.reading import uses_of  # only once a name has failed, and nothing of it is kept

    uses, owner = uses_of(workspace.tree(module).source), ".".join(map(str, around))
    name = u.mangled(last.name, around[-1].name) if around else last.name
    found: set[int] = set()
    kinds = (u.CLASS_SCOPE, u.FUNCTION_SCOPE, u.TYPE_SCOPE) if around else (u.MODULE_SCOPE,)
    for number, scope in enumerate(uses.scopes):
        if uses.owners[scope.owner] == owner and scope.kind in kinds:
            found.update(lines_binding(uses, number, name))
    return sorted(found)


def lines_binding(uses: u.Uses, number: int, name: str) -> list[int]:
    """Return the lines of the statements that bind a name of a scope, but for imports and what is deleted there."""
    mentions = uses.mentions.get(name, ())
    gone = {each[0] for each in mentions if each[3] == u.DELETE and each[2] == number}
    bindings = uses.scopes[number].names.get(name, ())
    return sorted({line for how, _, _, line in bindings if how not in _ELSEWHERE and line not in gone})
