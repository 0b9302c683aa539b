"""Load changed modules again inside this process, in place.

Invariants:
- the new bytes are compiled and executed in the module's own namespace, so that every holder of the module sees
  the change; no bytecode cache is read, because one of the same second and size would be the old code;
- names that the old source bound and the new one does not are gone afterwards;
- code that asks for its names as a mapping gets the module's own dict, as it does when it is imported;
- nothing is put back here: `ProcessState` does that.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable, Iterator, MutableMapping
from types import CodeType, FunctionType, ModuleType

from bae_source.reloading.in_process.cascade import package_of
from bae_source.reloading.in_process.load_order import code_objects, global_names, imports, stored_names
from bae_source.reloading.patch.inside import direct_functions

_ASKING = {"locals", "vars", "f_locals"}


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


def asks_for_names(code: CodeType) -> bool:
    """Return whether a module's code may ask for its names as a mapping, which has to be the module's own dict then."""
    return not _ASKING.isdisjoint(code.co_names)


def execute(module: ModuleType, code: CodeType, old: CodeType | None, *, through: Names | None = None) -> None:
    """Execute a module's new code in its namespace; raise whatever it raises.

    Parameters:
        old: the code of the source before the change, None if it does not compile.
        through: what the code binds its names through, for a patch; none for code that asks for its names.
    """
    namespace = vars(module)
    before = dict(namespace)
    stored, unseen = stored_names(code), global_names(code)
    namespace.pop("__annotations__", None)  # else those of removed variables would stay
    if "__doc__" not in stored:
        namespace["__doc__"] = None
    if through is None and asks_for_names(code):
        exec(code, namespace)
        bound = _bindable(module, code)
    else:
        through = through or Names(namespace)
        exec(code, namespace, through)
        bound = through.bound
    for name in stored_names(old) if old is not None else ():
        left = name in before and name not in bound and namespace.get(name) is before[name]
        if left and (name not in stored or (name not in unseen and defined_by(module, before[name]))):
            del namespace[name]
    forget_lines(module)


def drop_left(module: ModuleType, code: CodeType, stale: Iterable[str]) -> None:
    """Drop the definitions of sources before the last one that are still there, such as one that an editor removed.

    Parameters:
        code: the module's code, which was executed.
        stale: qualnames of what runs other code than this.
    """
    stored = stored_names(code).union(*map(global_names, code_objects(code)))
    for name in dict.fromkeys(name.partition(".")[0] for name in stale):
        value = vars(module).get(name)
        functions = [value] if isinstance(value, type) else [*direct_functions(value)]
        if name not in stored and any(each.__qualname__ == name for each in functions):
            del vars(module)[name]


def _bindable(module: ModuleType, code: CodeType) -> set[str]:
    """Return the names that a module's code may have bound."""
    names = set(stored_names(code))
    for statement in imports(code, package_of(module)):
        if "*" in statement.bound and statement.module in sys.modules:
            names.update(vars(sys.modules[statement.module]))
    return names


def forget_lines(module: ModuleType) -> None:
    """Drop what `linecache` keeps of the module's source: it looks at sizes and times only."""
    file = vars(module).get("__file__")
    if isinstance(file, str):
        linecache.cache.pop(file, None)


def defined_by(module: ModuleType, value: object) -> bool:
    """Return whether a value is a function or class that names the module as its own."""
    return isinstance(value, FunctionType | type) and value.__module__ == module.__name__
