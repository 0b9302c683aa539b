"""A program for the project's interpreter: runs tests, by pytest or unittest, with a line of answer for each.

    python -P probe.py REQUEST ANSWER      REQUEST a JSON file, ANSWER a descriptor for lines of JSON

    {"ready": "9.1"}                                       {"missing": "No module named 'pytest'"}
    {"collected": 151}
    {"begun": "tests/test_a.py::test_b[1]", "case": ["/project/tests/test_a.py", ["test_b"], "[1]"]}
    {"ended": "tests/test_a.py::test_b[1]", "categories": ["passed"], "seconds": 0.01, "output": "", "error": null}
    {"problem": "tests/test_c.py", "case": […], "error": {"message": …, "frames": …}}       could not be collected
    {"unreached": [case, …]}                               the time for tests beside the first ones was up
    {"escaped": ["src/app/core.py"]}                       loaded from the project in a run in its shadow
    {"finished": 0}

Invariants:
- only the standard library and the project's pytest, in the syntax of Python 3.7: the interpreter is not ours;
- a test is named before it is begun, so that it is known which one never came to an end;
- no compiled file is written beside a source, and none is taken for a file of the project but by its content.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

_INTERNAL_ERROR = 3
"""Status of pytest."""
_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120


class Answers:
    """The lines of answer; a copy of this process that comes back from a test ends here, since nothing waits for it."""

    def __init__(self, descriptor: int, spare: str) -> None:
        self._descriptor = descriptor
        self._file = os.fstat(descriptor)
        self._spare = spare
        self._process = os.getpid()

    @staticmethod
    def selection(request: dict[str, Any]) -> dict[str, Any]:
        """Return the request's choice of tests; wait for it where it is still worked out."""
        file = request["selection"]
        if not file:
            return request
        while not os.path.exists(file):  # noqa: PTH110
            time.sleep(0.004)
        with open(file, encoding="utf-8") as stream:  # noqa: PTH123
            return dict(json.load(stream))

    def say(self, **line: Any) -> None:
        """Write one line; to a file where a test has closed the descriptor, or put another file in its place."""
        if os.getpid() != self._process:
            os._exit(0)
        text = (json.dumps(line) + "\n").encode()
        try:
            if not os.path.samestat(os.fstat(self._descriptor), self._file):
                raise OSError
            while text:
                text = text[os.write(self._descriptor, text) :]
        except OSError:
            with open(self._spare, "ab") as spare:  # noqa: PTH123
                spare.write(text)


def main(request_file: str, answer: int) -> None:
    """Carry out the request."""
    with open(request_file, encoding="utf-8") as stream:  # noqa: PTH123
        request = json.load(stream)
    answers = Answers(answer, request["spare"])
    _place(request)
    kept = _beside("bytecode.py").keep(request["bytecode"], (request["root"], request["project"]))
    try:
        import pytest  # the project's
    except ImportError as error:
        if not request["by_unittest"]:
            answers.say(missing=str(error))
            return
        answers.say(ready=sys.version.split()[0])
        run = _beside("by_unittest.py").run
    else:
        answers.say(ready=pytest.__version__)
        run = _beside("by_pytest.py").run
    try:
        status = run(request, answers)
    except BaseException:  # noqa: BLE001 - a test took from pytest what it needs, such as its descriptors
        status = _INTERNAL_ERROR
        traceback.print_exc()
    kept.forget_older()
    answers.say(escaped=_escaped(request))
    answers.say(finished=status)
    with suppress(OSError, ValueError):  # a test closed it
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)  # threads that a test left behind must not hold us up


def _place(request: dict[str, Any]) -> None:
    """Put the folders of sources in front, and those of a shadow in place of the project's, here and in children.

    sys.path     PROJECT/src  (an editable install)     ->  SHADOW/src
                 PROJECT/.venv/lib/…/site-packages      stays
    """
    roots = request["roots"]
    sys.path[:] = roots + [each for each in (_moved(path, request) for path in sys.path) if each not in (_HERE, *roots)]
    if request["root"] != request["project"]:
        given = [_moved(path, request) for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*roots, *given]))
    else:
        os.environ["PYTHONPYCACHEPREFIX"] = request["prefix"]  # for what a test may start itself
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.path.join(request["scratch"], "hypothesis")  # noqa: PTH118


def _moved(path: str, request: dict[str, Any]) -> str:
    """Return a folder of the search path; that of the shadow for one of the project, if it is there."""
    real = os.path.realpath(path)
    if not _is_of_project(real, request):
        return path
    there = os.path.join(request["root"], os.path.relpath(real, request["project"]))  # noqa: PTH118
    return os.path.normpath(there) if os.path.isdir(there) else path  # noqa: PTH112


def _is_of_project(real: str, request: dict[str, Any]) -> bool:
    """Return whether a file is the project's own, seen from its shadow: not the shadow's, nor an environment's."""
    root, project = request["root"], request["project"]
    inside = (real + os.sep).startswith(project + os.sep) and not (real + os.sep).startswith(root + os.sep)
    prefixes = {os.path.realpath(each) + os.sep for each in (sys.prefix, sys.base_prefix)}
    # an interpreter may lie above the project: then its prefix says nothing
    installed = any((real + os.sep).startswith(each) and not (project + os.sep).startswith(each) for each in prefixes)
    return root != project and inside and not installed and "site-packages" not in real


def _escaped(request: dict[str, Any]) -> list[str]:
    """Return the files of the project that were loaded though its shadow should have been, project-relative."""
    if request["root"] == request["project"]:
        return []
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    found = {os.path.realpath(file) for file in files if isinstance(file, str)}
    return sorted(os.path.relpath(each, request["project"]) for each in found if _is_of_project(each, request))


def _beside(name: str) -> Any:
    """Load a script beside this one, whose folder is not on the path: modules in it are called like others."""
    spec = importlib.util.spec_from_file_location("bae_source_" + name[:-3], os.path.join(_HERE, name))  # noqa: PTH118
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
