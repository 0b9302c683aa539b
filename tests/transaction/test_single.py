"""One file is made by its replacement, which a death or a power cut at any point leaves whole."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bae_source.doctor.of_state import unfinished
from bae_source.errors import Refused, TransactionError
from bae_source.state.journal_head import NAME, SECTOR, SINGLE
from bae_source.transaction.disk.port import RealDisk
from tests.transaction.support import NO_GIT, PATH, Loads, Project, ids, picture
from tests.transaction.test_recovery import OLD, die, filled, in_child, staged

CHANGES: dict[str, dict[str, bytes | None]] = {
    "edited": {"a.py": b"A = 2\n"},
    "created": {"new/deep/c.py": b"C = 1\n"},
    "deleted": {"gone/only.py": None},
}
MAKING = ("exchange", "rename_new")
_CHECKED = ["root", "pkg", "b.py"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return filled(tmp_path / "p", path=PATH)


@pytest.fixture(params=CHANGES)
def new(request: pytest.FixtureRequest) -> dict[str, bytes | None]:
    return CHANGES[request.param]


class Acting(RealDisk):
    """The real disk, which does something before or after the first call of these names, and notes what is called.

    Parameters:
        instead: whether the call is not made.
    """

    def __init__(
        self,
        *names: str,
        before: Callable[[], object] = lambda: None,
        after: Callable[[], object] = lambda: None,
        instead: bool = False,
    ) -> None:
        self.calls: list[str] = []
        self._names = names
        self._before = before
        self._after = after
        self._instead = instead

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or name == "calls":
            return found

        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            if name not in self._names or not self._first(name):
                return found(*arguments)
            self._before()
            answer = None if self._instead else found(*arguments)
            self._after()
            return answer

        return call

    def _first(self, name: str) -> bool:
        return sum(self.calls.count(each) for each in self._names) == 1


def make(
    project: Project, new: dict[str, bytes | None], disk: RealDisk | None = None, *, path: str = PATH, **more: Any
) -> Project:
    """Make a change by a process of its own disk, and return its project."""
    making = Project(project.root, path=path, disk=disk)
    making.commit(new, **more)
    return making


def crash(project: Project, new: dict[str, bytes | None], *names: str, **more: Any) -> None:
    in_child(lambda: make(project, new, Acting(*names, **more)))


def contents(project: Project, new: dict[str, bytes | None]) -> dict[str, bytes | None]:
    return {path: project.content(path) for path in new}


def before(new: dict[str, bytes | None]) -> dict[str, bytes | None]:
    return {path: OLD.get(path) for path in new}


def state(project: Project) -> bytes:
    return (project.folders.base / NAME).read_bytes()[:SECTOR].split(b"\n")[1]


def cut(project: Project, new: dict[str, bytes | None], disk: RealDisk | None = None, *, path: str = PATH) -> None:
    """Make the change, and let a power cut take what its journal said once it was begun."""
    heads: list[bytes] = []

    def look() -> None:
        heads.append((project.folders.base / NAME).read_bytes())

    make(project, new, disk, path=path, meanwhile=look)
    (project.folders.base / NAME).write_bytes(heads[0])
    assert state(project) == SINGLE


def recovery_message(project: Project) -> str:
    (notice,) = Project(project.root, path=PATH).transactions.recover()
    assert notice.code == "recovered"
    assert state(project) == b"idle"
    assert staged(project) == []
    return notice.message


@pytest.mark.parametrize(
    ("changed", "syncs"),
    [
        ({"a.py": b"A = 2\n"}, ["fsync", "sync_content", "fsync"]),
        (
            {"a.py": b"2\n", "pkg/b.py": b"2\n"},
            ["fsync", "fsync", "sync_content", "fsync", "fsync", "sync_content"],
        ),
    ],
)
def test_the_mark_is_made_durable_unless_the_only_file_says_it(
    project: Project, changed: dict[str, bytes | None], syncs: list[str]
) -> None:
    project.commit({"other.py": b""})
    disk = Acting()
    Project(project.root, disk=disk).commit(changed)
    assert [name for name in disk.calls if "sync" in name] == syncs
    assert contents(project, changed) == changed


def test_while_the_disk_is_at_the_journal_new_content_is_written_in_our_own_folder(
    project: Project,
) -> None:
    def look() -> None:
        staging = {f".bae-source/staging/{path.name}" for path in staged(project)}
        seen.append(({path: it for path, it in picture(project.root).items() if path not in staging}, len(staging)))

    project.commit({"other.py": b""})
    before, seen = picture(project.root), list[tuple[object, int]]()
    disk = Acting("sync_content", before=look)
    Project(project.root, disk=disk).commit({"a.py": b"A = 2\n", "new/c.py": b""})
    assert seen == [(before, 2)]
    durable = disk.calls.index("sync_content")
    assert disk.calls[:durable].count("fsync") == 2
    written = [name for name in disk.calls[:durable] if name in ("write_at", "write", "write_out", "fsync")]
    assert written == ["write_at", "write", *["write_out"] * 3, "fsync", "fsync"], (
        "a death is seen, and one wait is for all"
    )


def test_every_new_file_is_on_its_way_to_the_disk_before_the_first_is_waited_for(project: Project) -> None:
    project.commit({"other.py": b""})
    disk = Acting()
    Project(project.root, disk=disk).commit({"a.py": b"A = 2\n", "pkg/b.py": b"B = 2\n", "c.py": b"C = 2\n"})
    written = [name for name in disk.calls if name in ("write", "write_out", "fsync")]
    assert written == [*["write", "write_out"] * 3, "write_out", *["fsync"] * 5], (
        "three files, the journal, two folders"
    )


@pytest.mark.parametrize("error", [OSError(errno.EIO, "it failed"), KeyboardInterrupt()], ids=repr)
def test_that_a_change_is_taken_back_is_durable_before_it_is_begun_since_the_disk_may_have_its_mark(
    project: Project, new: dict[str, bytes | None], error: BaseException
) -> None:
    class Failing(Acting):
        def sync_content(self, file: int) -> None:
            if self.calls.count("sync_content") == 2:
                raise error
            super().sync_content(file)

    project.commit({"other.py": b""})
    before, disk = picture(project.root), Failing()
    failing = Project(project.root, disk=disk)
    with pytest.raises((TransactionError, KeyboardInterrupt)):
        failing.commit({**new, "pkg/b.py": b"2\n"})
    assert (picture(project.root), state(project), staged(project)) == (before, b"idle", [])
    _, mark, *_ = (number for number, name in enumerate(disk.calls) if name == "sync_content")
    after = [name for name in disk.calls[mark + 1 :] if name != "close"]
    assert after[:2] == ["write_at", "sync_content"]
    assert not {*MAKING}.isdisjoint(after[2:])
    assert project.transactions.recover() == ()


@pytest.mark.parametrize(
    ("error", "expected"), [(OSError(errno.EIO, "it failed"), Refused), (KeyboardInterrupt(), KeyboardInterrupt)]
)
def test_what_goes_wrong_while_the_disk_is_at_the_journal_leaves_everything_as_before(
    project: Project,
    new: dict[str, bytes | None],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    expected: type[BaseException],
) -> None:
    def device(_: object) -> int:
        raise error

    project.commit({"other.py": b""})
    before = picture(project.root)
    monkeypatch.setattr("bae_source.transaction.disk.staging.Staging.device", device)
    with pytest.raises(expected):
        project.commit(new)
    assert (picture(project.root), state(project), staged(project)) == (before, b"idle", [])
    assert project.transactions.recover() == ()


@pytest.mark.parametrize("call", ["write", "fsync", "sync_content"])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "it failed"), KeyboardInterrupt()], ids=repr)
def test_what_was_staged_when_the_journal_could_not_be_begun_is_removed(
    project: Project, call: str, error: BaseException
) -> None:
    def fail() -> None:
        raise error

    project.commit({"other.py": b""})
    before, failing = picture(project.root), Project(project.root, disk=Acting(call, before=fail))
    with pytest.raises((Refused, TransactionError, KeyboardInterrupt)) as caught:
        failing.commit({"a.py": b"2\n", "pkg/b.py": b"2\n"})
    if isinstance(error, OSError):
        assert isinstance(caught.value, Refused if call == "sync_content" else TransactionError)
        assert "nothing was changed" in caught.value.message
    assert (picture(project.root), state(project), staged(project)) == (before, b"idle", [])
    assert project.transactions.recover() == ()


def test_folders_are_opened_once_and_again_after_code_of_the_project_ran(project: Project) -> None:
    project.commit({"other.py": b""})
    disk, opened = Acting(), [*_CHECKED, "staging", "new", "root", "pkg", "old", "old"]
    Project(project.root, disk=disk).commit({"pkg/b.py": b"B = 2\n"})
    assert disk.calls.count("open") == len(["journal", *opened])
    assert disk.calls.count("lstat") == len(["b.py"]), "and a folder that can be opened need not be looked at"
    assert disk.calls.count("close") == len(opened), "and the journal is closed by whoever locked it"


def test_a_folder_that_is_moved_while_the_change_is_loaded_is_looked_for_anew(project: Project) -> None:
    def swap() -> None:
        (project.root / "pkg").rename(project.root / "moved")
        project.write("pkg/b.py", OLD["pkg/b.py"])

    project.commit({"pkg/b.py": b"B = 2\n"}, loader=Loads(on_load=swap))
    assert (project.content("pkg/b.py"), project.content("moved/b.py")) == (b"B = 2\n", OLD["pkg/b.py"])


def test_a_staging_folder_that_is_moved_while_the_change_is_made_is_the_same_folder_still(project: Project) -> None:
    staging, moved, elsewhere = project.folders.staging, project.root / "moved", project.root / "elsewhere"

    def swap() -> None:
        staging.rename(moved)
        staging.symlink_to(elsewhere)

    elsewhere.mkdir()
    (elsewhere / "op_0000-0").write_bytes(b"theirs")
    done = project.commit({"pkg/b.py": b"B = 2\n"}, meanwhile=swap)
    assert (done.warnings, project.content("pkg/b.py"), state(project)) == ((), b"B = 2\n", b"idle")
    assert ([*moved.iterdir()], (elsewhere / "op_0000-0").read_bytes()) == ([], b"theirs")


@pytest.mark.parametrize("change", ["edited", "deleted"])
def test_a_change_whose_staging_folder_is_removed_before_its_mark_is_taken_back(project: Project, change: str) -> None:
    before = picture(project.root)
    with pytest.raises(Refused) as caught:
        project.commit(CHANGES[change], meanwhile=lambda: shutil.rmtree(project.folders.staging))
    assert caught.value.code == "stale"
    assert (picture(project.root), state(project), staged(project)) == (before, b"idle", [])
    assert project.transactions.recover() == ()


def test_a_deleted_file_is_put_back_though_its_folder_was_removed_behind_it(project: Project) -> None:
    def interrupt() -> None:
        (project.root / "gone").rmdir()
        raise KeyboardInterrupt

    was = picture(project.root)
    with pytest.raises(KeyboardInterrupt):
        make(project, CHANGES["deleted"], meanwhile=interrupt)
    assert picture(project.root) == was


def test_who_dies_before_the_file_is_replaced_has_changed_nothing(
    project: Project, new: dict[str, bytes | None]
) -> None:
    was = picture(project.root)
    crash(project, new, *MAKING, before=die)
    assert state(project) == SINGLE
    assert "was interrupted, and was taken back" in recovery_message(project)
    assert picture(project.root) == was
    assert project.history.entries() == ()


def test_who_dies_after_the_file_is_replaced_has_made_the_change(
    project: Project, new: dict[str, bytes | None]
) -> None:
    compiled = project.write("__pycache__/a.cpython-311.pyc", b"of the old source")
    crash(project, new, *MAKING, after=die)
    assert "had been made when its process ended, and it stands" in recovery_message(project)
    assert contents(project, new) == new
    assert ids(project.history.entries()) == ["op_0000"]
    assert compiled.exists() == ("a.py" not in new)
    assert (project.root / "gone").exists() == ("gone/only.py" not in new)


def test_recovery_makes_the_replacement_durable_before_it_says_that_it_stands(
    project: Project, new: dict[str, bytes | None]
) -> None:
    crash(project, new, *MAKING, after=die)

    def fail() -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    (notice,) = Project(project.root, disk=Acting("fsync", before=fail)).transactions.recover()
    assert notice.code == "recovery_failed"
    assert (contents(project, new), state(project)) == (new, SINGLE)
    assert project.folders.pending.exists() is False
    assert "it stands" in recovery_message(project)


def test_an_answered_change_stands_though_a_power_cut_takes_what_was_not_durable(
    project: Project, new: dict[str, bytes | None]
) -> None:
    cut(project, new)
    assert "it stands" in recovery_message(project)
    assert contents(project, new) == new
    assert ids(project.history.entries()) == ["op_0000"]


@pytest.mark.parametrize("path", [PATH, NO_GIT])
@pytest.mark.parametrize("since", [b"T = 9\n", OLD["a.py"], None])
def test_an_answered_change_that_a_later_edit_overtook_is_not_called_interrupted_after_a_power_cut(
    project: Project, since: bytes | None, path: str
) -> None:
    cut(project, CHANGES["edited"], path=path)
    file = project.root / "a.py"
    file.unlink() if since is None else file.write_bytes(since)
    message = recovery_message(project)
    assert message == "op_0000 (edit) had been made when its process ended, and history has it; a is left as it is now."
    assert project.content("a.py") == since
    assert ids(project.history.entries()) == ["op_0000"]
    assert not project.folders.kept.exists()


def test_an_answered_change_is_not_taken_back_for_what_was_written_to_the_old_file_since(project: Project) -> None:
    with (project.root / "a.py").open("r+b") as editor:
        cut(project, CHANGES["edited"], Acting("unlink", instead=True))
        editor.write(b"T = 9\n")
    message = recovery_message(project)
    assert "history has it; a is left as it is now. The old file, which was changed since it was read, is in" in message
    assert Path(message.removesuffix(".").rpartition(" ")[2]).read_bytes() == b"T = 9\n"
    assert project.content("a.py") == b"A = 2\n"
    assert ids(project.history.entries()) == ["op_0000"]


def test_a_history_that_cannot_be_read_has_recovery_go_by_the_file_alone(project: Project) -> None:
    cut(project, CHANGES["edited"])
    assert project.history.entries()
    project.write("a.py", b"T = 9\n")
    (notice,) = Project(project.root, path=NO_GIT).transactions.recover()
    assert "a was changed from outside meanwhile, and was left as it is" in notice.message
    assert project.content("a.py") == b"T = 9\n"


def test_what_a_power_cut_took_of_the_old_file_is_not_put_in_place_of_an_answered_change(project: Project) -> None:
    cut(project, CHANGES["edited"], Acting("unlink", instead=True))
    (old,) = staged(project)
    status = old.stat()
    old.write_bytes(b"")
    os.utime(old, ns=(status.st_atime_ns, status.st_mtime_ns))
    message = recovery_message(project)
    assert project.content("a.py") == b"A = 2\n"
    place = message.removesuffix(".").rpartition(" ")[2]
    assert "The old file, which was changed since it was read, is in" in message
    assert Path(place).read_bytes() == b""


@pytest.mark.parametrize("new", [CHANGES["edited"], CHANGES["deleted"]])
def test_who_writes_to_the_old_file_after_the_crash_gets_it_back(
    project: Project, new: dict[str, bytes | None]
) -> None:
    (path,) = new
    with (project.root / path).open("r+b") as editor:
        crash(project, new, *MAKING, after=die)
        editor.write(b"T = 9\n")
    assert f"{path.removesuffix('.py').replace('/', '.')} was changed from outside meanwhile" in recovery_message(
        project
    )
    assert project.content(path) == b"T = 9\n"
    assert project.history.entries() == ()


@pytest.mark.parametrize("new", [CHANGES["edited"], CHANGES["deleted"]])
@pytest.mark.parametrize("renamed", [False, True])
def test_who_saves_just_before_the_crash_gets_it_back(
    project: Project, new: dict[str, bytes | None], renamed: bool
) -> None:
    (path,) = new

    def save() -> None:
        draft = project.write("draft" if renamed else path, b"T = 9\n")
        if renamed:
            os.utime(draft, (1, 1))  # and so it is told from what was read by being another file
        draft.rename(project.root / path)

    crash(project, new, *MAKING, before=save, after=die)
    assert contents(project, new) == new
    assert "was changed from outside meanwhile" in recovery_message(project)
    assert project.content(path) == b"T = 9\n"


@pytest.mark.parametrize("mode", [0o644, 0o600])
@pytest.mark.parametrize("saved", [b"", b"A = "])
def test_a_beginning_of_what_we_wrote_that_is_saved_just_before_the_crash_is_put_back(
    project: Project, saved: bytes, mode: int
) -> None:
    (project.root / "a.py").chmod(mode)

    def save() -> None:
        draft = project.write("draft", saved)
        draft.chmod(mode)
        draft.rename(project.root / "a.py")

    disk = Acting(*MAKING, before=save, after=die)
    in_child(lambda: Project(project.root, disk=disk).commit(CHANGES["edited"]))
    assert project.content("a.py") == b"A = 2\n"
    assert "was changed from outside meanwhile" in recovery_message(project)
    assert project.content("a.py") == saved
    assert project.history.entries() == ()


@pytest.mark.parametrize(("change", "call"), [("edited", "write"), ("edited", "chmod"), ("created", "write")])
def test_a_process_that_dies_while_it_stages_leaves_nothing_that_passes_for_a_foreign_file(
    project: Project, change: str, call: str
) -> None:
    was = picture(project.root)
    crash(project, CHANGES[change], call, before=die)
    assert len(staged(project)) == 1
    assert "somebody" not in recovery_message(project)
    assert picture(project.root) == was
    assert not project.folders.kept.exists()


def test_who_writes_the_same_while_our_draft_is_not_whole_is_left(project: Project) -> None:
    crash(project, CHANGES["edited"], "write", before=die)
    project.write("draft", b"A = 2\n").rename(project.root / "a.py")
    assert "was changed from outside" in recovery_message(project)
    assert project.content("a.py") == b"A = 2\n"
    assert project.history.entries() == ()


@pytest.mark.parametrize("new", [CHANGES["edited"], CHANGES["deleted"]])
def test_the_first_of_two_saves_around_the_crash_is_kept_and_named(
    project: Project, new: dict[str, bytes | None]
) -> None:
    (path,) = new
    disk = Acting(*MAKING, before=lambda: project.write("draft", b"T = 9\n").rename(project.root / path), after=die)
    in_child(lambda: Project(project.root, disk=disk).commit(new))
    project.write("draft", b"T = 10\n").rename(project.root / path)
    place = Path(recovery_message(project).removesuffix(".").rpartition(" ")[2])
    assert (place.parent, place.read_bytes()) == (project.folders.kept, b"T = 9\n")
    assert project.content(path) == b"T = 10\n"
    assert project.history.entries() == ()


def test_what_came_out_is_looked_at_before_anything_is_waited_for(project: Project) -> None:
    disk = Acting()
    make(project, CHANGES["edited"], disk)
    making = disk.calls.index("exchange")
    assert disk.calls[making + 1 : making + 5] == ["open", "fstat", "read", "close"]


def test_an_old_file_made_executable_just_before_the_crash_is_kept_and_named(project: Project) -> None:
    crash(project, CHANGES["edited"], *MAKING, before=lambda: (project.root / "a.py").chmod(0o755), after=die)
    place = Path(recovery_message(project).removesuffix(".").rpartition(" ")[2])
    assert (place.read_bytes(), place.stat().st_mode & 0o777) == (OLD["a.py"], 0o755)
    assert project.content("a.py") == b"A = 2\n"


def test_an_edit_since_the_crash_is_left_and_the_old_content_is_kept(project: Project) -> None:
    crash(project, CHANGES["edited"], *MAKING, after=die)
    project.write("a.py", b"T = 9\n")
    message = recovery_message(project)
    assert "a was changed from outside meanwhile, and was left as it is" in message
    assert Path(message.removesuffix(".").rpartition(" ")[2]).read_bytes() == OLD["a.py"]
    assert project.content("a.py") == b"T = 9\n"


def test_a_file_that_was_put_back_since_the_crash_stays(project: Project, new: dict[str, bytes | None]) -> None:
    crash(project, new, *MAKING, after=die)
    (path,) = new
    if OLD.get(path) is None:
        (project.root / path).unlink()
    else:
        project.write(path, OLD[path])
    assert "was interrupted" in recovery_message(project)
    assert contents(project, new) == before(new)


def test_who_writes_the_same_before_us_is_left_and_not_recorded(project: Project) -> None:
    crash(project, CHANGES["edited"], *MAKING, before=die)
    project.write("a.py", b"A = 2\n")
    assert "was changed from outside" in recovery_message(project)
    assert project.content("a.py") == b"A = 2\n"
    assert project.history.entries() == ()


def test_whatever_fails_behind_the_replacement_takes_it_back(project: Project, new: dict[str, bytes | None]) -> None:
    was = picture(project.root)
    with pytest.raises(KeyboardInterrupt):
        make(project, new, meanwhile=_interrupt)
    assert picture(project.root) == was
    assert (state(project), staged(project)) == (b"idle", [])


def test_a_lock_that_is_removed_behind_the_replacement_takes_it_back(
    project: Project, new: dict[str, bytes | None]
) -> None:
    was = picture(project.root)
    with pytest.raises(TransactionError, match="lock of the project was removed"):
        make(project, new, meanwhile=project.folders.lock.unlink)
    assert picture(project.root) == was


@pytest.mark.parametrize("what", ["written", "made executable", "linked", "removed"])
@pytest.mark.parametrize("new", [CHANGES["edited"], CHANGES["deleted"]])
def test_who_changes_the_file_just_before_it_is_replaced_has_it_back(
    project: Project, new: dict[str, bytes | None], what: str
) -> None:
    (path,) = new
    file = project.root / path
    theirs: list[object] = []

    def change() -> None:
        if what == "written":
            project.write("draft", b"T = 9\n").rename(file)
        elif what == "made executable":
            file.chmod(0o755)
        elif what == "linked":
            (project.root / "other").hardlink_to(file)
        else:
            file.unlink()
        theirs.append({name: each for name, each in picture(project.root).items() if "staging/" not in name})

    with pytest.raises(Refused, match="was changed from outside in this very moment") as caught:
        make(project, new, Acting(*MAKING, before=change))
    assert caught.value.code == "stale"
    assert picture(project.root) == theirs[0]
    assert (state(project), staged(project)) == (b"idle", [])
    assert project.history.entries() == ()


def test_an_editor_that_has_the_old_file_open_loses_nothing_until_the_mark(project: Project) -> None:
    with (project.root / "a.py").open("r+b") as editor:

        def type_on() -> None:
            editor.write(b"T = 9\n")
            editor.flush()

        with pytest.raises(Refused) as caught:
            make(project, CHANGES["edited"], meanwhile=type_on)
    assert caught.value.code == "stale"
    assert project.content("a.py") == b"T = 9\n"


def test_nothing_is_taken_back_before_the_journal_says_so_durably(project: Project) -> None:
    def interrupt() -> None:
        disk.calls.append("interrupted")
        raise KeyboardInterrupt

    disk = Acting()
    with pytest.raises(KeyboardInterrupt):
        make(project, CHANGES["edited"], disk, meanwhile=interrupt)
    behind = disk.calls[disk.calls.index("interrupted") :]
    assert [name for name in behind if name in ("write_at", "sync_content", "exchange")][:3] == [
        "write_at", "sync_content", "exchange",
    ]  # fmt: skip


def test_who_dies_while_he_takes_back_has_it_taken_back(project: Project, new: dict[str, bytes | None]) -> None:
    was = picture(project.root)
    in_child(lambda: make(project, new, _Mortal(), meanwhile=_interrupt))
    assert (contents(project, new), state(project)) == (new, b"open")
    assert "was interrupted, and was taken back" in recovery_message(project)
    assert picture(project.root) == was


class _Mortal(RealDisk):
    """A disk on which the process dies at the second call that names a file anew."""

    _named = False

    def _name(self) -> None:
        if self._named:
            die()
        self._named = True

    def rename(self, *arguments: Any) -> None:
        self._name()
        super().rename(*arguments)

    def rename_new(self, *arguments: Any) -> None:
        self._name()
        super().rename_new(*arguments)

    def exchange(self, *arguments: Any) -> None:
        self._name()
        super().exchange(*arguments)


def _interrupt() -> None:
    raise KeyboardInterrupt


def test_the_doctor_says_of_it_that_its_file_will_tell(project: Project) -> None:
    crash(project, CHANGES["edited"], *MAKING, after=die)
    found = unfinished(project.folders)
    assert found is not None
    assert found.message.startswith("op_0000 (edit) was begun; the next request sees whether it was made")
    assert state(project) == SINGLE
