"""What others do to a file in the moment in which it is replaced is never lost."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bae_source.errors import Refused
from bae_source.transaction.disk.port import RealDisk
from tests.transaction.support import FaultyDisk, Project, picture
from tests.transaction.test_writer import NEW, after, filled


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return filled(tmp_path / "project")


class HookedDisk(RealDisk):
    """The real disk, which does something once: before or after the first call of that name."""

    def __init__(self, name: str, hook: Callable[[], object], *, after: bool = False) -> None:
        self._name = name
        self._hook: Callable[[], object] | None = hook
        self._after = after

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or name != self._name or self._hook is None:
            return found

        def call(*arguments: Any) -> Any:
            hook, self._hook = self._hook, None
            assert hook is not None
            if self._after:
                answer = found(*arguments)
                hook()
                return answer
            hook()
            return found(*arguments)

        return call


def hooked(root: Path, name: str, hook: Callable[[], object], *, after: bool = False) -> Project:
    return Project(root, disk=HookedDisk(name, hook, after=after))


THEIRS = b"A = 'theirs'\n"


def save_by_rename(root: Path) -> None:
    (root / "draft").write_bytes(THEIRS)
    (root / "draft").rename(root / "pkg/a.py")


def become_a_link(root: Path) -> None:
    (root / "pkg/a.py").unlink()
    (root / "pkg/a.py").symlink_to("b.py")


MEANWHILE: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "saved by a rename": (save_by_rename, lambda root: (root / "pkg/a.py").read_bytes() == THEIRS),
    "saved in place": (
        lambda root: (root / "pkg/a.py").write_bytes(THEIRS),
        lambda root: (root / "pkg/a.py").read_bytes() == THEIRS,
    ),
    "made executable": (
        lambda root: (root / "pkg/a.py").chmod(0o755),
        lambda root: stat.S_IMODE((root / "pkg/a.py").stat().st_mode) == 0o755,
    ),
    "linked": (
        lambda root: os.link(root / "pkg/a.py", root / "second"),
        lambda root: (root / "pkg/a.py").stat().st_nlink == 2,
    ),
    "deleted": (lambda root: (root / "pkg/a.py").unlink(), lambda root: not (root / "pkg/a.py").exists()),
    "turned into a link": (become_a_link, lambda root: (root / "pkg/a.py").is_symlink()),
}


@pytest.mark.parametrize("what", MEANWHILE)
@pytest.mark.parametrize("new", [b"A = 2\n", None], ids=["changed", "deleted"])
def test_an_edit_between_comparing_and_replacing_stays_and_makes_the_change_stale(
    project: Project, what: str, new: bytes | None
) -> None:
    act, still = MEANWHILE[what]
    call = "exchange" if new is not None else "rename_new"
    writing = hooked(project.root, call, lambda: act(project.root))
    with pytest.raises(Refused, match=r"pkg\.a was changed from outside") as caught:
        writing.commit({"pkg/a.py": new, "pkg/b.py": b"B = 2\n"})
    assert caught.value.code == "stale"
    assert still(project.root)
    assert project.content("pkg/b.py") == (project.content("pkg/a.py") if what == "turned into a link" else b"B = 1\n")
    assert list(project.folders.staging.iterdir()) == []


def test_a_file_that_came_meanwhile_is_not_replaced_by_a_new_one(project: Project) -> None:
    writing = hooked(project.root, "rename_new", lambda: project.write("pkg/new.py", THEIRS))
    with pytest.raises(Refused) as caught:
        writing.commit({"pkg/new.py": b"N = 1\n"})
    assert caught.value.code == "stale"
    assert project.content("pkg/new.py") == THEIRS


def test_what_is_given_back_is_durable_before_the_change_is_forgotten(project: Project) -> None:
    calls: list[str] = []

    class Disk(RealDisk):
        def exchange(self, *arguments: Any) -> None:
            if not calls:
                save_by_rename(project.root)
            calls.append("exchange")
            super().exchange(*arguments)

        def fsync(self, file: int) -> None:
            if calls:
                calls.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")

        def sync_content(self, file: int) -> None:
            if calls:
                calls.append("journal")

    with pytest.raises(Refused):
        Project(project.root, disk=Disk()).commit({"pkg/a.py": b"A = 2\n"})
    assert calls[:3] == ["exchange", "exchange", "folder"]
    assert set(calls[3:]) == {"journal"}
    assert project.content("pkg/a.py") == THEIRS


class SavedTwice(RealDisk):
    """Somebody saves just before a file is exchanged, and again while that is given back."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.saves = iter([b"first\n", b"second\n"])

    def exchange(self, *arguments: Any) -> None:
        if (text := next(self.saves, None)) is not None:
            (self.root / "draft").write_bytes(text)
            (self.root / "draft").rename(self.root / "pkg/a.py")
        super().exchange(*arguments)


