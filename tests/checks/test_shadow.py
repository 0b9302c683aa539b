"""A copy of a project holds what the project holds, with a plan or without it, and the project is never written."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bae_source.verification import shadow
from bae_source.verification.shadow import NoShadow, Shadow, shadow_of
from tests.state_folders import state_folders

FILES = {
    "pyproject.toml": "[project]\nname = 'app'\n",
    "app/__init__.py": "",
    "app/core.py": "X = 1\n",
    "app/words.txt": "one\n",
    "app/_built.so": "\x7fELF",
    "build.py": "",
    "app.egg-info/PKG-INFO": "Name: app\n",
    ".hidden": "x\n",
}
LEFT_OUT = (
    ".git/HEAD",
    ".venv/pyvenv.cfg",
    ".venv/lib/x.py",
    "env/pyvenv.cfg",
    "env/bin/python",
    "build/lib/app.py",
    "dist/app.whl",
    "app/__pycache__/core.pyc",
    ".mypy_cache/x",
    "cache/CACHEDIR.TAG",
    "node_modules/x.js",
)
KEPT = ("build_tools/build/x.py", "app/dist/y.py")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "my app"
    for path, text in {**FILES, **dict.fromkeys((*LEFT_OUT, *KEPT), "")}.items():
        put(root / path, text)
    old = time.time() - 100
    for file in root.rglob("*"):
        os.utime(file, (old, old))
    return root


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Iterator[Shadow]:
    was = content_of(root)
    (tmp_path / "slot").mkdir()
    yield Shadow(root, tmp_path / "slot")
    assert content_of(root) == was or root.name == "changed"


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def content_of(root: Path) -> dict[str, bytes]:
    files = (file for file in root.rglob("*") if file.is_file())
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}


def files_of(copy: Shadow) -> dict[str, bytes]:
    return {path: content for path, content in content_of(copy.root).items() if path != ".git"}


def expected(**changed: str | None) -> dict[str, bytes]:
    files = {**FILES, **dict.fromkeys(KEPT, ""), **changed}
    return {path: text.encode() for path, text in files.items() if text is not None}


def test_a_copy_has_the_projects_files_but_for_environments_caches_and_build_output(copy: Shadow) -> None:
    copy.bring_up({})
    assert files_of(copy) == expected()
    assert copy.root.name == "my app"


def test_a_copy_has_the_planned_text_and_then_the_projects_own_again(copy: Shadow) -> None:
    plan = {"app/core.py": b"X = 2\n", "app/words.txt": None, "app/sub/new.py": b""}
    for _ in range(2):
        copy.bring_up(plan)
        assert files_of(copy) == {
            **expected(**{"app/words.txt": None}),
            "app/core.py": b"X = 2\n",
            "app/sub/new.py": b"",
        }
    copy.bring_up({})
    assert files_of(copy) == expected()
    assert not (copy.root / "app/sub").exists()


def test_a_folder_may_become_a_file_and_a_file_a_folder(copy: Shadow) -> None:
    copy.bring_up(
        {"app/core.py": None, "app/core.py/x.py": b"", "build_tools/build/x.py": None, "build_tools/build": b""}
    )
    assert (copy.root / "app/core.py/x.py").is_file()
    assert (copy.root / "build_tools/build").is_file()
    copy.bring_up({})
    assert files_of(copy) == expected()


def test_what_changed_in_the_project_or_in_the_copy_is_made_anew(root: Path, tmp_path: Path) -> None:
    (tmp_path / "slot").mkdir()
    copy = Shadow(root, tmp_path / "slot")
    copy.bring_up({})
    put(root / "app/core.py", "X = 3\n")
    put(root / "app/more.py", "")
    (root / ".hidden").unlink()
    put(copy.root / "app/words.txt", "two\n")
    put(copy.root / "rubbish/x.py", "")
    (copy.root / "app/__init__.py").unlink()
    copy = Shadow(root, tmp_path / "slot")  # as another process has it
    copy.bring_up({})
    assert files_of(copy) == expected(**{"app/core.py": "X = 3\n", "app/more.py": "", ".hidden": None})


def test_an_edit_of_the_same_size_and_time_is_seen(root: Path, tmp_path: Path) -> None:
    (tmp_path / "slot").mkdir()
    copy = Shadow(root, tmp_path / "slot")
    for number in range(5):
        put(root / "app/core.py", f"X = {number}\n")
        os.utime(root / "app/core.py", (1_700_000_000, 1_700_000_000))
        copy.bring_up({})
        assert (copy.root / "app/core.py").read_text() == f"X = {number}\n"


def test_only_what_changed_is_written(root: Path, copy: Shadow) -> None:
    copy.bring_up({})
    numbers: list[tuple[int, int]] = []
    again = Shadow(root, copy.root.parent, lambda number, of: numbers.append((number, of)))
    time.sleep(2.1)  # the files' times of change are young
    again.bring_up({})
    before = {file: file.stat().st_ino for file in copy.root.rglob("*") if file.name != ".git"}  # which is always made
    numbers.clear()
    again.bring_up({"app/core.py": b"X = 2\n"})
    assert numbers == [(0, 1)]
    after = {file: file.stat().st_ino for file in before}
    assert [file.name for file in after if after[file] != before[file]] in (["core.py"], [])


def test_compiled_files_stay_beside_the_sources_and_go_with_the_text_they_are_of(copy: Shadow) -> None:
    code = "import app.core; print(app.core.X, app.core.__spec__.cached)"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run() -> str:
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=copy.root, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.split()[0]

    for number in (2, 3, 1):
        copy.bring_up({"app/core.py": f"X = {number}\n".encode()} if number > 1 else {})
        compiled = list((copy.root / "app/__pycache__").glob("core.*"))
        assert compiled == []
        assert run() == str(number)
        assert list((copy.root / "app/__pycache__").glob("__init__.*"))


def test_links_stay_inside_and_modes_are_kept(root: Path, copy: Shadow, tmp_path: Path) -> None:
    put(tmp_path / "outside.txt", "secret")
    links = {
        "near": "app/words.txt",
        "folder": "app",
        "far": "../outside.txt",
        "out": str(tmp_path),
        "absolute": str(root / "app"),
        "dead": "nothing",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    put(root / "run", "#!/bin/sh\n")
    (root / "run").chmod(0o755)
    os.mkfifo(root / "pipe")
    copy.bring_up({"run": b"#!/bin/sh\nexit 1\n"})
    assert {path.name for path in copy.root.iterdir() if path.is_symlink()} == {"near", "folder", "absolute"}
    for name in ("near", "folder", "absolute"):
        assert copy.root in (copy.root / name).resolve().parents
    assert not (copy.root / "pipe").exists()
    assert stat.S_IMODE((copy.root / "run").stat().st_mode) == 0o755
    copy.bring_up({})
    assert (copy.root / "run").read_text() == "#!/bin/sh\n"
    for path in [*links, "run", "pipe"]:
        (root / path).unlink()


def test_git_finds_no_repository_in_a_copy_and_none_above(root: Path) -> None:
    shutil.rmtree(root / ".git")
    subprocess.run(["git", "init", "-q", root], check=True)
    with shadow_of(state_folders(root)) as copy:
        copy.bring_up({})
        found = subprocess.run(["git", "status"], cwd=copy.root / "app", capture_output=True, text=True, check=False)
        assert (found.returncode, found.stdout) == (128, "")
        assert "not a git repository" in found.stderr
        status = subprocess.run(["git", "status", "--short"], cwd=root, capture_output=True, text=True, check=True)
        assert "shadow" not in status.stdout


@pytest.mark.parametrize("left", ["a repository", "a link", "a link to a folder", "nothing"])
def test_what_tests_leave_in_the_place_of_the_repository_is_gone_the_next_time(
    copy: Shadow, tmp_path: Path, left: str
) -> None:
    copy.bring_up({})
    git, outside = copy.root / ".git", tmp_path / "outside"
    put(outside / "kept", "kept")
    usual = git.read_bytes()
    git.unlink()
    if left == "a repository":
        subprocess.run(["git", "init", "-q", copy.root], check=True)
    elif left != "nothing":
        git.symlink_to(outside / "kept" if left == "a link" else outside)
    copy.bring_up({})
    assert not git.is_symlink()
    assert git.read_bytes() == usual
    assert content_of(outside) == {"kept": b"kept"}


@pytest.mark.parametrize("ignored", [True, False])
def test_a_linter_finds_what_is_wrong_in_a_copy_wherever_it_lies(root: Path, ignored: bool) -> None:
    shutil.rmtree(root / ".git")
    folders = state_folders(root)
    if ignored:
        folders.make(folders.history)  # before there is a repository: it lies in the project, and ignores itself
    subprocess.run(["git", "init", "-q", root], check=True)
    with shadow_of(state_folders(root)) as copy:
        assert (".bae-source" in copy.root.parts) == ignored
        copy.bring_up({"app/core.py": b"import os\n"})
        checked = subprocess.run([sys.executable, "-m", "ruff", "check", "--isolated", "."], cwd=copy.root, check=False)
        assert checked.returncode == 1


def test_two_processes_have_a_copy_each_and_the_next_one_takes_that_which_is_free(root: Path) -> None:
    shutil.rmtree(root / ".git")
    folders = state_folders(root)
    with shadow_of(folders) as first, shadow_of(folders) as second:
        assert first.root != second.root
        first.bring_up({"app/core.py": b"1"})
        second.bring_up({"app/core.py": b"2"})
        assert (first.root / "app/core.py").read_bytes() == b"1"
    with shadow_of(folders) as third:
        assert third.root == first.root
        third.bring_up({})
        assert files_of(third) == expected()


def test_where_there_can_be_no_copy_the_error_has_the_reason(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(root / ".git")
    monkeypatch.setattr(shadow, "MOST_COPIES", 1)
    folders = state_folders(root)
    with shadow_of(folders), pytest.raises(NoShadow, match="1 other processes verify"), shadow_of(folders):
        pass

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfile", full)
    with shadow_of(folders) as copy, pytest.raises(NoShadow, match="no space left on device"):
        copy.bring_up({})


def test_projects_of_one_repository_have_copies_of_their_own(root: Path) -> None:
    shutil.rmtree(root / ".git")
    subprocess.run(["git", "init", "-q", root], check=True)
    put(root / "sub/pyproject.toml", "")
    with shadow_of(state_folders(root)) as whole, shadow_of(state_folders(root / "sub")) as part:
        assert whole.root.parent != part.root.parent
        part.bring_up({})
        assert list(files_of(part)) == ["pyproject.toml"]


def test_a_file_that_goes_while_the_project_is_copied_is_left_out(
    root: Path, copy: Shadow, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root / "app/going.txt", "")
    copied, copyfile = list[str](), shutil.copyfile

    def late(source: str, *rest: Any, **more: Any) -> object:
        copied.append(str(source))
        (root / "app/going.txt").unlink(missing_ok=True)
        return copyfile(source, *rest, **more)

    monkeypatch.setattr(shutil, "copyfile", late)
    copy.bring_up({})
    assert copied
    assert files_of(copy) == expected()


def test_a_plan_that_goes_through_a_link_is_written_behind_it(root: Path, copy: Shadow) -> None:
    (root / "app/again.py").symlink_to("core.py")
    copy.bring_up({"app/again.py": b"X = 9\n"})
    assert (copy.root / "app/core.py").read_bytes() == b"X = 9\n"
    assert (copy.root / "app/again.py").is_symlink()
    (root / "app/again.py").unlink()


def test_files_that_changed_in_the_project_since_are_named_but_for_the_plan(root: Path, tmp_path: Path) -> None:
    (tmp_path / "slot").mkdir()
    copy = Shadow(root, tmp_path / "slot")
    copy.bring_up({"app/core.py": b""})
    assert copy.changed() == []
    put(root / "app/core.py", "X = 5\n")
    put(root / "app/more.py", "")
    (root / ".hidden").unlink()
    assert copy.changed() == [".hidden", "app/more.py"]


@pytest.mark.parametrize("place", ["", "/{id}", "/{id}/1", "/{id}/1/my app", "/{id}/1/caches"])
def test_no_link_in_our_state_is_followed(root: Path, tmp_path: Path, place: str) -> None:
    shutil.rmtree(root / ".git")
    folders = state_folders(root)
    folders.make(folders.base)
    victim = tmp_path / "victim"
    put(victim / "my app/keep", "precious")
    link = folders.base / f"shadow{place}".format(id=(folders.id or "")[:12])
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(victim)
    with pytest.raises(NoShadow), shadow_of(folders) as copy:
        copy.bring_up({})
    assert content_of(victim) == {"my app/keep": b"precious"}
