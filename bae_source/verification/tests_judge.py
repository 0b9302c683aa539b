"""The judge that runs tests: those that a change concerns must not fail because of it.

    planned()   the chosen tests, in one run          nothing fails: done
    present()   those alone that failed               they fail here, too: not blamed on the change; so are those
                                                      that are known to fail on this very content (`failing_before`)
    planned()   some of those that are blamed, alone  they pass: the order of tests decides, so that the same
    present()   the same selection                    selection is run on the project without the change

Invariants:
- what failed without the change, or could not even be collected, is not blamed on it;
- tests that were left out are named, and nothing else is;
- a run in a shadow that loaded a module of the project's own tree judged other code, and is no judgement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from bae_source.errors import TransactionError
from bae_source.model.outcome import Check, Notice, Result
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.text import counted, listed
from bae_source.project.workspace import Workspace
from bae_source.reloading.child.import_check import Setting
from bae_source.resources.tests.run import Run, TestResult, WantedTest
from bae_source.resources.tests.settings import has_settings
from bae_source.verification.chosen_tests import ChosenTests, chosen_tests
from bae_source.verification.failing_before import FailingBefore
from bae_source.verification.judge import Place
from bae_source.verification.running.reading import Progress
from bae_source.verification.running.runner import Runner

_REST = 60.0
"""Seconds for tests that may be concerned, where they are not the first ones."""
_NOTE = "seconds"
"""The file beside compiled files that says how long the whole suite took."""
_SAMPLE = 3
"""Tests that are run alone to see whether the order of tests decides."""
_MOST_SHOWN = 10
_NO_PYTHON = ("no_pytest", "no_python")
_BROKEN = ("unusable", "died", "stopped")


class Escaped(Exception):
    """Tests in a shadow loaded modules of the project's own tree, so that they judged other code.

    Parameters:
        paths: the files, project-relative.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(tuple(paths))
        self.paths = tuple(paths)


