"""State that came along with a project is never acted upon: journals, histories, waiting operations, caches."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bae_source import functions
from bae_source.history.record.entry import Entry, TouchedFile
from bae_source.history.record.history import History
from bae_source.history.record.pending import Pending
from bae_source.model.context import Context
from bae_source.state.journal_head import NAME, SECTOR
from bae_source.system.hashing import sha256
from bae_source.transaction.commit.journal import Record, opened
from bae_source.transaction.disk.port import RealDisk
from bae_source.transaction.disk.targets import Attributes, Content
from tests.adapters.mcp.support import raw
from tests.trust.support import Machine, changed, commit, crashed, git, picture, project, to_local

pytestmark = pytest.mark.sampled

READING: dict[str, dict[str, Any]] = {
    "read": {"target": "app.send"},
    "references": {"target": "app.send"},
    "glob": {"pattern": "*"},
    "grep": {"pattern": "return"},
    "doctor": {},
    "history": {},
    "outline": {},
    "check_staged": {},
    "hover": {"uris": ("sym://app.py#send",)},
}
PLANNED: dict[str, dict[str, Any]] = {
    "edit": {"target": "app.send", "old": "return", "new": "return 7 +"},
    "undo": {},
    "redo": {},
    "prune": {"keep": 0},
    "forget": {},
}


@pytest.fixture
def stranger(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "stranger")


@pytest.fixture
def victim(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "victim")


def poisoned(stranger: Machine, root: Path) -> None:
    """Have git's settings of the history name a program, in every way, and take away what it will look for."""
    changed(stranger, root)
    history = stranger.folders(root).history
    settings = f"""
[remote "origin"]
    url = ext::{stranger.program}
    promisor = true
    partialclonefilter = blob:none
[protocol "ext"]
    allow = always
[core]
    sshCommand = {stranger.program}
    fsmonitor = {stranger.program}
    hooksPath = {stranger.folder}
    pager = {stranger.program}
[extensions]
    partialClone = origin
[gpg]
    program = {stranger.program}
"""
    with (history / "config").open("a") as file:
        file.write(settings)
    for pack in (history / "objects/pack").glob("*"):
        pack.unlink()


def leading_away(*places: str, project: str = "") -> Callable[[Machine, Path], None]:
    """Return what writes a journal by which files are put back at these paths."""

    def write(stranger: Machine, root: Path) -> None:
        changed(stranger, root)
        folders = stranger.folders(root)
        attributes = Attributes(
            inode=(1, 2), mode=0o104777, user=os.geteuid(), group=os.getegid(), accessed=1, modified=1
        )
        contents = tuple(
            Content(
                path=place, parts=tuple(place.split("/")), name="app", before=b"evil", after=None, attributes=attributes
            )
            for place in places
        )
        entry = Entry(
            id="op_0123", kind="change", who="me", when="2026-01-01T00:00:00+00:00", summary="do", files=(),
            project=project,
        )  # fmt: skip
        with opened(folders.base, RealDisk(), folders.id or "") as journal:
            journal.read()
            journal.begin(Record(entry=entry, contents=contents))

    return write


def waiting(stranger: Machine, root: Path) -> None:
    """Put an operation down that waits to be recorded, and by which a file comes that runs as its owner."""
    changed(stranger, root)
    folders = stranger.folders(root)
    after = (root / "app.py").read_bytes()
    files = (
        TouchedFile(path="app.py", name="app", before=sha256(b"evil"), after=sha256(after)),
        TouchedFile(path="evil.py", name="evil", before=sha256(b"evil"), after=None, mode=0o4755),
    )
    entry = Entry(
        id="op_feed", kind="change", who="victim", when="2026-01-01T00:00:00+00:00", summary="do", files=files
    )
    before = {"app.py": b"evil", "evil.py": b"evil"}
    Pending(folders.pending, lambda: folders.id).put(entry, before, {"app.py": after, "evil.py": None})


