"""Tests that are run on request, and their results, through the API and the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import ResourceError
from bae_source.model.outcome import Outcome
from bae_source.resources.tests.kept import Runs
from tests.state_folders import state_folders

pytestmark = pytest.mark.sampled

PROJECT = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    "app/__init__.py": "",
    "app/core.py": "def send(x):\n    return x + 1\n\n\ndef alone():\n    return 1\n",
    "tests/test_send.py": "from app.core import send\n\n\ndef test_send():\n    assert send(1) == 2\n\n\n"
    "def test_red():\n    print('loud')\n    assert send(1) == 3\n",
    "tests/test_more.py": "import pytest\nfrom app.core import alone\n\n\n@pytest.mark.parametrize('x', [1, 2])\n"
    "def test_alone(x):\n    assert alone() == 1\n\n\n@pytest.mark.skip(reason='later')\ndef test_off(): ...\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in PROJECT.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def users(root: Path) -> set[str]:
    found = (path for path in root.rglob("*") if path.is_file() and ".bae-source" not in path.parts)
    return {str(path.relative_to(root)) for path in found}


def test_all_tests_are_run_and_the_verdict_comes_first(root: Path) -> None:
    outcome = Source(root).tests_run()
    assert outcome.status == "answer"
    assert outcome.text.startswith("1 of 5 tests failed, in ")
    assert ": tests.test_send.test_red.\n" in outcome.text
    assert "  tests.test_send.test_red (at tests.test_send:10): " in outcome.text
    [check] = outcome.checks
    assert (check.name, check.result, dict(check.counts)) == (
        "tests",
        "failed",
        {"passed": 3, "failed": 1, "skipped": 1},
    )
    assert outcome.next_actions[0] == 'tests_results(outcome="failed") shows why.'
    assert users(root) == set(PROJECT), "no cache, no bytecode, no report"
    assert str(root) not in outcome.text


def test_results_show_why_a_test_failed_and_what_it_printed(root: Path) -> None:
    src = Source(root)
    src.tests_run()
    short = str(src.tests_results())
    assert "failed tests.test_send.test_red (at tests.test_send:10): " in short
    assert "skipped tests.test_more.test_off: later" in short
    assert "test_alone" not in short
    whole = str(src.tests_results(outcome="failed"))
    assert "  tests.test_send:10 in test_red\n" in whole.replace("    tests.", "  tests.")
    assert "    loud" in whole
    assert "passed tests.test_more.test_alone[2] (" in str(src.tests_results("tests.test_more.test_alone[2]"))
    assert str(src.tests_results("tests.test_more")).count("test_alone[") == 2


@pytest.mark.parametrize(
    ("how", "count"),
    [
        ({"tests": ["tests.test_more"]}, 3),
        ({"tests": ["tests.test_more.test_alone[2]", "tests.test_send.test_send"]}, 2),
        ({"tests": ["tests"]}, 5),
        ({"affected_by": ["app.core.alone"]}, 2),
        ({"affected_by": ["app.core.send", "app.core.alone"]}, 4),
    ],
)
def test_some_tests_are_run(root: Path, how: dict[str, list[str]], count: int) -> None:
    names = how.pop("names", [])
    outcome = Source(root).tests_run(*names, **how)
    assert sum(outcome.checks[0].counts.values()) == count


def test_those_that_failed_are_run_again_until_none_does(root: Path) -> None:
    src = Source(root)
    with pytest.raises(ResourceError, match="No test failed"):
        src.tests_run(failed=True)
    src.tests_run()
    assert src.tests_run(failed=True).text.startswith("The test failed, in ")
    (root / "app/core.py").write_text(PROJECT["app/core.py"].replace("x + 1", "x + 2"))
    assert src.tests_run(failed=True).text.startswith("The test passed, in ")
    with pytest.raises(ResourceError, match="No test failed"):
        src.tests_run(failed=True)
    src.tests_run()
    found = str(src.tests_results(compare=True))
    assert "by 1 test that both ran" in found or "newly failing: tests.test_send.test_send" in found


def test_runs_are_compared_by_what_fails_since_and_what_is_mended(root: Path) -> None:
    src = Source(root)
    src.tests_run()
    assert "No run before it" in str(src.tests_results(compare=True))
    (root / "app/core.py").write_text(PROJECT["app/core.py"].replace("x + 1", "x + 2"))
    slow = PROJECT["tests/test_more.py"].replace(
        "    assert alone", "    import time; time.sleep(0.2)\n    assert alone"
    )
    (root / "tests/test_more.py").write_text(slow)
    src.tests_run()
    found = str(src.tests_results(compare=True)).splitlines()
    assert "newly failing: tests.test_send.test_send" in found
    assert "fixed: tests.test_send.test_red" in found
    assert sum(line.startswith("slower: tests.test_more.test_alone[") for line in found) == 2


def test_tests_of_the_last_change_are_run(root: Path) -> None:
    src = Source(root)
    with pytest.raises(ResourceError, match="Nothing was changed"):
        src.tests_run(last_change=True)
    src.edit("app.core.alone", old="return 1", new="return 2 - 1", reload="off")
    outcome = src.tests_run(last_change=True)
    assert dict(outcome.checks[0].counts) == {"passed": 2}


def test_only_twenty_runs_are_kept_and_none_that_others_put_there(root: Path) -> None:
    src = Source(root)
    first = src.tests_run("tests.test_send.test_send")
    runs = Runs(state_folders(root))
    [kept] = runs.kept()
    for number in range(25):
        runs.add(kept.run, at=kept.at + number + 1, is_whole=False)
    assert len(runs.kept()) == 20
    assert first.text.splitlines()[-1] == f"Kept as {kept.id}."
    with pytest.raises(ResourceError, match="There is no run"):
        src.tests_results(run=kept.id)
    newest = runs.folder / f"{runs.kept()[-1].id}.json"
    for content in (newest.read_text().replace(f'"owner":"{kept.owner}"', '"owner":"other"'), "{", "[]"):
        newest.write_text(content)
        assert len(runs.kept()) == 19
    newest.unlink()
    newest.symlink_to(root / "pyproject.toml")
    assert len(runs.kept()) == 19


def test_a_dry_run_names_what_would_be_run_and_runs_nothing(root: Path) -> None:
    (root / "tests/test_mark.py").write_text("open('mark', 'w')\n\n\ndef test_it(): ...\n")
    outcome = Source(root).tests_run("tests.test_mark", dry_run=True)
    assert (outcome.status, outcome.text) == ("planned", "Would run these tests:\ntests.test_mark")
    Source(root).tests_list("tests.test_mark")
    assert not (root / "mark").exists()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"failed": True, "last_change": True}, "one of"),
        ({"affected_by": ["app.core.nope"]}, "defines no nope"),
        ({"seconds": 0}, "seconds"),
        ({"verify": ["tests"]}, "nothing that could be verified"),
    ],
)
def test_a_wrong_call_is_refused_and_nothing_is_run(root: Path, given: dict[str, object], problem: str) -> None:
    with pytest.raises(ResourceError) as caught:
        Source(root).tests_run(**given)
    assert problem in caught.value.message
    assert Runs(state_folders(root)).kept() == ()


def test_what_hinders_a_run_is_a_result(root: Path) -> None:
    src = Source(root)
    (root / "conftest.py").write_text("1 / 0\n")
    outcome = src.tests_run()
    assert outcome.text.startswith("No test was run: pytest cannot run them: ZeroDivisionError: division by zero.")
    assert outcome.checks[0].result == "not_run"
    (root / "conftest.py").write_text("")
    (root / "tests/test_bad.py").write_text("import nowhere\n")
    outcome = src.tests_run("tests")
    assert "1 file could not be collected: tests.test_bad." in outcome.text
    assert src.tests_run().text.startswith("No test was run. 1 file could not be collected: tests.test_bad.")
    (root / "pyproject.toml").write_text('[tool.bae-source]\npython = "no-such-python"\n')
    assert src.tests_run().text.startswith("No test was run: the project's Python does not start")


def test_tests_that_were_not_run_are_counted_and_the_reason_is_reported(root: Path) -> None:
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "-x -k test_send"\n')
    (root / "tests/test_send.py").write_text("def test_red(): assert 0\n\n\ndef test_more(): ...\n")
    text = Source(root).tests_run().text
    assert text.startswith("The test failed, in ")
    assert "1 of 2 were not run, since the project's settings end a run early." in text
    (root / "tests/test_send.py").write_text("import time\n\n\ndef test_a(): ...\n\n\ndef test_b(): time.sleep(600)\n")
    outcome = Source(root).tests_run("tests.test_send", seconds=3.0)
    assert outcome.text.startswith("1 of 2 tests failed, in ")
    assert not outcome.complete


def test_where_state_cannot_be_written_a_run_is_no_less(root: Path) -> None:
    (root / ".bae-source").write_text("no folder")
    outcome: Outcome = Source(root).tests_run("tests.test_send.test_send")
    assert outcome.text.startswith("The test passed")
    assert "not_kept" in [notice.code for notice in outcome.warnings]
    assert (root / ".bae-source").read_text() == "no folder"


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bae_source", "tests", *words, "--root", str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_on_the_command_line_the_exit_status_tells_whether_all_passed(root: Path) -> None:
    assert run(root, "list").stdout.startswith("4 tests, each with its cases counted once, in 2 files.\n")
    done = run(root, "run", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["checks"][0]["counts"] == {"passed": 3, "failed": 1, "skipped": 1}
    assert run(root, "run", "tests.test_send.test_send").returncode == 0
    done = run(root, "results", "--outcome", "failed")
    assert (done.returncode, "tests.test_send" in done.stdout) == (0, False), "of the last run"


def test_ctrl_c_ends_the_run_and_says_how_far_it_came(root: Path) -> None:
    mark = root / "mark"
    text = f"    import os, time\n    open({str(mark)!r}, 'w').write(str(os.getpid()))\n    time.sleep(600)\n"
    (root / "tests/test_send.py").write_text(f"def test_a(): ...\n\n\ndef test_b():\n{text}")
    command = [sys.executable, "-m", "bae_source", "tests", "run", "tests.test_send", "--root", str(root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    while not (mark.exists() and mark.read_text()):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "1 of 2 were not run, since it was interrupted." in output
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)
