"""Tests of a project without pytest, found as `python -m unittest discover` finds them, with the same answers.

Invariant: a file that cannot be imported is a problem of its own, as one that pytest cannot collect is.
"""

from __future__ import annotations

import inspect
import io
import linecache
import os
import re
import sys
import time
import unittest
from collections.abc import Iterator
from typing import Any

_FOLDERS = ("", "tests", "test")
_FRAME = re.compile(r'^  File "(.+)", line (\d+), in (.+)$', re.MULTILINE)
_MAX_TEXT = 2000
_MAX_OUTPUT = 4000
_MAX_FRAMES = 12


def run(request: dict[str, Any], answers: Any) -> int:
    """Run tests by unittest; return the status that pytest would."""
    request = {**request, **answers.selection(request)}
    root = request["root"]
    found = _discovered(root)
    problems = [test for test in found if type(test).__module__ == "unittest.loader"]
    tests = [test for test in found if test not in problems]
    for test in problems:
        file = _file_of_problem(test, root)
        if request["wanted"] is None or file in request["wanted"]:
            error = _error_in(str(getattr(test, "_exception", "")))
            answers.say(problem=os.path.relpath(file, root), case=[file, [], ""], error=error, categories=["error"])
    places = {id(test): _place(test) for test in tests}
    ids = {key: "::".join([os.path.relpath(path, root), *names]) for key, (path, names) in places.items()}
    kept = [each for each in tests if ids[id(each)] not in request["skipped"]]
    kept = [each for each in kept if _is_wanted(request["wanted"], *places[id(each)], ids[id(each)])]
    kept.sort(key=lambda each: places[id(each)][0] not in request["first"] if request["first"] else 0)
    answers.say(collected=len(kept))
    results = _Results(answers.say, places, ids)
    unittest.TestSuite(kept).run(results)  # which sets up classes and modules
    return 1 if results.red or problems else 0 if kept else 5


def _discovered(root: str) -> list[Any]:
    """Return the tests that are found from the root, else in a folder of tests below it."""
    for name in _FOLDERS:
        folder = os.path.join(root, name) if name else root  # noqa: PTH118
        if os.path.isdir(folder):  # noqa: PTH112
            is_package = os.path.isfile(os.path.join(folder, "__init__.py"))  # noqa: PTH113, PTH118
            top = root if is_package and name else folder
            found = list(_flat(unittest.TestLoader().discover(folder, top_level_dir=top)))
            if found:
                return found
    return []


def _flat(suite: Any) -> Iterator[Any]:
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from _flat(each)
        else:
            yield each


def _place(test: Any) -> tuple[str, list[str]]:
    """Return the file of a test and its path of names."""
    kind = type(test)
    try:
        file = os.path.realpath(inspect.getfile(kind))
    except (TypeError, OSError):
        file = os.path.realpath(str(getattr(sys.modules.get(kind.__module__), "__file__", "")))
    method = getattr(test, "_testMethodName", "")
    return file, [*kind.__qualname__.split("."), *([method] if method else [])]


def _file_of_problem(test: Any, root: str) -> str:
    """Return the file that unittest could not import: it calls the test so, dotted."""
    name = getattr(test, "_testMethodName", "")
    for folder in _FOLDERS:
        path = os.path.join(root, folder, *name.split(".")) + ".py"  # noqa: PTH118
        if os.path.isfile(path):  # noqa: PTH113
            return os.path.realpath(path)
    return os.path.join(root, name)  # noqa: PTH118


def _error_in(text: str) -> dict[str, Any]:
    """Return the exception of a traceback that unittest keeps as text."""
    frames = [[file, int(line), name, ""] for file, line, name in _FRAME.findall(text)]
    here = os.path.dirname(unittest.__file__)  # noqa: PTH120
    own = [frame for frame in frames if not frame[0].startswith((here, "<frozen"))]
    return {"message": (text.strip().splitlines() or [""])[-1][:_MAX_TEXT], "frames": own[-_MAX_FRAMES:]}


