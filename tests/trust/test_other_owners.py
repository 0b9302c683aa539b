"""Files of other users: a change keeps their owner, or its outcome says whose they are now; with real users."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.support import command, environment
from tests.another_user import NOBODY, AnotherUser

pytestmark = [
    pytest.mark.sampled,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to other users"),
]

OWNER = 1234
FILES = {
    "pyproject.toml": '[project]\nname = "app"\nversion = "1"\n',
    "app/__init__.py": "",
    "app/m.py": "def f():\n    return 1\n",
    "app/n.py": "def g():\n    return 1\n",
}
EDIT = ("edit", "app.m.f", "--old", "return 1", "--new", "return 2", "--json")
NOTICE = (
    "belongs to user 65534 and group 65534 now: it was user 1234 and group 65534, and only root may give a file to "
    "another user. If that matters, have root set the owner again."
)


@pytest.fixture
def project(open_folder: Path) -> Path:
    """A project in which a group works together, with files of one of its members."""
    root = open_folder / "project"
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        path.chmod(0o664)
    for folder, _, names in os.walk(root):
        for path in (Path(folder), *(Path(folder, name) for name in names)):
            os.chown(path, OWNER, NOBODY)
        Path(folder).chmod(0o775)
    return root


def owner(path: Path) -> tuple[int, int]:
    return path.stat().st_uid, path.stat().st_gid


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def notices(out: bytes, code: str = "owner_changed") -> list[str]:
    """Return the messages of an answer in JSON that have this code."""
    return [each["message"] for each in json.loads(out)["warnings"] if each["code"] == code]


def as_root(root: Path, *argv: str, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*prefix, *command(*argv)], cwd=root, env=environment(), capture_output=True, timeout=60)


@pytest.mark.parametrize("bits", [0o664, 0o600, 0o4755, 0o2775])
def test_a_file_that_root_changes_stays_its_owners(project: Path, bits: int) -> None:
    file = project / "app/m.py"
    file.chmod(bits)
    for argv in EDIT, ("undo", "--json"), ("redo", "--json"):
        done = as_root(project, *argv)
        assert done.returncode == 0, done.stdout
        assert notices(done.stdout) == []
        assert (owner(file), mode(file)) == ((OWNER, NOBODY), bits), argv
    assert "return 2" in file.read_text()


def test_a_file_that_another_user_changes_becomes_theirs_with_a_notice(
    project: Path, another_user: AnotherUser
) -> None:
    file = project / "app/m.py"
    done = another_user.run("-m", "bae_source", *EDIT, folder=project)
    assert done.returncode == 0, done.stdout
    assert "return 2" in file.read_text()
    assert (owner(file), mode(file)) == ((NOBODY, NOBODY), 0o664)
    assert notices(done.stdout) == [f"app.m {NOTICE}"]
    again = another_user.run("-m", "bae_source", *EDIT[:3], "return 2", "--new", "return 3", "--json", folder=project)
    assert (again.returncode, notices(again.stdout)) == (0, [])


def test_several_files_have_one_notice(project: Path, another_user: AnotherUser) -> None:
    changes = [{"do": "edit", "target": f"app.{name}", "old": "return 1", "new": "return 2"} for name in ("m.f", "n.g")]
    (project / "changes.json").write_text(json.dumps({"requests": changes}))
    done = another_user.run("-m", "bae_source", "apply", "changes.json", "--json", folder=project)
    assert done.returncode == 0, done.stdout
    assert notices(done.stdout) == [f"app.m, app.n {NOTICE.replace('belongs', 'belong')}"]


def test_a_moved_file_of_another_user_has_a_notice_under_its_new_name(project: Path, another_user: AnotherUser) -> None:
    done = another_user.run("-m", "bae_source", "move", "app.m", "app.moved", "--json", folder=project)
    assert done.returncode == 0, done.stdout
    assert notices(done.stdout) == [f"app.moved {NOTICE}"]
    assert owner(project / "app/moved.py") == (NOBODY, NOBODY)


def test_a_deleted_file_of_another_user_that_comes_back_has_a_notice(project: Path, another_user: AnotherUser) -> None:
    for argv, expected in (["delete", "app.m"], []), (["undo"], [f"app.m {NOTICE}"]):
        done = another_user.run("-m", "bae_source", *argv, "--json", folder=project)
        assert (done.returncode, notices(done.stdout)) == (0, expected), done.stdout
    assert (project / "app/m.py").read_text() == FILES["app/m.py"]


@pytest.mark.parametrize(("bits", "left"), [(0o4775, 0o775), (0o6775, 0o2775), (0o2775, 0o2775)])
def test_rights_that_a_file_lends_do_not_become_those_of_who_changes_it(
    project: Path, another_user: AnotherUser, bits: int, left: int
) -> None:
    file = project / "app/m.py"
    file.chmod(bits)
    done = another_user.run("-m", "bae_source", *EDIT, folder=project)
    assert done.returncode == 0, done.stdout
    assert (owner(file), mode(file)) == ((NOBODY, NOBODY), left)


def test_a_change_that_is_taken_back_leaves_the_file_its_owners(project: Path, another_user: AnotherUser) -> None:
    file = project / "app/m.py"
    before = file.stat()
    done = another_user.run("-m", "bae_source", *EDIT, "--verify", "command false", folder=project)
    assert done.returncode == 6, done.stdout
    after = file.stat()
    assert (after.st_uid, after.st_ino, after.st_mode) == (before.st_uid, before.st_ino, before.st_mode)
    assert file.read_text() == FILES["app/m.py"]


def test_a_file_that_only_its_owner_may_write_is_refused(project: Path, another_user: AnotherUser) -> None:
    (project / "app/m.py").chmod(0o644)
    done = another_user.run("-m", "bae_source", *EDIT, folder=project)
    assert done.returncode == 5
    assert json.loads(done.stdout)["errors"][0]["message"] == "app.m is read-only."
    assert owner(project / "app/m.py") == (OWNER, NOBODY)


def test_a_root_that_may_not_be_entered_is_refused_in_a_sentence(project: Path, another_user: AnotherUser) -> None:
    project.chmod(0o700)
    asked = {
        "read": ("-m", "bae_source", "--root", f"{project}/app", "read", "app.m"),
        "session": ("-c", "import sys; from bae_source import Session; Session(sys.argv[1])", f"{project}/app"),
    }
    for way, words in asked.items():
        done = another_user.run(*words, folder=project.parent)
        assert f"The root '{project}/app' is no folder." in done.stderr.decode(), way
        assert done.returncode == (2 if way == "read" else 1)
        assert b"PermissionError" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="rights of root are given up one by one on Linux only")
def test_root_that_may_not_give_files_away_gets_the_notice_too(project: Path) -> None:
    code = "import ctypes, os, sys; ctypes.CDLL(None).prctl(24, 0, 0, 0, 0); os.execv(sys.argv[1], sys.argv[1:])"
    done = as_root(project, *EDIT, prefix=(sys.executable, "-c", code))  # PR_CAPBSET_DROP, CAP_CHOWN
    assert done.returncode == 0, done.stdout
    [message] = notices(done.stdout)
    assert message.startswith("app.m belongs to user 0 and group 0 now: it was user 1234 and group 65534")
