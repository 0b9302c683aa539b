"""The tests that a change concerns: those that reach a changed symbol; where none does, those of its module.

    def send(): …          changed
    def post(): send()     reaches it
    def test_post(): …     calls `post`, so it is run
    @pytest.fixture        a fixture that reaches it leads to the tests that ask for it
    test_core.py           for a symbol of `core` that no test reaches, and what else has `core` imported:
    import core            files of tests that import it, and the nearest of those that import what imports it
    open("words.txt")      reaches a data file of that name; where no test does, those of its package are run

The whole suite is chosen where choosing would cost more than running: where the search takes too long, or finds more
than half of all tests. Then files with tests that were found come first.

Invariants:
- what may be a reference counts as one: to miss a test is worse than to run one more;
- sure references are followed before the others, and near ones before far ones, imports as well, so that what is left
  out, because a limit is reached, is what matters least; the answer names it;
- a test is in the answer only if it is there after the change;
- files of tests that are named after a changed module are always among those that are run.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import count

from msgspec import Struct

from bae_source.errors import LookupFailed, ResourceError
from bae_source.model.plan import ModuleFile, Plan
from bae_source.model.reference import Reference
from bae_source.project.files.data_listing import owner_of
from bae_source.project.files.layout import STUB
from bae_source.project.files.unseen import name_at
from bae_source.project.importing.importers import importers_of
from bae_source.project.naming.resolve import Resolved, resolve
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search.references import references_to
from bae_source.project.workspace import Workspace
from bae_source.resources.tests.run import WantedTest
from bae_source.resources.tests.suite import CONFTEST, Suite, Test
from bae_source.syntax.outline.definitions import MODULE, Kind
from bae_source.system.clock import ticks
from bae_source.system.graphs import reached
from bae_source.verification.data_named import changed_data, naming
from bae_source.verification.tests_judge import ChosenTests

MOST_TESTS = 200
MOST_SYMBOLS = 40
MOST_FAR = 20
MOST_IMPORTED = 40
_NO_USE = ("import", "export")
_LONGEST = 2.0
"""Seconds that choosing may take at most."""
_SHORTEST = 0.3
"""So long a child takes to load pytest; until then choosing costs nothing."""
_SHARE = 0.1
"""Of the time that the whole suite takes, which is known where it was run."""
_HALF = 0.5


class Affected(Struct, frozen=True, kw_only=True):
    """The tests to run.

    Parameters:
        tests: sorted; where a whole file is to be run, no test of it stands beside it.
        left_out: what was not followed, or not taken, because there was too much: addresses.
        suite: the tests of the project.
    """

    tests: tuple[Test, ...]
    left_out: tuple[str, ...] = ()
    suite: Suite

    @property
    def complete(self) -> bool:
        """True where this is all that was found, and all was looked at."""
        return not self.left_out


def affected_tests(
    before: Workspace, after: Workspace, plan: Plan, *, enough: Callable[[int], bool] = lambda _: False
) -> Affected:
    """Return the tests that a change concerns.

    Parameters:
        before: the project as the change was planned on it.
        after: the project as it will be.
        enough: says of the number of tests found whether the search ends, and leaves out what it has not followed.
    """
    search = _Search(before, after, enough)
    for module in plan.modules:
        search.module(module, [each for each in plan.changed if _home(each, plan.modules) == module.name])
    search.data(changed_data(plan))
    return search.answer()


def _home(address: str, modules: Iterable[ModuleFile]) -> str:
    """Return the one of some modules that a symbol is in: the longest name wins."""
    names = (each.name for each in modules if f"{address}.".startswith((f"{each.name}.", f"{each.name}@")))
    return max(names, key=len, default="")


class _Search:
    """Follows references from changed symbols to tests."""

    def __init__(self, before: Workspace, after: Workspace, enough: Callable[[int], bool]) -> None:
        self.enough = enough
        self.before = before
        self.after = after
        self.suite = Suite(after)
        self.tests: dict[Test, None] = {}
        self.left_out: dict[str, None] = {}
        self._paths = {module.name: module.path for module in after.census.modules}
        self._modules = {module.name for module in before.census.modules} | self._paths.keys()
        self._seen: set[str] = set()
        self._at = ""
        self._from: dict[str, set[str]] = {}
        self._arrived: set[str] = set()
        self._far: set[Test] = set()
        self._importers: dict[str, list[str]] = {}
        self._order = count()
        self._waiting: list[tuple[int, int, int, str]] = []

    def module(self, module: ModuleFile, changed: Iterable[str]) -> None:
        """Find the tests of one changed module, by the symbols that changed in it."""
        # `send` of app/core.py changed                    followed: app.core.send
        # app/post.py      def post(): send()              uses it: app.post.post is followed next, one hop further
        # test_post.py     def test_post(): post()         a test: taken, so `post` and `send` reach one
        # Only if `send` reached none: test_core.py, and the files of tests that import app.core.
        if not module.path.endswith(".py"):
            return
        self._take_examples(module.path)
        symbols = [_symbol(address) for address in changed]
        whole = [address for address in symbols if not self._push(address)]
        self._follow()
        if symbols and not whole and self._reaching().issuperset(symbols):
            return
        if module.path.rpartition("/")[2] == CONFTEST:
            self._add(Test(path) for path in self.suite.below(module.path))
        elif self.suite.is_test_file(module.path):
            self._add([Test(module.path)])
        else:
            self._of_module(module)

    def data(self, paths: Sequence[str]) -> None:
        """Find the tests of changed data files: of the code that names them, its modules, else the packages around."""
        found, complete = naming(self.after, paths) if paths else ({}, True)
        for path, hits in found.items():
            owner = owner_of(self.after.census, path.rpartition("/")[0])
            if owner is not None and not complete:
                self.left_out[f"{owner[0]}:{path[len(owner[1]) + 1 :]}"] = None
            self._at = path
            for address in [hit.address for hit in hits if hit.address != hit.module]:
                self._push(address, 1)
            self._follow()
            inside = path in self._reaching()
            self._at = path
            for module in [hit.module for hit in hits if hit.address == hit.module or not inside]:
                self._used_by_module(module)
            if owner is not None and path not in self._reaching():
                self._used_by_module(owner[0])
            self._at = ""

    def answer(self) -> Affected:
        """Return the tests that were found, up to the limit."""
        kept = [test for test in self.tests if not any(test != one and _holds(one, test) for one in self.tests)]
        taken, rest = kept[:MOST_TESTS], kept[MOST_TESTS:]
        left_out = dict.fromkeys([*map(self._address, rest), *self.left_out])
        return Affected(tests=tuple(sorted(taken)), left_out=tuple(left_out), suite=self.suite)

    def _push(self, address: str, unsure: int = 0, hops: int = 0) -> bool:
        """Note a symbol to follow; return False for what is a whole module."""
        address = _symbol(address)
        if address in self._modules:
            return False
        if self._is_new(address):
            heapq.heappush(self._waiting, (unsure, hops, next(self._order), address))
        return True

    def _is_new(self, address: str) -> bool:
        """Note that the present symbol leads to an address; return whether none did before."""
        self._from.setdefault(address, set()).add(self._at)
        is_new = address not in self._seen
        self._seen.add(address)
        return is_new

    def _reaching(self) -> set[str]:
        """Return all addresses that lead to a test."""
        return set(reached(self._arrived, lambda each: self._from.get(each, ())))

    def _follow(self) -> None:
        followed = 0
        while self._waiting:
            unsure, hops, _, address = heapq.heappop(self._waiting)
            if followed >= MOST_SYMBOLS or len(self.tests) > MOST_TESTS or self.enough(len(self.tests)):
                self.left_out[address] = None
                continue
            followed += 1
            self._at = address
            found = self._resolved(address)
            if found is not None and not self._is_test(found[1]):
                self._take_examples(found[1].module.path)
                self._users(*found, unsure, hops + 1)
        self._at = ""

    def _is_test(self, resolved: Resolved) -> bool:
        """Take a symbol that is a test, or a part of one, if it is there after the change."""
        test = self.suite.test_at(resolved.module.path, _names(resolved))
        if test is not None and self._is_there(str(resolved.address)):
            self._add([test])
        return test is not None

    def _take_examples(self, path: str) -> None:
        """Take the examples in the docstrings of a file that uses what changed, where pytest runs them."""
        if path in self.after.census.stamps and self.suite.has_doctests(path):
            self.tests[Test(path)] = None  # they may be about anything, and no symbol is reached by that

    def _users(self, workspace: Workspace, resolved: Resolved, unsure: int, hops: int) -> None:
        """Note the users of a symbol of a workspace."""
        names = _names(resolved)
        if self.suite.is_fixture(resolved.module.path, names):
            for path, owner in self.suite.users(resolved.module.path, names):
                self._user(path, owner, unsure, hops)
        for address in _around(resolved):
            self._push(address, unsure, hops)
        for reference in self._references(workspace, resolved):
            if reference.kind in _NO_USE or reference.module.endswith(STUB):  # a stub is never run
                continue
            further = unsure + (reference.certainty != "sure")
            if reference.address == reference.module:
                self._used_by_module(reference.module)
            elif reference.address != str(resolved.address) and not self._is_quickly_a_test(reference):
                self._push(reference.address, further, hops)

    def _is_quickly_a_test(self, reference: Reference) -> bool:
        """Take the test that a reference stands in, if any, without having its file parsed."""
        path = self._paths.get(reference.module)
        names = tuple(part.partition("[")[0].partition("@")[0] for part in _inner(reference).split("."))
        test = self.suite.test_at(path, names) if path else None
        if test is not None:
            self._add([test])
        return test is not None

    def _user(self, path: str, owner: tuple[str, ...], unsure: int, hops: int) -> None:
        module = self.after.census.module(path)
        if module is None:
            return
        if owner:
            self._push(".".join((module.name, *owner)), unsure, hops)
        elif self.suite.is_test_file(path):
            self._add([Test(path)])

    def _used_by_module(self, name: str) -> None:
        """Take the tests of a module that uses a symbol when it is imported."""
        module = self.after.census.module(self._paths.get(name, ""))
        if module is None or not self._is_new(name):
            return
        user, self._at = self._at, name
        self._take_examples(module.path)
        if self.suite.is_test_file(module.path):
            self._add([Test(module.path)])
        elif module.path.rpartition("/")[2] == CONFTEST:
            self._add(Test(path) for path in self.suite.below(module.path))
        else:
            self._of_module(module)
        self._at = user

    def _of_module(self, module: ModuleFile) -> None:
        """Take the files of tests that are named after a module, and those in which it is imported."""
        self._add(map(Test, self.suite.named_after(module.name)))
        waiting = deque([module.name])
        seen = {module.name}
        while waiting:
            name = waiting.popleft()
            if self.enough(len(self.tests)):
                self.left_out[name] = None
                return
            is_far = name != module.name
            if is_far and name not in self._importers and not self._may_look_further():
                self.left_out[name] = None
                continue
            for importer in self._importing(name):
                tests = [Test(path) for path in self._run_with(importer)]
                self._take_far(tests) if is_far else self._add(tests)
                if importer not in seen and not tests:
                    seen.add(importer)
                    waiting.append(importer)

    def _may_look_further(self) -> bool:
        return len(self._importers) < MOST_IMPORTED and len(self._far) < MOST_FAR

    def _take_far(self, tests: Iterable[Test]) -> None:
        """Take tests in which a module is imported through others, as long as there are not too many."""
        for test in tests:
            if test in self.tests or len(self._far) < MOST_FAR:
                self._far.update({test} - self.tests.keys())
                self._add([test])
            else:
                self.left_out[self._address(test)] = None

    def _run_with(self, name: str) -> list[str]:
        """Return the files of tests that a module is, or that it is a conftest for."""
        path = self._paths.get(name, "")
        return self.suite.below(path) if path.rpartition("/")[2] == CONFTEST else self._files_of_tests.get(name, [])

    @cached_property
    def _files_of_tests(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self.suite.files:
            module = self.after.census.module(path)
            if module is not None:
                found.setdefault(module.name, []).append(path)
        return found

    def _importing(self, name: str) -> list[str]:
        """Return the modules that import a module, or something in it."""
        if name not in self._importers:
            self._importers[name] = []
            found = self._resolved(f"{name}@module")
            if found is not None:
                self._importers[name] = self._importers_of(*found)
        return self._importers[name]

    def _importers_of(self, workspace: Workspace, resolved: Resolved) -> list[str]:
        try:
            project = project_of(workspace)
            references, unreadable = importers_of(project, sought_of(project.names, resolved))
        except ResourceError:
            self.left_out[resolved.module.name] = None
            return []
        self._leave_out(workspace, unreadable)
        names = dict.fromkeys(each.module for each in references if each.certainty != "mention")
        return [name for name in names if not name.endswith(STUB)]  # a stub is never run

    def _references(self, workspace: Workspace, resolved: Resolved) -> Sequence[Reference]:
        """Return the references to a symbol of a workspace."""
        try:
            references = references_to(project_of(workspace), resolved)
        except ResourceError:
            self.left_out[str(resolved.address)] = None
            return ()
        self._leave_out(workspace, (path for path, _ in references.unreadable))
        return references.found

    def _leave_out(self, workspace: Workspace, paths: Iterable[str]) -> None:
        """Note files, and folders, that could not be read."""
        for path in paths:
            self.left_out[name_at(workspace.census, path)] = None

    def _resolved(self, address: str) -> tuple[Workspace, Resolved] | None:
        """Return the symbol of an address, with its workspace.

        The project as it was is searched first: what is known of it is kept from request to request, and what is new in
        the other one is among what changed.
        """
        for workspace in (self.before, self.after):
            try:
                return workspace, resolve(workspace, address)
            except LookupFailed as error:
                if error.code == "ambiguous_symbol":
                    self.left_out[address] = None
            except ResourceError:
                self.left_out[address] = None
        return None

    def _is_there(self, address: str) -> bool:
        try:
            resolve(self.after, address)
        except ResourceError:
            return False
        return True

    def _add(self, tests: Iterable[Test]) -> None:
        there = [test for test in tests if test.path in self.after.census.stamps]
        self.tests.update(dict.fromkeys(there))
        if there:
            self._arrived.add(self._at)

    def _address(self, test: Test) -> str:
        module = self.after.census.module(test.path)
        return ".".join((module.name if module else test.path, *test.names))


def _symbol(address: str) -> str:
    """Return the whole symbol of an address that may name a part of one."""
    return address if "@module" in address or "@stub" in address else address.partition("@")[0]


def _inner(reference: Reference) -> str:
    return reference.address[len(reference.module) + 1 :]


def _names(resolved: Resolved) -> tuple[str, ...]:
    return tuple(segment.name for segment in resolved.address.qualname)


def _around(resolved: Resolved) -> Iterator[str]:
    """Yield the outer symbol whose uses count, where uses do not name the symbol itself.

    A special method is called by what its class's instances are used for; what is inside a function, by the function.
    """
    whole = str(resolved.address)
    outer, _, last = whole.rpartition(".")
    if len(resolved.address.qualname) > 1:
        assert resolved.group is not None, "a symbol has definitions"
        inside = resolved.tree.outline.definitions
        parent = inside[resolved.group.members[0]].parent
        is_method = parent != MODULE and inside[parent].kind is Kind.CLASS
        if not is_method or (last.startswith("__") and last.partition("[")[0].endswith("__")):
            yield outer


def _holds(outer: Test, inner: Test) -> bool:
    return outer.path == inner.path and inner.names[: len(outer.names)] == outer.names


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
    if plan.releases or not affected.complete or _are_most(suite, tests):  # what a release changes is unknown
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
    """Return whether tests are more than half of those of the project, as far as its files tell."""
    every = {path: len(suite.tests_in(path)) for path in suite.files}
    wanted: dict[str, int] = {}
    for test in tests:
        all_of_it = every.get(test.path, 1)
        wanted[test.path] = all_of_it if not test.names else min(all_of_it, wanted.get(test.path, 0) + 1)
    return sum(wanted.values()) > sum(every.values()) * _HALF
