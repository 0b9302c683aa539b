"""Lines of children that run tests, read as they come into the results of the tests.

    {"begun": …}  {"ended": …, "categories": ["passed"]}      a result
    {"begun": …}  the child ends                              a result as well: the test hung, or ended its interpreter
    {"problem": …}                                            a file that could not be collected

Invariants:
- what is kept of a run is bounded, however much its tests print and however many there are;
- no path of this machine stands in what is kept: frames and text are turned into addresses.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bae_source.model.text import Progress
from bae_source.reloading.child.addresses import Addresses
from bae_source.resources.tests.run import OUTCOMES, TestResult, worst
from bae_source.system.child import Finished

_MOST_KEPT = 2_000_000
"""Characters of reports and output, in all."""
_LINES = 12
_IN_TEXT = re.compile(r"^(\S+?\.py):(\d+): in (.+)$", re.MULTILINE)
"""A frame as pytest writes it: `tests/test_a.py:3: in test_f`."""


class Reading:
    """Results of some tests, by node id, as far as children have answered.

    Attributes:
        results: of each test that came to an end, or ended the run.
        problems: files that could not be collected.
        counts: by outcome, as pytest counts.
        collected: how many tests the first child was to run.
        status: pytest's own, of the last child; None where it never came to tell.
        has_ended_some: whether tests came to an end in the last child.
    """

    def __init__(self, addresses: Addresses, progress: Progress | None = None) -> None:
        self.results: dict[str, TestResult] = {}
        self.problems: dict[str, TestResult] = {}
        self.counts: Counter[str] = Counter()
        self.collected: int | None = None
        self.unreached: tuple[str, ...] = ()
        self.escaped: tuple[str, ...] = ()
        self.status: int | None = None
        self.running: tuple[str, str] | None = None
        self.missing = self.ready = self.has_ended_some = False
        self._addresses = addresses
        self._progress = progress
        self._begun = b""
        self._kept = 0

    def begin(self) -> None:
        """Expect the lines of another child."""
        self._begun, self.running, self.status, self.ready, self.has_ended_some = b"", None, None, False, False

    def take(self, piece: bytes) -> None:
        """Take a piece of what a child tells."""
        *lines, self._begun = (self._begun + piece).split(b"\n")
        for text in lines:
            try:
                line = json.loads(text)
            except ValueError:
                continue  # written by a test that found the descriptor
            if isinstance(line, dict):
                self._line(line)

    def break_off(self, finished: Finished, seconds: float) -> bool:
        """Note the test that did not come to an end; return whether there is one."""
        if self.running is None:
            return False
        limit = f"took longer than {seconds:.3g} seconds and was stopped"
        ended = f"ended the interpreter (status {finished.status})" if finished.status else "ended the run"
        key, address = self.running
        result = TestResult(
            id=key,
            address=address,
            outcome="failed",
            seconds=seconds if finished.timed_out else 0.0,
            message=limit if finished.timed_out else ended,
            timed_out=finished.timed_out,
        )
        self._add(result, ("failed",))
        self.running = None
        return True

    def _line(self, line: Mapping[str, Any]) -> None:
        try:
            if "begun" in line:
                self.running = line["begun"], self.address(line["case"])
            elif "ended" in line:
                self._ended(line)
            elif "problem" in line:
                self._problem(line)
            elif "collected" in line:
                self.collected = line["collected"] if self.collected is None else self.collected
            elif "unreached" in line:
                self.unreached = tuple(map(self.address, line["unreached"]))
            elif "escaped" in line:
                escaped = (self._addresses.module_from_root(path) or path for path in line["escaped"])
                self.escaped = tuple(dict.fromkeys((*self.escaped, *escaped)))
            elif "finished" in line:
                self.status = line["finished"]
            self.missing |= "missing" in line
            self.ready |= "ready" in line
        except (KeyError, TypeError, ValueError, AttributeError):
            return  # no line of ours

    def _ended(self, line: Mapping[str, Any]) -> None:
        if self.running is None or self.running[0] != line["ended"]:
            return
        _, address = self.running
        self.running, self.has_ended_some = None, True
        categories = [each for each in line["categories"] if each in OUTCOMES]
        if line["error"] and not categories:
            categories = ["failed"]  # what a plugin calls by a word of its own
        failure = self._failure(line["error"])
        result = TestResult(
            id=line["ended"],
            address=address,
            outcome=worst(categories),
            seconds=round(line["seconds"], 4),
            output=self._bounded(line["output"]),
            **failure,
        )
        self._add(result, categories)

    def _add(self, result: TestResult, categories: Sequence[str]) -> None:
        self.results[result.id] = result
        self.counts.update(categories)
        if self._progress is not None:
            self._progress(len(self.results), self.collected or 0, result.address)

    def _problem(self, line: Mapping[str, Any]) -> None:
        key = line["problem"]
        [outcome] = line["categories"]
        if key in self.problems or (outcome == "skipped" and key in self.results):
            return  # of another child before
        address = self.address(line["case"]) or self._addresses.convert_from_root(key)
        result = TestResult(id=key, address=address, outcome=outcome, **self._failure(line["error"], whole=True))
        self.counts[outcome] += 1
        if outcome == "error":
            self.problems[key] = result
        else:
            self.results[key] = result

    def address(self, case: Sequence[Any]) -> str:
        """Return the address of a test: `tests.test_core.TestSend.test_a[case]`."""
        path, names, parameters = case
        module = self._addresses.module(path) if path else None
        return _clean(".".join([*([module] if module else []), *names]) + parameters)

    def _failure(self, error: Mapping[str, Any] | None, *, whole: bool = False) -> dict[str, Any]:
        """Return message, place and report of what a test raised, as a result has them."""
        if not error:
            return {}
        text = self._addresses.convert_from_root(error["message"].strip())
        whole = whole or "\nE  " in text  # drawn by pytest, as a fixture that is not found
        message = _headline(text) if whole else text
        frames = error["frames"] or list(_frames_in(error["message"]))
        drawn = list(self._drawn(frames))
        own = [frame for frame in frames if self._module(frame[0])]
        place = f"{self._module(own[-1][0])}:{own[-1][1]}" if own else ""
        report = "\n".join([*(message if whole else text).splitlines()[:_LINES], *drawn])
        return {"message": _clean("\n".join(message.splitlines()[:4])), "place": place, "report": self._bounded(report)}

    def _drawn(self, frames: Sequence[Sequence[Any]]) -> Iterator[str]:
        """Draw frames: `pkg.mod:42 in Client.send`, and the line of source below."""
        for file, line, function, text in frames:
            inside = f" in {function.replace('.<locals>', '')}" if function else ""
            yield f"  {self._module(file) or self._addresses.convert(file)}:{line}{inside}"
            if text:
                yield f"    {text}"

    def _module(self, file: str) -> str | None:
        return self._addresses.module(file) or self._addresses.module_from_root(file)

    def _bounded(self, text: str) -> str:
        """Return text as it is kept: nothing of it once there was too much."""
        text = _clean(self._addresses.convert(text))
        self._kept += len(text)
        return text if self._kept < _MOST_KEPT else ""


def _frames_in(text: str) -> Iterator[tuple[str, int, str, str]]:
    """Yield the frames of a traceback that pytest drew, where a plugin or a broken import leaves nothing else."""
    for match in _IN_TEXT.finditer(text):
        yield match[1], int(match[2]), match[3], ""


def _headline(text: str) -> str:
    """Return the line of pytest's own complaint that says most: the exception, else the first line."""
    lines = [line for line in text.splitlines() if line.strip()]
    raised = [line.removeprefix("E").strip() for line in lines if line.startswith("E  ")]
    return (raised[-1:] or lines[:1] or ["it failed"])[0]


def _clean(text: str) -> str:
    """Return text that can be encoded, whatever bytes a test printed."""
    return text.encode("utf-8", "replace").decode()
