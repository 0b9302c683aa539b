"""A change that is there already is none: it says so, is not recorded, and no undo takes it for one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import LookupFailed, RequestError
from bae_source.model.outcome import Outcome

BEFORE = "def f():\n    x = 1\n    return x\n"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/__init__.py").write_text('from .m import f\n\n__all__ = ["f"]\n')
    (tmp_path / "app/m.py").write_text(BEFORE)
    (tmp_path / "app/a.txt").write_text("one\n")
    return Source(tmp_path)


TWICE: dict[str, Callable[[Source], Outcome]] = {
    "text that holds what it replaces": lambda it: it.edit("app.m.f", old="x = 1", new="x = 1\n    print(x)"),
    "text in front of what it replaces": lambda it: it.edit("app.m.f", old="return x", new="print(x)\n    return x"),
    "text that is fitted": lambda it: it.edit("app.m.f", old="return x", new="print(x)\nreturn x"),
    "text with a line end more": lambda it: it.edit("app.m.f", old="x = 1\n", new="x = 1\n    print(x)\n"),
    "text that holds it twice": lambda it: it.edit("app.m.f", old="x = 1", new="x = 1; x = 1"),
    "text with an import": lambda it: it.edit("app.m.f", old="x = 1", new="x = 1, 2", imports=["import os"]),
    "text in a data file": lambda it: it.edit("app:a.txt", old="one", new="one\ntwo"),
    "text in a transaction": lambda it: it.apply(
        [{"do": "edit", "target": "app.m.f", "old": "x = 1", "new": "x = 1\n    print(x)"}]
    ),
    "a symbol": lambda it: it.edit("app.m.f", "def f():\n    return 2"),
    "a part": lambda it: it.edit("app.m.f@body", "return 2"),
    "a comment": lambda it: it.edit("app.m.f", comment="# why"),
    "a module": lambda it: it.write("app.m", "f = 2\n", overwrite=True),
    "a data file": lambda it: it.write("app:a.txt", "two\n", overwrite=True),
    "exports": lambda it: it.exports_remove("app.m", ["f"]),
}


@pytest.mark.parametrize("what", TWICE)
def test_a_request_made_twice_is_done_once(source: Source, tmp_path: Path, what: str) -> None:
    first = TWICE[what](source)
    assert (first.status, first.operation_id is None) == ("applied", False)
    after = {path: path.read_bytes() for path in (tmp_path / "app").glob("*.*")}
    try:
        second = TWICE[what](source)
    except LookupFailed:
        assert what == "exports"
    else:
        assert (second.status, second.operation_id, second.diff, second.changed) == ("unchanged", None, "", ())
        assert "already" in second.text or "come to nothing" in second.text
        assert TWICE[what](source.within(4000)).status == "unchanged"
    assert {path: path.read_bytes() for path in (tmp_path / "app").glob("*.*")} == after
    assert len(source.history().outcome.found) == 1


def test_the_command_line_says_that_it_is_so_already(source: Source, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bae_source", "edit", "app.m.f", "--old", "x = 1", "--new", "x = 1\n    print(x)"]
    answers = []
    for _ in range(2):
        done = subprocess.run([*command, "--json"], cwd=tmp_path, capture_output=True, text=True, check=True)
        answers.append(json.loads(done.stdout))
    assert [answer["status"] for answer in answers] == ["applied", "unchanged"]
    assert answers[1]["text"] == "app.m.f is like that already."
    assert (tmp_path / "app/m.py").read_text().count("print") == 1


def test_an_edit_that_may_be_made_twice_is_not_called_idempotent(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("x = 'aabb'\n")
    source = Source(tmp_path)
    for left in ("'ab'", "''"):
        source.edit("m.x", old="ab", new="", reload="off")
        assert left in (tmp_path / "m.py").read_text()
    done = subprocess.run(
        [sys.executable, "-m", "bae_source", "functions", "--style", "mcp", "--tool", "edit"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"idempotentHint": false' in done.stdout


@pytest.mark.parametrize("verb", ["undo", "redo"])
def test_what_changed_nothing_is_not_undone_in_the_place_of_an_earlier_change(
    source: Source, tmp_path: Path, verb: str
) -> None:
    source.edit("app.m.f", "def f():\n    return 2", reload="off")
    if verb == "redo":
        source.undo(reload="off")
    nothing = source.edit("app.m.f", source.read("app.m.f"), reload="off")
    before = (tmp_path / "app/m.py").read_bytes()
    for call in (
        lambda: getattr(source, verb)(nothing.operation_id),
        lambda: getattr(source, verb)(operation_id=None, dry_run=True),
        lambda: getattr(source, verb)(None, count=1),
    ):
        with pytest.raises(RequestError, match="operation_id is None") as caught:
            call()
        assert caught.value.code == "invalid_arguments"
    assert (tmp_path / "app/m.py").read_bytes() == before
    assert getattr(source, verb)(reload="off").status == "applied"
    assert (tmp_path / "app/m.py").read_bytes() != before


def test_a_transaction_of_nothing_and_a_history_of_nothing_are_unchanged(source: Source) -> None:
    with source.transaction("nothing", reload="off") as tx:
        pass
    assert tx.outcome.status == "unchanged"  # type: ignore[union-attr]
    source.edit("app.m.f", old="x = 1", new="x = 2", reload="off")
    assert source.prune(keep=10).status == "unchanged"
