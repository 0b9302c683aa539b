"""Load modules inside this process: again in place, patched, forgotten, or for the first time.

Invariants:
- everything is remembered before the first change, and `restore` puts all of it back;
- the new bytes are compiled before anything runs; no bytecode cache is read;
- after a module ran, its functions are compared with the new source: one that still runs old code is a failure, and
  what cannot be compared is named.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from bae_source.errors import TransactionError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.text import listed
from bae_source.reloading.child.addresses import Addresses
from bae_source.reloading.child.failure import import_failed
from bae_source.reloading.child.import_check import Contents
from bae_source.reloading.child.probe import describe
from bae_source.reloading.in_process.cascade import package_of
from bae_source.reloading.in_process.holding import Holders, Replaced, holders
from bae_source.reloading.in_process.in_process import asks_for_names, drop_left, execute
from bae_source.reloading.in_process.load_order import Import, dependencies_first, imports, imports_in_classes
from bae_source.reloading.in_process.module_state import ProcessState
from bae_source.reloading.in_process.planned import Planned, PlannedFinder
from bae_source.reloading.in_process.present import name_of
from bae_source.reloading.patch.comparison import compare, own_objects
from bae_source.reloading.patch.object_state import state_of
from bae_source.reloading.patch.patch import Patching


class Loaded(Struct, frozen=True, kw_only=True):
    """A module that this process has loaded and the change concerns.

    Parameters:
        module: the module itself.
        file: where its source lies now.
        source: what it is now; None if the module is gone.
        before: what it was.
        edited: whether the change is about it; an importer is not edited.
        name: what this process knows it by; found out where it is not given.
    """

    module: ModuleType
    file: Path
    source: bytes | None
    before: bytes | None
    edited: bool = True
    name: str = ""

    def __post_init__(self) -> None:
        force_setattr(self, "name", self.name or name_of(self.module))  # its code may remove the name


def keeps_old_code(name: str, reason: str) -> Notice:
    """Return the notice of a changed module that this process has loaded and does not load again."""
    return Notice("keeps_old_code", f"{name} keeps its old code in this process: {reason}.")


class ThisProcess:
    """Loads the modules of one change.

    Parameters:
        root: the project's folder.
        planned: what may be imported, also where it is not loaded yet.
        addresses: how files are called.
        patch: whether functions and classes are patched instead of replaced.
    """

    def __init__(self, root: Path, planned: Planned, addresses: Addresses, *, patch: bool) -> None:
        self._names = [module.name for module, _ in planned]
        self._finder = PlannedFinder(root, planned)
        self._addresses = addresses
        self._patch = patch
        self._patching: Patching | None = None
        self._state: ProcessState | None = None
        self._objects: list[Callable[[], None]] = []

    def restore(self) -> None:
        """Put everything back; may be called twice."""
        if self._patching is not None:
            self._patching.restore()
        for restore in self._objects:
            restore()
        if self._state is not None:
            self._state.restore()

    def load_again(self, loaded: Sequence[Loaded]) -> tuple[Notice, ...]:
        """Load modules again, or forget those that are gone.

        Raises:
            TransactionError: `reload_failed`.
        """
        if not loaded:
            return ()
        modules = {each.name: each for each in loaded}
        codes = {name: self._compiled(each) for name, each in modules.items() if each.source is not None}
        statements = {name: _statements(modules[name], codes[name]) for name in _as_loaded(codes)}
        before = {name: dict(vars(each.module)) for name, each in modules.items()}
        order = dependencies_first(statements, [name for name, each in modules.items() if each.edited], sys.modules)
        with self._watched([each.module for each in loaded]) as watched:
            notices = self._run(
                [modules[name] for name in order], codes, watched, [each for each in loaded if each.source is None]
            )
        holding = _holds_old(_holders(list(modules.values()), before, codes), list(modules), patched=self._patch)
        return (*_listing(modules, order), *notices, *holding, *watched.notices(order))

    def import_new(self, modules: Sequence[ModuleFile], root: Path, after: Contents) -> tuple[Notice, ...]:
        """Import modules that are not loaded yet; they stay loaded."""
        notices: list[Notice] = []
        roots = list(dict.fromkeys(str(root / module.source_root) for module in modules))
        path = list(sys.path)
        sys.path[:0] = [folder for folder in roots if folder not in path]
        try:
            with self._watched([]) as watched:
                for module in modules:
                    notices += self._import(module, str(root / module.path), after[module.path] or b"", watched)
        finally:
            sys.path[:] = path
        return tuple(notices)

    def _run(
        self, ordered: Sequence[Loaded], codes: Mapping[str, CodeType], watched: _Watched, gone: Sequence[Loaded]
    ) -> list[Notice]:
        """Forget the modules that are gone, and run the others in their order."""
        self._objects = [state_of(value) for each in (*ordered, *gone) for value in own_objects(each.module)]
        _forget([each.module for each in gone])
        _bring_back(each for each in ordered if each.name not in sys.modules)
        if self._patch:
            self._patching = Patching([each.module for each in ordered])
        notices = [notice for each in ordered for notice in self._load(each, codes[each.name], watched)]
        return [*notices, *(self._patching.finish() if self._patching is not None else ())]

    def _load(self, each: Loaded, code: CodeType, watched: _Watched) -> tuple[Notice, ...]:
        module = each.module
        patching = None if asks_for_names(code) else self._patching
        try:
            if vars(module).get("__file__") != code.co_filename:
                _move(module, each.file)
            old = _compiled_or_none(each.before, code.co_filename)
            if patching is not None:
                patching.run(module, code, old)
            else:
                execute(module, code, old)
            if "__name__" not in vars(module):
                raise AttributeError("it removes its own __name__")
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - an import may raise anything, SystemExit too
            raise self._failed(each.name, error, watched) from None
        found = compare(module, code)
        if found.stale:
            drop_left(module, code, found.stale)
            found = compare(module, code)
        if found.stale:
            raise TransactionError(
                "reload_failed",
                f"{each.name} still runs the old code of {listed(found.stale, 10)} in this process",
                unchanged=True,
                hints=['Restart the process and use reload="child".'],
            )
        notices = []
        if patching is not self._patching:
            text = f"{each.name}: loaded again instead, since its source asks for its names as a mapping."
            notices.append(Notice("not_patched", text))
        if found.hidden and each.edited:
            names = listed(found.hidden, 10)
            text = f"{each.name}: whether {names} runs the new code could not be seen behind what stands for it."
            notices.append(Notice("not_compared", text))
        return tuple(notices)

    def _import(self, module: ModuleFile, file: str, source: bytes, watched: _Watched) -> tuple[Notice, ...]:
        try:
            if module.import_checked and module.path.endswith(".py"):
                importlib.import_module(module.name)
                return ()
            compile(source, file, "exec", dont_inherit=True)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - an import may raise anything, SystemExit too
            raise self._failed(module.name, error, watched) from None
        return (Notice("not_import_checked", f"{module.name}: compiled, but not import-checked."),)

    def _compiled(self, each: Loaded) -> CodeType:
        assert each.source is not None
        known = vars(each.module).get("__file__")
        same = isinstance(known, str) and Path(known).resolve() == each.file.resolve()
        name = str(known if same else each.file)
        try:
            return compile(each.source, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise self._failed(each.name, error, None) from None

    def _failed(self, name: str, error: BaseException, watched: _Watched | None) -> TransactionError:
        elsewhere = self._state.bound_elsewhere() if self._state is not None else ()
        parts = [watched.leftovers.described() if watched is not None else ""]
        parts += [f"bound or removed names of other modules ({listed(elsewhere, 10)})"] if elsewhere else []
        left = ", ".join(filter(None, parts))
        return import_failed(name, describe(error), self._addresses, here=True, left=left)

    @contextmanager
    def _watched(self, modules: Sequence[ModuleType]) -> Iterator[_Watched]:
        """Remember this process before the first change to it, and watch what is imported."""
        if self._state is None:
            self._state = ProcessState(modules, self._names)
        with self._finder.in_use():
            self._state.watch()
            try:
                yield _Watched()
            finally:
                self._state.unwatch()


class _Watched:
    """The effects of running modules beside binding names."""

    def __init__(self) -> None:
        self.leftovers = Leftovers()

    def notices(self, names: Sequence[str]) -> tuple[Notice, ...]:
        """Return notices of side effects of loading modules again, which come on top of those of the first time."""
        effects = self.leftovers.described()
        if not effects:
            return ()
        text = f"While {listed(names, 10)} ran again, something {effects}; what was there from the first time stays."
        return (Notice("ran_again", text),)


def _forget(modules: Sequence[ModuleType]) -> None:
    """Forget modules whose file is gone; those below a package that is still a folder find their parent again."""
    for name, module in list(sys.modules.items()):
        parent, _, child = name.rpartition(".")
        if any(module is gone for gone in modules):
            del sys.modules[name]
            if parent in sys.modules and vars(sys.modules[parent]).get(child) is module:
                delattr(sys.modules[parent], child)
    names = {module.__name__ for module in modules}
    for name, module in list(sys.modules.items()):
        parent, _, child = name.rpartition(".")
        above = _namespace_package(parent) if parent in names and name not in names else None
        if above is not None:
            setattr(above, child, module)


def _bring_back(cut_off: Iterable[Loaded]) -> None:
    """Let modules be found again that were forgotten with their files, and that others hold still."""
    for each in cut_off:
        parent, _, child = each.name.rpartition(".")
        sys.modules[each.name] = each.module
        if parent in sys.modules:
            setattr(sys.modules[parent], child, each.module)


def _as_loaded(names: Iterable[str]) -> list[str]:
    """Return the names of modules in the order in which they came to be loaded: Python notes each at its end."""
    order = {name: number for number, name in enumerate(list(sys.modules))}
    return sorted(names, key=lambda name: order.get(name, len(order)))


def _compiled_or_none(source: bytes | None, filename: str) -> CodeType | None:
    try:
        return None if source is None else compile(source, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None


def _future_package(each: Loaded) -> str:
    """Return the package that relative imports of the new source start from."""
    if each.file.name == "__init__.py":
        return each.module.__name__
    known = vars(each.module).get("__file__")
    moved = isinstance(known, str) and known.endswith("__init__.py")
    return each.module.__name__.rpartition(".")[0] if moved else package_of(each.module)


def _statements(each: Loaded, code: CodeType) -> list[Import]:
    """Return the import statements of a module that run: not those which were there and bound nothing.

    Such a one stands under `if TYPE_CHECKING`, and would make a cycle where there is none.
    """
    namespace = vars(each.module)
    before = _compiled_or_none(each.before, each.name)
    known = imports(before, package_of(each.module)) if before is not None else ()
    package = _future_package(each)
    found = [
        statement
        for statement in imports(code, package)
        if statement not in known or "*" in statement.bound or any(name in namespace for name in statement.bound)
    ]
    return [*found, *imports_in_classes(code, package)]


def _move(module: ModuleType, file: Path) -> None:
    """Set the new place of a module's source: `a.py` became `a/__init__.py`, or the other way round."""
    package = file.name == "__init__.py"
    folders = [str(file.parent)] if package else None
    spec = importlib.util.spec_from_file_location(module.__name__, file, submodule_search_locations=folders)
    assert spec is not None
    module.__spec__, module.__loader__ = spec, spec.loader
    module.__file__, module.__package__ = str(file), spec.parent
    vars(module)["__cached__"] = spec.cached
    if package:
        module.__path__ = folders  # type: ignore[assignment]
    else:
        vars(module).pop("__path__", None)


