"""Where a member is defined that a class has from a class above it: what may have been meant by `Class.member`.

    class App: def route(self): …
    class Flask(App): …              Flask.route is App.route

Only what class headers name is followed, through imports, as far as the project goes; nothing is executed. What comes
of it are candidates for a person or an agent, not a decision: Python's own order of bases may choose another of them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import structs

from bae_source.errors import LookupFailed, ResourceError
from bae_source.model.address import Segment
from bae_source.project.naming.not_found import close
from bae_source.syntax.outline.definitions import MODULE, Kind
from bae_source.syntax.outline.locate import find
from bae_source.syntax.text.lexer import end_of_header

if TYPE_CHECKING:
    from bae_source.project.naming.resolve import Resolved

_MOST_CLASSES = 50


def inherited(owner: Resolved, rest: tuple[Segment, ...], resolved: Callable[[str], Resolved]) -> list[Resolved]:
    """Return what a class does not define itself, and classes above it do; the nearest first.

    Where none of them does, it may be misspelt: then what they define under names like it is returned.

    Parameters:
        owner: the class; anything else inherits nothing.
        rest: the member's name, and what follows it.
        resolved: resolves a dotted name.
    """
    found: list[Resolved] = []
    names: dict[str, Resolved] = {}
    for base in _above(owner, resolved):
        member = _member(base, rest)
        if member is not None:
            found.append(member)
        assert base.group is not None
        for index in base.group.members:
            for name in base.tree.outline.names_in(index):
                names.setdefault(name, base)
    if found or len(rest) > 1:
        return found
    near = ((names[name], Segment(name)) for name in close(rest[0].name, sorted(names), n=3, cutoff=0.7))
    return [member for base, segment in near if (member := _member(base, (segment,)))]


def _member(base: Resolved, rest: tuple[Segment, ...]) -> Resolved | None:
    try:
        group = find(base.tree, base.module.name, (*base.address.qualname, *rest))
    except LookupFailed:
        return None
    return structs.replace(base, address=structs.replace(base.address, qualname=group.qualname), group=group)


def _above(owner: Resolved, resolved: Callable[[str], Resolved]) -> Iterator[Resolved]:
    """Yield the classes above a class, each once, depth first and from the left."""
    seen: set[str] = set()
    waiting = list(_bases(owner, resolved))
    while waiting and len(seen) < _MOST_CLASSES:
        base = waiting.pop(0)
        if base.group is not None and str(base.address) not in seen:
            seen.add(str(base.address))
            yield base
            waiting[:0] = _bases(base, resolved)


def _bases(owner: Resolved, resolved: Callable[[str], Resolved]) -> Iterator[Resolved]:
    """Yield the classes of the project that a class names as its bases."""
    around = [".".join((owner.module.name, *map(str, outer))) for outer in _around(owner)]
    for name in _named_in_header(owner):
        for outer in around:
            with suppress(ResourceError):
                yield resolved(f"{outer}.{name}")
                break


def _around(owner: Resolved) -> Iterator[tuple[Segment, ...]]:
    """Yield what a class's header sees names in: what the class stands in, functions around that, the module."""
    outer, definitions = owner.address.qualname[:-1], owner.tree.outline.definitions
    index = definitions[owner.group.members[0]].parent if owner.group else MODULE
    for length in range(len(outer), 0, -1):
        if length == len(outer) or definitions[index].kind is Kind.FUNCTION:
            yield outer[:length]
        index = definitions[index].parent
    yield ()


def _named_in_header(owner: Resolved) -> Iterator[str]:
    """Yield the dotted names of a class's bases, without what is in square brackets behind them."""
    for index in owner.group.members if owner.group else ():
        definition, text = owner.tree.outline.definitions[index], owner.tree.text
        if definition.kind is not Kind.CLASS:
            continue
        header = text[definition.keyword : end_of_header(text, definition.keyword)]
        try:
            [statement] = ast.parse(f"{header}\n pass").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # newer than the Python that runs, or too deep for it
        for base in statement.bases if isinstance(statement, ast.ClassDef) else ():
            if name := _dotted(base.value if isinstance(base, ast.Subscript) else base):
                yield name


def _dotted(expression: ast.expr) -> str:
    """Return the dotted name that an expression is; nothing if it is anything else."""
    names: list[str] = []
    while isinstance(expression, ast.Attribute):
        names.append(expression.attr)
        expression = expression.value
    return ".".join((expression.id, *reversed(names))) if isinstance(expression, ast.Name) else ""
