"""What the shell remembers of typed lines: for their owner's eyes alone, from the first byte on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from prompt_toolkit.history import FileHistory

from bae_source.adapters.shell.typed import TypedLines


def test_lines_are_written_to_a_file_that_is_its_owners_alone_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remembered, modes = tmp_path / "history", []
    store = FileHistory.store_string

    def seen(history: FileHistory, string: str) -> None:
        modes.append(remembered.stat().st_mode & 0o777)
        store(history, string)

    monkeypatch.setattr(FileHistory, "store_string", seen)
    before = os.umask(0)
    try:
        TypedLines(str(remembered)).store_string("first")
        remembered.chmod(0o644)
        TypedLines(str(remembered)).store_string("second")
    finally:
        os.umask(before)
    assert modes == [0o600, 0o600]
    assert list(TypedLines(str(remembered)).load_history_strings()) == ["second", "first"]


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (tmp_path / "history").symlink_to(elsewhere)
    TypedLines(str(tmp_path / "history")).store_string("line")
    assert elsewhere.read_text() == "mine"
