"""What runs in the project's interpreter: some tests, by pytest, and say for each how it went.

    python -P suite_probe.py REQUEST ANSWER      REQUEST a JSON file, ANSWER a descriptor for lines of JSON

Invariants:
- only the standard library and pytest, in the syntax of Python 3.7: the project's interpreter is not ours;
- pytest collects as it does for the project's own settings, which say where tests are and which are left out, and what
  is not wanted goes before it is imported: what pytest would not collect without us is not run;
- which tests of a file are run is decided on what was collected, so a test that is not there stops no other;
- code of the project is compiled from its source, never taken from a bytecode cache, and pytest writes nothing into
  the project;
- a test is named before it is begun, so that it is known which one never came to an end.
"""

from __future__ import annotations

import glob
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
        self._folders = {folder for path in self._wanted for folder in _around(path)}
        self._others = request["others"]
        self._aside: list[list[Any]] = []
        self._project = request["project"]
        self._skipped = set(request["skipped"])
        self._say = answers.say
        self._cases: dict[str, tuple[str, list[str]]] = {}
        self._texts = 0

    def pytest_load_initial_conftests(self, early_config: Any) -> Iterator[None]:
        """Collect where the project's settings say, and leave coverage alone: nothing is measured or written."""
        options = early_config.known_args_namespace
        options.file_or_dir = self._collected_places(early_config, options.file_or_dir)
        if getattr(options, "cov_source", None):
            options.cov_source = None
        yield

    def pytest_cmdline_main(self, config: Any) -> None:
        """Run everything in this process, where the choice of tests is made."""
        self._aside.clear()  # before conftests were loaded, a value of an option of theirs was taken for a place
        config.args = self._collected_places(config, config.args)
        if hasattr(config.option, "numprocesses"):
            config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []

    def _collected_places(self, config: Any, given: list[str]) -> list[str]:
        """Return what pytest would be given, or take, if it were run for all tests."""
        own = [each for each in given if each not in self._wanted]  # of `addopts`
        if own:
            return [each for each in own if self._is_place(each)]
        settings = str(getattr(config, "inipath", None) or getattr(config, "inifile", None) or "")
        base = os.path.dirname(os.path.realpath(settings)) if settings else ""  # noqa: PTH120
        if not (base + os.sep).startswith(os.path.join(self._project, "")):  # noqa: PTH118
            return [self._project]
        paths = [os.path.join(base, path) for path in config.getini("testpaths")]  # noqa: PTH118
        found = [each for path in paths for each in sorted(glob.glob(path, recursive=True))]  # noqa: PTH207
        return [each for each in found if self._is_place(each)] if found else [base]

    def _is_place(self, given: str) -> bool:
        """Say whether something that pytest is given may hold what is wanted; note a file that is not."""
        path = os.path.realpath(given.partition("::")[0])
        if not os.path.isfile(path) or path in self._wanted:  # noqa: PTH113
            return True
        self._aside.append([path, None])
        return False

    def pytest_ignore_collect(self, collection_path: Any) -> Any:
        """Look into no folder without a wanted file, unless all that pytest collects is to be known."""
        path = os.path.realpath(str(collection_path))
        return True if not self._others and path not in self._folders and os.path.isdir(path) else None  # noqa: PTH112

    def pytest_collect_file(self, file_path: Any) -> Iterator[None]:
        """Leave a file aside that is not wanted, before it is imported, and note that it holds tests for pytest."""
        outcome: Any = yield
        path = os.path.realpath(str(file_path))
        if path not in self._wanted and outcome.get_result():
            self._aside.append([path, None])
            outcome.force_result([])

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Leave out what is not wanted; what the project's settings leave out has gone before."""
        kept: list[Any] = []
        dropped: list[Any] = []
        for item in items:
            names = _names(item)
            places = [place for place in ((_path(item), names), _defined(item)) if place is not None]
            if any(_holds(each, own) for path, own in places for each in self._wanted.get(path, ())):
                self._cases[item.nodeid] = (_path(item), list(names))
                (dropped if item.nodeid in self._skipped else kept).append(item)
            else:
                self._aside.append([_path(item), list(names)])
                dropped.append(item)
        items[:] = kept
        if dropped:
            config.hook.pytest_deselected(items=dropped)
        self._say(collected=len(kept))
        if self._others:
            options = config.option
            less = bool(options.markexpr or options.keyword)
            self._say(aside=self._aside, deselected=options.deselect or [], less=less)

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


def _around(path: str) -> Iterator[str]:
    """Yield the folders around a file, outwards."""
    while os.path.dirname(path) != path:  # noqa: PTH120
        path = os.path.dirname(path)  # noqa: PTH120
        yield path


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
    Selected.pytest_ignore_collect = pytest.hookimpl(tryfirst=True)(Selected.pytest_ignore_collect)  # type: ignore[method-assign]
    Selected.pytest_collect_file = wrapper(Selected.pytest_collect_file)  # type: ignore[method-assign]
    Selected.pytest_collection_modifyitems = pytest.hookimpl(trylast=True)(Selected.pytest_collection_modifyitems)  # type: ignore[method-assign]
    if int(pytest.__version__.split(".")[0]) < 7:
        _name_as_before(wrapper)
    if not request["wanted"] and not request["others"]:
        return
    _probe().bypass_caches(request["project"])
    _keep_rewritten(request["project"], request["bytecode"])
    status = pytest.main(_arguments(request), plugins=[Selected(request, answers)])
    answers.say(finished=int(status))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads that a test left behind must not hold us up


def _name_as_before(wrapper: Any) -> None:
    """Give the hooks the arguments that they had before pytest 7."""
    ignore, collect = Selected.pytest_ignore_collect, Selected.pytest_collect_file
    Selected.pytest_ignore_collect = lambda self, path: ignore(self, path)  # type: ignore[assignment,method-assign]
    Selected.pytest_collect_file = wrapper(lambda self, path: (yield from collect(self, path)))  # type: ignore[method-assign]


def _arguments(request: dict[str, Any]) -> list[str]:
    """Return what pytest is told; it comes behind what the project's settings say, and so it holds."""
    told = ["-q", "--color=no", "--tb=short", "--maxfail=0", "--continue-on-collection-errors"]
    told += ["--rootdir", request["project"], "-o", "cache_dir=" + request["cache"]]
    return told + sorted(request["wanted"])  # absolute paths, by which pytest finds its settings


def _probe() -> Any:
    """Load the script beside this one, whose folder is not on the path: modules in it are called like others."""
    spec = importlib.util.spec_from_file_location("bae_source_probe", os.path.join(_HERE, "probe.py"))  # noqa: PTH118
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _keep_rewritten(project: str, folder: str) -> None:
    """Let pytest keep what it compiles of the project elsewhere than beside it, where an old version may lie.

    What it once compiled of installed plugins is taken: all their modules are compiled anew for each run otherwise.
    """
    from pathlib import Path  # what the hook expects

    try:
        from _pytest.assertion import rewrite
    except ImportError:
        return  # a pytest without it; changed files have no compiled ones anyway
    beside = getattr(rewrite, "get_cache_dir", None)
    if beside is None:
        return

    def cached(file_path: Path) -> Any:
        path = os.path.realpath(str(file_path))
        ours = path.startswith(project + os.sep) and "site-packages" not in path  # as in `bypass_caches`
        return Path(folder) / "rewritten" if ours else beside(file_path)

    rewrite.get_cache_dir = cached


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
