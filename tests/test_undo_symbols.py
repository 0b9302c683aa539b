"""Undo and redo where other parts of the files changed since: by the change's own symbols, at the doors callers use."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import HistoryError
from bae_source.functions import dispatch

START = '''"""Doc."""

A = 0


def f():
    return 0


def g():
    return 0
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(START)
    return tmp_path


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bae_source", *words, "--reload", "off"]
    return subprocess.run(command, cwd=root, capture_output=True, check=False, text=True)


def edit(root: Path, name: str, number: int, who: str = "me") -> str:
    source = f"A = {number}\n" if name == "A" else f"def {name}():\n    return {number}\n"
    return str(Source(root, who=who).edit(f"m.{name}", source, reload="off").operation_id)


def text(root: Path) -> str:
    return (root / "m.py").read_text()


def test_undo_takes_back_its_own_symbol_and_leaves_a_later_change_by_anyone(root: Path) -> None:
    first = edit(root, "f", 1)
    edit(root, "g", 2, who="you")
    (root / "m.py").write_text(text(root).replace("A = 0", "A = 9"))
    done = run(root, "undo", first)
    assert (done.returncode, text(root)) == (0, START.replace("A = 0", "A = 9")[:-2] + "2\n"), done.stderr
    assert done.stdout.startswith(f"Undid {first}: Edited m.f.")
    assert "m has changed since" in done.stdout + done.stderr
    done = run(root, "redo", first)
    assert (done.returncode, "return 1" in text(root), "return 2" in text(root)) == (0, True, True), done.stderr


def test_undo_by_a_function_call_does_the_same(root: Path) -> None:
    first = edit(root, "f", 1)
    edit(root, "g", 2, who="you")
    answer = dispatch("undo", {"operation_id": first, "reload": "off"}, root=root, who="me")
    assert (answer["status"], text(root)) == ("applied", START[:-2] + "2\n")
    assert [each["code"] for each in answer["warnings"]] == ["others_kept"]


def test_redo_after_such_an_undo_gives_back_every_byte(root: Path) -> None:
    source = Source(root, who="me")
    first = source.edit("m.f", "def f():\n    return os.sep\n", imports=["import os"], reload="off").operation_id
    source.insert("m", "import re\n\n\ndef h():\n    return re.A\n", position="last", reload="off")
    before = text(root)
    source.undo(first, reload="off")
    assert ("import os" in text(root), "import re" in text(root)) == (False, True)
    source.redo(first, reload="off")
    assert text(root) == before
    source.undo(first, reload="off")
    source.edit("m.g", "def g():\n    return 5\n", reload="off")
    source.redo(first, reload="off")
    assert text(root) == before.replace("def g():\n    return 0", "def g():\n    return 5")


def test_an_undo_with_nothing_else_changed_is_exact(root: Path) -> None:
    first = edit(root, "f", 1)
    outcome = Source(root, who="me").undo(first, reload="off")
    assert (text(root), outcome.warnings) == (START, ())


def test_a_symbol_that_changed_since_is_refused_and_only_what_changed_it_is_named(root: Path) -> None:
    first = edit(root, "f", 1)
    second = edit(root, "f", 2)
    third = edit(root, "g", 3)
    before = text(root)
    with pytest.raises(HistoryError, match=f"m.f is no longer as it left it; {second}") as caught:
        Source(root, who="me").undo(first, reload="off")
    assert caught.value.code == "undo_conflict"
    assert (caught.value.details["later"], caught.value.details["symbols"]) == ([second], ["m.f"])
    assert f'undo(["{second}", "{first}"]) takes all of them back at once.' in caught.value.hints
    assert (text(root), third in str(caught.value)) == (before, False)
    Source(root, who="me").undo([second, first], reload="off")
    assert text(root) == START[:-2] + "3\n"


def test_what_a_later_operation_uses_is_not_taken_away(root: Path) -> None:
    source = Source(root, who="me")
    first = source.insert("m", "def h():\n    return 1\n", position="last", reload="off").operation_id
    second = source.edit("m.f", "def f():\n    return h()\n", reload="off").operation_id
    with pytest.raises(HistoryError, match=r"m\.f uses h, which would go") as caught:
        source.undo(first, reload="off")
    assert (caught.value.code, caught.value.details["later"]) == ("undo_conflict", [second])
    source.undo(count=2, reload="off")
    assert text(root) == START


def test_several_are_taken_back_at_once_around_what_came_between(root: Path) -> None:
    first, between, last = edit(root, "f", 1), edit(root, "g", 2, who="you"), edit(root, "A", 3)
    Source(root, who="me").undo([first, last], reload="off")
    assert text(root) == START[:-2] + "2\n"
    Source(root, who="me").redo(count=2, reload="off")
    assert text(root) == START.replace("A = 0", "A = 3")[:-2].replace("return 0", "return 1") + "2\n"
    Source(root, who="you").undo(between, reload="off")
    assert "return 2" not in text(root)


def test_a_dry_run_shows_it_and_writes_nothing(root: Path) -> None:
    first = edit(root, "f", 1)
    edit(root, "g", 2)
    before = text(root)
    outcome = Source(root, who="me").undo(first, dry_run=True)
    assert (outcome.status, text(root)) == ("planned", before)
    assert "-    return 1\n+    return 0\n" in outcome.diff
    assert "return 2" not in outcome.diff.replace("     return 2", "")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_text_files_go_back_by_lines(tmp_path: Path, newline: str) -> None:
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    file = package / "notes.txt"
    file.write_bytes(newline.join(["one", "two", "three", ""]).encode())
    source = Source(tmp_path, who="me")
    first = source.edit("pkg:notes.txt", old="one", new="ONE").operation_id
    source.edit("pkg:notes.txt", old="three", new="THREE")
    source.undo(first)
    assert file.read_bytes() == newline.join(["one", "two", "THREE", ""]).encode()
    source.edit("pkg:notes.txt", old="one", new="1")
    with pytest.raises(HistoryError, match="no longer as it left it"):
        source.redo(first)


def test_what_would_not_parse_is_refused(root: Path) -> None:
    source = Source(root, who="me")
    first = source.insert("m", "class C:\n    def a(self):\n        return 1\n", position="last", reload="off")
    source.insert("m.C", "def b(self):\n    return 1\n", position="last", reload="off")
    before = text(root)
    with pytest.raises(HistoryError, match=r"m\.C is no longer as it left it"):
        source.undo(first.operation_id, reload="off")
    assert text(root) == before


@pytest.mark.parametrize(
    "user",
    [
        "from m import h\n\n\ndef k():\n    return h()\n",
        "def k():\n    from m import h\n\n    return h()\n",
        "import m\n\n\ndef k():\n    return m.h()\n",
        "import m as other\n\nK = other.h\n",
    ],
)
def test_a_name_that_another_module_imports_since_is_not_taken_away(root: Path, user: str) -> None:
    source = Source(root, who="me")
    first = source.insert("m", "def h():\n    return 1\n", position="last", reload="off").operation_id
    second = source.write("user", user, reload="off").operation_id
    with pytest.raises(HistoryError, match="user uses h, which would go") as caught:
        source.undo(first, reload="off")
    assert (caught.value.code, caught.value.details["later"]) == ("undo_conflict", [second])
    done = run(root, "undo", str(second), str(first))
    assert (done.returncode, text(root), (root / "user.py").exists()) == (0, START, False), done.stderr


def test_a_module_that_another_one_imports_since_is_not_taken_away(root: Path) -> None:
    source = Source(root, who="me")
    first = source.write("new", "X = 1\n", reload="off").operation_id
    source.edit("m.f", "def f():\n    return X\n", imports=["from new import X"], reload="off")
    with pytest.raises(HistoryError, match="m uses new, which would go"):
        source.undo(first, reload="off")
    source.undo(count=2, reload="off")
    assert (text(root), (root / "new.py").exists()) == (START, False)


def test_a_user_that_was_there_before_is_no_reason_to_keep_a_name(root: Path) -> None:
    (root / "user.py").write_text("from m import h\n")
    source = Source(root, who="me")
    first = source.insert("m", "def h():\n    return 1\n", position="last", reload="off").operation_id
    source.insert("user", "Z = 1\n", position="last", reload="off")
    source.undo(first, reload="off")
    assert text(root) == START


def _refused(root: Path, asked: str) -> tuple[list[str], list[str]]:
    """Return the later changes that a refused undo names, and the calls that it advises, each of which is possible."""
    with pytest.raises(HistoryError) as caught:
        Source(root, who="me").undo(asked, reload="off")
    assert caught.value.code == "undo_conflict"
    calls = [re.findall(r"op_[0-9a-f]+", hint) for hint in caught.value.hints if hint.startswith("undo(")]
    for ids in calls:
        Source(root, who="me").undo(ids, dry_run=True)
    return caught.value.details["later"], [" ".join(ids) for ids in calls]


@pytest.mark.parametrize("module_last", [False, True])
@pytest.mark.parametrize("user", [False, True])
def test_only_changes_that_stand_in_the_way_are_advised_to_be_undone(root: Path, module_last: bool, user: bool) -> None:
    source = Source(root, who="me")
    first = edit(root, "f", 1)
    second = "" if not module_last else edit(root, "f", 2)
    source.edit("m", old='"""Doc."""\n', new='"""Doc."""\n\nimport typing\n', reload="off")
    second = second or edit(root, "f", 2)
    if user:
        source.insert("m", "def h() -> typing.Any:\n    return 1", position="last", reload="off")
    assert _refused(root, first) == ([second], [second, f"{second} {first}"])


def test_changes_that_stand_in_the_way_of_those_are_advised_too(root: Path) -> None:
    source = Source(root, who="me")
    first = edit(root, "f", 1)
    source.edit("m", old='"""Doc."""\n', new='"""Doc."""\n\nimport typing\n', reload="off")
    second = source.edit("m.f", "def f():\n    return typing.Any", imports=["import os"], reload="off").operation_id
    third = source.insert("m", "def h():\n    return os.sep", position="last", reload="off").operation_id
    assert _refused(root, first) == ([second], [third, f"{third} {second} {first}"])


def test_no_call_is_advised_where_an_outside_change_stands_in_the_way(root: Path) -> None:
    first = edit(root, "f", 1)
    second = edit(root, "f", 2)
    (root / "m.py").write_text(text(root).replace("return 2", "return 3"))
    assert _refused(root, first) == ([second], [])


def test_users_in_other_files_are_advised_together(root: Path) -> None:
    source = Source(root, who="me")
    first = source.insert("m", "def h():\n    return 1", position="last", reload="off").operation_id
    source.write("n", "from m import h\n\nx = h()\n", reload="off")
    later = source.write("o", "from m import h\n\nx = h()\n", reload="off").operation_id
    named, calls = _refused(root, str(first))
    assert (named, len(calls[-1].split())) == ([later], 3)
    source.edit("n", old="x = h()", new="x = h() + 1", reload="off")
    assert len(_refused(root, str(first))[1][-1].split()) == 4
