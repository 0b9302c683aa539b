"""A plugin of pytest that runs the wanted tests, and reports the result of each.

Invariants:
- pytest collects as it does for the project's own settings, which say where tests are and which are left out, and a
  file that is not wanted goes before it is imported: what pytest would not collect without us is not run;
- which tests of a file are run is decided on what was collected, so a test that is not there stops no other;
- everything runs in this process, in the order in which pytest would run it, but for files that are to come first;
- outcomes are those that pytest counts, plugins' words for them included.
"""

from __future__ import annotations

import glob
import linecache
import os
import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

_MAX_TEXT = 2000
_MAX_OUTPUT = 4000
_MAX_OUTPUT_OF_PASSED = 500
_MAX_FRAMES = 12
_MAX_TEXTS = 100


def run(request: dict[str, Any], answers: Any) -> int:
    """Run tests by pytest, and return its status."""
    import pytest

    wrapper, first, last = (
        pytest.hookimpl(hookwrapper=True),  # which is called before what any plugin does
        pytest.hookimpl(tryfirst=True),
        pytest.hookimpl(trylast=True),
    )
    for name, mark in (
        ("load_initial_conftests", wrapper),
        ("cmdline_main", first),
        ("ignore_collect", first),
        ("collect_file", wrapper),
        ("collection_modifyitems", last),
        ("runtest_makereport", wrapper),
        ("runtest_protocol", wrapper),
    ):
        setattr(Selected, "pytest_" + name, mark(getattr(Selected, "pytest_" + name)))
    if int(pytest.__version__.split(".")[0]) < 7:
        _name_as_before(wrapper)
    return int(pytest.main(_arguments(request), plugins=[Selected(request, answers)]))


def _arguments(request: dict[str, Any]) -> list[str]:
    """Return the arguments for pytest, which outweigh those in the project's settings."""
    # pytest takes a hundred times as long to draw a failure in its own way as to find it, and it is drawn by us
    given = ["-q", "--color=no", "--tb=native", "--rootdir", request["root"]]
    given += ["-o", "cache_dir=" + os.path.join(request["scratch"], "pytest")]  # noqa: PTH118
    if request["keep_going"]:
        given += ["--maxfail=0", "--continue-on-collection-errors"]
    # absolute paths, by which pytest finds its settings; without them those of the root
    return given + (sorted(request["wanted"] or ()) if not request["selection"] else [])


def _name_as_before(wrapper: Any) -> None:
    """Give the hooks the arguments that they had before pytest 7."""
    ignore, collect = Selected.pytest_ignore_collect, Selected.pytest_collect_file
    Selected.pytest_ignore_collect = lambda self, path: ignore(self, path)  # type: ignore[assignment,method-assign]
    Selected.pytest_collect_file = wrapper(lambda self, path: (yield from collect(self, path)))  # type: ignore[method-assign]


