"""Meanings of names, as values: a name in a scope, a module, a folder, or something outside the project."""

from __future__ import annotations

from msgspec import Struct


class Symbol(Struct, frozen=True):
    """A name that is bound in a scope.

    Parameters:
        path: the file.
        scope: number of the scope that binds it.
        name: what it binds.
    """

    path: str
    scope: int
    name: str


class InModule(Struct, frozen=True):
    """A module of the project."""

    path: str


class Outside(Struct, frozen=True):
    """Something outside the project, by its dotted name in the code; `builtins.` stands before built-ins."""

    name: str


class InFolder(Struct, frozen=True):
    """A package of the project without `__init__` (PEP 420)."""

    path: str


Meaning = Symbol | InModule | InFolder | Outside | None
Meanings = frozenset[Meaning]