def _namespace_package(name: str) -> ModuleType | None:
    """Return the rest of a package without its `__init__`: a namespace package, which runs nothing."""
    if name in sys.modules:
        return sys.modules[name]
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return None
    if spec is None or spec.origin is not None:
        return None
    return importlib.import_module(name)


def _listing(modules: Mapping[str, Loaded], order: Sequence[str]) -> tuple[Notice, ...]:
    importing = [name for name in order if not modules[name].edited]
    if not importing:
        return ()
    return (Notice("reloaded", f"Loaded again in this order: {', '.join(order)}; importers: {listed(importing, 10)}."),)


def _holders(
    loaded: Sequence[Loaded], before: Mapping[str, Mapping[str, object]], codes: Mapping[str, CodeType]
) -> Holders:
    replaced = Replaced()
    for each in loaded:
        code = _compiled_or_none(each.before, each.name)
        replaced.note(each.module, before[each.name], code, gone=each.source is None)
    return holders(replaced, [(each.module, codes.get(each.name)) for each in loaded])


def _holds_old(found: Holders, reloaded: Sequence[str], *, patched: bool) -> tuple[Notice, ...]:
    notices = [] if found.complete else [_unseen(reloaded)]
    if not found.names:
        return tuple(notices)
    text = (
        f"{listed(found.names, 10)} still hold old objects of {listed(reloaded, 10)}; load them again, or restart the"
        " process. A change with cascade does so at once"
    )
    text += "." if patched else ', and reload="patch" keeps functions and classes.'
    return (Notice("holds_old_objects", text), *notices)