class Selected:
    """The plugin.

    Parameters:
        request: `wanted` by absolute path the tests of that file, as names, case and node id, or None for all tests;
            `first` the paths of files that come first; `rest` the seconds for the others; `skipped` node ids;
            `selection` the file that tells `wanted` and `first` later, while plugins are loaded; "" for none.
        answers: takes lines of answer.
    """

    def __init__(self, request: dict[str, Any], answers: Any) -> None:
        self._request = request
        self._wanted: Any = {}
        self._folders: set[str] = set()
        self._first: set[str] = set()
        self._rest = request["rest"]
        self._project = request["root"]
        self._skipped = set(request["skipped"])
        self._answers = answers
        self._say = answers.say
        self._config: Any = None
        self._last_of_first = 0
        self._until: float | None = None
        self._texts = 0
        self._running: dict[str, dict[str, Any]] = {}

    def pytest_load_initial_conftests(self, early_config: Any) -> Iterator[None]:
        """Collect where the project's settings say, and leave coverage alone: nothing is measured or written."""
        selection = self._answers.selection(self._request)
        self._wanted, self._first = selection["wanted"], set(selection["first"])
        self._folders = {folder for path in self._wanted or () for folder in _around(path)}
        options = early_config.known_args_namespace
        if self._wanted is not None:
            options.file_or_dir = self._collected_places(early_config, options.file_or_dir)
        if getattr(options, "cov_source", None):
            options.cov_source = None
        yield

    def pytest_cmdline_main(self, config: Any) -> None:
        """Run everything in this process, where the choice of tests is made."""
        self._config = config
        if self._wanted is not None:
            config.args = self._collected_places(config, config.args)
        if hasattr(config.option, "numprocesses"):
            config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []

    def _collected_places(self, config: Any, given: list[str]) -> list[str]:
        """Return the arguments that pytest would get, or take itself, in a run of all tests."""
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
        """Return whether something that pytest is given may hold what is wanted."""
        path = os.path.realpath(given.partition("::")[0])
        return not os.path.isfile(path) or path in self._wanted  # noqa: PTH113

    def pytest_ignore_collect(self, collection_path: Any) -> Any:
        """Look into no folder without a wanted file."""
        if self._wanted is None:
            return None
        path = os.path.realpath(str(collection_path))
        return True if path not in self._folders and os.path.isdir(path) else None  # noqa: PTH112

    def pytest_collect_file(self, file_path: Any) -> Iterator[None]:
        """Leave a file aside that is not wanted, before it is imported."""
        outcome: Any = yield
        if self._wanted is not None and os.path.realpath(str(file_path)) not in self._wanted:
            outcome.force_result([])

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Leave out what is not wanted; what the project's settings leave out has gone before."""
        kept = [item for item in items if item.nodeid not in self._skipped and self._wants(item)]
        if self._first:
            kept.sort(key=lambda item: _path(item) not in self._first)
            self._last_of_first = sum(_path(item) in self._first for item in kept)
        if len(kept) < len(items):
            staying = set(map(id, kept))
            config.hook.pytest_deselected(items=[item for item in items if id(item) not in staying])
        items[:] = kept
        self._say(collected=len(kept))

    def _wants(self, item: Any) -> bool:
        if self._wanted is None:
            return True
        places = [place for place in ((_path(item), _names(item)), _defined(item)) if place is not None]
        return any(
            each["id"] == item.nodeid if each["id"] else _holds(each, names, _case(item))
            for path, names in places
            for each in self._wanted.get(path, ())
        )

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        """Note the frames of what could not be collected."""
        if getattr(report, "when", None) is None:
            report.bae_source_frames = _frames(call.excinfo)

    def pytest_collectreport(self, report: Any) -> None:
        """Report files that could not be collected, and those skipped as a whole."""
        if report.passed:
            return
        where = [os.path.abspath(report.nodeid.split("::")[0]), [], ""]  # noqa: PTH100
        error = self._error(report) if report.failed else {"message": _reason(report), "frames": []}
        self._say(problem=report.nodeid, case=where, error=error, categories=["error" if report.failed else "skipped"])

    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        """Report the test that begins, and its result; end the run where there is no time left."""
        self._stop_if_late(item)
        self._running[item.nodeid] = {"categories": [], "seconds": 0.0, "output": "", "error": None}
        self._say(begun=item.nodeid, case=_case_of(item))
        outcome: Any = yield
        if outcome.excinfo is not None:
            return  # the run ends with this test: it interrupted it, or took from pytest what it needs
        ended = self._running.pop(item.nodeid)
        short = _MAX_OUTPUT if ended["error"] else _MAX_OUTPUT_OF_PASSED
        ended["output"] = ended["output"][-short:]
        self._say(ended=item.nodeid, **ended)

    def _stop_if_late(self, item: Any) -> None:
        """Have a test be the last one where the time is up in which tests beside the first ones are run."""
        items = item.session.items
        if self._rest is None or len(items) == self._last_of_first:
            return
        if item is items[self._last_of_first]:
            self._until = time.monotonic() + self._rest
        elif self._until is not None and time.monotonic() > self._until and not item.session.shouldstop:
            self._say(unreached=[_case_of(each) for each in items[items.index(item) + 1 :]])
            item.session.shouldstop = "the time is up"

    def pytest_runtest_makereport(self, call: Any) -> Iterator[None]:
        """Note the frames of a failure, which a report has as text alone."""
        outcome: Any = yield
        report = outcome.get_result()
        if report.failed and call.excinfo is not None:
            report.bae_source_frames = _frames(call.excinfo)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note the result of a phase of a test, as pytest counts it."""
        its = self._running.get(report.nodeid)
        if its is None:
            return  # of a test that another plugin runs inside this one
        category = ""
        if report.when == "call" or not report.passed:  # pytest counts no set-up and no teardown that passes
            category = self._config.hook.pytest_report_teststatus(report=report, config=self._config)[0]
        if category == "rerun":
            its.update(categories=[], error=None)
        elif category:
            its["categories"].append(category)
        its["seconds"] += getattr(report, "duration", 0.0)
        its["output"] = "".join(text for name, text in report.sections if name.startswith("Captured"))
        if report.failed and its["error"] is None:
            its["error"] = self._error(report)
        elif category in ("skipped", "xfailed"):
            its["error"] = {"message": _reason(report), "frames": []}

    def _error(self, report: Any) -> dict[str, Any]:
        """Return the failure: the message, the frames, and where pytest writes no frames its text."""
        self._texts += 1
        if self._texts > _MAX_TEXTS:
            return {"message": "", "frames": []}
        crash = getattr(report.longrepr, "reprcrash", None)
        frames = getattr(report, "bae_source_frames", [])
        message = str(getattr(crash, "message", "") or report.longrepr)
        for where, lines in getattr(report.longrepr, "reprlocation_lines", ())[:1]:  # of examples in docstrings
            frames = [[str(where.path), where.lineno, "", ""]]
            message = _of_example(lines)
        return {"message": message[:_MAX_TEXT], "frames": frames}


def _frames(excinfo: Any) -> list[list[Any]]:
    """Return the frames of an exception from the test inwards: file, line, function and source."""
    found = []
    step = excinfo.tb
    while step is not None:
        frame = step.tb_frame
        if not _is_hidden(frame):
            file = frame.f_code.co_filename
            text = linecache.getline(file, step.tb_lineno).strip()[:200]
            found.append([file, step.tb_lineno, _qualname(frame), text])
        step = step.tb_next
    error = excinfo.value
    if isinstance(error, SyntaxError) and error.filename:
        found.append([error.filename, error.lineno or 1, "", (error.text or "").strip()[:200]])
    return found[:2] + found[2:][-_MAX_FRAMES:]


def _is_hidden(frame: Any) -> bool:
    """Return whether a frame is the machinery's: that of pytest, its plugins' own, or of unittest."""
    name = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    machinery = name in ("_pytest", "pluggy", "importlib", "bae_source_by_pytest") or "__unittest" in frame.f_globals
    return machinery or frame.f_code.co_filename.startswith("<frozen") or bool(frame.f_locals.get("__tracebackhide__"))


def _qualname(frame: Any) -> str:
    """Return the path of names of a frame's function; before Python 3.11 its own name, behind its class."""
    code = frame.f_code
    if hasattr(code, "co_qualname"):
        return str(code.co_qualname)
    first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    owner = next((each for each in type(first).__mro__ if code.co_name in vars(each)), None) if first else None
    return owner.__qualname__ + "." + code.co_name if owner else str(code.co_name)


