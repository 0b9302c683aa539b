"""Try the import of changed modules in a child process, all in one go, before anything is written.

The child has the planned text of all files that change from memory (`probe`), and everything else from the disk.

Invariants:
- a module that does not import as planned, and does not as it is on the disk either, is reported and not blamed on the
  change; what it is on the disk is tried only then;
- modules that must not be imported (scripts, tests) are only compiled, and the notice says so;
- a child that hangs is stopped, and names the module that it hung in.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from bae_source.errors import TransactionError
from bae_source.model.outcome import Notice
from bae_source.model.plan import ModuleFile
from bae_source.model.text import listed
from bae_source.reloading.child.addresses import Addresses
from bae_source.reloading.child.failure import import_failed, place_of, shown
from bae_source.reloading.child.interpreter import Interpreter
from bae_source.system.child import ANSWER, CannotStart, Finished, run, scrubbed

PROBE = Path(__file__).with_name("probe.py")
_START = f"import sys; sys.path.insert(0, {str(PROBE.parent)!r}); import probe; probe.main()"
"""Code that the child runs: a module by itself, which Python need not compile each time as a script."""
_READ_BY_ALL = 2
"""The form of `marshal` that any Python reads."""
_NO_SAFE_PATH = b"nknown option"
_FAILED_BEFORE = "import_failed_before"
_BEFORE = ", and did not before this change either"
_ALREADY = f" does not import{_BEFORE}"
COMPILED = "compiled"
"""The beginning of what a notice says, for our own code, of modules that are only compiled."""
_UNPARSED = ("SyntaxError", "IndentationError", "TabError")
Contents = Mapping[str, bytes | None]
Stamp = tuple[int, int, int]
"""Times of modification and of change in nanoseconds, and size."""


class Setting(Struct, frozen=True, kw_only=True):
    """The setting in which the project's code is run.

    Parameters:
        root: the project's root.
        source_roots: the folders on `sys.path`, project-relative; "" for the root itself.
        interpreter: the project's interpreter.
        environment: the caller's environment.
        time_limit: seconds that one child may take.
        tree: the project's own folder, where `root` is a copy of it in our state; None where it is the project.
        caches: a folder of ours for what is kept of a copy from one run to the next; None likewise.
        turn: has the environment be as it is with the planned change, or without it.
    """

    root: Path
    source_roots: tuple[str, ...]
    interpreter: Interpreter
    environment: Mapping[str, str]
    time_limit: float = 30.0
    tree: Path | None = None
    caches: Path | None = None
    turn: Callable[[bool], None] = lambda with_change: None  # noqa: ARG005


def addresses_of(setting: Setting, modules: Iterable[ModuleFile]) -> Addresses:
    """Return the names of the files of a project as it is run.

    Parameters:
        modules: those whose names their paths need not tell, such as new ones.
    """
    modules = tuple(modules)
    roots = [*setting.source_roots, *(module.source_root for module in modules)]
    known = {module.path: module.name for module in modules}
    return Addresses(setting.root, roots, known, tree=setting.tree)


class _Broken(Struct, frozen=True, kw_only=True):
    """The child ended, or had to be stopped, in the middle of a module."""

    timed_out: bool
    status: int
    errors: str


class _Answers(Struct, frozen=True, kw_only=True):
    """The answers of one child: by path of the module its exception, or None; and how it broke off, if it did."""

    errors: dict[str, dict[str, Any] | None]
    broken: _Broken | None
    read: dict[str, Stamp] = {}


class _Earlier(Struct, frozen=True, kw_only=True):
    """The project before the change.

    Parameters:
        setting: where it lies.
        modules: every changed module, as it was or will be.
    """

    setting: Setting
    modules: Sequence[ModuleFile]

    def has(self, path: str) -> bool:
        """Return whether there was a file."""
        return (self.setting.root / path).is_file()

    def module(self, module: ModuleFile) -> ModuleFile | None:
        """Return the earlier file of a module: `a/__init__.py` may have been `a.py`; None for a new one."""
        own = [each for each in self.modules if (each.name, each.source_root) == (module.name, module.source_root)]
        found = (each for each in (module, *own) if _stub(each) == _stub(module) and self.has(each.path))
        return next(found, None)


class Imported(Struct, frozen=True, kw_only=True):
    """An import that was tried, and does not fail because of the change.

    Parameters:
        notices: what the caller should know.
        read: the project's files that were imported as they are on the disk, by absolute path, with their stamps.
    """

    notices: tuple[Notice, ...] = ()
    read: Mapping[str, Stamp] = {}


def check_imports(
    modules: Sequence[ModuleFile],
    planned: Contents,
    setting: Setting,
    addresses: Addresses,
    *,
    overlay: Sequence[ModuleFile],
) -> Imported:
    """Import or compile `modules`, whose files exist once the change is made, as they are planned.

    Parameters:
        planned: the content of every changed file as planned, None where it goes.
        addresses: the names of the project's files.
        overlay: every changed module, also those that go or are checked elsewhere.

    Raises:
        TransactionError: `reload_failed` or `timed_out`; nothing was written.
        CannotStart: the interpreter cannot be started.
    """
    earlier = _Earlier(setting=setting, modules=overlay)
    notices: list[Notice] = []
    read: dict[str, Stamp] = {}
    pending = list(modules)
    while pending:
        setting.turn(True)
        answers = _ask(pending, setting, planned)
        read |= answers.read
        tried = [module for module in pending if module.path in answers.errors]
        broken = [module for module in pending[len(tried) : len(tried) + 1] if answers.broken]
        failed = [module for module in tried if answers.errors[module.path]] + broken
        _refuse_hanging(answers, broken, setting)
        failures = _failed_before(failed, earlier)
        packages = _in_broken_packages(failed, answers, earlier)
        failures |= dict.fromkeys(packages)
        blamed = [module for module in failed if module.path not in failures]
        if blamed:
            raise _blamed(blamed, answers, addresses)
        notices += _not_imported(module for module in tried if module not in failed)
        notices += (
            _failed_already(
                module.name,
                answers.errors.get(module.path),
                failures[module.path],
                addresses,
                setting,
                package=packages.get(module.path),
            )
            for module in failed
        )
        pending = pending[len(tried) + len(broken) :]
    return Imported(notices=tuple(notices), read=read)


def is_noted_before(error: TransactionError, notices: Iterable[Notice]) -> bool:
    """Return whether notices tell that the failed import of an error failed before the change, in the same way."""
    about = error.details.get("module", ""), error.details.get("problem", "")
    return any(notice.code == _FAILED_BEFORE and notice.about == about for notice in notices)


def gathered(notices: Iterable[Notice]) -> list[Notice]:
    """Return notices with those as one that say the same of several modules."""
    found: dict[tuple[str, str], list[Notice]] = {}
    for notice in notices:
        same = notice.message  # of a new module the package is named, too
        if notice.code == _FAILED_BEFORE and notice.about and same.startswith(f"{notice.about[0]}{_ALREADY}"):
            same = notice.about[1]
        found.setdefault((notice.code, same), []).append(notice)
    return [each[0] if len(each) == 1 else _as_one(each) for each in found.values()]


def _as_one(notices: Sequence[Notice]) -> Notice:
    first = notices[0]
    if all(notice.message == first.message for notice in notices):
        return first
    problem = first.about[1]
    names = listed(notice.about[0] for notice in notices)
    again = first.message.partition(problem)[2]
    message = f"{names} do not import, and did not before this change either: {problem}{again}"
    return Notice(first.code, message, first.about)


def _failed_before(failed: Sequence[ModuleFile], earlier: _Earlier) -> dict[str, dict[str, Any] | None]:
    """Return the paths of these modules that did not import before the change either; a new one is not among them.

    Returns:
        By path the exception; None if the import ended the child.
    """
    old = {was.path: module.path for module in failed if (was := earlier.module(module))}
    left = [was for module in failed if (was := earlier.module(module))]
    found: dict[str, dict[str, Any] | None] = {}
    earlier.setting.turn(False)
    while left:
        answers = _ask(left, earlier.setting, {})
        found |= {old[path]: error for path, error in answers.errors.items() if error is not None}
        left = left[len(answers.errors) :]
        if left and answers.broken:
            found[old[left.pop(0).path]] = None
    return found


def _in_broken_packages(failed: Sequence[ModuleFile], answers: _Answers, earlier: _Earlier) -> dict[str, str]:
    """Return the packages that failed before the change just as new modules in them do now, by the modules' paths."""
    packages = {
        module.path: package
        for module in failed
        if earlier.module(module) is None and (package := _package_before(module, earlier))
    }
    if not packages:
        return {}
    asked = list({package.path: package for package in packages.values()}.values())
    then = _ask(asked, earlier.setting, {}).errors
    return {
        path: package.name
        for path, package in packages.items()
        if then.get(package.path) and _identity(then[package.path]) == _identity(answers.errors.get(path))
    }


