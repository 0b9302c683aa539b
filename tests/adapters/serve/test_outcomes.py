"""A server answers to the byte what a process of its own answers, whatever the files have come to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bae_source.adapters.serve.meeting import ACCEPTED, READS, parts_of
from bae_source.engine.registry import REQUESTS
from bae_source.model.request import Effect, command_of
from tests.adapters.serve.support import Place, place, request, server
from tests.adapters.support import call, environment, run
from tests.adapters.test_processes import on_terminal
from tests.project.support import SHORT_TICK, settle
from tests.trust.support import Machine, crashed
from tests.trust.support import project as trusted

pytestmark = pytest.mark.sampled

COMMANDS = (
    ("grep", "encoding"),
    ("grep", "encoding", "--json"),
    ("grep", "nowhere_to_be_found"),
    ("grep", "ENCODING", "--ignore-case", "--no-data"),
    ("grep", "def (open|close)", "--symbols", "--context", "1"),
    ("grep", "import", "pathspec.util"),
    ("grep", "(", "--json"),
    ("grep", "import", "--budget", "2000", "--cursor", "0"),
    ("find", "isinstance($X, $Y)"),
    ("find", "raise $E($$$A)", "pathspec.util"),
    ("find", "def ("),
    ("read", "pathspec.util.normalize_file"),
    ("read", "pathspec.nope"),
    ("read", "--help"),
    ("outline", "pathspec"),
    ("where", "pathspec/util.py:100"),
    ("where", "util.py:100"),
    ("glob", "pathspec.*"),
    ("glob", ":**/*.txt"),
    ("search", "normalise", "file"),
    ("references", "pathspec.util.normalize_file"),
    ("callers", "pathspec.util.normalize_file"),
    ("imports_of", "pathspec.util"),
    ("grep", "encoding", "--root", ".."),
    ("grep", "encoding", "--root", "nowhere"),
    ("grep", "encoding", "--nonsense"),
    ("grep",),
)


@pytest.fixture(scope="module")
def at() -> Iterator[Place]:
    with place() as made, server(made):
        yield made


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of a package that is installed, as a project with data files and with what is ignored."""
    root = tmp_path / "project"
    shutil.copytree(Path(sysconfig.get_path("purelib"), "pathspec"), root / "pathspec")
    (root / "pyproject.toml").write_text('[project]\nname = "pathspec"\n')
    (root / ".gitignore").write_text("*.log\n__pycache__/\n")
    (root / "a.log").write_text("encoding ignored\n")
    (root / "notes.txt").write_text("encoding noted\n")
    return root


def from_server(at: Place, *argv: str, folder: Path) -> tuple[int, bytes, bytes] | None:
    """Return what a server answers; None where it leaves the command to its process."""
    response = at.response(request(*argv, folder=folder))
    answer = parts_of(response.removeprefix(ACCEPTED))
    if answer is None:
        return None
    status, parts = answer
    return status, *(b"".join(part for number, part in parts if number == stream) for stream in (1, 2))


def from_process(*argv: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, bytes, bytes]:
    """Return what the command line answers that knows nothing from before."""
    from bae_source.adapters.cli.cli import through_service

    monkeypatch.chdir(folder)
    called = call(*argv, door=through_service, environment=environment())
    return called.status, called.out, called.err


def _edit(root: Path) -> None:
    file = root / "pathspec/util.py"
    file.write_text(file.read_text().replace("encoding", "enkoding", 1))