def _reason(report: Any) -> str:
    """Return the reason of a skip, or of a failure that was expected."""
    if getattr(report, "wasxfail", None):
        return str(report.wasxfail)[:_MAX_TEXT]
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr or "")
    return text[len("Skipped: ") :][:_MAX_TEXT] if text.startswith("Skipped: ") else text[:_MAX_TEXT]


def _of_example(lines: list[str]) -> str:
    """Return the complaint about an example in a line, which stands with the lines of its docstring in front."""
    heads = ("Expected", "UNEXPECTED", "Differences")
    first = next((number for number, line in enumerate(lines) if line.startswith(heads)), 0)
    end = first + 1 if lines[first].startswith("UNEXPECTED") else len(lines)
    return " ".join(" ".join(lines[first:end]).split())


def _path(item: Any) -> str:
    return _real(str(getattr(item, "path", None) or item.fspath))


@lru_cache(maxsize=None)  # noqa: UP033 - `cache` came with Python 3.9
def _real(path: str) -> str:
    return os.path.realpath(path)


def _around(path: str) -> Iterator[str]:
    """Yield the folders around a file, outwards."""
    while os.path.dirname(path) != path:  # noqa: PTH120
        path = os.path.dirname(path)  # noqa: PTH120
        yield path


def _case_of(item: Any) -> list[Any]:
    """Return where a test is, by its file, its names and its case."""
    return [_path(item), list(_names(item)), _case(item)]


def _names(item: Any) -> tuple[str, ...]:
    import pytest

    if hasattr(item, "dtest"):  # examples in a docstring, which are called by their module's name, too
        whole, module = item.name + ".", str(item.dtest.globs.get("__name__", "")) + "." if item.dtest else "."
        return tuple(whole[len(module) :].split(".")[:-1]) if whole.startswith(module) else ()
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    return (*classes, getattr(item, "originalname", None) or item.name.partition("[")[0])


def _case(item: Any) -> str:
    """Return the parameters of a test in their brackets; "" where it has none."""
    if hasattr(item, "dtest"):
        return ""
    bare = getattr(item, "originalname", None) or item.name.partition("[")[0]
    return str(item.name[len(bare) :])


def _defined(item: Any) -> tuple[str, tuple[str, ...]] | None:
    """Return where the function of a test is defined: a test that a class inherits stands in another one."""
    function = getattr(item, "function", None)
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if function is None or code is None:
        return None
    return _real(code.co_filename), tuple(function.__qualname__.split("."))


def _holds(wanted: dict[str, Any], names: tuple[str, ...], case: str) -> bool:
    own = tuple(wanted["names"])
    return names[: len(own)] == own and wanted["case"] in (None, case)
