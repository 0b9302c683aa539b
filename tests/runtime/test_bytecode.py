"""No Python runs what was compiled from a source that a change replaced, or took back."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.model.plan import ReloadMode
from bae_source.reloading.reload import Replaced, remove_bytecode
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
    remove_bytecode({tmp_path / "a[1]*.py": Replaced(1, 0)})
    assert (mine.exists(), other.exists()) == (False, True)


def compiled_by(trial: Trial, mode: py_compile.PycInvalidationMode | None = None, *, age: int = 0) -> Path:
    """Compile app.a, which was modified some seconds ago."""
    file = trial.root / "app/a.py"
    then = file.stat().st_mtime - age
    os.utime(file, (then, then))
    return Path(py_compile.compile(str(file), invalidation_mode=mode, doraise=True))


@pytest.mark.parametrize("mode", ["auto", "off"])
@pytest.mark.parametrize("new", ["# longer\n" + TWO, None])
def test_one_of_a_source_of_another_size_or_of_none_stays(trial: Trial, mode: ReloadMode, new: str | None) -> None:
    trial.write("app/a.py", ONE)
    compiled = compiled_by(trial)
    was = compiled.read_bytes()
    trial.change({"app/a.py": new}, mode)
    assert compiled.read_bytes() == was
    assert new is None or answer(trial, "-B") == b"2\n"


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_one_that_python_compares_with_the_source_itself_stays(trial: Trial, mode: ReloadMode) -> None:
    trial.write("app/a.py", ONE)
    compiled = compiled_by(trial, py_compile.PycInvalidationMode.CHECKED_HASH)
    was = compiled.read_bytes()
    trial.change({"app/a.py": TWO}, mode)
    assert answer(trial, "-B") == b"2\n"
    trial.take_back()
    assert answer(trial, "-B") == b"1\n"
    assert compiled.read_bytes() == was


def test_one_of_an_earlier_state_stays_though_its_source_had_the_same_size(trial: Trial) -> None:
    file = trial.write("app/a.py", ONE)
    compiled = compiled_by(trial, age=100)
    was = compiled.read_bytes()
    os.utime(file)
    trial.change({"app/a.py": TWO})
    assert answer(trial, "-B") == b"2\n"
    trial.take_back()
    assert answer(trial, "-B") == b"1\n"
    assert compiled.read_bytes() == was


def test_one_that_python_takes_for_any_source_goes(trial: Trial) -> None:
    trial.write("app/a.py", ONE)
    compiled = compiled_by(trial, py_compile.PycInvalidationMode.UNCHECKED_HASH)
    trial.change({"app/a.py": "# longer\n" + TWO})
    assert not compiled.exists()
    assert answer(trial) == b"2\n"


def test_one_without_a_folder_of_its_own_stays(trial: Trial) -> None:
    trial.write("app/a.py", ONE)
    beside = trial.root / "app/a.pyc"
    py_compile.compile(str(trial.root / "app/a.py"), cfile=str(beside), doraise=True)
    trial.change({"app/a.py": TWO})
    trial.take_back()
    assert beside.exists()


@pytest.mark.parametrize("reload", ["auto", "off"])
def test_what_git_tracks_is_there_after_a_change_and_after_its_undo(trial: Trial, reload: ReloadMode) -> None:
    file = trial.write("app/a.py", ONE)
    compiled = compiled_by(trial, age=100)
    os.utime(file)  # as it is checked out
    was = compiled.read_bytes()
    source = Source(trial.root)
    for change in (
        lambda: source.edit("app.a.f", old="1", new="2", reload=reload),
        lambda: source.edit("app.a.f", old="1", new="123", reload=reload),
        lambda: source.delete("app.a", reload=reload),
        lambda: source.move("app.a", "app.b", reload=reload),
    ):
        change()
        assert compiled.read_bytes() == was
        source.undo(reload=reload)
        assert (compiled.read_bytes(), file.read_text()) == (was, ONE)
        assert answer(trial, "-B") == b"1\n"


def project_of(trial: Trial) -> Source:
    trial.write("pyproject.toml", "[project]\nname = 'app'\nversion = '1'\n")
    trial.write("app/a.py", ONE)
    return Source(trial.root, who="tester")


def as_before(file: Path, status: os.stat_result) -> None:
    """Let a file look as if it had been written within the second in which it was."""
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_gathering_folder_that_is_relative_is_looked_for_in_the_project_too(
    trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", ".compiled")
    monkeypatch.chdir(tmp_path)
    source, file = project_of(trial), trial.root / "app/a.py"
    status = file.stat()
    assert answer(trial, PYTHONPYCACHEPREFIX=".compiled") == b"1\n"
    for change, expected in (
        (lambda: source.edit("app.a.f", TWO), b"2\n"),
        (source.undo, b"1\n"),
        (source.redo, b"2\n"),
    ):
        assert change().warnings == ()
        as_before(file, status)
        assert answer(trial, PYTHONPYCACHEPREFIX=".compiled") == expected


@pytest.mark.parametrize("reload", ["auto", "off"])
@pytest.mark.parametrize("obstacle", ["link", "permission"])
def test_one_that_cannot_be_removed_and_passes_for_the_new_source_is_reported(
    trial: Trial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reload: ReloadMode, obstacle: str
) -> None:
    source = project_of(trial)
    compiled = compiled_by(trial, py_compile.PycInvalidationMode.UNCHECKED_HASH)
    if obstacle == "link":
        compiled = compiled.parent.rename(tmp_path / "elsewhere") / compiled.name
        (trial.root / "app/__pycache__").symlink_to(tmp_path / "elsewhere")
    else:
        monkeypatch.setattr("bae_source.reloading.reload.Path.unlink", forbidden)
    was = compiled.read_bytes()
    (notice,) = source.edit("app.a.f", TWO, reload=reload).warnings
    assert notice.code == "stale_bytecode"
    assert notice.message.startswith("app.a: a compiled file of another source cannot be removed")
    assert (answer(trial), answer(trial, "-B", "--check-hash-based-pycs", "always")) == (b"1\n", b"2\n")
    assert compiled.read_bytes() == was


def test_one_behind_a_link_that_python_does_not_take_is_no_news(trial: Trial, tmp_path: Path) -> None:
    source = project_of(trial)
    compiled = compiled_by(trial, age=100)
    compiled.parent.rename(tmp_path / "elsewhere")
    (trial.root / "app/__pycache__").symlink_to(tmp_path / "elsewhere")
    assert source.edit("app.a.f", TWO).warnings == ()
    assert answer(trial, "-B") == b"2\n"


def forbidden(self: Path, missing_ok: bool = False) -> None:
    raise PermissionError(1, "Operation not permitted", str(self))
