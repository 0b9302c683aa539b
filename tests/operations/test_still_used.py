"""What a change takes away by name: what still uses it is named, and an import that fails by it is not vouched for."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bae_source import Source
from bae_source.errors import TransactionError
from bae_source.model.outcome import Outcome
from tests.operations.trees import codes, laid, message_of, picture

FILES: Mapping[str, str | bytes] = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "0"\n',
    "m/__init__.py": "",
    "m/a.py": "def f():\n    return 1\n\n\ndef g():\n    return f()\n",
    "m/b.py": "from m.a import f\n\n\ndef use():\n    return f()\n",
}
WITHOUT_F = "def g():\n    return 2\n"
HOW = "references m.a.f lists them before the change, or once it is undone"


def test_a_deletion_names_what_uses_the_symbol_and_is_made(tmp_path: Path) -> None:
    source = laid(tmp_path, FILES)
    planned = source.delete("m.a.f", force=True, dry_run=True)
    outcome = source.delete("m.a.f", force=True)
    assert outcome.operation_id
    assert message_of(outcome, "still_used") == f"m.a.f is still used: m.a:2, m.b:1, m.b:5; {HOW}."
    assert planned.warnings == outcome.warnings


def test_verify_import_does_not_vouch_for_importers_that_fail(tmp_path: Path) -> None:
    laid(tmp_path, FILES)
    before = picture(tmp_path)
    command = [sys.executable, "-m", "bae_source", "delete", "m.a.f", "--force", "--verify", "import", "--json"]
    done = subprocess.run([*command, "--root", str(tmp_path)], capture_output=True)
    answer = json.loads(done.stdout)
    assert done.returncode == 6
    assert [each["result"] for each in answer["checks"]] == ["failed"]
    assert "m.b" in answer["errors"][0]["message"]
    assert picture(tmp_path) == before


CHANGES: dict[str, Callable[[Source], Outcome]] = {
    "delete": lambda src: src.delete("m.a.f", force=True, verify=["import"]),
    "write over the module": lambda src: src.write("m.a", WITHOUT_F, overwrite=True, verify=["import"]),
    "a rename in the module's text": lambda src: src.edit("m.a", old="def f", new="def h", verify=["import"]),
    "a package's import": lambda src: src.edit("m", old="from m.lib import x", new="", verify=["import"]),
    "a deleted module": lambda src: src.delete("m.a", force=True, verify=["import"]),
    "a deleted package": lambda src: src.delete("m", recursive=True, force=True, verify=["import"]),
    "several changes": lambda src: src.apply(
        [
            {"do": "edit", "target": "m.a.g", "new_source": "def g():\n    return 2\n"},
            {"do": "delete", "target": "m.a.f", "force": True},
        ],
        verify=["import"],
    ),
    "in place": lambda src: src.delete("m.a.f", force=True, verify=["import"], reload="process"),
    "patched": lambda src: src.delete("m.a.f", force=True, verify=["import"], reload="patch"),
    "in a child": lambda src: src.delete("m.a.f", force=True, verify=["import"], reload="child"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_after_which_an_importer_fails_does_not_verify(
    tmp_path: Path, change: Callable[[Source], Outcome]
) -> None:
    source = laid(
        tmp_path,
        {**FILES, "m/__init__.py": "from m.lib import x\n", "m/lib.py": "x = 1\n", "n.py": "from m import x\n"},
    )
    before = picture(tmp_path)
    with pytest.raises(TransactionError) as caught:
        change(source)
    assert caught.value.code == "reload_failed"
    assert picture(tmp_path) == before


METHODS = "class C:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n"
WARNED = {
    "a class's method": (METHODS, "m.a.C.f"),
    "a class": ("class f:\n    def f(self):\n        return f\n", "m.a.f"),
    "a constant": ("f = 1\ng = 2\n", "m.a.f"),
    "one of a condition": ("import sys\n\nif sys:\n    f = 1\n", "m.a.f"),
}


@pytest.mark.parametrize(("text", "name"), WARNED.values(), ids=WARNED)
def test_whatever_kind_of_name_goes_its_user_is_named(tmp_path: Path, text: str, name: str) -> None:
    use = "from m import a\n\nX = a.C().f()\n" if ".C." in name else "import m.a\n\nX = m.a.f\n"
    source = laid(tmp_path, {**FILES, "m/a.py": text, "m/b.py": use})
    assert "m.b:3" in message_of(source.delete(name, force=True, dry_run=True), "still_used")


def test_a_write_names_the_users_of_each_name_that_it_drops_and_of_no_other(tmp_path: Path) -> None:
    text = "def f():\n    return 1\n\n\ndef h():\n    return 2\n\n\ndef g():\n    return f()\n"
    source = laid(tmp_path, {**FILES, "m/a.py": text, "c.py": "from m.a import (\n    g,\n    h as i,\n)\n"})
    outcome = source.write("m.a", "def g():\n    return 3\n", overwrite=True, dry_run=True)
    assert [each.message.partition(";")[0] for each in outcome.warnings if each.code == "still_used"] == [
        "m.a.f is still used: m.b:1, m.b:5",
        "m.a.h is still used: c:3",
    ]


def test_an_edit_of_the_imports_names_who_takes_them_from_there_and_who_used_them(tmp_path: Path) -> None:
    files = {"m/__init__.py": "import os\n\nfrom .a import f\n\nHERE = os.curdir\n", "n.py": "from m import f\n"}
    source = laid(tmp_path, {**FILES, **files})
    outcome = source.edit("m", old="import os\n\nfrom .a import f\n", new="", dry_run=True)
    found = [each.message.partition(";")[0] for each in outcome.warnings if each.code == "still_used"]
    assert found == ["m.os is still used: m:2", "m.f is still used: n:1"]


def test_an_undo_names_what_uses_what_it_takes_away(tmp_path: Path) -> None:
    source = laid(tmp_path, {**FILES, "m/a.py": "def g():\n    return 1\n", "m/b.py": ""})
    added = source.insert("m.a", "def f():\n    return 1\n", position="last", reload="off")
    made = source.write("m.c", "x = 1\n", reload="off")
    (tmp_path / "m/b.py").write_text("from m.a import f\nfrom m import c\n")
    assert "m.b:1" in message_of(source.undo(str(added.operation_id), dry_run=True), "still_used")
    assert (
        message_of(source.undo(str(made.operation_id), dry_run=True), "still_imported")
        == "m.c is still imported: m.b:2."
    )


def test_an_undo_that_breaks_an_importer_stands_and_is_not_vouched_for(tmp_path: Path) -> None:
    source = laid(tmp_path, {**FILES, "m/a.py": "def g():\n    return 1\n", "m/b.py": ""})
    source.insert("m.a", "def f():\n    return 1\n", position="last")
    (tmp_path / "m/b.py").write_text("from m.a import f\n")
    outcome = source.undo(verify=["import"])
    assert "m.b" in message_of(outcome, "import_failed")
    assert "still_used" in codes(outcome)
    assert not [each for each in outcome.checks if each.result == "passed"]


def test_changes_that_mend_the_users_leave_nothing_to_say(tmp_path: Path) -> None:
    source = laid(tmp_path, {**FILES, "m/a.py": "def f():\n    return 1\n"})
    mended = {
        "do": "write",
        "target": "m.b",
        "source": "from m.c import f\n\n\ndef use():\n    return f()\n",
        "overwrite": True,
    }
    moved = {"do": "write", "target": "m.c", "source": "def f():\n    return 1\n"}
    outcome = source.apply([{"do": "delete", "target": "m.a.f"}, moved, mended], verify=["import"])
    assert codes(outcome) == []
    with Source(tmp_path).transaction(reload="off") as tx:
        assert "m.b:1" in message_of(tx.delete("m.c.f"), "still_used")
        tx.insert("m.c", "f = None\n", position="last")
    assert tx.outcome is not None
    assert codes(tx.outcome) == []


def test_a_name_that_is_still_there_or_used_nowhere_is_not_spoken_of(tmp_path: Path) -> None:
    source = laid(tmp_path, {**FILES, "m/__init__.py": "from . import a\n", "n.py": "from m import a\n"})
    assert codes(source.delete("m.a.g", dry_run=True)) == []
    assert codes(source.edit("m", old="from . import a\n", new="", dry_run=True)) == []
    taken = source.edit("m.a", old="def f():\n    return 1\n", new="from json import dumps as f\n", dry_run=True)
    assert "still_used" not in codes(taken)
    looped = source.edit("m.a", old="def f():\n    return 1\n", new="for f in (max,):\n    pass\n", dry_run=True)
    assert "still_used" not in codes(looped)


def test_local_names_and_what_goes_with_its_class_are_not_spoken_of(tmp_path: Path) -> None:
    text = "class C:\n    def f(self):\n        def local():\n            return 1\n\n        return local()\n"
    source = laid(tmp_path, {**FILES, "m/a.py": text, "m/b.py": "from m.a import C\n\nC().f()\n"})
    assert message_of(source.delete("m.a.C", force=True, dry_run=True), "still_used").startswith(
        "m.a.C is still used: m.b:1, m.b:3;"
    )
    new = "def f(self):\n    return 2\n"
    assert codes(source.edit("m.a.C.f", new, dry_run=True)) == ["definitions_gone"]


def test_undecided_uses_are_listed_apart_from_sure_ones(tmp_path: Path) -> None:
    source = laid(tmp_path, {**FILES, "m/a.py": METHODS, "m/b.py": "def use(x):\n    return x.f()\n"})
    outcome = source.delete("m.a.C.f", dry_run=True)
    assert "m.b:2" in message_of(outcome, "perhaps_used")
    assert "still_used" not in codes(outcome)


def test_many_users_are_counted_and_all_of_their_imports_are_tried(tmp_path: Path) -> None:
    many = {f"m/u{number:03}.py": "from m.a import f\n" for number in range(230)}
    last = {"m/v.py": "import m.a\nfrom m.a import f\n", **dict.fromkeys(many, "from m.a import g as f\n")}
    source = laid(tmp_path, {**FILES, "m/b.py": "", **many})
    assert message_of(source.delete("m.a.f", force=True, dry_run=True), "still_used").endswith(f"and 221 more; {HOW}.")
    source = laid(tmp_path, {**FILES, "m/b.py": "", **last})
    with pytest.raises(TransactionError, match=r"m\.v"):
        source.delete("m.a.f", force=True, verify=["import"])


def test_an_importer_that_failed_before_or_is_ready_for_it_does_not_stop_a_change(tmp_path: Path) -> None:
    ready = "try:\n    from m.a import f\nexcept ImportError:\n    f = None\n"
    source = laid(tmp_path, {**FILES, "m/b.py": ready, "m/c.py": "import nothing_like_it\nfrom m.a import f\n"})
    outcome = source.delete("m.a.f", force=True, verify=["import"])
    assert [each.result for each in outcome.checks] == ["failed_before"]
    assert "m.c does not import" in message_of(outcome, "import_failed_before")


def test_an_importer_that_is_not_imported_to_be_checked_is_not_vouched_for(tmp_path: Path) -> None:
    source = laid(tmp_path, {**FILES, "m/b.py": "", "tests/test_a.py": "from m.a import f\n"})
    outcome = source.delete("m.a.f", force=True, verify=["import"])
    assert [each.result for each in outcome.checks] == ["not_run"]
    assert "Verified: import" not in outcome.text


def test_code_that_names_a_data_file_which_goes_is_named(tmp_path: Path) -> None:
    code = 'from importlib.resources import files\n\nTEXT = files("m").joinpath("lists", "words.txt")\n'
    data = {"m/lists/words.txt": "a\n", "m/lists/free.txt": "b\n", "README.md": "words.txt\n"}
    source = laid(tmp_path, {**FILES, **data, "m/b.py": code})
    assert codes(source.delete("m:lists/free.txt", dry_run=True)) == []
    text = "m:lists/words.txt may be named still: m.b:3; grep words.txt shows them."
    assert message_of(source.delete("m:lists/words.txt", dry_run=True), "perhaps_named") == text
    assert message_of(source.delete("m:lists", recursive=True, dry_run=True), "perhaps_named") == text
    assert message_of(source.move("m:lists/words.txt", "m:words.txt", dry_run=True), "perhaps_named") == text
    assert source.delete("m:lists/words.txt", reload="off").operation_id
    assert codes(source.undo(dry_run=True)) == []
