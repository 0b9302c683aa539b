"""The verifier of a transaction: does the changed code still load?

    auto      modules loaded in this process are loaded again in place; the import of the others is tried in a child
    process   everything in this process
    child     everything in a child
    off       nothing is loaded

Invariants:
- compiled files of changed sources are removed after writing and after taking back, in every mode;
- children come first: this process is touched only once they agree;
- `roll_back` puts this process back as it was before `verify`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType

from bae_source.errors import TransactionError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, ReloadMode
from bae_source.runtime.addresses import Addresses
from bae_source.runtime.bytecode import remove_bytecode
from bae_source.runtime.child import CannotStart
from bae_source.runtime.failure import import_failed
from bae_source.runtime.import_check import Contents, Setting, check_imports
from bae_source.runtime.in_process import execute, holders, loaded_from, replaced_objects, runs_old_code
from bae_source.runtime.load_order import dependencies_first
from bae_source.runtime.module_state import ProcessState
from bae_source.runtime.probe import describe


class Reload:
    """Judges one transaction by loading what it changed.

    Parameters:
        mode: where modules are loaded.
        setting: how the project's code is run.
    """

    def __init__(self, mode: ReloadMode, setting: Setting) -> None:
        self._mode = mode
        self._setting = setting
        self._root = Path(setting.root).resolve()
        self._modules: tuple[ModuleFile, ...] = ()
        self._before: Contents = {}
        self._after: Contents = {}
        self._addresses = Addresses(setting.root, setting.source_roots, {})
        self._state: ProcessState | None = None

    def prepare(self, modules: Sequence[ModuleFile], before: Contents, after: Contents) -> None:
        """Remember what will change."""
        self._modules = tuple(module for module in modules if module.path in before)
        self._before, self._after = before, after
        known = {module.path: module.name for module in modules}
        roots = [*self._setting.source_roots, *(module.source_root for module in modules)]
        self._addresses = Addresses(self._setting.root, roots, known)

    def verify(self) -> tuple[Notice, ...]:
        """Load what was written.

        Raises:
            TransactionError: `reload_failed`, `timed_out`, or `verify_failed` where nothing could be tried.
        """
        remove_bytecode(self._sources())
        importlib.invalidate_caches()
        if self._mode == "off":
            return ()
        loaded = self._loaded()
        present = [module for module in self._modules if self._after.get(module.path) is not None]
        if self._mode == "process":
            absent = [module for module in present if module.path not in loaded]
            return (*self._load_again(loaded), *self._import_here(absent))
        elsewhere = [module for module in present if module.path not in loaded or not module.import_checked]
        return (*self._check_in_child(elsewhere), *self._load_again(loaded))

    def roll_back(self) -> None:
        """Put this process back; the files are back already."""
        remove_bytecode(self._sources())
        if self._state is not None:
            self._state.restore()
        importlib.invalidate_caches()

    def _sources(self) -> list[Path]:
        return [self._root / path for path in self._before if path.endswith(".py")]

    def _loaded(self) -> dict[str, tuple[ModuleType, ...]]:
        """Return the modules of this process that the change concerns, by path."""
        if self._mode == "child":
            return {}
        found = {
            module.path: loaded_from(self._root / module.path)
            for module in self._modules
            if module.import_checked and module.path.endswith(".py")
        }
        return {path: modules for path, modules in found.items() if modules}

    def _check_in_child(self, modules: Sequence[ModuleFile]) -> tuple[Notice, ...]:
        if not modules:
            return ()
        try:
            return check_imports(modules, self._before, self._setting, self._addresses, overlay=self._modules)
        except CannotStart as error:
            return self._not_started(modules, str(error))
        except OSError as error:
            return self._not_started(modules, error.strerror or "an error of the system")

    def _not_started(self, modules: Sequence[ModuleFile], problem: str) -> tuple[Notice, ...]:
        """Report an interpreter that does not start; where the caller asked for a child, that is a failure."""
        problem = self._addresses.convert(problem).rstrip(".")
        message = f"the project's interpreter ({self._setting.interpreter.origin}) cannot be started: {problem}"
        if self._mode == "child":
            raise TransactionError(
                "verify_failed",
                f"The change could not be checked: {message}; nothing was changed.",
                hints=["Set [tool.bae-source] python to the project's interpreter.", 'reload="off" skips this check.'],
                details={"interpreter": self._setting.interpreter.path},
            )
        names = ", ".join(module.name for module in modules)
        return (Notice("not_import_checked", f"{names}: not import-checked, because {message}."),)

    def _load_again(self, loaded: Mapping[str, tuple[ModuleType, ...]]) -> tuple[Notice, ...]:
        if not loaded:
            return ()
        modules = {module.__name__: (path, module) for path, group in loaded.items() for module in group}
        codes = {
            name: self._compiled(path, module)
            for name, (path, module) in modules.items()
            if self._after.get(path) is not None
        }
        packages = {name: _package(modules[name][1]) for name in codes}
        before = {name: dict(vars(module)) for name, (_, module) in modules.items()}
        with self._watched(module for _, module in modules.values()):
            for name in modules.keys() - codes.keys():
                _unload(modules[name][1])
            for name in dependencies_first(codes, packages):
                self._execute(*modules[name], codes[name])
        reloaded = [module for _, module in modules.values()]
        replaced = {
            key: value
            for name, (_, module) in modules.items()
            for key, value in replaced_objects(module, before[name] if name in codes else {}).items()
        }
        return _held(holders(replaced, reloaded), codes)

    def _execute(self, path: str, module: ModuleType, code: CodeType) -> None:
        name = self._name(path)
        try:
            execute(module, code, self._old_code(path, code.co_filename))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - an import may raise anything, SystemExit too
            raise import_failed(name, describe(error), self._addresses, here=True) from None
        stale = runs_old_code(module, code)
        if stale:
            raise TransactionError(
                "reload_failed",
                f"{name} still runs the old code of {', '.join(stale)} in this process; nothing was changed.",
                hints=['Restart the process and use reload="child".'],
            )

    def _compiled(self, path: str, module: ModuleType) -> CodeType:
        source = self._after[path]
        assert source is not None
        try:
            return compile(source, module.__file__ or path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise import_failed(self._name(path), describe(error), self._addresses, here=True) from None

    def _old_code(self, path: str, filename: str) -> CodeType | None:
        source = self._before.get(path)
        try:
            return None if source is None else compile(source, filename, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return None

    def _import_here(self, modules: Sequence[ModuleFile]) -> tuple[Notice, ...]:
        """Import modules that are not loaded yet; they stay loaded."""
        notices: list[Notice] = []
        roots = list(dict.fromkeys(str(self._root / module.source_root) for module in modules))
        path = list(sys.path)
        sys.path[:0] = [root for root in roots if root not in path]
        try:
            with self._watched(()):
                for module in modules:
                    notices += self._import(module)
        finally:
            sys.path[:] = path
        return tuple(notices)

    def _import(self, module: ModuleFile) -> tuple[Notice, ...]:
        try:
            if module.import_checked and module.path.endswith(".py"):
                importlib.import_module(module.name)
                return ()
            compile(self._after[module.path] or b"", str(self._root / module.path), "exec", dont_inherit=True)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - an import may raise anything, SystemExit too
            raise import_failed(module.name, describe(error), self._addresses, here=True) from None
        return (Notice("not_import_checked", f"{module.name}: compiled, but not import-checked."),)

    @contextmanager
    def _watched(self, modules: Iterable[ModuleType]) -> Iterator[None]:
        """Remember this process before the first change to it, and watch what is imported."""
        if self._state is None:
            self._state = ProcessState(modules, [module.name for module in self._modules])
        self._state.watch()
        try:
            yield
        finally:
            self._state.unwatch()

    def _name(self, path: str) -> str:
        return next(module.name for module in self._modules if module.path == path)


def _package(module: ModuleType) -> str:
    """Return the package that the module's relative imports start from."""
    return module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]


def _unload(module: ModuleType) -> None:
    """Forget a module whose file is gone."""
    sys.modules.pop(module.__name__, None)
    parent, _, child = module.__name__.rpartition(".")
    if parent in sys.modules and vars(sys.modules[parent]).get(child) is module:
        delattr(sys.modules[parent], child)


def _held(names: Sequence[str], reloaded: Mapping[str, CodeType]) -> tuple[Notice, ...]:
    if not names:
        return ()
    shown = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    text = f"{shown} still hold old objects of {', '.join(reloaded)}; load them again, or restart the process."
    return (Notice("holds_old_objects", text),)