STATES: dict[str, Callable[[Machine, Path], None]] = {
    "a crash": crashed,
    "operations": changed,
    "git settings": poisoned,
    "a journal out of the project": leading_away("../outside.txt", "x/../../outside.txt"),
    "a journal into git": leading_away(".git/hooks/pre-commit", ".git/config"),
    "a journal about another project": leading_away("outside.txt", project="../outside"),
    "a waiting operation": waiting,
}


def by_copy(stranger: Machine, root: Path, to: Path, victim: Machine) -> None:
    shutil.copytree(root, to, symlinks=True)


def by_clone(stranger: Machine, root: Path, to: Path, victim: Machine) -> None:
    to_local(stranger, root)
    git(root, "add", "-A", "-f")
    commit(root)
    git(root.parent, "clone", "-q", str(root), str(to))


def by_pull(stranger: Machine, root: Path, to: Path, victim: Machine) -> None:
    """The victim has a clone and state of their own in it; what is pulled brings the stranger's."""
    git(root.parent, "clone", "-q", str(root), str(to))
    by_own_change(victim, to)
    shutil.rmtree(to / ".bae-source")
    to_local(stranger, root)
    git(root, "add", "-A", "-f")
    commit(root)
    git(to, "pull", "-q")


def by_archive_without_git(stranger: Machine, root: Path, to: Path, victim: Machine) -> None:
    to_local(stranger, root)
    shutil.copytree(root, to, symlinks=True, ignore=shutil.ignore_patterns(".git"))


def by_archive_over_ones_own(stranger: Machine, root: Path, to: Path, victim: Machine) -> None:
    """The victim has a project without git, and state in it; an archive is unpacked over both."""
    shutil.copytree(root, to, symlinks=True, ignore=shutil.ignore_patterns(".git", ".bae-source"))
    by_own_change(victim, to)
    to_local(stranger, root)
    own = (to / ".bae-source/id").read_bytes()
    shutil.copytree(root, to, symlinks=True, ignore=shutil.ignore_patterns(".git", "use.py"), dirs_exist_ok=True)
    (to / ".bae-source/id").write_bytes(own)


WAYS: dict[str, Callable[[Machine, Path, Path, Machine], None]] = {
    "a copy": by_copy,
    "a clone": by_clone,
    "a pull": by_pull,
    "an archive": by_archive_without_git,
    "an archive over one's own": by_archive_over_ones_own,
}


def by_own_change(victim: Machine, root: Path) -> None:
    victim.run(root, "write", Context(reload="off"), target="mine", source="X = 1\n")
    assert victim.run(root, "history").found


CASES = [(state, way) for i, state in enumerate(STATES) for j, way in enumerate(WAYS) if (i + j) % 2 == 0]
"""Every second pair, so that each state comes in two or three ways."""


@pytest.mark.parametrize(("state", "way"), CASES)
def test_nothing_that_came_along_is_acted_upon(
    tmp_path: Path, stranger: Machine, victim: Machine, state: str, way: str
) -> None:
    root = project(stranger.folder / "outside")
    STATES[state](stranger, root)
    to = victim.folder / "project"
    WAYS[way](stranger, root, to, victim)
    (victim.folder / "outside.txt").write_text("mine")
    mine = {"state", "project/.bae-source"}
    leaving = lambda name: any(name == each or name.startswith(f"{each}/") for each in mine)  # noqa: E731
    before = picture(victim.folder, leaving=leaving)

    is_overwritten = way == "an archive over one's own" and state != "a crash"  # which takes one's own history away
    chance = random.Random(f"{state} {way}")
    asked = [*chance.sample(sorted(READING), 4), "history"]
    for verb in asked:
        if verb == "check_staged" and not (to / ".git").exists():
            continue
        if is_overwritten and verb == "history":
            error = victim.fails(to, verb)
            assert error is not None
            assert "holds what bae_source did not put there" in error.message
            continue
        outcome = victim.run(to, verb, **READING[verb])
        assert "interrupted" not in outcome.text + str(outcome.warnings)
        if verb == "history":
            assert all(entry.entry.who == "victim" and "mine" in entry.entry.summary for entry in outcome.found)
    for verb in chance.sample(sorted(PLANNED), 3):
        given = PLANNED[verb]
        victim.fails(to, verb, Context(dry_run=True, reload="off"), **given)
    assert picture(victim.folder, leaving=leaving) == before
    assert not stranger.mark.exists()

    is_ours = way in ("a pull", "an archive over one's own")
    for verb in ("undo", "redo"):
        error = victim.fails(to, verb, Context(reload="off"))
        if is_ours and not is_overwritten:
            assert error is None
        else:
            assert error is not None
            assert error.code in ("nothing_to_undo", "forbidden")
    after = picture(victim.folder, leaving=lambda name: leaving(name) or name.startswith("project/.git/bae-source"))
    assert after == {name: facts for name, facts in before.items() if not name.startswith("project/.git/bae-source")}
    assert not stranger.mark.exists()