def test_a_second_save_while_the_first_is_given_back_stays_and_the_first_is_named(
    project: Project,
) -> None:
    with pytest.raises(Refused) as caught:
        Project(project.root, disk=SavedTwice(project.root)).commit({"pkg/a.py": b"A = 2\n"})
    assert project.content("pkg/a.py") == b"second\n"
    assert kept(caught.value) == b"first\n"


def test_a_file_made_anew_while_a_save_of_the_deleted_one_is_given_back_stays_and_the_save_is_named(
    project: Project,
) -> None:
    saves = iter([b"first\n", b"second\n"])

    class Disk(RealDisk):
        def rename_new(self, *arguments: Any) -> None:
            if (text := next(saves, None)) is not None:
                project.write("pkg/a.py", text)
            super().rename_new(*arguments)

    with pytest.raises(Refused) as caught:
        Project(project.root, disk=Disk()).commit({"pkg/a.py": None})
    assert project.content("pkg/a.py") == b"second\n"
    assert kept(caught.value) == b"first\n"


def test_a_save_that_cannot_be_put_away_stays_where_it_is_until_it_can(project: Project) -> None:
    class Disk(SavedTwice):
        def rename(self, *_: Any) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(Refused) as caught:
        Project(project.root, disk=Disk(project.root)).commit({"pkg/a.py": b"A = 2\n"})
    assert caught.value.hints[-1] == (
        "A version saved meanwhile could not be put away: the disk is full; the next command tries again."
    )
    (notice,) = project.transactions.recover()
    place = Path(notice.message.removesuffix(".").rpartition(" ")[2])
    assert (place.parent, place.read_bytes()) == (project.folders.kept, b"first\n")
    assert project.content("pkg/a.py") == b"second\n"
    assert list(project.folders.staging.iterdir()) == []


def kept(error: Refused) -> bytes:
    """Return what was put away for whoever saved it, and make sure that it is where the error says."""
    sentence, _, place = error.hints[-1].removesuffix(".").rpartition(" ")
    assert sentence == "A version saved from outside just before that, and overwritten since, is in"
    return Path(place).read_bytes()


def test_an_editor_that_has_the_old_file_open_loses_nothing_until_the_commit(project: Project) -> None:
    with (project.root / "pkg/a.py").open("r+b") as editor:

        def type_on() -> None:
            editor.write(b"A = 9\r\n")
            editor.flush()

        with pytest.raises(Refused) as caught:
            project.commit({"pkg/a.py": b"A = 2\n"}, meanwhile=type_on)
    assert caught.value.code == "stale"
    assert project.content("pkg/a.py") == b"A = 9\r\n"


@pytest.mark.parametrize("fails", [False, True])
def test_a_file_system_that_cannot_exchange_works_as_well(tmp_path: Path, fails: bool) -> None:
    disk = FaultyDisk(1, errno.EINVAL, forever=True, only=frozenset({"exchange", "rename_new"}))
    project = filled(tmp_path / "p", disk=disk)
    before = picture(project.root)
    if fails:
        with pytest.raises(KeyboardInterrupt):
            project.commit(NEW, meanwhile=_interrupt)
        assert picture(project.root) == before
    else:
        project.commit(NEW)
        assert after(project.root) == {path: content for path, content in NEW.items() if content is not None}
        assert stat.S_IMODE((project.root / "pkg/a.py").stat().st_mode) == 0o640
    assert list(project.folders.staging.iterdir()) == []


def test_where_nothing_can_be_exchanged_a_file_is_compared_last_thing(tmp_path: Path) -> None:
    project = filled(tmp_path / "p")

    class Disk(RealDisk):
        def exchange(self, *arguments: Any) -> None:
            project.write("pkg/a.py", THEIRS)
            raise OSError(errno.ENOSYS, "no such call")

    with pytest.raises(Refused) as caught:
        Project(project.root, disk=Disk()).commit({"pkg/a.py": b"A = 2\n"})
    assert caught.value.code == "stale"
    assert project.content("pkg/a.py") == THEIRS


def _interrupt() -> None:
    raise KeyboardInterrupt
