"""From the words of a command line to the request and its context."""

from __future__ import annotations

from pathlib import Path

import pytest

from bae_source.adapters.cli.cli import through_service
from bae_source.engine.service import REQUESTS, Context
from bae_source.errors import RequestError
from bae_source.model.request import Effect, command_of
from tests.adapters.support import Recorder, asked, call

CHANGING = [command_of(kind) for kind in REQUESTS if kind.effect is not Effect.READS]
CHANGES = b'{"requests": [{"do": "delete", "target": "a.f"}]}'
NEEDED = {"edit": ("a.f", "--code", "x"), "insert": ("a.f", "--code", "x"), "delete": ("a.f",), "apply": ("-",)}
NEEDED |= {
    "write": ("a.f", "--code", "x"),
    "exports add": ("a.f",),
    "exports remove": ("a.f",),
    "exports mend": ("a.f",),
    "imports add": ("a", "import b"),
    "imports remove": ("a", "b"),
    "imports organise": ("a",),
    "move": ("a", "b"),
    "rename": ("a.f", "g"),
    "withdraw": ("code_mod_1a2b3c4d",),
    "change_signature": ("a.f", "(x)"),
    "inline": ("a.f",),
    "replace": ("old", "new"),
    "extract": ("a.f", "--code", "x", "--as", "g"),
    "rewrite": ("f($X)", "g($X)"),
    "codemod": ("a.b:C",),
    "amend": ("draft_1", "--old", "a", "--new", "b"),
    "commit": ("draft_1",),
    "abandon": ("draft_1",),
    "config set": ("tool.a.b", "1"),
    "config add": ("tool.a.b", "1"),
    "config remove": ("tool.a.b",),
    "config rename": ("tool.a.b", "c"),
    "deps add": ("httpx",),
    "deps remove": ("httpx",),
    "deps upgrade": ("httpx",),
}


def test_a_read_is_asked_for_by_name() -> None:
    given = asked("read", "app.f")
    left_out = {"full": False, "dedent": False, "private": False, "numbers": False, "around": False}
    assert given == {"verb": "read", "target": "app.f"} | left_out
    assert asked("read")["target"] == "", "the project"


def test_a_flag_is_true_when_given_wherever_it_stands() -> None:
    assert asked("read", "--dedent", "app.f")["dedent"]
    assert asked("read", "app.f", "--dedent")["dedent"]


def test_source_comes_from_a_file_with_its_newlines_untouched(tmp_path: Path) -> None:
    source = tmp_path / "new.py"
    source.write_bytes(b"def f():\r\n    '''\r'''\n")
    assert asked("edit", "a.f", "--source", str(source))["new_source"] == "def f():\r\n    '''\r'''\n"


def test_source_comes_from_standard_input_with_its_newlines_untouched() -> None:
    assert (
        asked("edit", "a.f", "--source", "-", stdin=b"def f():\r\n    ...\r")["new_source"] == "def f():\r\n    ...\r"
    )


def test_source_comes_from_the_command_line() -> None:
    assert asked("edit", "a.f", "--code", "f = 1")["new_source"] == "f = 1"


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    assert asked("edit", "a.f", "--source", "-", stdin=b"\xef\xbb\xbff = 1\n")["new_source"] == "f = 1\n"


def test_old_and_new_come_from_options_or_files(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"a\r\n")
    given = asked("edit", "a.f", "--old-file", str(tmp_path / "old"), "--new", "b")
    assert (given["old"], given["new"]) == ("a\r\n", "b")


@pytest.mark.parametrize("text", ["-x", "->", "-1", "--", "--y", "-> int:", "", " "])
def test_a_text_that_begins_with_a_dash_is_a_text(text: str) -> None:
    given = asked("edit", "a.f", f"--old={text}", f"--new={text}")
    assert (given["old"], given["new"]) == (text, text)


@pytest.mark.parametrize("text", ["-x", "->", "-1", "--y", "-> int:"])
def test_a_text_that_begins_with_a_dash_may_stand_by_itself(text: str) -> None:
    given = asked("edit", "a.f", "--old", text, "--new", text)
    assert (given["old"], given["new"]) == (text, text)


def test_an_option_is_never_taken_for_the_text_of_another() -> None:
    called = call("edit", "a.f", "--old", "--new", "x")
    assert called.status == 2
    assert b"--old" in called.err


