"""Folders keep their permission bits when they go with their last file and come back, or when they are moved."""

from __future__ import annotations

import errno
import gc
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bae_source import Source
from bae_source.errors import ResourceError, TransactionError
from bae_source.history.record.entry import Entry
from bae_source.model.changeset import ChangeSet, between
from bae_source.transaction.disk.port import RealDisk
from bae_source.transaction.disk.walk import Walk
from tests.transaction.support import PATH, FaultyDisk, Project, picture
from tests.transaction.test_recovery import crashed

SHARED, PRIVATE = 0o2770, 0o700


@pytest.fixture(autouse=True)
def _mask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def lay_out(root: Path, modes: Mapping[str, int]) -> Path:
    """Make packages of these folders, each with these bits."""
    for folder in modes:
        (root / folder).mkdir(parents=True)
        (root / folder / "__init__.py").write_text("X = 1\n")
        (root / folder / "m.py").write_text("X = 1\n")
    for folder, mode in modes.items():
        (root / folder).chmod(mode)
    return root


def modes(root: Path) -> dict[str, int]:
    """Return the bits of every folder of a project."""
    folders = (path for path in root.rglob("*") if path.is_dir() and not path.is_symlink())
    return {path.relative_to(root).as_posix(): path.stat().st_mode & 0o7777 for path in folders if _is_theirs(path)}


def _is_theirs(path: Path) -> bool:
    return ".bae-source" not in path.parts


PACKAGES = {"pkg": SHARED, "pkg/sub": PRIVATE, "pkg/sub/deep": 0o1777, "other": 0o755}


def test_a_deleted_package_comes_back_with_the_bits_of_its_folders_and_goes_and_comes_again(tmp_path: Path) -> None:
    src = Source(lay_out(tmp_path / "p", PACKAGES))
    src.delete("pkg", recursive=True)
    assert modes(tmp_path / "p") == {"other": 0o755}
    src.undo()
    assert modes(tmp_path / "p") == PACKAGES
    src.redo()
    src.undo()
    assert modes(tmp_path / "p") == PACKAGES


def test_a_moved_package_takes_the_bits_of_its_folders_along_and_back(tmp_path: Path) -> None:
    src = Source(lay_out(tmp_path / "p", PACKAGES))
    src.move("pkg.sub", "other.inner")
    moved = {"pkg": SHARED, "other": 0o755, "other/inner": PRIVATE, "other/inner/deep": 0o1777}
    assert modes(tmp_path / "p") == moved
    src.undo()
    assert modes(tmp_path / "p") == PACKAGES
    src.redo()
    assert modes(tmp_path / "p") == moved


def test_a_created_package_that_was_undone_comes_back_with_the_bits_that_it_had_been_given(tmp_path: Path) -> None:
    src = Source(lay_out(tmp_path / "p", {"other": 0o755}))
    src.write("made.m", "X = 1\n")
    (tmp_path / "p/made").chmod(SHARED)
    src.undo()
    assert modes(tmp_path / "p") == {"other": 0o755}
    src.redo()
    assert modes(tmp_path / "p") == {"other": 0o755, "made": SHARED}


def test_a_folder_that_a_move_left_empty_comes_back_as_it_was_and_not_as_the_one_that_took_its_file(
    tmp_path: Path,
) -> None:
    src = Source(lay_out(tmp_path / "p", {"other": 0o755}))
    (tmp_path / "p/plain").mkdir(PRIVATE)
    (tmp_path / "p/plain/n.py").write_text("X = 1\n")
    src.move("plain.n", "other.n")
    assert modes(tmp_path / "p") == {"other": 0o755}
    src.undo()
    assert modes(tmp_path / "p") == {"other": 0o755, "plain": PRIVATE}


def test_several_undone_at_once_give_back_what_was_recorded_last(tmp_path: Path) -> None:
    src = Source(lay_out(tmp_path / "p", {"pkg": 0o755}))
    src.delete("pkg.m")
    (tmp_path / "p/pkg").chmod(SHARED)
    src.delete("pkg", recursive=True)
    src.undo(count=2)
    assert modes(tmp_path / "p") == {"pkg": SHARED}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return filled(tmp_path / "p")


def filled(root: Path, **more: Any) -> Project:
    lay_out(root, {"pkg": SHARED, "pkg/sub": PRIVATE})
    return Project(root, **more)


def moved(*targets: tuple[str, str]) -> ChangeSet:
    """Return the change that moves files, each from the second to the first."""
    content: dict[str, bytes | None] = {old: b"X = 1\n" for _, old in targets}
    after = {**dict.fromkeys(content), **{new: content[old] for new, old in targets}}
    return between(content, after, dict(targets))


def test_a_folder_that_is_made_for_a_moved_file_takes_the_bits_of_the_one_as_far_above_it(project: Project) -> None:
    project.make(moved(("a/b/c/m.py", "pkg/sub/m.py")))
    assert modes(project.root) == {"pkg": SHARED, "pkg/sub": PRIVATE, "a": 0o750, "a/b": SHARED, "a/b/c": PRIVATE}


def test_a_folder_that_is_there_keeps_its_bits_whatever_is_moved_into_it(project: Project) -> None:
    lay_out(project.root, {"open": 0o755})
    project.make(moved(("open/n.py", "pkg/sub/m.py")))
    assert modes(project.root)["open"] == 0o755


