"""Values of calls that are statements: each is shown, or said to be left out; code has them whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bae_source import Session, Source
from bae_source.adapters.session.events import Answered, Called, LeftOut, Panel
from bae_source.model.page import USUAL
from tests.adapters.session.conftest import built

LINE = "value_{:04} = 'a line of which there are many'\n"
PAGE = re.compile(r'read\("long", full=True, cursor="[^"]+"\)')


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a module of 92,000 bytes, and ten of 3,000."""
    folder = built(tmp_path_factory.mktemp("long"))
    (folder / "long.py").write_text("".join(map(LINE.format, range(2000))))
    for number in range(10):
        (folder / f"short{number}.py").write_text("".join(map(LINE.format, range(65))))
    return folder


@pytest.fixture(scope="module")
def opened(long: Path) -> Iterator[Session]:
    with Session(long, seconds=30) as session:
        yield session


def test_a_session_opens_in_source(long: Path) -> None:
    with Session(long) as session:
        assert session.trail == ("home", "source")
        assert "read" in session.namespace
        assert session.run('read("limit.top")').text.startswith("[source] ◆ read(limit.top) -> str (1 line)\ntop = 1\n")
        session.run("home()")
        assert session.run("import os; os._exit(1)").lost
        assert session.trail == ("home",)
        assert session.run('read("limit.top")').outcome.errors[0].code == "code_failed"
        session.run("source.app()")
        assert session.run("import os; os._exit(1)").lost
        assert session.run('read("client.limit")').outcome.text == "limit = 3\n"


def test_each_call_that_is_a_statement_is_shown_behind_its_line(opened: Session) -> None:
    ran = opened.run('read("app.client.limit")\nread("app.net.wire.pull")\nx = 1')
    assert [type(event) for event in ran.events] == [Called, Answered, Called, Answered]
    lines = ran.text.splitlines()
    assert lines[0] == "[source] ◆ read(app.client.limit) -> str (1 line)"
    assert lines[1] == "limit = 3"
    assert lines.index("[source] ◆ read(app.net.wire.pull) -> str (2 lines)") < lines.index("def pull() -> int:")
    assert ran.text.count("limit = 3") == ran.text.count("def pull") == 1
    assert (ran.outcome.text, ran.is_shown) == ("", False)


def test_the_last_value_is_the_blocks_and_shown_once(opened: Session, long: Path) -> None:
    ran = opened.run('read("app.client.limit")\nprint("between")\nread("limit.top")')
    assert [type(event) for event in ran.events] == [Called, Answered, Called, Panel]
    assert ran.outcome.text == Source(long).read("limit.top")
    assert ran.text.count("top = 1") == ran.text.count("limit = 3") == 1


@pytest.mark.parametrize(
    "code",
    [
        'for _ in range(2): read("limit.top")',
        'def f(): read("limit.top")\nf()',
        '[read("limit.top") for _ in range(2)]\nNone',
        'x = read("limit.top")',
        'len(read("limit.top"))\nNone',
        'x = read("limit.top")\nx\nx = 1',
        'if True: read("limit.top")',
        '(read("limit.top"), 1)\nNone',
    ],
)
def test_a_call_that_is_no_statement_of_the_block_has_a_line_and_no_answer(opened: Session, code: str) -> None:
    ran = opened.run(code)
    assert "[source] ◆ read(limit.top) -> str (1 line)" in ran.text
    assert "top = 1" not in ran.text


def test_values_of_other_statements_are_shown_if_they_are_the_last(opened: Session) -> None:
    ran = opened.run("'first'\nlen('ab')\n'last'")
    assert "'last'" in ran.text.splitlines()
    assert "2" not in ran.text.splitlines()
    assert ran.text.splitlines().count("'first'") == 0


def test_changes_and_selections_that_are_statements_are_shown_too(tmp_path: Path) -> None:
    with Session(built(tmp_path)) as session:
        ran = session.run(
            'edit("app.client.limit", "limit = 4")\nsymbols("sym://python/mod/limit")\nundo()\nawait nothing()'
        )
        shown = [event for event in ran.events if isinstance(event, Answered)]
        assert [event.outcome.status for event in shown] == ["applied", "answer", "applied"]
        assert "+limit = 4" in ran.text
        assert shown[1].answer == Source(tmp_path).symbols("sym://python/mod/limit")
        assert ran.outcome.errors[0].message.startswith("NameError")


