"""Budgets and pages: nothing is cut in silence, and the pages of an answer are the answer."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bae_source.errors import Refused, RequestError
from bae_source.model.outcome import Outcome
from bae_source.model.page import FIRST, within
from bae_source.queries.read import Read

ASKED = Read(target="pkg.mod", full=True)


def answer(text: str) -> Outcome:
    return Outcome(status="answer", text=text, etag="e", next_actions=("edit pkg.mod",))


def cursor_of(page: Outcome) -> str:
    words = shlex.split(page.next_actions[0])
    return words[words.index("--cursor") + 1]


def pages(text: str, budget: int) -> list[Outcome]:
    found = [within(answer(text), ASKED, budget=budget, cursor=FIRST)]
    while not found[-1].complete:
        found.append(within(answer(text), ASKED, budget=None, cursor=cursor_of(found[-1])))
    return found


def test_an_answer_within_its_budget_is_as_it_was() -> None:
    assert within(answer("x" * 100), ASKED, budget=100) == answer("x" * 100)
    assert within(answer("x" * 100_000), ASKED, budget=None) == answer("x" * 100_000)


def test_an_answer_over_its_budget_is_refused_with_size_limit_and_calls() -> None:
    with pytest.raises(Refused) as caught:
        within(answer("ä" * 80), ASKED, budget=120, narrower=lambda: ["read pkg.mod.f"])
    error = caught.value
    calls = ["read pkg.mod.f", "read pkg.mod --full --budget 120 --cursor 0"]
    assert (error.code, error.hints, error.exit_code) == ("budget_exceeded", tuple(calls), 5)
    assert error.details == {"size": 160, "limit": 120, "calls": calls}
    assert "160 bytes" in error.message
    assert "120" in error.message


@given(st.text(st.sampled_from("ab\n\r\u00e4\u20ac\U0001f600\udcff"), max_size=900), st.integers(100, 400))
def test_pages_are_the_text_and_each_keeps_to_the_budget(text: str, budget: int) -> None:
    found = pages(text, budget)
    assert "".join(page.text for page in found) == text
    assert all(len(page.text.encode("utf-8", "surrogatepass")) <= budget for page in found)
    assert all(page.etag == "e" for page in found)


def test_pages_end_at_lines_unless_one_is_too_long() -> None:
    lines = [f"line {number}\n" for number in range(60)]
    text = "".join(lines) + "y" * 250 + "\nend"
    found = [page.text for page in pages(text, 100)]
    assert all(page.endswith("\n") for page in found[:-3])
    assert found[-3:] == ["y" * 100, "y" * 100, "y" * 50 + "\nend"]


def test_only_the_last_page_is_complete_and_the_others_name_the_next() -> None:
    first, *_, last = pages("0123456789\n" * 40, 100)
    assert not first.complete
    assert first.warnings[-1].code == "page"
    assert "characters 1 to 99 of 440" in first.warnings[-1].message
    assert first.next_actions[1:] == ("edit pkg.mod",)
    assert last.complete
    assert last.next_actions == ("edit pkg.mod",)


def test_a_page_of_an_answer_that_changed_is_stale() -> None:
    cursor = cursor_of(pages("0123456789\n" * 40, 100)[0])
    with pytest.raises(Refused) as caught:
        within(answer("0123456789\n" * 41), ASKED, budget=None, cursor=cursor)
    assert caught.value.code == "stale"
    assert caught.value.hints == ("read pkg.mod --full --budget 100 --cursor 0",)


@pytest.mark.parametrize("cursor", ["", "1", "x", "0-0-000000000000", "5-100-xyz", "-1-100-000000000000", "٣"])
def test_what_is_no_cursor_is_malformed(cursor: str) -> None:
    with pytest.raises(RequestError) as caught:
        within(answer("text"), ASKED, budget=None, cursor=cursor)
    assert caught.value.code == "invalid_arguments"
    assert caught.value.hints[0] == "read pkg.mod --full --cursor 0"


def test_a_cursor_behind_the_end_is_stale() -> None:
    cursor = cursor_of(pages("0123456789\n" * 40, 100)[0])
    with pytest.raises(Refused, match="changed"):
        within(answer("x"), ASKED, budget=None, cursor=cursor.replace("99-", "9999-", 1))
