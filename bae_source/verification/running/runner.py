"""Runs tests of a project in children, with its own interpreter and its own settings of pytest.

    runner = Runner(setting)
    runner.run(None)                                     all, as plain `pytest` would
    runner.run([WantedTest(path="tests/test_a.py")])     some; no other file is imported

Invariants:
- a test that hangs or ends the interpreter fails, and those behind it are run by another child;
- whatever tests print, what is kept of it is bounded; children are killed whole, on Ctrl-C as well, which leaves a run
  that says what came to an end;
- nothing is raised for what tests do: a missing pytest or a dead interpreter is a way in which a run ends.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from bae_source.model.plan import ModuleFile
from bae_source.model.text import Progress
from bae_source.reloading.child.import_check import Setting, addresses_of
from bae_source.resources.tests.run import Ended, Run, WantedTest
from bae_source.system.child import ANSWER, CannotStart, Finished, run, scrubbed
from bae_source.system.scratch import Scratch
from bae_source.verification.running.reading import Reading

Choose = Callable[[], tuple[Sequence[WantedTest] | None, Iterable[str]]]
"""Returns the tests that are wanted, None for all, and the files that come first."""
PROBE = Path(__file__).parents[2] / "reloading/child/suite/probe.py"
_MOST_CHILDREN = 5
_SHOWN = 10
_INTERNAL_ERROR, _NO_TESTS = 3, 5
"""Statuses of pytest."""
_MOST_COMPILED = 20_000


class Runner:
    """Runs tests.

    Parameters:
        setting: how the project's code is run, and where: in its tree, or in a copy of it.
        modules: those whose addresses do not follow from their paths.
        by_unittest: whether unittest is to run the tests where there is no pytest.
        progress: called for each test that ends.
    """

    def __init__(
        self,
        setting: Setting,
        *,
        modules: Iterable[ModuleFile] = (),
        by_unittest: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self._setting = setting
        self._root = Path(os.path.realpath(setting.root))
        self._project = Path(os.path.realpath(setting.tree or setting.root))
        self._cache = setting.caches and setting.caches / "tests"
        self._by_unittest = by_unittest
        self._progress = progress
        self._addresses = addresses_of(setting, modules)

    def run(
        self,
        wanted: Sequence[WantedTest] | Choose | None,
        *,
        first: Iterable[str] = (),
        rest: float | None = None,
        keep_going: bool = False,
        seconds: float | None = None,
    ) -> Run:
        """Run tests, with another child for those behind one that did not come to an end.

        Parameters:
            wanted: None for all that pytest collects by itself; a function that returns them, and `first`, is called
                while the child loads pytest and its plugins.
            first: files, project-relative, that come before the others.
            rest: seconds after which no test of the others is begun.
            keep_going: whether tests are run though some files cannot be collected, whatever the project's settings.
            seconds: after which the run as such is stopped; each child has the setting's limit besides.
        """
        begun = time.monotonic()
        until = begun + seconds if seconds is not None else None
        reading = Reading(self._addresses, self._progress)
        request = {
            "root": str(self._root),
            "project": str(self._project),
            "roots": [str(self._root / folder) for folder in dict.fromkeys((*self._setting.source_roots, ""))],
            "rest": rest,
            "keep_going": keep_going,
            "by_unittest": self._by_unittest,
        }
        choose = wanted if callable(wanted) else None
        request |= {"wanted": None, "first": []} if callable(wanted) else self._selection(wanted, first)
        try:
            ended, detail = self._children(request, reading, until, choose)
        except KeyboardInterrupt:
            ended, detail = "interrupted", ""
        return Run(
            results=tuple(reading.results.values()),
            problems=tuple(reading.problems.values()),
            counts=dict(reading.counts),
            ended=ended,
            detail=detail,
            collected=reading.collected or 0,
            unreached=reading.unreached,
            escaped=reading.escaped,
            seconds=round(time.monotonic() - begun, 3),
        )

    def _selection(self, wanted: Sequence[WantedTest] | None, first: Iterable[str]) -> dict[str, Any]:
        return {
            "wanted": None if wanted is None else self._by_file(wanted),
            "first": [os.path.realpath(self._root / path) for path in first],
        }

    def _by_file(self, wanted: Iterable[WantedTest]) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for test in wanted:
            entry = {"names": test.names, "case": test.case, "id": test.id}
            found.setdefault(os.path.realpath(self._root / test.path), []).append(entry)
        return found

    def _children(
        self, request: dict[str, Any], reading: Reading, until: float | None, choose: Choose | None
    ) -> tuple[Ended, str]:
        """Run children until one comes to its end; return how the run ended, and why."""
        with Scratch() as folder:
            scratch = Path(folder)
            request |= {
                "scratch": str(scratch),
                "prefix": str(scratch / "prefix"),
                "bytecode": str(_usable(self._cache) or scratch / "bytecode"),
            }
            for number in range(_MOST_CHILDREN):
                limit = self._setting.time_limit
                if until is not None:
                    limit = min(limit, until - time.monotonic())
                if limit <= 0:
                    return "stopped", "the time is up"
                later = scratch / "selection.json" if choose is not None and not number else None
                request |= {
                    "skipped": list(reading.results),
                    "spare": str(scratch / f"spare{number}"),
                    "selection": str(later or ""),
                }
                meanwhile = partial(self._choose, choose, request, later) if choose and later else None
                try:
                    finished = self._child(scratch, request, reading, limit, meanwhile)
                except CannotStart as error:
                    return "no_python", self._addresses.convert(str(error))
                ended = self._ended(finished, reading, limit, is_last=until is not None and time.monotonic() >= until)
                if ended is not None:
                    return ended
        return "died", f"{_MOST_CHILDREN} tests ended the interpreter or had to be stopped"

    def _choose(self, choose: Choose, request: dict[str, Any], later: Path) -> None:
        """Write the file that a child waits for; the next child has it in its request."""
        selection = self._selection(*choose())
        request.update(selection)
        draft = later.with_suffix(".new")
        draft.write_text(json.dumps(selection), encoding="utf-8")
        draft.replace(later)

    def _child(
        self,
        scratch: Path,
        request: dict[str, Any],
        reading: Reading,
        limit: float,
        meanwhile: Callable[[], None] | None,
    ) -> Finished:
        reading.begin()
        file = scratch / "request.json"
        file.write_text(json.dumps(request), encoding="utf-8")
        finished = run(
            [self._setting.interpreter.path, str(PROBE), str(file), ANSWER],
            folder=self._root,
            environment=scrubbed(self._setting.environment),
            time_limit=limit,
            answered=reading.take,
            meanwhile=meanwhile,
        )
        spare = Path(request["spare"])
        if spare.is_file():
            reading.take(spare.read_bytes())
        return finished

    def _ended(self, finished: Finished, reading: Reading, limit: float, *, is_last: bool) -> tuple[Ended, str] | None:
        """Return the end of the run with a child; None where another one has to go on."""
        if reading.missing:
            return "no_pytest", f"pytest is not installed for the project's Python ({self._setting.interpreter.origin})"
        if not reading.ready:
            return "no_python", self._tail(finished).splitlines()[-1]
        if reading.break_off(finished, limit):
            return ("stopped", "the time is up") if is_last else None
        if reading.status in (None, _INTERNAL_ERROR) and reading.has_ended_some and not finished.timed_out:
            return None  # those that are left are run by another child
        if reading.status is None:
            reason = "the time is up" if finished.timed_out else f"{self._tail(finished)} (status {finished.status})"
            return ("stopped" if finished.timed_out else "died"), reason
        if reading.status == _NO_TESTS and not reading.results:
            return "no_tests", ""
        if reading.status in (2, 3, 4) and not reading.unreached and not reading.problems:
            return "unusable", self._tail(finished)
        return "complete", ""

    def _tail(self, finished: Finished) -> str:
        """Return the last output of the child, the exception of pytest's own complaint first."""
        text = finished.errors.strip() or finished.output.strip()
        lines = self._addresses.convert_from_root(text.decode("utf-8", "replace")).splitlines()
        if not lines:
            return f"it ended with status {finished.status}"
        raised = [line.removeprefix("E").strip() for line in lines if line.startswith("E  ")]
        errors = [line.strip() for line in lines if "rror: " in line and "usage: " not in line]
        return "\n".join(dict.fromkeys([(raised[-1:] or errors[:1] or lines[:1])[0], *lines[-_SHOWN:]]))


def _usable(cache: Path | None) -> Path | None:
    """Return the folder of compiled files if it can be used; what has grown too large is begun anew."""
    if cache is None:
        return None
    try:
        cache.mkdir(parents=True, exist_ok=True)
        if len(os.listdir(cache)) > _MOST_COMPILED:  # noqa: PTH208
            rmtree(cache, ignore_errors=True)
    except OSError:
        return None
    return cache if os.access(cache, os.W_OK) else None
