"""A folder that shadows every module there is: `python -m bae_source`, started there, takes none of them."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.metadata import packages_distributions
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.adapters.mcp.support import raw
from tests.adapters.support import REPOSITORY, environment, run

pytestmark = pytest.mark.sampled

FILES = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n',
    "app.py": "def f():\n    return 1\n\n\ndef g():\n    return f()\n",
}
PROBE = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
"""A package that is started by `-m` prints what has been looked up before any code of its own runs."""


@cache
def looked_up_before() -> frozenset[str]:
    """Return the modules that `python -m` itself takes, from wherever they lie, before a package's own code runs."""
    with TemporaryDirectory() as folder:
        package = Path(folder) / "probe"
        package.mkdir()
        (package / "__init__.py").write_text(PROBE)
        (package / "__main__.py").touch()
        done = subprocess.run([sys.executable, "-m", "probe"], cwd=folder, capture_output=True, check=True, text=True)
    return frozenset(done.stdout.split())


@cache
def shadowed() -> tuple[str, ...]:
    """Return every other module: the standard library's, and those of everything that is installed beside us."""
    names = {*sys.stdlib_module_names, *packages_distributions(), *(each.partition(".")[0] for each in sys.modules)}
    names |= {"typing_extensions", "sitecustomize", "usercustomize", "prompt_toolkit", "tests"}
    return tuple(sorted(names - looked_up_before() - {"bae_source", "app"}))


def as_module(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text)


