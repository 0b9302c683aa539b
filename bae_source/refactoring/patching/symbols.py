"""The symbols that a patch changes: the units of a module that are others before and after."""

from __future__ import annotations

from collections.abc import Iterator

from bae_source.errors import ResourceError
from bae_source.project.naming.resolve import canonical
from bae_source.project.workspace import Workspace
from bae_source.syntax.outline.units import Unit, units_of

_MOST = 200
"""Symbols of one module; beyond, the module stands for them."""


def changed_in(before: Workspace, after: Workspace, path: str) -> tuple[str, ...]:
    """Return the addresses that differ in a module after a change: symbols, and the module for all else.

    Parameters:
        before, after: the project; it has the module in both.
    """
    module = before.layout.module_at(path)
    assert module is not None
    name = module.name
    try:
        name = str(canonical(before, module))
        old, new = (_by_name(units_of(each.tree(module))) for each in (before, after))
    except ResourceError:
        return (name,)
    found = tuple(dict.fromkeys(each for each in (*new, *old) if old.get(each) != new.get(each)))
    if not found or len(found) > _MOST:
        return (name,)
    return tuple(_addresses(name, found))


def _addresses(module: str, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        yield f"{module}.{name}" if name else module


def _by_name(units: list[Unit]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for unit in units:
        found.setdefault(unit.name, []).append(unit.raw)
    return found
