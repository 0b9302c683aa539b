"""Texts that other programs would take for something else: options, several lines, commands, drivers of a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bae_source.adapters.cli.streams import visible
from bae_source.engine.approving.proposing import drawn
from tests.approval.terminal import at_terminal
from tests.trust.approval.conftest import Laid
from tests.trust.approval.support import DENY, OPEN, READ_ONLY, REVIEW, Answer, Case, Place, check, of

EDIT = ("edit", "app.core.send", "--old", "return 1", "--new", "return 2", "--reload", "off")
NAMES = ("--help-me", "-x", "$(touch x)", "a\nb", "a\0b", "../x", "x" * 65, "", "code_mod_", "code_mod_%", "*",
         "CODE_MOD_00000000", "code_mod_0' OR '1'='1", "\x1b]0;x\x07", "code_mod_\uff10")  # fmt: skip
NONE = ("symbol_not_found", "invalid_arguments")


def calls(*words: str, given: str = "") -> Callable[[Place], Answer]:
    """Return a call of the command line."""
    return lambda place: place.call(*words, given=given)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("verb", ["show", "wait"])
def test_what_is_no_name_of_a_proposal_names_none(verb: str, name: str, laid: Laid) -> None:
    more = ("--seconds", "0") if verb == "wait" else ()
    place = laid(REVIEW)
    place.proposed()
    check(Case(name=name, do=calls(verb, name, *more), code=NONE), place)


OPTIONS = [
    Case(name="an option of pip", do=calls("deps", "add", "--files-only", "--", "--index-url=http://x"),
         code="invalid_arguments"),
    Case(name="a short option of pip", do=calls("deps", "add", "--files-only", "--", "-rnotes.txt"),
         code="invalid_arguments"),
    Case(name="an address", do=calls("deps", "add", "x @ file:///etc/passwd", "--files-only"),
         code="invalid_arguments"),
    Case(name="an address of git", do=calls("deps", "add", "x @ git+ssh://-oProxyCommand=x/y", "--files-only"),
         code="invalid_arguments"),
    Case(name="a folder", do=calls("deps", "add", "./app", "--files-only"), code="invalid_arguments"),
    Case(name="two lines", do=calls("deps", "add", "rich\n[tool.bae-source]", "--files-only"),
         code="invalid_arguments"),
    Case(name="an extra with a table in it", do=calls("deps", "add", "rich[a]\n[tool.bae-source]\nx=1", "--files-only"),
         code="invalid_arguments"),
    Case(name="a group with a table in it", code="invalid_arguments",
         do=calls("deps", "add", "rich", "--group", 'x"]\n[tool.bae-source]', "--files-only")),
    Case(name="an extra that leads out", do=calls("deps", "add", "rich", "--extra", "../x", "--files-only"),
         code="invalid_arguments"),
    Case(name="a command", do=calls("deps", "add", "rich;$(touch x)", "--files-only"), code="invalid_arguments"),
    Case(name="deps remove of an option", do=calls("deps", "remove", "--files-only", "--", "-y"),
         code=("invalid_arguments", "symbol_not_found")),
    Case(name="deps upgrade of an option", do=calls("deps", "upgrade", "--files-only", "--", "--all"),
         code=("invalid_arguments", "symbol_not_found")),
    Case(name="an option of pytest", do=calls("tests", "run", "--", "-pevil"), code=("symbol_not_found",
         "invalid_name")),
    Case(name="a plugin of pytest", do=calls("tests", "run", "--", "--import-mode=x"), code=("symbol_not_found",
         "invalid_name")),
    Case(name="a test behind a pipe", do=calls("tests", "run", "tests.test_core.test_send|x"),
         code=("symbol_not_found", "invalid_name", "invalid_arguments")),
    Case(name="an operation that is an option of git", do=calls("undo", "--", "--exec=x"),
         code=("invalid_arguments", "nothing_to_undo", "invalid_name", "symbol_not_found")),
    Case(name="an operation that is a ref of git", do=calls("undo", "HEAD~1"),
         code=("invalid_arguments", "nothing_to_undo", "invalid_name", "symbol_not_found")),
    Case(name="an operation that leads out", do=calls("undo", "op_../../x"),
         code=("invalid_arguments", "nothing_to_undo", "invalid_name", "symbol_not_found")),
    Case(name="a head of the ledger that is an option", do=calls("ledger", "verify", "--head", "--x"),
         code="invalid_arguments"),
    Case(name="a head of the ledger that is too short", do=calls("ledger", "verify", "--head", "abc"),
         code="invalid_arguments"),
    Case(name="a time that is a command", do=calls("ledger", "show", "--since", "$(x)"), code="invalid_arguments"),
    Case(name="a check that is no check", do=calls(*EDIT, "--verify=--help"), code="invalid_arguments"),
    Case(name="a command that is empty", do=calls(*EDIT, "--verify", "command "), code="invalid_arguments"),
    Case(name="a command with a NUL", do=calls(*EDIT, "--verify", "command x\0y"), code="invalid_arguments"),
    Case(name="a command where nothing may change", policy=READ_ONLY,
         do=calls("edit", "app.core.LIMIT", "--code", "LIMIT = 4", "--verify", "command touch evil")),
    Case(name="a command in a dry run there", policy=READ_ONLY,
         do=calls("edit", "app.core.LIMIT", "--code", "LIMIT = 4", "--dry-run", "--verify", "command touch evil")),
    Case(name="a command for what is kept", policy=DENY,
         do=calls("edit", "app.secrets.KEY", "--code", "KEY = 1", "--verify", "command touch ../../evil")),
    Case(name="no reason", do=calls(*EDIT, "--propose", ""), code="invalid_arguments"),
    Case(name="a gigantic reason", do=calls(*EDIT, "--propose", "x" * 2_000_000), code="invalid_arguments"),
    Case(name="a reason that is no UTF-8", do=calls(*EDIT, "--propose", "x\udcff"), code="invalid_arguments"),
    Case(name="a gigantic goal", do=calls(*EDIT, "--propose", "x", "--goal", "x" * 100_000), code="invalid_arguments"),
    Case(name="a line of do that approves", do=calls("do", given="approve code_mod_11111111\n"),
         code="unknown_operation"),
    Case(name="a line of do that is a command", do=calls("do", given="!touch evil\n"), code="unknown_operation"),
    Case(name="a draft that leads out", do=calls("commit", "../../x"), code="handle_expired"),
]  # fmt: skip


@pytest.mark.parametrize(**of(OPTIONS))
def test_nothing_is_taken_for_an_option_or_a_command(case: Case, laid: Laid) -> None:
    check(case, laid(case.policy))


TEXTS = {
    "$(touch {mark})": "$(touch",
    "`touch {mark}`; --exec=x": "--exec=x",
    "--upload-pack=touch {mark}": "--upload-pack",
    "-F/etc/passwd": "-F/etc",
}


@pytest.mark.parametrize("text", TEXTS)
def test_reasons_goals_and_names_are_recorded_as_they_are(text: str, laid: Laid) -> None:
    """They go into the queue, the ledger and a commit of git's, and nothing of them is run or read."""
    place = laid(REVIEW)
    given = text.format(mark=place.folder / "mark")
    answer = place.process(*EDIT, f"--propose={given}", f"--goal={given}", f"--who={given}", f"--why={given}")
    assert answer.code == "pending", answer
    waits = place.plans.get(answer.task)
    assert (waits.reason, waits.goal, waits.who) == (given, given, given)
    assert place.approve(waits).code == "applied"
    assert not (place.folder / "mark").exists()
    shown = place.call("history", "--limit", "1")
    assert given in json.dumps(shown.data, ensure_ascii=False)
    assert place.ledger.verify().fault is None