def test_imports_are_given_one_by_one() -> None:
    given = asked("edit", "a.f", "--code", "x", "--import", "import os", "--import", "from a import b")
    assert given["imports"] == ("import os", "from a import b")


def test_every_option_of_edit_arrives() -> None:
    given = asked("edit", "a.f", "--code", "x", "--comment", "", "--if-match", "e1")
    assert (given["comment"], given["if_match"]) == ("", "e1")


@pytest.mark.parametrize("position", ["before", "after", "first", "last"])
def test_an_insertion_goes_to_any_position(position: str) -> None:
    assert asked("insert", "a.f", "--code", "x", "--position", position)["position"] == position


def test_an_unknown_position_is_refused_with_those_there_are() -> None:
    called = call("insert", "a.f", "--code", "x", "--position", "inside")
    assert called.status == 2
    assert all(word in called.err_text for word in ("before", "after", "first", "last"))


def test_undo_takes_the_id_by_position_or_none() -> None:
    assert asked("undo")["operation_id"] is None
    assert asked("undo", "op_1")["operation_id"] == ("op_1",)
    assert asked("redo", "op_1", "op_2")["operation_id"] == ("op_1", "op_2")


def test_a_number_is_a_number() -> None:
    assert asked("history", "--limit", "3")["limit"] == 3
    assert "'many' is no whole number" in call("history", "--limit", "many").err_text


def test_what_was_not_given_is_left_to_the_request() -> None:
    assert asked("history")["limit"] == 20
    assert asked("insert", "a.f", "--code", "x")["position"] == "after"


@pytest.mark.parametrize("verb", CHANGING)
def test_every_changing_verb_takes_the_context(verb: str) -> None:
    door = Recorder()
    words = [*NEEDED.get(verb, ()), "--dry-run", "--reload", "child", "--why", "because"]
    call(*verb.split(), *words, stdin=CHANGES, door=door)
    assert door.contexts == [Context(dry_run=True, reload="child", why="because")]


def test_a_reading_verb_takes_no_context() -> None:
    assert call("read", "a.f", "--dry-run").status == 2


@pytest.mark.parametrize("mode", ["auto", "process", "child", "off"])
def test_the_reload_modes_are_the_contexts(mode: str) -> None:
    door = Recorder()
    call("delete", "a.f", "--reload", mode, door=door)
    assert door.contexts[0].reload == mode
    assert call("delete", "a.f", "--reload", "sometimes").status == 2


@pytest.mark.parametrize("before", [True, False])
def test_the_root_may_stand_before_the_verb_or_behind(tmp_path: Path, before: bool) -> None:
    door = Recorder()
    root = ("--root", str(tmp_path))
    call(*(root if before else ()), "read", "a.f", *(() if before else root), door=door)
    call(f"--root={tmp_path}", "read", "a.f", door=door)
    assert door.roots == [tmp_path, tmp_path]


def test_the_root_is_found_upwards(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "app")
    door = Recorder()
    call("read", "a.f", door=door)
    assert door.roots == [project]


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    called = call("--root", str(tmp_path / "none"), "read", "a.f", door=through_service)
    assert called.status == 2
    assert "is no folder" in called.err_text


