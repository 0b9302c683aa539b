"""Whatever stands where a file or a folder of ours belongs: nothing waits for it, and nothing is changed halfway."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import ResourceError
from bae_source.history.record.history import HISTORY_LOCK
from tests.state_folders import adopted, state_folders
from tests.transaction.support import Project
from tests.transaction.test_recovery import crashed

KINDS: dict[str, Callable[[Path], object]] = {
    "a FIFO": os.mkfifo,
    "a folder": os.mkdir,
    "a file": lambda path: path.write_text("something else\n"),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
}
FOLDERS = ("staging", "pending", "history.git", "history.1.git")
FILES = ("journal", "lock", HISTORY_LOCK, ".gitignore", "telemetry.jsonl")
OLD, NOW, NEW = (f"def f():\n    return {number}\n" for number in (1, 2, 3))


@pytest.fixture(autouse=True)
def _impatience() -> Iterator[None]:
    """Fail a test that waits for something that will never come."""

    def give_up(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one change in its history."""
    root = tmp_path_factory.mktemp("model") / "p"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg/__init__.py").write_text("")
    (root / "pkg/m.py").write_text(OLD)
    Source(root).edit("pkg.m.f", old="1", new="2", reload="off")
    return root


def beset(model: Path, root: Path, name: str, kind: str) -> Path:
    """Return a copy of the project in which this stands at a name of ours."""
    shutil.copytree(model, root, symlinks=True)
    adopted(root)
    place = state_folders(root).base / name
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    KINDS[kind](place)
    return root


def theirs(root: Path) -> dict[str, str]:
    """Return what the project holds, without what is ours."""
    files = (path for path in root.rglob("*") if path.is_file() and ".bae-source" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_text() for path in files}


CASES = [
    *((name, kind) for name in (*FILES, *FOLDERS) for kind in ("a FIFO", "a link to a device")),
    *((name, "a folder") for name in FILES),
    *((name, "a file") for name in ("journal", *FOLDERS)),
]
REFUSED = ("journal", "lock", "staging")
"""Names without which no change can be made; whatever else is amiss, it is made, though perhaps not recorded."""


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_whatever_stands_at_a_name_of_ours_a_change_is_made_or_refused(
    model: Path, tmp_path: Path, name: str, kind: str
) -> None:
    root = beset(model, tmp_path / "p", name, kind)
    source = Source(root)
    assert source.read("pkg.m.f") == NOW
    codes = {trouble.code for trouble in source.doctor().outcome.found}
    problem = problem_of(lambda: source.edit("pkg.m.f", old="2", new="3", reload="off"))
    made = NOW if problem else NEW
    assert theirs(root) == {"pkg/__init__.py": "", "pkg/m.py": made}
    assert source.read("pkg.m.f") == made
    assert bool(problem) == (name in REFUSED)
    if problem:
        assert problem.code == "forbidden"
        assert "nothing was changed" in problem.message
        assert any("doctor" in hint or name in hint for hint in problem.hints)
        assert codes & {"state_not_writable", "journal_unreadable"}
    problem = problem_of(lambda: source.undo(reload="off"))
    assert problem is None or problem.code in ("forbidden", "nothing_to_undo", "undo_conflict")
    assert theirs(root)["pkg/m.py"] == (made if problem else NOW if made == NEW else OLD)


def problem_of(call: Callable[[], object]) -> ResourceError | None:
    try:
        call()
    except ResourceError as error:
        return error
    return None


def test_the_command_line_does_not_wait_for_a_journal_that_is_a_fifo(model: Path, tmp_path: Path) -> None:
    root = beset(model, tmp_path / "p", "journal", "a FIFO")
    words = [sys.executable, "-m", "bae_source", "read", "pkg.m.f", "--root", str(root)]
    assert subprocess.run(words, capture_output=True, text=True, timeout=30, check=True).stdout == NOW


@pytest.mark.parametrize("kind", KINDS)
def test_a_crashed_change_is_taken_back_once_the_way_is_free(tmp_path: Path, kind: str) -> None:
    project = Project(tmp_path / "p")
    project.write("a.py", b"A = 1\n")
    crashed(project, {"a.py": b"A = 2\n", "b.py": b"B = 2\n"})
    place = project.folders.lock
    place.unlink()
    KINDS[kind](place)
    notices = [notice.code for notice in project.transactions.recover()]
    if kind == "a file":
        assert notices == ["recovered"]
    else:
        assert notices == ["recovery_failed"]
        assert project.content("a.py") == b"A = 2\n"
        place.rmdir() if kind == "a folder" else place.unlink()
        assert [notice.code for notice in project.transactions.recover()] == ["recovered"]
    assert project.content("a.py") == b"A = 1\n"


@pytest.mark.parametrize("kind", ["a FIFO", "a folder", "a link to a device"])
def test_what_waits_to_be_recorded_is_passed_over_where_it_is_no_file(model: Path, tmp_path: Path, kind: str) -> None:
    root = adopted(shutil.copytree(model, tmp_path / "p"))
    pending = state_folders(root).pending
    pending.mkdir(exist_ok=True)
    KINDS[kind](pending / "00000000000000000001-op_0")
    source = Source(root)
    source.edit("pkg.m.f", old="2", new="3", reload="off")
    source.undo(reload="off")
    assert theirs(root)["pkg/m.py"] == NOW


@pytest.mark.parametrize("ours", [True, False])
def test_a_link_in_place_of_what_we_write_leads_to_nothing_that_is_written(
    model: Path, tmp_path: Path, ours: bool
) -> None:
    root = adopted(shutil.copytree(model, tmp_path / "p"))
    for path in (root / ".bae-source").iterdir():
        if path.name != "id" or not ours:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in (*FILES, *FOLDERS):
        (root / ".bae-source" / name).symlink_to(tmp_path / f"elsewhere-{name}")
    source = Source(root)
    assert source.read("pkg.m.f") == NOW
    with pytest.raises(ResourceError):
        source.edit("pkg.m.f", old="2", new="3", reload="off")
    assert [path.name for path in tmp_path.iterdir()] == ["p"]
