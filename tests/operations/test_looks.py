"""Modes and owners of files that go and come again: what is brought back is what was there, what is new is as usual."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import HistoryError, ResourceError
from bae_source.history.record import stream
from bae_source.history.record.entry import Entry
from tests.operations.trees import PACKAGE, laid, patched, picture

OWNER = (1234, 5678) if os.geteuid() == 0 else (os.geteuid(), os.getgroups()[-1] if os.getgroups() else os.getegid())
USUAL = 0o644
TWO = {**PACKAGE, "app/one.py": "A = 1\n", "app/two.py": "B = 1\n"}


@pytest.fixture(autouse=True)
def usual_mask() -> object:
    old = os.umask(0o022)
    yield
    os.umask(old)


def given(root: Path, modes: Mapping[str, int]) -> None:
    """Give files modes, and an owner that is not the process's, as far as a plain user can."""
    for name, mode in modes.items():
        os.chown(root / name, *OWNER)
        (root / name).chmod(mode)


def modes_and_owners(root: Path) -> dict[str, tuple[int, int, int]]:
    """Return mode, user and group of all that is below a root."""
    found = {name: (root / name).lstat() for name in picture(root)}
    return {name: (stat.S_IMODE(each.st_mode), each.st_uid, each.st_gid) for name, each in found.items()}


def all_of(root: Path) -> object:
    """Return content, mode and owner of all that is below a root."""
    return picture(root), modes_and_owners(root)


def there_and_back(source: Source, count: int = 1) -> None:
    """Undo, redo and undo the last changes, and leave the project as it was before them."""
    after = all_of(source.root)
    source.undo(count=count, reload="off")
    before = all_of(source.root)
    source.redo(count=count, reload="off")
    assert all_of(source.root) == after
    source.undo(count=count, reload="off")
    assert all_of(source.root) == before


def test_a_deleted_file_comes_back_with_its_owner(tmp_path: Path) -> None:
    source = laid(tmp_path)
    given(tmp_path, {"app/base.py": 0o640})
    before = all_of(tmp_path)
    source.delete("app.base", reload="off")
    there_and_back(source)
    assert all_of(tmp_path) == before


def test_a_file_whose_name_was_taken_comes_back_with_its_owner(tmp_path: Path) -> None:
    source = laid(tmp_path)
    given(tmp_path, {"app/base.py": 0o750})
    before = all_of(tmp_path)
    source.delete("app.base", reload="off")
    source.write("app.base", "z = 2\n", reload="off")
    there_and_back(source, count=2)
    assert all_of(tmp_path) == before


@pytest.mark.parametrize("content", ["", "A = 1\n"])
def test_several_undone_at_once_give_back_the_mode_of_a_file_with_the_same_bytes(tmp_path: Path, content: str) -> None:
    source = laid(tmp_path, {**PACKAGE, "app/same.py": content})
    given(tmp_path, {"app/same.py": 0o750})
    before = all_of(tmp_path)
    source.delete("app.same", reload="off")
    source.write("app.same", content, reload="off")
    assert modes_and_owners(tmp_path)["app/same.py"] == (USUAL, os.geteuid(), os.getegid())
    undone = source.undo(count=2, reload="off")
    assert all_of(tmp_path) == before
    assert undone.diff == "diff --git a/app/same.py b/app/same.py\nold mode 100644\nnew mode 100755\n"
    source.redo(count=2, reload="off")
    assert modes_and_owners(tmp_path)["app/same.py"] == (USUAL, os.geteuid(), os.getegid())


def several(source: Source) -> list[object]:
    """Let three files have one name in turn, each with looks of its own; return the project at every moment."""
    given(source.root, {"app/one.py": 0o750, "app/two.py": 0o600})
    moments = [all_of(source.root)]
    anew = [{"do": "delete", "target": "app.one"}, {"do": "write", "target": "app.one", "source": "C = 3\n"}]
    source.apply(anew, reload="off")
    moments.append(all_of(source.root))
    source.delete("app.one", reload="off")
    moments.append(all_of(source.root))
    source.move("app.two", "app.one", reload="off")
    return [*moments, all_of(source.root)]


