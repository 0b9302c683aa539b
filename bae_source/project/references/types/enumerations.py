"""Enumerations: classes whose names are instances of them.

class Colour(Enum):
    RED = 1                 an instance of Colour
    _seen = 2               a plain attribute, as is what methods assign
"""

from __future__ import annotations

from collections.abc import Callable

from bae_source.project.references.meaning.meanings import Outside
from bae_source.project.references.types.values import Values
from bae_source.syntax.names import uses as u

ENUMERATIONS = frozenset(f"enum.{name}" for name in ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"))
"""Classes above them."""


def may_be_member(name: str, scope: u.Scope) -> bool:
    """Return whether a name of a class would be a member if the class is an enumeration: one that its suite assigns."""
    bindings = scope.names.get(name, ())
    is_assigned = bool(bindings) and all(binding.how == u.ASSIGNED for binding in bindings)
    return is_assigned and not name.startswith("_") and name not in scope.attributes


def is_no_member(uses: Callable[[str], u.Uses], values: Callable[[str, int], Values], path: str, number: int) -> bool:
    """Return whether what a suite assigns is what `enum.nonmember` gives.

    Parameters:
        uses: gives the references in a file.
        values: tells what an expression of a file may give.
        path, number: the expression that is assigned.
    """
    form = uses(path).expressions[number]
    called = values(path, int(form[1])) if form and form[0] == u.CALLED else ()
    return Outside("enum.nonmember") in called