def _is_wanted(wanted: Any, path: str, names: list[str], own: str) -> bool:
    if wanted is None:
        return True
    return any(
        each["id"] == own if each["id"] else names[: len(each["names"])] == each["names"]
        for each in wanted.get(path, ())
    )


class _Caught(io.BytesIO):
    """The output of a test, which stays there though the test closes its stream."""

    def close(self) -> None:
        """Stay open."""


class _Results(unittest.TestResult):
    """Tells of each test how it went, and catches what it prints."""

    def __init__(self, say: Any, places: dict[int, Any], ids: dict[int, str]) -> None:
        super().__init__()
        self.red = False
        self._say = say
        self._places = places
        self._ids = ids
        self._line: dict[str, Any] = {}
        self._begun = 0.0
        self._usual: Any = None
        self._caught = _Caught()

    def startTest(self, test: Any) -> None:  # noqa: N802
        """Report the test that begins."""
        super().startTest(test)
        path, names = self._places[id(test)]
        self._line = {"ended": self._ids[id(test)], "categories": [], "error": None}
        self._say(begun=self._ids[id(test)], case=[path, names, ""])
        self._begun = time.monotonic()
        self._usual = sys.stdout, sys.stderr
        self._caught = _Caught()
        sys.stdout = sys.stderr = io.TextIOWrapper(self._caught, "utf-8", "replace", write_through=True)

    def stopTest(self, test: Any) -> None:  # noqa: N802
        """Report the result of the test."""
        super().stopTest(test)
        sys.stdout, sys.stderr = self._usual
        self._line["output"] = self._caught.getvalue().decode("utf-8", "replace")[-_MAX_OUTPUT:]
        self._line["seconds"] = time.monotonic() - self._begun
        self._say(**{**self._line, "categories": self._line["categories"] or ["passed"]})

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: ARG002, N802
        """Note what did not hold."""
        self._note("failed", err)

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802
        """Note an exception, which pytest counts as a failure; that of a class or module set up fails it as such."""
        if id(test) in self._places:
            self._note("failed", err)
            return
        self.red = True
        self._say(problem=str(test), case=["", [], ""], error=_error(err), categories=["error"])

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: ARG002, N802
        """Note what did not hold in a part of a test."""
        if err is not None:
            self._note("failed", err)

    def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
        """Note that it was skipped, or that a class was as a whole, in its set-up."""
        if id(test) not in self._places:
            error = {"message": reason[:_MAX_TEXT], "frames": []}
            self._say(problem=str(test), case=["", [], ""], error=error, categories=["skipped"])
            return
        self._line.update(categories=["skipped"], error={"message": reason[:_MAX_TEXT], "frames": []})

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: ARG002, N802
        """Note a failure that was expected."""
        self._line["categories"] = ["xfailed"]

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: ARG002, N802
        """Note that a failure was expected, and did not come."""
        self.red = True
        self._line.update(categories=["failed"], error={"message": "Unexpected success", "frames": []})

    def _note(self, category: str, err: Any) -> None:
        self.red = True
        self._line["categories"] = [category]
        self._line["error"] = self._line["error"] or _error(err)


def _error(err: Any) -> dict[str, Any]:
    kind, value, step = err
    frames = []
    while step is not None:
        code = step.tb_frame.f_code
        if "__unittest" not in step.tb_frame.f_globals:
            text = linecache.getline(code.co_filename, step.tb_lineno).strip()[:200]
            name = getattr(code, "co_qualname", code.co_name)
            frames.append([code.co_filename, step.tb_lineno, name, text])
        step = step.tb_next
    message = "%s: %s" % (kind.__name__, value)  # noqa: UP031
    return {"message": message[:_MAX_TEXT], "frames": frames[:2] + frames[2:][-_MAX_FRAMES:]}
