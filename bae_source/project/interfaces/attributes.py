"""Names that statements bind which are no definitions, as entries beside those of a summary: `glob` and `outline` list.

    class Tool:
        def __init__(self, size):
            self.size = size              pkg.mod.Tool.size, an attribute of its instances
    with open(path) as stream: …          pkg.mod.stream, a variable

Invariants:
- `read` reads each of them by its address, as the list of the statements that bind it;
- a name that a definition binds as well is that definition, and an imported name is where it is defined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from bae_source.errors import ResourceError
from bae_source.project.naming.bound_names import lines_binding
from bae_source.project.naming.listed_symbols import symbols_of
from bae_source.project.workspace import Workspace
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.definitions import MODULE
from bae_source.syntax.outline.summary import Entry, Summary
from bae_source.syntax.text.source import SingleLines

ATTRIBUTE, VARIABLE = "attribute", "variable"
_LONGEST = 100


def with_attributes(workspace: Workspace, path: str, summary: Summary) -> Summary:
    """Return a summary with what a file binds without defining it, behind what it defines.

    Raises:
        ResourceError: why that is not known.
    """
    lines = SingleLines(workspace.content(path) or b"")
    more = tuple(_entries(workspace.index.uses(path), summary, lines))
    return replace(summary, entries=(*summary.entries, *more))


def summaries_with_attributes(
    workspace: Workspace, paths: Iterable[str]
) -> Iterator[tuple[str, Summary | ResourceError]]:
    """Yield the summary of each file with what it binds besides, or why there is none, in the order of `paths`."""
    asked = list(paths)
    for _ in workspace.index.uses_of(asked):
        pass  # all of them are worked out together, and remembered
    for path, summary in workspace.index.summaries(asked):
        try:
            yield path, summary if isinstance(summary, ResourceError) else with_attributes(workspace, path, summary)
        except ResourceError as error:
            yield path, error


def _entries(uses: u.Uses, summary: Summary, lines: SingleLines) -> Iterator[Entry]:
    owners = {"": MODULE}
    defined: set[tuple[str, str]] = set()
    for named in symbols_of(summary):
        owners.setdefault(named.address, named.index)
        defined.add((named.address.rpartition(".")[0], named.path[-1]))
    for number, scope in enumerate(uses.scopes):
        owner = uses.owners[scope.owner]
        if owner not in owners or scope.kind not in (u.MODULE_SCOPE, u.CLASS_SCOPE):
            continue
        private = f"_{owner.rpartition('.')[2].partition('[')[0].lstrip('_')}__"
        found = {name: lines_binding(uses, number, name) for name in scope.names if name.isidentifier()}
        found = {name: at for name, at in found.items() if at and not _is_imported(scope, name)}
        assigned = {name: sorted({each[3] for each in bound}) for name, bound in scope.attributes.items()}
        for kind, each in ((VARIABLE, found), (ATTRIBUTE, assigned)):
            for name, at in each.items():
                word = (
                    name.removeprefix(private[:-2])
                    if scope.kind == u.CLASS_SCOPE and name.startswith(private)
                    else name
                )
                if (owner, word) not in defined:
                    defined.add((owner, word))
                    yield _entry(word, kind, owners[owner], at, lines)


def _is_imported(scope: u.Scope, name: str) -> bool:
    return any(binding.how == u.IMPORTED for binding in scope.names[name])


def _entry(name: str, kind: str, parent: int, at: list[int], lines: SingleLines) -> Entry:
    text = lines.cut(at[0]).strip()
    more = f" … ({len(at)} places)" if len(at) > 1 else ""
    shown = f"{kind} {name}: {text if len(text) <= _LONGEST else text[:_LONGEST].rstrip() + ' …'}{more}"
    return Entry((name,), kind, parent, None, (), at[0], at[0], at[0], shown, "")
