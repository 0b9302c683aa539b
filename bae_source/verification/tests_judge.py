"""The judge that runs tests: those that a change concerns must not fail because of it.

    planned()   the chosen tests, in one run          nothing fails: done
    present()   those alone that failed               they fail here, too: not blamed on the change
    tree()      those alone that fail in both         they pass: no copy can judge this project
    planned()   some of those that are blamed, alone  they pass: the order of tests decides, so that the same
    present()   the same selection                    selection is run on the project without the change

Invariants:
- what failed without the change, or could not even be collected, is not blamed on it;
- a notice names the tests that were left out, where some were;
- a run in a shadow that loaded a module of the project's own tree judged other code, and is no judgement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from msgspec import Struct

from bae_source.errors import TransactionError
from bae_source.model.outcome import Check, Notice, Result
from bae_source.model.plan import ModuleFile
from bae_source.model.text import Progress, counted, listed
from bae_source.reloading.child.import_check import Setting
from bae_source.resources.tests.run import Run, TestResult, WantedTest, readable
from bae_source.verification.judge import NotInCopy, Place
from bae_source.verification.running.runner import Runner

REST = 60.0
"""Seconds for tests that may be concerned, where they are not the first ones."""
_NOTE = "seconds"
"""The file among what is kept of a copy that says how long the whole suite took."""
_SAMPLE = 3
"""Tests that are run alone to see whether the order of tests decides."""
_MOST_SHOWN = 10
_NO_PYTHON = ("no_pytest", "no_python")
_BROKEN = ("unusable", "died", "stopped")
_NONE_REACHES = (
    Notice("no_tests", "No test was run: none reaches the changed code."),
    Check(name="tests", result="not_run", detail="no test reaches what changed"),
)


class ChosenTests(Struct, frozen=True, kw_only=True):
    """The tests that judge a change.

    Parameters:
        tests: None for the whole suite.
        first: files, project-relative, that come first where the whole suite is run.
        files: every file of tests in the project.
    """

    tests: tuple[WantedTest, ...] | None
    first: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class TestsJudge:
    """Judges one change by tests.

    Parameters:
        choose: chooses the tests; gets the seconds that the whole suite takes, None where that is not known.
        modules: those that change.
        meanwhile: whether they may be chosen while a child loads pytest, since its settings are those of the root,
            whichever tests are run.
        last: the last run of all tests, where one is kept.
        by_unittest: whether unittest runs the tests where there is no pytest.
        progress: called for each test that ends.
        keeps_back: tells of a text whether it speaks of a place in a file that the caller may not read.

    Attributes:
        name: what it verifies.
    """

    __test__ = False  # pytest: this is none
    name = "tests"

    def __init__(
        self,
        choose: Callable[[float | None], ChosenTests],
        modules: Sequence[ModuleFile],
        *,
        meanwhile: bool = False,
        last: Run | None = None,
        by_unittest: bool = False,
        progress: Progress | None = None,
        keeps_back: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._keeps_back = keeps_back
        self._choose = choose
        self._modules = tuple(modules)
        self._meanwhile = meanwhile
        self._last = last
        self._caches: Path | None = None
        self._by_unittest = by_unittest
        self._progress = progress

    def judge(self, place: Place) -> tuple[Notice | Check, ...]:
        """Run the tests on the planned text, and those that fail on the project without the change.

        Raises:
            TransactionError: `verify_failed` or `timed_out`, with the failing tests; nothing was written.
            NotInCopy: in a copy they run on other code, or fail where they pass in the project.
        """
        if not self._meanwhile and self._chosen.tests == ():
            return _NONE_REACHES
        setting = place.planned()
        self._caches = setting.caches
        ran = self._run(setting)
        chosen = self._chosen
        if chosen.tests == ():
            return _NONE_REACHES
        if ran.ended in _NO_PYTHON:
            raise _cannot_run(ran, setting)
        self._note(ran)
        failed = ran.red
        if ran.ended in _BROKEN:
            message, stopped = ran.detail or "it ended", ran.ended == "stopped"
            failed = (*failed, TestResult(id="", address="", outcome="error", message=message, timed_out=stopped))
        self._check_skipped(place, ran)
        if not failed:
            return (*self._silent(ran, chosen), *_judged(ran, ()))
        alone = already = self._already(place, chosen, failed)
        blamed = [each for each in failed if each.id not in already]
        if blamed and place.tree() is not None and self._depends_on_order(place, blamed):
            already = alone | self._failing_in(place.present())
            blamed = [each for each in failed if each.id not in already]
        if blamed:
            raise _red(blamed, _counts(ran, failed=len(blamed), before=len(failed) - len(blamed)))
        self._check_copy(place, [each for each in failed if each.id in alone])
        return (*self._silent(ran, chosen), *_judged(ran, failed))

    @cached_property
    def _chosen(self) -> ChosenTests:
        return self._choose(self._last.seconds if self._last else self._noted())

    def _noted(self) -> float | None:
        """Return the seconds that the whole suite took for the last judge that ran it."""
        try:
            return None if self._caches is None else float((self._caches / _NOTE).read_text())
        except (OSError, ValueError):
            return None

    def _note(self, ran: Run) -> None:
        if self._caches is not None and self._chosen.tests is None and ran.ended == "complete" and not ran.unreached:
            with suppress(OSError):  # the next one chooses for as long as it may
                (self._caches / _NOTE).write_text(str(ran.seconds))

    def _silent(self, ran: Run, chosen: ChosenTests) -> tuple[Notice, ...]:
        """Name tests that passed in the last run of all, and do not judge the change: they are skipped, or gone."""
        passed = {each.id: each for each in self._last.results if each.outcome == "passed"} if self._last else {}
        names = [each.address for each in ran.results if each.outcome == "skipped" and each.id in passed]
        if chosen.tests is None and not ran.unreached:
            changed = {module.path for module in self._modules}
            there = {each.id for each in ran.results}
            names += (each.address for key, each in passed.items() if key not in there and each.path not in changed)
        if not names:
            return ()
        text = f"{listed(names, _MOST_SHOWN)} passed when all tests were run last, and with the change "
        return (Notice("passed_before", f"{text}{'is' if len(names) == 1 else 'are'} skipped or gone."),)

    def _check_skipped(self, place: Place, ran: Run) -> None:
        """Check that tests which the copy alone skips do not count as judges: where none passes, or they did before."""
        tree = place.tree()
        before = {each.id for each in self._last.results if each.outcome == "passed"} if self._last else set()
        skipped = [each for each in ran.results if each.outcome == "skipped"]
        if ran.count("passed"):
            skipped = [each for each in skipped if each.id in before]
        if tree is None or not skipped:
            return
        wanted = [each.again for each in skipped]
        if not self._passing(place.present(), wanted) and (passed := self._passing(tree, wanted)):
            names = [each.address for each in passed]
            raise NotInCopy(f"a copy skips {listed(names, _MOST_SHOWN)}")

    def _check_copy(self, place: Place, failed: Sequence[TestResult]) -> None:
        """Check that what fails in a copy without the change, each time, fails in the project, too."""
        tree = place.tree()
        if tree is None or not failed:
            return
        wanted = None if any(not each.id for each in failed) else [each.again for each in failed]
        passed = self._passing(tree, wanted)
        if not passed:
            return
        flaky = self._passing(place.present(), [each.again for each in passed])
        names = [each.address for each in passed if each.id not in {one.id for one in flaky}]
        if names:
            raise NotInCopy(
                f"{listed(names, _MOST_SHOWN)} {'passes' if len(names) == 1 else 'pass'} in the project alone"
            )

    def _passing(self, setting: Setting, wanted: Sequence[WantedTest] | None) -> list[TestResult]:
        ran = self._sound(self._runner(setting).run(wanted, keep_going=True))
        return [each for each in ran.results if each.outcome == "passed"]

    def _runner(self, setting: Setting, progress: Progress | None = None) -> Runner:
        return Runner(
            setting,
            modules=self._modules,
            by_unittest=self._by_unittest,
            progress=progress,
        )

    def _run(self, setting: Setting) -> Run:
        """Run the chosen tests, in one go; they are chosen while pytest is loaded, where that may be."""
        runner = self._runner(setting, self._progress)
        if self._meanwhile:
            return self._sound(runner.run(lambda: (self._chosen.tests, self._chosen.first), rest=REST, keep_going=True))
        return self._sound(runner.run(self._chosen.tests, first=self._chosen.first, rest=REST, keep_going=True))

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
        ran = self._sound(self._runner(setting).run(wanted, keep_going=True))
        if ran.ended in ("unusable", *_NO_PYTHON):
            return {each.id for each in failed}  # nothing can be run at all
        red = {each.id for each in ran.red} | ({""} if ran.ended in _BROKEN else set())
        return {each.id for each in failed if each.id in red or each.path in red}

    def _depends_on_order(self, place: Place, blamed: Sequence[TestResult]) -> bool:
        """Return whether the first tests that are blamed pass on the planned text where they run alone."""
        if any("::" not in each.id for each in blamed):
            return False
        wanted = [each.again for each in blamed[:_SAMPLE]]
        ran = self._sound(self._runner(place.planned()).run(wanted, keep_going=True))
        return ran.ended == "complete" and not ran.red

    def _sound(self, ran: Run) -> Run:
        """Return a run that was not interrupted and that ran the right code."""
        if ran.ended == "interrupted":
            raise KeyboardInterrupt
        if ran.escaped:
            raise NotInCopy(f"its tests load {listed(ran.escaped, 3)} of the project itself")
        return readable(ran, self._keeps_back)

    def _failing_in(self, setting: Setting) -> set[str]:
        return {each.id for each in self._run(setting).red}


def _judged(ran: Run, already: Sequence[TestResult]) -> tuple[Notice | Check, ...]:
    """Return notices and checks of a run in which no failure is the change's."""
    notices: list[Notice] = []
    if already:
        names = [each.address for each in already if each.address]
        whose = listed(names, _MOST_SHOWN) if names else "The tests"
        text = f"{whose} failed before the change, too: {already[0].headline}"
        notices.append(Notice("failed_before", text))
    if ran.unreached:
        many = len(ran.unreached) > 1
        text = f"complete: false; {counted(len(ran.unreached), 'more test')} may be concerned, and "
        text += f"{'were' if many else 'was'} not run for lack of time: {listed(ran.unreached, _MOST_SHOWN)}."
        notices.append(Notice("tests_left_out", text))
    missing = ran.collected - len(ran.results) - len(ran.unreached)
    if ran.ended in _BROKEN and missing > 0:
        text = f"complete: false; {counted(missing, 'more test')} may be concerned, and the run ended before"
        notices.append(Notice("tests_left_out", f"{text}: {ran.detail}."))
    passed, skipped = ran.count("passed"), ran.count("skipped")
    if not ran.results:
        text = "pytest ran none of the tests that reach what changed"
        if ran.ended in _BROKEN:
            text = f"the tests cannot be run: {ran.detail.partition(chr(10))[0]}"
        notices.append(Notice("no_tests", f"{text}."))
        return (*notices, Check(name="tests", result="not_run", detail=text))
    counts = _counts(ran, failed=0, before=len(already))
    parts = [f"{passed:,} passed"]
    parts += [f"{many:,} {word}" for many, word in ((skipped, "skipped"), (len(already), "failed before")) if many]
    result: Result = "failed_before" if already else "passed" if passed else "not_run"
    return (*notices, Check(name="tests", result=result, counts=counts, detail=", ".join(parts)))


