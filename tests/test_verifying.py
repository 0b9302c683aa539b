"""Verification by name, through the API and the command line, on a real project with real tests and a real checker."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.engine.registry import request
from bae_source.engine.service import Context, Service
from bae_source.errors import Refused, RequestError, ResourceError, TransactionError
from bae_source.model.outcome import Outcome, verdict
from tests.queries.support import close

pytestmark = pytest.mark.sampled

PROJECT = {
    "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ty]\n",
    "app/__init__.py": "",
    "app/core.py": "def send(x: int) -> int:\n    return x + 1\n\n\ndef alone() -> int:\n    return 1\n",
    "app/other.py": "from app.core import send\n\n\ndef other() -> int:\n    return send(1)\n",
    "tests/test_send.py": "from app.other import other\n\n\ndef test_other():\n    assert other() == 2\n\n\n"
    "def test_red_and_not_concerned():\n    assert 0\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in PROJECT.items():
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def users(root: Path) -> dict[str, bytes]:
    """Return what is the user's; nothing of what verifying leaves behind may be among it."""
    found = (path for path in root.rglob("*") if path.is_file() and ".bae-source" not in path.parts)
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def test_a_command_that_writes_into_the_project_writes_into_a_copy_of_it(root: Path) -> None:
    rewriting = shlex.join([sys.executable, "-c", "open('app/core.py', 'w').write('x = 1'); open('made', 'w')"])
    for new in ("2", "3"):
        done = Source(root).edit(
            "app.core.alone", old="return ", new=f"return {new} + ", verify=[f"command {rewriting}"]
        )
        assert done.warnings == ()
    assert (root / "app/core.py").read_text() == PROJECT["app/core.py"].replace("return 1", "return 3 + 2 + 1")
    assert not (root / "made").exists()


def refused(root: Path, error: type[ResourceError], **how: Any) -> ResourceError:
    """Make a change that must be refused: nothing is changed, nothing recorded."""
    was = users(root)
    src = Source(root)
    before = str(src.history())
    given: dict[str, Any] = {"old": "x + 1", "new": "x + 2", **how}
    with pytest.raises(error) as caught:
        src.edit(given.pop("target", "app.core.send"), **given)
    assert users(root) == was
    assert str(src.history()) == before
    assert str(root) not in " ".join([caught.value.message, *caught.value.hints])
    return caught.value


def codes(outcome: Outcome) -> list[str]:
    return [notice.code for notice in outcome.warnings]


def message_of(outcome: Outcome, code: str) -> str:
    return next(notice.message for notice in outcome.warnings if notice.code == code)


def test_all_that_can_be_verified_is_and_the_outcome_says_so(root: Path) -> None:
    names = ["import", "cycles", "tests", "types", "command test -d app"]
    outcome = Source(root).edit("app.core.send", old="x + 1", new="1 + x", verify=names)
    assert outcome.status == "applied"
    expected = "Verified: cycles, import, tests (1 passed), types (ty), command test -d app."
    assert verdict(outcome.checks) == expected
    assert "1 + x" in (root / "app/core.py").read_text()
    assert set(users(root)) == set(PROJECT), "no cache, no bytecode, no report"
    Source(root).undo()
    assert (root / "app/core.py").read_text() == PROJECT["app/core.py"]


def test_a_red_test_takes_the_change_back_and_is_named(root: Path) -> None:
    error = refused(root, TransactionError, verify=["tests"])
    assert (error.code, error.candidates) == ("verify_failed", ("tests.test_send.test_other",))
    assert "assert 3 == 2; nothing was written." in error.message
    assert str(Source(root).read(error.candidates[0])).startswith("def test_other")


def test_tests_that_reach_the_code_that_names_a_data_file_judge_its_change(root: Path) -> None:
    read = "import pathlib\n\n\ndef words():\n    return (pathlib.Path(__file__).parent / 'words.txt').read_text()\n"
    (root / "app/lists.py").write_text(read)
    (root / "app/words.txt").write_text("one\n")
    test = "from app.lists import words\n\n\ndef test_words():\n    assert words() == 'one\\n'\n"
    (root / "tests/test_lists.py").write_text(test)
    was = users(root)
    for change in (
        lambda: Source(root).edit("app:words.txt", old="one", new="two", verify=["tests"]),
        lambda: Source(root).delete("app:words.txt", verify=["tests"]),
        lambda: Source(root).move("app:words.txt", "app:other.txt", verify=["tests"]),
    ):
        with pytest.raises(TransactionError) as caught:
            change()
        assert (caught.value.code, caught.value.candidates) == ("verify_failed", ("tests.test_lists.test_words",))
        assert users(root) == was


