"""What a live engine works out from all files together is shared while no file changes, and never after."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from bae_source.errors import Refused
from bae_source.project.facts.kept import Kept
from bae_source.project.files.port import Disk, Folder, Stamp
from bae_source.project.naming.resolve import resolve
from bae_source.project.references.classes import lineage
from bae_source.project.references.meaning.of_resolved import sought_of
from bae_source.project.references.meaning.project import project_of
from bae_source.project.references.search import references
from bae_source.project.references.search.references import references_to
from bae_source.project.workspace import Workspace

LATER = 10 * 10**9


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "core.py").write_text("def f(): ...\n")
    (tmp_path / "user.py").write_text("from core import f\nf()\n")
    (tmp_path / "accents.py").write_bytes("# é\nfrom core import ｆ\n".encode())
    (tmp_path / "latin.py").write_bytes(b"# coding: latin-1\n# \xe9\nfrom core import f as g\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_bytes(b"f = '\xff'\n")
    return tmp_path


@pytest.fixture
def kept() -> Kept:
    """As a live engine has it, some seconds after the project was written."""
    return Kept(clock=lambda: time.time_ns() + LATER)


def asked(root: Path, kept: Kept) -> list[str]:
    workspace = Workspace(Disk(root), kept=kept)
    found = references_to(project_of(workspace), resolve(workspace, "core.f"))
    return [f"{each.module}:{each.line} {each.kind} {each.certainty}" for each in found.found]


def test_the_same_question_has_the_same_answer_however_often_it_is_asked(root: Path, kept: Kept) -> None:
    first = asked(root, kept)
    assert first == ["accents:2 import sure", "latin:3 import sure", "user:1 import sure", "user:2 call sure"]
    assert [asked(root, kept) for _ in range(3)] == [first] * 3


def test_words_are_found_in_one_piece_as_they_are_one_by_one(root: Path, kept: Kept) -> None:
    for words in (["f"], ["core", "x"], ["no_such_word"], ["é"], ["import f\nf"], ["x = 1\n", "from"]):
        alone = Workspace(Disk(root)).index.mentioning(words)
        for _ in range(3):
            assert Workspace(Disk(root), kept=kept).index.mentioning(words) == alone


def test_work_is_shared_between_requests_and_not_with_planned_text(root: Path, kept: Kept) -> None:
    first, second = (project_of(Workspace(Disk(root), kept=kept)) for _ in range(2))
    assert first is second
    planned = Workspace(Disk(root), kept=kept, overlay={"other.py": b"from core import f\n"})
    found = references_to(project_of(planned), resolve(planned, "core.f"))
    assert "other" in {each.module for each in found.found}
    assert not any(line.startswith("other") for line in asked(root, kept))


def test_files_that_were_written_just_now_are_not_trusted(root: Path) -> None:
    fresh = Kept(clock=time.time_ns)
    assert project_of(Workspace(Disk(root), kept=fresh)) is not project_of(Workspace(Disk(root), kept=fresh))


@pytest.mark.parametrize("times", [2, 3])
def test_a_change_is_seen_at_once_even_of_the_same_size_with_its_time_set_back(
    root: Path, kept: Kept, times: int
) -> None:
    for _ in range(times):
        asked(root, kept)
    path = root / "other.py"
    before = path.stat()
    path.write_text("f = 1\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert asked(root, kept) == [
        "accents:2 import sure",
        "latin:3 import sure",
        "user:1 import sure",
        "user:2 call sure",
    ]
    path.write_text("import core\ncore.f()\n")
    assert "other:2 call sure" in asked(root, kept)
    (root / "user.py").unlink()
    assert not any(line.startswith("user") for line in asked(root, kept))
    (root / "new.py").write_text("from core import f\n")
    assert "new:1 import sure" in asked(root, kept)


def test_a_whole_answer_is_kept_until_a_file_changes_and_settings_are_looked_at_each_time(
    root: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "broken.py").unlink()
    (root / "pyproject.toml").write_text("[project]\n")
    first = asked(root, kept)
    monkeypatch.setattr(references, "Search", None)  # nothing can be searched for
    assert asked(root, kept) == first
    (root / "pyproject.toml").write_text('[project.scripts]\nf = "core:f"\n')
    assert asked(root, kept) == [*first[:2], "pyproject.toml:2 string mention", *first[2:]]
    monkeypatch.undo()
    (root / "user.py").write_text("from core import f\n")
    assert asked(root, kept) == ["accents:2 import sure", "latin:3 import sure", "pyproject.toml:2 string mention",
                                 "user:1 import sure"]  # fmt: skip


def test_an_answer_that_is_not_complete_is_searched_for_each_time(
    root: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(root, kept)
    monkeypatch.setattr(references, "Search", None)
    with pytest.raises(TypeError):
        asked(root, kept)


def below(root: Path, kept: Kept, disk: type[Disk] = Disk) -> tuple[list[str], list[str]]:
    workspace = Workspace(disk(root), kept=kept)
    project = project_of(workspace)
    found = lineage.lineage(project, sought_of(project.names, resolve(workspace, "base.Base")))
    return [each.of.path for each in found.below], [path for path, _ in found.unreadable]


@pytest.fixture
def bases(tmp_path: Path) -> Path:
    (tmp_path / "base.py").write_text("class Base: ...\n")
    (tmp_path / "user.py").write_text("from base import Base\nclass A(Base): ...\n")
    (tmp_path / "broken.py").write_text("from base import Base\nclass B(Base): ...\nclass\n")
    return tmp_path


def test_classes_below_are_kept_where_only_code_that_does_not_parse_may_hold_more(
    bases: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = below(bases, kept)
    assert first == (["user.py"], ["broken.py"])
    monkeypatch.setattr(lineage, "Calls", None)  # nothing can be searched for
    assert below(bases, kept) == first
    monkeypatch.undo()
    (bases / "broken.py").write_text("from base import Base\nclass B(Base): ...\n")
    assert below(bases, kept) == (["broken.py", "user.py"], [])


def test_they_are_searched_for_each_time_where_a_file_could_not_be_read(
    bases: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Locked(Disk):
        def read_stamped(self, path: str) -> tuple[bytes, Stamp]:
            if path == "broken.py":
                raise Refused("forbidden", "The file may not be read.")
            return super().read_stamped(path)

        def glance(self, path: str, size: int) -> bytes:  # the port's
            return self.read_stamped(path)[0]

    assert below(bases, kept, Locked) == (["user.py"], ["broken.py"])
    monkeypatch.setattr(lineage, "Calls", None)
    with pytest.raises(TypeError):
        below(bases, kept, Locked)


def test_answers_about_several_symbols_are_kept_apart(root: Path, kept: Kept) -> None:
    (root / "broken.py").unlink()
    (root / "core.py").write_text("def f(): ...\ndef f(): ...\ndef g(): f()\n")
    for _ in range(2):
        for name, count in (("core.f", 5), ("core.f[0]", 5), ("core.g", 0)):
            workspace = Workspace(Disk(root), kept=kept)
            found = references_to(project_of(workspace), resolve(workspace, name)).found
            assert len(found) == count
            assert {each.certainty for each in found} <= ({"unsure"} if "[" in name else {"sure"})


class Interrupted(Disk):
    """A disk that has something else done while its last file is read, as another thread may."""

    def __init__(self, root: Path, meanwhile: Callable[[], object]) -> None:
        super().__init__(root)
        self.meanwhile = meanwhile

    def glance(self, path: str, size: int) -> bytes:
        if path == "user.py":
            self.meanwhile()
        return super().glance(path, size)


def test_who_searches_while_another_thread_puts_the_files_together_finds_the_same(root: Path, kept: Kept) -> None:
    found = []

    def meanwhile() -> None:
        found.append(Workspace(Disk(root), kept=kept).index.mentioning(["import"]))

    alone = Workspace(Disk(root)).index.mentioning(["import"])
    for _ in range(3):
        assert Workspace(Interrupted(root, meanwhile), kept=kept).index.mentioning(["import"]) == alone
    assert found
    assert set(found) == {alone}


def test_nothing_lasts_where_a_folder_may_not_be_listed(root: Path, kept: Kept) -> None:
    class Closed(Disk):
        def folder(self, path: str) -> Folder:
            found = super().folder(path)
            return replace(found, folders=(), files=(), readable=False) if path == "locked" else found

    (root / "locked").mkdir()
    first, second = (Workspace(Closed(root), kept=kept) for _ in range(2))
    assert first.derived is not second.derived
    another = Kept(clock=kept.clock)
    third, fourth = (Workspace(Disk(root), kept=another) for _ in range(2))
    assert third.derived is fourth.derived
