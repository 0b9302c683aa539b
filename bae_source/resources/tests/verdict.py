"""The verdict on a run of tests, in a sentence.

3 of 151 tests failed, in 2.1 s: tests.test_core.test_send, …
All 151 tests passed, in 2.1 s.
148 of 151 tests passed and 3 were skipped, in 2.1 s.
No test was run: pytest is not installed for the project's Python (.venv).
"""

from __future__ import annotations

from collections.abc import Mapping

from bae_source.model.text import counted, listed
from bae_source.resources.tests.run import Ended, Run

_SHOWN = 10
_NONE: Mapping[Ended, str] = {
    "complete": "the project's settings end a run early",
    "no_python": "the project's Python does not start",
    "no_tests": "pytest collects none",
    "unusable": "pytest cannot run them",
    "died": "the interpreter ended",
    "stopped": "the time was up",
    "interrupted": "it was interrupted",
}


def verdict_of(run: Run) -> str:
    """Return the result of a run, with the reason where it was not finished."""
    done = len(run.results)
    every = max(run.collected, done)
    sentences = [_done(run, done, every)] if done else [_none(run)]
    if run.problems:
        names = listed([each.address for each in run.problems], _SHOWN)
        sentences.append(f"{counted(len(run.problems), 'file')} could not be collected: {names}.")
    if done and every > done:
        sentences.append(f"{every - done:,} of {every:,} were not run, since {_NONE.get(run.ended, run.ended)}.")
    return " ".join(sentences)


def _done(run: Run, done: int, every: int) -> str:
    red = [each for each in run.results if each.is_red]
    in_time = f"in {run.seconds:.1f} s"
    if red:
        names = listed([each.address for each in red], _SHOWN)
        number = f"{len(red):,} of {done:,} tests" if done > 1 else "The test"
        return f"{number} failed, {in_time}: {names}."
    skipped = sum(each.outcome == "skipped" for each in run.results)
    expected = sum(each.outcome in ("xfailed", "xpassed") for each in run.results)
    passed = done - skipped - expected
    if passed == every:
        return f"{f'All {done:,} tests' if done > 1 else 'The test'} passed, {in_time}."
    parts = [(skipped, "skipped"), (expected, "expected to fail")]
    rest = " and ".join(f"{number:,} {'was' if number == 1 else 'were'} {word}" for number, word in parts if number)
    return f"{passed:,} of {counted(every, 'test')} passed{' and ' if rest else ''}{rest}, {in_time}."


def _none(run: Run) -> str:
    if run.problems and run.ended == "complete":
        return "No test was run."
    reason = run.detail.partition("\n")[0].rstrip(".")
    if run.ended == "no_pytest":
        return f"No test was run: {reason}."
    return f"No test was run: {_NONE.get(run.ended, run.ended)}{': ' if reason else ''}{reason}."