def test_of_several_undone_at_once_each_is_made_again_with_the_looks_of_its_own_moment(tmp_path: Path) -> None:
    source = laid(tmp_path, TWO)
    moments = several(source)
    assert modes_and_owners(tmp_path)["app/one.py"] == (0o600, *OWNER)
    source.undo(count=3, reload="off")
    assert all_of(tmp_path) == moments[0]
    for moment in moments[1:]:
        source.redo(reload="off")
        assert all_of(tmp_path) == moment


@pytest.mark.parametrize("parts", [(1, 2), (2, 1), (3,)])
def test_any_part_of_what_was_undone_or_made_again_at_once_looks_as_it_did_then(
    tmp_path: Path, parts: tuple[int, ...]
) -> None:
    source = laid(tmp_path, TWO)
    moments = several(source)
    source.undo(count=3, reload="off")
    at = 0
    for count in parts:
        at += count
        source.redo(count=count, reload="off")
        assert all_of(tmp_path) == moments[at]
    for count in parts:
        at -= count
        source.undo(count=count, reload="off")
        assert all_of(tmp_path) == moments[at]


def test_a_part_of_what_was_undone_at_once_that_fails_changes_nothing(tmp_path: Path) -> None:
    source = laid(tmp_path, TWO)
    moments = several(source)
    source.undo(count=3, reload="off")
    with pytest.raises(ResourceError) as caught:
        source.redo(reload="off", verify=["command false"])
    assert caught.value.code == "verify_failed"
    assert all_of(tmp_path) == moments[0]
    source.redo(reload="off")
    assert all_of(tmp_path) == moments[1]


def recorded_without(monkeypatch: pytest.MonkeyPatch, of_entry: Collection[str], of_file: Collection[str]) -> None:
    """Have the history hold entries as they were before these facts were recorded."""

    def older(entry: Entry) -> bytes:
        head, _, line = written(entry).rstrip().rpartition(b"\n")
        found = {name: value for name, value in json.loads(line).items() if name not in of_entry}
        found["files"] = [
            {name: value for name, value in file.items() if name not in of_file} for file in found["files"]
        ]
        return head + b"\n" + json.dumps(found).encode() + b"\n"

    written = stream.message
    monkeypatch.setattr(stream, "message", older)


def test_an_entry_without_owners_gives_back_the_mode_and_the_file_is_whose_process_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = laid(tmp_path, TWO)
    given(tmp_path, {"app/one.py": 0o750})
    content = picture(tmp_path)
    recorded_without(monkeypatch, {"passed"}, {"owner"})
    source.delete("app.one", reload="off")
    source.undo(reload="off")
    assert picture(tmp_path) == content
    assert modes_and_owners(tmp_path)["app/one.py"] == (0o750, os.geteuid(), os.getegid())


def test_an_entry_without_any_looks_gives_back_the_bytes_and_the_usual_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = laid(tmp_path, TWO)
    given(tmp_path, {"app/one.py": 0o750})
    recorded_without(monkeypatch, {"passed", "folders"}, {"owner", "mode"})
    source.delete("app.one", reload="off")
    source.undo(reload="off")
    assert picture(tmp_path)["app/one.py"] == (USUAL, b"A = 1\n")
    assert modes_and_owners(tmp_path)["app/one.py"] == (USUAL, os.geteuid(), os.getegid())


def test_several_that_an_older_version_undid_at_once_are_made_again_to_the_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = laid(tmp_path, TWO)
    several(source)
    after = picture(tmp_path)
    with monkeypatch.context() as patch:
        recorded_without(patch, {"passed"}, ())
        source.undo(count=3, reload="off")
    for content in (b"C = 3\n", None, b"B = 1\n"):
        source.redo(reload="off")
        assert picture(tmp_path).get("app/one.py", (0, None))[1] == content
    assert picture(tmp_path) == after


def test_what_cancels_out_is_still_nothing_to_undo(tmp_path: Path) -> None:
    source = laid(tmp_path)
    source.delete("app.base", reload="off")
    source.write("app.base", "x = 1\n", reload="off")
    before = all_of(tmp_path)
    with pytest.raises(HistoryError, match="cancel each other out"):
        source.undo(count=2, reload="off")
    assert all_of(tmp_path) == before