class TestsJudge:
    """Judges one change by tests.

    Parameters:
        before: the project as the change was planned on it.
        after: the project as it will be.
        plan: the change.
        project: the project's root.
        cache: a folder of ours for compiled files; None for none.
        whole: seconds that the whole suite took when it was last run; None for those of the last judge that ran it.
        by_unittest: whether unittest runs the tests where there is no pytest.
        progress: called for each test that ends.
    """

    __test__ = False  # pytest: this is none

    def __init__(
        self,
        before: Workspace,
        after: Workspace,
        plan: Plan,
        *,
        project: Path,
        cache: Path | None = None,
        whole: float | None = None,
        by_unittest: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._workspaces = before, after
        self._plan = plan
        self._project = project
        self._cache = cache
        self._failing = FailingBefore(cache)
        self._whole = whole
        self._by_unittest = by_unittest
        self._progress = progress

    @cached_property
    def _chosen(self) -> ChosenTests:
        return chosen_tests(*self._workspaces, self._plan, whole=self._whole or self._noted())

    def _noted(self) -> float | None:
        """Return the seconds that the whole suite took for the last judge that ran it."""
        try:
            return float((self._cache / _NOTE).read_text()) if self._cache else None
        except (OSError, ValueError):
            return None

    def _note(self, ran: Run) -> None:
        if self._cache and self._chosen.tests is None and ran.ended == "complete" and not ran.unreached:
            with suppress(OSError):  # the next one chooses for as long as it may
                (self._cache / _NOTE).write_text(str(ran.seconds))

    def judge(self, place: Place) -> tuple[Notice | Check, ...]:
        """Run the tests on the planned text, and those that fail on the project without the change.

        Raises:
            TransactionError: `verify_failed` or `timed_out`, with the failing tests; nothing was written.
            Escaped: they ran on other code.
        """
        if self._is_set_up_as_a_whole():
            setting = place.planned()
            ran = self._run(setting, None)
        else:
            chosen = self._chosen
            if chosen.tests == ():
                return _none_reaches()
            setting = place.planned()
            ran = self._run(setting, chosen)
        chosen = self._chosen
        if chosen.tests == ():
            return _none_reaches()
        if ran.ended in _NO_PYTHON:
            raise _cannot_run(ran, setting)
        self._note(ran)
        failed = ran.red
        if ran.ended in _BROKEN:
            failed = (*failed, TestResult(id="", address="", outcome="error", message=ran.detail or "it ended"))
        if not failed:
            return _judged(ran, ())
        before, after = self._workspaces
        already = self._failing.on(before, failed)
        if unknown := [each for each in failed if each.id not in already]:
            already |= self._already(place, chosen, unknown)
        blamed = [each for each in failed if each.id not in already]
        if blamed and self._depends_on_order(place, blamed):
            already |= self._failing_in(place.present(), chosen)
            blamed = [each for each in failed if each.id not in already]
        if blamed:
            raise _red(blamed)
        self._failing.note(after, failed)
        return _judged(ran, failed)

    def _is_set_up_as_a_whole(self) -> bool:
        """Say whether pytest's settings are those of the root, whichever tests are run."""
        return has_settings(self._workspaces[1].files)

    def _runner(self, setting: Setting, progress: Progress | None = None) -> Runner:
        return Runner(
            setting,
            project=self._project,
            cache=self._cache,
            modules=self._modules,
            by_unittest=self._by_unittest,
            progress=progress,
        )

    @property
    def _modules(self) -> tuple[ModuleFile, ...]:
        return self._plan.modules

    def _run(self, setting: Setting, chosen: ChosenTests | None) -> Run:
        """Run the chosen tests, in one go; they are chosen while pytest is loaded, where they are not given."""
        runner = self._runner(setting, self._progress)
        if chosen is not None:
            return _whole(runner.run(chosen.tests, first=chosen.first, rest=_REST, keep_going=True))
        return _whole(runner.run(lambda: (self._chosen.tests, self._chosen.first), rest=_REST, keep_going=True))

    def _already(self, place: Place, chosen: ChosenTests, failed: Sequence[TestResult]) -> set[str]:
        """Return the ids of what fails, or cannot be collected, without the change, too."""
        setting = place.present()
        wanted = [
            WantedTest(path=each.path, id=each.id if "::" in each.id else f"{each.id}::")
            for each in failed
            if each.id and (Path(setting.root) / each.path).is_file()
        ]
        if any(not each.id for each in failed):  # the run as such
            wanted += (WantedTest(path=path, id=f"{path}::") for path in chosen.files)
            wanted = [each for each in wanted if (Path(setting.root) / each.path).is_file()]
        if not wanted:
            return set()
        ran = _whole(self._runner(setting).run(wanted, keep_going=True))
        if ran.ended in (*_BROKEN, *_NO_PYTHON):
            return {each.id for each in failed}
        self._failing.note(self._workspaces[0], ran.red)
        red = {each.id for each in ran.red}
        return {each.id for each in failed if each.id in red or each.path in red}

    def _depends_on_order(self, place: Place, blamed: Sequence[TestResult]) -> bool:
        """Say whether the first tests that are blamed pass on the planned text where they run alone."""
        if any("::" not in each.id for each in blamed):
            return False
        wanted = [WantedTest(path=each.path, id=each.id) for each in blamed[:_SAMPLE]]
        ran = _whole(self._runner(place.planned()).run(wanted, keep_going=True))
        return ran.ended == "complete" and not ran.red

    def _failing_in(self, setting: Setting, chosen: ChosenTests) -> set[str]:
        return {each.id for each in self._run(setting, chosen).red}


def _whole(ran: Run) -> Run:
    """Return a run that was not interrupted and ran the right code."""
    if ran.ended == "interrupted":
        raise KeyboardInterrupt
    if ran.escaped:
        raise Escaped(ran.escaped)
    return ran


def _none_reaches() -> tuple[Notice | Check, ...]:
    check = Check(name="tests", result="not_run", detail="no test reaches what changed")
    return (Notice("no_tests", "No test reaches what changed, so none was run."), check)


def _judged(ran: Run, already: Sequence[TestResult]) -> tuple[Notice | Check, ...]:
    """Return what a run came to in which nothing is to be blamed on the change."""
    notices: list[Notice] = []
    if already:
        names = [each.address for each in already if each.address]
        message = already[0].message.partition("\n")[0]
        text = f"{listed(names, _MOST_SHOWN) if names else 'The tests'} failed before the change, too: {message}"
        notices.append(Notice("failed_before", text))
    if ran.unreached:
        many = len(ran.unreached) > 1
        text = f"complete: false; {counted(len(ran.unreached), 'more test')} may be concerned, and "
        text += f"{'were' if many else 'was'} not run for lack of time: {listed(ran.unreached, _MOST_SHOWN)}."
        notices.append(Notice("tests_left_out", text))
    passed, skipped = ran.count("passed"), ran.count("skipped")
    if not ran.results:
        text = "pytest ran none of the tests that reach what changed"
        notices.append(Notice("no_tests", f"{text}."))
        return (*notices, Check(name="tests", result="not_run", detail=text))
    counts = {"passed": passed, "failed": 0, "failed_before": len(already), "skipped": skipped}
    parts = [f"{passed:,} passed"]
    parts += [
        f"{number:,} {word}" for number, word in ((skipped, "skipped"), (len(already), "failed before")) if number
    ]
    result: Result = "failed_before" if already else "passed"
    return (*notices, Check(name="tests", result=result, counts=counts, detail=", ".join(parts)))


def _red(blamed: Sequence[TestResult]) -> TransactionError:
    """Return the error for tests that fail because of the change."""
    tests = list(dict.fromkeys(_function(each.address) for each in blamed if each.address))
    rows = _rows(blamed)
    more = [f"and {len(rows) - _MOST_SHOWN} more"] if len(rows) > _MOST_SHOWN else []
    subject = f"{listed(tests, _MOST_SHOWN)} {'fails' if len(tests) == 1 else 'fail'}"
    if not tests:
        subject = "The tests cannot be run"
    stuck = all("took longer" in each.message for each in blamed)
    return TransactionError(
        "timed_out" if stuck else "verify_failed",
        f"{subject} with the change: {rows[0]}",
        unchanged=True,
        hints=["\n  ".join(["What failed:", *rows[:_MOST_SHOWN], *more]), "Mend the change, or the tests with it."],
        candidates=tests,
        details={"failed": [_described(each) for each in blamed]},
    )


def _described(failed: TestResult) -> Mapping[str, str]:
    return {"test": failed.address, "said": failed.message, "at": failed.place, "report": failed.report}


def _rows(failed: Iterable[TestResult]) -> list[str]:
    """Draw what failed, a line for each test; of its cases the first one."""
    cases: dict[str, list[TestResult]] = {}
    for each in failed:
        cases.setdefault(_function(each.address) or "the run", []).append(each)
    rows = []
    for name, (first, *others) in cases.items():
        at = f" (at {first.place})" if first.place else ""
        more = f" (and {len(others)} more of its cases)" if others else ""
        rows.append(f"{name}{at}: {first.message.partition(chr(10))[0]}{more}")
    return rows


def _function(address: str) -> str:
    """Return the address of a test without its case."""
    return address.partition("[")[0]


def _cannot_run(ran: Run, setting: Setting) -> TransactionError:
    origin = setting.interpreter.origin
    if ran.ended == "no_pytest":
        hints = ["Install pytest there.", "[tool.bae-source] python names another Python."]
        return TransactionError("verify_failed", f"The tests cannot be run: {ran.detail}", unchanged=True, hints=hints)
    detail = ran.detail.rstrip(".")
    text = f"The tests cannot be run: the project's Python ({origin}) does not start: {detail}"
    hints = ["Set [tool.bae-source] python to the project's interpreter."]
    return TransactionError("verify_failed", text, unchanged=True, hints=hints)