def _counts(ran: Run, *, failed: int, before: int) -> dict[str, int]:
    return {"passed": ran.count("passed"), "failed": failed, "failed_before": before, "skipped": ran.count("skipped")}


def _red(blamed: Sequence[TestResult], counts: Mapping[str, int]) -> TransactionError:
    """Return the error for tests that fail because of the change."""
    tests = list(dict.fromkeys(_function(each.address) for each in blamed if each.address))
    rows = _rows(blamed)
    more = [f"and {len(rows) - _MOST_SHOWN} more"] if len(rows) > _MOST_SHOWN else []
    subject = f"{listed(tests, _MOST_SHOWN)} {'fails' if len(tests) == 1 else 'fail'}"
    if not tests:
        subject = "The tests cannot be run"
    return TransactionError(
        "timed_out" if all(each.timed_out for each in blamed) else "verify_failed",
        f"{subject} with the change: {rows[0]}",
        unchanged=True,
        hints=["\n  ".join(["What failed:", *rows[:_MOST_SHOWN], *more]), "Mend the change, or the tests with it."],
        candidates=tests,
        details={"failed": [_described(each) for each in blamed], "counts": dict(counts)},
    )


def _described(failed: TestResult) -> Mapping[str, str]:
    return {"test": failed.address, "message": failed.message, "at": failed.place, "report": failed.report}


def _rows(failed: Iterable[TestResult]) -> list[str]:
    """Draw the failures, a line for each test; of its cases the first one."""
    cases: dict[str, list[TestResult]] = {}
    for each in failed:
        cases.setdefault(_function(each.address) or "the run", []).append(each)
    rows = []
    for name, (first, *others) in cases.items():
        more = f" (and {len(others)} more of its cases)" if others else ""
        rows.append(f"{name}{first.at_place}: {first.headline}{more}")
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