def test_what_is_shown_shares_the_budget_and_what_has_no_room_is_left_out_with_its_call(opened: Session) -> None:
    calls = [f"read('short{number}', full=True)" for number in range(10)]
    ran = opened.run("\n".join([*calls, "None"]))
    shown = [event for event in ran.events if isinstance(event, Answered)]
    left_out = [event for event in ran.events if isinstance(event, LeftOut)]
    assert len([event for event in ran.events if isinstance(event, Called)]) == 10
    assert len(shown) + len(left_out) == 10
    assert sum(len(event.outcome.text) for event in shown) <= USUAL
    assert left_out[-1].line == '◆ left out, 2,990 bytes: read("short9", full=True) shows it'
    again = opened.run(left_out[-1].call)
    assert len(again.outcome.text) == 2_990
    assert len(ran.text.encode()) <= USUAL + 2_500


def test_a_value_that_is_too_long_is_shown_by_its_first_page_and_its_pages_are_the_whole(opened: Session) -> None:
    ran = opened.run('read("long", full=True)')
    pages = [ran.outcome.text]
    assert not ran.outcome.complete
    while not ran.outcome.complete:
        [call] = PAGE.findall(ran.text)
        assert ran.outcome.next_actions[0] == call
        ran = opened.run(call)
        pages.append(ran.outcome.text)
    assert len(pages) == 4
    assert max(map(len, pages)) <= USUAL
    assert "".join(pages) == "".join(map(LINE.format, range(2000)))


def test_a_statement_that_is_too_long_leaves_a_fourth_of_the_budget_to_the_last_one(opened: Session) -> None:
    ran = opened.run('read("long", full=True)\nread("long", full=True)\nread("long", full=True)')
    _, first, _, second, last = ran.events
    assert isinstance(first, Answered)
    assert 17_000 < len(first.outcome.text) <= 18_000
    assert len(PAGE.findall(first.line)) == 1
    assert isinstance(second, LeftOut)
    assert second.call == 'read("long", full=True)'
    assert isinstance(last, Called)
    assert 5_000 < len(ran.outcome.text) <= 6_000 + 1_000
    assert len(PAGE.findall(ran.outcome.next_actions[0])) == 1


def test_code_has_values_whole_and_so_has_a_caller_of_the_namespace(opened: Session) -> None:
    assert opened.run('text = read("long", full=True)\nlen(text), text.complete').outcome.text == "(92000, True)"
    ran = opened.run("text")
    assert len(ran.outcome.text) <= USUAL
    assert PAGE.findall(ran.outcome.next_actions[0])
    assert opened.run('len(grep("value_").splitlines()) > 2000').outcome.text == "True"
    assert len(opened.namespace["read"]("long", full=True)) == 92_000


def test_a_small_budget_cuts_a_change_to_its_verdict_and_never_the_change(tmp_path: Path) -> None:
    new = "limit = [\n" + "".join(f"    {number},\n" for number in range(3000)) + "]"
    with Session(built(tmp_path), budget=1_000) as session:
        ran = session.run(f"edit('app.client.limit', {new!r})\nx = 1")
    [shown] = [event for event in ran.events if isinstance(event, Answered)]
    assert shown.outcome.status == "applied"
    assert shown.outcome.text.startswith("Edited app.client.limit")
    assert len(shown.outcome.diff) < 1_000
    assert shown.outcome.warnings[-1].code == "shortened"
    assert (tmp_path / "app/client.py").read_text().endswith(f"{new}\n")


def test_what_an_import_from_the_future_says_holds_for_all_of_a_block(opened: Session) -> None:
    code = (
        'from __future__ import annotations\nread("limit.top")\ndef f(x: Nothing) -> Nowhere: pass\nf.__annotations__'
    )
    assert opened.run(code).outcome.text == "{'x': 'Nothing', 'return': 'Nowhere'}"


def test_calls_are_shown_in_a_block_that_awaits(opened: Session) -> None:
    ran = opened.run('import asyncio\nread("limit.top")\nawait asyncio.sleep(0)\nx = 2\nx')
    assert [type(event) for event in ran.events] == [Called, Answered, Panel]


def test_what_was_shown_before_an_error_stays(opened: Session) -> None:
    ran = opened.run('read("limit.top")\n1 / 0')
    assert ran.text.splitlines()[1] == "top = 1"
    assert ran.outcome.errors[0].message == "ZeroDivisionError: division by zero (line 2)"
