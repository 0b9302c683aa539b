"""Operations are commits in a repository of our own; nothing of the user's is read, run or changed."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace

from bae_source.errors import HistoryError
from bae_source.history.record.entry import Entry, TouchedFile
from bae_source.history.record.history import REF, History, HistoryUnavailable
from bae_source.model.changeset import between, digest
from tests.transaction.support import PATH, Project, ids

ROOT = Path(__file__).parents[2]


def git(folder: Path, *arguments: str, **environment: str) -> bytes:
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, env=os.environ | environment
    ).stdout


def entry(number: int, before: dict[str, bytes | None], after: dict[str, bytes | None], who: str = "me") -> Entry:
    files = tuple(
        TouchedFile(path=path, name=path, before=_digest(before.get(path)), after=_digest(after.get(path)))
        for path in sorted(before.keys() | after.keys())
    )
    when = f"2026-11-21T12:00:{number % 60:02d}+00:00"
    return Entry(id=f"op_{number:02d}", kind="change", who=who, when=when, summary="edit", files=files)


def _digest(content: bytes | None) -> str | None:
    return None if content is None else digest(content)


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history.git", search_path=PATH)


def test_what_is_recorded_comes_back_newest_first(history: History) -> None:
    for number in range(3):
        history.record(entry(number, {"a.py": b"1"}, {"a.py": b"2"}), {"a.py": b"1"}, {"a.py": b"2"})
    assert ids(history.entries()) == ["op_02", "op_01", "op_00"]
    assert ids(history.entries(limit=2)) == ["op_02", "op_01"]


@pytest.mark.parametrize("content", [b"", b"x", b"a\r\nb\n", bytes(range(256)), b"data 3\nabc"])
def test_every_byte_of_every_path_comes_back(tmp_path: Path, content: bytes) -> None:
    paths = [
        "a.py", "tief/ünïcode.py", "with space.py", 'quote".py', "back\\slash.py", "new\nline.py", "tab\t.py", "-x.py",
    ]  # fmt: skip
    before: dict[str, bytes | None] = dict.fromkeys(paths)
    after: dict[str, bytes | None] = {"only": content, **{path: path.encode() + content for path in paths}}
    history = History(tmp_path / "h.git", search_path=PATH)
    made = entry(1, before | {"only": None}, after)
    history.record(made, before | {"only": None}, after)
    assert history.contents(made) == (before | {"only": None}, after)
    assert History(tmp_path / "h.git", search_path=PATH).entries() == (made,)


def test_the_request_comes_with_a_single_operation(history: History) -> None:
    request = {"do": "edit", "target": "m.f", "new_source": "def f(): ...\n# ünï \0 \u2028"}
    made = replace(entry(1, {}, {"a": b""}), request=request, why="two\nlines \0 and ünïcode")
    history.record(made, {}, {"a": b""})
    (found,) = history.entries()
    assert (found.request, found.why) == ({}, made.why)
    assert history.whole(found) == made


def test_changes_lead_from_before_to_after_and_back(history: History) -> None:
    before: dict[str, bytes | None] = {"a.py": b"one two three", "gone.py": b"x", "same": b"s", "e.py": None}
    after: dict[str, bytes | None] = {
        "a.py": b"one 2 three",
        "gone.py": None,
        "new.py": b"n",
        "same": b"s",
        "e.py": b"",
    }
    made = entry(1, before, after)
    history.record(made, before, after)
    changes = history.changes(made)
    assert [change.path for change in changes.files] == ["a.py", "e.py", "gone.py", "new.py"]
    assert changes.files[0].edits[0].old == b"two"
    for change in changes.files:
        assert change.apply(before.get(change.path) or b"") == (after.get(change.path) or b"")
    for change in between(after, before).files:
        assert change.apply(after.get(change.path) or b"") == (before.get(change.path) or b"")


@pytest.mark.parametrize(
    "pair", [(b"aaa", b"aa"), (b"aa", b"aaa"), (b"abab", b"ab"), (b"", b"x"), (b"x", b""), (b"ab", b"ba")]
)
def test_the_edit_between_two_contents_is_right_where_head_and_tail_overlap(pair: tuple[bytes, bytes]) -> None:
    (change,) = between({"f": pair[0]}, {"f": pair[1]}).files
    assert change.apply(pair[0]) == pair[1]


def test_an_id_may_be_shortened_while_it_is_unique(history: History) -> None:
    for number in (100010, 100011, 200020):
        history.record(entry(number, {}, {"a": b""}), {}, {"a": b""})
    assert history.entry("op_2000").id == "op_200020"
    with pytest.raises(HistoryError, match="2 operations begin with 'op_1000'") as caught:
        history.entry("op_1000")
    assert caught.value.candidates == ("op_100011", "op_100010")
    with pytest.raises(HistoryError, match="No operation has the id 'op_200'; the beginning of one needs") as caught:
        history.entry("op_200")  # too short to be meant
    assert caught.value.candidates == ("op_200020",)
    with pytest.raises(HistoryError, match="No operation has the id 'nope'"):
        history.entry("nope")
    with pytest.raises(HistoryError, match="No operation"):
        history.entry("")


def test_projects_of_one_repository_do_not_see_each_others_operations(tmp_path: Path) -> None:
    first = History(tmp_path / "h.git", project="a", search_path=PATH)
    second = History(tmp_path / "h.git", project="b", search_path=PATH)
    first.record(entry(1, {}, {"x": b""}), {}, {"x": b""})
    second.record(entry(2, {}, {"x": b""}), {}, {"x": b""})
    assert ids(first.entries()) == ["op_01"]
    assert ids(second.entries()) == ["op_02"]


def test_a_damaged_history_is_never_taken_for_the_truth(history: History) -> None:
    made = entry(1, {}, {"x": b"right"})
    history.record(made, {}, {"x": b"wrong"})
    with pytest.raises(HistoryError, match="damaged") as caught:
        history.contents(made)
    assert caught.value.code == "handle_expired"


@pytest.mark.parametrize("damage", ["pack", "ref", "commit"])
def test_a_history_that_git_cannot_read_is_reported_and_so_is_recording(
    history: History, tmp_path: Path, damage: str
) -> None:
    made = entry(1, {}, {"x": b"right"})
    history.record(made, {}, {"x": b"right"})
    assert history.entries() == (made,)
    (pack,) = (tmp_path / "history.git").rglob("*.pack")
    if damage == "pack":
        pack.chmod(0o600)
        pack.write_bytes(pack.read_bytes()[:40])
    elif damage == "ref":
        (tmp_path / "history.git" / REF).write_text("nonsense\n")
    else:
        (tmp_path / "history.git" / REF).write_text("1" * 40 + "\n")
    fresh = History(tmp_path / "history.git", search_path=PATH)
    with pytest.raises(HistoryError, match="There is no history: git could not") as caught:
        fresh.entries()
    assert str(tmp_path) not in str(caught.value)
    assert "history.git out of the way" in caught.value.hints[0]
    fresh.record(entry(2, {}, {}), {}, {})
    with pytest.raises(HistoryError, match="There is no history: git could not"):
        fresh.entries()
    assert len(list((tmp_path / "pending").iterdir())) == 1, "it waits"
    assert not list(tmp_path.rglob("*crash*")), "what git reports of it is of no use to anybody"


def test_a_history_that_is_no_folder_is_reported_and_so_is_recording(tmp_path: Path) -> None:
    (tmp_path / "history.git").write_text("a file")
    history = History(tmp_path / "history.git", search_path=PATH)
    with pytest.raises(HistoryError, match=r"There is no history: its files cannot be read \(Not a directory\)"):
        history.entries()
    history.record(entry(1, {}, {}), {}, {})
    with pytest.raises(HistoryError, match=r"There is no history: its folder cannot be used \(Not a directory\)"):
        history.entries()
    assert (tmp_path / "history.git").read_text() == "a file"


def test_what_git_itself_does_to_its_repository_does_no_harm(history: History, tmp_path: Path) -> None:
    for number in range(3):
        history.record(entry(number, {}, {"a": b"%d" % number}), {}, {"a": b"%d" % number})
    assert len(history.entries()) == 3
    git(tmp_path / "history.git", "gc", "--quiet", "--prune=now")
    assert not (tmp_path / "history.git" / REF).exists(), "it is in packed-refs now"
    assert ids(history.entries()) == ["op_02", "op_01", "op_00"]
    history.record(entry(3, {}, {"a": b"3"}), {}, {"a": b"3"})
    assert [history.contents(each)[1] for each in history.entries()] == [{"a": b"%d" % n} for n in (3, 2, 1, 0)]


def test_an_entry_of_a_later_version_is_passed_over(history: History) -> None:
    history.record(entry(1, {}, {"x": b""}), {}, {"x": b""})
    strange = Entry(id="op_02", kind="merge", who="x", when="2026-11-21T12:00:00+00:00", summary="", files=())  # type: ignore[arg-type]
    history.record(strange, {}, {})
    assert ids(history.entries()) == ["op_01"]


def test_nothing_recorded_is_an_empty_history(history: History) -> None:
    assert history.entries() == ()


@pytest.mark.parametrize("recorded", [False, True])
def test_without_git_reading_says_so(tmp_path: Path, recorded: bool) -> None:
    if recorded:
        History(tmp_path / "h.git", search_path=PATH).record(entry(1, {}, {}), {}, {})
    history = History(tmp_path / "h.git", search_path="")
    with pytest.raises(HistoryError, match=r"There is no history: git is not installed\.") as caught:
        history.entries()
    assert caught.value.code == "nothing_to_undo"
    with pytest.raises(HistoryUnavailable, match="git is not installed"):
        history.record(entry(1, {}, {}), {}, {})


def test_importing_gitpython_starts_no_git_and_leaves_the_environment_as_it_was(tmp_path: Path) -> None:
    History(tmp_path / "h.git", search_path=PATH).record(entry(1, {}, {}), {}, {})
    for name in ("bin/git", "named"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\ntouch {shlex.quote(str(tmp_path))}/mark\n")
        (tmp_path / name).chmod(0o755)
    code = (
        "import os, sys; from pathlib import Path\n"
        "from bae_source.history.record.history import History\n"
        "before = dict(os.environ)\n"
        f"print([e.id for e in History(Path({str(tmp_path / 'h.git')!r}), search_path={PATH!r})])\n"
        "print(dict(os.environ) == before, __import__('git').Git.GIT_PYTHON_GIT_EXECUTABLE)"
    )
    environment = {"PATH": str(tmp_path / "bin"), "GIT_PYTHON_GIT_EXECUTABLE": str(tmp_path / "named"), "GIT_DIR": "x"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == ["['op_01']", f"True {tmp_path / 'named'}"]
    assert not (tmp_path / "mark").exists()


def test_a_read_leaves_no_git_behind(history: History) -> None:
    for number in range(70):
        history.record(entry(number, {}, {"a": b"1"}), {}, {"a": b"1"})
    children = Path(f"/proc/self/task/{threading.get_native_id()}/children")
    before = children.read_text().split() if children.exists() else []
    walk = history.walk()
    found = next(walk)
    history.contents(found)
    assert not children.exists() or set(children.read_text().split()) <= set(before)


def test_recording_does_not_import_gitpython_and_reading_does(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "import bae_source.history.travel.commands, bae_source.transaction.commit.transaction\n"
        "from bae_source.history.record.history import History\n"
        "from tests.transaction.test_history import entry\n"
        f"history = History(Path({str(tmp_path / 'h.git')!r}), search_path={PATH!r})\n"
        "history.record(entry(1, {}, {}), {}, {})\n"
        "print('git' in sys.modules, len(history.entries()), 'git' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert done.stdout == b"False 1 True\n"


# --- the user's own repository ---------------------------------------------------------------------------------------


@pytest.fixture
def hostile(tmp_path: Path) -> tuple[Path, Path]:
    """A repository with work in progress, configured to run a script at every turn; and the mark the script leaves."""
    root, mark, home = tmp_path / "repo", tmp_path / "mark", tmp_path / "home"
    home.mkdir()
    git(tmp_path, "init", "-q", "repo")
    identity = {
        "GIT_AUTHOR_NAME": "u",
        "GIT_AUTHOR_EMAIL": "u@u",
        "GIT_COMMITTER_NAME": "u",
        "GIT_COMMITTER_EMAIL": "u@u",
    }
    (root / "a.py").write_bytes(b"A = 1\n")
    (root / "b.py").write_bytes(b"B = 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first", **identity)
    (root / "b.py").write_bytes(b"B = 'stashed'\n")
    git(root, "stash", "-q", **identity)
    (root / "b.py").write_bytes(b"B = 'staged'\n")
    git(root, "add", "b.py")
    script = tmp_path / "script"
    script.write_text(f'#!/bin/sh\necho "$0 $*" >> {shlex.quote(str(mark))}\n')
    script.chmod(0o755)
    hooks = root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
        "post-update",
    ):
        (hooks / name).symlink_to(script)
    config = (
        f"[core]\n fsmonitor = {script}\n hooksPath = {hooks}\n editor = {script}\n pager = {script}\n"
        f"[commit]\n gpgSign = true\n[gpg]\n program = {script}\n[user]\n signingKey = x\n"
        f'[filter "f"]\n clean = {script}\n smudge = {script}\n[diff]\n external = {script}\n'
    )
    with (root / ".git/config").open("a") as stream:
        stream.write(config)
    (root / ".gitattributes").write_text("*.py filter=f\n")
    (home / ".gitconfig").write_text(config)
    return root, mark


def photograph(root: Path) -> dict[str, str]:
    """Digest of every file of the user's git dir."""
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((root / ".git").rglob("*"))
        if path.is_file() and "bae-source" not in path.parts
    }


