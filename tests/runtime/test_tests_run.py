"""Tests that a change concerns are run before and after it, by real pytest in real children."""

from __future__ import annotations

import ast
import os
import select
import shlex
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from bae_source.errors import TransactionError
from bae_source.model.outcome import Check
from bae_source.reloading.child import suite_probe
from bae_source.system import child
from bae_source.verification.tests_run import PROBE, Others, TestsRun, WantedTest
from tests.runtime.judging import judge, messages, refusal, setting_of, verified
from tests.runtime.support import Trial, codes

CORE = "def f():\n    return 1\n"
SEEN = "import app.core\n\ndef test_f():\n    assert app.core.f() == 1\n\ndef test_g():\n    assert True\n"


@pytest.fixture
def suite(trial: Trial, without_plugins: str) -> Trial:
    trial.environment["PYTHONPATH"] = without_plugins
    trial.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    trial.write("app/core.py", CORE)
    trial.write("tests/test_core.py", SEEN)
    return trial


def runs(suite: Trial, *wanted: str, seconds: float = 60.0, others: Others | None = None) -> TestsRun:
    """Return the verifier that runs tests given as `tests/test_core.py::test_f`."""
    return TestsRun(setting_of(suite, seconds=seconds), [want(each) for each in wanted], others)


def any_other(path: str, names: tuple[str, ...] | None) -> list[tuple[str, ...]]:
    """Say that every test may be concerned, and of a file that two may be."""
    return [names] if names is not None else [("test_x",), ("TestA", "test_y")]


def want(text: str) -> WantedTest:
    path, *names = text.split("::")
    address = ".".join((path.removesuffix(".py").replace("/", "."), *names))
    return WantedTest(path=path, names=tuple(names), address=address)


def test_an_edit_of_the_same_size_in_the_same_second_is_seen(suite: Trial) -> None:
    """Compiled files of before must not be taken for the new code, neither of the project nor of the tests."""
    suite.write("app/__init__.py", "")
    for path in ("app/core.py", "tests/test_core.py"):
        os.utime(suite.root / path, (1_700_000_000, 1_700_000_000))
    first = runs(suite, "tests/test_core.py::test_f")
    first.prepare([], {}, {})
    cache = suite.root / "app/__pycache__"
    assert not cache.exists(), "children write no compiled files into the project"
    compiled = [sys.executable, "-c", "import app.core"]
    assert os.spawnve(os.P_WAIT, compiled[0], compiled, _plain(suite)) == 0
    assert list(cache.glob("core*.pyc"))
    suite.write("app/core.py", "def f():\n    return 2\n")
    os.utime(suite.root / "app/core.py", (1_700_000_000, 1_700_000_000))
    with pytest.raises(TransactionError, match="assert 2 == 1"):
        first.verify()


def _plain(suite: Trial) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return environment | {"PYTHONPATH": str(suite.root)}


def test_what_failed_before_is_told_and_not_blamed_and_stops_no_other(suite: Trial) -> None:
    suite.write("tests/test_core.py", SEEN.replace("assert True", "assert app.core.f() > 5"))
    suite.write("tests/test_bad.py", "import nowhere\n")
    wanted = ("tests/test_bad.py", "tests/test_core.py")
    found = judge(suite, runs(suite, *wanted), {"app/core.py": "def f():\n    return 2 - 1\n"})
    assert verified(found) == "tests (1 passed, 1 skipped or failed before)"
    [message] = messages(found)
    assert message.startswith("tests.test_bad, tests.test_core.test_g failed before the change, too: ")
    assert "No module named 'nowhere'" in message
    error = refusal(suite, runs(suite, *wanted), {"app/core.py": "def f():\n    return 2\n"})
    assert error.candidates == ("tests.test_core.test_f",)


def test_a_test_that_is_new_has_no_excuse(suite: Trial) -> None:
    new = {
        "tests/test_new.py": "def test_new():\n    assert 0\n",
        "tests/test_core.py": SEEN + "\ndef test_h(): 1 / 0\n",
    }
    error = refusal(suite, runs(suite, "tests/test_new.py::test_new", "tests/test_core.py::test_h"), new)
    assert sorted(error.candidates) == ["tests.test_core.test_h", "tests.test_new.test_new"]


def test_a_file_that_cannot_be_collected_any_more_is_red(suite: Trial) -> None:
    error = refusal(suite, runs(suite, "tests/test_core.py::test_f"), {"app/core.py": "import nowhere\n"})
    assert error.candidates == ("tests.test_core",)
    assert "No module named 'nowhere'" in str(error.details)


