"""What people see: plain text in a pipe, colour on a terminal, and nothing that drives it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from bae_source.adapters.cli.cli import through_service
from bae_source.adapters.cli.streams import visible, wants_colour
from bae_source.errors import LookupFailed
from bae_source.model.outcome import Notice, Outcome
from tests.adapters.support import Called, Recorder, call

DIFF = "diff --git a/f.py b/f.py\n--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 2\n same\n"
APPLIED = Outcome(
    status="applied",
    operation_id="op_1",
    text="edited f.x",
    diff=DIFF,
    warnings=(Notice("noted", "Look."),),
    next_actions=("undo op_1",),
)
PLANNED = Outcome(status="planned", text="would edit f.x", diff=DIFF, warnings=(Notice("noted", "Look."),))
ESCAPE = re.compile(rb"\x1b\[[0-9;]*m")
PLAIN = {"NO_COLOR": "1"}


def shown(outcome: Outcome | BaseException, *, terminal: bool = True, **environment: str) -> Called:
    return call("delete", "f.x", door=Recorder(outcome), terminal=terminal, environment=environment)


def source(text: str) -> Outcome:
    return Outcome(status="answer", text=text, address="f", etag="e1")


@pytest.mark.parametrize("text", ["", "x = 1", "x = 1\n", "a\r\nb\r\n", "a\rb\n", "\f\x1b[0m\u202e\n", "é \U0001f600"])
def test_a_read_in_a_pipe_is_the_source_itself(text: str) -> None:
    assert shown(source(text), terminal=False) == Called(0, text.encode(), b"")


def test_an_answer_that_is_no_source_ends_its_last_line() -> None:
    assert shown(Outcome(status="answer", text="op_1"), terminal=False).out == b"op_1\n"


def test_a_dry_run_in_a_pipe_is_the_diff_alone() -> None:
    called = shown(PLANNED, terminal=False)
    assert called.out == DIFF.encode()
    assert called.err_text == "would edit f.x\nwarning[noted]: Look.\n"


def test_a_diff_in_a_pipe_has_the_bytes_that_are_no_utf_8() -> None:
    called = shown(Outcome(status="planned", text="", diff="+x = '\udce9'\r\n"), terminal=False)
    assert called.out == b"+x = '\xe9'\r\n"


def test_a_change_in_a_pipe_is_its_verdict_with_the_way_back_and_then_the_diff() -> None:
    called = shown(APPLIED, terminal=False)
    assert called.out.decode() == f"edited f.x  (take it back: bae-source undo op_1)\n{DIFF}"
    assert called.err_text == "warning[noted]: Look.\n"


def test_of_what_a_refactoring_leaves_the_list_follows_the_verdict() -> None:
    called = shown(replace(APPLIED, text="renamed f.x\n\nmention: f:3\n"), terminal=False)
    assert called.out.decode() == f"renamed f.x  (take it back: bae-source undo op_1)\nmention: f:3\n{DIFF}"


def test_a_change_that_was_not_recorded_offers_no_way_back() -> None:
    lost = (Notice("history_unavailable", "Not recorded."),)
    called = shown(replace(APPLIED, warnings=lost, next_actions=("imports remove f os",)), terminal=False)
    assert called.out.decode() == f"edited f.x  (op_1)\n{DIFF}"
    assert called.err_text == "  -> imports remove f os\nwarning[history_unavailable]: Not recorded.\n"


def test_a_quiet_change_shows_no_diff_and_only_counts_mentions(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f():\n    pass  # f\n\n\nX = 'f'\n")
    for flag in ("-q", "--quiet"):
        called = call("rename", "m.f", "g", flag, "--root", str(tmp_path), door=through_service)
        assert called.status == 0, called.err_text
        first, *rest = called.out.decode().splitlines()
        assert first.startswith("Renamed m.f to g: 1 place in 1 file.  (take it back: bae-source undo op_")
        assert [line for line in rest if not line.endswith("left as they are.")] == []
        assert call("undo", flag, "--root", str(tmp_path), door=through_service).out.count(b"\n") == 1


def test_a_change_on_a_terminal_shows_the_diff_too() -> None:
    called = shown(APPLIED, **PLAIN)
    assert called.out.decode() == f"edited f.x  (take it back: bae-source undo op_1)\n{DIFF}"


def test_the_way_back_can_be_typed_as_it_stands(tmp_path: object) -> None:
    called = call("delete", "f.x", "--root", str(tmp_path), door=Recorder(APPLIED), program="python -m bae_source")
    assert f"python -m bae_source undo op_1 --root {tmp_path}" in called.out.decode()


def test_a_dry_run_on_a_terminal_shows_the_summary_and_the_diff() -> None:
    assert shown(PLANNED, **PLAIN).out.decode() == f"would edit f.x\n{DIFF}"


def test_an_error_is_its_code_its_message_its_hints_and_its_candidates() -> None:
    error = LookupFailed("ambiguous_symbol", "Several.", hints=["Choose.", "Or not."], candidates=["f.x[0]", "f.x[1]"])
    called = shown(error, terminal=False)
    assert not called.out
    assert called.err_text == (
        "error[ambiguous_symbol]: Several.\n  -> Choose.\n  -> Or not.\ncandidates:\n  f.x[0]\n  f.x[1]\n"
    )


def test_an_answer_that_is_not_all_says_so() -> None:
    outcome = Outcome(status="answer", text="a", complete=False, next_actions=("read b",))
    assert shown(outcome, terminal=False).err_text == "incomplete: This is not all there is.\n  -> read b\n"


def test_an_answer_that_is_not_all_leads_to_the_warnings_that_say_why() -> None:
    outcome = Outcome(status="answer", text="a", complete=False, warnings=(Notice("not_known", "B is not known."),))
    assert shown(outcome, terminal=False).err_text == (
        "incomplete: This is not all there is: the warnings below say why.\nwarning[not_known]: B is not known.\n"
    )


def test_a_terminal_gets_colour_and_loses_no_character() -> None:
    for outcome in (APPLIED, PLANNED, source("def f():\n\treturn 'é'  # x\n\n\n"), source("x"), source("\n\nx = 1\n")):
        coloured, plain = shown(outcome), shown(outcome, **PLAIN)
        assert b"\x1b[" in coloured.out
        assert b"\x1b" not in plain.out
        assert ESCAPE.sub(b"", coloured.out).expandtabs() == plain.out.expandtabs()
        assert ESCAPE.sub(b"", coloured.err) == plain.err


def test_long_lines_are_neither_wrapped_nor_cut() -> None:
    text = "x = '" + "wide " * 200 + "'\n"
    assert ESCAPE.sub(b"", shown(source(text)).out) == text.encode()


def test_diffs_are_coloured_as_git_does() -> None:
    out = shown(PLANNED).out
    assert b"\x1b[31m-x = 1\x1b[0m" in out
    assert b"\x1b[32m+x = 2\x1b[0m" in out
    assert b"\x1b[36m@@ -1,2 +1,2 @@\x1b[0m" in out


@pytest.mark.parametrize(
    ("environment", "terminal", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": ""}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "xterm"}, True, True),
    ],
)
def test_colour_is_for_terminals_unless_the_environment_says_otherwise(
    environment: dict[str, str], terminal: bool, wanted: bool
) -> None:
    assert wants_colour(environment, terminal=terminal) is wanted
    assert (b"\x1b[" in shown(source("x = 1\n"), terminal=terminal, **environment).out) is wanted


HOSTILE = "x = '\x1b]0;owned\x07\x9b31m\x00\x08\u202e\u2066\x7f'\n"


@pytest.mark.parametrize("environment", [{}, PLAIN])
@pytest.mark.parametrize(
    "outcome",
    [
        source(HOSTILE),
        Outcome(status="applied", text=HOSTILE, diff=DIFF + "+" + HOSTILE, warnings=(Notice("noted", HOSTILE),)),
        LookupFailed("symbol_not_found", HOSTILE, hints=[HOSTILE], candidates=[HOSTILE]),
    ],
)
def test_what_a_file_holds_cannot_drive_the_terminal(
    outcome: Outcome | BaseException, environment: dict[str, str]
) -> None:
    called = shown(outcome, **environment)
    text = ESCAPE.sub(b"", called.out + called.err).decode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    assert r"\x1b]0;owned\x07\x9b31m\x00\x08\u202e\u2066\x7f" in text


def test_windows_line_ends_are_shown_only_where_lines_differ() -> None:
    assert shown(source("a\r\nb\r\n"), **PLAIN).out == b"a\nb\n"
    assert shown(source("a\r\nb\n"), **PLAIN).out == b"a\\r\nb\n"
    diff = "--- a/f.py\n+++ b/f.py\n@@ -1 +1 @@\n-a\r\n+b\r\n"
    assert shown(Outcome(status="planned", diff=diff), **PLAIN).out.decode() == diff.replace("\r", "")
    mixed = diff.replace("+b\r", "+b")
    assert shown(Outcome(status="planned", diff=mixed), **PLAIN).out.decode() == mixed.replace("\r", "\\r")


def test_visible_keeps_what_is_harmless() -> None:
    assert visible("tab\tnewline\né 漢字 \U0001f600") == "tab\tnewline\né 漢字 \U0001f600"


def test_a_huge_source_is_shown_without_highlighting() -> None:
    assert shown(source("x = 1\n" * 100_000)).out == b"x = 1\n" * 100_000