def test_a_cycle_is_refused_before_anything_is_written_in_a_dry_run_too(root: Path) -> None:
    given = {"imports": ["from app.other import other"], "verify": ["cycles"]}
    for dry in (True, False):
        error = refused(root, Refused, dry_run=dry, **given)
        assert error.code == "unsafe_change"
        assert "app.core -> app.other -> app.core; nothing was written." in error.message
        assert "app.core:1: from app.other import other  <- new\n  app.other:1: from app.core import" in error.hints[0]


def test_a_dry_run_is_judged_by_what_it_names_and_by_nothing_else(root: Path) -> None:
    was = users(root)
    names = ["tests", "cycles", "types", "command grep -q '1 + x' app/core.py", "import"]
    outcome = Source(root).edit("app.core.send", old="x + 1", new="1 + x", verify=names, dry_run=True)
    assert outcome.status == "planned"
    assert outcome.text.startswith("Dry run, nothing was changed: ")
    assert outcome.text.endswith(f"Verified: cycles, import, tests (1 passed), types (ty), {names[3]}.")
    assert {check.digest for check in outcome.checks} == {outcome.checks[0].digest}
    assert users(root) == was
    error = refused(root, TransactionError, verify=["tests"], dry_run=True)
    assert error.candidates == ("tests.test_send.test_other",)
    ran = root.parent / f"{root.name}.ran"
    new = f"open({str(ran)!r}, 'w')\n1/0"
    assert Source(root).edit("app.core.alone", old="return 1", new=new, verify=["tests"], dry_run=True).checks
    assert not ran.exists()


def test_a_new_type_error_is_refused_and_an_old_one_is_counted(root: Path) -> None:
    file = root / "app/other.py"
    file.write_text(file.read_text() + '\n\nWRONG: int = ""\n')
    error = refused(root, TransactionError, new="str(x)", verify=["types"])
    assert (error.code, error.candidates) == ("verify_failed", ("app.core.send",))
    assert "ty finds a new error with the change: app.core.send: line 2: " in error.message
    src = Source(root)
    outcome = src.insert("app.core.send", "def more() -> int:\n    return 1\n", position="before", verify=["types"])
    assert verdict(outcome.checks) == "Verified: import, types (ty, 1 error there before)."


def test_a_command_that_fails_takes_the_change_back(root: Path) -> None:
    error = refused(root, TransactionError, verify=["command grep -r 'x + 1' app"])
    assert "ended with status 1" in error.message


def test_a_time_limit_is_taken_from_the_settings(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.bae-source]\nverify-seconds = 0.3\n")
    error = refused(root, TransactionError, verify=["command sleep 600"])
    assert error.code == "timed_out"
    assert "0.3 seconds" in error.message


