"""The process that the command line runs in: what it loads, and how it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.support import command, environment, run

STARTED = "import sys; from bae_source.__main__ import start; start()"
LIBRARIES = "import msgspec, pathlib, sys; there = set(sys.modules); "
"""What takes along what it likes, `typing_extensions` and `inspect` where these are installed."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "app"\n')
    (tmp_path / "app.py").write_text("def f():\n    return 1\n")
    return tmp_path


def python(program: str, *argv: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", program, *argv], cwd=folder, env=environment(), capture_output=True, timeout=60
    )


def test_what_is_registered_for_the_end_is_done_and_what_it_says_is_seen(project: Path) -> None:
    program = f"import atexit; atexit.register(print, 'the end', end=''); {STARTED}"
    done = python(program, "read", "app.f", folder=project)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"def f():\n    return 1\nthe end"


def test_the_exit_status_is_that_of_the_command(project: Path) -> None:
    assert python(STARTED, "read", "app.nope", folder=project).returncode == 3


def test_a_profiler_has_its_say(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cProfile", "-m", "bae_source", "read", "app.f"],
        cwd=project,
        env=environment(),
        capture_output=True,
        timeout=60,
    )
    assert done.stdout.startswith(b"def f():\n    return 1\n")
    assert b"function calls" in done.stdout


