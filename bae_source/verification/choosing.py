"""The judges of a change, made from the caller's wishes and the project's settings.

    foreseen       by the plan alone: import cycles, data files that are still named
    judging_of     by running code: loading, and what `verify` names of tests, types and commands

Invariant: the symbols, tests and files that are concerned are worked out here, from the plan; what runs them knows
paths and names only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bae_source.errors import ResourceError, TransactionError
from bae_source.model.context import COMMAND, Context
from bae_source.model.outcome import Check, Notice
from bae_source.model.plan import Plan
from bae_source.model.text import Progress
from bae_source.project.files.settings import own_settings
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.import_check import Contents, Setting
from bae_source.reloading.child.interpreter import find_interpreter
from bae_source.reloading.reload import Reload
from bae_source.resources.tests.collected import are_of_unittest
from bae_source.resources.tests.kept import Runs
from bae_source.resources.tests.settings import has_settings
from bae_source.state.folders import StateFolders
from bae_source.system.hashing import sha256
from bae_source.system.programs import find_program
from bae_source.verification.command import Command
from bae_source.verification.configured import mypy_has_targets, wanted_checkers
from bae_source.verification.data_named import still_named
from bae_source.verification.judge import Copied, Judge
from bae_source.verification.judging import Found, Judging, Wanted
from bae_source.verification.remembered import Remembered
from bae_source.verification.tests_judge import TestsJudge
from bae_source.verification.type_check import TypeCheck
from bae_source.verification.type_checkers import CHECKERS

if TYPE_CHECKING:
    from bae_source.verification.type_checkers import TypeChecker

_SECONDS = 300.0
_SETTINGS = ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", "conftest.py", "tests/conftest.py")
"""Files on which it depends whether tests and commands can judge in a copy."""


def foreseen(workspace: Workspace, plan: Plan, context: Context) -> tuple[Notice | Check, ...]:
    """Judge a change by its plan alone.

    Parameters:
        workspace: the project as it is before the change.

    Returns:
        What the caller should know, and what was verified.

    Raises:
        Refused: `unsafe_change` if the change creates a cycle of imports, and the request has `cycles`.
    """
    found: list[Notice | Check] = list(_still_named(workspace, plan))
    if "cycles" in context.verify:
        from bae_source.verification.cycles import check_cycles

        found += check_cycles(workspace, plan.changes)
    return tuple(found)


def _still_named(workspace: Workspace, plan: Plan) -> Iterator[Notice]:
    """Yield notices of data files that go, and code still names."""
    if any(file.after is None for file in plan.changes.files):
        yield from still_named(workspace, plan)


def reload_of(setting: Setting, workspace: Workspace, plan: Plan, context: Context) -> Reload:
    """Return the loader of a change, which is used once."""
    before, after = contents_of(workspace, plan)
    return Reload(
        context.reload,
        setting,
        plan.modules,
        before,
        after,
        cascade=context.cascade,
        imports="import" in context.verify,
        users=plan.users,
    )


def contents_of(workspace: Workspace, plan: Plan) -> tuple[Contents, Contents]:
    """Return the contents of a change's files before and after it, by path; None where there is none."""
    before = {file.path: workspace.content(file.path) for file in plan.changes.files}
    after = {
        file.path: None if file.after is None else file.apply(before[file.path] or b"") for file in plan.changes.files
    }
    return before, after


def judging_of(
    reload: Reload,
    setting: Setting,
    folders: StateFolders,
    workspace: Workspace,
    plan: Plan,
    context: Context,
    verdicts: dict[str, Found],
    progress: Progress,
    always: tuple[Judge, ...] = (),
) -> tuple[Judging, Copied]:
    """Return the judges of a change, and the copy in which they run, to be let go afterwards.

    Parameters:
        setting: how code is run in the project, and how long it may take.
        workspace: the project as it is before the change.
        verdicts: of an earlier attempt of the same request, by name.
        progress: called for each file that is copied, and each test that ends.
        always: what judges it whatever `verify` names.

    Raises:
        RequestError: `invalid_arguments` for a command that there is not.
        TransactionError: `verify_failed` if there is no type checker; nothing has been written.
    """
    loads = "import" in context.verify or (context.reload in ("auto", "patch", "child") and not context.dry_run)
    wanted = Wanted(
        imports="import" if loads else "",
        judges=[*always, *_judges(folders, workspace, setting, plan, context, progress)],
        verdicts=verdicts,
        remembered=Remembered(folders, sha256(b"\0".join(workspace.own_content(path) or b"" for path in _SETTINGS))),
    )
    copied = Copied(folders, setting, contents_of(workspace, plan)[1], lambda n, of: progress(n, of, "files copied"))
    return Judging(reload, wanted, copied, digest=plan.changes.digest), copied


