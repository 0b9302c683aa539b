"""What runs in the project's interpreter: some tests, by pytest, and say for each how it went.

    python -P suite_probe.py REQUEST ANSWER      REQUEST a JSON file, ANSWER a descriptor for lines of JSON

Invariants:
- only the standard library and pytest, in the syntax of Python 3.7: the project's interpreter is not ours;
- which files are run is no argument that pytest could take for an option, and which tests of them is decided on what
  was collected, so a test that is not there stops no other;
- code of the project is compiled from its source, never taken from a bytecode cache, and pytest writes nothing into
  the project;
- a test is named before it is begun, so that it is known which one never came to an end.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

_MAX_TEXT = 1500
_MAX_TEXTS = 100
_HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120


class Answers:
    """Where the answers go; what a forked copy of this process says does not count."""

    def __init__(self, descriptor: int) -> None:
        self._out = os.fdopen(descriptor, "w", encoding="utf-8")
        self._process = os.getpid()

    def say(self, **line: Any) -> None:
        """Write one line."""
        if os.getpid() == self._process:
            self._out.write(json.dumps(line) + "\n")
            self._out.flush()


class Selected:
    """A plugin of pytest: runs the tests that are wanted, and tells how they went."""

    def __init__(self, request: dict[str, Any], answers: Answers) -> None:
        self._wanted = {path: [tuple(names) for names in wanted] for path, wanted in request["wanted"].items()}
        self._skipped = set(request["skipped"])
        self._say = answers.say
        self._cases: dict[str, tuple[str, list[str]]] = {}
        self._texts = 0

    def pytest_load_initial_conftests(self, early_config: Any) -> Iterator[None]:
        """Leave coverage alone: nothing is measured, and nothing written."""
        options = early_config.known_args_namespace
        if getattr(options, "cov_source", None):
            options.cov_source = None
        yield

    def pytest_cmdline_main(self, config: Any) -> None:
        """Run everything in this process, where the choice of tests is made."""
        if hasattr(config.option, "numprocesses"):
            config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Leave out what is not wanted."""
        kept, dropped, met = [], [], set()
        for item in items:
            names = _names(item)
            places = [place for place in ((_path(item), names), _defined(item)) if place is not None]
            found = {(path, each) for path, own in places for each in self._wanted.get(path, ()) if _holds(each, own)}
            met |= found
            if found and item.nodeid not in self._skipped:
                self._cases[item.nodeid] = (_path(item), list(names))
                kept.append(item)
            else:
                dropped.append(item)
        items[:] = kept
        if dropped:
            config.hook.pytest_deselected(items=dropped)
        absent = [[path, list(each)] for path, wanted in self._wanted.items() for each in wanted]
        self._say(collected=len(kept), absent=[each for each in absent if (each[0], tuple(each[1])) not in met])

    def pytest_collectreport(self, report: Any) -> None:
        """Tell what could not be collected."""
        if report.failed:
            self._tell(report, "collect", [os.path.abspath(report.nodeid.split("::")[0]), []])  # noqa: PTH100

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Tell which test comes now."""
        self._say(begun=nodeid, case=self._cases.get(nodeid, ("", [])))

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Tell of a test what did not hold, and that it is over."""
        if report.failed:
            self._tell(report, report.when, self._cases.get(report.nodeid, ("", [])))
        if report.when == "teardown":
            self._say(ended=report.nodeid)
        elif report.when == "call" and report.passed:
            self._say(passed=report.nodeid)

    def _tell(self, report: Any, when: str, case: Any) -> None:
        self._texts += 1
        crash = getattr(report.longrepr, "reprcrash", None)
        text = str(getattr(crash, "message", "") or report.longrepr) if self._texts <= _MAX_TEXTS else ""
        place = [str(crash.path), crash.lineno] if crash is not None else None
        for where, lines in getattr(report.longrepr, "reprlocation_lines", ())[:1]:  # of examples in docstrings
            place, text = [str(where.path), where.lineno], _of_example(lines) if text else ""
        self._say(failed=report.nodeid, when=when, case=case, text=text[:_MAX_TEXT], place=place)


