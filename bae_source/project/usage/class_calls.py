"""Calls that make a class: of `type`, and of metaclasses, which take the name of the class, its bases and its suite.

D = type("D", (Base,), {})
D = Registering("D", (Base,), {})         where `Registering` is a metaclass, of the project or of Python
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from bae_source.project.usage.meaning import Meaning, Outside, Symbol
from bae_source.project.usage.metaclasses import METACLASSES, is_metaclass
from bae_source.project.usage.project import Project
from bae_source.project.usage.set_in_text import is_later_argument
from bae_source.project.usage.sought import Mentioned
from bae_source.project.usage.values import Class, Value
from bae_source.syntax import uses as u

_MAKERS = ("type", "new_class")
_MOST_BEFORE = 5
"""How many calls that stand before a class's name may be the one that it is given to."""


class Maker(Struct, frozen=True):
    """What makes a class: the name that is called, and where that stands."""

    name: str
    line: int
    column: int


def maker_of(project: Project, mentioned: Mentioned) -> Maker | None:
    """Return what makes a class of a mention, which is an argument of it and not its first one; None for nothing."""
    path, (line, column, scope, *_) = mentioned.path, mentioned.mention
    calls = [
        (each, name)
        for name, mentions in project.uses(path).mentions.items()
        for each in mentions
        if each[2] == scope and each[3] == u.CALL and each[:2] < (line, column)
    ]
    for call, name in sorted(calls)[-_MOST_BEFORE:]:
        is_given = is_later_argument(text_between(project, path, call[:2], (line, column)))
        if is_given and (name in _MAKERS or _is_metaclass(project, path, name, call)):
            return Maker(name, *call[:2])
    return None


def text_between(project: Project, path: str, start: tuple[int, int], end: tuple[int, int]) -> bytes:
    """Return what stands between two places of a file, each a line and a column in bytes."""
    lines = project.lines(path)
    cut = [lines.cut(number).encode() for number in range(start[0], end[0] + 1)]
    cut[-1] = cut[-1][: end[1]]
    cut[0] = cut[0][start[1] :]
    return b"\n".join(cut)


def _is_metaclass(project: Project, path: str, name: str, call: u.Mention) -> bool:
    """Say whether what is called is a metaclass of the project, or one that comes with Python."""
    line, column, scope, _, receiver, _ = call
    found: Iterable[Meaning]
    if receiver == u.PLAIN:
        found = project.names.named(path, scope, name, line, column)
    else:
        values = project.inference.values(path, receiver)
        found = (each for value in values for each in project.inference.attribute(value, name))
    held = (project.inference.held(each) if isinstance(each, Symbol) else (each,) for each in found)
    return any(_makes_classes(project, value) for values in held for value in values)


def _makes_classes(project: Project, value: Value) -> bool:
    if isinstance(value, Class):
        return is_metaclass(project.inference.orders, value)
    return isinstance(value, Outside) and value.name in METACLASSES
