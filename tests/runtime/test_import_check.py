"""Modules that are not loaded here are imported in a child; what failed before is not blamed on the change."""

from __future__ import annotations

import py_compile
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bae_source.reloading.child.interpreter import Interpreter
from tests.adapters.mcp.support import is_running
from tests.runtime.support import Trial, codes


def test_a_module_that_imports_says_nothing_and_is_not_loaded_here(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    assert trial.change({"app/a.py": "x = 2\n", "app/new.py": "from app.a import x\nassert x == 2\n"}) == ()
    assert "app.a" not in sys.modules


def test_a_module_that_does_not_import_fails_with_its_place(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    error = trial.failure({"app/a.py": "x = 1\ny = undefined\n"})
    assert error.code == "reload_failed"
    assert error.message == (
        "app.a does not import with the change: NameError: name 'undefined' is not defined, at app.a:2; "
        "nothing was written."
    )
    assert error.details["traceback"].splitlines()[1:3] == ["  app.a:2, in <module>", "    y = undefined"]


def test_an_import_error_names_modules_and_not_files(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    error = trial.failure({"app/b.py": "from app.a import nothing\n"})
    assert "ImportError: cannot import name 'nothing' from 'app.a', at app.b:1" in error.message


def test_a_syntax_error_names_its_line(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    error = trial.failure({"app/a.py": "x = 1\ny = = 2\n"})
    assert "SyntaxError: invalid syntax, at app.a:2" in error.message


def test_an_exit_during_the_import_is_a_failure(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    assert "SystemExit: 3, at app.a:2" in trial.failure({"app/a.py": "import sys\nsys.exit(3)\n"}).message


@pytest.mark.parametrize("how", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_an_import_that_ends_the_interpreter_is_a_failure(trial: Trial, how: str) -> None:
    trial.write("app/a.py", "x = 1\n")
    error = trial.failure({"app/a.py": f"import os\n{how}\n"})
    assert error.code == "reload_failed"
    assert error.message.startswith("Importing app.a ended the interpreter (status ")


def test_an_import_that_hangs_is_stopped_with_all_it_started(trial: Trial, tmp_path: Path) -> None:
    trial.write("app/a.py", "x = 1\n")
    trial.time_limit = 1.0
    note = tmp_path / "child"
    source = "import subprocess, time\nchild = subprocess.Popen(['sleep', '60'])\n"
    source += f"with open({str(note)!r}, 'w') as file:\n    file.write(str(child.pid))\ntime.sleep(60)\n"
    begun = time.monotonic()
    error = trial.failure({"app/a.py": source})
    assert time.monotonic() - begun < 3
    assert error.code == "timed_out"
    assert "Importing app.a took longer than 1 seconds" in error.message
    assert _ends(int(note.read_text()))


def _ends(process: int) -> bool:
    """Say whether a process that would live for a minute has ended, or does so at once."""
    deadline = time.monotonic() + 5
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_running(process)


def test_a_thread_or_child_left_behind_does_not_hold_us_up(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    source = (
        "import subprocess, threading, time\nsubprocess.Popen(['sleep', '60'])\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
    )
    begun = time.monotonic()
    assert trial.change({"app/a.py": source}) == ()
    assert time.monotonic() - begun < 5


def test_any_amount_of_output_is_swallowed(trial: Trial, capfd: pytest.CaptureFixture[str]) -> None:
    trial.write("app/a.py", "x = 1\n")
    source = "import sys, os\nfor _ in range(500):\n    print('x' * 10_000)\n    os.write(2, b'y' * 10_000)\n"
    assert trial.change({"app/a.py": source}) == ()
    assert capfd.readouterr() == ("", "")


def test_an_import_reads_nothing_from_a_terminal(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    assert "EOFError" in trial.failure({"app/a.py": "input()\n"}).message
    source = "import os\ntry:\n    os.open('/dev/tty', os.O_RDWR)\nexcept OSError: pass\nelse: raise RuntimeError\n"
    assert trial.change({"app/a.py": source}) == ()


def test_what_did_not_import_before_is_reported_and_not_blamed(trial: Trial) -> None:
    trial.write("app/a.py", "import not_installed\nx = 1\n")
    (notice,) = trial.change({"app/a.py": "import not_installed\nx = 2\n"})
    assert notice.code == "import_failed_before"
    assert notice.message.startswith(
        "app.a does not import, and did not before this change either: "
        "ModuleNotFoundError: No module named 'not_installed'. It was tried with the Python of "
    )


@pytest.mark.parametrize("how", ["import os; os._exit(1)\n", "raise SystemExit\n", "x = = 1\n"])
def test_other_ways_not_to_import_before_count_as_well(trial: Trial, how: str) -> None:
    trial.write("app/a.py", how)
    trial.write("app/b.py", "x = 1\n")
    assert codes(trial.change({"app/a.py": how + "# touched\n", "app/b.py": "x = 2\n"})) == ["import_failed_before"]
    assert trial.failure({"app/a.py": how + "#\n", "app/b.py": "1/0\n"}).details["module"] == "app.b"


def test_what_was_before_is_tried_as_it_was_in_all_changed_files(trial: Trial) -> None:
    trial.write("app/low.py", "f = 1\n")
    trial.write("app/high.py", "from app.low import f\n")
    trial.write("app/gone.py", "g = 1\n")
    trial.write("app/user.py", "from app.gone import g\n")
    error = trial.failure({"app/low.py": "renamed = 1\n", "app/high.py": "from app.low import f\n#\n"})
    assert error.details["module"] == "app.high"
    error = trial.failure({"app/gone.py": None, "app/user.py": "from app.gone import g\n#\n"})
    assert error.details["module"] == "app.user", "the deleted module was there before"


def test_a_new_module_that_does_not_import_is_blamed_on_the_change(trial: Trial) -> None:
    assert trial.failure({"app/new.py": "1/0\n"}).code == "reload_failed"


def test_files_are_not_touched_to_try_what_was_before(trial: Trial) -> None:
    file = trial.write("app/a.py", "import not_installed\n")
    trial.change({"app/a.py": "import not_installed\n#\n"})
    assert file.read_text() == "import not_installed\n#\n"


def test_all_failures_are_counted(trial: Trial) -> None:
    error = trial.failure({f"app/m{number}.py": "1/0\n" for number in range(3)})
    assert error.message.startswith("app.m0 (and 2 more) does not import")
    assert error.details["also"] == ["app.m1", "app.m2"]


def test_scripts_and_tests_are_only_compiled_and_that_is_reported(trial: Trial) -> None:
    trial.unchecked = {"conftest.py", "app/__main__.py"}
    (notice,) = trial.change({"conftest.py": "1/0\n", "app/__main__.py": "1/0\n"})
    assert notice.code == "not_import_checked"
    assert notice.message == "conftest, app.__main__: compiled, but not import-checked."
    assert "SyntaxError" in trial.failure({"conftest.py": "x = = 1\n"}).message


def test_a_stub_is_compiled_and_never_imported(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    assert trial.change({"app/a.py": "x = 2\n", "app/a.pyi": "x: int\n1/0\n"}) == ()


def test_a_source_root_below_the_project_is_on_the_path(trial: Trial) -> None:
    trial.source_root = "src"
    trial.write("src/lib/__init__.py", "")
    assert trial.change({"src/lib/a.py": "import lib\n"}) == ()
    error = trial.failure({"src/lib/a.py": "import lib\n1/0\n"})
    assert "at lib.a:2" in error.message


def test_project_files_shadow_nothing_of_ours_and_the_script_folder_is_not_on_the_path(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    source = "import sys, importlib.util as u\nassert u.find_spec('import_check') is None\nassert '' not in sys.path\n"
    assert trial.change({"app/a.py": source}) == ()


def test_bytecode_that_cannot_be_removed_is_not_run(trial: Trial, tmp_path: Path) -> None:
    file = trial.write("app/dep.py", "y = 1\n")
    elsewhere = tmp_path / "cache"
    elsewhere.mkdir()
    (trial.root / "app/__pycache__").symlink_to(elsewhere)
    py_compile.compile(str(file), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, doraise=True)
    assert list(elsewhere.iterdir())
    (notice,) = trial.change({"app/dep.py": "y = 2\n", "app/a.py": "from app.dep import y\nassert y == 2\n"})
    assert notice.code == "stale_bytecode", "the user's own next import would run it"
    assert list(elsewhere.iterdir()), "a linked folder is not ours to clean"


def test_stale_bytecode_is_not_run_and_none_is_written(trial: Trial) -> None:
    trial.write("app/a.py", "x = 1\n")
    trial.write("app/dep.py", "y = 1\n")
    trial.change({"app/a.py": "from app.dep import y\n"})
    assert not list(trial.root.rglob("*.pyc"))


def test_the_environment_is_scrubbed_of_pythons_own_variables(trial: Trial) -> None:
    trial.environment |= {"PYTHONSTARTUP": "x", "PYTHONINSPECT": "1", "GIT_DIR": "x", "APP_SETTING": "kept"}
    source = (
        "import os\nassert not {'PYTHONSTARTUP', 'PYTHONINSPECT', 'GIT_DIR'} & set(os.environ)\n"
        "assert os.environ['APP_SETTING'] == 'kept'\n"
    )
    assert trial.change({"app/a.py": source}) == ()


@pytest.mark.parametrize("program", ["nowhere/python", "folder", "plain"])
def test_an_interpreter_that_does_not_start_is_a_notice(trial: Trial, program: str) -> None:
    (trial.root / "folder").mkdir()
    trial.write("plain", "no program")
    trial.interpreter = Interpreter(path=str(trial.root / program), origin="[tool.bae-source] python")
    trial.write("app/a.py", "x = 1\n")
    (notice,) = trial.change({"app/a.py": "x = 2\n"})
    assert notice.code == "not_import_checked"
    assert "the project's interpreter ([tool.bae-source] python) cannot be started: " in notice.message


def test_asked_for_a_child_a_missing_interpreter_is_an_error(trial: Trial) -> None:
    trial.interpreter = Interpreter(path="/nowhere/python", origin="VIRTUAL_ENV")
    error = trial.failure({"app/a.py": "x = 3\n"}, "child")
    assert error.code == "verify_failed"
    assert "No such file or directory; nothing was written." in error.message


def test_a_program_that_is_no_python_is_reported(trial: Trial) -> None:
    trial.interpreter = Interpreter(path="/bin/false", origin="VIRTUAL_ENV")
    (notice,) = trial.change({"app/a.py": "x = 3\n"})
    assert "cannot be started: it ended with status 1" in notice.message


def test_an_older_python_without_the_safe_path_flag_works(trial: Trial) -> None:
    python = shlex.quote(sys.executable)
    script = trial.write(
        "old-python",
        f'#!/bin/sh\n[ "$1" = -P ] && {{ echo "unknown option -P" >&2; exit 2; }}\nexec {python} "$@"\n',
    )
    script.chmod(0o755)
    trial.interpreter = Interpreter(path=str(script), origin="VIRTUAL_ENV")
    source = "import importlib.util as u\nassert u.find_spec('import_check') is None\n"
    assert trial.change({"app/a.py": source}) == ()


def test_the_probe_stays_within_the_grammar_of_python_3_7() -> None:
    import ast

    from bae_source.reloading.child.import_check import PROBE

    ast.parse(PROBE.read_text(), feature_version=(3, 7))


def test_a_running_child_is_killed_on_ctrl_c(trial: Trial, tmp_path: Path) -> None:
    note = tmp_path / "child"
    code = (
        "import os, signal, threading, time\n"
        "from pathlib import Path\n"
        "from bae_source.system.child import run\n"
        f"told = Path({str(note)!r})\n"
        "def interrupt():\n"
        "    while not told.exists():\n"
        "        time.sleep(0.02)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt).start()\n"
        "words = ['sh', '-c', f'echo $$ > {told}.new; mv {told}.new {told}; exec sleep 60']\n"
        "try:\n"
        "    run(words, folder=Path('/'), environment=dict(os.environ), time_limit=30)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, check=True, timeout=20)
    assert done.stdout == b"interrupted\n"
    assert _ends(int(note.read_text()))