def setting_of(root: Path, environment: Mapping[str, str], workspace: Workspace) -> Setting:
    """Return the setting for the project's code."""
    python = own_settings(workspace.files).get("python")
    interpreter = find_interpreter(
        root, setting=python if isinstance(python, str) else None, virtual_env=environment.get("VIRTUAL_ENV")
    )
    return Setting(root=root, source_roots=workspace.layout.roots, interpreter=interpreter, environment=environment)


def _judges(
    folders: StateFolders, workspace: Workspace, setting: Setting, plan: Plan, context: Context, progress: Progress
) -> Iterator[Judge]:
    after = workspace.after(plan.changes)
    for name in dict.fromkeys(context.verify):
        if name == "tests":
            yield _tests(folders, workspace, after, plan, progress)
        elif name == "types":
            yield _types(setting, workspace, after, plan)
        elif name.startswith(COMMAND):
            yield Command(name.removeprefix(COMMAND).strip(), setting, plan.modules)


def _tests(folders: StateFolders, before: Workspace, after: Workspace, plan: Plan, progress: Progress) -> Judge:
    from bae_source.verification.affected import chosen_tests

    kept = Runs(folders).last_whole()
    return TestsJudge(
        lambda whole: chosen_tests(before, after, plan, whole=whole),
        plan.modules,
        meanwhile=has_settings(after.files),
        by_unittest=are_of_unittest(after),
        last=None if kept is None else kept.run,
        progress=progress,
        keeps_back=before.keeps_back,
    )


def _types(setting: Setting, before: Workspace, after: Workspace, plan: Plan) -> Judge:
    from bae_source.project.importing.graph import ImportGraph

    checker, program = _checker(setting, before)
    files: list[str] | None = None
    if checker.takes_files and not mypy_has_targets(before.files):
        changed = [module.path for module in plan.modules if module.path.endswith((".py", ".pyi"))]
        files = ImportGraph(after, after.census, typing=True).importing(changed)
    return TypeCheck(checker, program, plan.modules, files=files, places=_Places(before, after))


def _checker(setting: Setting, workspace: Workspace) -> tuple[TypeChecker, str]:
    """Return the type checker that the project is set up for, and where it is."""
    names, is_set_up = wanted_checkers(workspace.files)
    for name in names:
        program = find_program(name, setting.interpreter.path, setting.environment.get("PATH", ""))
        if program is not None:
            return CHECKERS[name], program
    whose = f"{' and '.join(names)}, for which the project is set up," if is_set_up else "A type checker"
    raise TransactionError(
        "verify_failed",
        f"{whose} is not installed for the project's Python ({setting.interpreter.origin}); nothing was written.",
        hints=[f"Install {' or '.join(names)} there.", "[tool.bae-source] types names another one."],
    )


class _Places:
    """Tells the symbol around a line, before a change and after it."""

    def __init__(self, before: Workspace, after: Workspace) -> None:
        self._before = before
        self._after = after

    def before(self, path: str, line: int) -> str:
        """Return the address of the innermost definition around a line, as it was."""
        return symbol_at(self._before, path, line)

    def after(self, path: str, line: int) -> str:
        """Likewise, as it will be."""
        return symbol_at(self._after, path, line)

    def was(self, address: str) -> bool:
        """Return whether there was such a symbol."""
        return _is_there(self._before, address)

    def will_be(self, address: str) -> bool:
        """Return whether there will be."""
        return _is_there(self._after, address)


def symbol_at(workspace: Workspace, path: str, line: int) -> str:
    """Return the address of the innermost definition around a line; of the module where none is."""
    return symbols_in(workspace, path)(line)


def symbols_in(workspace: Workspace, path: str) -> Callable[[int], str]:
    """Return a function from lines of a file to symbols, as `symbol_at`, which reads the file once."""
    module = workspace.census.module(path)
    name = module.name if module else path.rpartition(".")[0].replace("/", ".")
    try:
        entries = workspace.index.summary(path).entries
    except ResourceError:
        return lambda _: name

    def at(line: int) -> str:
        names: list[str] = []
        inside: dict[int, int] = {}
        for number, entry in enumerate(entries):
            around = entry.parent in inside or entry.parent < 0
            if around and entry.first <= line <= entry.last:
                inside = {number: entry.parent}
                names = [*(names if entry.parent >= 0 else ()), entry.component or entry.names[0]]
        return ".".join((name, *names))

    return at


def _is_there(workspace: Workspace, address: str) -> bool:
    try:
        resolve(workspace, address)
    except ResourceError:
        return False
    return True


def patient(setting: Setting, workspace: Workspace) -> Setting:
    """Return a setting with the time that one run of tests, of a checker or of a command may take."""
    seconds = own_settings(workspace.files).get("verify-seconds")
    usable = isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds > 0
    return replace(setting, time_limit=float(seconds) if usable and seconds is not None else _SECONDS)
