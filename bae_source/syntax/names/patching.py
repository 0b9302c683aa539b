"""Keywords of `patch.multiple`, each of which names an attribute of what comes first, as an assignment to it would.

patch.multiple(core, main=1)             mention `main`, a keyword of what `core` is
patch.multiple("app.core", main=1)       the string "app.core.main"
"""

from __future__ import annotations

import ast
from typing import Protocol

from bae_source.syntax.names import uses as u
from bae_source.syntax.names.gathering import Gathering, Place

_OWN = ("target", "spec", "create", "spec_set", "autospec", "new_callable")
"""Its own parameters."""


class Visitor(Protocol):
    """Visits expressions."""

    @property
    def gathering(self) -> Gathering:
        """Takes what they mention."""

    def value(self, node: ast.expr, place: Place) -> int:
        """Visit one that is evaluated, and return its number."""


def is_patch(function: ast.expr) -> bool:
    """Say whether what is called is `patch.multiple`, wherever `patch` comes from."""
    before = function.value if isinstance(function, ast.Attribute) and function.attr == "multiple" else None
    return getattr(before, "attr", getattr(before, "id", "")) == "patch"


def visit_patch(visitor: Visitor, node: ast.Call, place: Place) -> int:
    """Visit the arguments of a call of it; what it gives is not known."""
    target: ast.expr | None = None
    number = u.OPAQUE
    for argument in node.args:
        found = visitor.value(argument, place)
        if target is None:
            target, number = argument, found
    for keyword in node.keywords:
        name, replaced = keyword.arg or "", u.OPAQUE
        if isinstance(target, ast.Constant) and isinstance(target.value, str) and name not in (*_OWN, ""):
            text = u.Text(keyword.lineno, keyword.col_offset, place.owner, f"{target.value}.{name}")
            visitor.gathering.strings[name].append(text)
        elif name not in _OWN:
            replaced = visitor.gathering.expression(u.PATCHED, number)
        if name:
            visitor.gathering.mention(name, keyword.lineno, keyword.col_offset, place, u.KEYWORD, replaced)
        found = visitor.value(keyword.value, place)
        if name == "target":
            target, number = keyword.value, found
    return u.OPAQUE