@pytest.mark.parametrize("way", ["a copy", "an archive"])
def test_a_change_is_refused_where_foreign_state_stands_in_the_place_of_ours_until_it_is_removed(
    stranger: Machine, victim: Machine, way: str
) -> None:
    root = project(stranger.folder / "p")
    crashed(stranger, root)
    to = victim.folder / "project"
    WAYS[way](stranger, root, to, victim)
    now = (to / "app.py").read_bytes()
    for context in (Context(reload="off"), Context(reload="off", who="somebody")):
        error = victim.fails(to, "edit", context, target="app.send", old="return", new="return 0 +")
        assert error is not None
        assert error.code == "forbidden"
        assert "was not made here by you" in error.message
        assert any("forget --foreign" in hint for hint in error.hints)
        assert any("adopt" in hint for hint in error.hints)
    assert victim.run(to, "forget").text.startswith("Removed nothing")
    planned = victim.run(to, "forget", Context(dry_run=True), foreign=True).text
    removed = victim.run(to, "forget", foreign=True).text
    assert removed == planned.replace("Dry run, nothing was removed: ", "Removed ")
    assert not (to / ".bae-source" / NAME).exists()
    assert not (to / ".git/bae-source").exists()
    victim.run(to, "edit", Context(reload="off"), target="app.send", old="return", new="return 0 +")
    victim.run(to, "undo", Context(reload="off"))
    assert (to / "app.py").read_bytes() == now


@pytest.mark.parametrize("way", ["a clone", "a pull", "an archive over one's own"])
def test_a_change_is_made_beside_foreign_state(stranger: Machine, victim: Machine, way: str) -> None:
    root = project(stranger.folder / "p")
    crashed(stranger, root)
    to = victim.folder / "project"
    WAYS[way](stranger, root, to, victim)
    now = (to / "app.py").read_bytes()
    done = victim.run(to, "edit", Context(reload="off"), target="app.send", old="return", new="return 0 +")
    assert not any("interrupted" in notice.message for notice in done.warnings)
    if way == "an archive over one's own":
        assert "journal_set_aside" in {notice.code for notice in done.warnings}
    assert victim.run(to, "undo", Context(reload="off")).status == "applied"
    assert (to / "app.py").read_bytes() == now


def test_it_is_named_once_and_by_doctor_each_time(stranger: Machine, victim: Machine) -> None:
    root = project(stranger.folder / "p")
    changed(stranger, root)
    to = victim.folder / "project"
    by_copy(stranger, root, to, victim)
    codes = [[notice.code for notice in victim.run(to, "read", target="app.send").warnings] for _ in range(3)]
    assert codes == [["foreign_state"], [], []]
    for _ in range(2):
        troubles = victim.run(to, "doctor").found
        assert {each.code for each in troubles} == {"foreign_state"}
        assert {each.mend for each in troubles} == {"forget --foreign"}
    assert [notice.code for notice in victim.run(to, "history").warnings] == ["foreign_state"]


