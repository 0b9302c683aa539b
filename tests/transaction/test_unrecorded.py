"""A change that could not be recorded waits, is what undo takes back first, and no history is thrown away for it."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.engine.registry import request
from bae_source.engine.service import Context, Service
from bae_source.errors import HistoryError, Refused
from bae_source.history.record.history import History
from bae_source.model.outcome import Outcome


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    (tmp_path / "p/m.py").write_text("def f():\n    return 0\n")
    return tmp_path / "p"


def test_what_could_not_be_recorded_is_what_undo_takes_back_once_it_can(root: Path) -> None:
    command = [sys.executable, "-m", "bae_source", "edit", "b.Y", "--code", "Y = 2", "--reload", "off", "--json"]
    (root / "b.py").write_text("Y = 1\n")
    source = Source(root)
    source.edit("m.f", old="return 0", new="return 1", reload="off")
    environment = {**os.environ, "PATH": "/nonexistent"}
    done = subprocess.run([*command, "--root", root], capture_output=True, check=True, env=environment)
    [notice] = json.loads(done.stdout)["warnings"]
    assert notice["code"] == "history_unavailable"
    assert "waits for being recorded; until then it cannot be undone: git is not installed." in notice["message"]
    assert source.undo(reload="off").text.endswith(": Edited b.Y.")
    assert ((root / "b.py").read_text(), "return 1" in (root / "m.py").read_text()) == ("Y = 1\n", True)


def test_a_change_on_the_command_line_loads_no_gitpython_and_undo_records_it_first(root: Path) -> None:
    def loaded(*argv: str) -> set[str]:
        command = [sys.executable, "-X", "importtime", "-m", "bae_source", *argv, "--root", str(root)]
        output = subprocess.run(command, capture_output=True, check=True, text=True).stderr
        return {line.rpartition("|")[2].strip() for line in output.splitlines()}

    assert "git" not in loaded("edit", "m.f", "--old", "return 0", "--new", "return 1", "--reload", "off")
    assert not (root / ".bae-source/history.git").exists()
    assert "git" in loaded("undo", "--reload", "off")
    assert (root / "m.py").read_text() == "def f():\n    return 0\n"
    assert [each.entry.kind for each in Source(root).history().outcome.found] == ["undo", "change"]


@pytest.mark.parametrize(
    ("expected", "why", "hint"),
    [
        ("fatal: sha1 file write error: No space left on device", "the disk is full", "Free some space"),
        ("fatal: cannot create x: Permission denied", "permission was denied", "Check who owns"),
        ("fatal: bad object", "fatal: bad object", "history.git out of the way"),
    ],
)
def test_only_where_the_history_may_be_damaged_it_is_to_be_moved_away(
    root: Path, tmp_path: Path, expected: str, why: str, hint: str
) -> None:
    (tmp_path / "bin").mkdir()
    fails = f"echo '{expected}' >&2; echo 'fast-import: dumping crash report to /x' >&2; exit 128"
    script = f'#!/bin/sh\ncase "$*" in *fast-import*) {fails};; esac\nexec {shutil.which("git")} "$@"\n'
    (tmp_path / "bin/git").write_text(script)
    (tmp_path / "bin/git").chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    service = Service(root, environment={**os.environ, "PATH": path, "USER": "me"})
    done = service.run(request("edit", {"target": "m.f", "old": "return 0", "new": "return 1"}), Context(reload="off"))
    assert done.warnings == ()
    with pytest.raises(HistoryError, match=re.escape(why)) as caught:
        service.run(request("history", {}))
    assert hint in caught.value.hints[0]
    assert ("out of the way" in caught.value.hints[0]) == ("out of the way" in hint)
    assert "crash report" not in caught.value.message
    assert not list(root.rglob("*crash*")), "what git reports of it is of no use to anybody"
    undone = Service(root, environment={**os.environ, "USER": "me"}).run(request("undo", {}))
    assert undone.status == "applied"


CALLS = ["mkdir", "open", "write", "flush", "fsync of the draft", "replace", "open folder", "fsync", "unlink"]


class FullDisk:
    """Lets the folder of what waits run out of space: one of the calls there fails."""

    def __init__(self, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.call = call
        self.calls = 0
        for name in ("mkdir", "open", "fsync", "replace", "unlink"):
            monkeypatch.setattr(os, name, self._failing(name, getattr(os, name)))
        opened = Path.open
        monkeypatch.setattr(Path, "open", lambda path, *how, **more: self._opened(path, opened(path, *how, **more)))

    def _failing(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def failing(place: Any, *args: Any, **options: Any) -> Any:
            path = str(Path(f"/proc/self/fd/{place}").readlink()) if isinstance(place, int) else os.fspath(place)
            name_of_it = {"open": "open folder"}.get(name, name) + " of the draft" * (
                name == "fsync" and "/.new" in path
            )
            if "/pending" in path:
                self._run_out(name_of_it)
            return call(place, *args, **options)

        return failing

    def _opened(self, path: Path, file: Any) -> Any:
        if "/pending" not in str(path):
            return file
        self._run_out("open")
        return Draft(file, self._run_out)

    def _run_out(self, call: str) -> None:
        if call == self.call:
            self.calls += 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class Draft:
    """A file that is written to a full disk."""

    def __init__(self, file: Any, run_out: Callable[[str], None]) -> None:
        self.file = file
        self.run_out = run_out

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, content: bytes) -> int:
        self.run_out("write")
        return int(self.file.write(content))

    def flush(self) -> None:
        self.run_out("flush")
        self.file.flush()

    def fileno(self) -> int:
        return int(self.file.fileno())


def _edited(root: Path, path: str) -> Outcome:
    service = Service(root, environment={**os.environ, "PATH": path, "USER": "me"})
    return service.run(request("edit", {"target": "m.f", "old": "return 0", "new": "return 1"}), Context(reload="off"))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_a_change_that_cannot_wait_on_a_full_disk_is_reported_and_undone_once_there_is_space(
    root: Path, call: str, interrupted: bool
) -> None:
    def ended(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patched:
        if interrupted:
            patched.setattr(History, "record", ended)
        disk = FullDisk(call, patched)
        done = _edited(root, "/nonexistent")
    assert bool(disk.calls) == (call != "unlink")  # nothing is dropped yet
    assert done.status == "applied"
    [notice] = done.warnings
    assert notice.code == ("interrupted" if interrupted else "history_unavailable")
    assert ("could not be recorded; the next request tries again" in notice.message) == bool(disk.calls)
    service = Service(root, environment={**os.environ, "USER": "me"})
    assert "return 1" in service.run(request("read", {"target": "m.f"}), Context()).text
    undone = service.run(request("undo", {}), Context(reload="off"))
    assert undone.text.endswith(": Edited m.f.")
    assert (root / "m.py").read_text() == "def f():\n    return 0\n"
    assert [each.entry.kind for each in service.run(request("history", {})).found] == ["undo", "change"]
    assert list((root / ".bae-source/pending").iterdir()) == []


def test_what_goes_for_others_and_cannot_stays_and_what_came_waits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bae_source.history.record.pending.MOST", 1)
    _edited(root, "/nonexistent")
    (root / "m.py").write_text("def f():\n    return 0\n")
    with pytest.MonkeyPatch.context() as patched:
        disk = FullDisk("unlink", patched)
        [notice] = _edited(root, "/nonexistent").warnings
    assert disk.calls == 1
    assert "waits for being recorded" in notice.message
    assert len(list((root / ".bae-source/pending").iterdir())) == 2


def test_while_the_disk_is_full_what_waits_in_the_journal_is_not_written_over(root: Path) -> None:
    with pytest.MonkeyPatch.context() as patched:
        FullDisk("write", patched)
        _edited(root, "/nonexistent")
        content = (root / "m.py").read_bytes()
        service = Service(root, environment={**os.environ, "USER": "me"})
        asked = request("edit", {"target": "m.f", "old": "return 1", "new": "return 2"})
        with pytest.raises(Refused, match="could not be worked off: the disk is full; nothing was changed") as caught:
            service.run(asked, Context(reload="off"))
        assert (root / "m.py").read_bytes() == content
        assert any("Free some space" in hint for hint in caught.value.hints)
        assert "return 1" in service.run(request("read", {"target": "m.f"}), Context()).text
    service.run(asked, Context(reload="off"))
    for _ in range(2):
        service.run(request("undo", {}), Context(reload="off"))
    assert "return 0" in (root / "m.py").read_text()
