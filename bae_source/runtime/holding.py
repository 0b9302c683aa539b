"""Who still holds what a module had before it was loaded again.

Functions, classes and other objects are known by their identity, wherever a loaded module binds them. Numbers, text
and the like have none to go by: a module holds an old one if it took that very name by an import statement.

Invariant: nothing of the project is called; at most `_SCANNED` names are looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from types import CodeType, FunctionType, ModuleType

from bae_source.runtime.cascade import package_of, source_code
from bae_source.runtime.in_process import defined_by
from bae_source.runtime.load_order import imports, stored_names
from bae_source.runtime.object_state import PLAIN

_SCANNED = 300_000
_NOTATION = {"typing", "types", "re", "collections.abc"}


class Replaced:
    """What modules had and have no longer."""

    def __init__(self) -> None:
        self.objects: dict[int, object] = {}
        self.plain: dict[tuple[str, str], object] = {}

    def note(self, module: ModuleType, before: Mapping[str, object], code: CodeType | None, *, gone: bool) -> None:
        """Note what a module has no longer.

        Parameters:
            before: its namespace as it was.
            code: the code of its source before; what that imported is not the module's own.
            gone: whether the module was forgotten, with its namespace as it is.
        """
        now = set() if gone else {id(value) for value in vars(module).values()}
        own = _own_names(module, code)
        for name, value in before.items():
            if id(value) in now:
                continue
            if isinstance(value, FunctionType | type):
                if defined_by(module, value):
                    self.objects[id(value)] = value
            elif name in own and isinstance(value, PLAIN):
                if gone or not _equal(vars(module).get(name), value):
                    self.plain[module.__name__, name] = value
            elif (
                name in own and not isinstance(value, ModuleType) and not _same_notation(vars(module).get(name), value)
            ):
                self.objects[id(value)] = value


def holders(replaced: Replaced, reloaded: Iterable[ModuleType]) -> tuple[str, ...]:
    """Return the names of loaded modules that still hold what was replaced, now or by an earlier change.

    Parameters:
        reloaded: the modules that were loaded again; those of them that ran before the one they import are named too.
    """
    present = {module.__name__: {id(value) for value in vars(module).values()} for module in reloaded}
    found = []
    budget = _SCANNED
    everything: list[tuple[str, object]] = list(sys.modules.items())  # anything may have been put there
    for name, module in everything:
        if budget <= 0:
            break
        if not isinstance(module, ModuleType):
            continue
        values = list(islice(vars(module).values(), budget))
        budget -= len(values)
        old = any(id(value) in replaced.objects or _outdated(value, present, name) for value in values)
        if old or (name not in present and _holds_plain(module, replaced.plain)):
            found.append(name)
    return tuple(found)


def _own_names(module: ModuleType, code: CodeType | None) -> frozenset[str]:
    """Return the names that a source bound otherwise than by importing them."""
    if code is None:
        return frozenset()
    taken = {name for statement in imports(code, package_of(module)) for name in statement.bound}
    return frozenset(name for name in stored_names(code) if name not in taken and not name.startswith("__"))


def _equal(one: object, other: object) -> bool:
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:  # noqa: BLE001 - a tuple may hold anything, and comparing that raise anything
        return False


def _same_notation(one: object, other: object) -> bool:
    """Say whether two values are one type alias or one pattern, written anew: nobody can tell them apart."""
    return type(other).__module__ in _NOTATION and _equal(one, other)


def _outdated(value: object, present: Mapping[str, set[int]], holder: str) -> bool:
    """Say whether a function or class comes from a reloaded module which no longer has it at its top level."""
    if not isinstance(value, FunctionType | type) or "." in value.__qualname__ or value.__module__ == holder:
        return False
    here = present.get(value.__module__)
    return here is not None and id(value) not in here


def _holds_plain(module: ModuleType, plain: Mapping[tuple[str, str], object]) -> bool:
    namespace = vars(module)
    likely = {key for key, value in plain.items() if namespace.get(key[1]) is value}
    code = source_code(module) if likely else None
    if code is None:
        return False
    taken = {(each.module, name) for each in imports(code, package_of(module)) for name in each.names}
    return bool(likely & taken)
