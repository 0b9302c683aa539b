"""Load changed modules again inside this process, in place.

Invariants:
- the new bytes are compiled and executed in the module's own namespace, so that everybody who holds the module sees
  the change; no bytecode cache is asked, because one of the same second and size would be the old code;
- names that the old source bound and the new one does not are gone afterwards;
- it is checked that every function of the module runs code of the new source;
- nothing is put back here: `ProcessState` does that.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from bae_source.runtime.load_order import code_objects, stored_names

_SCANNED = 300_000


def loaded_from(file: Path) -> tuple[ModuleType, ...]:
    """Return the loaded modules whose source is that very file, under whatever names; never `__main__`."""
    name, real = file.name, file.resolve()
    return tuple(
        module
        for key, module in list(sys.modules.items())
        if key != "__main__" and isinstance(module, ModuleType) and _is_from(module, name, real)
    )


def _is_from(module: ModuleType, name: str, file: Path) -> bool:
    source = module.__dict__.get("__file__")
    return isinstance(source, str) and source.endswith(name) and Path(source).resolve() == file


def execute(module: ModuleType, code: CodeType, old: CodeType | None) -> None:
    """Execute a module's new code in its namespace; raise whatever it raises.

    Parameters:
        old: the code of the source before the change, None if it does not compile.
    """
    namespace = vars(module)
    before = dict(namespace)
    bound = stored_names(code)
    namespace.pop("__annotations__", None)  # else those of removed variables would stay
    if "__doc__" not in bound:
        namespace["__doc__"] = None
    exec(code, namespace)
    for name in stored_names(old) if old is not None else ():
        left = name in before and namespace.get(name) is before[name]
        if left and (name not in bound or _defined_by(module, before[name])):
            del namespace[name]
    linecache.checkcache(module.__file__)


def runs_old_code(module: ModuleType, code: CodeType) -> tuple[str, ...]:
    """Return the functions of the module that do not run code of the new source."""
    new = {id(part) for part in code_objects(code)}
    return tuple(
        name
        for name, value in list(vars(module).items())
        if isinstance(value, FunctionType)
        and value.__globals__ is vars(module)
        and value.__code__.co_filename == code.co_filename
        and id(value.__code__) not in new
    )


def holders(replaced: Mapping[int, object], reloaded: Iterable[ModuleType]) -> tuple[str, ...]:
    """Return the names of loaded modules that still hold objects which were replaced, now or by an earlier change.

    Parameters:
        replaced: old functions and classes, by identity.
        reloaded: the modules that were loaded again; they hold the new ones.
    """
    present = {module.__name__: {id(value) for value in vars(module).values()} for module in reloaded}
    found = []
    budget = _SCANNED
    for name, module in list(sys.modules.items()):
        if budget <= 0:
            break
        if not isinstance(module, ModuleType) or name in present:
            continue
        values = list(islice(vars(module).values(), budget))
        budget -= len(values)
        if any(id(value) in replaced or _outdated(value, present) for value in values):
            found.append(name)
    return tuple(found)


def _outdated(value: object, present: Mapping[str, set[int]]) -> bool:
    """Say whether a function or class comes from a reloaded module which no longer has it at its top level."""
    if not isinstance(value, FunctionType | type) or "." in value.__qualname__:
        return False
    here = present.get(value.__module__)
    return here is not None and id(value) not in here


def replaced_objects(module: ModuleType, before: Mapping[str, object]) -> dict[int, object]:
    """Return the functions and classes that the module defined before and holds no longer, by identity."""
    now = {id(value) for value in vars(module).values()}
    return {id(value): value for value in before.values() if _defined_by(module, value) and id(value) not in now}


def _defined_by(module: ModuleType, value: object) -> bool:
    return isinstance(value, FunctionType | type) and value.__module__ == module.__name__