def _package_before(module: ModuleFile, earlier: _Earlier) -> ModuleFile | None:
    """Return the innermost package around a module that was there before the change."""
    folder, name = module.path.rpartition("/")[0], module.name.rpartition(".")[0]
    if module.package:
        folder = folder.rpartition("/")[0]
    while name and folder:
        path = f"{folder}/__init__.py"
        if earlier.has(path):
            return ModuleFile(name=name, path=path, source_root=module.source_root, package=True)
        folder, name = folder.rpartition("/")[0], name.rpartition(".")[0]
    return None


def _identity(error: Mapping[str, Any] | None) -> tuple[object, object] | None:
    return None if error is None else (error.get("type"), error.get("message"))


def _refuse_hanging(answers: _Answers, broken: Sequence[ModuleFile], setting: Setting) -> None:
    if answers.broken is None or not answers.broken.timed_out:
        return
    name = broken[0].name if broken else "the changed code"
    raise TransactionError(
        "timed_out",
        f"Importing {name} took longer than {setting.time_limit:g} seconds and was stopped",
        unchanged=True,
        hints=[
            "Keep work that takes long, or waits, out of the module's top level.",
            'reload="off" skips this check; reload="process" loads the change here only.',
        ],
        details={"module": name},
    )


def _blamed(blamed: Sequence[ModuleFile], answers: _Answers, addresses: Addresses) -> TransactionError:
    name = blamed[0].name
    described = answers.errors.get(blamed[0].path)
    if described is not None:
        return import_failed(name, described, addresses, here=False, others=[module.name for module in blamed[1:]])
    assert answers.broken is not None
    return TransactionError(
        "reload_failed",
        f"Importing {name} ended the interpreter (status {answers.broken.status})",
        unchanged=True,
        hints=["Look for os._exit, a signal, or a crash of an extension module at the module's top level."],
        details={"module": name, "traceback": addresses.convert(answers.broken.errors)},
    )