def test_a_conftest_that_fails_is_told_with_the_change_and_forgiven_without(suite: Trial) -> None:
    wanted = "tests/test_core.py"
    error = refusal(suite, runs(suite, wanted), {"tests/conftest.py": "import app.core\n1 / 0\n"})
    assert error.message.startswith("The tests cannot be run with the change")
    assert "ZeroDivisionError: division by zero; nothing was written." in error.message
    suite.write("tests/conftest.py", "1 / 0\n")
    found = judge(suite, runs(suite, wanted), {"app/core.py": "def f():\n    return 2 - 1\n"})
    assert codes(found) == ["failed_before", "no_tests"]
    assert messages(found)[0] == "The tests failed before the change, too: ZeroDivisionError: division by zero"


def test_a_test_that_hangs_is_stopped_and_those_behind_it_are_run(suite: Trial, hanging: str) -> None:
    suite.write("tests/test_core.py", SEEN.replace("assert True", "app.core.f() == 1 or wait()") + hanging)
    wanted = ("tests/test_core.py::test_g", "tests/test_core.py::test_h")
    verifier = runs(suite, *wanted)
    error = refusal(suite, verifier, {"app/core.py": "def f():\n    return 2\n"})
    assert error.code == "timed_out"
    assert error.candidates == ("tests.test_core.test_g",)
    assert "took longer than 60 seconds and was stopped; nothing was written." in error.message


def test_a_test_that_hung_before_is_not_waited_for_again(suite: Trial, hanging: str, tmp_path: Path) -> None:
    suite.write("tests/test_core.py", "import app.core\n\ndef test_g():\n    wait()\n" + hanging)
    found = judge(suite, runs(suite, "tests/test_core.py"), {"app/core.py": "def f():\n    return 2 - 1\n"})
    assert verified(found) == "tests (1 passed)", "of the one behind it"
    assert "tests.test_core.test_g failed before the change, too: took longer" in messages(found)[0]
    assert len(list((tmp_path / "marks").iterdir())) == 1


class _Impatient:
    """A poll object that looks at the clock now and then, since that of the test jumps."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self.register, self.unregister = self._poll.register, self._poll.unregister

    def poll(self, milliseconds: float) -> list[tuple[int, int]]:
        return self._poll.poll(min(milliseconds, 100))


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Code that hangs; its time is up as soon as it does."""
    marks = tmp_path / "marks"
    marks.mkdir()
    now = lambda: time.monotonic() + 1000 * len(list(marks.iterdir()))  # noqa: E731
    monkeypatch.setattr(child, "time", SimpleNamespace(monotonic=now, sleep=time.sleep))
    monkeypatch.setattr(child, "select", SimpleNamespace(poll=_Impatient, POLLIN=select.POLLIN))
    code = f"    import os, time\n    open({str(marks)!r} + f'/{{os.getpid()}}', 'w').close()\n    time.sleep(600)\n"
    return f"\ndef wait():\n{code}\ndef test_h():\n    pass\n"


def test_a_test_that_ends_the_interpreter_fails_and_those_behind_it_are_run(suite: Trial) -> None:
    crash = "import app.core, os\n\ndef test_a():\n    app.core.f() == 1 or os.kill(os.getpid(), 11)\n"
    crash += "\ndef test_c():\n    if app.core.f() == 2:\n        raise KeyboardInterrupt\n"
    suite.write("tests/test_core.py", f"{crash}\ndef test_b():\n    assert app.core.f() != 2\n")
    error = refusal(suite, runs(suite, "tests/test_core.py"), {"app/core.py": "def f():\n    return 2\n"})
    assert error.code == "verify_failed"
    assert error.candidates == tuple(f"tests.test_core.test_{name}" for name in "acb")
    assert "ended the interpreter (status -11)" in error.message
    assert error.details["failed"][1]["said"] == "ended the run"


def test_what_a_test_prints_is_bounded_and_no_option_is_smuggled_in(suite: Trial) -> None:
    text = "import os\n\ndef test_loud():\n    os.write(1, b'x' * 50_000_000); print('y' * 5_000_000)\n    assert 0\n"
    suite.write("pyproject.toml", '[tool.pytest.ini_options]\npython_files = ["*.py"]\n')
    suite.write("tests/-pevil.py", text)
    suite.environment["PYTEST_ADDOPTS"] = "--collect-only"
    found = judge(suite, runs(suite, "tests/-pevil.py", "tests/test_core.py"), {"app/core.py": "def f(): return 1\n"})
    assert verified(found) == "tests (2 passed, 1 skipped or failed before)"
    assert "tests.-pevil.test_loud failed before the change, too" in messages(found)[0]