def test_every_door_leaves_it_alone(stranger: Machine, victim: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(stranger.folder / "p")
    poisoned(stranger, root)
    to = victim.folder / "project"
    by_copy(stranger, root, to, victim)
    before = picture(to)
    for words in (["read", "app.send"], ["history"], ["doctor"], ["hook"], ["edit", "app.send", "--old", "3", "--new",
                  "4", "--dry-run"]):  # fmt: skip
        done = victim.command(to, *words)
        assert "Traceback" not in done.stderr
        assert "interrupted" not in done.stdout + done.stderr
    for name, value in victim.environment.items():
        monkeypatch.setenv(name, value)
    for name, given in (("read", {"target": "app.send"}), ("history", {}), ("doctor", {})):
        answer = functions.dispatch(name, given, root=to, read_only=True)
        assert answer["status"] == "answer"
    with raw(to, "--read-only", XDG_STATE_HOME=victim.environment["XDG_STATE_HOME"]) as server:
        server.initialize()
        server.ask("resources/list")
        for name in ("read", "history", "doctor"):
            server.call(name, **({"target": "app.send"} if name == "read" else {}))
    assert picture(to) == before
    assert not stranger.mark.exists()


def test_ones_own_crash_and_history_count_after_a_move_and_after_git_init(tmp_path: Path, victim: Machine) -> None:
    root = project(victim.folder / "p", with_git=False)
    changed(victim, root)
    crashed(victim, root)
    root = root.rename(victim.folder / "moved")
    git(root, "init", "-q")
    outcome = victim.run(root, "read", target="app.send")
    assert "return 3" in outcome.text
    assert [notice.code for notice in outcome.warnings] == ["recovered"]
    assert len(victim.run(root, "history").found) == 2
    victim.run(root, "undo", Context(reload="off"), count=2)
    assert (root / "app.py").read_text() == "def send():\n    return 1\n"


def test_ones_own_crash_below_the_top_of_a_repository_is_taken_back(victim: Machine) -> None:
    top = project(victim.folder / "top")
    root = project(top / "services/api", with_git=False)
    crashed(victim, root)
    outcome = victim.run(top, "read", target="app.send")
    assert "recovered" in {notice.code for notice in outcome.warnings}
    assert (root / "app.py").read_text() == "def send():\n    return 1\n"


@pytest.mark.parametrize("changing", ["device", "boot"])
def test_the_device_counts_only_within_one_start_of_the_machine(victim: Machine, changing: str) -> None:
    root = project(victim.folder / "p")
    crashed(victim, root)
    folders = victim.folders(root)
    [record] = [path for path in (victim.folder / "state/bae-source/bound").iterdir() if path.name == folders.id]
    folder, serves, device, boot = record.read_text().split(" ", 3)
    record.write_text(f"{folder} {serves} {int(device) + 1} {'another one' if changing == 'boot' else boot}")
    outcome = victim.run(root, "read", target="app.send")
    codes = {notice.code for notice in outcome.warnings}
    assert codes == ({"recovered"} if changing == "boot" else {"foreign_state"})


PATHS = [
    "../outside.txt",
    "/etc/x",
    "a/../../outside.txt",
    ".git/config",
    ".GIT/config",
    "pkg/.bae-source/id",
    "",
    "a//b",
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("part", ["contents", "made", "folders", "id"])
def test_a_journal_of_ones_own_that_leads_out_is_set_aside_whole(victim: Machine, path: str, part: str) -> None:
    root = project(victim.folder / "p")
    changed(victim, root)
    folders = victim.folders(root)
    good = Content(path="app.py", parts=("app.py",), name="app", before=b"evil", after=(root / "app.py").read_bytes())
    bad = Content(path=path, parts=tuple(path.split("/")), name="x", before=b"evil", after=None)
    entry = Entry(
        id=path.replace("\0", "") or "/" if part == "id" else "op_1",
        kind="change", who="me", when="2026-01-01T00:00:00+00:00", summary="do", files=(),
        folders={path: 0o700} if part == "folders" else {},
    )  # fmt: skip
    record = Record(
        entry=entry,
        contents=(good, bad) if part == "contents" else (good,),
        new_folders=(tuple(path.split("/")),) if part == "made" else (),
    )
    with opened(folders.base, RealDisk(), folders.id or "") as journal:
        journal.read()
        journal.begin(record)
    (victim.folder / "outside.txt").write_text("mine")
    leaving = lambda name: name.startswith(("state", "p/.bae-source", "p/.git/bae-source"))  # noqa: E731
    before = picture(victim.folder, leaving=leaving)
    if part == "id" and "/" not in path and path not in ("", ".", ".."):
        return
    outcome = victim.run(root, "read", target="app.send")
    assert "journal_set_aside" in {notice.code for notice in outcome.warnings}
    assert picture(victim.folder, leaving=leaving) == before
    assert victim.run(root, "read", target="app.send").warnings == ()
    assert len([*folders.base.glob(f"{NAME}.*")]) == 1
    assert victim.run(root, "undo", Context(reload="off")).status == "applied"


def test_what_comes_back_does_not_run_with_its_owners_rights(victim: Machine) -> None:
    root = project(victim.folder / "p")
    (root / "tool.py").write_text("X = 1\n")
    (root / "tool.py").chmod(0o6755)
    victim.run(root, "delete", Context(reload="off"), target="tool")
    victim.run(root, "undo", Context(reload="off"))
    assert (root / "tool.py").stat().st_mode & 0o7777 == 0o755


def test_a_journal_that_was_put_into_ones_own_folder_does_not_know_its_id(stranger: Machine, victim: Machine) -> None:
    root = project(victim.folder / "p", with_git=False)
    changed(victim, root)
    other = project(stranger.folder / "p", with_git=False)
    changed(stranger, other)
    crashed(stranger, other)
    shutil.copy(other / ".bae-source" / NAME, root / ".bae-source" / NAME)
    now = (root / "app.py").read_bytes()
    assert victim.run(root, "read", target="app.send").warnings == ()
    assert (root / ".bae-source" / NAME).read_bytes()[:SECTOR] == (other / ".bae-source" / NAME).read_bytes()[:SECTOR]
    done = victim.run(root, "undo", Context(reload="off"))
    assert "journal_set_aside" in {notice.code for notice in done.warnings}
    assert now != (root / "app.py").read_bytes()


def test_where_no_state_can_be_bound_changes_work_and_history_says_why_not_more(
    tmp_path: Path, victim: Machine
) -> None:
    root = project(victim.folder / "p")
    (tmp_path / "temporary").mkdir()
    (victim.folder / "closed").write_text("no folder")
    victim.environment |= {"XDG_STATE_HOME": str(victim.folder / "closed"), "TMPDIR": str(tmp_path / "temporary")}
    before = picture(root)
    changed(victim, root)
    outcome = victim.run(root, "history")
    assert len(outcome.found) == 2
    assert [notice.code for notice in outcome.warnings] == ["history_temporary"]
    assert "closed/bae-source" in outcome.warnings[0].message
    crashed(victim, root)
    victim.run(root, "undo", Context(reload="off"), count=2)
    assert picture(root) == before
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "temporary").iterdir()} == {0}


@pytest.mark.parametrize("path", ["../outside.txt", ".git/config", ".bae-source/id", "link/x.txt"])
def test_an_operation_of_ones_own_that_leads_out_is_not_undone(victim: Machine, path: str) -> None:
    root = project(victim.folder / "p")
    changed(victim, root)
    (victim.folder / "outside").mkdir()
    (root / "link").symlink_to(victim.folder / "outside")
    folders = victim.folders(root)
    history = History(folders.history, search_path=os.environ["PATH"], state_id=lambda: folders.id)
    file = TouchedFile(path=path, name="x", before=sha256(b"evil"), after=None)
    when = "2126-01-01T00:00:00+00:00"
    entry = Entry(id="op_feed", kind="change", who="victim", when=when, summary="do", files=(file,))
    history.record(entry, {path: b"evil"}, {path: None})
    leaving = lambda name: name.startswith(("state", "p/.bae-source", "p/.git/bae-source"))  # noqa: E731
    before = picture(victim.folder, leaving=leaving)
    error = victim.fails(root, "undo", Context(reload="off"))
    assert error is not None
    assert error.code in ("outside_project", "forbidden", "undo_conflict")
    assert picture(victim.folder, leaving=leaving) == before
