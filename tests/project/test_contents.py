"""A look into many files: the bytes are those of the workspace, and a stamp is given out only if it can be believed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bae_source.errors import Refused, SourceError
from bae_source.project.facts.kept import Kept
from bae_source.project.files import contents
from bae_source.project.files.contents import Content, content_of, contents_of
from bae_source.project.files.port import Disk
from bae_source.project.workspace import Workspace

LATER = 10 * 10**9


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.py").write_text(f"{name} = 1\n")
    return tmp_path


def space(root: Path, *, later: int = LATER, overlay: dict[str, bytes] | None = None) -> Workspace:
    return Workspace(Disk(root), kept=Kept(clock=lambda: time.time_ns() + later), overlay=overlay)


def looked(workspace: Workspace) -> dict[str, Content]:
    return {content.path: content for content in contents_of(workspace, workspace.census.paths)}


def test_bytes_come_with_the_stamp_that_they_may_be_kept_under(root: Path) -> None:
    workspace = space(root)
    found = looked(workspace)
    assert {path: content.read() for path, content in found.items()} == {
        "a.py": b"a = 1\n",
        "b.py": b"b = 1\n",
        "c.py": b"c = 1\n",
    }
    assert {path: content.stamp for path, content in found.items()} == workspace.census.stamps


def test_what_was_written_just_now_may_not_be_kept(root: Path) -> None:
    assert [content.stamp for content in looked(space(root, later=0)).values()] == [None, None, None]


def test_what_the_snapshot_has_counts_and_may_be_kept_only_if_the_file_still_has_it(root: Path) -> None:
    workspace = space(root)
    for name in ("a", "b", "c"):
        assert workspace.content(f"{name}.py") == f"{name} = 1\n".encode()
    assert workspace.census.paths
    (root / "a.py").write_text("x = 2\n")
    (root / "b.py").unlink()
    found = looked(workspace)
    assert (found["a.py"].read(), found["a.py"].stamp) == (b"a = 1\n", None)
    assert (found["b.py"].read(), found["b.py"].stamp) == (b"b = 1\n", None)
    assert (found["c.py"].read(), found["c.py"].stamp) == (b"c = 1\n", workspace.census.stamps["c.py"])


def test_planned_text_is_what_is_looked_at(root: Path) -> None:
    found = looked(space(root, overlay={"b.py": b"planned\n"}))
    assert (found["b.py"].read(), found["b.py"].stamp) == (b"planned\n", None)


def test_bytes_that_changed_since_the_walk_are_under_a_stamp_that_no_file_has_any_more(root: Path) -> None:
    workspace = space(root)
    assert workspace.census.paths
    (root / "a.py").write_text("x = 2\n")
    (root / "b.py").write_text("longer than it was\n")
    found = looked(workspace)
    assert (found["a.py"].read(), found["b.py"].read()) == (b"x = 2\n", b"longer than it was\n")
    now = space(root).census.stamps
    assert found["a.py"].stamp != now["a.py"]
    assert found["b.py"].stamp != now["b.py"]
    assert found["c.py"].stamp == now["c.py"]


def test_bytes_are_decoded_once_and_plain_ascii_never(root: Path) -> None:
    (root / "b.py").write_text("é = 1\n")
    (root / "c.py").write_bytes(b"# coding: unheard-of\n")
    found = looked(space(root))
    assert found["a.py"].source() is None
    source = found["b.py"].source()
    assert source is not None
    assert source.text == "é = 1\n"
    assert found["b.py"].source() is source
    for _ in range(2):
        with pytest.raises(SourceError, match="encoding"):
            found["c.py"].source()


def test_what_has_gone_is_gigantic_or_may_not_be_read_is_named(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Guarded(Disk):
        def glance(self, path: str, size: int) -> bytes:
            if path == "c.py":
                raise Refused("forbidden", "The file may not be read.")
            return super().glance(path, size)

    monkeypatch.setattr(contents, "LARGE", 100)
    with (root / "huge.py").open("wb") as file:
        file.truncate(3_000_000_000)
    (root / "large.py").write_bytes(b"#" * 200)
    workspace = Workspace(Guarded(root), kept=Kept(clock=lambda: time.time_ns() + LATER))
    assert len(workspace.census.paths) == 5
    (root / "a.py").unlink()
    found = looked(workspace)
    codes = {}
    for path in ("a.py", "c.py", "huge.py"):
        assert found[path].stamp is None
        with pytest.raises((Refused, SourceError)) as caught:
            found[path].read()
        codes[path] = caught.value.code
    assert codes == {"a.py": "stale", "c.py": "forbidden", "huge.py": "not_lossless"}
    assert found["b.py"].read() == b"b = 1\n"
    assert found["large.py"].read() == b"#" * 200
    with pytest.raises(Refused, match="gone"):
        content_of(workspace, "a.py")
