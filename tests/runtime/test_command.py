"""A command of the caller's judges a change, in a copy of the project."""

from __future__ import annotations

import importlib
import shlex
import subprocess
import sys

import pytest
from msgspec import structs

from bae_source import Source
from bae_source.errors import RequestError, TransactionError
from bae_source.reloading.child.interpreter import Interpreter
from bae_source.verification.command import Command
from bae_source.verification.judge import NotInCopy
from tests.runtime.judging import judge, refusal, setting_of, verified
from tests.runtime.support import Trial

NEW = {"app/core.py": "x = 2\n"}


@pytest.fixture
def project(trial: Trial) -> Trial:
    trial.write("app/core.py", "x = 1\n")
    return trial


def command(project: Trial, text: str) -> Command:
    return Command(text, setting_of(project), [project.module("app/core.py")])


def python(code: str, *words: str) -> str:
    return shlex.join([sys.executable, "-c", code, *words])


def test_a_command_that_ends_well_is_reported_and_sees_the_new_files_from_the_projects_folder(project: Trial) -> None:
    text = "grep -q 'x = 2' app/core.py"
    assert verified(judge(project, command(project, text), NEW)) == f"command {text}"


def test_one_that_does_not_refuses_with_its_last_lines_in_module_notation(project: Trial) -> None:
    project.write("check", 'seq 50; echo "$PWD/app/core.py:1: bad"; echo app/core.py:2: E >&2; exit 3\n')
    error = refusal(project, command(project, "sh check"), NEW)
    assert error.code == "verify_failed"
    assert "`sh check` ended with status 3 with the change: app.core:2: E; nothing was written." in error.message
    assert "app.core:1: bad" in error.hints[0]
    assert len(error.details["output"].splitlines()) == 20


def test_no_shell_reads_it(project: Trial) -> None:
    code = "import sys; assert sys.argv[1:] == [';', '$HOME', '*', 'a b'], sys.argv"
    judge(project, command(project, f"{python(code)} ; '$HOME' * 'a b'"), NEW)


def test_it_has_nothing_to_read_and_no_terminal_and_fresh_bytecode(project: Trial) -> None:
    code = "import os, sys; assert sys.stdin.read() == ''; assert not sys.stdout.isatty(); assert sys.pycache_prefix"
    judge(project, command(project, python(code)), NEW)


def test_a_signal_and_a_flood_of_output_are_reported_in_short(project: Trial) -> None:
    code = "import os; os.write(1, b'z' * 30_000_000); os.kill(os.getpid(), 9)"
    error = refusal(project, command(project, python(code)), NEW)
    assert "ended with signal 9" in error.message
    assert len(error.details["output"]) <= 64_000


def test_one_that_hangs_is_stopped_with_all_that_it_started(project: Trial) -> None:
    error = refusal(project, command(project, "sh -c 'echo on; sleep 600 & sleep 600'"), NEW, time_limit=0.3)
    assert error.code == "timed_out"
    assert "took longer than 0.3 seconds and was stopped; nothing was written." in error.message


def test_a_program_that_there_is_not_is_refused_before_anything_is_written(project: Trial) -> None:
    for text in ("no-such-program-here", "./none", "/none/there", "app"):
        with pytest.raises(RequestError) as caught:
            command(project, text)
        assert caught.value.code == "invalid_arguments"


def test_programs_of_the_project_are_found(project: Trial) -> None:
    for path in ("check", ".venv/bin/own"):
        project.write(path, "#!/bin/sh\nexit 0\n").chmod(0o755)
    judge(project, command(project, "./check"), NEW)
    interpreter = Interpreter(path=str(project.root / ".venv/bin/python"), origin=".venv")
    setting = structs.replace(setting_of(project), interpreter=interpreter)
    judge(project, Command("own", setting, []), {"app/core.py": "x = 3\n"}, interpreter=interpreter)


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
    output = str(caught.value.details["output"])
    assert output.startswith("[]")
    assert output.endswith("ZeroDivisionError: division by zero")  # Python 3.13 colours it
    assert (project.root / "app/core.py").read_bytes() == old


def test_one_that_fails_in_a_copy_alone_cannot_judge_there(project: Trial) -> None:
    with pytest.raises(NotInCopy, match="passes in the project and fails in a copy of it"):
        judge(project, command(project, "sh -c 'case $PWD in *shadow*) exit 1;; esac'"), NEW)


def test_one_that_fails_because_of_the_change_is_run_in_the_copy_without_it(project: Trial) -> None:
    log = project.root.parent / "log"
    error = refusal(project, command(project, f"sh -c 'pwd >> {log}; ! grep -q 2 app/core.py'"), NEW)
    assert error.code == "verify_failed"
    where = log.read_text().splitlines()
    assert len(where) == 2
    assert where[0] == where[1] != str(project.root)


def test_one_that_asks_git_for_the_projects_files_cannot_judge_in_a_copy(project: Trial) -> None:
    for words in (["init", "-q"], ["add", "app"]):
        subprocess.run(["git", "-C", str(project.root), *words], check=True)
    with pytest.raises(NotInCopy):
        judge(project, command(project, "git ls-files"), NEW)


def test_code_of_the_copy_is_found_before_what_an_editable_install_leads_to(project: Trial) -> None:
    project.write("src/pack.py", "x = 1\n")
    project.source_root = "src"
    project.environment["PYTHONPATH"] = str(project.root / "src")
    code = "import pack; assert pack.x == 2, pack.__file__"
    judge(project, command(project, python(code)), {"src/pack.py": "x = 2\n"})
    site = project.root.parent / "site"  # as an editable install has it: behind PYTHONPATH
    site.mkdir()
    (site / "pack.pth").write_text(str(project.root / "src"))
    del project.environment["PYTHONPATH"]
    code = f"import site; site.addsitedir({str(site)!r}); {code}"
    judge(project, command(project, python(code)), {"src/pack.py": "x = 2\n"})


def test_what_it_compiles_is_kept_and_is_never_that_of_another_text(project: Trial) -> None:
    project.write("app/__init__.py", "")
    for number in range(2, 6):
        code = f"import app.core; assert app.core.x == {number}; print(app.core.__spec__.cached)"
        judge(project, command(project, python(code)), {"app/core.py": f"x = {number}\n"})
    [caches] = project.root.glob(".bae-source/shadow/*/1/caches/compiled")
    assert list(caches.rglob("core.*.pyc"))


def test_what_it_writes_is_gone_the_next_time_and_never_in_the_project(project: Trial) -> None:
    writing = "sh -c '! test -e made && touch made && echo x > app/core.py && rm pyproject.toml'"
    project.write("pyproject.toml", "")
    for _ in range(2):
        judge(project, command(project, writing), NEW)
    assert (project.root / "app/core.py").read_text() == "x = 1\n"
    assert not (project.root / "made").exists()