def _same_length(root: Path) -> None:
    """Change a file at once after it was read, without another size or another moment of change."""
    file = root / "notes.txt"
    before = file.stat()
    file.write_text(file.read_text().replace("encoding", "enco_ing"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _new_files(root: Path) -> None:
    (root / "pathspec/fresh.py").write_text("def normalize_file(encoding):\n    return isinstance(encoding, str)\n")
    (root / "docs").mkdir()
    (root / "docs/encoding.txt").write_text("encoding\n")
    (root / "docs/binary.bin").write_bytes(b"\0encoding")
    (root / "pathspec/latin.py").write_bytes(b"# -*- coding: latin-1 -*-\nencoding = '\xe9'\n")


def _ignored(root: Path) -> None:
    (root / ".gitignore").write_text("*.txt\n")


def _repository(root: Path) -> None:
    for words in (("init", "-q"), ("add", "-f", "notes.txt")):
        subprocess.run(["git", *words], cwd=root, env=environment(GIT_CONFIG_GLOBAL=os.devnull), check=True)


def _gone(root: Path) -> None:
    (root / "pathspec/fresh.py").unlink()
    shutil.rmtree(root / "docs")
    (root / "pathspec/util.py").chmod(0)


def _broken(root: Path) -> None:
    (root / "pathspec/util.py").chmod(0o644)
    (root / "pathspec/util.py").write_text("def (encoding:\n")
    (root / "pathspec/x.py").symlink_to(root.parent / "outside.py")
    (root.parent / "outside.py").write_text("encoding = 1\n")


def _layout(root: Path) -> None:
    (root / "src").mkdir()
    (root / "pathspec").rename(root / "src/pathspec")


def _replaced(root: Path) -> None:
    root.rename(root.parent / "old")
    shutil.copytree(root.parent / "old", root, symlinks=True, ignore=shutil.ignore_patterns(".bae-source"))
    (root / "notes.txt").write_text("another encoding\n")


def _unparsed_settings(root: Path) -> None:
    (root / "pyproject.toml").write_text("[project\n")


CHANGES: tuple[Callable[[Path], None], ...] = (
    lambda root: None, _edit, _same_length, _new_files, _ignored, _repository, _gone, _broken, _layout, _replaced,
    _unparsed_settings,
)  # fmt: skip


@pytest.fixture(scope="module")
def soon_sure() -> Iterator[Place]:
    """A place whose server believes stamps as soon as the clock of Linux allows it."""
    before = f"from bae_source.project.files import stamps\nstamps.TICK = {SHORT_TICK}"
    with place() as made, server(made, before=before):
        yield made


@pytest.mark.parametrize("ages", [False, True])
def test_it_is_the_same_to_the_byte_while_files_change(
    request: pytest.FixtureRequest, package: Path, monkeypatch: pytest.MonkeyPatch, ages: bool
) -> None:
    at: Place = request.getfixturevalue("soon_sure" if ages else "at")
    served = 0
    for change in CHANGES:
        change(package)
        if ages:
            settle(package, monkeypatch)
        for argv in COMMANDS:
            folder = next(each for each in (package / "pathspec", package / "src/pathspec") if each.is_dir())
            found = from_server(at, *argv, folder=folder)
            if found is not None:
                assert found == from_process(*argv, folder=folder, monkeypatch=monkeypatch), (change, argv)
            served += found is not None
    assert served == len(CHANGES) * (len(COMMANDS) - 1)  # the root that is no folder is named as it was typed


def test_processes_at_a_pipe_get_the_same_and_the_server_answered(at: Place, package: Path) -> None:
    for argv in (("grep", "encoding"), ("find", "isinstance($X, $Y)"), ("read", "pathspec.nope"), ("grep", "(")):
        assert at.answered(*argv, folder=package) == run(*argv, folder=package), argv


@pytest.mark.parametrize("changes", [{"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": "1"}], ids=len)
def test_so_do_those_at_a_terminal(at: Place, package: Path, changes: dict[str, str]) -> None:
    for argv in (("read", "pathspec.util.normalize_file"), ("grep", "encoding"), ("read", "pathspec.nope")):
        before = at.answers()
        warm = on_terminal(*argv, folder=package, **at.variables | changes)
        assert warm == on_terminal(*argv, folder=package, **changes)
        assert at.answers() >= before
    assert at.answered("grep", "encoding", folder=package, FORCE_COLOR="1")


def test_a_variable_counts_for_its_own_command_alone(at: Place, package: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/a.py").write_text("encoding = 1\n")
    for changes in ({}, {"BAE_SOURCE_ROOT": str(tmp_path / "other")}, {"BAE_SOURCE_TELEMETRY": "off"}, {}):
        before = telemetry(package)
        warm = at.answered("grep", "encoding", folder=package, **changes)
        noted = telemetry(package) - before
        assert warm == run("grep", "encoding", folder=package, **changes)
        assert bool(noted) is not bool(changes)


def test_what_a_crash_left_is_taken_back_and_reported_by_the_first_read(
    at: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = Machine(tmp_path / "victim")
    root = trusted(victim.folder / "p")
    around = environment(XDG_STATE_HOME=victim.environment["XDG_STATE_HOME"])
    monkeypatch.setenv("XDG_STATE_HOME", around["XDG_STATE_HOME"])
    words = ("read", "app.send")
    asks: list[Callable[[], tuple[int, bytes, bytes] | None]] = [
        lambda: from_server(at, *words, folder=root),
        lambda: from_process(*words, folder=root, monkeypatch=monkeypatch),
    ]
    responses = []
    for ask in (asks[0], *asks):
        if responses:
            crashed(victim, root)
        responses.append([found and (*found[:2], re.sub(rb"op_\w+", b"op", found[2])) for found in (ask(), ask())])
        assert (root / "app.py").read_text() == "def send():\n    return 1\n"
    assert responses[1] == responses[2]
    assert responses[1][0] is not None
    assert responses[1][0][2].startswith(b"warning[recovered]")
    assert responses[0] == [responses[1][1]] * 2


def telemetry(root: Path) -> int:
    lines = root / ".bae-source/telemetry.jsonl"
    return len(lines.read_bytes().splitlines()) if lines.exists() else 0


def test_what_a_read_leaves_behind_has_the_modes_of_its_own_process(at: Place, package: Path) -> None:
    mask = os.umask(0o027)
    try:
        at.answered("grep", "encoding", folder=package)
    finally:
        os.umask(mask)
    assert {path.stat().st_mode & 0o007 for path in (package / ".bae-source").iterdir()} == {0}
    assert (package / ".bae-source").stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("sink", ["| head -c 1", "> /dev/full", "2> /dev/full"])
def test_an_answer_that_cannot_be_written_comes_to_the_same(at: Place, package: Path, sink: str) -> None:
    found = [
        subprocess.run(
            ["/bin/bash", "-c", f'set -o pipefail; "$@" {sink}', "sh", *words],
            cwd=package,
            env=environment(**variables),
            capture_output=True,
            timeout=60,
        )
        for variables in (at.variables, {})
        for words in [[*_python(), "grep", "."]]
    ]
    assert [(each.returncode, each.stdout, each.stderr) for each in found[:1]] == [
        (each.returncode, each.stdout, each.stderr) for each in found[1:]
    ]


def _python() -> list[str]:
    from tests.adapters.support import command

    return command()


def test_what_a_server_answers_is_every_query_of_one_word_that_starts_no_program() -> None:
    queries = {
        command_of(kind)
        for kind in REQUESTS
        if kind.effect is Effect.READS and kind.runner == "query" and kind.recovers and not kind.staged
        if not getattr(kind, "navigates", False)
    }
    assert {query for query in queries if " " not in query} == READS


@pytest.mark.parametrize(
    "argv",
    [
        ("edit", "pathspec.util.normalize_file", "--source", "-"),
        ("delete", "pathspec.util.normalize_file"),
        ("history",),
        ("doctor",),
        ("undo", "op_1"),
        ("tests", "run"),
        ("hook",),
        ("serve",),
        ("--root", ".", "grep", "encoding"),
    ],
    ids=" ".join,
)
def test_nothing_else_is_carried_out_whatever_a_client_sends(at: Place, package: Path, argv: tuple[str, ...]) -> None:
    assert at.response(request(*argv, folder=package)) == b"+-no read"
    assert not (package / ".bae-source").exists()