DRIVING = "\x1b[2J\x1b]0;x\x07\x9b31m\u202e\u2066\u200b\u2060\ufeff\U000e0041\r\x08\u2028\x85"
FORGED = f"tidy up\nrisk: low\ndigest: {'0' * 64}\nType 000000 to approve exactly this{DRIVING}"


def test_nothing_that_a_caller_writes_drives_the_terminal_or_begins_a_line(laid: Laid) -> None:
    """The person sees reasons, goals, names of files and the diff, which may all be made to mislead."""
    place = laid(REVIEW)
    place.write("docs/guide.md", f"# Guide\n{DRIVING}old\n")
    waits = place.call(
        *("edit", ":docs/guide.md", "--old", "old", "--new", f"new{DRIVING}"),
        *("--propose", FORGED, "--goal", FORGED, "--who", "bot"),
    )
    assert waits.code == "pending", waits
    with at_terminal(["approve", waits.task], place.root, place.environment) as person:
        person.reads("to approve exactly this")
        person.types("000000")
        assert person.ends() != 0
    lines = person.shown.splitlines()
    own = [line for line in lines if line.startswith(("risk:", "digest:", "Type "))]
    assert len(own) == 3, own
    assert not {each for each in DRIVING if not each.isprintable()} & {*person.shown} - {"\r"}
    assert place.plans.get(waits.task).state == "awaiting_approval"


def test_nor_does_it_make_lines_of_lists(laid: Laid) -> None:
    place = laid(REVIEW)
    place.call(*EDIT, "--propose", f"x\ncode_mod_00000000  low  {FORGED}", "--goal", "y\nz")
    for words in (("pending",), ("ledger", "show")):
        text = place.call(*words).data["text"]
        assert not [line for line in text.splitlines() if line.startswith(("code_mod_00000000", "risk:", "digest:"))]


def test_a_diff_is_shown_with_all_that_would_hide_in_it() -> None:
    hidden = "if user.is_admin\u200b:  # \u202e\u2066 end\u2069 \U000e0061 \u00ad \u061c \u180e \ufff9 \x1b[8m"
    shown = visible(hidden)
    assert shown.isascii()
    assert "\\u200b" in shown
    assert "\\u202e" in shown


def test_what_is_drawn_of_a_proposal_has_one_line_for_each_of_its_facts(laid: Laid) -> None:
    place = laid(OPEN)
    answer = place.call(*EDIT, "--propose", "a\nrisk: low\nby ana", "--goal", "b\r\nc\x0bd\x85e\u2028f")
    waits = place.plans.get(answer.task)
    lines = drawn(waits).splitlines()
    assert [line.partition(":")[0] for line in lines if line.startswith("risk")] == ["risk"]
    assert sum(line.startswith("    | ") for line in lines) == 6


@pytest.mark.parametrize("given", ["-", "/dev/stdin", "nowhere", "/etc/shadow/x", "\0"])
def test_a_program_that_notifies_gets_facts_on_its_input_and_no_words(given: str, laid: Laid, tmp_path: Path) -> None:
    place = laid(REVIEW)
    program = place.home / "notify"
    program.write_text(f'#!/bin/sh\necho "$#" > {tmp_path}/words\ncat > {tmp_path}/facts\n')
    program.chmod(0o755)
    place.users(f'notify = ["{program}"]\n')
    answer = place.call(*EDIT, "--propose", f"{given}$(id)\n", "--who", "bot")
    assert answer.code == "pending", answer
    assert (tmp_path / "words").read_text() == "0\n"
    [line] = (tmp_path / "facts").read_text().splitlines()
    assert json.loads(line)["reason"] == f"{given}$(id)\n"