def _of_example(lines: list[str]) -> str:
    """Return in a line what is said of an example, which stands with the lines of its docstring in front."""
    heads = ("Expected", "UNEXPECTED", "Differences")
    first = next((number for number, line in enumerate(lines) if line.startswith(heads)), 0)
    end = first + 1 if lines[first].startswith("UNEXPECTED") else len(lines)
    return " ".join(" ".join(lines[first:end]).split())


def _path(item: Any) -> str:
    return os.path.realpath(str(getattr(item, "path", None) or item.fspath))


def _names(item: Any) -> tuple[str, ...]:
    import pytest  # the project's; it is there, or nothing would be collected

    if hasattr(item, "dtest"):  # examples in a docstring, which are called by their module's name, too
        whole, module = item.name + ".", str(item.dtest.globs.get("__name__", "")) + "." if item.dtest else "."
        return tuple(whole[len(module) :].split(".")[:-1]) if whole.startswith(module) else ()
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    return (*classes, getattr(item, "originalname", None) or item.name.partition("[")[0])


def _defined(item: Any) -> tuple[str, tuple[str, ...]] | None:
    """Return where the function of a test is defined: a test that a class inherits stands in another one."""
    function = getattr(item, "function", None)
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if function is None or code is None:
        return None
    return os.path.realpath(code.co_filename), tuple(function.__qualname__.split("."))


def _holds(wanted: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return names[: len(wanted)] == wanted


def main(request_file: str, answer: int) -> None:
    """Do what the request says."""
    with open(request_file, encoding="utf-8") as stream:  # noqa: PTH123
        request = json.load(stream)
    answers = Answers(answer)
    sys.path[:] = request["roots"] + [path for path in sys.path if path != _HERE and path not in request["roots"]]
    sys.dont_write_bytecode = True
    os.environ["PYTHONPYCACHEPREFIX"] = request["bytecode"]  # for what a test may start itself
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.path.join(request["cache"], "hypothesis")  # noqa: PTH118
    try:
        import pytest  # the project's
    except ImportError as error:
        answers.say(missing=str(error))
        return
    answers.say(ready=pytest.__version__)
    wrapper = pytest.hookimpl(hookwrapper=True)  # which is called before what any plugin does
    Selected.pytest_load_initial_conftests = wrapper(Selected.pytest_load_initial_conftests)  # type: ignore[method-assign]
    Selected.pytest_cmdline_main = pytest.hookimpl(tryfirst=True)(Selected.pytest_cmdline_main)  # type: ignore[method-assign]
    if not request["wanted"]:
        return
    _probe().bypass_caches(request["project"])
    _keep_rewritten(request["bytecode"])
    status = pytest.main(_arguments(request), plugins=[Selected(request, answers)])
    answers.say(finished=int(status))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads that a test left behind must not hold us up


def _arguments(request: dict[str, Any]) -> list[str]:
    """Return what pytest is told; it comes behind what the project's settings say, and so it holds."""
    told = ["-q", "--color=no", "--tb=short", "--maxfail=0", "--continue-on-collection-errors"]
    told += ["--rootdir", request["project"], "-o", "cache_dir=" + request["cache"]]
    return told + sorted(request["wanted"])  # absolute paths


def _probe() -> Any:
    """Load the script beside this one, whose folder is not on the path: modules in it are called like others."""
    spec = importlib.util.spec_from_file_location("bae_source_probe", os.path.join(_HERE, "probe.py"))  # noqa: PTH118
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _keep_rewritten(folder: str) -> None:
    """Let pytest keep what it compiles of tests elsewhere than beside them, where an old version may lie."""
    from pathlib import Path  # what the hook expects

    try:
        from _pytest.assertion import rewrite
    except ImportError:
        return  # a pytest without it; changed files have no compiled ones anyway
    if hasattr(rewrite, "get_cache_dir"):
        rewrite.get_cache_dir = lambda file_path: Path(folder) / "rewritten"  # noqa: ARG005


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
