"""The modules that this process has loaded, and what stands in `sys.modules` instead of one.

Invariant: nothing is run by looking: no attribute is read that could run code, and a lazy module stays unloaded.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

_NAMESPACE: Any = vars(ModuleType)["__dict__"]
_LAZY = getattr(importlib.util, "_LazyModule", None)


def is_loaded(value: object) -> TypeGuard[ModuleType]:
    """Return whether a value is a module that was loaded; a lazy one that is still unused is none."""
    return issubclass(type(value), ModuleType) and type(value) is not _LAZY


def names_of(module: ModuleType) -> dict[str, Any]:
    """Return a module's namespace, whatever its class makes of attributes."""
    found: dict[str, Any] = _NAMESPACE.__get__(module)
    return found


def present() -> Iterator[tuple[str, ModuleType]]:
    """Yield the loaded modules by the names that `sys.modules` has for them."""
    everything: list[tuple[str, object]] = list(sys.modules.items())  # anything may have been put there
    for name, value in everything:
        if isinstance(name, str) and is_loaded(value):
            yield name, value


def loaded_from(file: Path) -> tuple[ModuleType, ...]:
    """Return the loaded modules whose source is that very file, under whatever names; never `__main__`."""
    real = file.resolve()
    found = {id(module): module for key, module in present() if key != "__main__" and _is_from(module, file.name, real)}
    return tuple(found.values())


def cut_off(file: Path) -> ModuleType | None:
    """Return a module of that file which other modules hold, and which was forgotten when the file went."""
    real = file.resolve()
    for _, holder in present():
        for value in list(names_of(holder).values()):
            if is_loaded(value) and _is_from(value, file.name, real) and names_of(value).get("__name__"):
                return value
    return None


def name_of(module: ModuleType) -> str:
    """Return the name that this process knows a module by; one of two that call themselves the same has another."""
    own = names_of(module).get("__name__", "")
    if sys.modules.get(own) is module:
        return str(own)
    return next((key for key, other in present() if other is module), str(own))


def why_not_loaded_again(name: str, file: Path) -> str:
    """Return why a changed file's code stays what it is in this process; "" if no module of this process is in the way.

    Parameters:
        name: what the module is called.
    """
    real = file.resolve()
    main = sys.modules.get("__main__")
    if is_loaded(main) and _is_from(main, file.name, real):
        return "it runs as __main__"
    there: object = sys.modules.get(name)
    strange = there is not None and type(there) is not _LAZY and not (is_loaded(there) and _file(there))
    return "what sys.modules has under its name is no module of a file" if strange else ""


def _is_from(module: ModuleType, name: str, file: Path) -> bool:
    source = _file(module)
    return source.endswith(name) and Path(source).resolve() == file


def _file(module: ModuleType) -> str:
    source = names_of(module).get("__file__")
    return source if isinstance(source, str) else ""
