"""Enumerations: classes whose names are instances of them.

class Colour(Enum):
    RED = 1                 an instance of Colour
    _seen = 2               a plain attribute, as is what methods assign
"""

from __future__ import annotations

from bae_source.syntax import uses as u

ENUMERATIONS = frozenset(f"enum.{name}" for name in ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "ReprEnum"))
"""Classes above them."""


def may_be_member(name: str, scope: u.Scope) -> bool:
    """Say whether a name of a class would be a member if the class is an enumeration: one that its suite assigns."""
    bindings = scope.names.get(name, ())
    is_assigned = bool(bindings) and all(binding[0] == u.ASSIGNED for binding in bindings)
    return is_assigned and not name.startswith("_") and name not in scope.attributes
