"""What the history tells: who, when, why and what; by code, by caller, by time; and one operation in full."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import HistoryError, RequestError
from bae_source.history.record.entry import Entry, TouchedFile
from bae_source.history.travel.listing import draw, is_in, select

TEXT = (
    "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 1\n\n\ndef h():\n    return 1\n"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/__init__.py").write_text("from app.core import A as Alias\n")
    (tmp_path / "app/core.py").write_text(TEXT)
    return tmp_path


def ids(source: Source, target: str = "", **more: object) -> list[str]:
    return [listed.entry.id for listed in source.history(target, **more).outcome.found]  # type: ignore[arg-type]


def test_operations_are_found_by_the_code_they_changed(root: Path) -> None:
    source = Source(root, who="me")
    f = source.edit("app.core.A.f", old="1", new="2", reload="off").operation_id
    h = source.edit("app.core.h", old="1", new="2", reload="off").operation_id
    whole = source.read("app.core.A").replace("return 1", "return 3")
    whole_class = source.edit("app.core.A", whole, reload="off").operation_id
    assert ids(source, "app.core") == [whole_class, h, f]
    assert ids(source, "app") == [whole_class, h, f]
    assert ids(source, "app.core.A") == [whole_class, f]
    assert ids(source, "app.Alias") == [whole_class, f], "a name that means the class"
    assert ids(source, "app.core.A.f") == [f], "the class was replaced, and this method was not touched by it"
    assert ids(source, "app.core.A.g") == [whole_class]
    assert ids(source, "app.core.h") == [h]
    assert ids(source, "sym://python/type/app/core/A#g") == [whole_class], "what reads takes selectors, too"
    assert ids(source, "app.core.A.f@body") == [f]
    assert source.history("app.nothing").strip() == "(no operations)"


def test_what_is_gone_still_has_a_history(root: Path) -> None:
    source = Source(root)
    first = source.edit("app.core.h", old="1", new="2", reload="off").operation_id
    gone = source.delete("app.core.h", reload="off").operation_id
    assert ids(source, "app.core.h") == [gone, first]


def test_a_history_follows_its_module_through_moves(root: Path) -> None:
    source = Source(root)
    first = source.edit("app.core.h", old="1", new="2", reload="off").operation_id
    moved = source.move("app.core", "app.middle", reload="off").operation_id
    after = source.edit("app.middle.h", old="2", new="3", reload="off").operation_id
    assert ids(source, "app.middle.h") == [after, moved, first]


def test_operations_are_found_by_caller_and_time(root: Path) -> None:
    mine = Source(root, who="me").edit("app.core.h", old="1", new="2", reload="off").operation_id
    theirs = Source(root, who="you").edit("app.core.h", old="2", new="3", reload="off").operation_id
    source = Source(root)
    assert ids(source, who="me") == [mine]
    assert ids(source, since="1h") == [theirs, mine]
    assert ids(source, since="2999-01-01") == []
    assert ids(source, limit=1) == [theirs]
    with pytest.raises(RequestError, match="since: 'soon' is no time"):
        source.history(since="soon")


def test_diffs_are_those_of_each_operation_and_apply(root: Path) -> None:
    source = Source(root)
    before = (root / "app/core.py").read_text()
    source.edit("app.core.h", old="1", new="2", reload="off")
    answer = source.history(diff=True)
    assert answer.splitlines()[1] == "diff --git a/app/core.py b/app/core.py"
    assert "-    return 1\n+    return 2\n" in answer
    subprocess.run(["git", "apply", "-R"], cwd=root, input=answer.outcome.diff.encode(), check=True)
    assert (root / "app/core.py").read_text() == before


def test_one_operation_is_shown_in_full(root: Path) -> None:
    source = Source(root, who="me")
    made = source.edit("app.core.h", old="1", new="2", reload="off", why="because").operation_id
    assert made is not None
    answer = source.history(made[:9])
    assert answer.splitlines()[0] == f"{made}  change"
    for piece in (
        "who        me",
        "why        because",
        "changed    app.core.h",
        "files      app.core",
        '"old": "1"',
        "+    return 2",
    ):
        assert piece in answer
    assert answer.outcome.operation_id == made
    assert answer.outcome.next_actions == (f'undo("{made}")',)
    undo = source.undo(reload="off").operation_id
    assert f"undone by  {undo}" in source.history(made)
    assert source.history(made).outcome.next_actions == (f'redo("{made}")',)
    assert undo is not None
    assert f"of         {made}" in source.history(undo)
    with pytest.raises(HistoryError, match="No operation has the id 'op_0000'") as caught:
        source.history("op_0000")
    assert caught.value.candidates == (undo, made)


def test_a_module_that_is_called_like_an_operation_is_found(root: Path) -> None:
    (root / "op_beef.py").write_text("X = 1\n")
    source = Source(root)
    made = source.edit("op_beef.X", "X = 2", reload="off").operation_id
    assert ids(source, "op_beef") == [made]


def test_the_command_line_lists_and_prints_json(root: Path) -> None:
    Source(root, who="me").edit("app.core.h", old="1", new="2", reload="off", why="because")
    words = [sys.executable, "-m", "bae_source", "history", "app.core.h", "--diff", "--json"]
    done = subprocess.run(words, cwd=root, capture_output=True, check=True)
    answer = json.loads(done.stdout)
    assert answer["status"] == "answer"
    assert "me  Edited app.core.h. (because)" in answer["text"]
    assert answer["diff"].startswith("diff --git a/app/core.py")


def test_long_histories_come_in_pages(root: Path) -> None:
    source = Source(root)
    for number in range(1, 5):
        source.edit("app.core.h", old=str(number), new=str(number + 1), reload="off")
    page = source.within(150, cursor="0").history()
    assert not page.complete
    assert page.outcome.next_actions[0].startswith('within(cursor="')


def entry(name: str, who: str = "me", changed: tuple[str, ...] = (), files: tuple[TouchedFile, ...] = ()) -> Entry:
    return Entry(
        id=name, kind="change", who=who, when="2026-11-21T12:00:00+00:00", summary=".", files=files, changed=changed
    )


def test_a_name_holds_what_is_in_it_and_no_namesake() -> None:
    assert is_in("app.core.A.f", "app.core.A")
    assert is_in("app.core.A@body", "app.core.A")
    assert is_in("app.core.f[0]", "app.core.f")
    assert is_in("app.core", "app.core")
    assert not is_in("app.core.AB", "app.core.A")
    assert not is_in("app.core", "app.core.A")


def test_an_operation_is_one_line_whatever_its_caller_is_called() -> None:
    (entry_found,) = select([entry("1", who="two\nlines\x0b and more")], limit=1)
    assert draw([entry_found]) == "1  2026-11-21T12:00:00Z  two lines and more  ."


def test_the_repository_is_asked_only_where_an_entry_alone_does_not_decide() -> None:
    entries = [entry("2", changed=("m.A",)), entry("1", changed=("m.A.f",))]
    asked: list[str] = []

    def touches(each: Entry, name: str) -> bool:
        asked.append(f"{each.id} {name}")
        return False

    found = select(entries, limit=9, target="m.A.f", touches=touches)
    assert [listed.entry.id for listed in found] == ["1"]
    assert asked == ["2 m.A.f"]
    assert draw(found) == "1  2026-11-21T12:00:00Z  me  ."
