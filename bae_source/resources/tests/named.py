"""Names of tests, resolved to the tests to run or list.

tests                                  all files of tests below
tests.test_core                        a file
tests.test_core.TestSend.test_a        a test with all its cases
tests.test_core.test_b[1-x]            one of them
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bae_source.errors import RequestError
from bae_source.model.call import Call
from bae_source.project.naming.finding import find_code
from bae_source.project.workspace import Workspace
from bae_source.resources.tests.run import WantedTest


def named_tests(workspace: Workspace, names: Iterable[str], files: Sequence[str]) -> tuple[WantedTest, ...]:
    """Return the tests that some names stand for.

    Parameters:
        files: every file of tests.

    Raises:
        RequestError: `invalid_arguments` for a name of something that holds no tests.
        ResourceError: whatever resolving a name raises.
    """
    return tuple(each for name in dict.fromkeys(names) for each in _named(workspace, name, files))


def _named(workspace: Workspace, name: str, files: Sequence[str]) -> list[WantedTest]:
    bare, bracket, case = name.partition("[")
    found = find_code(workspace, bare)
    if isinstance(found, str):
        return _below(workspace, name, found, files)
    names = tuple(segment.name for segment in found.address.qualname)
    if not names and found.module.package:
        return _below(workspace, name, found.module.name, files)
    if found.module.path not in files:
        raise _no_tests(name)
    return [WantedTest(path=found.module.path, names=names, case=bracket + case if bracket else None)]


def _below(workspace: Workspace, name: str, package: str, files: Sequence[str]) -> list[WantedTest]:
    modules = ((path, workspace.census.module(path)) for path in files)
    inside = [
        WantedTest(path=path)
        for path, module in modules
        if module is not None and f"{module.name}.".startswith(f"{package}.")
    ]
    if not inside:
        raise _no_tests(name)
    return inside


def _no_tests(name: str) -> RequestError:
    return RequestError(
        "invalid_arguments",
        f"{name} holds no tests that pytest collects here.",
        hints=[
            Call("tests list", then="lists those that there are."),
            Call("tests run", affected_by=(name,), then="runs those that it concerns."),
        ],
    )


def address_of(workspace: Workspace, path: str, names: Iterable[str] = ()) -> str:
    """Return the address of a test, or of a file of tests."""
    module = workspace.census.module(path)
    return ".".join((module.name if module else path, *names))
