"""What is old goes when it is told to, or when there is too much of it; all of us goes on request, without a trace."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Event, Thread

import pytest

from bae_source import Source
from bae_source.engine.service import Service
from bae_source.errors import HistoryError, Refused, RequestError
from bae_source.history.record.entry import Entry
from bae_source.history.record.git import Repository
from bae_source.history.record.history import History, Limits
from bae_source.history.record.pending import Pending
from bae_source.transaction.commit import transaction
from tests.transaction.support import PATH, Project, ids
from tests.transaction.test_history import entry

TEXT = "def f():\n    return 0\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "p", check=True)
    (tmp_path / "p/m.py").write_text(TEXT)
    return tmp_path / "p"


def changed(source: Source, times: int) -> list[str]:
    """Change a function so many times, and return the ids."""
    return [
        str(source.edit("m.f", old=f"return {number}", new=f"return {number + 1}", reload="off").operation_id)
        for number in range(times)
    ]


def everything(root: Path) -> dict[str, bytes | None]:
    found = ((path.relative_to(root).as_posix(), path) for path in sorted(root.rglob("*")))
    return {name: path.read_bytes() if path.is_file() else None for name, path in found}


def listed(source: Source) -> list[str]:
    return [listed.entry.id for listed in source.history(limit=1_000).outcome.found]


# --- prune -----------------------------------------------------------------------------------------------------------


def test_prune_keeps_the_newest_and_they_can_still_be_undone(root: Path) -> None:
    source = Source(root)
    made = changed(source, 4)
    outcome = source.prune(keep=2)
    assert outcome.status == "applied"
    assert outcome.text.startswith("Deleted 2 operations from the history, ")
    assert listed(source) == made[:1:-1]
    source.undo(count=2, reload="off")
    assert (root / "m.py").read_text() == TEXT.replace("0", "2")
    with pytest.raises(HistoryError, match="no change of yours"):
        source.undo()


def test_what_is_pruned_is_gone_from_the_disk(root: Path) -> None:
    source = Source(root)
    secret = os.urandom(20_000).hex()
    source.insert("m", f"SECRET = {secret!r}", position="last", reload="off")
    source.undo(reload="off")
    changed(source, 1)
    repository = root / ".git/bae-source/history.git"
    size = sum(path.stat().st_size for path in repository.rglob("*") if path.is_file())
    source.prune(keep=1)
    assert size - sum(path.stat().st_size for path in repository.rglob("*") if path.is_file()) > 20_000
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=repository, check=True, capture_output=True
    ).stdout
    assert secret.encode() not in objects
    assert len(listed(source)) == 1


def test_prune_by_age_and_by_both(root: Path) -> None:
    source = Source(root)
    made = changed(source, 3)
    assert source.prune(older_than="1d").text.startswith("Nothing was deleted")
    assert source.prune(keep=1, older_than="1d").text.startswith("Nothing was deleted")
    assert source.prune(keep=2, older_than="2999-01-01").text.startswith("Deleted 1 operation from")
    assert listed(source) == made[:0:-1]
    assert source.prune(older_than="2999-01-01").text.startswith("Deleted 2 operations")
    assert source.history().strip() == "(no operations)"
    changed(Source(root), 0)


def test_everything_can_be_pruned_and_recording_goes_on(root: Path) -> None:
    source = Source(root)
    changed(source, 2)
    source.prune(keep=0)
    assert listed(source) == []
    made = source.edit("m.f", old="2", new="9", reload="off").operation_id
    assert listed(source) == [made]


def test_prune_can_be_tried_and_needs_a_limit(root: Path) -> None:
    source = Source(root)
    made = changed(source, 3)
    assert source.prune(keep=1, dry_run=True).text == "Dry run, nothing was deleted: 2 operations would be."
    with pytest.raises(RequestError, match="needs to know what to keep"):
        source.prune()
    with pytest.raises(RequestError, match="older_than: 'old' is no time"):
        source.prune(older_than="old")
    assert listed(source) == made[::-1]


def test_other_projects_of_the_repository_keep_their_history(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub/pyproject.toml").write_text("")
    (root / "sub/m.py").write_text(TEXT)
    top, sub = Source(root), Source(root / "sub")
    changed(top, 2)
    theirs = changed(sub, 2)
    top.prune(keep=0)
    assert (listed(top), listed(sub)) == ([], theirs[::-1])
    changed_again = top.edit("m.f", old="2", new="3", reload="off").operation_id
    top.forget()
    assert changed_again is not None
    assert (listed(top), listed(sub)) == ([], theirs[::-1])
    sub.undo(count=2, reload="off")
    sub.forget()
    assert not (root / ".git/bae-source").exists()


# --- the limits ------------------------------------------------------------------------------------------------------


def test_a_history_never_grows_beyond_its_limit_and_keeps_at_least_half_of_it(tmp_path: Path) -> None:
    limits = Limits(operations=80)
    history = History(tmp_path / "history.git", search_path=PATH, limits=lambda: limits)
    sizes = []
    for number in range(14):
        made = [entry(number * 10 + each, {}, {"a": b"%d" % each}) for each in range(10)]
        recorded(history, Pending(tmp_path / "pending"), made)
        sizes.append(len(history.entries()))
    kept = ids(history.entries())
    assert kept == [f"op_{number:02d}" for number in range(139, 139 - len(kept), -1)]
    assert max(sizes) <= 80 + 10, "ten at a time"
    assert min(sizes[5:]) >= 40
    assert history.contents(history.entry(kept[-1]))[1].keys() == {"a"}
    there = {path.name for path in tmp_path.iterdir()}
    assert {"history.1.git"} <= there <= {"history.1.git", "history.git", "history.lock", "pending"}


def recorded(history: History, pending: Pending, made: Sequence[Entry]) -> None:
    """Record many operations fast: all but the last wait for it."""
    for number, each in enumerate(made[:-1]):
        pending.put(each, {}, {"a": b"%d" % number})
    history.record(made[-1], {}, {"a": b"%d" % (len(made) - 1)})


def test_large_operations_make_it_begin_anew_at_once(tmp_path: Path) -> None:
    history = History(tmp_path / "history.git", search_path=PATH, limits=lambda: Limits(megabytes=0.8))
    for number in range(5):
        content = os.urandom(300_000)
        history.record(entry(number, {}, {"a": content}), {}, {"a": content})
    assert ids(history.entries()) in (["op_04", "op_03", "op_02"], ["op_04", "op_03", "op_02", "op_01"])
    size = sum(path.stat().st_size for path in tmp_path.rglob("*.pack"))
    assert size < 1_400_000


def test_small_packs_are_put_together_and_nothing_is_lost(tmp_path: Path) -> None:
    history = History(tmp_path / "history.git", search_path=PATH)
    repository = Repository(tmp_path / "history.git", PATH)
    for number in range(8):
        history.record(entry(number, {}, {"a": b"%d" % number}), {}, {"a": b"%d" % number})
        assert history.entries(1)
    assert len(repository.packs) == 8
    repository.pack()
    assert len(repository.packs) == 1
    repository.pack()
    assert len(repository.packs) == 1
    assert [history.contents(each)[1]["a"] for each in history.entries()] == [b"%d" % n for n in range(7, -1, -1)]
    assert repository.count() == 8
    (tmp_path / "history.git/bae-source-count").unlink()
    assert repository.count() == 8


def test_the_projects_settings_say_how_much_is_kept(root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.bae-source]\nhistory-operations = 7\nhistory-megabytes = 'many'\n")
    limits = Service(root).changing.limits()
    assert (limits.operations, limits.megabytes) == (7, Limits().megabytes)


# --- forget ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_git", [True, False])
def test_forget_leaves_no_trace_and_the_project_as_it_is(tmp_path: Path, root: Path, with_git: bool) -> None:
    if not with_git:
        subprocess.run(["rm", "-rf", ".git"], cwd=root, check=True)
    before = everything(root)
    source = Source(root)
    changed(source, 2)
    source.references("m.f")
    source.undo(reload="off")
    source.undo(reload="off")
    assert everything(root) != before
    assert source.forget(dry_run=True).text.startswith("Dry run, nothing was removed: ")
    outcome = source.forget()
    assert everything(root) == before
    assert outcome.status == "applied"
    for piece in ("the history (4 operations)", "the journal", "the telemetry", "the cache", "the lock"):
        assert piece in outcome.text
    assert str(tmp_path) not in outcome.text
    assert source.forget().text == "Removed nothing; there was no trace of bae_source."
    assert everything(root) == before


def test_forget_on_the_command_line_leaves_nothing_either(root: Path) -> None:
    before = everything(root)
    changed(Source(root), 1)
    Source(root).undo(reload="off")
    done = subprocess.run([sys.executable, "-m", "bae_source", "forget"], cwd=root, capture_output=True, check=True)
    assert done.stdout.startswith(b"Removed ")
    assert everything(root) == before


def test_a_project_that_was_forgotten_begins_anew(root: Path) -> None:
    source = Source(root)
    changed(source, 1)
    source.forget()
    assert listed(source) == []
    made = source.edit("m.f", old="1", new="2", reload="off").operation_id
    assert listed(source) == [made]


def test_forget_is_refused_while_a_transaction_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path / "p", path=PATH, wait=0.1)
    project.write("m.py", "A = 1\n")
    monkeypatch.setattr(transaction, "Transactions", partial(transaction.Transactions, wait=0.1))  # ten seconds else
    source = Source(tmp_path / "p")
    inside, done = Event(), Event()

    def hold() -> None:
        with project.transactions.locked():
            inside.set()
            done.wait(30)

    thread = Thread(target=hold)
    thread.start()
    try:
        assert inside.wait(30)
        with pytest.raises(Refused) as caught:
            source.forget()
        assert caught.value.code == "busy"
        assert (tmp_path / "p/.bae-source/lock").exists()
    finally:
        done.set()
        thread.join()


def test_what_recovery_kept_for_a_person_is_never_removed(root: Path) -> None:
    source = Source(root)
    changed(source, 1)
    kept = root / ".git/bae-source/kept/op_1"
    kept.mkdir(parents=True)
    (kept / "old-0").write_text("precious")
    before = everything(root / ".git/bae-source/history.git")
    for dry_run in (True, False):
        with pytest.raises(Refused, match="kept 1 old file") as caught:
            source.forget(dry_run=dry_run)
        assert caught.value.code == "unsafe_change"
    assert (kept / "old-0").read_text() == "precious"
    assert everything(root / ".git/bae-source/history.git") == before


def test_a_history_that_cannot_be_read_is_not_forgotten_unseen(root: Path) -> None:
    source = Source(root)
    changed(source, 1)
    assert source.history()
    history = root / ".git/bae-source/history.git"
    (history / "refs/bae-source/operations").write_text("nonsense\n")
    before = everything(root / ".git/bae-source/history.git")
    with pytest.raises(HistoryError, match="There is no history: git could not") as caught:
        source.forget()
    assert "out of the way" in caught.value.hints[0]
    assert everything(root / ".git/bae-source/history.git") == before
    history.rename(root.parent / "away")
    source.forget()
    assert not (root / ".git/bae-source").exists()


def test_a_folder_of_ours_that_is_a_link_is_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").write_text("theirs")
    (root / ".bae-source").symlink_to(tmp_path / "elsewhere")
    source = Source(root)
    os.environ["BAE_SOURCE_TELEMETRY"] = "off"
    source.forget()
    assert (tmp_path / "elsewhere/file").read_text() == "theirs"


def test_a_link_in_the_place_of_our_folder_is_left_and_nothing_behind_it_is_reported_as_removed(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name in ("facts-1.sqlite", "telemetry.jsonl"):
        (tmp_path / "elsewhere" / name).write_text("theirs")
    source = Source(root)
    changed(source, 1)
    subprocess.run(["rm", "-rf", ".bae-source"], cwd=root, check=True)
    (root / ".bae-source").symlink_to(tmp_path / "elsewhere")
    for dry_run in (True, False):
        outcome = source.forget(dry_run=dry_run)
        assert "the history (1 operation)" in outcome.text
        assert "cache" not in outcome.text
        assert "telemetry" not in outcome.text
        assert [each.code for each in outcome.warnings] == ["left"]
        assert ".bae-source is a link, and was left" in outcome.warnings[0].message
    assert {path.name for path in (root / ".bae-source").iterdir()} == {"facts-1.sqlite", "telemetry.jsonl"}
    assert not (root / ".git/bae-source").exists()


@pytest.mark.parametrize("with_git", [True, False])
def test_foreign_files_in_our_folder_stay_and_are_named(root: Path, with_git: bool) -> None:
    if not with_git:
        subprocess.run(["rm", "-rf", ".git"], cwd=root, check=True)
    source = Source(root)
    changed(source, 1)
    (root / ".bae-source/sub").mkdir()
    (root / ".bae-source/sub/notes.md").write_text("mine")
    (root / ".bae-source/mine.txt").write_text("mine")
    (root / ".bae-source/lock-smith.txt").write_text("mine")
    for dry_run in (True, False):
        outcome = source.forget(dry_run=dry_run)
        assert "the history (1 operation)" in outcome.text
        [notice] = outcome.warnings
        assert notice.message == ".bae-source holds what is not ours, and was left: lock-smith.txt, mine.txt, sub."
    stays = everything(root / ".bae-source")
    assert stays.pop(".gitignore") == b"*\n"
    assert len(stays.pop("id") or b"") == 33, "by which the folder is still ours"
    assert stays == {
        "lock-smith.txt": b"mine", "mine.txt": b"mine", "sub": None, "sub/notes.md": b"mine",
    }  # fmt: skip
    assert source.forget().text == "Removed nothing; there was no trace of bae_source."


def test_of_a_history_that_others_share_only_the_own_operations_are_reported_as_removed(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub/pyproject.toml").write_text("")
    (root / "sub/m.py").write_text(TEXT)
    changed(Source(root / "sub"), 1)
    source = Source(root)
    changed(source, 2)
    for dry_run in (True, False):
        text = source.forget(dry_run=dry_run).text
        assert "the history (2 operations)" in text
        assert "lock" not in text
        assert "journal" not in text
    assert (root / ".git/bae-source/journal").exists()


@pytest.fixture(autouse=True)
def environment_kept() -> Iterator[None]:
    known = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(known)
