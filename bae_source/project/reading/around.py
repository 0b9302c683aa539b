"""The surroundings of a symbol, as comments above its source: what its code leans on, and how much leans on it.

    # in class Client(BaseClient), app.net:12, beside
    #     def close(self) -> None
    # imports
    #     from app.errors import Timeout
    # of app.net
    #     LIMIT = 5
    # callers: 3 sure, 1 probable
        def send(self): …

Invariants:
- nothing is guessed: a name that is bound in the symbol, too, is none of its imports or of its module;
- callers are counted only where few files hold the name, so that reading stays quick; a notice says where they are not;
- the comments hold no calls, which each door writes in its own way: those are handed back beside the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bae_source.model.call import Call
from bae_source.model.reference import counts_of
from bae_source.project.naming.resolve import Resolved
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search.references import calls_of, references_to
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.definitions import MODULE, Definition, ImportBinding, Kind
from bae_source.syntax.outline.outward import outward_names
from bae_source.syntax.outline.summary import Summary, summarise

MOST_MEMBERS = 30
"""The most members of a class that are shown; the others are counted."""
LONGEST_SIGNATURE = 120
"""Characters of a signature."""
MOST_FILES = 100
"""The most files that hold a name whose callers are counted."""
_INDENT = "    "


def around(workspace: Workspace, resolved: Resolved) -> tuple[str, Call]:
    """Return the surroundings of a symbol, each line a comment, and the call that lists its users."""
    summary = summarise(resolved.tree)
    used = _used(resolved)
    users = _users(resolved)
    lines = [
        *_in_class(resolved, summary),
        *_section("imports", _imports(resolved.tree.text, summary, used)),
        *_section(f"of {resolved.module.name}", _of_module(resolved, summary, used)),
        f"{users.verb}: {_number(workspace, resolved, users.verb)}",
    ]
    return "".join(f"# {line}\n" for line in lines), users


def _used(resolved: Resolved) -> set[str]:
    """Return the names that lead out of the symbol."""
    assert resolved.group is not None
    tree = resolved.tree
    names = (name for index in resolved.group.members for name in outward_names(tree, index, header_only=False))
    return {name.chain[0] for name in names if name.free}


def _section(heading: str, lines: Iterable[str]) -> list[str]:
    found = [f"{_INDENT}{line}" for line in lines]
    return [heading, *found] if found else []


def _in_class(resolved: Resolved, summary: Summary) -> list[str]:
    """Return the line of the class that a member stands in, and those of the members beside it."""
    assert resolved.group is not None
    definitions = resolved.tree.outline.definitions
    parent = definitions[resolved.group.members[0]].parent
    if parent == MODULE or definitions[parent].kind is not Kind.CLASS:
        return []
    beside = [
        index
        for index, entry in enumerate(summary.entries)
        if entry.parent == parent and entry.group < 0 and index not in resolved.group.members
    ]
    shown = [_signature(summary, index) for index in beside[:MOST_MEMBERS]]
    if len(beside) > MOST_MEMBERS:
        shown.append(f"(+{len(beside) - MOST_MEMBERS})")
    line = resolved.tree.source.lines.number(definitions[parent].keyword)
    return _section(f"in {_signature(summary, parent)}, {resolved.module.name}:{line}, beside", shown)


def _signature(summary: Summary, index: int) -> str:
    entry = summary.entries[index]
    text = "".join(f"@{name} " for name in entry.decorators if name) + entry.signature
    return text if len(text) <= LONGEST_SIGNATURE else f"{text[: LONGEST_SIGNATURE - 1]}…"


def _imports(text: str, summary: Summary, used: set[str]) -> list[str]:
    """Return the import statements that bind names which are used: as they stand, long ones with these names alone."""
    statements: dict[int, list[ImportBinding]] = {}
    for binding in summary.imports:
        if binding.name in used:
            statements.setdefault(binding.start, []).append(binding)
    return [_statement(text, bindings) for _, bindings in sorted(statements.items())]


def _statement(text: str, bindings: Sequence[ImportBinding]) -> str:
    first = bindings[0]
    whole = text[first.start : first.end].strip()
    if "\n" not in whole and "\r" not in whole:
        return whole
    names = (each.name if each.name == each.attribute else f"{each.attribute} as {each.name}" for each in bindings)
    return f"from {'.' * first.level}{first.module} import {', '.join(names)}"


def _of_module(resolved: Resolved, summary: Summary, used: set[str]) -> Iterator[str]:
    """Yield the lines of the module's own definitions that the symbol uses."""
    assert resolved.group is not None
    definitions = resolved.tree.outline.definitions
    own = set(resolved.group.members) | {
        outer for index in resolved.group.members for outer in _outer(definitions, index)
    }
    for index, entry in enumerate(summary.entries):
        if entry.parent == MODULE and entry.group < 0 and index not in own and used.intersection(entry.names):
            yield _signature(summary, index)


def _outer(definitions: Sequence[Definition], index: int) -> Iterator[int]:
    while (index := definitions[index].parent) != MODULE:
        yield index


def _users(resolved: Resolved) -> Call:
    """Return the call that lists the callers; of a symbol that cannot be called, the references."""
    assert resolved.group is not None
    kinds = {resolved.tree.outline.definitions[index].kind for index in resolved.group.members}
    verb = "callers" if kinds <= {Kind.FUNCTION, Kind.CLASS} else "references"
    return Call(verb, target=str(resolved.address))


def _number(workspace: Workspace, resolved: Resolved, verb: str) -> str:
    """Return how many callers or references there are, by how sure they are."""
    files = len(workspace.index.mentioning({resolved.address.name}).paths)
    if files > MOST_FILES:
        return f"not counted, for {files:,} files hold the name"
    project = project_of(workspace)
    found = references_to(project, resolved)
    if verb == "callers":
        found = calls_of(project, resolved, found)
    wanted = [each for each in found.found if verb == "references" or each.kind in ("call", "decorator", "request")]
    counts = counts_of(wanted)
    numbers = (f"{counts[each]:,} {each}" for each in ("sure", "probable", "unsure") if counts[each])
    return ", ".join(numbers) or "none found"
