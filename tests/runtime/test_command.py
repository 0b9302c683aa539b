"""A command of the caller's judges a change; several verifiers are one."""

from __future__ import annotations

import importlib
import pickle
import shlex
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec import structs

from bae_source import Source
from bae_source.errors import RequestError, TransactionError
from bae_source.model.outcome import Check, Notice, failed
from bae_source.reloading.child.interpreter import Interpreter
from bae_source.verification.choosing import AllOf
from bae_source.verification.command import Command
from tests.runtime.judging import judge, refusal, setting_of, verified
from tests.runtime.support import Trial

NEW = {"app/core.py": "x = 2\n"}


@pytest.fixture
def project(trial: Trial) -> Trial:
    trial.write("app/core.py", "x = 1\n")
    return trial


def python(code: str, *words: str) -> str:
    return shlex.join([sys.executable, "-c", code, *words])


def test_a_command_that_ends_well_is_told_and_sees_the_new_files_from_the_projects_folder(project: Trial) -> None:
    text = "grep -q 'x = 2' app/core.py"
    assert verified(judge(project, Command(setting_of(project), text), NEW)) == f"command {text}"


def test_one_that_does_not_refuses_with_its_last_lines_in_module_notation(project: Trial) -> None:
    project.write("check", 'seq 50; echo "$PWD/app/core.py:1: bad"; echo app/core.py:2: E >&2; exit 3\n')
    error = refusal(project, Command(setting_of(project), "sh check"), NEW)
    assert error.code == "verify_failed"
    assert "`sh check` ended with status 3 with the change: app.core:2: E; nothing was written." in error.message
    assert "app.core:1: bad" in error.hints[0]
    assert len(error.details["output"].splitlines()) == 20


def test_no_shell_reads_it(project: Trial) -> None:
    code = "import sys; assert sys.argv[1:] == [';', '$HOME', '*', 'a b'], sys.argv"
    judge(project, Command(setting_of(project), f"{python(code)} ; '$HOME' * 'a b'"), NEW)


def test_it_has_nothing_to_read_and_no_terminal_and_fresh_bytecode(project: Trial) -> None:
    code = "import os, sys; assert sys.stdin.read() == ''; assert not sys.stdout.isatty(); assert sys.pycache_prefix"
    judge(project, Command(setting_of(project), python(code)), NEW)


def test_a_signal_and_a_flood_of_output_are_told_shortly(project: Trial) -> None:
    code = "import os; os.write(1, b'z' * 30_000_000); os.kill(os.getpid(), 9)"
    error = refusal(project, Command(setting_of(project), python(code)), NEW)
    assert "ended with signal 9" in error.message
    assert len(error.details["output"]) <= 64_000


def test_one_that_hangs_is_stopped_with_all_that_it_started(project: Trial) -> None:
    error = refusal(project, Command(setting_of(project, seconds=0.3), "sh -c 'echo on; sleep 600 & sleep 600'"), NEW)
    assert error.code == "timed_out"
    assert "took longer than 0.3 seconds and was stopped; nothing was written." in error.message


def test_a_program_that_there_is_not_is_refused_before_anything_is_written(project: Trial) -> None:
    for text in ("no-such-program-here", "./none", "/none/there", "app"):
        with pytest.raises(RequestError) as caught:
            Command(setting_of(project), text)
        assert caught.value.code == "invalid_arguments"


def test_programs_of_the_project_are_found(project: Trial) -> None:
    for path in ("check", ".venv/bin/own"):
        project.write(path, "#!/bin/sh\nexit 0\n").chmod(0o755)
    judge(project, Command(setting_of(project), "./check"), NEW)
    interpreter = Interpreter(path=str(project.root / ".venv/bin/python"), origin=".venv")
    setting = structs.replace(setting_of(project), interpreter=interpreter)
    judge(project, Command(setting, "own"), {"app/core.py": "x = 3\n"})


def test_what_is_loaded_here_is_put_back_when_a_command_refuses_and_so_is_what_imports_it(project: Trial) -> None:
    project.write("app/core.py", "def f():\n    return 1\n")
    project.write("app/user.py", "from app.core import f\n\ng = f\n")
    core, user = importlib.import_module("app.core"), importlib.import_module("app.user")
    src = Source(project.root)
    with pytest.raises(TransactionError):
        src.edit("app.core.f", old="return 1", new="return 2", cascade=True, verify=["command false"])
    assert (core.f(), user.g()) == (1, 1)
    src.edit("app.core.f", old="return 1", new="return 2", verify=["command true"])
    assert (core.f(), user.g()) == (2, 1)
    src.edit("app.core.f", old="return 2", new="return 3", cascade=True, verify=["command true"])
    assert (core.f(), user.g()) == (3, 3)


_COLOURS = ("FORCE_COLOR", "CLICOLOR_FORCE", "PYTHON_COLORS", "PY_COLORS", "MYPY_FORCE_COLOR", "PRE_COMMIT_COLOR")