def test_a_long_answer_arrives_whole(project: Path) -> None:
    text = "".join(f"x{number} = {number}\n" for number in range(200_000))
    (project / "long.py").write_text(text)
    assert run("read", "long", "--full", folder=project).out == text.encode()


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "1>&- 2>&-", "0<&-"])
def test_a_closed_stream_is_no_reason_for_another_status(project: Path, closed: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {closed}', "sh", *command("read", "app.f")],
        cwd=project,
        env=environment(),
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_a_process_leaves_no_open_cache_behind(project: Path) -> None:
    for _ in range(2):
        assert run("outline", "--depth", "9", folder=project).status == 0
    [cache] = (project / ".bae-source").glob("facts-*.sqlite")
    assert not [path.name for path in (project / ".bae-source").glob("facts-*-wal") if path.stat().st_size]
    assert cache.stat().st_size


def test_the_collector_is_as_it_was(project: Path) -> None:
    for call in ("enable", "disable"):
        program = (
            f"import gc; gc.{call}(); was = gc.isenabled(); from bae_source.__main__ import main; main(); "
            "assert gc.isenabled() is was"
        )
        assert python(program, "read", "app.f", folder=project).returncode == 0


@pytest.mark.parametrize(
    ("argv", "loaded"),
    [
        (
            ("read", "app.f"),
            (
                "hashlib",
                "tomllib",
                "signal",
                "zlib",
                "bae_source.project.facts.index",
                "bae_source.project.files.walk",
                "bae_source.syntax.text.lexer",
                "bae_source.queries.grep",
            ),
        ),
        (("--version",), ("bae_source.queries.read", "libcst")),
    ],
    ids=lambda each: each[0],
)
def test_what_a_command_does_not_need_is_not_loaded(
    project: Path, argv: tuple[str, ...], loaded: tuple[str, ...]
) -> None:
    (project / "pyproject.toml").write_text('[project]\nname = "app"\n[tool.setuptools]\npackages = ["app"]\n')
    program = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {STARTED}"
    done = python(program, *argv, folder=project)
    assert done.returncode == 0
    assert not set(loaded) & set(done.stderr.decode().split())


@pytest.mark.parametrize(("start", "is_ours"), [("start", True), ("main", False)])
def test_only_in_a_process_of_its_own_a_request_has_the_collector_look_seldom(
    project: Path, start: str, is_ours: bool
) -> None:
    program = (
        "import atexit, gc; usual = gc.get_threshold()[0]; "
        "atexit.register(lambda: print(gc.isenabled(), gc.get_threshold()[0] == usual)); "
        f"from bae_source.__main__ import {start} as begin; begin()"
    )
    done = python(program, "read", "app.f", folder=project)
    assert done.stdout.decode().splitlines()[-1] == f"True {not is_ours}"


def test_what_is_printed_by_an_interrupted_start_is_no_traceback(project: Path) -> None:
    program = (
        "import os, signal, sys; "
        "sys.addaudithook(lambda event, args: os.kill(os.getpid(), signal.SIGINT) "
        "if event == 'import' and args[0] == 'bae_source.engine.service' else None); " + STARTED
    )
    done = python(program, "read", "app.f", folder=project)
    assert done.returncode == 130
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("argv", [("read", "app.f"), ("edit", "app.f", "--old=1", "--new=2"),
                                  ("ast", "hover", "sym://python/mod/app"), ("doctor",), ("help",)])  # fmt: skip
def test_no_module_of_the_project_is_taken_for_one_of_a_library(project: Path, argv: tuple[str, ...]) -> None:
    for name in ("msgspec", "rich", "git", "libcst", "pathspec", "signal", "gc", "mcp", "json", "tomllib"):
        (project / f"{name}.py").write_text(f"open('executed', 'a').write({name!r})\nraise SystemExit(99)\n")
    called = run(*argv, folder=project)
    assert called.status in (0, 1), called.err_text
    assert not (project / "executed").exists()


def test_hardly_an_annotation_is_compiled_from_text(project: Path) -> None:
    program = LIBRARIES + (
        "import atexit, sys, typing; compiled = []; made = typing.ForwardRef.__init__; "
        "typing.ForwardRef.__init__ = lambda self, text, *rest, **more: "
        "compiled.append(text) or made(self, text, *rest, **more); "
        "atexit.register(lambda: print(len(compiled), file=sys.stderr)); " + STARTED
    )
    for verb in ("references", "references", "read"):
        done = python(program, verb, "app.f", folder=project)
        assert done.returncode == 0
        assert int(done.stderr) < 20
    for verb in ("references", "read"):
        assert int(python(program, verb, "app.f", folder=project).stderr) == 0, "compiling makes all classes of trees"


def test_no_regular_expression_is_compiled_for_what_is_not_there(project: Path) -> None:
    program = LIBRARIES + (
        "import atexit, re, sys; made = re._compiler.compile; seen = []; "
        "re._compiler.compile = lambda pattern, *rest: seen.append(str(pattern)) or made(pattern, *rest); "
        "atexit.register(lambda: print(*seen, sep='\\n', file=sys.stderr)); " + STARTED
    )
    output = python(program, "references", "app.f", folder=project).stderr.decode()
    assert "\\Z" in output, "what belongs to every outline is compiled"
    assert "\\Z" not in python(program, "references", "app.f", folder=project).stderr.decode(), "but where one is kept"
    for rare in ("coding", "index", "pyi", "x7f-"):
        assert rare not in output
    (project / "app.py").write_text("# coding: utf-8\ndef f():\n    return 1\n")
    assert "coding" in python(program, "read", "app.f@body", folder=project).stderr.decode()


def test_a_search_that_finds_what_it_asks_for_loads_nothing_that_explains_or_changes(project: Path) -> None:
    for verb in ("references", "references"):
        done = python(
            f"{LIBRARIES}import atexit; "
            f"atexit.register(lambda: print(*sys.modules.keys() - there, file=sys.stderr)); {STARTED}",
            verb,
            "app.f",
            folder=project,
        )
    loaded = done.stderr.decode().split()
    assert done.returncode == 0
    assert "bae_source.project.references.search.references" in loaded
    for name in ("adapters.cli.helping", "adapters.cli.manual", "adapters.cli.commands", "adapters.bug",
                 "model.selector", "model.shortened", "project.naming.not_found", "project.files.overlay"):  # fmt: skip
        assert f"bae_source.{name}" not in loaded
    assert not {"unicodedata", "ast", "_ast", "sqlite3", "urllib.parse", "threading"} & set(loaded)
