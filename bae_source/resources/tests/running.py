"""Run tests of a project; the engine hands the request its runner."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from typing import Annotated, ClassVar

from msgspec import Meta

from bae_source.model.request import Effect, Request, described


class TestsRun(Request, frozen=True, kw_only=True):
    """Run tests with the project's interpreter and its own settings of pytest, or by unittest where it has no pytest.

    Without a choice all tests are run. A test that hangs or ends its process fails, and those behind it
    are run all the same. The run is kept, and `tests results` shows the output, the failures and what is new in them.
    The exit status is 1 where a test fails, or none could be run.
    """

    __test__: ClassVar[bool] = False  # pytest: this is none
    verb: ClassVar[str] = "tests_run"
    family: ClassVar[str] = "tests"
    effect: ClassVar[Effect] = Effect.WRITES
    runner: ClassVar[str] = "tests_run"
    when: ClassVar[str] = "Use it to see whether the project's tests pass; it runs the project's code."
    examples: ClassVar[tuple[str, ...]] = (
        "tests run",
        "tests run tests.test_core.TestSend",
        "tests run --failed",
        "tests run --affected-by app.core.send",
        "tests run --last-change --seconds 60",
    )
    idempotent: ClassVar[bool] = True

    tests: Annotated[
        tuple[str, ...],
        described(
            "Packages, modules, classes, functions or single cases of tests; all if left out.",
            placed=True,
            starred=True,
        ),
    ] = ()
    failed: Annotated[bool, described("Run those that failed when they were run last.")] = False
    affected_by: Annotated[
        tuple[str, ...], described("Run those that a change of this symbol would concern.", metavar="SYMBOL")
    ] = ()
    last_change: Annotated[bool, described("Run those that the last change concerns.")] = False
    seconds: Annotated[
        Annotated[float, Meta(gt=0)] | None, described("How long the run may take; 300 if left out.")
    ] = None
