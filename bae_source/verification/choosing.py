"""What judges a change: made from the caller's wishes and the project's settings.

    foreseen       before anything is written, in a dry run too: import cycles, data files that are still named
    verifier_of    once it is written: loading, and what `verify` names of tests, types and commands

Invariant: the symbols, tests and files that are concerned are worked out here, from the plan; what runs them knows
paths and names only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import asdict, replace

from bae_source.errors import ResourceError, TransactionError
from bae_source.model.context import COMMAND, Context
from bae_source.model.outcome import CHECKS, Check, Notice, Result
from bae_source.model.plan import ModuleFile, Plan
from bae_source.project.files.settings import own_settings
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.import_check import Setting
from bae_source.reloading.child.interpreter import find_interpreter
from bae_source.reloading.reload import Reload
from bae_source.system.programs import find_program
from bae_source.transaction.commit.verifier import Contents, Verifier

if TYPE_CHECKING:
    from bae_source.verification.type_checkers import TypeChecker

_SECONDS = 300.0
_UNCHECKED: Mapping[str, Result] = {"not_import_checked": "not_run", "import_failed_before": "failed_before"}
_LONGEST = 200
"""Characters of the message of a failed check; the error has all of it."""


def foreseen(workspace: Workspace, plan: Plan, context: Context) -> tuple[Notice | Check, ...]:
    """Judge a change by its plan alone.

    Parameters:
        workspace: the project as it is before the change.

    Returns:
        What the caller should know, and what was verified; in a dry run also what is not verified by it.

    Raises:
        Refused: `unsafe_change` if the change creates a cycle of imports, and `cycles` is asked for.
    """
    found: list[Notice | Check] = list(_still_named(workspace, plan))
    if "cycles" in context.verify:
        from bae_source.verification.cycles import check_cycles

        found += check_cycles(workspace, plan.changes)
    if context.dry_run:
        later = [name for name in dict.fromkeys(context.verify) if name != "cycles"]
        found += (Check(name=name, result="not_run", detail="only when the change is made") for name in later)
    return tuple(found)


def _still_named(workspace: Workspace, plan: Plan) -> Iterator[Notice]:
    """Yield what to say of data files that go, and code still names."""
    if any(file.after is None for file in plan.changes.files):
        from bae_source.verification.data_named import still_named  # a search of all text

        yield from still_named(workspace, plan)


def verifier_of(
    root: Path, environment: Mapping[str, str], workspace: Workspace, plan: Plan, context: Context
) -> Verifier:
    """Return what judges a change of a project.

    Parameters:
        root: the project's folder, links followed.
        environment: the caller's environment variables.
        workspace: the project as it is before the change.
        plan: the change.

    Raises:
        RequestError: `invalid_arguments` for a command that there is not.
        TransactionError: `verify_failed` if there is no type checker; nothing has been written.
    """
    setting = setting_of(root, environment, workspace)
    wanted = "import" in context.verify
    loading = Reload(context.reload, setting, cascade=context.cascade, imports=wanted, users=plan.users)
    if not context.verify and context.reload == "off":
        return loading

    return AllOf(
        loading,
        list(_others(replace(setting, time_limit=_seconds(workspace)), workspace, plan, context)),
        names=[name for name in dict.fromkeys(context.verify) if name not in ("import", "cycles")],
        loads="import" if wanted or context.reload in ("auto", "patch", "child") else "",
        digest=plan.changes.digest,
    )


def setting_of(root: Path, environment: Mapping[str, str], workspace: Workspace) -> Setting:
    """Return how the project's code is run."""
    python = own_settings(workspace.files).get("python")
    interpreter = find_interpreter(
        root, setting=python if isinstance(python, str) else None, virtual_env=environment.get("VIRTUAL_ENV")
    )
    return Setting(root=root, source_roots=workspace.layout.roots, interpreter=interpreter, environment=environment)


def _others(setting: Setting, workspace: Workspace, plan: Plan, context: Context) -> Iterator[Verifier]:
    after = workspace.after(plan.changes)
    for name in dict.fromkeys(context.verify):
        if name == "tests":
            yield _tests(setting, workspace, after, plan)
        elif name == "types":
            yield _types(setting, workspace, after, plan)
        elif name.startswith(COMMAND):
            from bae_source.verification.command import Command

            yield Command(setting, name.removeprefix(COMMAND).strip())


def _tests(setting: Setting, before: Workspace, after: Workspace, plan: Plan) -> Verifier:
    from bae_source.verification.affected import affected_tests
    from bae_source.verification.tests_run import TestsRun, WantedTest

    affected = affected_tests(before, after, plan)
    wanted = []
    for test in affected.tests:
        module = after.census.module(test.path)
        address = ".".join((module.name if module else test.path, *test.names))
        wanted.append(WantedTest(path=test.path, names=test.names, address=address))
    return TestsRun(setting, wanted, None if affected.complete else affected.others)


def _types(setting: Setting, before: Workspace, after: Workspace, plan: Plan) -> Verifier:
    from bae_source.project.importing.graph import ImportGraph
    from bae_source.verification.configured import mypy_has_targets
    from bae_source.verification.type_check import TypeCheck

    checker, program = _checker(setting, before)
    files: list[str] | None = None
    if checker.takes_files and not mypy_has_targets(before.files):
        changed = [module.path for module in plan.modules if module.path.endswith((".py", ".pyi"))]
        files = ImportGraph(after, after.census, typing=True).importing(changed)
    return TypeCheck(setting, checker, program, files=files, places=_Places(before, after))