def _unseen(reloaded: Sequence[str]) -> Notice:
    text = f"Too much is loaded to look everywhere: who else holds old objects of {listed(reloaded, 10)} is unknown."
    return Notice("holders_unknown", text)


# Side effects of running a module in this process outside of modules: reported, since they cannot be taken back.
#
# Only what is cheap to see is looked at. It is seen by comparing before and after, so that what another thread did
# meanwhile is seen as well: the words say "meanwhile".
#
# Invariant: nothing is changed. The environment is read here, and only to tell which variables changed.

_MOST = 5


class Leftovers:
    """State of the process before modules ran."""

    def __init__(self) -> None:
        self._before = _look()

    def described(self) -> str:
        """Return the side effects since then, as a part of a sentence; "" for none."""
        before, after = self._before, _look()
        threads = [thread.name for thread in after["threads"] if thread not in before["threads"]]
        variables = _changed(before["environment"], after["environment"])
        signals = [signal.Signals(number).name for number in _changed(before["signals"], after["signals"])]
        parts = [
            _listed("started threads", threads),
            _counted("atexit registrations", after["atexit"] - before["atexit"]),
            _listed("changed environment variables", variables),
            _counted("logging handlers", after["handlers"] - before["handlers"]),
            _listed("set signal handlers", signals),
            "changed the working directory" if before["folder"] != after["folder"] else "",
            "changed sys.path" if before["path"] != after["path"] else "",
            _listed("replaced", [f"sys.{name}" for name in _changed(before["streams"], after["streams"])]),
        ]
        return ", ".join(part for part in parts if part)


def _look() -> dict[str, Any]:
    return {
        "threads": threading.enumerate(),
        "atexit": getattr(atexit, "_ncallbacks", int)(),
        "environment": dict(os.environ),
        "handlers": _logging_handlers(),
        "signals": {number: signal.getsignal(number) for number in signal.Signals},
        "folder": _folder(),
        "path": list(sys.path),
        "streams": {name: id(getattr(sys, name, None)) for name in ("stdin", "stdout", "stderr", "excepthook")},
    }


def _logging_handlers() -> int:
    logging = sys.modules.get("logging")  # a process that never imported it has none
    if logging is None:
        return 0
    loggers = [logging.getLogger(), *list(logging.Logger.manager.loggerDict.values())]
    return sum(len(logger.handlers) for logger in loggers if isinstance(logger, logging.Logger))


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - compared, never shown
    except OSError:
        return ""


def _changed(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> list[Any]:
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]


def _listed(what: str, names: list[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"{what} ({', '.join(names[:_MOST])}{more})"


def _counted(what: str, count: int) -> str:
    return f"added {what} ({count})" if count > 0 else ""
