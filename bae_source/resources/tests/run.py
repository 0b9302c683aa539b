"""One run of a project's tests, as values: each test with its outcome, and how the run as such ended.

    Run(results=(TestResult(address="tests.test_core.TestSend.test_a[case]", outcome="failed", …), …), ended="complete")

Invariant: no path stands in what is shown; the node id, by which pytest finds a test again, is relative to the project.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

TestOutcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
Ended = Literal["complete", "stopped", "died", "interrupted", "no_pytest", "no_python", "no_tests", "unusable"]
OUTCOMES: tuple[TestOutcome, ...] = get_args(TestOutcome)
RED: tuple[TestOutcome, ...] = ("failed", "error")
"""Outcomes of tests that did not hold."""
_LEFT_OUT = "left out, since it mentions a file that may not be read"


class WantedTest(Struct, frozen=True, kw_only=True):
    """A test to run.

    Parameters:
        path: its file, project-relative.
        names: the path of names in it; empty for the whole file.
        case: its parameters as pytest writes them in brackets; None for all of them.
        id: its node id where exactly this one is wanted; what else is given here does not count then but its file.
    """

    path: str
    names: tuple[str, ...] = ()
    case: str | None = None
    id: str = ""


class TestResult(Struct, frozen=True, kw_only=True):
    """The result of one test.

    Parameters:
        id: its node id.
        address: dotted, with the parameters in brackets.
        outcome: the worst that was reported of it; of a test that is run again after a failure, that of the last time.
        seconds: setup, call and teardown.
        message: the exception, or the reason why it was skipped, in a line or a few.
        place: where it failed, as `module:line`.
        report: the exception with its frames, as addresses.
        output: the end of what it printed and logged.
        timed_out: whether it was stopped, since it took too long.
    """

    __test__: ClassVar[bool] = False  # pytest: this is none

    id: str
    address: str
    outcome: TestOutcome
    seconds: float = 0.0
    message: str = ""
    place: str = ""
    report: str = ""
    output: str = ""
    timed_out: bool = False

    @property
    def is_red(self) -> bool:
        """True where it did not hold."""
        return self.outcome in RED

    @property
    def path(self) -> str:
        """Its file, project-relative."""
        return self.id.partition("::")[0]

    @property
    def again(self) -> WantedTest:
        """The same test, to be run again; the whole file where that could not be collected."""
        return WantedTest(path=self.path, id=self.id if "::" in self.id else "")

    @property
    def at_place(self) -> str:
        """The place where it failed, as it stands behind its address; "" where that is not known."""
        return f" (at {self.place})" if self.place else ""

    @property
    def headline(self) -> str:
        """The first line of its message."""
        return self.message.partition("\n")[0]


class Run(Struct, frozen=True, kw_only=True):
    """A run of tests.

    Parameters:
        results: each test that came to an end, or ended the run, in the order in which they ran.
        problems: files that could not be collected, as results without an end.
        counts: by outcome, as pytest counts: a test that passes and fails in its teardown counts twice.
        ended: how the run as such ended.
        detail: the reason, where it is not complete.
        collected: how many tests were to be run.
        unreached: addresses of tests that were to be run if there was time, and were not.
        escaped: modules that were loaded from the project in a run in its shadow.
        seconds: from the first child's start to the last one's end.
    """

    results: tuple[TestResult, ...] = ()
    problems: tuple[TestResult, ...] = ()
    counts: Mapping[str, int] = {}
    ended: Ended = "complete"
    detail: str = ""
    collected: int = 0
    unreached: tuple[str, ...] = ()
    escaped: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def red(self) -> tuple[TestResult, ...]:
        """Results that did not hold: tests, and files that could not be collected."""
        return (*self.problems, *(each for each in self.results if each.is_red))

    def count(self, *outcomes: TestOutcome) -> int:
        """Return the number of tests with one of some outcomes, as pytest counts."""
        return sum(self.counts.get(each, 0) for each in outcomes)


def readable(run: Run, keeps_back: Callable[[str], bool]) -> Run:
    """Return a run without what tests say that lie in files which the caller may not read, or failed there.

    Parameters:
        keeps_back: tells of a text whether it speaks of a place in such a file.
    """

    def readable_result(result: TestResult) -> TestResult:
        text = "\n".join((f"{result.path}:1", result.place, result.message, result.report, result.output))
        return replace(result, message=_LEFT_OUT, place="", report="", output="") if keeps_back(text) else result

    return replace(
        run,
        results=tuple(map(readable_result, run.results)),
        problems=tuple(map(readable_result, run.problems)),
        detail=_LEFT_OUT if keeps_back(run.detail) else run.detail,
    )


def worst(outcomes: Sequence[str]) -> TestOutcome:
    """Return the outcome of a test of those of its phases: a failing teardown outweighs a call that passed."""
    for each in _BY_WEIGHT:
        if each in outcomes:
            return each
    return "passed"


_BY_WEIGHT: tuple[TestOutcome, ...] = ("error", "failed", "xpassed", "xfailed", "skipped")
