"""New names, what a file has beside its content, and folders that come and go."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from bae_source.errors import Refused, TransactionError
from bae_source.model.changeset import ChangeSet, Edit, FileChange, between, changeset, digest
from bae_source.transaction.disk.port import RealDisk
from tests.transaction.support import Project, picture
from tests.transaction.test_writer import filled, names


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return filled(tmp_path / "project")


@pytest.mark.parametrize("path", ["pkg/A.py", "PKG/c.py", "gone/D.PY"])
def test_a_new_name_that_differs_by_case_alone_is_refused(project: Project, path: str) -> None:
    before = picture(project.root)
    with pytest.raises(Refused, match="is there already") as caught:
        project.commit({path: b"X = 1\n"})
    assert caught.value.code == "name_collision"
    assert picture(project.root) == before


def test_a_new_name_that_differs_by_how_it_is_composed_is_refused(project: Project) -> None:
    project.write("pkg/caf\u00e9.py", b"C = 1\n")
    with pytest.raises(Refused) as caught:
        project.commit({"pkg/cafe\u0301.py": b"C = 2\n"})
    assert caught.value.code == "name_collision"


def test_a_file_may_be_moved_to_a_name_that_differs_by_case_alone(project: Project) -> None:
    project.commit({"pkg/a.py": None, "pkg/A.py": b"A = 1\r\n"})
    assert names(project.root / "pkg") == ["A.py", "b.py"]


def test_a_moved_file_takes_along_mode_owner_attributes_and_time(project: Project) -> None:
    file = project.root / "pkg/a.py"
    os.setxattr(file, "user.note", b"mine")
    os.utime(file, ns=(1, 1_000_000_000_000_000_000))
    if os.geteuid() == 0:
        os.chown(file, 12, 34)
    old = file.stat()
    content = b"A = 1\r\n"
    project.make(between({"pkg/a.py": b"A = 1\r\n"}, {"pkg/a.py": None, "new/a.py": content}, {"new/a.py": "pkg/a.py"}))
    now = (project.root / "new/a.py").stat()
    assert (now.st_mode, now.st_uid, now.st_gid, now.st_mtime_ns) == (
        old.st_mode, old.st_uid, old.st_gid, old.st_mtime_ns,
    )  # fmt: skip
    assert os.getxattr(project.root / "new/a.py", "user.note") == b"mine"
    assert project.content("new/a.py") == content


def test_a_new_file_has_the_mode_that_its_change_asks_for(project: Project) -> None:
    change = FileChange(
        path="run.py", before=None, after=digest(b"R"), edits=(Edit(start=0, old=b"", new=b"R"),), mode=0o750
    )
    project.make(ChangeSet((change,)))
    assert stat.S_IMODE((project.root / "run.py").stat().st_mode) == 0o750


def test_a_new_file_in_a_folder_that_hands_on_its_group_gets_it(project: Project) -> None:
    folder = project.root / "pkg"
    group = 4711 if os.geteuid() == 0 else os.getgid()
    os.chown(folder, -1, group)
    folder.chmod(0o2755)
    project.commit({"pkg/new.py": b"N = 1\n"})
    assert (folder / "new.py").stat().st_gid == group


def test_a_package_that_loses_its_last_file_goes_with_its_compiled_code(project: Project) -> None:
    project.write("gone/__pycache__/d.cpython-311.pyc", b"compiled")
    project.write("pkg/__pycache__/a.cpython-311.pyc", b"compiled")
    project.commit({"gone/d.py": None})
    assert not (project.root / "gone").exists(), "what is left of it could still be imported"
    assert (project.root / "pkg/__pycache__/a.cpython-311.pyc").exists()


@pytest.mark.parametrize("other", ["gone/notes.txt", "gone/__pycache__/notes.txt"])
def test_a_folder_that_holds_anything_else_stays(project: Project, other: str) -> None:
    project.write(other, b"mine")
    project.write("gone/__pycache__/d.cpython-311.pyc", b"compiled")
    project.commit({"gone/d.py": None})
    assert project.content(other) == b"mine"
    assert project.content("gone/__pycache__/d.cpython-311.pyc") == b"compiled"


class InsensitiveDisk(RealDisk):
    """A disk that takes names for the same which differ by case alone, as those of macOS and Windows do."""

    def open(self, name: str, flags: int, mode: int, folder: int | None) -> int:
        return super().open(_there(name, folder), flags, mode, folder)

    def lstat(self, name: str, folder: int) -> os.stat_result:
        return super().lstat(_there(name, folder), folder)

    def access(self, name: str, folder: int) -> bool:
        return super().access(_there(name, folder), folder)

    def rename(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
        super().rename(_there(source, source_folder), target, source_folder, target_folder)

    def rename_new(self, source: str, target: str, source_folder: int, target_folder: int) -> None:
        if _there(target, target_folder) != target:
            raise FileExistsError(errno.EEXIST, "there in other letters")
        super().rename_new(_there(source, source_folder), target, source_folder, target_folder)


def _there(name: str, folder: int | None) -> str:
    found = [] if folder is None or name == "." else RealDisk().names(folder)
    return next((other for other in found if other.casefold() == name.casefold()), name)


def renamed(old: str, new: str) -> ChangeSet:
    """Return the change that renames a folder with its two files."""
    names = ("a.py", "in/b.py")
    before: dict[str, bytes | None] = {f"{old}/{name}": name.encode() for name in names}
    after: dict[str, bytes | None] = {f"{new}/{name}": name.encode() for name in names}
    return between(before, {**dict.fromkeys(before), **after}, dict(zip(after, before, strict=True)))


def with_folder(root: Path, disk: RealDisk | None = None) -> Project:
    project = Project(root, disk=disk)
    for name in ("a.py", "in/b.py"):
        project.write(f"Sub/{name}", name)
    return project


def test_a_folder_may_be_renamed_by_case_alone_if_all_that_is_in_it_goes(tmp_path: Path) -> None:
    project = with_folder(tmp_path / "p")
    project.write("Sub/__pycache__/a.cpython-311.pyc", b"compiled")
    project.write("Sub/in/__pycache__/b.cpython-311.pyc", b"compiled")
    project.make(renamed("Sub", "sub"))
    assert {name for name in picture(project.root) if not name.startswith(".bae")} == {
        "sub", "sub/a.py", "sub/in", "sub/in/b.py",
    }  # fmt: skip


def test_a_folder_that_is_renamed_by_case_alone_is_taken_back(tmp_path: Path) -> None:
    project = with_folder(tmp_path / "p")
    before = picture(project.root)
    with pytest.raises(TransactionError):
        project.make(renamed("Sub", "sub"), meanwhile=_refuse)
    assert picture(project.root) == before


STAYING = (
    "Sub/note.txt",
    "Sub/in/deep/note.txt",
    "Sub/__pycache__/note.txt",
    "Sub/empty/__pycache__/c.cpython-311.pyc",
)


@pytest.mark.parametrize("other", STAYING)
def test_a_folder_is_not_renamed_by_case_alone_if_anything_stays_in_it(tmp_path: Path, other: str) -> None:
    project = with_folder(tmp_path / "p")
    project.write(other, b"mine")
    before = picture(project.root)
    with pytest.raises(Refused, match="'Sub' is there already"):
        project.make(renamed("Sub", "sub"))
    assert picture(project.root) == before


@pytest.mark.parametrize("path", ["Sub/new.py", "Sub/in/new.py"])
def test_a_folder_is_not_renamed_by_case_alone_if_anything_new_comes_into_it(tmp_path: Path, path: str) -> None:
    project = with_folder(tmp_path / "p")
    before = picture(project.root)
    moved = renamed("Sub", "sub")
    more = between({}, {path: b"new"})
    with pytest.raises(Refused, match="'Sub' is there already"):
        project.make(changeset([*moved.files, *more.files]))
    assert picture(project.root) == before


def test_a_disk_that_ignores_case_renames_no_folder_by_case_alone(tmp_path: Path) -> None:
    project = with_folder(tmp_path / "p", InsensitiveDisk())
    before = picture(project.root)
    with pytest.raises(Refused):
        project.make(renamed("Sub", "sub"))
    assert picture(project.root) == before


@pytest.mark.parametrize("fails", [False, True])
def test_a_disk_that_ignores_case_moves_to_another_case_and_back(tmp_path: Path, fails: bool) -> None:
    project = filled(tmp_path / "p", disk=InsensitiveDisk())
    before = picture(project.root)
    move = between({"pkg/a.py": b"A = 1\r\n"}, {"pkg/a.py": None, "pkg/A.py": b"A = 1\r\n"}, {"pkg/A.py": "pkg/a.py"})
    if fails:
        with pytest.raises(TransactionError):
            project.make(move, meanwhile=_refuse)
        assert picture(project.root) == before
    else:
        project.make(move)
        assert names(project.root / "pkg") == ["A.py", "b.py"]


def test_a_disk_that_ignores_case_refuses_a_new_name_that_is_there_in_other_letters(tmp_path: Path) -> None:
    project = filled(tmp_path / "p", disk=InsensitiveDisk())
    before = picture(project.root)
    with pytest.raises(Refused) as caught:
        project.make(between({}, {"pkg/A.py": b"new"}))
    assert caught.value.code == "name_collision"
    assert picture(project.root) == before


def _refuse() -> None:
    raise TransactionError("verify_failed", "no")


@pytest.mark.parametrize("most", [1, 3, 1 << 20])
@pytest.mark.parametrize("grown", [b"", b"# and more\n"])
def test_a_file_is_read_to_its_end_however_little_a_call_brings(tmp_path: Path, most: int, grown: bytes) -> None:
    """Somebody may have appended to it since its size was asked for."""
    project = filled(tmp_path / "p")

    class Disk(RealDisk):
        def read(self, file: int, size: int) -> bytes:
            return super().read(file, min(size, most))

        def fstat(self, file: int) -> os.stat_result:
            status = super().fstat(file)
            if stat.S_ISREG(status.st_mode) and grown and not project.content("pkg/a.py").endswith(grown):
                project.write("pkg/a.py", b"A = 1\r\n" + grown)
            return status

    content = Project(project.root, disk=Disk()).transactions.read("pkg/a.py")
    assert content == project.content("pkg/a.py") == b"A = 1\r\n" + grown
