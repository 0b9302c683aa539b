"""Names that mean nothing once a change is made, though they meant something before."""

from __future__ import annotations

import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator

from bae_source.errors import Refused, ResourceError
from bae_source.model.text import listed
from bae_source.project.references.meaning.project import Project
from bae_source.refactoring.planning.plan import Spliced
from bae_source.syntax.names import uses as u
from bae_source.syntax.rewrite.postcondition import names_alone

_OF_MODULES = frozenset({"__name__", "__file__", "__doc__", "__package__", "__path__", "__spec__", "__builtins__"})
_NO_NAME = (u.STRING, u.MENTION, u.EXPORT, u.IMPORT)


def check_resolved(before: Project, after: Project, paths: Iterable[str]) -> None:
    """See that a change leaves no name without a meaning.

    Parameters:
        before, after: the project as it is, and as the change leaves it.
        paths: the files that change.

    Raises:
        Refused: `unsafe_change` with the names and their places.
    """
    several = list(paths)
    known = {name for path in several for name, _ in _unresolved(before, path)}
    lost = [(path, name, line) for path in several for name, line in _unresolved(after, path) if name not in known]
    if lost:
        shown = listed(f"{name} in {_name(after, path)}:{line}" for path, name, line in lost)
        raise Refused(
            "unsafe_change",
            f"With the change, names would mean nothing: {shown}.",
            unchanged=True,
            hints=["Make the change in smaller steps, or by hand, and report this as a fault."],
        )


def lost_names(before: Project, after: Project, path: str) -> dict[str, list[int]]:
    """Return the names of a file that mean nothing in more places than before, each with their lines.

    Parameters:
        before, after: the project as it is, and as a change leaves it.
    """
    known = _lines_of_unresolved(before, path)
    now = _lines_of_unresolved(after, path)
    return {name: lines for name, lines in now.items() if len(lines) > len(known.get(name, ()))}


def _lines_of_unresolved(project: Project, path: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for name, line in _unresolved(project, path):
        found[name].append(line)
    return found


def may_unbind(project: Project, each: Spliced) -> bool:
    """Say whether what changes in a file may be what binds a name there; names that nothing binds in it are not."""
    text = project.workspace.source(each.module).text
    if not names_alone(text, each.splices):
        return True
    gone = {part for span, new in each.splices for part in {*span.cut(text).split(".")} - {*new.split(".")}}
    try:
        scopes = project.uses(each.module.path).scopes
    except ResourceError:
        return False  # it does not parse, so nobody can tell
    return any(not gone.isdisjoint(scope.names) for scope in scopes)


def _unresolved(project: Project, path: str) -> Iterator[tuple[str, int]]:
    """Yield the names of a file that nothing binds, each with a line."""
    try:
        uses = project.uses(path)
    except ResourceError:
        return
    if uses.stars:
        return  # which may bring any name
    for name, mentions in uses.mentions.items():
        if hasattr(builtins, name) or name in _OF_MODULES:
            continue
        for mention in mentions:
            is_name = mention[4] == u.PLAIN and mention[3] not in _NO_NAME
            if is_name and project.names.scope_of(path, mention[2], name) is None:
                yield name, mention[0]


def _name(project: Project, path: str) -> str:
    module = project.workspace.census.module(path)
    return module.name if module else path
