"""Our own files lie in the git dir of this very worktree, or in the project where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.engine.registry import request
from bae_source.engine.service import Service
from bae_source.errors import Refused
from bae_source.state.binding import Place, Standing, UserState
from tests.state_folders import state_folders


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root


def test_with_git_they_lie_in_the_git_dir(repository: Path) -> None:
    folders = state_folders(repository)
    assert folders.history == repository / ".git/bae-source/history.git"
    assert folders.lock == repository / ".git/bae-source/lock"
    assert folders.staging == repository / ".git/bae-source/staging"
    assert folders.local == repository / ".bae-source"
    assert folders.project == ""


def test_without_git_they_lie_in_the_project(tmp_path: Path) -> None:
    folders = state_folders(tmp_path)
    assert folders.history == tmp_path / ".bae-source/history.git"
    assert folders.project == ""


def test_a_project_below_the_top_uses_its_repository_and_says_where_it_lies(repository: Path) -> None:
    below = repository / "services/api"
    below.mkdir(parents=True)
    folders = state_folders(below)
    assert folders.history == repository / ".git/bae-source/history.git"
    assert folders.project == "services/api"
    assert folders.local == below / ".bae-source"


def test_worktrees_do_not_share_them(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "other"))
    folders = state_folders(tmp_path / "other")
    assert folders.base == repository / ".git/worktrees/other/bae-source"


def test_a_submodule_has_its_own(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "outer")
    git(tmp_path / "outer", "submodule", "add", "-q", str(repository), "inner")
    folders = state_folders(tmp_path / "outer/inner")
    assert folders.base == tmp_path / "outer/.git/modules/inner/bae-source"
    assert folders.project == ""


@pytest.mark.parametrize("text", ["gitdir: nowhere\n", "something else", ""])
def test_a_git_file_that_leads_nowhere_counts_as_no_git(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert state_folders(tmp_path).base == tmp_path / ".bae-source"


def test_an_empty_git_folder_counts_as_no_git(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert state_folders(tmp_path).base == tmp_path / ".bae-source"


def test_a_git_dir_that_cannot_be_written_is_left_alone(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert state_folders(repository).base == repository / ".bae-source"


def test_where_they_lie_they_stay_when_a_repository_appears(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("X = 1\n")
    source = Source(tmp_path)
    source.edit("m.X", "X = 2\n", reload="off")
    git(tmp_path, "init", "-q")
    later = Source(tmp_path)
    later.edit("m.X", "X = 3\n", reload="off")
    assert not (tmp_path / ".git/bae-source").exists()
    later.undo(reload="off")
    Source(tmp_path).undo(reload="off")
    assert (tmp_path / "m.py").read_text() == "X = 1\n"


def test_what_was_cut_short_is_found_when_a_repository_appears(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("X = 1\n")
    command = [sys.executable, "-m", "bae_source", "--root", str(tmp_path)]
    mark = tmp_path / "mark"
    words = ["--root", str(tmp_path), "move", "m", "n", "--reload", "off"]
    with subprocess.Popen([sys.executable, "-m", "tests.stopping", str(mark), "0", *words]) as started:
        while not mark.exists():
            time.sleep(0.02)
        started.kill()
    git(tmp_path, "init", "-q")
    done = subprocess.run([*command, "read", "m.X"], capture_output=True, text=True, check=True)
    assert done.stdout == (tmp_path / "m.py").read_text() == "X = 1\n"
    assert "was interrupted" in done.stderr


def test_another_project_of_the_repository_does_not_take_them_along(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.py").write_text("X = 1\n")
    Source(tmp_path / "one").edit("m.X", "X = 2\n", reload="off")
    git(tmp_path, "init", "-q")
    Source(tmp_path / "other").edit("m.X", "X = 2\n", reload="off")
    assert state_folders(tmp_path / "other").base == tmp_path / ".git/bae-source"
    Source(tmp_path / "one").undo(reload="off")
    assert [(tmp_path / name / "m.py").read_text() for name in ("one", "other")] == ["X = 1\n", "X = 2\n"]


def test_a_process_that_may_not_write_the_git_dir_has_no_lock_of_its_own(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "m.py").write_text("X = 1\n")
    Source(repository).edit("m.X", "X = 2\n", reload="off")
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    assert state_folders(repository).base == repository / ".git/bae-source"


def test_an_inherited_git_dir_has_no_say(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert state_folders(repository).base == repository / ".git/bae-source"


def test_looking_creates_nothing(repository: Path, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    state_folders(plain)
    state_folders(repository)
    assert not list(plain.iterdir())
    assert not (repository / ".git/bae-source").exists()


def test_the_local_folder_ignores_itself(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    folders = state_folders(tmp_path)
    folders.make(folders.local / "cache")
    answer = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path, check=True, capture_output=True)
    assert answer.stdout == b""


def test_a_link_to_the_project_leads_to_the_same_folders(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository)
    assert state_folders(tmp_path / "link").lock == state_folders(repository).lock


def test_a_link_that_came_with_a_project_does_not_say_where_we_write(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for folder in (root, elsewhere):
        folder.mkdir()
    (root / "app.py").write_text("def send(): ...\n")
    (root / ".bae-source").symlink_to(elsewhere)
    service = Service(root, environment=os.environ)
    for verb in ("references", "read"):
        assert service.run(request(verb, {"target": "app.send"})).status == "answer"
    with pytest.raises(Refused) as refused:
        service.run(request("edit", {"target": "app.send", "old": "...", "new": "pass"}))
    assert refused.value.code == "forbidden"
    assert refused.value.hints == ("doctor says what to move away.",)
    report = service.run(request("doctor", {}))
    assert ".bae-source is a link: no change can be made" in report.text
    assert list(elsewhere.iterdir()) == []
    assert (root / "app.py").read_text() == "def send(): ...\n"


def test_a_folder_that_another_process_binds_meanwhile_is_never_taken_for_foreign(tmp_path: Path) -> None:
    users = UserState({"HOME": str(tmp_path)})
    seen: set[Standing] = set()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for number in range(100):
            seen |= _seen_while_it_is_made(tmp_path / str(number), users)
    finally:
        sys.setswitchinterval(interval)
    assert Standing.OURS in seen
    assert seen <= {Standing.ABSENT, Standing.OURS}


def _seen_while_it_is_made(served: Path, users: UserState) -> set[Standing]:
    served.mkdir()
    folder, start, seen = served / "state", threading.Barrier(2), set[Standing]()

    def make() -> None:
        start.wait()
        Place(folder, served, users).make()
        (folder / "lock").touch()

    maker = threading.Thread(target=make)
    maker.start()
    place = Place(folder, served, users)
    start.wait()
    while maker.is_alive():
        seen.add(place.standing())
    maker.join()
    return {*seen, place.standing()}
