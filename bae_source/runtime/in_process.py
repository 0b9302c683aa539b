"""Load changed modules again inside this process, in place.

Invariants:
- the new bytes are compiled and executed in the module's own namespace, so that everybody who holds the module sees
  the change; no bytecode cache is asked, because one of the same second and size would be the old code;
- names that the old source bound and the new one does not are gone afterwards;
- nothing is put back here: `ProcessState` does that.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from bae_source.runtime.load_order import global_names, stored_names


def loaded_from(file: Path) -> tuple[ModuleType, ...]:
    """Return the loaded modules whose source is that very file, under whatever names; never `__main__`."""
    name, real = file.name, file.resolve()
    found = {
        id(module): module
        for key, module in list(sys.modules.items())
        if key != "__main__" and isinstance(module, ModuleType) and _is_from(module, name, real)
    }
    return tuple(found.values())


def _is_from(module: ModuleType, name: str, file: Path) -> bool:
    source = module.__dict__.get("__file__")
    return isinstance(source, str) and source.endswith(name) and Path(source).resolve() == file


class Names(MutableMapping[str, object]):
    """A module's namespace, for code to bind names through; it keeps which ones.

    Without it, a name that is bound to what it was bound to before would look like one that is no longer bound.

    Parameters:
        namespace: the module's own.
    """

    def __init__(self, namespace: dict[str, object]) -> None:
        self.bound: set[str] = set()
        self._namespace = namespace

    def __getitem__(self, name: str) -> object:
        return self._namespace[name]

    def __setitem__(self, name: str, value: object) -> None:
        self._namespace[name] = value
        self.bound.add(name)

    def __delitem__(self, name: str) -> None:
        del self._namespace[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._namespace)

    def __len__(self) -> int:
        return len(self._namespace)


def execute(module: ModuleType, code: CodeType, old: CodeType | None, *, through: Names | None = None) -> None:
    """Execute a module's new code in its namespace; raise whatever it raises.

    Parameters:
        old: the code of the source before the change, None if it does not compile.
        through: what the code binds its names through, for a patch.
    """
    namespace = vars(module)
    before = dict(namespace)
    stored, unseen = stored_names(code), global_names(code)
    namespace.pop("__annotations__", None)  # else those of removed variables would stay
    if "__doc__" not in stored:
        namespace["__doc__"] = None
    through = through or Names(namespace)
    exec(code, namespace, through)
    for name in stored_names(old) if old is not None else ():
        left = name in before and name not in through.bound and namespace.get(name) is before[name]
        if left and (name not in stored or (name not in unseen and defined_by(module, before[name]))):
            del namespace[name]
    forget_lines(module)


def forget_lines(module: ModuleType) -> None:
    """Drop what `linecache` keeps of the module's source: it looks at sizes and times only."""
    file = vars(module).get("__file__")
    if isinstance(file, str):
        linecache.cache.pop(file, None)


def defined_by(module: ModuleType, value: object) -> bool:
    """Say whether a value is a function or class that names the module as its own."""
    return isinstance(value, FunctionType | type) and value.__module__ == module.__name__
