"""What an answer says besides its text keeps to the budget, and says what it leaves out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bae_source import LookupFailed, Refused, Source
from bae_source.adapters.toolbox import Toolbox
from bae_source.engine.service import Service
from bae_source.errors import RequestError
from bae_source.model.outcome import Changed, Notice, Outcome, telling, to_json, warned_by
from bae_source.model.shortened import shortened, shortened_error

BUDGET = 2000


def long(*, operation_id: str | None = "op_1") -> Outcome:
    return Outcome(
        status="applied",
        operation_id=operation_id,
        text="".join(f"Edited m.f{number}.\n" for number in range(500)),
        diff="".join(f"+line {number}\n" for number in range(5000)),
        changed=tuple(Changed(f"m.f{number}", "e" * 16) for number in range(500)),
        warnings=(*(Notice("imports_added", f"Added {number}.") for number in range(500)), Notice("long", "x" * 9000)),
        next_actions=tuple(f"undo op_{number}" for number in range(500)),
    )


def test_everything_is_kept_where_it_fits() -> None:
    outcome = long()
    assert shortened(outcome, 10_000_000, answer=False) is outcome
    assert shortened(outcome, None, answer=False) is outcome


def test_a_text_that_is_too_long_is_cut_at_a_line_and_says_how_to_get_all_of_it() -> None:
    outcome = shortened(long(), BUDGET, answer=False)
    assert len(to_json(outcome)) < 2 * BUDGET
    assert outcome.operation_id == "op_1"
    assert outcome.diff.endswith("\n")
    assert outcome.diff
    assert outcome.warnings[-1].code == "shortened"
    message = outcome.warnings[-1].message
    assert "history op_1 --diff --cursor 0" in message
    for what in ("of the diff", "of the text", "of 501 warnings", "of 500 changed symbols", "of 500 next actions"):
        assert what in message


def test_without_an_operation_a_larger_budget_is_the_way() -> None:
    assert "a larger budget" in shortened(long(operation_id=None), BUDGET, answer=False).warnings[-1].message


def test_the_text_of_an_answer_is_left_to_its_pages() -> None:
    outcome = long()
    assert shortened(outcome, BUDGET, answer=True).text == outcome.text


def test_an_error_keeps_its_code_message_and_details_and_counts_its_candidates() -> None:
    error = LookupFailed(
        "ambiguous_symbol",
        "Several.",
        hints=["Name one."] + ["x" * 500] * 50,
        candidates=[f"app.mod{number}.f" for number in range(3000)],
        details={"sym": "s", "preview": "+a\n" * 9000},
    )
    less = shortened_error(error, BUDGET)
    assert isinstance(less, LookupFailed)
    assert (less.code, less.message, less.hints[0], less.details["sym"]) == (
        "ambiguous_symbol", "Several.", "Name one.", "s"
    )  # fmt: skip
    assert 0 < len(less.candidates) < 3000
    assert "of 3,000 candidates" in less.hints[-1]
    assert "of the preview" in less.hints[-1]
    assert sum(map(len, (*less.hints, *less.candidates))) < BUDGET
    assert shortened_error(error, None) is error


def test_a_change_through_the_door_keeps_to_its_budget(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f():\n    return 1\n")
    body = "".join(f"    x{number} = {number}\n" for number in range(2000))
    toolbox = Toolbox(Service(tmp_path, environment=os.environ), budget=1000)
    outcome = toolbox.call("edit", {"target": "m.f", "new_source": f"def f():\n{body}", "reload": "off"})
    assert outcome.status == "applied"
    assert len(to_json(outcome)) < 2600
    assert outcome.warnings[-1].code == "shortened"
    whole = Source(tmp_path).history(str(outcome.operation_id), diff=True).outcome.diff
    assert "+    x1999 = 1999\n" in whole


def test_an_ambiguous_name_through_the_door_keeps_to_its_budget(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("".join(f"def f():\n    return {number}\n\n\nx = 0\n" for number in range(900)))
    with pytest.raises(LookupFailed) as caught:
        Source(tmp_path).within(500).read("m.f")
    assert caught.value.code == "ambiguous_symbol"
    assert "of 900 candidates" in caught.value.hints[-1]


def test_a_draft_keeps_to_the_budget_too(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f():\n    return 1\n")
    draft = Service(tmp_path).draft("why")
    from bae_source.engine.registry import called

    asked, context = called("edit", {"target": "m.f", "old": "1", "new": "(" + "1 +\n" * 900 + "1)", "budget": 500})
    assert draft.run(asked, context).warnings[-1].code == "shortened"
    assert draft.preview(500).warnings[-1].code == "shortened"
    assert draft.preview().diff.count("\n") > 900
    draft.abandon()
    assert (tmp_path / "m.py").read_text() == "def f():\n    return 1\n"


def cursor_of(call: str) -> str:
    """Return the cursor of a call in Python; "" if it has none."""
    return call.partition('cursor="')[2].partition('"')[0]


@pytest.mark.parametrize("budget", [100, 300])
def test_a_page_names_the_next_one_however_little_is_left_for_it(tmp_path: Path, budget: int) -> None:
    (tmp_path / "m.py").write_text("".join(f"def the_function_{number}(): ...\n" for number in range(60)))
    for number in range(30):
        (tmp_path / f"broken{number}.py").write_text("def the_function(:\n")
    pattern = "the_function_(" + "|".join(map(str, range(60))) + r")\b"
    source = Source(tmp_path)
    whole = source.grep(pattern)
    assert len(whole) > budget
    pages, cursor = [], "0"
    while cursor:
        page = source.within(budget, cursor=cursor).grep(pattern)
        pages.append(page)
        cursor = next(map(cursor_of, page.outcome.next_actions), "")
        assert page.complete is False or not cursor
    assert "".join(pages) == whole


@pytest.mark.parametrize("budget", [100, 1_000, 4_000])
def test_the_call_of_the_next_page_keeps_to_the_budget_however_long_the_question_was(
    tmp_path: Path, budget: int
) -> None:
    (tmp_path / "m.py").write_text("".join(f"def the_function_{number}(): ...\n" for number in range(200)))
    pattern = "the_function_(" + "|".join(map(str, range(900))) + r")\b"
    source = Source(tmp_path)
    pages, cursor = [], "0"
    while cursor:
        page = source.within(budget, cursor=cursor).grep(pattern)
        pages.append(page)
        following = [each for each in page.outcome.next_actions if cursor_of(each)]
        assert sum(map(len, following)) <= max(budget // 2, 400)
        cursor = next(map(cursor_of, following), "")
    assert "".join(pages) == source.grep(pattern)


def test_a_budget_below_the_least_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="budget"):
        Source(tmp_path).within(10).read()


def test_a_reading_answer_is_refused_rather_than_cut(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def f():\n" + "    x = 1\n" * 200)
    with pytest.raises(Refused) as caught:
        Source(tmp_path).within(300).read("m.f")
    assert caught.value.code == "budget_exceeded"


def test_what_an_error_tells_beside_what_went_wrong_keeps_to_the_budget_as_well() -> None:
    error = telling(LookupFailed("symbol_not_found", "a"), [Notice("recovered", "n" * 9_000)] * 3)
    less = shortened_error(error, 2_000)
    assert sum(len(notice.message) for notice in warned_by(less)) < 1_000
    assert "warnings" in less.hints[-1]
    assert shortened_error(error, None) is error


def test_an_error_of_which_nothing_is_left_out_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("x = 1\n")
    with pytest.raises(LookupFailed) as whole:
        Source(tmp_path).read("m.nothing_that_would_be_here")
    with pytest.raises(LookupFailed) as caught:
        Source(tmp_path).within(100).read("m.nothing_that_would_be_here" + "e" * 40)
    assert caught.value.hints == whole.value.hints
    error = Refused("busy", "x" * 120, hints=["Ask again."])
    assert shortened_error(error, 100) is error


def test_a_warning_that_is_cut_says_so() -> None:
    long = Notice("told", "y" * 900)
    hint = shortened_error(telling(Refused("busy", "Busy.", hints=["Ask again."]), [long]), 800).hints[-1]
    assert hint == "Shown, within 800 bytes: the beginning of a warning. A larger budget shows more."
    notice = shortened(Outcome(status="answer", warnings=(long,)), 800, answer=True).warnings[-1]
    assert notice.message == "Shown, within 800 bytes: the beginning of a warning. For all of it: a larger budget."