def asked(root: Path) -> list[bytes]:
    quiet = [
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
        "-c",
        "core.pager=cat",
        "--no-optional-locks",
    ]
    return [
        git(root, *quiet, *command)
        for command in (
            ["stash", "list"], ["log", "--all", "--format=%H %D"], ["diff", "--cached", "--no-ext-diff"],
            ["for-each-ref"], ["ls-files", "--stage", "--debug"],
        )
    ]  # fmt: skip


def test_the_users_repository_is_untouched_and_none_of_its_scripts_runs(
    hostile: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, mark = hostile
    monkeypatch.setenv("HOME", str(root.parent / "home"))
    before, answers = photograph(root), asked(root)
    mark.unlink(missing_ok=True)

    project = Project(root, path=PATH)
    done = project.commit({"a.py": b"A = 2\n"})
    entry = project.history.entry(done.operation_id)
    before_it, after_it = project.history.contents(entry)
    project.make(between(after_it, before_it), kind="undo", of=(entry.id,))

    assert done.warnings == ()
    assert len(project.history.entries()) == 2
    assert not mark.exists(), mark.read_text()
    assert photograph(root) == before
    assert asked(root) == answers


def test_git_status_knows_only_of_the_change(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "repo")
    project = Project(tmp_path / "repo", path=PATH)
    project.write("a.py", b"A = 1\n")
    git(project.root, "add", ".")
    before = git(project.root, "status", "--porcelain")
    done = project.commit({"a.py": b"A = 2\n"})
    before_it, after_it = project.history.contents(project.history.entry(done.operation_id))
    project.make(between(after_it, before_it), kind="undo")
    assert git(project.root, "status", "--porcelain", "--ignored") == before


def test_an_inherited_environment_of_git_has_no_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "init", "-q", "users")
    victim = tmp_path / "users/.git"
    before = photograph(tmp_path / "users")
    for name, value in {
        "GIT_DIR": str(victim),
        "GIT_WORK_TREE": str(tmp_path / "users"),
        "GIT_INDEX_FILE": str(victim / "index"),
        "GIT_OBJECT_DIRECTORY": str(victim / "objects"),
        "GIT_COMMON_DIR": str(victim),
        "GIT_NAMESPACE": "elsewhere",
        "GIT_QUARANTINE_PATH": str(victim / "q"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.hooksPath",
        "GIT_CONFIG_VALUE_0": str(tmp_path),
        "GIT_CONFIG_PARAMETERS": "'core.bare=false'",
        "GIT_EXEC_PATH": str(tmp_path),
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_TRACE": str(tmp_path / "trace"),
        "GIT_PYTHON_GIT_EXECUTABLE": str(tmp_path / "nothing"),
    }.items():
        monkeypatch.setenv(name, value)
    history = History(tmp_path / "ours.git", search_path=PATH)
    history.record(entry(1, {}, {"a": b"x"}), {}, {"a": b"x"})
    assert ids(history.entries()) == ["op_01"]
    assert photograph(tmp_path / "users") == before
    assert not (tmp_path / "trace").exists()
    assert (tmp_path / "ours.git" / REF).is_file()


def test_a_repository_with_longer_hashes_gets_a_history_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "repo")
    project = Project(tmp_path / "repo", path=PATH)
    done = project.commit({"a.py": b"A\n"})
    assert done.warnings == ()
    assert ids(project.history.entries()) == [done.operation_id]


def test_git_clean_does_not_reach_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "repo")
    project = Project(tmp_path / "repo", path=PATH)
    project.commit({"a.py": b"A\n"})
    git(project.root, "clean", "-fdxq")
    assert ids(project.history.entries()) == ["op_0000"]


OWNERS = [1234] if os.geteuid() == 0 else [os.geteuid()]  # only root can give files away


@pytest.mark.parametrize("owner", OWNERS)
def test_a_history_that_is_another_users_or_has_hooks_is_not_used_and_its_hooks_do_not_run(
    tmp_path: Path, owner: int
) -> None:
    history = History(tmp_path / "h.git", search_path=PATH)
    history.record(entry(1, {}, {}), {}, {})
    assert history.entries()
    hook = tmp_path / "h.git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(tmp_path))}/mark\n")
    hook.chmod(0o755)
    for path in [tmp_path / "h.git", *(tmp_path / "h.git").rglob("*")]:
        os.chown(path, owner, -1)
    with pytest.raises(HistoryUnavailable, match="holds what bae_source did not put there"):
        history.record(entry(2, {}, {}), {}, {})
    with pytest.raises(HistoryError, match="holds what bae_source did not put there"):
        history.entries()
    assert not (tmp_path / "mark").exists()