def test_a_mode_alone_is_taken_back_where_the_change_fails(tmp_path: Path) -> None:
    source = laid(tmp_path, {**PACKAGE, "app/same.py": "A = 1\n"})
    given(tmp_path, {"app/same.py": 0o750})
    source.delete("app.same", reload="off")
    source.write("app.same", "A = 1\n", reload="off")
    before = all_of(tmp_path)
    with pytest.raises(ResourceError) as caught:
        source.undo(count=2, reload="off", verify=["command false"])
    assert caught.value.code == "verify_failed"
    assert all_of(tmp_path) == before


@pytest.mark.parametrize(
    "requests",
    [
        [{"do": "delete", "target": "app.one"}],
        [{"do": "move", "target": "app.one", "to": "app.gone"}],
        [{"do": "move", "target": "app.one", "to": "app.gone"}, {"do": "delete", "target": "app.gone"}],
        [
            {"do": "delete", "target": "app.one"},
            {"do": "move", "target": "app.two", "to": "app.one"},
            {"do": "delete", "target": "app.one"},
        ],
    ],
    ids=["deleted", "moved", "moved and deleted", "taken by another between"],
)
def test_what_is_written_where_another_was_is_a_new_file_within_apply_as_one_at_a_time(
    tmp_path: Path, requests: list[dict[str, str]]
) -> None:
    source, one_by_one = laid(tmp_path / "here", TWO), laid(tmp_path / "there", TWO)
    patch = laid(tmp_path / "git", TWO)
    for root in (source.root, one_by_one.root, patch.root):
        given(root, {"app/one.py": 0o750, "app/two.py": 0o700})
    before = all_of(source.root)
    written = [*requests, {"do": "write", "target": "app.one", "source": "C = 3\n"}]
    outcome = source.apply(written, reload="off")
    after = all_of(source.root)
    for each in written:
        one_by_one.apply([each], reload="off")
    assert all_of(one_by_one.root) == after
    assert modes_and_owners(source.root)["app/one.py"] == (USUAL, os.geteuid(), os.getegid())
    patched(patch.root, outcome.diff)
    assert _executable(patch.root) == _executable(source.root)
    there_and_back(source)
    assert all_of(source.root) == before


def test_who_overwrites_a_module_keeps_its_mode_and_owner(tmp_path: Path) -> None:
    source = laid(tmp_path, TWO)
    given(tmp_path, {"app/one.py": 0o750})
    source.apply([{"do": "write", "target": "app.one", "source": "C = 3\n", "overwrite": True}], reload="off")
    assert modes_and_owners(tmp_path)["app/one.py"] == (0o750, *OWNER)


def test_the_diff_shows_a_mode_that_changes_and_git_gives_the_same(tmp_path: Path) -> None:
    source, other = laid(tmp_path / "here", TWO), laid(tmp_path / "there", TWO)
    for root in (source.root, other.root):
        (root / "app/one.py").chmod(0o755)
    swap = [
        {"do": "move", "target": "app.one", "to": "app.between"},
        {"do": "move", "target": "app.two", "to": "app.one"},
        {"do": "move", "target": "app.between", "to": "app.two"},
    ]
    diff = source.apply(swap, reload="off").diff
    assert "a/app/one.py b/app/one.py\nold mode 100755\nnew mode 100644\n" in diff
    assert "a/app/two.py b/app/two.py\nold mode 100644\nnew mode 100755\n" in diff
    patched(other.root, diff)
    assert _executable(other.root) == _executable(source.root)
    patched(other.root, source.undo(reload="off").diff)
    assert _executable(other.root) == _executable(source.root)
    assert "deleted file mode 100755" in source.delete("app.one", reload="off").diff


def test_an_undo_of_more_than_the_only_change_says_so(tmp_path: Path) -> None:
    source = laid(tmp_path)
    source.delete("app.base", reload="off")
    before = all_of(tmp_path)
    with pytest.raises(HistoryError, match="There is only one change of yours to undo, not 3; nothing") as caught:
        source.undo(count=3, reload="off")
    assert caught.value.hints == ("undo(count=1) takes it.",)
    assert all_of(tmp_path) == before


def _executable(root: Path) -> dict[str, tuple[bool, object]]:
    return {
        name: (bool(mode & stat.S_IXUSR), content) for name, (mode, content) in picture(root).items() if "." in name
    }
