"""Files are replaced whole or not at all, and keep what they had beside their content."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from bae_source.errors import Refused, ResourceError, TransactionError
from bae_source.transaction.disk.port import RealDisk
from tests.transaction.support import FaultyDisk, Loads, Project, picture

NEW = {
    "pkg/a.py": b"A = 2\r\n",
    "pkg/b.py": b"B = 2\n",
    "pkg/fresh/deep/c.py": b"C = 1\n",
    "gone/d.py": None,
}


RENAMES = frozenset({"rename", "rename_new", "exchange"})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return filled(tmp_path / "project")


def filled(root: Path, **more: object) -> Project:
    project = Project(root, **more)  # type: ignore[arg-type]
    project.write("pkg/a.py", b"A = 1\r\n").chmod(0o640)
    project.write("pkg/b.py", b"B = 1\n").chmod(0o755)
    project.write("gone/d.py", b"D = 1\n")
    return project


def after(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.py")}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_files_are_edited_created_and_deleted_together(project: Project) -> None:
    project.commit(NEW)
    assert after(project.root) == {path: content for path, content in NEW.items() if content is not None}
    assert not (project.root / "gone").exists(), "a folder that lost its last file would be a namespace package"


def test_mode_owner_attributes_and_line_ends_are_kept(project: Project) -> None:
    file = project.root / "pkg/a.py"
    if os.geteuid() == 0:
        os.chown(file, 12, 34)
    os.setxattr(file, "user.note", b"mine")
    before = file.stat()
    project.commit({"pkg/a.py": b"A = 2\r\nB\n"})
    now = file.stat()
    assert (stat.S_IMODE(now.st_mode), now.st_uid, now.st_gid) == (0o640, before.st_uid, before.st_gid)
    assert os.getxattr(file, "user.note") == b"mine"
    assert file.read_bytes() == b"A = 2\r\nB\n"


def test_a_new_file_has_the_mode_that_the_umask_gives(project: Project) -> None:
    earlier = os.umask(0o027)
    try:
        project.commit({"new.py": b""})
    finally:
        os.umask(earlier)
    assert stat.S_IMODE((project.root / "new.py").stat().st_mode) == 0o640
    assert project.content("new.py") == b""


@pytest.mark.parametrize("absolute", [False, True])
def test_a_link_stays_a_link_and_its_target_is_written(project: Project, absolute: bool) -> None:
    link = project.root / "pkg/link.py"
    link.symlink_to(project.root / "gone/d.py" if absolute else "../gone/d.py")
    project.commit({"pkg/link.py": b"D = 2\n"})
    assert link.is_symlink()
    assert (project.root / "gone/d.py").read_bytes() == b"D = 2\n"


def test_a_linked_folder_inside_the_project_is_followed(project: Project) -> None:
    (project.root / "alias").symlink_to("pkg")
    project.commit({"alias/a.py": b"A = 2\n"})
    assert project.content("pkg/a.py") == b"A = 2\n"


@pytest.mark.parametrize("where", ["file", "folder", "prefix", "loop", "climbing"])
def test_a_link_that_leaves_the_project_is_refused(project: Project, tmp_path: Path, where: str) -> None:
    outside = tmp_path / "project2"
    outside.mkdir()
    (outside / "x.py").write_bytes(b"X = 1\n")
    links: dict[str, tuple[str, str | Path, str]] = {
        "file": ("pkg/x.py", outside / "x.py", "pkg/x.py"),
        "folder": ("out", outside, "out/x.py"),
        "prefix": ("out", "../project2", "out/x.py"),
        "loop": ("out", "out", "out/x.py"),
        "climbing": ("pkg/up", "../../project/../project2", "pkg/up/x.py"),
    }
    link, target, path = links[where]
    (project.root / link).symlink_to(target)
    before = picture(tmp_path)
    with pytest.raises(Refused, match="leaves the project") as caught:
        project.transactions.read(path)
    assert caught.value.code == "outside_project"
    assert picture(tmp_path) == before


@pytest.mark.parametrize("path", ["../x.py", "/etc/x.py", "pkg/../../x.py", "pkg//x.py", "a\0b.py", "./x.py"])
def test_a_path_that_is_none_is_refused(project: Project, path: str) -> None:
    with pytest.raises(Refused) as caught:
        project.transactions.read(path)
    assert caught.value.code == "outside_project"


@pytest.mark.parametrize("path", [".git/config", ".bae-source/x.py", "pkg/.git/hooks/x"])
def test_our_own_state_and_gits_are_out_of_reach(project: Project, path: str) -> None:
    with pytest.raises(Refused) as caught:
        project.commit({path: b"x"})
    assert caught.value.code == "forbidden"


def test_a_hard_link_is_refused_and_stays(project: Project) -> None:
    os.link(project.root / "pkg/a.py", project.root / "other.py")
    with pytest.raises(Refused, match="hard links") as caught:
        project.commit({"pkg/a.py": b"A = 2\n"})
    assert caught.value.code == "unsafe_change"
    assert (project.root / "other.py").read_bytes() == b"A = 1\r\n"


def test_a_read_only_file_is_refused_even_for_root(project: Project) -> None:
    (project.root / "pkg/a.py").chmod(0o444)
    with pytest.raises(Refused, match=r"pkg\.a is read-only") as caught:
        project.commit({"pkg/a.py": b"A = 2\n"})
    assert caught.value.code == "forbidden"


@pytest.mark.parametrize("path", ["pkg/a.py", "pkg/new.py", "pkg/sub/new.py"])
def test_a_read_only_folder_is_refused_even_for_root(project: Project, path: str) -> None:
    (project.root / "pkg").chmod(0o555)
    with pytest.raises(Refused, match="read-only") as caught:
        project.commit({path: b"A = 2\n"})
    assert caught.value.code == "forbidden"
    (project.root / "pkg").chmod(0o755)


def test_a_fifo_is_refused_and_does_not_hang(project: Project) -> None:
    os.mkfifo(project.root / "pkg/pipe.py")
    with pytest.raises(Refused, match="no regular file"):
        project.transactions.read("pkg/pipe.py")


def test_a_link_to_nothing_is_refused(project: Project) -> None:
    (project.root / "pkg/x.py").symlink_to("nothing.py")
    with pytest.raises(Refused, match="leads to nothing"):
        project.commit({"pkg/x.py": b"X\n"})


def test_two_names_of_one_file_are_refused(project: Project) -> None:
    (project.root / "pkg/link.py").symlink_to("a.py")
    with pytest.raises(Refused) as caught:
        project.commit({"pkg/a.py": b"A = 2\n", "pkg/link.py": b"A = 3\n"})
    assert caught.value.code == "unsafe_change"


def test_deleting_through_a_link_is_refused(project: Project) -> None:
    (project.root / "pkg/link.py").symlink_to("a.py")
    with pytest.raises(Refused) as caught:
        project.commit({"pkg/link.py": None})
    assert caught.value.code == "unsafe_change"
    assert (project.root / "pkg/link.py").is_symlink()


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_any_single_failing_call_leaves_everything_as_before_or_as_after(tmp_path: Path, error: int) -> None:
    number, outcomes = 0, set()
    fired = True
    while fired:
        number += 1
        disk = FaultyDisk(number, error)
        root = tmp_path / f"{error}-{number}"
        project = filled(root, disk=disk)
        before = picture(root)
        failure = failure_of(project)
        fired = disk.fired
        if failure is None:
            assert after(root) == {path: content for path, content in NEW.items() if content is not None}
            left = [name for name in picture(root) if "bae-source" in name and "/pending/" not in name]
            assert not left, disk.calls[number - 1]
        else:
            assert failure.code in ("write_failed", "forbidden"), failure
            assert "nothing was changed" in failure.message
            assert str(root) not in str(failure)
            assert picture(root) == before, disk.calls[number - 1]
        outcomes.add("after" if failure is None else "before")
    assert outcomes == {"before", "after"}
    assert number > 100, "every call was tried"


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_stays_full_can_still_be_taken_back(tmp_path: Path, error: int) -> None:
    number, fired = 0, True
    while fired:
        number += 1
        disk = FaultyDisk(number, error, forever=True, only=frozenset({"write", "mkdir"}))
        root = tmp_path / str(number)
        project = filled(root, disk=disk)
        before = picture(root)
        failure = failure_of(project)
        fired = disk.fired
        if failure is not None:
            assert (failure.code, failure.hints[0]) == ("write_failed", "Free some space and try again.")
            assert picture(root) == before
    assert number > 5


def test_no_file_stays_open_whatever_call_fails(tmp_path: Path) -> None:
    disk = FaultyDisk(0, errno.EIO)
    project = filled(tmp_path / "p", disk=disk)
    project.commit({"pkg/b.py": b"B = 2\n"})  # from now on the lock and the journal are open
    before = descriptors()
    number = 0
    while disk.fired or not number:
        number += 1
        disk.at, disk.calls, disk.fired = number, [], False
        with suppress(ResourceError):
            project.commit({"pkg/a.py": b"A = %d\n" % number, f"new{number}/c.py": b"C = 1\n"})
        assert descriptors() == before, disk.calls[number - 1]
    assert number > 50, "every call was tried"


def descriptors() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


def failure_of(project: Project) -> ResourceError | None:
    try:
        project.commit(NEW)
    except ResourceError as failure:
        return failure
    return None


def test_the_error_of_a_full_disk_names_the_module_and_says_what_to_do(tmp_path: Path) -> None:
    project = filled(tmp_path / "p", disk=FaultyDisk(1, errno.ENOSPC, only=frozenset({"write"})))
    with pytest.raises(
        TransactionError, match=r"^pkg\.a could not be written: the disk is full; nothing was changed\.$"
    ):
        project.commit({"pkg/a.py": b"A = 2\n"})


@pytest.mark.parametrize(
    ("call", "number", "name"),
    [
        ("write", 1, "pkg.a"),
        ("write", 2, "lib.b"),
        ("fsync", 1, "pkg.a"),
        ("fsync", 2, "lib.b"),
        ("exchange", 1, "pkg.a"),
        ("rename_new", 1, "lib.b"),
        ("fsync", 3, "pkg.a"),
        ("fsync", 4, "lib.b"),
    ],
)
def test_whatever_fails_the_file_is_named_that_it_was_about(tmp_path: Path, call: str, number: int, name: str) -> None:
    disk = FaultyDisk(1_000_000, errno.EIO, only=frozenset({call}))
    project = filled(tmp_path / "p", disk=disk)
    project.write("lib/x.py", b"X = 1\n")
    project.commit({"pkg/c.py": b"C = 1\n"})
    before = picture(project.root)
    disk.at = len(disk.calls) + number

    with pytest.raises(TransactionError, match=rf"^{name} could not be written: .*; nothing was changed\.$"):
        project.commit({"pkg/a.py": b"A = 2\n", "lib/b.py": b"B = 2\n"})

    assert disk.fired
    assert picture(project.root) == before


def test_a_rollback_that_fails_never_says_that_nothing_was_changed(tmp_path: Path) -> None:
    def refuse() -> None:
        disk.at = len(disk.calls) + 1
        raise Refused("unsafe_change", "A check failed", unchanged=True, hints=["Mend it."])

    disk = FaultyDisk(1_000_000, errno.EIO, forever=True, only=RENAMES)
    project = filled(tmp_path / "p", disk=disk)
    with pytest.raises(TransactionError) as caught:
        project.commit({"pkg/a.py": b"A = 2\n"}, meanwhile=refuse)
    assert caught.value.message == "The change failed (A check failed), and pkg.a could not be taken back."
    assert project.content("pkg/a.py") == b"A = 2\n"


def test_a_rollback_that_fails_names_each_file_and_where_its_old_bytes_are(tmp_path: Path) -> None:
    disk = FaultyDisk(3, errno.EIO, forever=True, only=RENAMES)
    project = filled(tmp_path / "p", disk=disk)

    with pytest.raises(TransactionError, match=r"pkg\.b, pkg\.a could not be taken back") as caught:
        project.commit({"pkg/a.py": b"A = 2\n", "pkg/b.py": b"B = 2\n", "pkg/c.py": b"C\n"})

    failure = caught.value
    assert failure.code == "rollback_failed"
    kept = {file["path"]: Path(file["old_content"]).read_bytes() for file in failure.details["files"]}
    assert kept == {"pkg/a.py": b"A = 1\r\n", "pkg/b.py": b"B = 1\n"}
    assert all(file["old_content"] in " ".join(failure.hints) for file in failure.details["files"])


def test_a_file_changed_while_others_are_written_is_left_and_the_rest_taken_back(project: Project) -> None:
    loader = Loads(on_load=lambda: project.write("pkg/b.py", b"B = 'theirs'\n") and ())
    with pytest.raises(Refused) as caught:
        project.commit({"pkg/a.py": b"A = 2\n", "pkg/b.py": b"B = 2\n"}, loader=loader)
    assert caught.value.code == "stale"
    assert project.content("pkg/a.py") == b"A = 1\r\n"
    assert project.content("pkg/b.py") == b"B = 'theirs'\n"


OTHER_DEVICES = [
    folder
    for folder in map(Path, ("/dev/shm", "/run", "/tmp"))
    if os.access(folder, os.W_OK) and folder.stat().st_dev != Path(tempfile.gettempdir()).stat().st_dev
][:1]


@pytest.mark.parametrize("shared", OTHER_DEVICES, ids=str)
def test_another_device_is_staged_beside_the_target_under_our_name(tmp_path: Path, shared: Path) -> None:
    class Disk(RealDisk):
        def sync_content(self, file: int) -> None:
            seen.append(names(project.root / "pkg"))
            super().sync_content(file)

    seen: list[list[str]] = []
    project = filled(tmp_path / "p", disk=Disk())
    project.folders.staging = shared / f"bae-source-test-{os.getpid()}"
    try:
        project.commit({"pkg/a.py": b"A = 2\n"}, meanwhile=lambda: seen.append(names(project.root / "pkg")))
    finally:
        project.folders.staging.rmdir()
    assert project.content("pkg/a.py") == b"A = 2\n"
    before, present = ["a.py", "b.py"], [".bae-source-op_0000-0", "a.py", "b.py"]
    assert seen == [before, present], "as the journal is made durable, and when the target is replaced"
    assert names(project.root / "pkg") == ["a.py", "b.py"]


def test_one_device_without_renames_across_folders_works_too(tmp_path: Path) -> None:
    disk = FaultyDisk(1, errno.EXDEV, only=RENAMES)
    project = filled(tmp_path / "p", disk=disk)
    project.commit({"pkg/b.py": b"B = 2\n"})
    assert project.content("pkg/b.py") == b"B = 2\n"
    assert stat.S_IMODE((project.root / "pkg/b.py").stat().st_mode) == 0o755
    assert names(project.root / "pkg") == ["a.py", "b.py"]
