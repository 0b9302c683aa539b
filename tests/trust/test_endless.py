"""Files without end, pipes on which nobody writes and gigantic files: nothing waits for them or fills the memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source import functions
from tests.adapters.mcp.support import raw
from tests.adapters.support import Called, command, environment

pytestmark = pytest.mark.sampled

PACKAGES = ".venv/lib/python3.11/site-packages"
RECORD = f"{PACKAGES}/pytest-8.4.1.dist-info"
FILES = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\nrequires-python = ">=3.9"\n',
    "app.py": "def f():\n    return 1\n",
    ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.4\n",
    ".venv/bin/python": "#!/bin/sh\nexit 1\n",
    f"{RECORD}/METADATA": "Metadata-Version: 2.1\nName: pytest\nVersion: 8.4.1\n",
}
MEMORY = 600_000_000
"""Bytes of address space that a command may have: an ordinary one takes half of it."""
SECONDS = 10.0
"""How long a command may take on a machine that does other things too; one that waits takes for ever."""


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def waiting(path: Path) -> None:
    os.mkfifo(path)


def led_to_a_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def gigantic(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 << 30)


def looped(path: Path) -> None:
    path.symlink_to(path.name)


def a_folder(path: Path) -> None:
    path.mkdir()


Lay = Callable[[Path], None]


def laid(root: Path, **changes: str) -> Path:
    for name, text in {**FILES, **changes}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / ".venv/bin/python").chmod(0o755)
    return root


def replaced(root: Path, name: str, how: Lay) -> Path:
    """Lay out the project with something else in place of one of its files or folders."""
    laid(root)
    path = root / name
    if path.is_dir():
        path.rename(root / "elsewhere")
    path.unlink(missing_ok=True)
    how(path)
    return root


def bounded(*argv: str, folder: Path) -> Called:
    """Run the command line in little memory, and fail where it takes long."""
    begun = time.monotonic()
    process = subprocess.Popen(
        command(*argv),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(VIRTUAL_ENV=""),
        preexec_fn=lambda: (
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)) if sys.platform == "linux" else None
        ),
    )
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert time.monotonic() - begun < SECONDS
    return Called(process.returncode, out, err)


def test_an_environment_as_it_should_be_is_shown_with_its_version(tmp_path: Path) -> None:
    output = bounded("doctor", folder=laid(tmp_path)).out.decode()
    assert f"{tmp_path}/.venv/bin/python (.venv), Python 3.12.4" in output
    assert "pytest, for the project's interpreter: 8.4.1" in output


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((".venv/pyvenv.cfg", how) for how in (endless, waiting, led_to_a_pipe, gigantic, large, looped, a_folder)),
        (f"{RECORD}/METADATA", endless),
        (f"{RECORD}/METADATA", waiting),
        (RECORD, gigantic),
        (PACKAGES, waiting),
        (PACKAGES, looped),
    ],
)
def test_the_doctor_answers_whatever_lies_in_the_environment(name: str, how: Lay, tmp_path: Path) -> None:
    called = bounded("doctor", folder=replaced(tmp_path, name, how))
    assert called.status in (0, 1), called.err_text
    output = called.out.decode()
    assert f"{tmp_path}/.venv/bin/python (.venv)" in output
    assert ("Python 3.12.4" in output) is (name != ".venv/pyvenv.cfg")


def test_the_doctor_answers_by_every_door(tmp_path: Path) -> None:
    project = replaced(tmp_path, ".venv/pyvenv.cfg", waiting)
    begun = time.monotonic()
    answer = functions.dispatch("doctor", {}, root=project, read_only=True)
    functions.close(project)
    assert answer["status"] == "answer"
    with raw(project, "--read-only", VIRTUAL_ENV="") as server:
        server.initialize()
        assert not server.call("doctor")["isError"]
    assert time.monotonic() - begun < 3 * SECONDS


@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((name, gigantic) for name in ("pyproject.toml", "setup.cfg", "setup.py", ".gitignore", ".git")),
        ("pyproject.toml", waiting),
        ("pyproject.toml", endless),
        ("setup.cfg", led_to_a_pipe),
        ("setup.py", looped),
        (".gitignore", waiting),
        (".git", waiting),
        (".git", endless),
    ],
)
def test_settings_that_are_no_regular_file_of_a_sensible_length_are_not_read(
    name: str, how: Lay, tmp_path: Path
) -> None:
    project = replaced(tmp_path, name, how)
    is_refused = how is gigantic and name in ("pyproject.toml", "setup.cfg", "setup.py", ".gitignore")
    called = bounded("references", "app.f", "--json", folder=project)
    assert called.status == (4 if is_refused else 0), called.err_text
    if is_refused:
        [error] = called.json["errors"]
        assert error["code"] == "syntax_invalid"
        assert error["message"] == f"{name} cannot be read as settings: it has more than 2,000,000 bytes."
    assert bounded("doctor", folder=project).status in (0, 1)


def test_settings_of_a_tool_that_are_too_long_stop_only_what_needs_them(tmp_path: Path) -> None:
    project = replaced(tmp_path, "pytest.ini", gigantic)
    (project / "test_app.py").write_text("from app import f\n\n\ndef test_f():\n    assert f()\n")
    asked = ("edit", "app.f", "--old=1", "--new=2", "--reload", "off")
    called = bounded(*asked, "--verify", "tests", "--json", folder=project)
    assert (called.status, called.json["errors"][0]["code"]) == (4, "syntax_invalid"), called.err_text
    assert (project / "app.py").read_text() == FILES["app.py"]
    assert bounded(*asked, folder=project).status == 0


@pytest.mark.parametrize("how", [gigantic, large])
def test_a_gigantic_module_is_reported_and_not_read(how: Lay, tmp_path: Path) -> None:
    project = replaced(tmp_path, "big.py", how)
    called = bounded("read", "big", "--full", folder=project)
    assert (called.status, b"256,000,000 bytes" in called.err) == (4, True)
    found = bounded("references", "app.f", "--json", folder=project)
    assert found.status == 0, found.err_text
    assert not found.json["complete"]
    report = bounded("doctor", folder=project)
    assert report.status == 1, report.err_text
    assert b"big (not_lossless)" in report.out
