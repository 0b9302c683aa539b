"""Which tests judge a change: those that it concerns, or the whole suite where choosing would cost more than running.

    rename of one helper          4 tests of 2 files           are run alone
    change of `Client.send`       more than half of the tests  the whole suite, files with affected tests first
    a search that takes too long  likewise, as far as it came

Invariant: files of tests that are named after a changed module are always among those that are run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from bae_source.model.plan import Plan
from bae_source.project.workspace import Workspace
from bae_source.resources.tests.run import WantedTest
from bae_source.resources.tests.suite import Suite, Test
from bae_source.system.clock import ticks
from bae_source.verification.affected import MOST_TESTS, affected_tests

_LONGEST = 2.0
"""Seconds that choosing may take at most."""
_SHORTEST = 0.3
"""So long a child takes to load pytest; until then choosing costs nothing."""
_SHARE = 0.1
"""Of the time that the whole suite takes, which is known where it was run."""
_HALF = 0.5


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


def chosen_tests(
    before: Workspace,
    after: Workspace,
    plan: Plan,
    *,
    whole: float | None = None,
    timer: Callable[[], int] = ticks,
) -> ChosenTests:
    """Choose the tests for a change.

    Parameters:
        before: the project as the change was planned on it.
        after: the project as it will be.
        whole: seconds that the whole suite took when it was last run.
        timer: nanoseconds from any beginning.
    """
    limit = _LONGEST if whole is None else min(_LONGEST, max(_SHORTEST, whole * _SHARE))
    until = timer() + int(limit * 1e9)
    affected = affected_tests(before, after, plan, enough=lambda found: found > MOST_TESTS or timer() > until)
    suite = affected.suite
    tests = {*affected.tests, *_named_after(suite, plan)}
    files = tuple(sorted({test.path for test in tests}))
    if not affected.complete or _are_most(suite, tests):
        return ChosenTests(tests=None, first=files, files=suite.files)
    whole_files = {test.path for test in tests if not test.names}
    kept = sorted(test for test in tests if not test.names or test.path not in whole_files)
    wanted = tuple(WantedTest(path=test.path, names=test.names) for test in kept)
    return ChosenTests(tests=wanted, first=files, files=suite.files)


def _named_after(suite: Suite, plan: Plan) -> Iterable[Test]:
    """Yield the files of tests that are named after modules that change."""
    for module in plan.modules:
        if module.path.endswith(".py") and not suite.is_test_file(module.path):
            yield from map(Test, suite.named_after(module.name))


def _are_most(suite: Suite, tests: Iterable[Test]) -> bool:
    """Say whether tests are more than half of those of the project, as far as its files tell."""
    every = {path: len(suite.tests_in(path)) for path in suite.files}
    wanted: dict[str, int] = {}
    for test in tests:
        all_of_it = every.get(test.path, 1)
        wanted[test.path] = all_of_it if not test.names else min(all_of_it, wanted.get(test.path, 0) + 1)
    return sum(wanted.values()) > sum(every.values()) * _HALF
