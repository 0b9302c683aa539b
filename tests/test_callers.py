"""Each caller takes back its own changes, by id or by time too, and gives changes in the words of its door."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bae_source import Source
from bae_source.errors import HistoryError, RequestError
from bae_source.functions import dispatch


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text("A = 0\nB = 0\nC = 0\n")
    return tmp_path


def run(root: Path, *words: str, text: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "BAE_SOURCE_WHO"}
    command = [sys.executable, "-m", "bae_source", *words]
    around = {**kept, "USER": "user", **environment}
    return subprocess.run(command, cwd=root, capture_output=True, check=False, text=True, env=around, input=text)


def edit(root: Path, name: str, number: int, *words: str, **environment: str) -> None:
    done = run(root, "edit", f"m.{name}", "--code", f"{name} = {number}", "--reload", "off", *words, **environment)
    assert done.returncode == 0, done.stderr


def lines(root: Path) -> list[str]:
    return (root / "m.py").read_text().split("\n")[:-1]


def test_my_last_change_is_never_that_of_another_caller(root: Path) -> None:
    edit(root, "A", 1)
    edit(root, "B", 1, BAE_SOURCE_WHO="env")
    edit(root, "C", 1, "--who", "said", BAE_SOURCE_WHO="env")
    assert [entry["who"] for entry in history(root)] == ["said", "env", "user"]
    assert run(root, "undo", "--reload", "off", BAE_SOURCE_WHO="other").returncode == 7
    assert run(root, "undo", "--reload", "off", "--who", "env").returncode == 0
    assert lines(root) == ["A = 1", "B = 0", "C = 1"]
    assert run(root, "undo", "--reload", "off").returncode == 0
    assert lines(root) == ["A = 0", "B = 0", "C = 1"]
    assert run(root, "redo", "--reload", "off", BAE_SOURCE_WHO="env").returncode == 0
    assert lines(root) == ["A = 0", "B = 1", "C = 1"]


def history(root: Path) -> list[dict[str, Any]]:
    found = Source(root).history().outcome.found
    return [{"who": listed.entry.who, "id": listed.entry.id} for listed in found]


def test_the_name_in_the_environment_counts_for_python_and_functions_too(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAE_SOURCE_WHO", "env")
    Source(root).edit("m.A", "A = 1", reload="off")
    Source(root, who="said").edit("m.B", "B = 1", reload="off")
    call = {"target": "m.C", "new_source": "C = 1", "reload": "off"}
    assert dispatch("edit", call, root=root)["status"] == "applied"
    assert [entry["who"] for entry in history(root)] == ["env", "said", "env"]


def test_all_later_changes_of_the_caller_go_at_once(root: Path) -> None:
    me, you = Source(root, who="me"), Source(root, who="you")
    first = me.edit("m.A", "A = 1", reload="off").operation_id
    me.edit("m.A", "A = 2", reload="off")
    you.edit("m.B", "B = 9", reload="off")
    me.edit("m.C", "C = 3", reload="off")
    done = run(root, "undo", "--to", str(first), "--who", "me", "--reload", "off")
    assert done.returncode == 0, done.stderr
    assert lines(root) == ["A = 1", "B = 9", "C = 0"]
    with pytest.raises(HistoryError, match="no change of yours in effect that came later") as caught:
        me.undo(to=first, reload="off")
    assert caught.value.code == "nothing_to_undo"
    me.redo(count=2, reload="off")
    assert lines(root) == ["A = 2", "B = 9", "C = 3"]
    answer = dispatch("undo", {"to": "1h", "reload": "off"}, root=root, who="me")
    assert (answer["status"], lines(root)) == ("applied", ["A = 0", "B = 9", "C = 0"])
    you.undo(to="2020-01-01T00:00+05:00", reload="off")
    assert lines(root) == ["A = 0", "B = 0", "C = 0"]


@pytest.mark.parametrize("more", [{"operation_id": "op_1234"}, {"count": 2}])
def test_to_is_reported_instead_of_ids_and_counts(root: Path, more: dict[str, Any]) -> None:
    Source(root).edit("m.A", "A = 1", reload="off")
    with pytest.raises(RequestError, match="either to, or ids, or a count"):
        Source(root).undo(to="1h", **more)
    with pytest.raises(RequestError, match="is no time"):
        Source(root).undo(to="yesterday")


@pytest.mark.parametrize("word", ["new_source", "source", "code"])
@pytest.mark.parametrize("bare", [True, False])
def test_apply_takes_a_bare_list_and_the_words_of_every_door(root: Path, word: str, bare: bool) -> None:
    requests = [
        {"do": "edit", "target": "m.A", word: "A = 1"},
        {"do": "insert", "target": "m.B", word: "D = 1\n"},
        {"do": "write", "target": "n", word: "X = 1\n"},
    ]
    document = requests if bare else {"why": "because", "requests": requests}
    done = run(root, "apply", "-", "--reload", "off", text=json.dumps(document))
    assert done.returncode == 0, done.stderr
    assert lines(root) == ["A = 1", "B = 0", "D = 1", "C = 0"]
    assert (root / "n.py").read_text() == "X = 1\n"
    [entry] = Source(root).history().outcome.found
    assert entry.entry.why == ("" if bare else "because")


def test_new_source_that_is_there_twice_is_refused(root: Path) -> None:
    with pytest.raises(RequestError, match="source and code all mean the new source of edit"):
        Source(root).apply([{"do": "edit", "target": "m.A", "source": "A = 1", "code": "A = 2"}])
    done = run(root, "apply", "-", text="3")
    assert "holds neither a JSON object nor a list" in done.stderr


@pytest.mark.parametrize(("given", "ok"), [(2.0, True), (2, True), (2.5, False), (True, False), ("2", False)])
def test_a_whole_number_is_an_integer_however_it_is_written(root: Path, given: Any, ok: bool) -> None:
    answer = dispatch("history", {"limit": given}, root=root)
    assert (answer["status"] == "answer") == ok
    answer = dispatch("grep", {"pattern": "A", "context": given}, root=root)
    assert (answer["status"] == "answer") == ok


def test_what_is_reported_of_data_files_is_what_happens(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/__init__.py").write_text("# word\n")
    (tmp_path / "pkg/notes.txt").write_text("word\n")
    for data in (True, False):
        answer = dispatch("grep", {"pattern": "word", "data": data}, root=tmp_path)
        assert ("notes.txt" in answer["text"]) == data
    assert "Leave the data files of packages out." in run(tmp_path, "grep", "--help").stdout