def _checker(setting: Setting, workspace: Workspace) -> tuple[TypeChecker, str]:
    """Return the type checker that the project is set up for, and where it is."""
    from bae_source.verification.configured import wanted_checkers
    from bae_source.verification.type_checkers import CHECKERS

    names, told = wanted_checkers(workspace.files)
    for name in names:
        program = find_program(name, setting.interpreter.path, setting.environment.get("PATH", ""))
        if program is not None:
            return CHECKERS[name], program
    whose = f"{' and '.join(names)}, for which the project is set up," if told else "A type checker"
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
        return _symbol_at(self._before, path, line)

    def after(self, path: str, line: int) -> str:
        """Likewise, as it will be."""
        return _symbol_at(self._after, path, line)

    def was(self, address: str) -> bool:
        """Say whether there was such a symbol."""
        return _is_there(self._before, address)

    def will_be(self, address: str) -> bool:
        """Say whether there will be."""
        return _is_there(self._after, address)


def _symbol_at(workspace: Workspace, path: str, line: int) -> str:
    module = workspace.census.module(path)
    name = module.name if module else path.rpartition(".")[0].replace("/", ".")
    try:
        entries = workspace.index.summary(path).entries
    except ResourceError:
        return name
    names: list[str] = []
    inside: dict[int, int] = {}
    for number, entry in enumerate(entries):
        around = entry.parent in inside or entry.parent < 0
        if around and entry.first <= line <= entry.last:
            inside = {number: entry.parent}
            names = [*(names if entry.parent >= 0 else ()), entry.component or entry.names[0]]
    return ".".join((name, *names))


def _is_there(workspace: Workspace, address: str) -> bool:
    try:
        resolve(workspace, address)
    except ResourceError:
        return False
    return True


def _seconds(workspace: Workspace) -> float:
    """Return how long one run of tests, of a checker or of a command may take."""
    seconds = own_settings(workspace.files).get("verify-seconds")
    usable = isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds > 0
    return float(seconds) if usable and seconds is not None else _SECONDS


class AllOf:
    """Several verifiers as one: each has to agree.

    They are asked in their order, and where one of them refuses, the next are not asked. All of them roll back, the
    last one first, also where one of them fails to.

    Parameters:
        loading: loads the changed modules; the first one.
        others: in their order.
        names: what the others verify, in the same order.
        loads: what `loading` verifies, as a check is called; "" for nothing that is to be told.
        digest: of what is judged.
        timer: seconds from any beginning.
    """

    def __init__(
        self,
        loading: Verifier,
        others: Sequence[Verifier],
        *,
        names: Sequence[str],
        loads: str,
        digest: str = "",
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._loading = loading
        self._others = tuple(others)
        self._names = tuple(names)
        self._loads = loads
        self._digest = digest
        self._timer = timer

    def prepare(self, modules: Sequence[ModuleFile], before: Contents, after: Contents) -> bool:
        """Let each of them look before anything is written; if one of them refuses, the others let go."""
        with ExitStack() as stack:
            stack.callback(self.roll_back)
            waited = [each.prepare(modules, before, after) for each in (self._loading, *self._others)]
            stack.pop_all()
        return any(waited)

    def judges(self) -> bool:
        """Say whether any of them does."""
        return any(each.judges() for each in (self._loading, *self._others))

    def verify(self) -> tuple[Notice | Check, ...]:
        """Ask each of them.

        Raises:
            TransactionError: what the first that refuses raises; its details have the checks, that one among them.
        """
        notices: list[Notice] = []
        checks: list[Check] = []
        for name, each in zip((self._loads, *self._names), (self._loading, *self._others), strict=True):
            begun = self._timer()
            try:
                found = each.verify()
            except TransactionError as error:
                failed = Check(
                    name=name or "import",
                    result="failed",
                    digest=self._digest,
                    seconds=self._since(begun),
                    detail=error.message.partition("\n")[0][:_LONGEST],
                )
                behind = self._names if each is self._loading else self._names[self._others.index(each) + 1 :]
                not_run = [Check(name=other, result="not_run", detail="not reached") for other in behind]
                details = {**error.details, CHECKS: [asdict(each) for each in (*checks, failed, *not_run)]}
                raise error.altered(details=details) from error.__cause__
            seconds = self._since(begun)
            notices += (each for each in found if isinstance(each, Notice))
            made = [each for each in found if isinstance(each, Check)]
            if each is self._loading and name and each.judges():
                made.append(_loaded(name, found))
            checks += (replace(each, seconds=seconds, digest=self._digest_of(each)) for each in made)
        return (*notices, *checks)

    def _digest_of(self, check: Check) -> str:
        return "" if check.result == "not_run" else self._digest

    def _since(self, begun: float) -> float:
        return round(self._timer() - begun, 3)

    def roll_back(self) -> None:
        """Let each of them put back what it changed."""
        with ExitStack() as stack:
            for each in (self._loading, *self._others):
                stack.callback(each.roll_back)


def _loaded(name: str, found: Sequence[Notice | Check]) -> Check:
    """Return what loading the changed modules came to."""
    unchecked = [each for each in found if isinstance(each, Notice) and each.code in _UNCHECKED]
    if not unchecked:
        return Check(name=name, result="passed")
    return Check(name=name, result=_UNCHECKED[unchecked[0].code], detail=unchecked[0].message.rstrip("."))