def test_the_environment_goes_in_as_an_argument() -> None:
    door = Recorder()
    call("read", "a.f", door=door, environment={"VIRTUAL_ENV": "here"})
    assert door.environments == [{"VIRTUAL_ENV": "here"}]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("delete",), "target is missing"),
        (("delete", ""), "target"),
        (("outline", "a", "b"), "Unrecognized arguments: b"),
        (("read", "a", "--nonsense"), "Unrecognized arguments: --nonsense"),
        (("read", "a", "--ded"), "Unrecognized arguments: --ded"),
        (("--nonsense", "read", "a"), "--nonsense stands before the verb"),
        (("insert", "a"), "new_source is missing"),
        (("edit", "a", "--old"), "expected one argument"),
        (("edit", "a", "--source", "x", "--source", "y"), "given more than once"),
        (("edit", "a", "--code", "x", "--source", "-"), "exclude each other"),
        (("edit", "a", "--old", "x", "--old-file", "y"), "exclude each other"),
        (("edit", "a", "--source", "-", "--old-file", "-"), "cannot both be standard input"),
        (("edit", "a", "--source", "no/such/file"), "cannot be read: No such file"),
        (("edit", "a", "--source", "."), "cannot be read: Is a directory"),
        (("edit", "a", "--source", "a\0b"), "cannot be read"),
        (("--json",), "No verb is given"),
    ],
)
def test_wrong_usage_says_what_is_wrong(argv: tuple[str, ...], expected: str) -> None:
    called = call(*argv)
    assert called.status == 2
    if "--json" not in argv:
        assert called.err_text.startswith("error[invalid_arguments]: ")
        assert "\n  -> " in called.err_text
        assert not called.out
        called = call("--json", *argv)
    assert called.status == 2
    assert called.json["errors"][0]["code"] == "invalid_arguments"
    assert expected in called.json["errors"][0]["message"]
    assert called.json["errors"][0]["hints"]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("rewrite", "-$X", "abs($X)"), "rewrite -- '-$X' 'abs($X)' takes what begins with a dash"),
        (("replace", "old", "--new", "--word"), "replace --word -- old --new takes what begins with a dash"),
        (("replace", "--expect", "3", "-1", "--", "-2"), "replace --expect 3 -- -1 -2 takes what begins with a dash"),
        (("find", "-x"), "find -- -x takes what begins with a dash"),
    ],
)
def test_what_begins_with_a_dash_is_offered_behind_two(argv: tuple[str, ...], words: str) -> None:
    called = call("--json", *argv)
    hints = called.json["errors"][0]["hints"]
    assert words in hints[-1].replace(" --json", "")


@pytest.mark.parametrize("argv", [("read", "a", "--nonsense"), ("rewrite", "a", "b", "c", "-d")])
def test_an_option_that_is_none_is_no_word_where_there_is_no_room(argv: tuple[str, ...]) -> None:
    called = call("--json", *argv)
    assert not [hint for hint in called.json["errors"][0]["hints"] if " -- " in hint]


def test_several_problems_are_named_at_once() -> None:
    called = call("insert")
    assert "target is missing" in called.err_text
    assert "new_source is missing" in called.err_text


def test_a_verb_that_does_not_exist_is_an_unknown_operation() -> None:
    called = call("edt", "a.f")
    assert called.status == 2
    assert called.err_text.startswith("error[unknown_operation]: There is no verb 'edt'.\n  -> Did you mean edit?\n")


def test_undecodable_standard_input_is_refused_with_its_line() -> None:
    called = call("edit", "a.f", "--source", "-", stdin=b"x = 1\ny = '\xff'\n")
    assert called.status == 2
    assert called.err_text.startswith("error[invalid_arguments]: Standard input is not UTF-8: byte 0xff in line 2")


def test_an_undecodable_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.py").write_bytes(b"x = '\xe9'\n")
    assert "is not UTF-8" in call("edit", "a.f", "--source", str(tmp_path / "latin.py")).err_text


def test_a_terminal_shows_what_input_is_awaited() -> None:
    called = call("edit", "a.f", "--source", "-", stdin=b"f = 1\n", typed=True)
    assert "Type or paste" in called.err_text
    assert "Ctrl-D" in called.err_text


def test_standard_input_is_never_read_unasked() -> None:
    error = RequestError(
        "invalid_arguments",
        "edit needs new_source, or old and new.",
        hints=["edit(target, …): …"],
        details={"missing": ["new_source"]},
    )
    called = call("edit", "a.f", stdin=b"f = 1\n", door=Recorder(error))
    assert called.status == 2
    assert "--source FILE|-, --code TEXT" in called.err_text
    assert "standard input is read only where - asks for it" in called.err_text
    assert "edit(target" not in called.err_text


@pytest.mark.parametrize(
    "message", ["comment takes comment lines.", "'os' is no import statement.", "app.core has no f."]
)
def test_of_source_nothing_is_hinted_where_something_else_is_wrong(message: str) -> None:
    called = call("edit", "a.f", "--import", "os", door=Recorder(RequestError("invalid_arguments", message)))
    assert called.status == 2
    assert message in called.err_text
    assert "standard input" not in called.err_text


def test_a_program_gets_the_engines_own_hints() -> None:
    error = RequestError("invalid_arguments", "No.", hints=["edit(target, …): …"])
    assert call("edit", "a.f", "--json", door=Recorder(error)).json["errors"][0]["hints"] == ["edit(target, …): …"]


def test_everything_behind_two_dashes_is_a_name() -> None:
    assert asked("read", "--", "app.f")["target"] == "app.f"
    assert asked("read", "--", "--json")["target"] == "--json"