def _not_imported(modules: Iterable[ModuleFile]) -> tuple[Notice, ...]:
    names = [module.name for module in modules if not module.import_checked and not _stub(module)]
    if not names:
        return ()
    text = f"{listed(names)}: compiled, but not import-checked."
    return (Notice("not_import_checked", text, (COMPILED, *names)),)


def _failed_already(
    name: str,
    described: dict[str, Any] | None,
    earlier: dict[str, Any] | None,
    addresses: Addresses,
    setting: Setting,
    *,
    package: str | None,
) -> Notice:
    problem = "its import ends the interpreter" if described is None else shown(described, addresses)
    around = f": {package} does not" if package is not None else ""  # of a new module the package around it
    about: tuple[str, ...] = (name, problem)
    text = f"{name} does not import{around}{_BEFORE}: {problem}."
    if described and earlier and _is_another(name, described, earlier, addresses):
        text = f"{name} does not import: {problem}. It did not before this change either: {shown(earlier, addresses)}."
        about = ()
    again = f"It was tried with the Python of {setting.interpreter.origin}; [tool.bae-source] python names another."
    return Notice(_FAILED_BEFORE, f"{text} {again}", about)


def _is_another(name: str, now: dict[str, Any], earlier: dict[str, Any], addresses: Addresses) -> bool:
    """Return whether a module fails otherwise than before, when it was not its own code that failed.

    Who mends one of its faults meets the next one.
    """
    if _identity(now) == _identity(earlier) or earlier["type"] in _UNPARSED:
        return False
    place = place_of(earlier, addresses)
    return place is not None and place.rpartition(":")[0] != name


def _stub(module: ModuleFile) -> bool:
    return module.path.endswith(".pyi")


def _ask(modules: Sequence[ModuleFile], setting: Setting, planned: Contents) -> _Answers:
    """Run one child on the project as it lies on the disk, but for files that have other text."""
    asked = marshal.dumps(_request(modules, setting, planned), _READ_BY_ALL)
    finished = _started(setting, asked)
    if not finished.answer and not finished.timed_out:
        lines = finished.errors.decode("utf-8", "replace").strip().splitlines()
        raise CannotStart(lines[-1] if lines else f"it ended with status {finished.status}")
    return _answers(finished)


def _started(setting: Setting, asked: bytes) -> Finished:
    for flags in (["-P"], []):  # -P came with Python 3.11; without it the script cleans sys.path itself
        finished = run(
            [setting.interpreter.path, *flags, "-c", _START, ANSWER],
            folder=setting.root,
            environment=scrubbed(setting.environment),
            time_limit=setting.time_limit,
            given=asked,
        )
        if finished.answer or finished.timed_out or _NO_SAFE_PATH not in finished.errors:
            break
    return finished


def _request(modules: Sequence[ModuleFile], setting: Setting, planned: Contents) -> dict[str, Any]:
    folders = dict.fromkeys([*(module.source_root for module in modules), *setting.source_roots])
    root = Path(setting.root).resolve()
    return {
        "roots": [str(root / folder) for folder in folders],
        "project": str(root),
        "files": {str(root / path): content for path, content in planned.items()},
        "jobs": [
            {
                "key": module.path,
                "name": module.name,
                "path": str(root / module.path),
                "import": module.import_checked and not _stub(module),
            }
            for module in modules
        ],
    }


def _answers(finished: Finished) -> _Answers:
    """Read the child's lines; without the last of them it broke off behind the last module it speaks of."""
    errors: dict[str, dict[str, Any] | None] = {}
    for text in finished.answer.splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            break  # the child was stopped in the middle of a line
        if "finished" in line:
            read = {path: (stamp[0], stamp[1], stamp[2]) for path, stamp in line["read"].items()}
            return _Answers(errors=errors, broken=None, read=read)
        if "key" in line:
            errors[line["key"]] = line["error"]
    stderr = finished.errors.decode("utf-8", "replace")
    return _Answers(errors=errors, broken=_Broken(timed_out=finished.timed_out, status=finished.status, errors=stderr))
