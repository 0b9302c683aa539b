"""The tests that pytest collects of a project, as far as its files show: nothing is run or imported.

    tests/test_core.py    def test_send(): …                    a test
                          class TestSend: def test_a(self)      a test, and in a class below that takes it over
                          class SendCase(TestCase): …           its methods called `test…` are tests

Invariants:
- files, classes and functions are chosen by the project's settings of pytest;
- a base that another file defines is not looked into, nor is what plugins generate.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.workspace import Workspace
from bae_source.resources.tests.fixtures import Multiplied, last_name, multiplied
from bae_source.resources.tests.parameters import Cases, cases_of, parameters_of
from bae_source.resources.tests.settings import PytestSettings, pytest_settings

_CASE = ("TestCase", "Case")
_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)
_WITH_SUITES = (ast.If, ast.Try, ast.With)


class CollectedTest(Struct, frozen=True, kw_only=True):
    """A test function or method.

    Parameters:
        path: its file.
        names: the path of names in it, through the class that pytest collects it by.
        cases: its cases; None where it has no parameters.
    """

    path: str
    names: tuple[str, ...]
    cases: Cases | None = None


def files_of_tests(workspace: Workspace, settings: PytestSettings) -> tuple[str, ...]:
    """Return the files that pytest collects, sorted."""
    return tuple(path for path in workspace.census.paths if settings.holds_tests(path))


def tests_in(workspace: Workspace, path: str, settings: PytestSettings) -> tuple[CollectedTest, ...]:
    """Return the tests of a file, in its order.

    Raises:
        SourceError: it does not parse.
    """
    tree = workspace.tree_at(path)
    if tree.newer:
        return ()
    body = list(_statements(ast.parse(tree.text).body))
    return tuple(_File(path, body, settings, multiplied(workspace, path, body)).tests())


class _File:
    """A file of tests.

    Parameters:
        body: its statements.
        multiplied: the fixtures that multiply cases.
    """

    def __init__(self, path: str, body: Sequence[ast.stmt], settings: PytestSettings, multiplied: Multiplied) -> None:
        self._path = path
        self._body = body
        self._settings = settings
        self._multiplied = multiplied
        self._classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
        self._marks = [node.value for node in body if isinstance(node, ast.Assign) and _is_named(node, "pytestmark")]

    def tests(self) -> Iterator[CollectedTest]:
        """Yield its tests."""
        return self._inside(self._body, (), ())

    def _inside(
        self, body: Sequence[ast.stmt], around: tuple[str, ...], marks: Sequence[ast.expr], *, is_case: bool = False
    ) -> Iterator[CollectedTest]:
        """Yield the tests of a module or class; of two with one name the last."""
        last = {node.name: node for node in body if isinstance(node, (*_NODES, ast.ClassDef))}
        for name, node in last.items():
            if isinstance(node, ast.ClassDef):
                yield from self._in_class(node, around, marks)
            elif name.startswith("test") if is_case else self._settings.is_function(name) and not _is_fixture(node):
                yield CollectedTest(path=self._path, names=(*around, name), cases=self._cases(node, marks))

    def _cases(self, node: ast.FunctionDef | ast.AsyncFunctionDef, marks: Sequence[ast.expr]) -> Cases | None:
        """Return the cases of a test; pytest applies its own decorators before those of its class."""
        own = [*marks, *node.decorator_list]
        if self._multiplied.has(node, [*own, *self._marks], given=parameters_of(own)):
            return Cases(number=None)
        return cases_of(own)

    def _in_class(
        self, node: ast.ClassDef, around: tuple[str, ...], marks: Sequence[ast.expr]
    ) -> Iterator[CollectedTest]:
        family = _family(node, self._classes)
        is_case = any(last_name(base).endswith(_CASE) for each in family for base in each.bases)
        if not is_case and not self._settings.is_class(node.name):
            return
        members = [member for each in reversed(family) for member in _statements(each.body)]
        if not _is_collected(members, is_case=is_case):
            return
        inner = [*marks, *(each for owner in reversed(family) for each in owner.decorator_list)]
        inherited = {each.name: each for each in members if isinstance(each, (*_NODES, ast.ClassDef))}
        yield from self._inside(list(inherited.values()), (*around, node.name), inner, is_case=is_case)


def _family(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """Return a class and those above it in the file, the nearest first."""
    found = [node]
    for each in found:
        above = (classes.get(base.id) for base in each.bases if isinstance(base, ast.Name))
        found += (one for one in above if one is not None and one not in found)
    return found


def _is_collected(members: Sequence[ast.stmt], *, is_case: bool) -> bool:
    """Return whether pytest takes a class: none with `__test__ = False`, nor one of its own kind with `__init__`."""
    for member in members:
        if isinstance(member, ast.Assign) and _is_named(member, "__test__"):
            return isinstance(member.value, ast.Constant) and bool(member.value.value)
        if isinstance(member, ast.FunctionDef) and member.name in ("__init__", "__new__") and not is_case:
            return False
    return True


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, and those in suites that run when the module or class does."""
    for node in body:
        yield node
        if isinstance(node, _WITH_SUITES):
            yield from _statements([*node.body, *getattr(node, "orelse", ())])


def _is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        last_name(each.func if isinstance(each, ast.Call) else each).endswith("fixture") for each in node.decorator_list
    )


def _is_named(node: ast.Assign, name: str) -> bool:
    return any(last_name(each) == name for each in node.targets)


def broken_and_tests(
    workspace: Workspace, paths: Sequence[str], settings: PytestSettings
) -> tuple[tuple[CollectedTest, ...], tuple[str, ...]]:
    """Return the tests of some files, and the files that do not parse."""
    found: list[CollectedTest] = []
    broken: list[str] = []
    for path in paths:
        try:
            found += tests_in(workspace, path, settings)
        except ResourceError:
            broken.append(path)
    return tuple(found), tuple(broken)


def are_of_unittest(workspace: Workspace) -> bool:
    """Return whether all tests are methods of unittest's cases, and no file of tests names pytest."""
    settings = pytest_settings(workspace.files)
    files = files_of_tests(workspace, settings)
    if any(b"pytest" in (workspace.own_content(path) or b"") for path in files):
        return False
    found, _ = broken_and_tests(workspace, files, settings)
    return bool(found) and all(len(test.names) > 1 for test in found)
