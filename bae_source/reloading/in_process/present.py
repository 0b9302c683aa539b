"""The modules that this process has loaded, and what stands in `sys.modules` instead of one.

Invariant: nothing is run by looking: no attribute is read that could run code, and a lazy module stays unloaded.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from functools import cached_property
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
    of_file = _File(file)
    found = {id(module): module for key, module in present() if key != "__main__" and of_file.has(module)}
    return tuple(found.values())


def cut_off(file: Path) -> ModuleType | None:
    """Return a module of that file which other modules hold, and which was forgotten when the file went."""
    of_file = _File(file)
    for _, holder in present():
        for value in list(names_of(holder).values()):
            if is_loaded(value) and of_file.has(value) and names_of(value).get("__name__"):
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
    main = sys.modules.get("__main__")
    if is_loaded(main) and _File(file).has(main):
        return "it runs as __main__"
    there: object = sys.modules.get(name)
    strange = there is not None and type(there) is not _LAZY and not (is_loaded(there) and _file(there))
    return "what sys.modules has under its name is no module of a file" if strange else ""


class _File:
    """A file, which is compared with the sources of many modules.

    Of hundreds of files called `__init__.py`, `stat` tells all but one apart at a tenth of the price of `resolve`;
    of two names of one file, `resolve` alone tells which is a link to the other.
    """

    def __init__(self, file: Path) -> None:
        self._file, self._name = file, file.name

    @cached_property
    def _real(self) -> Path:
        return self._file.resolve()

    @cached_property
    def _inode(self) -> tuple[int, int] | None:
        return _inode(self._file)

    def has(self, module: ModuleType) -> bool:
        """Return whether a module's source is this file."""
        source = _file(module)
        if not source.endswith(self._name):
            return False
        return _inode(source) == self._inode and Path(source).resolve() == self._real


def _inode(path: str | Path) -> tuple[int, int] | None:
    """Return what tells a file from all others there are now; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116  # of hundreds of modules no `Path` is made
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _file(module: ModuleType) -> str:
    source = names_of(module).get("__file__")
    return source if isinstance(source, str) else ""
