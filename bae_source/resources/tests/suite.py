"""A project's tests as far as its files show: files with tests, the tests in them, and the users of fixtures.

    tests/test_core.py    def test_send(client): …            a test, which uses the fixture `client`
                          class TestSend: def test_a(self)    a test
                          class SendCase(TestCase): …         its methods called `test…` are tests
    tests/conftest.py     @pytest.fixture                     for all tests below `tests`
                          def client(): …
    app/core.py           tests/test_core.py                  is named after it, if there is no other `core`
    app/sub/core.py       tests/sub/test_core.py              is named after it, as test_sub_core.py is
                          >>> send(1)                         is a test as well, if pytest runs with --doctest-modules

Invariant: names decide. What a plugin makes of other files or names is not known, and nothing is imported to find out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cached_property

from msgspec import Struct

from bae_source.errors import ResourceError
from bae_source.project.workspace import Workspace
from bae_source.resources.tests.settings import PytestSettings, pytest_settings
from bae_source.syntax.names import uses as u
from bae_source.syntax.outline.summary import Entry

_PATTERNS = ("test_*.py", "*_test.py", "tests.py", "test.py")
_FRAME = frozenset(
    {"setUp", "tearDown", "setUpClass", "tearDownClass", "asyncSetUp", "asyncTearDown", "setUpTestData",
     "setup_method", "teardown_method", "setup_class", "teardown_class", "__init__"}
)  # fmt: skip
_MODULE_FRAME = frozenset(
    {"setUpModule", "tearDownModule", "setup_module", "teardown_module", "setup_function", "teardown_function"}
)
_FIXTURE = re.compile(r"(?:\w+\.)*\w*fixture")
_UNSEEN_USERS = re.compile(r"\bautouse\s*=\s*True|\bname\s*=")
_EXAMPLE = re.compile(rb"^[ \t]*>>> ", re.MULTILINE)
_FOLDER = re.compile(r"(?:[^/]+/)*?tests?/")
"""The outermost folder of tests around a file."""
CONFTEST = "conftest.py"


class Test(Struct, frozen=True, order=True):
    """A test, a class of tests, or with no names a whole file of them.

    Parameters:
        path: its file.
        names: the path of names in it.
    """

    path: str
    names: tuple[str, ...] = ()


class Suite:
    """The tests of a project.

    Parameters:
        workspace: the project.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._known: dict[str, dict[tuple[str, ...], Entry]] = {}

    def is_test_file(self, path: str) -> bool:
        """Return whether a file holds tests."""
        name = path.rpartition("/")[2]
        return any(fnmatchcase(name, pattern) for pattern in self._patterns)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """Every file of tests, sorted."""
        return tuple(path for path in self.workspace.census.paths if self.is_test_file(path))

    def has_doctests(self, path: str) -> bool:
        """Return whether a file seems to hold examples in docstrings that pytest runs."""
        return self._settings.doctests and _EXAMPLE.search(self.workspace.own_content(path) or b"") is not None

    def below(self, path: str) -> list[str]:
        """Return the files of tests that a conftest serves, or any other file beside them."""
        folder = path.rpartition("/")[0]
        return [file for file in self.files if not folder or file.startswith(f"{folder}/")]

    def named_after(self, module: str) -> list[str]:
        """Return the files of tests that have a module's name, and no other's as much, but for helpers of tests."""
        return [path for path in self.files if _likeness(path, module) and self._is_most_alike(path, module)]

    def test_at(self, path: str, names: tuple[str, ...]) -> Test | None:
        """Return the test to run for a definition: itself, or the class or file that it is part of.

        A helper or a fixture has users that have to be found, and None stands for that.
        """
        if not names or not self.is_test_file(path):
            return Test(path) if self.is_test_file(path) else None
        if len(names) == 1 and names[0] in _MODULE_FRAME:
            return Test(path)
        for length, name in enumerate(names, 1):
            if name.startswith("test") and self._kind(path, names[:length]) == "function":
                return Test(path, names[:length])
            if name in _FRAME and length > 1:
                return Test(path, names[: length - 1])
        if self._kind(path, names) == "class" and self._has_tests(path, names):
            return Test(path, names)
        return None

    def tests_in(self, path: str) -> tuple[Test, ...]:
        """Return the tests of a file; the file itself where it does not parse, has examples alone, or other names.

        A class whose name does not begin with `Test` holds some if it has a base, which may be `TestCase`.
        """
        entries = self._entries(path)
        if entries and self._settings.are_named_otherwise:
            return (Test(path),)
        found = [
            Test(path, names)
            for names, entry in entries.items()
            if entry.kind == "function" and names[-1].startswith("test")
            if all(self._may_hold(entries.get(names[:length])) for length in range(1, len(names)))
        ]
        whole = self.has_doctests(path) or self._is_broken(path)
        return tuple(found) or ((Test(path),) if whole else ())

    def _may_hold(self, around: Entry | None) -> bool:
        return (
            around is not None
            and around.kind == "class"
            and (around.names[0].startswith("Test") or "(" in around.signature)
        )

    def _is_broken(self, path: str) -> bool:
        try:
            self.workspace.index.summary(path)
        except ResourceError:
            return True
        return False

    def is_fixture(self, path: str, names: tuple[str, ...]) -> bool:
        """Return whether a function is a fixture of pytest."""
        return any(_FIXTURE.fullmatch(each) for each in self._decorators(path, names))

    def users(self, path: str, names: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the definitions that ask for a fixture by its name, and whole files where that is unknown."""
        serves = self._served(path)
        if _UNSEEN_USERS.search(self._head(path, names)):
            yield from ((file, ()) for file in serves if self.is_test_file(file))
            return
        word = names[-1]
        holding = set(self.workspace.index.mentioning({word}).paths)
        for file, uses in self.workspace.index.uses_of([each for each in serves if each in holding]):
            if not isinstance(uses, ResourceError):
                yield from ((file, owner) for owner in _askers(uses, word))

    def _served(self, path: str) -> list[str]:
        """Return the files whose tests and fixtures may ask for a fixture of a file."""
        if path.rpartition("/")[2] == CONFTEST:
            folder = path.removesuffix(CONFTEST)
            others = (each for each in self.workspace.census.paths if each.endswith(CONFTEST))
            return [*self.below(path), *(each for each in others if each.startswith(folder))]
        if self.is_test_file(path):
            return [path]
        conftests = (each for each in self.workspace.census.paths if each.endswith(CONFTEST))
        return [*self.files, *conftests]  # it may be imported, or named as a plugin

    @cached_property
    def _settings(self) -> PytestSettings:
        return pytest_settings(self.workspace.files)

    @cached_property
    def _patterns(self) -> tuple[str, ...]:
        return (*_PATTERNS, *self._settings.files)

    @cached_property
    def _tested(self) -> Mapping[str, str]:
        """The paths of all modules that are not themselves files of tests, by name."""
        return {each.name: each.path for each in self.workspace.census.modules if not self.is_test_file(each.path)}

    def _is_most_alike(self, path: str, module: str) -> bool:
        alike = _likeness(path, module)
        rivals = (other for name, other in self._tested.items() if name != module and _likeness(path, name) >= alike)
        return all(_helps(other, path) for other in rivals)

    def _kind(self, path: str, names: tuple[str, ...]) -> str:
        entry = self._entries(path).get(names)
        return entry.kind if entry else ""

    def _decorators(self, path: str, names: tuple[str, ...]) -> tuple[str, ...]:
        entry = self._entries(path).get(names)
        return entry.decorators if entry else ()

    def _has_tests(self, path: str, names: tuple[str, ...]) -> bool:
        return any(each[:-1] == names and each[-1].startswith("test") for each in self._entries(path))

    def _head(self, path: str, names: tuple[str, ...]) -> str:
        """Return the decorators of a definition as they are written."""
        entry = self._entries(path).get(names)
        lines = (self.workspace.own_content(path) or b"").decode("utf-8", "replace").split("\n")
        return "\n".join(lines[entry.first - 1 : entry.keyword - 1]) if entry else ""

    def _entries(self, path: str) -> Mapping[tuple[str, ...], Entry]:
        """Return the definitions of a file by their paths of names; of several with one name the first."""
        if path not in self._known:
            found: dict[tuple[str, ...], Entry] = {}
            self._known[path] = found
            try:
                entries = self.workspace.index.summary(path).entries
            except ResourceError:
                return found
            qualnames: list[tuple[str, ...]] = []
            for entry in entries:
                around = qualnames[entry.parent] if entry.parent >= 0 else ()
                qualnames.append((*around, entry.names[0]))
                found.setdefault(qualnames[-1], entry)
        return self._known[path]


def _askers(uses: u.Uses, word: str) -> Iterator[tuple[str, ...]]:
    """Yield the functions with a parameter of a name, and the definitions that `usefixtures("name")` decorates."""
    for scope in uses.scopes:
        if scope.kind == u.FUNCTION_SCOPE and any(each[0] == u.PARAMETER for each in scope.names.get(word, ())):
            yield _names(uses.owners[scope.owner])
    yield from (_names(uses.owners[text.owner]) for text in uses.strings.get(word, ()))


def _names(qualname: str) -> tuple[str, ...]:
    return tuple(part.partition("[")[0] for part in qualname.split(".")) if qualname else ()


def _likeness(path: str, module: str) -> int:
    """Return how many parts of a module's name a file of tests has, counted from the last: 0 if its name is another.

    tests/test_core.py, tests/core_test.py      app.sub.core    1
    tests/test_sub_core.py                                      2
    tests/sub/test_core.py, sub/tests/test_core.py              2
    """
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".py").strip("_")
    bare = stem.removeprefix("test_").removeprefix("tests_").removesuffix("_test").removesuffix("_tests").strip("_")
    parts = [part.strip("_") for part in module.split(".")]
    if stem == bare or not bare.endswith(parts[-1]):
        return 0
    alike = next((length for length in range(1, len(parts) + 1) if "_".join(parts[-length:]) == bare), 0)
    for around in reversed(folder.split("/")):
        if 0 < alike < len(parts) and around.strip("_") == parts[-alike - 1]:
            alike += 1
    return alike


def _helps(module: str, path: str) -> bool:
    """Return whether a module lies among the tests that a file of tests is one of, which need not be about it."""
    folder = _FOLDER.match(module)
    return folder is not None and path.startswith(folder[0])
