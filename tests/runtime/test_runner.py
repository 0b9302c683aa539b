"""Runs of tests as values, by real pytest and unittest in real children."""

from __future__ import annotations

import ast
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bae_source.resources.tests.run import Run, TestResult, WantedTest
from bae_source.verification.running.runner import PROBE, Runner
from tests.runtime.judging import files, setting_of
from tests.runtime.support import Trial

pytestmark = pytest.mark.sampled

KINDS = """
import pytest, unittest

def test_passes(): print("seen")
def test_fails(): assert 1 == 2
@pytest.mark.skip(reason="not now")
def test_skipped(): pass
@pytest.mark.xfail(reason="known")
def test_xfailed(): assert 0
@pytest.mark.xfail
def test_xpassed(): pass
@pytest.mark.xfail(strict=True)
def test_strict(): pass
@pytest.fixture
def broken(): raise OSError("in the set-up")
def test_setup(broken): pass
@pytest.fixture
def leaving():
    yield
    raise OSError("in the teardown")
def test_teardown(leaving): pass
@pytest.mark.parametrize("x", ["a::b", "c[d]"])
def test_p(x): pass
class TestA:
    def test_a(self): pass
class ACase(unittest.TestCase):
    def test_u(self): pass
    @unittest.expectedFailure
    def test_e(self): self.fail()
    def test_s(self): self.skipTest("later")
"""
PLAIN = re.compile(r"(\d+) (passed|failed|error|skipped|xfailed|xpassed)")


@pytest.fixture
def suite(trial: Trial) -> Trial:
    trial.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    trial.write("app/core.py", "def f():\n    return g(1)\n\n\ndef g(x):\n    return 1 / (x - 1)\n")
    return trial


def run(suite: Trial, *wanted: str, seconds: float = 60.0, **options: Any) -> Run:
    given = {name: options.pop(name) for name in ("progress", "by_unittest") if name in options}
    tests = [want(each) for each in wanted] if wanted else None
    setting = replace(setting_of(suite, seconds=seconds), caches=options.pop("caches", None))
    return Runner(setting, **given).run(tests, **options)


def want(text: str) -> WantedTest:
    path, *names = text.split("::")
    return WantedTest(path=path, names=tuple(names))


def outcomes(ran: Run) -> dict[str, str]:
    return {each.address.rpartition(".")[2]: each.outcome for each in ran.results}