def test_a_red_test_is_an_address_with_what_did_not_hold_and_where_whatever_the_projects_settings(suite: Trial) -> None:
    del suite.environment["PYTHONPATH"]  # so that there is a plugin with this option
    suite.write("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-x -n 2 -q -p no:hypothesispytest"\n')
    suite.write("tests/test_core.py", SEEN + "\ndef test_a():\n    assert app.core.f() == 1\n")
    error = refusal(suite, runs(suite, "tests/test_core.py"), {"app/core.py": "def f():\n    return 2\n"})
    assert error.code == "verify_failed"
    assert error.candidates == ("tests.test_core.test_f", "tests.test_core.test_a")
    assert "tests.test_core.test_f (at tests.test_core:4): " in error.message
    assert "assert 2 == 1; nothing was written." in error.message
    assert error.details["failed"][0]["at"] == "tests.test_core:4"
    assert not (suite.root / ".pytest_cache").exists()


def test_classes_parameters_inherited_tests_and_what_is_skipped(suite: Trial) -> None:
    text = (
        "import pytest, unittest, app.core\n\n"
        "@pytest.mark.parametrize('x', ['a::b', 'c[d]'])\ndef test_p(x):\n    assert app.core.f() == 1\n\n"
        "class Base:\n    def test_inherited(self):\n        assert app.core.f() == 1\n\n"
        "class TestA(Base):\n    pass\n\n"
        "class ACase(unittest.TestCase):\n    def test_u(self):\n        self.assertEqual(app.core.f(), 1)\n\n"
        "@pytest.mark.skip\ndef test_s(): pass\n"
    )
    suite.write("tests/test_core.py", text)
    names = ("test_p", "Base::test_inherited", "ACase", "test_s", "test_absent", "Base::test_more")
    wanted = [f"tests/test_core.py::{name}" for name in names]
    found = judge(suite, runs(suite, *wanted), {"app/core.py": "def f():\n    return 2 - 1\n"})
    assert verified(found) == "tests (4 passed, 1 skipped or failed before)"
    assert messages(found) == [], "what pytest does not collect is not named"
    error = refusal(suite, runs(suite, *wanted), {"app/core.py": "def f():\n    return 2\n"})
    assert "tests.test_core.test_p (at tests.test_core:5): " in error.message
    assert "(and 1 more of its cases); nothing was written." in error.message
    assert error.candidates == (
        "tests.test_core.test_p",
        "tests.test_core.TestA.test_inherited",
        "tests.test_core.ACase.test_u",
    )


def test_where_tests_could_not_be_looked_into_it_is_not_said_that_none_reaches_the_change(suite: Trial) -> None:
    found = judge(suite, runs(suite, others=any_other), {"app/core.py": "x = 1\n"})
    assert codes(found) == ["tests_left_out", "no_tests"]
    assert found[-1] == Check(name="tests", result="not_run", detail="no test reaches what changed")
    left_out, none = messages(found)
    told = "2 more tests may be concerned, and were not run: tests.test_core.test_x, tests.test_core.TestA.test_y."
    assert left_out == f"complete: false; {told}"
    assert none == "No test that could be found reaches what changed, so none was run."


def test_no_test_is_said_and_so_is_which_others_were_not_run(suite: Trial) -> None:
    assert codes(judge(suite, runs(suite), {"app/core.py": "x = 1\n"})) == ["no_tests"]
    verifier = runs(suite, "tests/test_core.py::test_g", others=any_other)
    found = judge(suite, verifier, {"app/core.py": CORE + "\n"})
    assert verified(found) == "tests (1 passed)", "only what is wanted"
    told = "complete: false; 1 more test may be concerned, and were not run: tests.test_core.test_f."
    assert messages(found) == [told.replace("were", "was")]


def test_other_tests_are_not_named_where_all_of_the_project_ran(suite: Trial) -> None:
    for wanted in (["tests/test_core.py"], ["tests/test_core.py::test_f", "tests/test_core.py::test_g"]):
        found = judge(suite, runs(suite, *wanted, others=any_other), {"app/core.py": CORE + "\n"})
        assert messages(found) == []
        assert verified(found) == "tests (2 passed)"


def test_files_that_are_only_named_are_not_imported(suite: Trial) -> None:
    mark = suite.root / "imported"
    suite.write("tests/test_mischief.py", f"import os\nopen({str(mark)!r}, 'w')\nos._exit(3)\n")
    suite.write("tests/test_broken.py", "def test_it(:\n")
    found = judge(suite, runs(suite, "tests/test_core.py", others=any_other), {"app/core.py": CORE + "\n"})
    assert not mark.exists()
    [message] = messages(found)
    assert message.startswith("complete: false; 4 more tests may be concerned, and were not run: tests.test_broken.")


def test_where_tests_cannot_be_collected_it_is_not_known_which_there_are(suite: Trial) -> None:
    suite.write("conftest.py", "1/0\n")
    [left_out, _] = messages(judge(suite, runs(suite, others=any_other), {"app/core.py": "x = 1\n"}))
    assert left_out.startswith("complete: false; ")
    assert "not known" in left_out


SKIPPED = "tests/skipped/test_old.py"
# Settings by which pytest collects tests/test_core.py alone, and not tests/skipped/test_old.py.
LEAVING_OUT = {
    "pytest.ini": {"pytest.ini": "[pytest]\nnorecursedirs = skipped\n"},
    ".pytest.ini": {".pytest.ini": "[pytest]\nnorecursedirs = sk*\n"},
    "pyproject": {"pyproject.toml": '[tool.pytest.ini_options]\nnorecursedirs = ["skipped"]\n'},
    "setup.cfg": {"setup.cfg": "[tool:pytest]\nnorecursedirs = skipped\n"},
    "tox.ini": {"tox.ini": "[pytest]\nnorecursedirs = skipped\n"},
    "testpaths": {"pytest.ini": "[pytest]\ntestpaths = tests/test_*.py\n"},
    "positional": {"pytest.ini": "[pytest]\naddopts = tests/test_core.py\n"},
    "ignore": {"pytest.ini": "[pytest]\naddopts = --ignore=tests/skipped\n"},
    "ignore a file": {"pytest.ini": "[pytest]\naddopts = --ignore=tests/skipped/test_old.py\n"},
    "ignore-glob": {"pytest.ini": "[pytest]\naddopts = --ignore-glob=*_old.py\n"},
    "deselect": {"pytest.ini": "[pytest]\naddopts = --deselect tests/skipped/test_old.py\n"},
    "deselect a test": {"pytest.ini": "[pytest]\naddopts = --deselect tests/skipped/test_old.py::test_old\n"},
    "python_files": {"pytest.ini": "[pytest]\npython_files = test_core.py\n"},
    "collect_ignore": {"tests/conftest.py": "collect_ignore = ['skipped']\n"},
    "collect_ignore beside it": {"tests/skipped/conftest.py": "collect_ignore = ['test_old.py']\n"},
    "collect_ignore_glob": {"conftest.py": "collect_ignore_glob = ['*/test_o*.py']\n"},
    "a hook": {"conftest.py": "def pytest_ignore_collect(collection_path):\n    return True if 'old' in "
               "collection_path.name else None\n"},
}  # fmt: skip


def lay(suite: Trial, files: dict[str, str]) -> None:
    (suite.root / "pyproject.toml").unlink()
    suite.write(SKIPPED, "from app.core import f\n\n\ndef test_old():\n    assert f() == 0\n")
    for path, text in files.items():
        suite.write(path, text)


def only_old(path: str, names: tuple[str, ...] | None) -> list[tuple[str, ...]]:
    return [names or ("test_old",)] if path == SKIPPED else []


def test_without_settings_all_that_is_wanted_is_collected_and_run(suite: Trial) -> None:
    lay(suite, {})
    found = judge(suite, runs(suite, "tests/test_core.py", SKIPPED), {"app/core.py": "def f():\n    return 2 - 1\n"})
    assert verified(found) == "tests (2 passed, 1 skipped or failed before)"


@pytest.mark.parametrize("settings", LEAVING_OUT)
def test_what_the_projects_pytest_leaves_out_is_neither_run_nor_named(suite: Trial, settings: str) -> None:
    new = {"app/core.py": "def f():\n    return 2 - 1\n"}
    lay(suite, LEAVING_OUT[settings])
    found = judge(suite, runs(suite, "tests/test_core.py", SKIPPED), new)
    assert (verified(found), messages(found)) == ("tests (2 passed)", [])
    suite.write("app/core.py", CORE)
    found = judge(suite, runs(suite, "tests/test_core.py", others=only_old), new)
    assert (verified(found), messages(found)) == ("tests (2 passed)", [])


def test_where_marks_select_tests_it_is_said_that_not_all_that_are_named_may_be_selected(suite: Trial) -> None:
    lay(suite, {"pytest.ini": "[pytest]\naddopts = -m 'not slow'\nmarkers = slow\n"})
    suite.write("tests/test_core.py", SEEN.replace("def test_g", "import pytest\n@pytest.mark.slow\ndef test_g"))
    new = {"app/core.py": "def f():\n    return 2 - 1\n"}
    found = judge(suite, runs(suite, "tests/test_core.py", others=lambda *_: ()), new)
    assert (verified(found), messages(found)) == ("tests (1 passed)", []), "the slow one is left out"
    suite.write("app/core.py", CORE)
    [message] = messages(judge(suite, runs(suite, "tests/test_core.py", others=only_old), new))
    assert message.endswith("not run, as far as pytest's settings select it: tests.skipped.test_old.test_old.")


def test_the_value_of_an_option_of_a_conftest_is_no_place_to_collect(suite: Trial) -> None:
    option = "def pytest_addoption(parser):\n    parser.addoption('--driver')\n"
    lay(suite, {"pytest.ini": "[pytest]\naddopts = --driver chrome\n", "conftest.py": option})
    found = judge(suite, runs(suite, "tests/test_core.py", others=only_old), {"app/core.py": CORE + "\n"})
    assert verified(found) == "tests (2 passed)"
    assert codes(found) == ["tests_left_out"]


def test_settings_of_a_part_of_the_project_count_for_its_tests(suite: Trial) -> None:
    lay(suite, {"part/pytest.ini": "[pytest]\ntestpaths = checks\npython_files = check_*.py\npythonpath = lib\n"})
    suite.write("part/lib/its.py", "")
    suite.write("part/checks/check_it.py", "import its\n\n\ndef test_it(): pass\n")
    suite.write("part/other/check_it.py", "def test_it(): assert 0\n")
    wanted = ("part/checks/check_it.py", "part/other/check_it.py")
    assert verified(judge(suite, runs(suite, *wanted), {"app/core.py": CORE + "\n"})) == "tests (1 passed)"


@pytest.mark.parametrize("python", ["no-such-python", "bare"])
def test_without_pytest_nothing_is_written_and_it_is_said_what_to_install(suite: Trial, python: str) -> None:
    if python == "bare":
        file = suite.write("bin/python", f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S -E "$@"\n')
        file.chmod(0o755)
        python = str(file)
    verifier = TestsRun(setting_of(suite, python=python), [want("tests/test_core.py")])
    with pytest.raises(TransactionError, match=r"nothing was (written|changed)") as caught:
        verifier.prepare([], {"app/core.py": CORE.encode()}, {"app/core.py": b"x"})
    assert caught.value.code == "verify_failed"
    assert ("pytest is not installed" if "/" in python else "does not start") in caught.value.message


def test_what_runs_in_the_projects_interpreter_is_understood_by_an_old_one() -> None:
    ast.parse(PROBE.read_text(), feature_version=(3, 7))


def test_an_interrupt_leaves_no_child_behind(suite: Trial, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    suite.write("tests/test_core.py", f"import os, time\n\ndef test_a():\n{_mark(mark)}    time.sleep(600)\n")
    threading.Thread(target=_interrupt, args=(mark,), daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        judge(suite, runs(suite, "tests/test_core.py"), {"app/core.py": "x = 1\n"})
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)
    assert (suite.root / "app/core.py").read_text() == CORE


def _mark(file: Path) -> str:
    """Return code that tells its process id, all of it at once."""
    new = f"{file}.new"
    return f"    open({new!r}, 'w').write(str(os.getpid()))\n    os.rename({new!r}, {str(file)!r})\n"


def _interrupt(mark: Path) -> None:
    while not mark.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)


def test_what_pytest_compiled_of_installed_plugins_is_taken_and_of_the_project_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plugins whose modules are all compiled anew cost seconds in each run."""
    from _pytest.assertion import rewrite

    (tmp_path / "link").symlink_to(tmp_path / "project")
    installed = (tmp_path / "project/.venv/lib/site-packages/plugin.py", tmp_path / "elsewhere/plugin.py")
    of_the_project = (tmp_path / "project/tests/test_core.py", tmp_path / "link/tests/test_core.py")
    monkeypatch.setattr(rewrite, "get_cache_dir", rewrite.get_cache_dir)
    beside = [rewrite.get_cache_dir(path) for path in installed]
    suite_probe._keep_rewritten(str(tmp_path / "project"), str(tmp_path / "scratch"))
    assert [rewrite.get_cache_dir(path) for path in installed] == beside
    assert {rewrite.get_cache_dir(path) for path in of_the_project} == {tmp_path / "scratch/rewritten"}
