"""Runs tests on request, keeps the results, and answers about them: what `resources/tests` cannot do by itself.

Invariant: which tests there are is read from files; only what is to be run is imported, and only by children.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from bae_source.errors import LookupFailed, RequestError
from bae_source.model.call import Call
from bae_source.model.changeset import ChangeSet
from bae_source.model.context import Context
from bae_source.model.outcome import FOUND, Check, Notice, Outcome, Result
from bae_source.model.plan import Plan
from bae_source.model.text import Progress
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace
from bae_source.resources.tests.collected import are_of_unittest, files_of_tests
from bae_source.resources.tests.kept import Runs, red_of
from bae_source.resources.tests.named import address_of, named_tests
from bae_source.resources.tests.results import TestsResults, after_failures, shown_results
from bae_source.resources.tests.run import Run, WantedTest, readable
from bae_source.resources.tests.running import TestsRun
from bae_source.resources.tests.settings import pytest_settings
from bae_source.resources.tests.verdict import verdict_of
from bae_source.verification.affected import affected_tests
from bae_source.verification.choosing import patient, setting_of
from bae_source.verification.running.runner import Runner

if TYPE_CHECKING:
    from bae_source.engine.changing import Changing
    from bae_source.state.folders import StateFolders

_SHOWN = 10
_INTERRUPTED = 130
_HOW: tuple[str, ...] = ("tests", "failed", "affected_by", "last_change")


class Bench(Protocol):
    """The part of the engine that runs of tests need."""

    root: Path
    environment: dict[str, str]
    clock: Callable[[], int]
    progress: Progress | None

    @property
    def changing(self) -> Changing:
        """Planner and maker of changes, whose history knows the last one."""

    @property
    def folders(self) -> StateFolders:
        """Folders of our own state."""

    def workspace(self) -> Workspace:
        """Return a fresh snapshot of the project."""


def run_tests(bench: Bench, request: TestsRun, context: Context) -> Outcome:
    """Run the requested tests, and keep their results.

    Raises:
        RequestError: `invalid_arguments` where they are chosen in two ways at once, or a name is none of tests.
        LookupFailed: nothing was run or changed yet that is referred to.
    """
    _check(request, context)
    workspace = bench.workspace()
    runs = Runs(bench.folders)
    wanted, notices = _wanted(bench, workspace, runs, request)
    if wanted == ():
        return Outcome(status="answer", text="No test was run: none reaches it.", warnings=tuple(notices))
    if context.dry_run:
        return _planned(workspace, wanted, notices)
    setting = patient(setting_of(bench.root, bench.environment, workspace), workspace)
    seconds = request.seconds or setting.time_limit
    runner = Runner(
        replace(setting, time_limit=seconds, caches=_cache(bench)),
        modules=[
            module
            for path in files_of_tests(workspace, pytest_settings(workspace.files))
            if (module := workspace.census.module(path)) is not None
        ],
        by_unittest=are_of_unittest(workspace),
        progress=bench.progress,
    )
    ran = runner.run(wanted, seconds=seconds, keep_going=wanted is not None)
    kept = runs.add(ran, at=bench.clock(), is_whole=wanted is None)
    ran = readable(ran, workspace.keeps_back) if workspace.hides else ran
    return _outcome(ran, kept, notices)


def _check(request: TestsRun, context: Context) -> None:
    ways = [name for name in _HOW if getattr(request, name)]
    if len(ways) > 1:
        raise RequestError(
            "invalid_arguments",
            f"tests_run takes one of {', '.join(_HOW)}, and was given {' and '.join(ways)}.",
            hints=["Leave all but one of them out."],
        )
    if context.verify:
        raise RequestError(
            "invalid_arguments", "tests_run changes nothing that could be verified.", hints=["Leave verify out."]
        )


def _wanted(
    bench: Bench, workspace: Workspace, runs: Runs, request: TestsRun
) -> tuple[tuple[WantedTest, ...] | None, list[Notice]]:
    """Return the tests that are to be run, None for all."""
    files = files_of_tests(workspace, pytest_settings(workspace.files))
    if request.tests:
        return named_tests(workspace, request.tests, files), []
    if request.failed:
        red = red_of(runs.kept())
        if not red:
            text = "No test failed when it was last run, or no run is kept."
            raise LookupFailed("symbol_not_found", text, hints=[Call("tests run", then="runs all.")])
        return tuple(each.again for each in red), []
    if request.affected_by:
        return _affected(workspace, request.affected_by)
    if request.last_change:
        entries = list(bench.changing.history.entries(1))
        if not entries:
            text = "Nothing was changed here yet that the history holds."
            raise LookupFailed("symbol_not_found", text, hints=[Call("tests run", then="runs all.")])
        there = [each for each in entries[0].changed if _is_there(workspace, each)]
        return _affected(workspace, there)
    return None, []


def _is_there(workspace: Workspace, address: str) -> bool:
    try:
        resolve(workspace, address)
    except LookupFailed:
        return False
    return True


def _affected(workspace: Workspace, symbols: Sequence[str]) -> tuple[tuple[WantedTest, ...], list[Notice]]:
    """Return the tests that reach some symbols, and notices where not all were looked at."""
    resolved = [resolve(workspace, each) for each in symbols]
    plan = Plan(
        changes=ChangeSet(),
        changed=tuple(str(each.address) for each in resolved),
        modules=tuple({each.module.path: each.module for each in resolved}.values()),
        summary="",
    )
    found = affected_tests(workspace, workspace, plan)
    text = "complete: false; not all that may reach it was followed, so more tests may be concerned."
    notices = [] if found.complete else [Notice("tests_left_out", text)]
    return tuple(WantedTest(path=test.path, names=test.names) for test in found.tests), notices


def _planned(workspace: Workspace, wanted: Sequence[WantedTest] | None, notices: Sequence[Notice]) -> Outcome:
    """Return the tests that would be run."""
    names = [each.id or address_of(workspace, each.path, each.names) + (each.case or "") for each in wanted or ()]
    text = "Would run these tests:" if names else "Would run all tests."
    return Outcome(status="planned", text="\n".join([text, *sorted(names)]), warnings=tuple(notices))


def _cache(bench: Bench) -> Path | None:
    """Return the folder of compiled files; None where none can be had."""
    try:
        place = bench.folders.make(bench.folders.local / "tests")
        place /= f"compiled-{(bench.folders.local_id or '')[:12]}"  # which no project can bring along
        place.mkdir(exist_ok=True)
        return None if place.is_symlink() else place
    except OSError:
        return None


def _outcome(ran: Run, kept: str, notices: Sequence[Notice]) -> Outcome:
    """Return the outcome of a run, the verdict first."""
    red = ran.red
    lines = [f"  {each.address}{each.at_place}: {each.headline}" for each in red[:_SHOWN]]
    lines += [f"  and {len(red) - _SHOWN:,} more"] if len(red) > _SHOWN else []
    passes = ran.ended == "complete" and not red
    result: Result = "passed" if passes else "failed" if red or ran.results else "not_run"
    verdict = verdict_of(ran)
    warnings = [*notices]
    if not kept:
        warnings.append(
            Notice("not_kept", "The run is not kept, since our state cannot be written; tests results has none of it.")
        )
    return Outcome(
        status="answer",
        text="\n".join([verdict, *lines, *([f"Kept as {kept}."] if kept else [])]),
        checks=(Check(name="tests", result=result, counts=ran.counts, seconds=ran.seconds, detail=verdict),),
        warnings=tuple(warnings),
        complete=ran.ended == "complete",
        next_actions=after_failures(ran) if kept else (),
        exit_code=0 if passes else _INTERRUPTED if ran.ended == "interrupted" else FOUND,
    )


def tests_results(bench: Bench, request: TestsResults, _: Context) -> Outcome:
    """Answer about kept runs."""
    kept, workspace = Runs(bench.folders).kept(), bench.workspace()
    if workspace.hides:
        kept = tuple(replace(each, run=readable(each.run, workspace.keeps_back)) for each in kept)
    return shown_results(request, kept)