def plain(suite: Trial) -> dict[str, int]:
    """Return what plain `pytest` counts."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=suite.root, env=suite.environment, capture_output=True, text=True, check=False)
    return {word: int(number) for number, word in PLAIN.findall(done.stdout.strip().splitlines()[-1])}


def test_each_test_has_its_address_and_outcome_and_counts_are_those_of_pytest(suite: Trial) -> None:
    suite.write("tests/test_kinds.py", KINDS)
    ran = run(suite)
    assert ran.ended == "complete"
    assert dict(ran.counts) == plain(suite)
    assert outcomes(ran) | {"test_p[a": ""} == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_skipped": "skipped",
        "test_xfailed": "xfailed",
        "test_xpassed": "xpassed",
        "test_strict": "failed",
        "test_setup": "error",
        "test_teardown": "error",
        "test_p[a::b]": "passed",
        "test_p[c[d]]": "passed",
        "test_a": "passed",
        "test_u": "passed",
        "test_e": "xfailed",
        "test_s": "skipped",
        "test_p[a": "",
    }
    by_name = {each.address: each for each in ran.results}
    assert by_name["tests.test_kinds.test_passes"].output == "seen\n"
    assert by_name["tests.test_kinds.test_skipped"].message == "not now"
    assert by_name["tests.test_kinds.test_xfailed"].message == "known"
    assert by_name["tests.test_kinds.TestA.test_a"].id == "tests/test_kinds.py::TestA::test_a"
    assert by_name["tests.test_kinds.ACase.test_s"].message == "later"


SETTINGS: Mapping[str, Mapping[str, str]] = {
    "testpaths": {"pytest.ini": "[pytest]\ntestpaths = tests/one\n"},
    "norecursedirs": {"pytest.ini": "[pytest]\nnorecursedirs = two\n"},
    "python_files": {"pytest.ini": "[pytest]\npython_files = check_*.py\n"},
    "marks": {"pytest.ini": "[pytest]\naddopts = -m 'not slow'\nmarkers = slow\n"},
    "keyword": {"setup.cfg": "[tool:pytest]\naddopts = -k test_a\n"},
    "stop at the first": {"pytest.ini": "[pytest]\naddopts = -x\n"},
    "positional": {"tox.ini": "[pytest]\naddopts = tests/two\n"},
    "doctests": {"pytest.ini": "[pytest]\naddopts = --doctest-modules\n"},
    "a broken file": {"tests/test_bad.py": "import nowhere\n"},
    "a broken file, going on": {
        "tests/test_bad.py": "import nowhere\n",
        "pytest.ini": "[pytest]\naddopts = --continue-on-collection-errors\n",
    },
    "a file that skips itself": {"tests/test_off.py": "import pytest\npytest.skip('off', allow_module_level=True)\n"},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_counts_are_those_of_plain_pytest_whatever_the_settings(suite: Trial, name: str) -> None:
    (suite.root / "pyproject.toml").unlink()
    suite.write(
        "tests/one/test_one.py", "import pytest\n@pytest.mark.slow\ndef test_a(): pass\ndef test_b(): assert 0\n"
    )
    suite.write("tests/two/test_two.py", "def test_a(): pass\ndef test_c(): pass\n")
    suite.write("tests/check_it.py", "def test_a(): pass\n")
    suite.write("app/examples.py", '"""\n>>> 1 + 1\n2\n>>> 1 + 1\n3\n"""\n')
    for path, text in SETTINGS[name].items():
        suite.write(path, text)
    assert dict(run(suite).counts) == plain(suite)


def test_workers_and_plugins_that_run_again_are_counted_as_pytest_counts_them(suite: Trial) -> None:
    del suite.environment["PYTHONPATH"]
    again = (
        "import pytest\nfrom _pytest.runner import runtestprotocol\n\n@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)\n"
        "    for last in (False, True):\n"
        "        reports = runtestprotocol(item, nextitem=nextitem, log=False)\n"
        "        bad = any(each.failed for each in reports)\n"
        "        for each in reports:\n"
        "            if bad and not last and each.failed:\n                each.outcome = 'rerun'\n"
        "            item.ihook.pytest_runtest_logreport(report=each)\n"
        "        if not bad: break\n"
        "    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)\n    return True\n\n"
        "def pytest_report_teststatus(report):\n    if report.outcome == 'rerun': return 'rerun', 'R', 'RERUN'\n"
    )
    suite.write("conftest.py", again)
    suite.write("tests/test_a.py", "SEEN = []\n\ndef test_second():\n    SEEN.append(1)\n    assert len(SEEN) == 2\n")
    suite.write("tests/test_b.py", "def test_never(): assert 0\ndef test_good(): pass\n")
    ran = run(suite)
    assert dict(ran.counts) == plain(suite) == {"passed": 2, "failed": 1}
    assert outcomes(ran) == {"test_second": "passed", "test_never": "failed", "test_good": "passed"}
    suite.write("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-n 2"\n')
    (suite.root / "conftest.py").unlink()
    assert dict(run(suite).counts) == {"passed": 1, "failed": 2}


def test_frames_of_a_failure_are_addresses(suite: Trial) -> None:
    text = "import app.core\n\nclass TestA:\n    def test_a(self):\n        assert app.core.f() == 1\n"
    suite.write("tests/test_core.py", text)
    [result] = run(suite).results
    assert (result.outcome, result.place) == ("failed", "app.core:6")
    assert result.message == "ZeroDivisionError: division by zero"
    assert result.report.splitlines() == [
        "ZeroDivisionError: division by zero",
        "  tests.test_core:5 in TestA.test_a",
        "    assert app.core.f() == 1",
        "  app.core:2 in f",
        "    return g(1)",
        "  app.core:6 in g",
        "    return 1 / (x - 1)",
    ]


def test_a_fixture_that_is_not_there_is_reported_in_a_line(suite: Trial) -> None:
    suite.write("tests/test_a.py", "def test_a(nothing): pass\n")
    [result] = run(suite).results
    assert (result.outcome, result.message) == ("error", "fixture 'nothing' not found")


def test_a_file_that_cannot_be_collected_is_a_problem_and_stops_no_other_where_the_caller_goes_on(suite: Trial) -> None:
    suite.write("tests/test_bad.py", "import nowhere\n")
    suite.write("tests/test_worse.py", "def test_it(:\n")
    suite.write("tests/test_good.py", "def test_it(): pass\n")
    ran = run(suite, keep_going=True)
    assert ran.ended == "complete"
    assert outcomes(ran) == {"test_it": "passed"}
    bad, worse = ran.problems
    assert (bad.address, bad.place) == ("tests.test_bad", "tests.test_bad:1")
    assert bad.message == "ModuleNotFoundError: No module named 'nowhere'"
    assert worse.address == "tests.test_worse"
    assert "SyntaxError" in worse.message
    assert run(suite).results == (), "as plain pytest"


MISCHIEF = {
    "ends": "import os; os._exit(0)",
    "fails to end": "import os; os._exit(3)",
    "kills": "import os; os.kill(os.getpid(), 9)",
    "crashes": "import os; os.kill(os.getpid(), 11)",
    "interrupts": "raise KeyboardInterrupt",
}


@pytest.mark.parametrize("how", MISCHIEF)
def test_a_test_that_ends_its_process_fails_and_those_behind_it_are_run(suite: Trial, how: str) -> None:
    suite.write("tests/test_a.py", f"def test_a(): pass\ndef test_b():\n    {MISCHIEF[how]}\ndef test_c(): pass\n")
    ran = run(suite)
    assert ran.ended == "complete"
    assert outcomes(ran) == {"test_a": "passed", "test_b": "failed", "test_c": "passed"}
    assert "ended" in next(each for each in ran.results if each.is_red).message
    assert dict(ran.counts) == {"passed": 2, "failed": 1}


def test_what_tests_do_to_their_process_hides_no_result(suite: Trial) -> None:
    text = (
        "import os, sys\n"
        "def test_closes():\n    os.close(int(sys.argv[2]))\n"
        "def test_reuses():\n    for _ in range(30): os.open(os.devnull, os.O_WRONLY)\n"
        "def test_forks():\n    child = os.fork()\n    if child: os.waitpid(child, 0)\n"
        "def test_binary():\n    os.write(1, b'\\xff\\0' * 9); sys.stdout.buffer.write(b'\\xff'); print('\\udcff')\n"
        "    assert b'\\xff' == '\\udcff'\n"
        "def test_writes():\n    open('app/made.py', 'w').close(); open('/dev/full', 'a').close()\n"
        "def test_leaves():\n    import threading, time; threading.Thread(target=time.sleep, args=(600,)).start()\n"
    )
    suite.write("tests/test_a.py", text)
    ran = run(suite, seconds=30.0)
    assert ran.ended == "complete"
    others = {f"test_{name}": "passed" for name in ("closes", "reuses", "forks", "writes", "leaves")}
    assert outcomes(ran) == {**others, "test_binary": "failed"}
    assert dict(ran.counts) == {"passed": 5, "failed": 1}, "a copy of the process counts for nothing"


def test_a_test_that_closes_the_files_of_pytest_fails_as_in_plain_pytest(suite: Trial) -> None:
    suite.write("tests/test_a.py", "import os\ndef test_a(): os.closerange(3, 200)\ndef test_b(): pass\n")
    ran = run(suite)
    assert (ran.ended, outcomes(ran)) == ("complete", {"test_a": "error", "test_b": "error"})
    assert "Bad file descriptor" in ran.red[0].message


def test_a_test_that_hangs_is_stopped_and_those_behind_it_are_run(suite: Trial) -> None:
    suite.write("tests/test_a.py", "import time\ndef test_a(): time.sleep(600)\ndef test_b(): pass\n")
    ran = run(suite, seconds=3.0)
    assert outcomes(ran) == {"test_a": "failed", "test_b": "passed"}
    assert ran.results[0].message == "took longer than 3 seconds and was stopped"
    ran = Runner(setting_of(suite)).run(None, seconds=2.0)
    assert (ran.ended, outcomes(ran)) == ("stopped", {"test_a": "failed"})


def test_tests_beside_the_first_ones_are_run_for_some_time_and_the_others_are_named(suite: Trial) -> None:
    suite.write(
        "tests/test_a.py", "import time\ndef test_a(): time.sleep(0.3)\ndef test_b(): pass\ndef test_c(): pass\n"
    )
    suite.write("tests/test_z.py", "def test_z(): pass\n")
    ran = run(suite, first=["tests/test_z.py"], rest=0.1)
    assert [each.address for each in ran.results] == [
        f"tests.{name}" for name in ("test_z.test_z", "test_a.test_a", "test_a.test_b")
    ]
    assert ran.unreached == ("tests.test_a.test_c",)
    ran = run(suite, first=["tests/test_z.py"], rest=60.0)
    assert (len(ran.results), ran.unreached) == (4, ())


def test_an_interrupt_leaves_no_child_and_says_what_was_done(suite: Trial, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    text = f"    import os, time\n    open({str(mark)!r}, 'w').write(str(os.getpid()))\n    time.sleep(600)\n"
    suite.write("tests/test_a.py", f"def test_a(): pass\ndef test_b():\n{text}")
    threading.Thread(target=_interrupt, args=(mark,), daemon=True).start()
    ran = run(suite)
    assert (ran.ended, outcomes(ran), ran.collected) == ("interrupted", {"test_a": "passed"}, 2)
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def _interrupt(mark: Path) -> None:
    while not (mark.exists() and mark.read_text()):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


def test_progress_names_each_test_that_ends(suite: Trial) -> None:
    suite.write("tests/test_a.py", "def test_a(): pass\ndef test_b(): assert 0\n")
    seen: list[tuple[int, int, str]] = []
    run(suite, progress=lambda *progress: seen.append(progress))
    assert seen == [(1, 2, "tests.test_a.test_a"), (2, 2, "tests.test_a.test_b")]


def test_a_part_is_run_and_no_other_file_is_imported(suite: Trial) -> None:
    mark = suite.root / "imported"
    suite.write("tests/test_mischief.py", f"open({str(mark)!r}, 'w')\n")
    suite.write("tests/test_kinds.py", KINDS)
    assert outcomes(run(suite, "tests/test_kinds.py::test_p", "tests/test_kinds.py::TestA")) == {
        "test_p[a::b]": "passed",
        "test_p[c[d]]": "passed",
        "test_a": "passed",
    }
    one = WantedTest(path="tests/test_kinds.py", names=("test_p",), case="[c[d]]")
    exact = WantedTest(path="tests/test_kinds.py", id="tests/test_kinds.py::test_fails")
    ran = Runner(setting_of(suite)).run([one, exact])
    assert outcomes(ran) == {"test_p[c[d]]": "passed", "test_fails": "failed"}
    assert not mark.exists()
    assert run(suite, "tests/test_kinds.py::test_absent").ended == "no_tests"


BARE = '#!/bin/sh\nexec {python} -S -E "$@"\n'
CASES = (
    "import unittest\nimport app.core\n\nclass SendCase(unittest.TestCase):\n    def test_a(self): print('seen')\n"
    "    def test_b(self): self.assertEqual(app.core.g(1), 1)\n"
    "    @unittest.skip('later')\n    def test_c(self): pass\n"
    "    @unittest.expectedFailure\n    def test_d(self): self.fail()\n\n"
    "class Broken(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): raise OSError('no')\n"
    "    def test_e(self): pass\n"
)


def test_without_pytest_cases_of_unittest_are_run_with_the_same_answers(suite: Trial) -> None:
    python = suite.write("bin/python", BARE.format(python=shlex.quote(sys.executable)))
    python.chmod(0o755)
    suite.write("tests/__init__.py", "")
    suite.write("tests/test_send.py", CASES)
    suite.write("tests/test_bad.py", "import nowhere\n")
    setting = setting_of(suite, python=str(python))
    assert Runner(setting).run(None).ended == "no_pytest"
    ran = Runner(setting, by_unittest=True).run(None)
    assert outcomes(ran) == {"test_a": "passed", "test_b": "failed", "test_c": "skipped", "test_d": "xfailed"}
    by_name = {each.address: each for each in ran.results}
    assert by_name["tests.test_send.SendCase.test_a"].output == "seen\n"
    failed = by_name["tests.test_send.SendCase.test_b"]
    assert (failed.message, failed.place) == ("ZeroDivisionError: division by zero", "app.core:6")
    assert {each.message.partition("\n")[0] for each in ran.problems} >= {"OSError: no"}
    assert any("nowhere" in each.report for each in ran.problems)
    one = WantedTest(path="tests/test_send.py", names=("SendCase", "test_a"))
    assert outcomes(Runner(setting, by_unittest=True).run([one])) == {"test_a": "passed"}


def test_an_interpreter_that_does_not_start_and_a_conftest_that_fails_are_ways_to_end(suite: Trial) -> None:
    assert Runner(setting_of(suite, python="no-such-python")).run(None).ended == "no_python"
    assert run(suite).ended == "no_tests"
    suite.write("conftest.py", "1 / 0\n")
    ran = run(suite)
    assert ran.ended == "unusable"
    assert ran.detail.startswith("ZeroDivisionError: division by zero")
    assert str(suite.root) not in ran.detail


def test_an_edit_of_the_same_size_in_the_same_second_is_seen_and_nothing_is_compiled_twice(
    suite: Trial, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    suite.write("tests/test_a.py", "import app.core\ndef test_a(): assert app.core.g(3) == 0.5\n")
    paths = ("app/core.py", "tests/test_a.py")
    for path in paths:
        os.utime(suite.root / path, (1_700_000_000, 1_700_000_000))
    was = files(suite.root)
    assert outcomes(run(suite, caches=cache)) == {"test_a": "passed"}
    compiled = _stamps(cache)
    assert outcomes(run(suite, caches=cache)) == {"test_a": "passed"}
    assert _stamps(cache) == compiled
    assert any("pytest" in path for path in compiled)
    assert files(suite.root) == was
    assert not list(suite.root.rglob("__pycache__"))
    suite.write("app/core.py", (suite.root / "app/core.py").read_text().replace("1 / (", "2 / ("))
    os.utime(suite.root / "app/core.py", (1_700_000_000, 1_700_000_000))
    assert outcomes(run(suite, caches=cache)) == {"test_a": "failed"}


def _stamps(cache: Path) -> dict[str, int]:
    return {str(path.relative_to(cache)): path.stat().st_mtime_ns for path in cache.rglob("*.pyc")}


@pytest.fixture
def shadowed(suite: Trial, tmp_path: Path) -> tuple[Trial, Runner]:
    """A project of which code is loaded from `lib` by a search path that names the tree, and its shadow."""
    shadow = Trial(tmp_path / "shadow")
    for each in (suite, shadow):
        each.write("pyproject.toml", "[tool.pytest.ini_options]\n")
        each.write("lib/its.py", f"WHERE = {each is shadow}\n")
    shadow.write("tests/test_a.py", "import its\ndef test_a(): assert its.WHERE\n")
    suite.environment["PYTHONPATH"] += f"{os.pathsep}{suite.root / 'lib'}"
    return shadow, Runner(replace(setting_of(suite), root=shadow.root, tree=suite.root))


def test_in_a_shadow_its_own_modules_are_loaded_in_children_as_well(shadowed: tuple[Trial, Runner]) -> None:
    shadow, runner = shadowed
    call = "subprocess.run([sys.executable, '-c', 'import its; assert its.WHERE'], check=True)"
    child = f"import subprocess, sys\ndef test_b():\n    {call}\n"
    shadow.write("tests/test_b.py", child)
    ran = runner.run(None)
    assert (dict(ran.counts), ran.escaped) == ({"passed": 2}, ())


def test_a_module_that_is_loaded_from_the_tree_is_found_out(shadowed: tuple[Trial, Runner], suite: Trial) -> None:
    shadow, runner = shadowed
    load = "import sys\nsys.path.insert(0, {!r})\nimport its\ndef test_a(): assert not its.WHERE\n"
    shadow.write("tests/test_a.py", load.format(str(suite.root / "lib")))
    ran = runner.run(None)
    assert (dict(ran.counts), ran.escaped) == ({"passed": 1}, ("lib.its",))


def test_programs_for_the_projects_interpreter_are_understood_by_an_old_one() -> None:
    for program in PROBE.parent.glob("*.py"):
        ast.parse(program.read_text(), feature_version=(3, 7))


def test_a_result_knows_its_file() -> None:
    assert (
        TestResult(id="tests/test_a.py::test_b", address="tests.test_a.test_b", outcome="error").path
        == "tests/test_a.py"
    )
