"""List the tests of a project."""

# Annotations are no text here: typing and msgspec would compile each of them in every process.

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from msgspec import Struct

from bae_source.model.outcome import Notice, Outcome
from bae_source.model.request import Request, described
from bae_source.model.text import counted, listed
from bae_source.project.workspace import Workspace
from bae_source.resources.tests.collected import CollectedTest, broken_and_tests, files_of_tests
from bae_source.resources.tests.named import address_of, named_tests
from bae_source.resources.tests.run import WantedTest
from bae_source.resources.tests.settings import pytest_settings


class Listed(Struct, frozen=True):
    """A test that was found, by its address."""

    address: str


class TestsList(Request, frozen=True, kw_only=True):
    """List the tests that pytest collects, as far as the project's files tell: nothing is run or imported.

    Without names each file of tests has a line with how many tests it holds; of names all tests below are listed, with
    the cases of literal parametrisations. The project's settings of pytest count: testpaths, norecursedirs,
    python_files, python_classes, python_functions. What plugins and hooks make of tests, and what a class inherits from
    another file, only a run shows.
    """

    __test__: ClassVar[bool] = False  # pytest: this is none
    verb: ClassVar[str] = "tests_list"
    lists_addresses: ClassVar[bool] = True
    family: ClassVar[str] = "tests"
    when: ClassVar[str] = "Use it to see which tests there are, before some of them are run."
    examples: ClassVar[tuple[str, ...]] = (
        "tests list",
        "tests list tests.test_core",
        "tests list tests.test_core.TestSend",
    )

    tests: Annotated[
        tuple[str, ...],
        described("Packages, modules, classes or functions of tests; all if left out.", placed=True, starred=True),
    ] = ()

    def answer(self, workspace: Workspace) -> Outcome:
        """Answer from the workspace.

        Raises:
            ResourceError: a name is none of tests.
        """
        settings = pytest_settings(workspace.files)
        files = files_of_tests(workspace, settings)
        wanted = named_tests(workspace, self.tests, files)
        paths = tuple(dict.fromkeys(each.path for each in wanted)) if self.tests else files
        found, broken = broken_and_tests(workspace, paths, settings)
        if self.tests:
            found = tuple(test for test in found if any(_holds(each, test) for each in wanted))
        lines = list(_tests(workspace, found) if self.tests else _files(workspace, paths, found))
        notices = [
            *(
                [Notice("not_parsed", f"Not listed, since they do not parse: {_listed(workspace, broken)}.")]
                if broken
                else ()
            ),
            *(
                [Notice("selected", f"pytest's settings leave some out: {'; '.join(settings.selects)}.")]
                if settings.selects
                else ()
            ),
        ]
        many = any(test.cases for test in found)
        number = f"{counted(len(found), 'test')}{', each with its cases counted once,' if many else ''}"
        head = f"{number} in {counted(len(paths), 'file')}." if found else "(no tests)"
        return Outcome(
            status="answer",
            text="\n".join([head, *lines]),
            warnings=tuple(notices),
            complete=not broken,
            found=tuple(Listed(address_of(workspace, test.path, test.names)) for test in found),
        )


def _holds(wanted: WantedTest, test: CollectedTest) -> bool:
    return wanted.path == test.path and test.names[: len(wanted.names)] == wanted.names


def _listed(workspace: Workspace, paths: Sequence[str]) -> str:
    return listed([address_of(workspace, path) for path in paths])


def _files(workspace: Workspace, paths: Sequence[str], found: Sequence[CollectedTest]) -> Iterator[str]:
    """Draw a line for each file: `tests.test_core: 14 tests (2 classes, 3 functions)`."""
    for path in paths:
        inside = [test for test in found if test.path == path]
        classes = {test.names[0] for test in inside if len(test.names) > 1}
        functions = sum(len(test.names) == 1 for test in inside)
        kinds = [f"{len(classes)} {'class' if len(classes) == 1 else 'classes'}"] if classes else []
        kinds += [counted(functions, "function")] if functions else []
        parts = f" ({', '.join(kinds)})" if kinds else ""
        yield f"{address_of(workspace, path)}: {counted(len(inside), 'test')}{parts}"


def _tests(workspace: Workspace, found: Sequence[CollectedTest]) -> Iterator[str]:
    """Draw a line for each test, and for each of its cases."""
    for test in found:
        address = address_of(workspace, test.path, test.names)
        if test.cases is None:
            yield address
        elif test.cases.ids:
            yield from (f"{address}[{each}]" for each in test.cases.ids)
        else:
            yield f"{address}{test.cases.shown}"
