"""The verifier that runs tests: those that a change concerns must not fail because of it.

They are run twice: before anything is written, and on what was written. What failed before, or could not even be
collected then, is not blamed on the change.

Invariants:
- the run before is on the very files that are about to change, so nothing has to be imitated; it costs its time;
- a test that hangs or ends the interpreter fails, and those behind it are run by another child;
- whatever tests print, what is kept of it is bounded; children are killed whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from bae_source.errors import TransactionError
from bae_source.model.outcome import Check, Notice, Result
from bae_source.model.plan import ModuleFile
from bae_source.model.text import listed
from bae_source.reloading.child.addresses import Addresses
from bae_source.reloading.child.import_check import PROBE as _IMPORTING
from bae_source.reloading.child.import_check import Contents, Setting, probe
from bae_source.system.child import CannotStart, Finished
from bae_source.system.scratch import Scratch
from bae_source.verification.judge import Place

PROBE = _IMPORTING.with_name("suite_probe.py")  # it takes from that one what both do
_MOST_CHILDREN = 5
_MOST_SHOWN = 10
Others = Callable[[str, tuple[str, ...] | None], Iterable[tuple[str, ...]]]
"""The tests of a file, by its path, that may be concerned; of all its tests, or of one that is given."""


class WantedTest(Struct, frozen=True, kw_only=True):
    """A test to run.

    Parameters:
        path: its file, project-relative.
        names: the path of names in it; empty for the whole file.
        address: what it is called.
    """

    path: str
    names: tuple[str, ...]
    address: str


class _Failed(Struct, frozen=True, kw_only=True):
    """A test that failed, or a file that could not be collected: its address, what was said, and where."""

    address: str
    said: str
    place: str


class _Ran(Struct, kw_only=True):
    """How some tests went, by pytest's own ids; "" stands for the run as such.

    The addresses are those of tests that were begun, but for the ones in files that change: they may go on purpose.
    `aside` is what pytest collects of the project, and was not wanted: files, and tests of files that were wanted.
    """

    passed: set[str]
    failed: dict[str, _Failed]
    ended: set[str]
    stopped: set[str]
    addresses: dict[str, str]
    aside: list[tuple[str, tuple[str, ...] | None]] | None = None
    deselected: tuple[str, ...] = ()
    less: bool = False
    stuck: int = 0

    @property
    def broken(self) -> bool:
        """Whether the run as such failed."""
        return "" in self.failed

    def count(self) -> int:
        """Return how many tests came to an end."""
        return len(self.ended | {each for each in self.failed if "::" in each})


class TestsRun:
    """Judges one transaction by tests.

    Parameters:
        setting: how the project's code is run.
        tests: which ones.
        others: which tests may be concerned as well, of a file that pytest collects, or of one test of it; None where
            those that are wanted are all.
    """

    __test__ = False  # pytest: this is none

    def __init__(self, setting: Setting, tests: Sequence[WantedTest], others: Others | None = None) -> None:
        self._setting = setting
        self._root = Path(setting.root).resolve()
        self._tests = tuple(tests)
        self._others = others
        self._addresses = Addresses(setting.root, setting.source_roots, {})
        self._before: _Ran | None = None
        self._changed: frozenset[str] = frozenset()

    name = "tests"

    def judge(self, place: Place) -> tuple[Notice | Check, ...]:
        """Run the tests without the change, and with it."""
        self._setting = place.present()
        self._root = Path(self._setting.root).resolve()
        self.prepare((), {}, {})
        place.planned()
        return self.verify()

    def prepare(self, modules: Sequence[ModuleFile], before: Contents, after: Contents) -> bool:  # noqa: ARG002
        """Run the tests on what is there now.

        Raises:
            TransactionError: `verify_failed` if there is no pytest.
        """
        roots = [*self._setting.source_roots, *(module.source_root for module in modules)]
        self._addresses = Addresses(self._setting.root, roots, {module.path: module.name for module in modules})
        self._changed = frozenset(str((self._root / path).resolve()) for path in before)
        if self._tests:
            there = [test for test in self._tests if before.get(test.path, b"") is not None]
            self._before = self._run(there, frozenset())
        return bool(self._tests)

    def judges(self) -> bool:
        """Say that it does."""
        return True

    def verify(self) -> tuple[Notice | Check, ...]:
        """Run them on what was written.

        Raises:
            TransactionError: `verify_failed` or `timed_out`, with the failing tests.
        """
        if not self._tests:
            text = f"No test{' that could be found' if self._others else ''} reaches what changed, so none was run."
            return (
                *self._beyond_none(),
                Notice("no_tests", text),
                Check(name="tests", result="not_run", detail="no test reaches what changed"),
            )
        before = self._before
        assert before is not None, "prepare comes first"
        ran = self._run(self._tests, frozenset(before.stopped), others=self._others is not None)
        blamed = {each: failed for each, failed in ran.failed.items() if not _failed_before(each, before)}
        if blamed:
            raise self._red(blamed, ran)
        told = (*self._beyond(ran), *self._already(ran, before), *self._silent(ran, before))
        if not ran.count():
            text = "pytest ran none of the tests that reach what changed"
            return (*told, Notice("no_tests", f"{text}."), Check(name="tests", result="not_run", detail=text))
        return (*told, self._verified(ran, before))

    def roll_back(self) -> None:
        """Nothing outside the files was changed by us."""

    def _run(self, tests: Sequence[WantedTest], skipped: frozenset[str], *, others: bool = False) -> _Ran:
        """Run tests, with another child for those behind one that did not come to an end."""
        ran = _Ran(passed=set(), failed={}, ended=set(), stopped=set(), addresses={})
        with Scratch() as folder:
            for _ in range(_MOST_CHILDREN):
                before = len(ran.stopped)
                self._child(Path(folder), tests, skipped | ran.ended | ran.stopped, ran, others=others)
                if len(ran.stopped) == before:
                    break
        return ran

    def _child(
        self, scratch: Path, tests: Sequence[WantedTest], skipped: frozenset[str], ran: _Ran, *, others: bool
    ) -> None:
        request = scratch / "request.json"
        given = {**self._request(scratch, tests, skipped), "others": others and ran.aside is None}
        request.write_text(json.dumps(given), encoding="utf-8")
        try:
            finished = probe(PROBE, request, self._setting)
        except CannotStart as error:
            raise self._no_interpreter(str(error)) from None
        lines = list(_lines(finished.answer))
        told = {key for line in lines for key in line}
        if "missing" in told or not {"ready", "begun", "collected"} & told:
            raise self._unable(lines, finished)
        if tests or others:
            self._read(lines, finished, ran)

    def _request(self, scratch: Path, tests: Sequence[WantedTest], skipped: frozenset[str]) -> dict[str, Any]:
        wanted: dict[str, list[tuple[str, ...]]] = {}
        for test in tests:
            wanted.setdefault(str((self._root / test.path).resolve()), []).append(test.names)
        return {
            "project": str(self._root),
            "roots": [str(self._root / folder) for folder in dict.fromkeys((*self._setting.source_roots, ""))],
            "wanted": wanted,
            "skipped": sorted(skipped),
            "bytecode": str(scratch / "bytecode"),
            "cache": str(scratch / "cache"),
        }

    def _read(self, lines: Sequence[Mapping[str, Any]], finished: Finished, ran: _Ran) -> None:
        """Take over what a child said."""
        running: Mapping[str, Any] | None = None
        over = None
        for line in lines:
            if "begun" in line:
                running = line
                if line["case"][0] not in self._changed:
                    ran.addresses[line["begun"]] = self._address(*line["case"])
            elif "passed" in line:
                ran.passed.add(line["passed"])
            elif "ended" in line:
                ran.ended.add(line["ended"])
                running = None
            elif "failed" in line:
                ran.failed.setdefault(line["failed"] or "collection", self._failure(line))
                ran.passed.discard(line["failed"])
            elif "aside" in line:
                ran.aside = [(path, None if names is None else tuple(names)) for path, names in line["aside"]]
                ran.deselected, ran.less = tuple(line["deselected"]), line["less"]
            elif "finished" in line:
                over = line["finished"]
        if over is None or running is not None:  # the second, where a test ends the run, as Ctrl-C would
            self._broke_off(running, finished, ran)
        elif over in (2, 3, 4) and not ran.failed:
            said = self._tail(finished)
            ran.failed[""] = _Failed(address="", said=said, place="")

    def _broke_off(self, running: Mapping[str, Any] | None, finished: Finished, ran: _Ran) -> None:
        """Note the test that did not come to an end, or that the run as such did not."""
        limit = f"took longer than {self._setting.time_limit:g} seconds and was stopped"
        ended = f"ended the interpreter (status {finished.status})" if finished.status else "ended the run"
        said = limit if finished.timed_out else ended
        key = running["begun"] if running else ""
        address = self._address(*running["case"]) if running else ""
        ran.failed[key] = _Failed(address=address, said=said, place="")
        if running:
            ran.stopped.add(key)
            ran.stuck += finished.timed_out

    def _failure(self, line: Mapping[str, Any]) -> _Failed:
        place = line["place"]
        where = self._addresses.module(place[0]) if place else None
        return _Failed(
            address=self._address(*line["case"]),
            said=_first_lines(self._addresses.convert(line["text"])),
            place=f"{where}:{place[1]}" if where else "",
        )

    def _address(self, path: str, names: Sequence[str]) -> str:
        module = self._addresses.module(path) if path else None
        return ".".join([*([module] if module else []), *names])

    def _red(self, blamed: Mapping[str, _Failed], ran: _Ran) -> TransactionError:
        tests = list(dict.fromkeys(failed.address for failed in blamed.values() if failed.address))
        rows = _rows(blamed.values())
        more = [f"and {len(rows) - _MOST_SHOWN} more"] if len(rows) > _MOST_SHOWN else []
        told = f"{_listed(tests)} {'fails' if len(tests) == 1 else 'fail'}" if tests else "The tests cannot be run"
        stuck = ran.stuck and all("took longer" in failed.said for failed in blamed.values())
        return TransactionError(
            "timed_out" if stuck else "verify_failed",
            f"{told} with the change: {rows[0]}",
            unchanged=True,
            hints=["\n  ".join(["What failed:", *rows[:_MOST_SHOWN], *more]), "Mend the change, or the tests with it."],
            candidates=tests,
            details={
                "failed": [{"test": each.address, "said": each.said, "at": each.place} for each in blamed.values()]
            },
        )

    def _already(self, ran: _Ran, before: _Ran) -> tuple[Notice, ...]:
        """Tell of tests that fail, and did so before."""
        failed = {**{each: before.failed[each] for each in before.stopped}, **ran.failed}
        if not failed:
            return ()
        names = list(dict.fromkeys(each.address for each in failed.values() if each.address))
        said = next(iter(failed.values())).said
        text = f"{_listed(names) if names else 'The tests'} failed before the change, too: {said.splitlines()[0]}"
        return (Notice("failed_before", text),)

    def _silent(self, ran: _Ran, before: _Ran) -> tuple[Notice, ...]:
        """Tell of tests that passed, and with the change neither pass nor fail, so that they did not judge it."""
        now = {*(ran.addresses.get(each) for each in ran.passed), *(failed.address for failed in ran.failed.values())}
        passed = (before.addresses[each] for each in sorted(before.passed) if each in before.addresses)
        names = [each for each in dict.fromkeys(passed) if each not in now]
        if not names:
            return ()
        text = f"{_listed(names)} passed before the change, and with it {'is' if len(names) == 1 else 'are'} not run."
        return (Notice("passed_before", text),)

    def _beyond_none(self) -> tuple[Notice, ...]:
        """Tell of what may be concerned, where no test is known to be."""
        if self._others is None:
            return ()
        try:
            return self._beyond(self._run((), frozenset(), others=True))
        except TransactionError as error:
            text = f"complete: false; tests may be concerned, and which there are is not known: {error.clause}."
            return (Notice("tests_left_out", text),)

    def _beyond(self, ran: _Ran) -> tuple[Notice, ...]:
        """Tell of the tests of the project that may be concerned and were not run, if there are any."""
        if self._others is None:
            return ()
        if ran.aside is None:
            text = (
                "complete: false; more tests may be concerned, and which there are is not known: nothing was collected."
            )
            return (Notice("tests_left_out", text),)
        addresses: dict[str, None] = {}
        for file, one in dict.fromkeys(ran.aside):
            path = Path(file)
            relative = path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else ""
            for names in self._others(relative, one) if relative else ():
                if not "::".join((relative, *names)).startswith(ran.deselected or "::"):
                    addresses[self._address(file, names)] = None
        if not addresses:
            return ()
        many = len(addresses) > 1
        less = f", as far as pytest's settings select {'them' if many else 'it'}" if ran.less else ""
        count = f"{len(addresses):,} more {'tests' if many else 'test'}"
        run = f"{'were' if many else 'was'} not run{less}"
        text = f"complete: false; {count} may be concerned, and {run}: {_listed(list(addresses))}."
        return (Notice("tests_left_out", text),)

    def _verified(self, ran: _Ran, before: _Ran) -> Check:
        passed, rest = len(ran.passed), ran.count() - len(ran.passed)
        others = f", {rest} skipped or failed before" if rest else ""
        failed = len({*ran.failed, *before.stopped})
        counts = {"passed": passed, "failed_before": failed, "skipped": max(rest - failed, 0)}
        result: Result = "failed_before" if failed else "passed"
        return Check(name="tests", result=result, counts=counts, detail=f"{passed} passed{others}")

    def _tail(self, finished: Finished) -> str:
        text = finished.errors.strip() or finished.output.strip()
        lines = self._addresses.convert_from_root(text.decode("utf-8", "replace")).splitlines()
        if not lines:
            return f"pytest ended with status {finished.status}"
        return "\n".join(dict.fromkeys([_headline(lines), *lines[-_MOST_SHOWN:]]))

    def _unable(self, lines: Sequence[Mapping[str, Any]], finished: Finished) -> TransactionError:
        origin = self._setting.interpreter.origin
        if any("missing" in line for line in lines):
            return TransactionError(
                "verify_failed",
                f"The tests cannot be run: pytest is not installed for the project's Python ({origin}); nothing was "
                "changed.",
                hints=["Install pytest there.", "[tool.bae-source] python names another Python."],
            )
        return self._no_interpreter(self._tail(finished).splitlines()[-1])

    def _no_interpreter(self, problem: str) -> TransactionError:
        origin = self._setting.interpreter.origin
        problem = self._addresses.convert(problem).rstrip(".")
        return TransactionError(
            "verify_failed",
            f"The tests cannot be run: the project's Python ({origin}) does not start: {problem}",
            unchanged=True,
            hints=["Set [tool.bae-source] python to the project's interpreter."],
        )


def _failed_before(key: str, before: _Ran) -> bool:
    """Say whether what failed did so before, or could not be run then."""
    return before.broken or key in before.failed or (key.partition("::")[0] in before.failed)


def _lines(answer: bytes) -> list[dict[str, Any]]:
    found = []
    for text in answer.splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue  # cut off at the beginning, because there was too much, or at the end, because it was stopped
        if isinstance(line, dict):
            found.append(line)
    return found


def _first_lines(text: str) -> str:
    """Return the beginning of what a failure says; of a drawn traceback its last words, which pytest marks by an E."""
    lines = [line for line in text.splitlines() if line.strip()]
    marked = [line.removeprefix("E").strip() for line in lines if line.startswith("E  ")]
    return "\n".join((marked[-1:] or lines)[:4]) or "it failed"


def _headline(lines: Sequence[str]) -> str:
    """Return the line of pytest's own complaint that says most: the exception, else what it calls an error."""
    raised = [line.removeprefix("E").strip() for line in lines if line.startswith("E  ")]
    errors = [line.strip() for line in lines if "rror: " in line and "usage: " not in line]
    return (raised[-1:] or errors[:1] or lines[:1])[0]


def _rows(failed: Iterable[_Failed]) -> list[str]:
    """Draw what failed, a line for each test; of its cases the first one."""
    cases: dict[str, list[_Failed]] = {}
    for each in failed:
        cases.setdefault(each.address or "the run", []).append(each)
    rows = []
    for name, (first, *others) in cases.items():
        at = f" (at {first.place})" if first.place else ""
        more = f" (and {len(others)} more of its cases)" if others else ""
        rows.append(f"{name}{at}: {first.said.splitlines()[0]}{more}")
    return rows


def _listed(names: Sequence[str]) -> str:
    return listed(names, _MOST_SHOWN)
