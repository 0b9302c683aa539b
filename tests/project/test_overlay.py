"""Planned content in front of what there is: every call of the port sees the same files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bae_source.model.changeset import ChangeSet, between
from bae_source.project.files.layout import layout_of
from bae_source.project.files.overlay import Planned
from bae_source.project.files.port import Disk, FileKind, Files
from bae_source.project.files.walk import census_of
from bae_source.project.naming.resolve import resolve
from bae_source.project.workspace import Workspace
from tests.memory import Memory

PRESENT = {"pkg/__init__.py": b"", "pkg/a.py": b"x = 1\n", "pkg/data/t.html": b"<p>", "other/b.py": b"y = 2\n"}
PATHS = ["pkg/a.py", "pkg/new.py", "pkg/data/t.html", "other/b.py", "other/sub/c.py", "top.py", "pkg/__init__.py"]
Contents = Mapping[str, bytes | None]


def meant(planned: Contents) -> Memory:
    """The same files, without a plan in front."""
    both = {**PRESENT, **planned}
    return Memory({path: content for path, content in both.items() if content is not None})


def seen(files: Files, folder: str = "") -> dict[str, object]:
    """All that the port says of a folder and what is below it."""
    listed = files.folder(folder)
    lead = f"{folder}/" if folder else ""
    found: dict[str, object] = {folder: (listed.folders, listed.files, files.names(folder), files.kind(folder))}
    for name in listed.files:
        path = lead + name
        read, _ = files.read_stamped(path)
        found[path] = (files.kind(path), files.read(path), read, b"".join(files.pieces(path)))
    for name in listed.folders:
        found |= seen(files, lead + name)
    return found


@given(st.dictionaries(st.sampled_from(PATHS), st.none() | st.binary(max_size=4), max_size=5))
def test_a_plan_looks_like_the_files_that_it_leads_to(planned: Contents) -> None:
    files = Planned(Memory(PRESENT), planned)
    expected = meant(planned)
    assert seen(files) == seen(expected)
    assert {path: files.kind(path) for path in PATHS} == {path: expected.kind(path) for path in PATHS}
    assert files.stamps(PATHS).keys() == expected.stamps(PATHS).keys()


@given(
    st.dictionaries(st.sampled_from(PATHS), st.none() | st.binary(max_size=4), max_size=3),
    st.dictionaries(st.sampled_from([*PATHS, "pkg/w.pyw", ".gitignore"]), st.none() | st.just(b"*.py\n"), max_size=5),
)
def test_the_census_of_a_plan_is_that_of_a_walk(first: Contents, second: Contents) -> None:
    workspace = Workspace(Memory(PRESENT))
    for planned in (first, second):
        workspace = workspace.after(between({path: workspace.content(path) for path in planned}, planned))
    walked = census_of(workspace.files, workspace.layout)
    found = workspace.census
    assert found.stamps == walked.stamps
    assert {path: set(names) for path, names in found.folders.items()} == {
        path: set(names) for path, names in walked.folders.items()
    }
    assert (found.closed, found.outside, found.modules) == (walked.closed, walked.outside, walked.modules)


def test_what_will_be_gone_cannot_be_read() -> None:
    files = Planned(Memory(PRESENT), {"pkg/a.py": None})
    with pytest.raises(FileNotFoundError):
        files.read("pkg/a.py")
    with pytest.raises(FileNotFoundError):
        files.read_stamped("pkg/a.py")
    assert files.stamp("pkg/a.py") is None


def test_a_folder_of_caches_alone_will_be_gone(tmp_path: Path) -> None:
    (tmp_path / "pkg" / "__pycache__").mkdir(parents=True)
    (tmp_path / "pkg" / "__pycache__" / "a.pyc").write_bytes(b"")
    (tmp_path / "pkg" / "a.py").write_bytes(b"")
    files = Planned(Disk(tmp_path), {"pkg/a.py": None})
    assert files.kind("pkg") is None
    assert files.folder("").folders == ()


def test_an_empty_file_that_is_planned_is_a_file() -> None:
    files = Planned(Memory({}), {"pkg/__init__.py": b""})
    assert (files.kind("pkg"), files.kind("pkg/__init__.py")) == (FileKind.FOLDER, FileKind.FILE)


def test_a_workspace_resolves_counts_and_searches_what_is_planned(tmp_path: Path) -> None:
    for path, content in PRESENT.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    planned = {"pkg/new/__init__.py": b"", "pkg/new/mod.py": b"def made(): ...\n", "pkg/a.py": None}
    workspace = Workspace(Disk(tmp_path), overlay=planned)
    assert str(resolve(workspace, "pkg.new.mod.made").address) == "pkg.new.mod.made"
    assert "pkg/new/mod.py" in workspace.census.paths
    assert "pkg/a.py" not in workspace.census.paths
    assert workspace.index.mentioning({"made"}).paths == ("pkg/new/mod.py",)
    assert census_of(workspace.files, layout_of(workspace.files)).paths == workspace.census.paths


def test_plans_on_top_of_plans_are_one_snapshot(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_bytes(b"x = 1\n")
    first = Workspace(Disk(tmp_path))
    resolved = resolve(first, "m.x")
    second = first.after(_changed(first, b"x = 2\n"))
    third = second.after(_changed(second, b"x = 3\n"))
    (tmp_path / "m.py").write_bytes(b"somebody else\n")
    assert resolved.tree.text == "x = 1\n"
    assert [workspace.content("m.py") for workspace in (first, second, third)] == [b"x = 1\n", b"x = 2\n", b"x = 3\n"]


def _changed(workspace: Workspace, content: bytes) -> ChangeSet:
    return between({"m.py": workspace.content("m.py")}, {"m.py": content})
