"""Results of the tests that were run last."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from bae_source.errors import LookupFailed
from bae_source.model.call import Call
from bae_source.model.outcome import Outcome
from bae_source.model.request import Request, described
from bae_source.model.text import counted
from bae_source.resources.tests.kept import KeptRun, compared
from bae_source.resources.tests.run import Run, TestOutcome, TestResult
from bae_source.resources.tests.verdict import verdict_of

_INDENT = "  "


class TestsResults(Request, frozen=True, kw_only=True):
    """Show how the tests of the last run went, or of an earlier one; nothing is run.

    By default there is a line for each test that did not pass. With an outcome or names there is, for each test that
    they mean, also how long it took, how it failed, in frames that are addresses, and what it printed. The last
    20 runs are kept.
    """

    __test__: ClassVar[bool] = False  # pytest: this is none
    verb: ClassVar[str] = "tests_results"
    family: ClassVar[str] = "tests"
    runner: ClassVar[str] = "tests_results"
    when: ClassVar[str] = "Use it after tests run, to see why tests failed and what is new."
    examples: ClassVar[tuple[str, ...]] = (
        "tests results",
        "tests results --outcome failed",
        "tests results tests.test_core.test_send",
        "tests results --compare",
    )

    tests: Annotated[
        tuple[str, ...],
        described("Packages, modules, classes, functions or single cases.", placed=True, starred=True),
    ] = ()
    outcome: Annotated[TestOutcome | None, described("Show those with this outcome, each with all that is kept.")] = (
        None
    )
    run: Annotated[str | None, described("A run by its id, which tests run gives; the last one if left out.")] = None
    compare: Annotated[
        bool,
        described(
            "Compare with the last run before that ran such tests: what fails since, what is fixed, what became slower."
        ),
    ] = False


def shown_results(request: TestsResults, kept: Sequence[KeptRun]) -> Outcome:
    """Answer with the results of a kept run.

    Parameters:
        kept: the runs, the oldest first.

    Raises:
        LookupFailed: `symbol_not_found` where there is no such run, or no such test in it.
    """
    chosen = _chosen(request, kept)
    run = chosen.run
    results = [*run.problems, *run.results]
    if request.tests:
        results = [each for each in results if any(_is_below(each.address, name) for name in request.tests)]
        if not results:
            raise _none(f"No test in {chosen.id} is called {', '.join(request.tests)}.")
    if request.outcome:
        results = [each for each in results if each.outcome == request.outcome]
    lines = [f"{chosen.id}, {chosen.when}: {verdict_of(run)}"]
    if request.compare:
        lines += _compared(chosen, kept)
    elif request.outcome or request.tests:
        lines += (line for each in results for line in _whole(each))
    else:
        lines += (_in_a_line(each) for each in results if each.outcome != "passed")
    return Outcome(
        status="answer",
        text="\n".join(lines),
        complete=run.ended in ("complete", "no_tests"),
        next_actions=() if request.outcome else after_failures(run),
    )


def _chosen(request: TestsResults, kept: Sequence[KeptRun]) -> KeptRun:
    if not kept:
        raise _none("No run of tests is kept here.")
    found = [each for each in kept if request.run in (None, each.id)]
    if not found:
        raise _none(f"There is no run {request.run}; the last ones are {', '.join(each.id for each in kept[-5:])}.")
    return found[-1]


def _none(message: str) -> LookupFailed:
    return LookupFailed("symbol_not_found", message, hints=[Call("tests run", then="runs the tests.")])


def _is_below(address: str, name: str) -> bool:
    return address == name or address.startswith((f"{name}.", f"{name}["))


def _in_a_line(result: TestResult) -> str:
    reason = f": {result.headline}" if result.headline else ""
    return f"{result.outcome} {result.address}{result.at_place}{reason}"


def _whole(result: TestResult) -> Iterator[str]:
    """Draw all that is kept of a test."""
    yield f"{result.outcome} {result.address} ({result.seconds:.3f} s)"
    text = result.report or result.message
    yield from (_INDENT + line for line in text.splitlines())
    if result.output:
        yield f"{_INDENT}output:"
        yield from (_INDENT * 2 + line for line in result.output.splitlines())


def _compared(chosen: KeptRun, kept: Sequence[KeptRun]) -> Iterator[str]:
    """Draw the differences from the run before."""
    earlier = (each for each in reversed(kept[: kept.index(chosen)]) if compared(each.run, chosen.run).both)
    before = next(earlier, None)
    if before is None:
        yield "No run before it ran any of these tests."
        return
    found = compared(before.run, chosen.run)
    yield f"Compared with {before.id}, {before.when}, by {counted(found.both, 'test')} that both ran:"
    for what, results in (("newly failing", found.failing), ("fixed", found.fixed)):
        yield from (f"{what}: {each.address}" for each in results)
    for each, seconds in found.slower:
        yield f"slower: {each.address} ({seconds:.3f} s before, {each.seconds:.3f} s now)"
    if not (found.failing or found.fixed or found.slower):
        yield "nothing differs"


def after_failures(run: Run) -> tuple[str, ...]:
    """Return the calls that go on from a run in which something failed; none from another."""
    if not run.red:
        return ()
    found = "failed" if any(each.outcome == "failed" for each in run.red) else "error"
    again = Call("tests run", failed=True, then="runs them again.")
    return (Call("tests results", outcome=found, then="shows why."), again)