def as_package(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(text)


def as_namespace(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir()
    (folder / name / "x.py").write_text(text)


def as_bytecode(folder: Path, name: str, text: str) -> None:
    source = folder / "source.txt"
    source.write_text(text)
    py_compile.compile(str(source), str(folder / f"{name}.pyc"), dfile=f"{name}.py")
    source.unlink()


def as_extension(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}{EXTENSION_SUFFIXES[0]}").write_bytes(b"\x7fELF no library")


OTHER_FORMS = [as_package, as_namespace, as_bytecode, as_extension]


def shadowing(folder: Path, shadow: Callable[[Path, str, str], None]) -> Path:
    """Lay out a project whose top folder shadows everything, in one form, with files that git has staged."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    for name in shadowed():
        shadow(folder, name, f"open({str(folder / 'taken')!r}, 'a').write({name + ' '!r})\nraise SystemExit(99)\n")
    for argv in (["init", "-q"], ["add", "app.py", "pyproject.toml"]):
        subprocess.run(["git", *argv], cwd=folder, check=True, env={"PATH": os.environ["PATH"], "HOME": str(folder)})
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shadowing(tmp_path_factory.mktemp("shadows"), as_module)


@pytest.fixture(scope="module", params=OTHER_FORMS, ids=lambda each: each.__name__)
def otherwise(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shadowing(tmp_path_factory.mktemp("shadows"), request.param)


def taken(folder: Path) -> str:
    """Return the names of the modules that were taken from the folder."""
    mark = folder / "taken"
    return mark.read_text() if mark.exists() else ""


COMMANDS = {
    "help": (("--help",), "Change a Python project by name"),
    "version": (("--version",), "bae_source"),
    "help of a verb": (("read", "--help"), "Usage"),
    "read": (("read", "app.f"), "return 1"),
    "references": (("references", "app.f"), "call in g"),
    "grep": (("grep", "(r+e)+turn"), "return f()"),
    "hover": (("ast", "hover", "sym://python/type/app/f"), "def f()"),
    "doctor": (("doctor", "--json"), "interpreter"),
    "dry run": (("edit", "app.f", "--old=1", "--new=2", "--dry-run"), "+    return 2"),
    "history": (("history",), ""),
    "hook": (("hook", "app.py"), ""),
    "functions": (("functions", "--style=openai"), "parameters"),
    "docs": (("docs",), "# "),
    "completion": (("completion", "bash"), "bae"),
    "error": (("read", "app.nope"), ""),
    "shell": (("shell",), "42"),
}


BLOCKS = b"""\
read('app.f')
references('app.f'); callers('app.f'); grep('(r+e)+turn'); hover('sym://python/type/app/f'); search('f'); unused()
edit('app.f', old='1', new='2', dry_run=True); rename('app.f', 'h', dry_run=True)
with transaction() as tx: tx.edit('app.f', old='1', new='2'); tx.preview(); tx.abandon()

nav(); help(source); help(read); source.tests.list()
home.doctor(); history()
6 * 7
"""


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_takes_a_module_of_the_folder_in_which_it_is_started(name: str, folder: Path) -> None:
    argv, expected = COMMANDS[name]
    called = run(*argv, folder=folder, stdin=BLOCKS if name == "shell" else b"")
    assert taken(folder) == ""
    assert called.status == {"error": 3}.get(name, called.status if name == "doctor" else 0), called.err_text
    assert expected in called.out.decode()
    assert "Traceback" not in called.err_text


def test_no_form_of_module_is_taken(otherwise: Path) -> None:
    for name in ("help", "references", "hook"):
        test_no_command_takes_a_module_of_the_folder_in_which_it_is_started(name, otherwise)
    test_the_server_takes_no_module_of_the_folder_in_which_it_is_started(otherwise)


def test_the_server_takes_no_module_of_the_folder_in_which_it_is_started(folder: Path) -> None:
    with raw(folder) as server:
        server.initialize()
        assert server.ask("tools/list")["result"]["tools"]
        assert "return 1" in server.call("read", target="app.f")["content"][0]["text"]
        assert server.leave() == 0
    assert taken(folder) == ""


def test_a_change_that_is_checked_and_its_undo_take_no_module_of_the_folder(folder: Path) -> None:
    assert run("edit", "app.f", "--old=1", "--new=2", folder=folder).status == 0
    assert run("undo", folder=folder).status == 0
    assert taken(folder) == ""


@pytest.mark.parametrize(
    "flags",
    [
        ["-m", "bae_source"],
        ["-mbae_source"],
        ["-Bm", "bae_source"],
        ["-Bmbae_source"],
        ["-X", "dev", "-W", "ignore", "-m", "bae_source"],
        ["-m", "bae_source.__main__"],
        ["-P", "-m", "bae_source"],
        [str(REPOSITORY / "bae_source" / "__main__.py")],
    ],
    ids=" ".join,
)
def test_however_it_is_spelt_a_start_by_name_takes_no_module_of_the_folder(flags: list[str], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, *flags, "read", "app.f"], cwd=folder, capture_output=True, env=environment(), timeout=60
    )
    assert taken(folder) == ""
    assert (done.returncode, done.stdout) == (0, b"def f():\n    return 1\n"), done.stderr


@pytest.mark.parametrize("flags", [["-m", "mine"], ["-mmine"], ["-m", "mine", "-m", "bae_source"], ["mine/run.py"]])
def test_a_program_that_uses_us_keeps_its_own_folder_on_the_path(flags: list[str], tmp_path: Path) -> None:
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("import bae_source, beside\n")
    (package / "__main__.py").write_text("import bae_source, other\n")
    (package / "run.py").write_text("import bae_source, inside\n")
    (package / "inside.py").touch()
    for name in ("beside", "other"):
        (tmp_path / f"{name}.py").touch()
    done = subprocess.run([sys.executable, *flags], cwd=tmp_path, capture_output=True, env=environment(), timeout=60)
    assert done.returncode == 0, done.stderr


def test_what_is_shadowed_is_all_that_a_real_start_imports(tmp_path: Path) -> None:
    """Guards the list: a module that a real run has, and that the folder does not shadow, would not be noticed."""
    (tmp_path / "app.py").write_text(FILES["app.py"])
    program = (
        "import atexit, sys; "
        "atexit.register(lambda: print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)); "
        "from bae_source.__main__ import start; start()"
    )
    for argv in (("read", "app.f"), ("references", "app.f"), ("edit", "app.f", "--old=1", "--new=2"), ("doctor",)):
        done = subprocess.run(
            [sys.executable, "-c", program, *argv], cwd=tmp_path, capture_output=True, env=environment(), text=True
        )
        known = {*shadowed(), *looked_up_before(), *sys.builtin_module_names, "bae_source"}
        assert set(done.stderr.splitlines()[-1].split()) <= known