def test_what_a_change_asks_for_comes_before_what_a_move_would_give(project: Project) -> None:
    changes = moved(("new/m.py", "pkg/sub/m.py"))
    project.make(ChangeSet(changes.files, (("new", 0o711),)))
    assert modes(project.root)["new"] == 0o711


def test_a_folder_behind_a_link_is_known_by_where_it_lies(tmp_path: Path) -> None:
    project = filled(tmp_path / "p", path=PATH)
    (project.root / "link").symlink_to("pkg")
    project.commit({"link/sub/m.py": None, "link/sub/__init__.py": None})
    assert modes(project.root) == {"pkg": SHARED}
    (entry,) = project.history.entries()
    assert entry.folders == {"pkg": SHARED, "pkg/sub": PRIVATE}
    changes = between({}, {"link/sub/m.py": b"X = 1\n"})
    project.make(ChangeSet(changes.files, tuple(entry.folders.items())))
    assert modes(project.root) == {"pkg": SHARED, "pkg/sub": PRIVATE}


def test_its_owner_may_always_write_to_a_folder_that_is_made(project: Project) -> None:
    changes = ChangeSet(between({}, {"new/deep/n.py": b""}).files, (("new", 0o055), ("new/deep", 0o500)))
    with pytest.raises(TransactionError):
        project.make(changes, meanwhile=_refuse)
    assert "new" not in modes(project.root)
    project.make(changes)
    assert (modes(project.root)["new"], modes(project.root)["new/deep"]) == (0o755, 0o700)


def test_bits_are_set_only_where_they_are_not_as_wanted(tmp_path: Path) -> None:
    for number, (mode, calls) in enumerate({0o750: 0, 0o755: 1, 0o700: 0, SHARED: 1}.items()):
        disk = FaultyDisk(0, 0)
        project = filled(tmp_path / str(number), disk=disk)
        project.make(ChangeSet(between({}, {"new/n.py": b""}).files, (("new", mode),)))
        assert modes(project.root)["new"] == mode
        assert disk.calls.count("chmod") == calls


def test_a_folder_is_never_open_to_more_than_it_shall_be(tmp_path: Path) -> None:
    seen: list[int] = []

    class Disk(FaultyDisk):
        def mkdir(self, name: str, folder: int, mode: int) -> None:
            super().mkdir(name, folder, mode)
            seen.append(os.stat(name, dir_fd=folder).st_mode & 0o777)

    project = filled(tmp_path / "p", disk=Disk(0, 0))
    project.make(ChangeSet(between({}, {"new/n.py": b""}).files, (("new", 0o1701),)))
    assert seen == [0o700]
    assert modes(project.root)["new"] == 0o1701


def failure_of(project: Project) -> ResourceError | None:
    try:
        project.make(moved(("new/in/m.py", "pkg/sub/m.py"), ("new/in/__init__.py", "pkg/sub/__init__.py")))
    except ResourceError as error:
        return error
    return None


@pytest.mark.parametrize("error", [errno.EIO, errno.EACCES])
def test_any_failing_call_leaves_the_bits_of_folders_as_before_or_as_after(tmp_path: Path, error: int) -> None:
    number, outcomes, fired = 0, set(), True
    while fired:
        number += 1
        disk = FaultyDisk(number, error)
        root = tmp_path / str(number)
        project = filled(root, disk=disk)
        before = picture(root)
        failure = failure_of(project)
        if failure is None:
            assert modes(root) == {"pkg": SHARED, "new": SHARED, "new/in": PRIVATE}, disk.calls[number - 1 :][:1]
        else:
            assert "nothing was changed" in failure.message
            assert picture(root) == before
        outcomes.add("before" if failure else "after")
        fired = disk.fired
    assert outcomes == {"before", "after"}


def test_a_crashed_change_is_taken_back_with_its_folders_though_one_was_removed(project: Project) -> None:
    before = modes(project.root)
    crashed(project, {"pkg/sub/m.py": None, "pkg/sub/__init__.py": None, "new/n.py": b""})
    shutil.rmtree(project.root / "pkg/sub")
    project.transactions.recover()
    assert modes(project.root) == before
    assert project.content("pkg/sub/m.py") == b"X = 1\n"


def test_an_entry_of_before_there_were_bits_of_folders_in_it_is_read() -> None:
    entry = Entry(id="op_1", kind="change", who="me", when="2026-11-21T12:00:00+00:00", summary="edit", files=())
    old = msgspec.to_builtins(entry)
    assert old.pop("folders") == {}
    assert msgspec.convert(old, Entry) == entry


def _refuse() -> None:
    raise TransactionError("verify_failed", "no")


def test_folders_that_ctrl_c_leaves_open_are_closed_once_they_are_unused(tmp_path: Path) -> None:
    class Disk(RealDisk):
        """Ctrl-C comes when the first folder was closed."""

        def open(self, name: str, flags: int, mode: int, folder: int | None) -> int:
            opened.append(super().open(name, flags, mode, folder))
            return opened[-1]

        def close(self, file: int) -> None:
            super().close(file)
            closed.append(file)
            if len(closed) == 1:
                raise KeyboardInterrupt

    opened: list[int] = []
    closed: list[int] = []
    (tmp_path / "deep/er").mkdir(parents=True)
    walk = Walk(tmp_path, Disk(), str)
    with pytest.raises(KeyboardInterrupt), walk.keeping():
        walk.at(("deep", "er"))
    assert (len(opened), len(closed)) == (3, 1)
    del walk
    gc.collect()
    assert sorted(closed) == sorted(opened), "each once"
