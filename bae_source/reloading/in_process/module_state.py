"""The state that an import changes inside this process, remembered so that it can be put back.

Invariants:
- a namespace is restored by putting back what was there and then deleting what was added, never by clearing it:
  another thread that runs the module's code meanwhile finds every name;
- entries of `sys.modules` that the import added go, except those that another thread added, and except foreign modules
  that came together with an extension module: Python cannot load that twice, and it holds on to what it came with;
- what it did elsewhere (threads, registrations, the environment) cannot be put back.
"""

from __future__ import annotations

import importlib
import linecache
import sys
import threading
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType

from bae_source.reloading.in_process.present import is_loaded, names_of, present

_NONE = object()


class ProcessState:
    """The state of this process before modules are loaded again; `watch` it while they are.

    Parameters:
        modules: those that will be executed.
        names: all that will be imported, those not loaded yet too.
    """

    def __init__(self, modules: Iterable[ModuleType], names: Iterable[str]) -> None:
        self._namespaces = [(module, dict(vars(module))) for module in modules]
        self._loaded = dict(sys.modules)
        self._own_names = {module.__name__ for module, _ in self._namespaces}
        self._tops = {name.partition(".")[0] for name in [*names, *self._own_names]}
        self._packages = {
            name: dict(names_of(module)) for name, module in present() if name.partition(".")[0] in self._tops
        }
        self._elsewhere = _ImportsElsewhere(threading.get_ident())

    def watch(self) -> None:
        """Begin to distinguish this thread's imports from those of others."""
        sys.meta_path.insert(0, self._elsewhere)

    def unwatch(self) -> None:
        """Stop telling them apart."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self._elsewhere]

    def restore(self) -> None:
        """Put everything back; may be called twice."""
        self.unwatch()
        for name in self._added():
            module = sys.modules.pop(name, None)
            self._restore_attribute(name, module)
        for name, module in self._loaded.items():
            if sys.modules.get(name) is not module:
                sys.modules[name] = module
                self._restore_attribute(name, None)
        for module, namespace in self._namespaces:
            _restore_namespace(module, namespace)
        importlib.invalidate_caches()

    def bound_elsewhere(self) -> tuple[str, ...]:
        """Return the names that were bound or removed in other modules of the same packages: those stay as they are.

        Another thread may have done it, so that putting them back could undo its work.
        """
        found: list[str] = []
        for name, before in self._packages.items():
            now = names_of(self._loaded[name])
            changed = (key for key in {**before, **now} if before.get(key, _NONE) is not now.get(key, _NONE))
            found += (
                f"{name}.{key}" for key in changed if name not in self._own_names and not _is_module(before, now, key)
            )
        return tuple(found)

    def _added(self) -> Sequence[str]:
        """Return the entries to remove."""
        added = [name for name in list(sys.modules) if name not in self._loaded]
        added = [name for name in added if name not in self._elsewhere.names]
        bound = any(_is_extension(sys.modules.get(name)) for name in added)
        return [name for name in added if not bound or self._own(name)]

    def _own(self, name: str) -> bool:
        return name.partition(".")[0] in self._tops and not _is_extension(sys.modules.get(name))

    def _restore_attribute(self, name: str, removed: ModuleType | None) -> None:
        """Put back what the parent package's attribute of that name was."""
        parent_name, _, child = name.rpartition(".")
        parent = self._loaded.get(parent_name)
        if parent is None:
            return
        namespace = vars(parent)
        if removed is not None and namespace.get(child) is not removed:
            return
        earlier = self._packages.get(parent_name, {})
        if child in earlier:
            namespace[child] = earlier[child]
        elif removed is not None:
            namespace.pop(child, None)


class _ImportsElsewhere(MetaPathFinder):
    """Finds nothing; remembers the names that other threads look for."""

    def __init__(self, thread: int) -> None:
        self.names: set[str] = set()
        self._thread = thread

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Note the name, and leave the finding to others."""
        if threading.get_ident() != self._thread:
            self.names.add(fullname)
        return None


def _restore_namespace(module: ModuleType, namespace: dict[str, object]) -> None:
    current = vars(module)
    current.update(namespace)
    for name in [name for name in current if name not in namespace]:
        del current[name]
    file = namespace.get("__file__")
    if isinstance(file, str):
        linecache.cache.pop(file, None)  # lines of the source that failed; it looks at sizes and times only


def _is_module(before: dict[str, object], now: dict[str, object], name: str) -> bool:
    """Return whether a name stands for a module, before or after: importing binds it, and `restore` puts it back."""
    return isinstance(before.get(name), ModuleType) or isinstance(now.get(name), ModuleType)


def _is_extension(module: object) -> bool:
    spec = names_of(module).get("__spec__") if is_loaded(module) else None
    return isinstance(getattr(spec, "loader", None), ExtensionFileLoader)
