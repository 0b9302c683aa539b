"""Load a planned change: check that it imports, and bring it into this process where that has the modules.

    auto      the import is tried in a child; then modules loaded in this process are loaded again in place
    patch     like auto, but functions and classes stay the same objects and take the new code
    process   everything in this process; an import is tried in a child only where the caller asked for it
    child     everything in a child
    off       nothing is loaded

`try_imports` judges in a child, before anything is locked; `load` is the transaction's, just before it writes. Both
take the planned text from memory: the files are as they were before the change.

With `cascade`, the project's modules that import the changed ones, and that this process has loaded, follow them in
the order of their imports: loaded again in this process, or with `child` imported there.

A module that is loaded is no judge of its own import: the names that the new source lacks are still there while it
runs. So only a child's word is an import that was tried.

Invariants:
- compiled files that may be taken for changed sources are removed before and after writing, in every mode;
- this process is touched only once the children agree;
- a changed module that is loaded here and not loaded again is named, also where the mode is to load none here;
- a module that fails here as a child says it failed before the change is not blamed, and keeps its old code;
- `roll_back` puts this process back as it was before `load`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from msgspec import Struct

from bae_source.errors import TransactionError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile, ReloadMode
from bae_source.model.text import listed
from bae_source.reloading.child.import_check import (
    Contents,
    Imported,
    Setting,
    Stamp,
    addresses_of,
    check_imports,
    is_noted_before,
)
from bae_source.reloading.in_process.cascade import importers, loaded_modules
from bae_source.reloading.in_process.present import cut_off, loaded_from, why_not_loaded_again
from bae_source.reloading.in_process.this_process import Loaded, ThisProcess, keeps_old_code
from bae_source.reloading.patch.comparison import has_loaded
from bae_source.system.child import CannotStart
from bae_source.system.compiled import HEADER, is_taken, may_pass


class Reload:
    """Loads one planned change.

    Parameters:
        mode: where modules are loaded.
        setting: how the project's code is run.
        modules: those whose files change.
        before, after: content by project-relative path of every file that changes; None where there is none.
        cascade: whether loaded modules of the project that import the changed ones are loaded again as well.
        imports: whether the caller asked for the import by name; `process` tries none otherwise.
        users: modules to import in a child as well, since they use what the change takes away.
        tried: what a child came to, where it has tried the same change already.
    """

    def __init__(
        self,
        mode: ReloadMode,
        setting: Setting,
        modules: Sequence[ModuleFile],
        before: Contents,
        after: Contents,
        *,
        cascade: bool = False,
        imports: bool = False,
        users: Sequence[ModuleFile] = (),
        tried: tuple[Notice, ...] = (),
    ) -> None:
        self._mode = mode
        self._setting = setting
        self._cascade = cascade
        self._imports = imports
        self._users = tuple(users)
        self._root = Path(setting.root).resolve()
        self._modules = tuple(module for module in modules if module.path in before)
        self._before, self._after = before, after
        sources = [self._root / path for path in before if path.endswith(".py")]
        self._since = {source: _modified(source) for source in sources}
        self._addresses = addresses_of(setting, modules)
        self._tried = tried
        self._read: Mapping[str, Stamp] = {}
        self._here: ThisProcess | None = None

    def anew(self) -> Reload:
        """Return a loader of the same change, for the time after it was undone."""
        return Reload(
            self._mode,
            self._setting,
            self._modules,
            self._before,
            self._after,
            cascade=self._cascade,
            imports=self._imports,
            users=self._users,
            tried=self._tried,
        )

    def changed_since(self) -> list[str]:
        """Return the modules, not those of the change, whose files changed since a child imported them."""
        own = {str(self._root / path) for path in self._after}
        changed = (path for path, stamp in self._read.items() if path not in own and _stamp(path) != stamp)
        return [self._addresses.module(path) or path for path in changed]

    def tries(self) -> bool:
        """Return whether a child tries an import."""
        return bool(self._to_try())

    def imports_some(self) -> bool:
        """Return whether a child imports changed modules and users of what goes, instead of only compiling them."""
        changed = any(module.import_checked and not module.path.endswith(".pyi") for module in self._to_try())
        return changed and all(module.import_checked for module in self._users)

    def try_imports(self) -> tuple[Notice, ...]:
        """Have a child import what is planned, and return what the caller should know.

        Raises:
            TransactionError: `reload_failed`, `timed_out`, or `verify_failed` where nothing could be tried.
        """
        modules = self._to_try()
        if modules:
            imported = self._check_in_child(modules)
            self._tried, self._read = imported.notices, imported.read
        return self._tried

    def load(self) -> tuple[Notice, ...]:
        """Have this process load what is planned.

        Raises:
            TransactionError: `reload_failed`.
        """
        self._remove_bytecode(self._after)  # a process that dies right after the files are replaced leaves the new ones
        if self._mode in ("off", "child"):
            return self._untouched()
        loaded = self._loaded()
        again = [*loaded, *(self._following(loaded) if self._cascade else ())]
        notices = (*self._load_again(again, self._tried), *self._left_alone(), *self._data(again))
        if self._mode != "process":
            return notices
        return (*notices, *self._here_now().import_new(self._present(loaded), self._root, self._after))

    def _data(self, loaded: Sequence[Loaded]) -> tuple[Notice, ...]:
        """Name the data files that change along with modules that are loaded again, and are not written yet."""
        modules = {module.path for module in self._modules}
        names = [self._addresses.module(str(self._root / path)) or path for path in self._after if path not in modules]
        if not loaded or not names:
            return ()
        text = f"Modules were loaded again here before {listed(names, 5)} was written"
        return (Notice("data_not_loaded", f"{text}; load them again if they read it on import."),)

    def written(self) -> tuple[Notice, ...]:
        """Remove compiled files that may be taken for what was written, and name those that cannot be."""
        importlib.invalidate_caches()
        return self._remove_bytecode(self._after)

    def roll_back(self) -> None:
        """Put this process back; the files are back already."""
        self._remove_bytecode(self._before)
        if self._here is not None:
            self._here.restore()
        importlib.invalidate_caches()

    def _to_try(self) -> list[ModuleFile]:
        """Return the modules that a child imports."""
        if self._mode == "off":
            return []
        present = self._present(())
        if self._mode == "child":
            following = self._following(self._loaded()) if self._cascade else []
            return [*present, *map(self._module_file, following), *self._users]
        if self._mode == "process":
            present = [module for module in present if module.import_checked] if self._imports else []
        return [*present, *self._users]

    def _here_now(self) -> ThisProcess:
        """Return the loader of modules in this process, which remembers their old state."""
        if self._here is None:
            planned = [(module, self._after.get(module.path)) for module in self._modules]
            self._here = ThisProcess(self._root, planned, self._addresses, patch=self._mode == "patch")
        return self._here

    def _load_again(self, loaded: Sequence[Loaded], tried: Sequence[Notice]) -> tuple[Notice, ...]:
        """Load modules again here; those that fail as they did before the change keep what they have.

        Parameters:
            tried: a child's notices of the changed modules.
        """
        try:
            return self._here_now().load_again(loaded)
        except TransactionError as error:
            others = [each for each in loaded if each.name != error.details.get("module")]
            if len(others) == len(loaded) or not is_noted_before(error, tried):
                raise self._only_here(error, tried) from None
            kept = keeps_old_code(error.details["module"], "it does not import")
        self._here_now().restore()
        self._here = None
        return (kept, *self._load_again(others, tried))

    def _only_here(self, error: TransactionError, tried: Sequence[Notice]) -> TransactionError:
        """Return the error of a module that does not load again here, and says if a child imports it."""
        name, problem = error.details.get("module"), error.details.get("problem")
        changed = {each.name for each in self._present(()) if each.import_checked}
        if self._mode == "process" or name not in changed or problem is None or tried:
            return error
        at = f", at {error.details['place']}" if error.details["place"] else ""
        return TransactionError(
            error.code,
            f"{name} imports with the change, but cannot be loaded again in this process: {problem}{at}",
            unchanged=True,
            hints=['reload="child" makes the change and leaves what this process has loaded.', *error.hints[1:]],
            details=error.details,
        )

    def _remove_bytecode(self, contents: Contents) -> tuple[Notice, ...]:
        """Remove what might be taken for files that have these contents now, or are about to; say what stays."""
        sources: dict[Path, Replaced] = {}
        for path, content in contents.items():
            source = self._root / path
            if content is not None and source in self._since:
                since = self._since[source]
                since = _modified(source) if since is None else since  # it was made
                if since is not None:
                    sources[source] = Replaced(len(content), since)
        prefixes = filter(None, [self._setting.environment.get("PYTHONPYCACHEPREFIX"), sys.pycache_prefix])
        # one that is relative means a folder below where a Python runs: here, or where the project's own are run
        folders = [folder for prefix in prefixes for folder in (prefix, str(self._root / prefix))]
        stale = [self._addresses.module(str(source)) for source in remove_bytecode(sources, prefixes=folders)]
        names = listed([name for name in stale if name], 10)
        if not names:
            return ()
        text = (
            f"{names}: a compiled file of another source cannot be removed, and Python takes it for this one; remove "
            "it from `__pycache__`, or save the source again."
        )
        return (Notice("stale_bytecode", text),)

    def _loaded(self) -> list[Loaded]:
        """Return the modules of this process that the change concerns."""
        found = []
        for known in self._modules:
            if not known.import_checked or not known.path.endswith(".py"):
                continue
            now = self._now(known)
            found += [
                Loaded(
                    module=module,
                    file=self._root / now,
                    source=self._after.get(now),
                    before=self._before.get(known.path),
                )
                for module in loaded_from(self._root / known.path) or self._cut_off(known)
            ]
        return found

    def _cut_off(self, new: ModuleFile) -> tuple[ModuleType, ...]:
        """Return the module of a file that comes back, if others hold it still."""
        module = cut_off(self._root / new.path) if self._before.get(new.path) is None else None
        return () if module is None else (module,)

    def _left_alone(self) -> tuple[Notice, ...]:
        """Name the changed modules whose code this process has and cannot load again."""
        found = []
        for known in self._modules:
            file = self._root / known.path
            if self._after.get(known.path) is None or self._before.get(known.path) is None or file.suffix != ".py":
                continue
            reason = why_not_loaded_again(known.name, file)
            if not known.import_checked and loaded_from(file):
                reason = "modules such as tests and scripts are only compiled"
            found += [keeps_old_code(known.name, reason)] if reason else []
        return tuple(found)

    def _untouched(self) -> tuple[Notice, ...]:
        """Name the changed modules that this process has loaded, where the mode is to load none here.

        One that runs the functions of the new source all the same, since the change takes back what it never loaded,
        is not named.
        """
        found = []
        for known in self._modules:
            file, was, now = self._root / known.path, self._before.get(known.path), self._after.get(known.path)
            loaded = loaded_from(file) if was is not None and was != now else ()
            is_main = why_not_loaded_again(known.name, file) if was is not None else ""
            if is_main or any(now is None or not has_loaded(module, before=was, now=now) for module in loaded):
                reason = f'reload="{self._mode}" loads nothing here'
                found.append(keeps_old_code(known.name, is_main or reason))
        return tuple(found)

    def _now(self, module: ModuleFile) -> str:
        """Return the path of a module's source after the change: `a.py` may have become `a/__init__.py`."""
        if self._after.get(module.path) is not None:
            return module.path
        others = (other for other in self._modules if other.name == module.name and other.path.endswith(".py"))
        return next((other.path for other in others if self._after.get(other.path) is not None), module.path)

    def _present(self, loaded: Sequence[Loaded]) -> list[ModuleFile]:
        """Return the modules whose files exist and that were not among `loaded`."""
        done = {each.file for each in loaded}
        return [
            module
            for module in self._modules
            if self._after.get(module.path) is not None
            and (not module.import_checked or self._root / module.path not in done)
        ]

    def _following(self, loaded: Sequence[Loaded]) -> list[Loaded]:
        """Return the loaded modules of the project that import what changed."""
        folders = {*self._setting.source_roots, *(module.source_root for module in self._modules)}
        present = loaded_modules(self._root / folder for folder in folders)
        names = importers([each.name for each in loaded], present)
        edited = {self._root / module.path for module in self._modules}
        found = [self._importer(present[name]) for name in names]
        return [each for each in found if each is not None and each.file not in edited]

    def _importer(self, module: ModuleType) -> Loaded | None:
        file = Path(vars(module)["__file__"]).resolve()
        try:
            source = file.read_bytes()
        except OSError:
            return None
        return Loaded(module=module, file=file, source=source, before=source, edited=False)

    def _module_file(self, importer: Loaded) -> ModuleFile:
        path = importer.file.relative_to(self._root).as_posix()
        return ModuleFile(name=importer.name, path=path, package=importer.file.name == "__init__.py")

    def _check_in_child(self, modules: Sequence[ModuleFile]) -> Imported:
        try:
            return check_imports(modules, self._after, self._setting, self._addresses, overlay=self._modules)
        except CannotStart as error:
            return self._not_started(modules, str(error))
        except OSError as error:
            return self._not_started(modules, error.strerror or "an error of the system")

    def _not_started(self, modules: Sequence[ModuleFile], problem: str) -> Imported:
        """Report an interpreter that does not start; where the caller asked for a child, that is a failure."""
        problem = self._addresses.convert(problem).rstrip(".")
        message = f"the project's interpreter ({self._setting.interpreter.origin}) cannot be started: {problem}"
        if self._mode == "child":
            raise TransactionError(
                "verify_failed",
                f"The change could not be checked: {message}",
                unchanged=True,
                hints=["Set [tool.bae-source] python to the project's interpreter.", 'reload="off" skips this check.'],
                details={"interpreter": self._setting.interpreter.path},
            )
        names = ", ".join(module.name for module in modules)
        notice = Notice("not_import_checked", f"{names}: not import-checked, because {message}.")
        return Imported(notices=(notice,))


