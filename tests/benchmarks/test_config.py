"""The check of real projects' settings: what it reads, and that it would tell of bytes that do not come back."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from bae_source.resources.config.document import Document
from benchmarks.config import Tally, check, texts_in, variants

TEXT = '[project]\nname = "a"\ndependencies = [\n    "b",\n]\n\n[tool.c]\nd = { e = 1 }\n'


def test_settings_in_folders_and_archives_are_found(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/pyproject.toml").write_text(TEXT)
    with tarfile.open(tmp_path / "a-1.tar.gz", "w:gz") as packed:
        for name in ("a-1/pyproject.toml", "a-1/tests/pyproject.toml"):
            member = tarfile.TarInfo(name)
            member.size = len(TEXT)
            packed.addfile(member, io.BytesIO(TEXT.encode()))
    with zipfile.ZipFile(tmp_path / "b-1.zip", "w") as zipped:
        zipped.writestr("b-1/pyproject.toml", TEXT)
    (tmp_path / "c-1.tar.gz").write_bytes(b"no archive")
    found = list(texts_in(tmp_path))
    assert [name.rpartition("/")[0].rpartition("/")[2] for name, _ in found] == ["a-1", "b-1", "in"]
    assert {text for _, text in found} == {TEXT}


def test_every_change_of_a_file_comes_back() -> None:
    tally = Tally()
    for name, text in variants(TEXT):
        check(text, name, tally)
    assert tally.wrong == []
    assert set(tally.counts) == {(kind, "same") for kind in ("read", "set", "add", "rename")}
    assert tally.files == 4


def test_other_bytes_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    remove = Document.remove
    monkeypatch.setattr(Document, "remove", lambda self, key: remove(self, key) + "\n")
    tally = Tally()
    check(TEXT, "a", tally)
    assert tally.counts["set", "other"] == 10
    assert tally.wrong[0].startswith("a: (top): set: other")