@pytest.mark.parametrize(
    "how",
    [
        {"verify": ["test"]},
        {"verify": ["tests", "tipes"]},
        {"verify": ["command"]},
        {"verify": ["command "]},
        {"verify": ["command ''"]},
        {"verify": ["command 'open"]},
        {"verify": ["command a\0b"]},
        {"verify": ["command no-such-program-here"]},
        {"verify": "tests"},
        {"verify": [1]},
        {"verify": ["import"], "reload": "off"},
        {"cascade": "yes"},
        {"verify": ["test"], "dry_run": True},
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_read_or_written(root: Path, how: dict[str, Any]) -> None:
    assert refused(root, RequestError, **how).code == "invalid_arguments"


def test_an_unknown_checker_and_one_that_is_not_installed(root: Path) -> None:
    bare = root / "bin/python"
    bare.parent.mkdir()
    bare.symlink_to(sys.executable)
    settings = root / "pyproject.toml"
    settings.write_text('[tool.bae-source]\npython = "bin/python"\n[tool.mypy]\n')
    was = users(root)
    service = Service(root, environment={**os.environ, "PATH": "/nowhere"})
    asked = request("edit", {"target": "app.core.send", "old": "x + 1", "new": "2"})
    with pytest.raises(TransactionError) as caught:
        service.run(asked, Context(verify=("types",)))
    assert caught.value.code == "verify_failed"
    assert caught.value.message.startswith("mypy, for which the project is set up, is not installed")
    assert "Install mypy there." in caught.value.hints
    assert users(root) == was
    settings.write_text('[tool.bae-source]\ntypes = "typist"\n')
    assert "typist" in refused(root, RequestError, verify=["types"]).message


def test_where_no_test_reaches_the_change_that_is_reported(root: Path) -> None:
    (root / "tests/test_send.py").write_text("def test_nothing(): pass\n")
    outcome = Source(root).edit("app.core.alone", old="return 1", new="return 2", verify=["tests"])
    assert codes(outcome) == ["no_tests"]
    assert verdict(outcome.checks) == "Verified: import. Not verified: tests (no test reaches what changed)."


@pytest.mark.parametrize("target", ["app.core.alone", "app.core"])
def test_a_test_that_cannot_be_looked_into_is_run_and_named(
    root: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "tests/test_send.py").write_text("from app.core import alone\ndef test_it(:\n    alone()\n")
    (root / "tests/closed").mkdir()
    close(monkeypatch, "closed")
    if target == "app.core":
        outcome = Source(root).write(target, "def alone(): return 3\n", overwrite=True, verify=["tests"])
    else:
        outcome = Source(root).edit(target, old="return 1", new="return 2", verify=["tests"])
    assert (
        message_of(outcome, "failed_before")
        == "tests.test_send failed before the change, too: SyntaxError: invalid syntax"
    )
    assert message_of(outcome, "no_tests") == "pytest ran none of the tests that reach what changed."


TABLE = {
    "app/client.py": "def send():\n    return 1\n",
    "app/sub/__init__.py": "",
    "app/sub/client.py": "def handle_a():\n    return 2\n\n\n"
    "def call(name):\n    return globals()['handle_' + name]()\n",
    "tests/test_client.py": "from app.client import send\n\n\ndef test_send():\n    assert send() == 1\n",
    "tests/test_sub.py": "from app.sub import client\n\n\ndef test_call():\n    assert client.call('a') == 2\n",
}
FAR = "from app.sub import client\n\n\ndef call(name):\n    return client.call(name)\n"


def lay(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)


@pytest.mark.parametrize("far", [False, True])
def test_a_test_of_another_module_of_that_name_does_not_stand_for_those_that_import_it(root: Path, far: bool) -> None:
    lay(root, TABLE)
    if far:
        test = TABLE["tests/test_sub.py"].replace("app.sub import client", "app import far").replace("client", "far")
        lay(root, {"app/far.py": FAR, "tests/test_sub.py": test})
    how = {"target": "app.sub.client.handle_a", "old": "return 2", "new": "return 3"}
    assert refused(root, TransactionError, **how, verify=["tests"]).candidates == ("tests.test_sub.test_call",)
    was = users(root)
    words = ["edit", how["target"], "--old", "return 2", "--new", "return 3", "--verify", "tests", "--root", str(root)]
    done = subprocess.run([sys.executable, "-m", "bae_source", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, users(root)) == (6, was)
    assert "tests.test_sub.test_call" in done.stderr
    outcome = Source(root).edit("app.sub.client.handle_a", old="return 2", new="return 1 + 1", verify=["tests"])
    assert verdict(outcome.checks) == "Verified: import, tests (1 passed)."


def test_the_tests_named_after_a_module_do_not_stand_for_others_that_import_it(root: Path) -> None:
    by_name = "import app.core\n\n\ndef test_alone():\n    assert getattr(app.core, 'al' + 'one')() == 1\n"
    named = "from app.core import send\n\n\ndef test_it():\n    assert send(1) == 2\n"
    lay(root, {"tests/test_core.py": named, "tests/test_by_name.py": by_name})
    error = refused(root, TransactionError, target="app.core.alone", old="1", new="2", verify=["tests"])
    assert error.candidates == ("tests.test_by_name.test_alone",)


def test_where_tests_are_too_many_and_too_far_to_choose_from_all_are_run(root: Path) -> None:
    text = "import app.far\n\n\ndef test_it():\n    pass\n"
    lay(root, {**TABLE, "app/far.py": FAR, **{f"tests/test_far_{number}.py": text for number in range(11, 33)}})
    outcome = Source(root).edit("app.sub.client.handle_a", old="return 2", new="return 1 + 1", verify=["tests"])
    assert outcome.checks[-1].counts == {"passed": 25, "failed": 0, "failed_before": 1, "skipped": 0}
    assert codes(outcome) == ["failed_before"]


MANY = "def f():\n    return 1\n" + "".join(f"\n\ndef g{number}():\n    return f()\n" for number in range(50))
ONE = "from app import core\n\n\ndef test_one():\n    assert core.g0() == 1\n"


@pytest.mark.parametrize(
    ("files", "passed"),
    [
        ({}, 1),
        ({"tests/test_more.py": "def helper(): pass\n\n\nclass Base:\n    def test_of_others(self): pass\n"}, 1),
        ({"tests/test_core.py": f"{ONE}\n\ndef test_two():\n    pass\n"}, 2),
        ({"tests/test_far.py": "class TestFar:\n    def test_a(self): pass\n    def test_b(self): pass\n"}, 3),
        ({"tests/test_far.py": "".join(f"def test_{number:02}(): pass\n" for number in range(15))}, 16),
        ({"tests/check_far.py": "def check_a(): pass\n", "pytest.ini": "[pytest]\npython_files = *_*.py\n"
          "python_functions = check_* test_*\n"}, 2),
        ({"tests/aside/test_far.py": "def test_a(): pass\n", "pytest.ini": "[pytest]\nnorecursedirs = aside\n"}, 1),
    ],
)  # fmt: skip
def test_where_tests_could_not_be_tied_to_a_change_all_that_pytest_collects_are_run(
    root: Path, files: dict[str, str], passed: int
) -> None:
    (root / "tests/test_send.py").unlink()
    (root / "tests/aside").mkdir()
    lay(root, {"app/core.py": MANY, "app/other.py": "", "tests/test_core.py": ONE, **files})
    outcome = Source(root).edit("app.core.f", old="return 1", new="return 2 - 1", verify=["tests"])
    assert verdict(outcome.checks) == f"Verified: import, tests ({passed} passed)."
    assert outcome.warnings == ()


def test_what_the_projects_pytest_does_not_collect_is_neither_run_nor_named_by_the_command_line(root: Path) -> None:
    (root / "tests/skipped").mkdir()
    old = "from app.core import alone\n\n\ndef test_old():\n    assert alone() == 0\n"
    new = old.replace("test_old", "test_new").replace("== 0", "== 1")
    lay(root, {"tests/skipped/test_old.py": old, "tests/test_core.py": new})
    lay(root, {"pytest.ini": "[pytest]\nnorecursedirs = skipped\n"})
    words = ["edit", "app.core.alone", "--old", "return 1", "--new", "return 2 - 1", "--verify", "tests"]
    command = [sys.executable, "-m", "bae_source", *words, "--root", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Verified: import, tests (1 passed)." in done.stdout
    assert "test_old" not in done.stdout + done.stderr
    (root / "tests/test_core.py").unlink()
    outcome = Source(root).edit("app.core.alone", old="2 - 1", new="1", verify=["tests"])
    assert verdict(outcome.checks).endswith(
        "Not verified: tests (pytest ran none of the tests that reach what changed)."
    )
    assert codes(outcome) == ["no_tests"]


def test_without_verify_the_import_alone_is_checked_and_nothing_is_reported_of_it(root: Path) -> None:
    assert Source(root).edit("app.core.alone", old="return 1", new="return 2").warnings == ()
    assert Source(root).edit("app.core.alone", old="return 2", new="return 3", reload="off").warnings == ()
    outcome = Source(root).edit("app.core.alone", old="return 3", new="return 4", reload="off", verify=["cycles"])
    assert verdict(outcome.checks) == "Verified: cycles."


def test_a_transaction_is_verified_as_a_whole(root: Path) -> None:
    was = users(root)
    src = Source(root)
    tx = src.transaction(verify=["cycles"])
    tx.edit("app.core.send", old="x + 1", new="1 + x")
    tx.edit("app.core.alone", old="1", new="2", imports=["import app.other"])
    with pytest.raises(Refused, match=r"app\.core -> app\.other -> app\.core"):
        tx.commit()
    assert users(root) == was


def test_an_undo_runs_the_checks_that_it_is_given(root: Path) -> None:
    src = Source(root)
    src.edit("app.core.send", old="x + 1", new="x + 9")
    with pytest.raises(TransactionError, match="ended with status 1"):
        src.undo(verify=["command grep -r 'x . 9' app"])
    assert "x + 9" in (root / "app/core.py").read_text()


def run(root: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bae_source", "edit", "app.core.send", "--old", "x + 1", "--new", "x + 2", *words]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(
        [*command, "--root", str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )


def test_the_command_line_takes_several_names_and_answers_with_the_failing_tests(root: Path) -> None:
    was = users(root)
    process = run(root, "--verify", "cycles", "--verify", "tests", "--cascade", "--json")
    out, _ = process.communicate(timeout=120)
    [error] = json.loads(out)["errors"]
    assert process.returncode == 6
    assert (error["code"], error["candidates"]) == ("verify_failed", ["tests.test_send.test_other"])
    assert users(root) == was
    process = run(root, "--verify", "nonsense")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert b"nonsense" in err


def test_an_interrupt_while_it_is_verified_writes_nothing_and_ends_the_child(root: Path) -> None:
    was = users(root)
    mark = root.parent / f"{root.name}.pid"
    process = run(root, "--verify", f"command sh -c 'echo $$ > {mark}.new; mv {mark}.new {mark}; exec sleep 600'")
    while not mark.exists():
        assert process.poll() is None
        time.sleep(0.02)
    assert users(root) == was
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130
    assert users(root) == was
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


def wait_for(mark: Path, process: subprocess.Popen[bytes]) -> None:
    while not mark.exists():
        assert process.poll() is None
        time.sleep(0.02)


def marking(mark: Path) -> str:
    """Return a command that makes a mark with its process id, and waits until that is gone."""
    return f"command sh -c 'echo $$ > {mark}.new; mv {mark}.new {mark}; while [ -e {mark} ]; do sleep 0.02; done'"


def test_while_a_change_is_verified_others_read_what_was_and_edit_without_waiting(root: Path) -> None:
    mark = root.parent / f"{root.name}.pid"
    process = run(root, "--verify", marking(mark))
    wait_for(mark, process)
    service = Service(root, environment=os.environ)
    asked, change = request("read", {"target": "app.core.send"}), {"target": "app.other.other", "old": "1", "new": "2"}
    read = service.run(asked)
    assert ("x + 1" in read.text, read.warnings) == (True, ())
    begun = time.monotonic()
    assert service.run(request("edit", change), Context(reload="off")).status == "applied"
    assert time.monotonic() - begun < 5
    mark.unlink()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "x + 2" in service.run(asked).text
    assert b"app.other changed while the change was judged" not in out + err, "app.core does not import it"


def test_a_file_that_changed_in_other_symbols_while_a_change_was_verified_is_planned_anew(root: Path) -> None:
    mark = root.parent / f"{root.name}.pid"
    process = run(root, "--verify", marking(mark), "--json")
    wait_for(mark, process)
    Source(root).edit("app.core.alone", old="return 1", new="return 2")
    mark.unlink()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "return 2" in (root / "app/core.py").read_text()
    assert "x + 2" in (root / "app/core.py").read_text()
    imported, command = json.loads(out)["checks"]
    assert (imported["result"], command["result"]) == ("passed", "passed")
    assert imported["digest"] != command["digest"], "the command judged what was planned first"


def test_a_symbol_that_was_changed_while_a_change_was_verified_is_stale(root: Path) -> None:
    mark = root.parent / f"{root.name}.pid"
    process = run(root, "--verify", marking(mark))
    wait_for(mark, process)
    Source(root).edit("app.core.send", old="x + 1", new="x + 3")
    mark.unlink()
    _, err = process.communicate(timeout=120)
    assert (process.returncode, b"stale" in err) == (5, True)
    assert "x + 3" in (root / "app/core.py").read_text()


def verifying_other(root: Path, mark: Path, *more: str) -> subprocess.Popen[bytes]:
    """Have `app.other`, which imports `app.core`, judged by a command that waits."""
    words = ["edit", "app.other.other", "--old", "send(1)", "--new", "send(alone())", "--verify", marking(mark)]
    words += ["--import", "from app.core import alone", *more]
    command = [sys.executable, "-m", "bae_source", *words, "--root", str(root)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(mark, process)
    return process


def test_what_a_change_imports_and_others_changed_while_it_was_verified_is_imported_again(root: Path) -> None:
    mark = root.parent / f"{root.name}.pid"
    process = verifying_other(root, mark)
    Source(root).edit("app.core.alone", old="return 1", new="return 2")
    mark.unlink()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert b"changed_meanwhile" in out + err
    assert b"app.core changed while the change was judged, and was imported again with it." in out + err
    assert b"Verified: import, command sh" in out


def test_a_change_that_does_not_import_with_what_others_wrote_while_it_was_verified_is_refused(root: Path) -> None:
    mark = root.parent / f"{root.name}.pid"
    process = verifying_other(root, mark, "--json")
    Source(root).delete("app.core.alone", reload="off")
    was = users(root)
    mark.unlink()
    out, err = process.communicate(timeout=120)
    assert (process.returncode, b"app.other does not import" in out) == (6, True), err
    assert users(root) == was
    answer = json.loads(out)
    assert "app.core changed while the change was judged" in answer["errors"][0]["hints"][0]
    assert [(each["name"].partition(" ")[0], each["result"]) for each in answer["checks"]] == [
        ("command", "passed"),
        ("import", "failed"),
    ]


def test_a_process_that_is_killed_while_it_verifies_leaves_nothing_behind(root: Path) -> None:
    mark = root.parent / f"{root.name}.pid"
    was = users(root)
    process = run(root, "--verify", marking(mark))
    wait_for(mark, process)
    process.kill()
    process.communicate(timeout=120)
    deadline = time.monotonic() + 20
    while Path(f"/proc/{mark.read_text().strip()}").exists():
        assert time.monotonic() < deadline, "what it started goes on"
        time.sleep(0.02)
    assert users(root) == was
    assert Source(root).edit("app.core.send", old="x + 1", new="1 + x", verify=["tests"]).warnings == ()


DOCUMENTED = 'def twice(x):\n    """Double.\n\n    >>> twice(2)\n    4\n    """\n    return x * 2\n\n\n'
DOCUMENTED += 'class Box:\n    """A box.\n\n    >>> Box().size\n    7\n    """\n\n    size = 8\n'


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = "-q --doctest-modules"\n'),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["--doctest-modules"]\n'),
        ("pytest.ini", "[pytest]\naddopts = --doctest-modules\n"),
    ],
)
def test_examples_in_docstrings_judge_a_change_where_pytest_runs_them(root: Path, file: str, text: str) -> None:
    lay(root, {"app/examples.py": DOCUMENTED, file: text})
    src, before = Source(root), users(root)
    with pytest.raises(TransactionError) as caught:
        src.edit("app.examples.twice", old="x * 2", new="x * 3", verify=["tests"])
    assert caught.value.candidates == ("app.examples.twice",)
    assert "app.examples.twice (at app.examples:4): Expected: 4 Got: 6" in caught.value.message
    assert users(root) == before
    outcome = src.edit("app.examples.twice", old="x * 2", new="2 * x", verify=["tests"])
    assert "app.examples.Box failed before the change, too" in message_of(outcome, "failed_before")
    assert "tests (1 passed, 1 failed before)" in verdict(outcome.checks)


@pytest.mark.parametrize(
    "user",
    [
        'from app.core import send\n\n\ndef shown():\n    """Show.\n\n    >>> shown()\n    3\n    """\n'
        "    return send(2)\n",
        "from app.core import send\n\nSHOWN = send(2)\n\n\n"
        'def shown():\n    """Show.\n\n    >>> SHOWN\n    3\n    """\n',
    ],
)
def test_examples_in_docstrings_of_what_uses_the_change_judge_it_too(root: Path, user: str) -> None:
    lay(root, {"app/user.py": user, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"})
    (root / "tests/test_send.py").unlink()
    error = refused(root, TransactionError, verify=["tests"])
    assert error.candidates == ("app.user.shown",)
    outcome = Source(root).edit("app.core.send", old="x + 1", new="1 + x", verify=["tests"])
    assert "tests (1 passed)" in verdict(outcome.checks)


def test_examples_in_docstrings_do_not_stand_for_the_tests_that_reach_a_change(root: Path) -> None:
    lay(root, {"app/examples.py": DOCUMENTED, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"})
    body = {"app.core.send": "return x + 1", "app.examples.twice": "return x * 2"}
    changes = [{"do": "edit", "target": each, "old": old, "new": f"{old}  # same"} for each, old in body.items()]
    outcome = Source(root).apply(changes, verify=["tests"])
    assert "tests (2 passed, 2 failed before)" in verdict(outcome.checks)


def test_examples_in_docstrings_are_left_alone_where_pytest_does_not_run_them(root: Path) -> None:
    lay(root, {"app/examples.py": DOCUMENTED})
    outcome = Source(root).edit("app.examples.twice", old="x * 2", new="x * 3", verify=["tests"])
    assert codes(outcome)[:1] == ["no_tests"]


def test_tests_that_passed_and_are_skipped_or_gone_with_a_change_are_named(root: Path) -> None:
    test = "import pytest\nfrom app.core import send\n\n\ndef test_there():\n    assert send\n\n\n"
    test += "if send(1) == 2:\n    def test_gone():\n        pass\n\n\n"
    test += "@pytest.mark.skipif(send(1) != 2, reason='')\ndef test_skipped():\n    pass\n\n\n"
    test += "@pytest.mark.skipif(send(1) == 2, reason='')\ndef test_never():\n    pass\n"
    (root / "tests/test_send.py").write_text(test)
    src = Source(root)
    src.tests_run()
    outcome = src.edit("app.core.send", old="x + 1", new="x * 1", verify=["tests"])
    expected = (
        "tests.test_send.test_skipped, tests.test_send.test_gone passed when all tests were run last, and with the "
    )
    assert message_of(outcome, "passed_before") == f"{expected}change are skipped or gone."
    src.undo(reload="off")
    outcome = src.edit("app.core.send", old="x + 1", new="1 + x", verify=["tests"])
    assert "passed_before" not in codes(outcome)
    changes = [
        {"do": "edit", "target": "app.core.send", "old": "1 + x", "new": "1 * x"},
        {"do": "write", "target": "tests.test_send", "source": test.replace("gone", "other"), "overwrite": True},
    ]
    outcome = src.apply(changes, verify=["tests"])
    assert "test_gone" not in message_of(outcome, "passed_before"), "its file is changed as well"


def test_checks_say_what_was_judged_and_are_no_warnings(root: Path) -> None:
    outcome = Source(root).edit("app.core.send", old="x + 1", new="1 + x", verify=["cycles", "tests"])
    assert [(check.name, check.result) for check in outcome.checks] == [
        ("cycles", "passed"),
        ("import", "passed"),
        ("tests", "passed"),
    ]
    [digest] = {check.digest for check in outcome.checks}
    assert (len(digest), outcome.warnings) == (64, ())
    tests = outcome.checks[-1]
    assert (tests.counts, tests.detail, tests.seconds > 0) == (
        {"passed": 1, "failed": 0, "failed_before": 0, "skipped": 0},
        "1 passed",
        True,
    )
    assert outcome.text == "Edited app.core.send. Verified: cycles, import, tests (1 passed)."


def test_an_edit_says_that_it_was_imported_and_what_was_not(root: Path) -> None:
    src = Source(root)
    outcome = src.edit("app.core.alone", old="return 1", new="return 2")
    assert [(check.name, check.result) for check in outcome.checks] == [("import", "passed")]
    assert outcome.text == "Edited app.core.alone."
    assert src.edit("app.core.alone", old="return 2", new="return 3", reload="off").checks == ()
    assert src.write("app:notes.txt", "x\n", verify=["import"]).checks == ()


def test_what_fails_is_a_check_of_the_error(root: Path) -> None:
    words = ["edit", "app.core.send", "--old", "x + 1", "--new", "x + 2", "--verify", "cycles", "--verify", "tests"]
    command = [sys.executable, "-m", "bae_source", *words, "--verify", "command true", "--root", str(root), "--json"]
    answer = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)
    assert answer["status"] == "error"
    assert [(check["name"], check["result"]) for check in answer["checks"]] == [
        ("import", "passed"),
        ("tests", "failed"),
        ("command true", "not_run"),
    ]


@pytest.mark.parametrize("budget", ["500", "700", "2000"])
@pytest.mark.parametrize("dry", [True, False])
def test_no_budget_cuts_what_was_verified(tmp_path: Path, budget: str, dry: bool) -> None:
    lay(tmp_path, {"pkg/__init__.py": "", "pkg/core.py": "LIMIT = 3\n\n\ndef f():\n    return LIMIT\n"})
    names = ["abc", "ast", "csv", "enum", "glob", "heapq", "html", "io"]
    requests = [
        {"do": "insert", "target": "pkg.core.f", "new_source": f"import {n}\n\n\ndef use_{n}():\n    return {n}\n"}
        for n in names
    ]
    (tmp_path / "changes.json").write_text(json.dumps({"requests": requests}))
    words = ["apply", "changes.json", "--verify", "import", "--budget", budget, "--json"]
    command = [sys.executable, "-m", "bae_source", *words, *(["--dry-run"] if dry else [])]
    answer = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout)
    assert [(each["name"], each["result"]) for each in answer["checks"]] == [("import", "passed")]
    assert "Verified: import." in answer["text"]
    assert "shortened" in [each["code"] for each in answer["warnings"]] or budget == "2000"


def test_a_test_module_that_changes_along_is_no_reason_to_say_that_nothing_was_imported(root: Path) -> None:
    changes = [
        {"do": "edit", "target": "app.core.alone", "old": "return 1", "new": "return 2"},
        {"do": "edit", "target": "tests.test_send.test_other", "old": "== 2", "new": "== 1 + 1"},
    ]
    outcome = Source(root).apply(changes, verify=["import"])
    assert verdict(outcome.checks) == "Verified: import."
    assert codes(outcome) == ["not_import_checked"]
    outcome = Source(root).edit("tests.test_send.test_other", old="== 1 + 1", new="== 2", verify=["import"])
    assert verdict(outcome.checks).startswith("Not verified: import (tests.test_send: compiled")


def test_what_failed_has_its_numbers_and_a_pytest_that_cannot_start_is_reported_as_that(root: Path) -> None:
    words = ["edit", "app.core.send", "--old", "x + 1", "--new", "x + 2", "--verify", "tests", "--json"]
    command = [sys.executable, "-m", "bae_source", *words, "--root", str(root)]
    check = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)["checks"][-1]
    assert check["counts"] == {"passed": 0, "failed": 1, "failed_before": 0, "skipped": 0}
    (root / "pytest.ini").write_text("[pytest]\naddopts = --nonsense\n")
    outcome = Source(root).edit("app.core.alone", old="return 1", new="return 2", verify=["tests"])
    assert "Not verified: tests (the tests cannot be run: " in verdict(outcome.checks)
    assert "unrecognized arguments: --nonsense" in verdict(outcome.checks)


def test_modules_that_failed_before_for_one_reason_are_named_together(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "app"\nversion = "1"\n')
    for number in range(8):
        (tmp_path / f"m{number}.py").write_text(f"import not_there_at_all\n\nWORD = {number}\n")
    outcome = Source(tmp_path).replace("WORD", "NAME")
    [notice] = [each for each in outcome.warnings if each.code == "import_failed_before"]
    assert notice.message.startswith("m0, m1, m2, m3, m4 and 3 more do not import, and did not before this change")
    assert notice.message.count("not_there_at_all") == 1