def _stamp(path: str) -> Stamp | None:
    """Return the stamp of a file; None where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size


def _modified(path: Path) -> int | None:
    """Return the time of a file's last modification in whole seconds; None where there is none."""
    try:
        return int(path.stat().st_mtime)
    except OSError:
        return None


# Remove compiled files that may be taken for changed sources.
#
# A compiled file is told from its source's time of modification in whole seconds and its size: after an edit of the
# same size within the same second Python would silently run the old code.
#
# Invariants:
# - what any Python compiled, whatever its version, and pytest with it, is looked for beside the source and below the
#   folders where compiled files are gathered; nothing behind a linked `__pycache__` is touched;
# - one that cannot be removed, and that Python takes for the source as it is now, is reported;
# - what Python sees by itself to be of another source stays: it may be part of the user's repository.


class Replaced(Struct, frozen=True):
    """Facts about a source that a change replaces.

    Parameters:
        size: bytes that it has now.
        since: it was not modified before, in whole seconds since the epoch.
    """

    size: int
    since: int


def remove_bytecode(sources: Mapping[Path, Replaced], *, prefixes: Iterable[str] = ()) -> tuple[Path, ...]:
    """Remove what any Python has compiled and might take for these files.

    Parameters:
        sources: by absolute path.
        prefixes: folders that gather compiled files, beside the one that this process uses.

    Returns:
        The files for which Python takes one that could not be removed, as they are now.
    """
    gathered = [Path(prefix) for prefix in {*prefixes, *([sys.pycache_prefix] if sys.pycache_prefix else [])}]
    stale: dict[Path, None] = {}
    for source, replaced in sources.items():
        below = source.parent.relative_to(source.anchor)
        for folder in (source.parent / "__pycache__", *(prefix / below for prefix in gathered)):
            is_own = not folder.is_symlink()
            for compiled in folder.glob(f"{_literal(source.stem)}.*.pyc"):
                header = _header(compiled)
                if is_own and may_pass(header, size=replaced.size, since=replaced.since):
                    _remove(compiled)
                if _is_taken(header, source) and compiled.exists():
                    stale[source] = None
    return tuple(stale)


def _is_taken(header: bytes, source: Path) -> bool:
    try:
        status = source.stat()
    except OSError:
        return False
    return is_taken(header, size=status.st_size, modified=int(status.st_mtime))


def _literal(stem: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in stem)


def _header(compiled: Path) -> bytes:
    """Return the first bytes of a compiled file; nothing where they cannot be read, or where it is a link."""
    try:
        file = os.open(compiled, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, HEADER)
    except OSError:
        return b""
    finally:
        os.close(file)


def _remove(compiled: Path) -> None:
    try:
        compiled.unlink(missing_ok=True)
    except OSError:
        return
