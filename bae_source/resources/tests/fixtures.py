"""Fixtures with parameters of their own: a test that asks for one, by others too, has cases that no decorator tells.

    @pytest.fixture(params=[1, 2])      def size(request)       has parameters
    @pytest.fixture                     def box(size)           has those of `size`
    @pytest.fixture(autouse=True)       def around(box)         brings them to every test below

Invariant: fixtures are known by their names, in the file of a test and in the conftests above it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.workspace import Workspace

ANYIO = frozenset({"anyio_backend", "anyio_backend_name", "anyio_backend_options"})
"""The fixtures by which a plugin runs a test marked `anyio` on each of its backends."""
_CONFTEST = "conftest.py"
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Fixture(Struct, frozen=True, kw_only=True):
    """A fixture: the names of those that it asks for, whether it has parameters, and whether all tests get it."""

    name: str
    asks_for: frozenset[str]
    has_parameters: bool
    is_for_all: bool


class Multiplied(Struct, frozen=True, kw_only=True):
    """The names of fixtures that multiply the cases of a test, and whether those that all tests get do so."""

    names: frozenset[str]
    all_tests: bool

    def has(self, node: Function, marks: Iterable[ast.expr], *, given: Iterable[str]) -> bool:
        """Return whether a test asks for such a fixture.

        Parameters:
            marks: its decorators, those of its class, and the marks of its file.
            given: the parameters that its decorators give.
        """
        asked = arguments_of(node) - set(given)
        texts = {
            inner.value if isinstance(inner, ast.Constant) else inner.attr
            for mark in marks
            if not (isinstance(mark, ast.Call) and last_name(mark.func) == "parametrize")
            for inner in ast.walk(mark)
            if isinstance(inner, (ast.Constant, ast.Attribute))
        }
        if "anyio" in texts:
            asked |= ANYIO
        return self.all_tests or bool(self.names & (asked | texts))


def multiplied(workspace: Workspace, path: str, body: Iterable[ast.stmt]) -> Multiplied:
    """Return the fixtures that multiply the cases of the tests in a file with some statements."""
    fixtures = {each.name: each for each in _above(workspace, path)} | {each.name: each for each in _fixtures(body)}
    names = {each.name for each in fixtures.values() if each.has_parameters} | ANYIO
    while more := {each.name for each in fixtures.values() if each.asks_for & names} - names:
        names |= more
    return Multiplied(
        names=frozenset(names), all_tests=any(each.is_for_all and each.name in names for each in fixtures.values())
    )


def arguments_of(node: Function) -> frozenset[str]:
    """Return the names of a function's parameters without a default."""
    arguments = node.args
    placed = [*arguments.posonlyargs, *arguments.args]
    required = placed[: len(placed) - len(arguments.defaults)]
    return frozenset(each.arg for each in (*required, *arguments.kwonlyargs))


def _above(workspace: Workspace, path: str) -> Iterator[Fixture]:
    """Yield the fixtures of the conftests above a file, the outermost first."""
    folders = path.split("/")[:-1]
    for length in range(len(folders) + 1):
        conftest = "/".join((*folders[:length], _CONFTEST))
        if conftest in workspace.census.stamps:
            try:
                tree = workspace.tree_at(conftest)
            except ResourceError:
                continue
            if not tree.newer:
                yield from _fixtures(ast.parse(tree.text).body)


def _fixtures(body: Iterable[ast.stmt]) -> Iterator[Fixture]:
    for node in body:
        if isinstance(node, Function):
            for decorator in node.decorator_list:
                function = decorator.func if isinstance(decorator, ast.Call) else decorator
                if last_name(function).endswith("fixture"):
                    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
                    yield Fixture(
                        name=_name(keywords) or node.name,
                        asks_for=arguments_of(node),
                        has_parameters=any(each.arg == "params" for each in keywords),
                        is_for_all=any(each.arg == "autouse" for each in keywords),
                    )
                    break


def _name(keywords: Sequence[ast.keyword]) -> str:
    given = (each.value for each in keywords if each.arg == "name")
    return next((str(each.value) for each in given if isinstance(each, ast.Constant)), "")


def last_name(node: ast.expr) -> str:
    """Return the last name of a chain: `fixture` of `pytest.fixture`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