def test_no_child_is_asked_for_colours(project: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    old = project.write("app/core.py", "def f() -> int:\n    return 1\n").read_bytes()
    for name in _COLOURS:
        monkeypatch.setenv(name, "1")
    code = f"import os, app.core; asked = {_COLOURS}; app.core.f(); print([n for n in asked if n in os.environ]); 1 / 0"
    with pytest.raises(TransactionError) as caught:
        Source(project.root).edit("app.core.f", old="return 1", new="return 2", verify=[f"command {python(code)}"])
    said = str(caught.value.details["output"])
    assert said.startswith("[]")
    assert said.endswith("ZeroDivisionError: division by zero")  # Python 3.13 colours it
    assert (project.root / "app/core.py").read_bytes() == old


class Noted:
    """A verifier that notes what is asked of it."""

    def __init__(
        self,
        name: str,
        log: list[str],
        *,
        fails: Sequence[str] = (),
        says: str = "",
        judges: bool = True,
        waits: bool = False,
    ) -> None:
        self.name = name
        self.log = log
        self.fails = fails
        self.says = says
        self._judges = judges
        self._waits = waits

    def prepare(self, *_: Any) -> bool:
        self._do("prepare")
        return self._waits

    def judges(self) -> bool:
        return self._judges

    def verify(self) -> tuple[Notice | Check, ...]:
        self._do("verify")
        return (Check(name=self.name, result="passed"),) if not self.says else (Notice(self.says, self.name),)

    def roll_back(self) -> None:
        self._do("roll_back")

    def _do(self, what: str) -> None:
        self.log.append(f"{self.name}.{what}")
        if what in self.fails:
            raise ZeroDivisionError(self.name)


def all_of(log: list[str], *others: Noted, says: str = "other") -> AllOf:
    names = [other.name for other in others]
    loading, timer = Noted("load", log, says=says), iter(range(99)).__next__
    return AllOf(loading, others, names=names, loads="import", digest="d", timer=timer)


def test_all_are_asked_in_order_and_each_is_a_check() -> None:
    log: list[str] = []
    verifier = all_of(log, Noted("a", log), Noted("b", log, says="tests_left_out"), Noted("c", log))
    verifier.prepare([], {}, {})
    found = verifier.verify()
    assert log == [f"{name}.{what}" for what in ("prepare", "verify") for name in ("load", "a", "b", "c")]
    assert [each.code for each in found if isinstance(each, Notice)] == ["other", "tests_left_out"]
    checks = [each for each in found if isinstance(each, Check)]
    assert [(each.name, each.result, each.digest, each.seconds) for each in checks] == [
        (name, "passed", "d", 1) for name in ("import", "a", "c")
    ]
    unchecked = all_of([], says="not_import_checked").verify()
    assert unchecked[1:] == (Check(name="import", result="not_run", seconds=1, detail="load"),)


class Refusing(Noted):
    """A verifier that refuses what it judges."""

    def verify(self) -> tuple[Notice | Check, ...]:
        raise TransactionError("verify_failed", "No.", details={"more": 1})


def test_what_one_refuses_is_a_check_and_what_is_behind_it_was_not_run() -> None:
    log: list[str] = []
    verifier = all_of(log, Noted("a", log), Refusing("b", log), Noted("c", log))
    with pytest.raises(TransactionError, match="No") as caught:
        verifier.verify()
    assert caught.value.details["more"] == 1
    outcome = failed(pickle.loads(pickle.dumps(caught.value)))
    assert [(each.name, each.result, each.detail) for each in outcome.checks] == [
        ("import", "passed", ""),
        ("a", "passed", ""),
        ("b", "failed", "No."),
        ("c", "not_run", "not reached"),
    ]


@pytest.mark.parametrize("judging", [(), ("load",), ("b",)])
def test_all_judge_if_one_of_them_does(judging: tuple[str, ...]) -> None:
    every = [Noted(name, [], judges=name in judging) for name in ("load", "a", "b")]
    assert AllOf(every[0], every[1:], names=["x"] * len(every[1:]), loads="").judges() == bool(judging)


@pytest.mark.parametrize("waiting", [(), ("load",), ("b",)])
def test_they_have_waited_if_one_of_them_has(waiting: tuple[str, ...]) -> None:
    every = [Noted(name, [], waits=name in waiting) for name in ("load", "a", "b")]
    assert AllOf(every[0], every[1:], names=["x"] * len(every[1:]), loads="").prepare([], {}, {}) == bool(waiting)


def test_what_is_refused_before_writing_lets_go_of_what_was_prepared() -> None:
    log: list[str] = []
    verifier = all_of(log, Noted("a", log), Noted("b", log, fails=["prepare"]))
    with pytest.raises(ZeroDivisionError):
        verifier.prepare([], {}, {})
    assert log[-3:] == ["b.roll_back", "a.roll_back", "load.roll_back"]


def test_the_first_that_fails_ends_it_and_all_roll_back_the_last_one_first() -> None:
    log: list[str] = []
    verifier = all_of(log, Noted("a", log, fails=["verify"]), Noted("b", log, fails=["roll_back"]), Noted("c", log))
    with pytest.raises(ZeroDivisionError):
        verifier.verify()
    assert log == ["load.verify", "a.verify"]
    with pytest.raises(ZeroDivisionError, match="b"):
        verifier.roll_back()
    assert log[2:] == ["c.roll_back", "b.roll_back", "a.roll_back", "load.roll_back"]
