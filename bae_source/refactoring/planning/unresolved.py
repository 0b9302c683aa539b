"""Names that mean nothing once a change is made, though they meant something before."""

from __future__ import annotations

import builtins
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

from bae_source.errors import Refused, ResourceError
from bae_source.model.outcome import Notice
from bae_source.model.text import listed, normalised
from bae_source.project.references.meaning.project import Project
from bae_source.project.references.meaning.provided import Provided
from bae_source.refactoring.planning.plan import Spliced
from bae_source.syntax.names import uses as u
from bae_source.syntax.names.doctests import taken_by_doctests
from bae_source.syntax.rewrite.postcondition import names_alone
from bae_source.syntax.text.source import parsable

_OF_MODULES = frozenset({"__name__", "__file__", "__doc__", "__package__", "__path__", "__spec__", "__builtins__"})
_WORD = re.compile(r"[^\W\d]\w*")
_NO_NAME = (u.STRING, u.MENTION, u.EXPORT, u.IMPORT)


def check_resolved(before: Project, after: Project, paths: Iterable[str]) -> None:
    """Check that a change leaves no name without a meaning.

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


def lost_names(before: Project, after: Project, path: str, touched: str) -> dict[str, list[int]]:
    """Return the names of a file that mean nothing in more places than before, each with their lines.

    Parameters:
        before, after: the project as it is, and as a change leaves it.
        touched: the code that goes and that which comes; a name that stands nowhere in it means what it meant.
    """
    words = None if "import" in touched and "*" in touched else frozenset(_WORD.findall(normalised(touched)))
    now = _lines_of_unresolved(after, path, words)
    known = _lines_of_unresolved(before, path, words) if now else {}
    return {name: lines for name, lines in now.items() if len(lines) > len(known.get(name, ()))}


def _lines_of_unresolved(project: Project, path: str, words: Set[str] | None) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for name, line in _unresolved(project, path, words):
        found[name].append(line)
    return found


def doctests_left(before: Project, after: Project, paths: Iterable[str]) -> list[Notice]:
    """Return the notice on doctests that lack a name of their module with a change, and did not before; none for none.

    Parameters:
        before, after: the project as it is, and as the change leaves it.
        paths: the files that change.
    """
    several = list(paths)
    known = {name for path in several for name, _ in _lacking(before, path)}
    lost = [(path, name, line) for path in several for name, line in _lacking(after, path) if name not in known]
    if not lost:
        return []
    shown = listed(f"{name} in {_name(after, path)}:{line}" for path, name, line in lost)
    return [Notice("doctests_left", f"Doctests lack names of their modules now: {shown}; import them there.")]


def _lacking(project: Project, path: str) -> Iterator[tuple[str, int]]:
    """Yield the names that doctests of a file take from it, and that it does not bind, each with a line."""
    content = project.workspace.content(path) or b""
    try:
        taken = taken_by_doctests(parsable(content).text) if b">>>" in content else []
    except ResourceError:
        return
    provided = Provided(project.workspace.census, project.uses, project.workspace.files.names)
    for each in taken:
        is_known = hasattr(builtins, each.name) or each.name in _OF_MODULES
        if not is_known and provided.name(path, each.name, makers=()) is False:
            yield each.name, each.line


def may_unbind(project: Project, each: Spliced) -> bool:
    """Return whether the changes in a file may concern the binding of a name there."""
    text = project.workspace.source(each.module).text
    if not names_alone(text, each.splices):
        return True
    gone = {part for span, new in each.splices for part in {*span.cut(text).split(".")} - {*new.split(".")}}
    try:
        scopes = project.uses(each.module.path).scopes
    except ResourceError:
        return False  # it does not parse, so that is not known
    return any(not gone.isdisjoint(scope.names) for scope in scopes)


def _unresolved(project: Project, path: str, words: Set[str] | None = None) -> Iterator[tuple[str, int]]:
    """Yield the names of a file that nothing binds, each with a line.

    Parameters:
        words: those to look at, and private names, which stand as Python stores them; None for all.
    """
    try:
        uses = project.uses(path)
    except ResourceError:
        return
    if uses.stars:
        return  # which may bring any name
    for name in uses.mentions:
        is_asked = words is None or name in words or (name.startswith("_") and "__" in name)
        if not is_asked or hasattr(builtins, name) or name in _OF_MODULES:
            continue
        for mention in uses.mentions[name]:
            is_name = mention.receiver == u.PLAIN and mention.kind not in _NO_NAME
            if is_name and project.names.scope_of(path, mention.scope, name) is None:
                yield name, mention.line


def _name(project: Project, path: str) -> str:
    module = project.workspace.census.module(path)
    return module.name if module else path
