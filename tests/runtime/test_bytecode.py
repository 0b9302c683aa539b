"""No Python runs what was compiled from a source that a change replaced, or took back."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bae_source.runtime.bytecode import remove_bytecode
from tests.runtime.support import Trial

ONE, TWO = "def f(): return 1\n", "def f(): return 2\n"


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which Python writes bytecode as usual."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))} | more


def answer(trial: Trial, *flags: str, **more: str) -> bytes:
    command = [sys.executable, *flags, "-c", "import app.a; print(app.a.f())"]
    return subprocess.run(command, cwd=trial.root, capture_output=True, check=True, env=environment(**more)).stdout


@pytest.mark.parametrize("flags", [(), ("-O",), ("-OO",)])
def test_a_fresh_process_runs_the_new_code_and_after_taking_back_the_old(trial: Trial, flags: tuple[str, ...]) -> None:
    file = trial.write("app/a.py", ONE)
    status = file.stat()
    assert answer(trial, *flags) == b"1\n"
    assert list(trial.root.rglob("a.*.pyc"))
    trial.change({"app/a.py": TWO}, "off")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert answer(trial, *flags) == b"2\n"
    trial.take_back()
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert answer(trial, *flags) == b"1\n"


def test_compiled_files_that_are_gathered_elsewhere_are_removed_for_every_python(trial: Trial, tmp_path: Path) -> None:
    file = trial.write("app/a.py", ONE)
    status = file.stat()
    gathered = str(tmp_path / "gathered")
    assert answer(trial, PYTHONPYCACHEPREFIX=gathered) == b"1\n"
    (compiled,) = Path(gathered).rglob("a.*.pyc")
    other = compiled.with_name("a.cpython-399.pyc")
    other.write_bytes(b"another Python's")
    trial.environment = environment(PYTHONPYCACHEPREFIX=gathered)
    trial.change({"app/a.py": TWO}, "off")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert not other.exists()
    assert answer(trial, PYTHONPYCACHEPREFIX=gathered) == b"2\n"


def test_pytest_in_a_child_sees_the_new_code_and_the_new_tests(trial: Trial) -> None:
    trial.write("app/a.py", ONE)
    file = trial.write("test_a.py", "from app.a import f\ndef test(): assert f() == 1\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_a.py"]

    def passes() -> bool:
        alone = environment(PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
        done = subprocess.run(command, cwd=trial.root, capture_output=True, env=alone)
        assert done.returncode in (0, 1), done.stdout
        return done.returncode == 0

    trial.unchecked = {"test_a.py"}
    status = {path: path.stat() for path in (file, trial.root / "app/a.py")}
    assert passes()
    assert list(trial.root.rglob("test_a.*pytest*.pyc"))
    trial.change({"app/a.py": TWO})
    _same_times(status)
    assert not passes()
    trial.change({"test_a.py": "from app.a import f\ndef test(): assert f() == 2\n"})
    _same_times(status)
    assert passes()
    trial.take_back()
    _same_times(status)
    assert not passes()


def _same_times(status: dict[Path, os.stat_result]) -> None:
    for path, earlier in status.items():
        os.utime(path, ns=(earlier.st_atime_ns, earlier.st_mtime_ns))


def test_names_with_the_signs_of_patterns_are_taken_literally(tmp_path: Path) -> None:
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    mine, other = cache / "a[1]*.cpython-311.pyc", cache / "a1x.cpython-311.pyc"
    mine.write_bytes(b"")
    other.write_bytes(b"")
    remove_bytecode([tmp_path / "a[1]*.py"])
    assert (mine.exists(), other.exists()) == (False, True)
