"""Budgets through the door: the Python API and the command line, on a project with long answers."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from bae_source import Refused, RequestError, Source
from bae_source.engine.registry import request
from bae_source.engine.service import Context, Service
from bae_source.model.outcome import Text
from tests.adapters.support import run

MODULE = '"""Long."""\n\n' + "".join(
    f"def f{n}(first, second):\n    return first + second + {n}\n\n\n" for n in range(60)
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "long.py").write_text(MODULE)
    (tmp_path / "short.py").write_text("x = 1\n")
    return tmp_path


def test_without_a_budget_an_answer_is_whole(project: Path) -> None:
    assert Source(project).read("long", full=True) == MODULE
    assert run("read", "long", "--full", folder=project).out.decode() == MODULE


def test_an_answer_over_its_budget_is_refused_with_calls_that_work(project: Path) -> None:
    src = Source(project).within(500)
    with pytest.raises(Refused) as caught:
        src.read("long", full=True)
    error = caught.value
    assert error.code == "budget_exceeded"
    assert error.details["size"] == len(MODULE)
    assert error.details["limit"] == 500
    assert error.hints[0] == 'read("long")'
    assert error.hints[-1] == 'within(budget=500, cursor="0").read("long", full=True)'
    assert error.details["calls"][-1] == "read long --full --budget 500 --cursor 0"
    for call in error.details["calls"]:
        assert run(*shlex.split(call), folder=project).status == 0


def test_the_command_line_refuses_in_the_same_words(project: Path) -> None:
    called = run("read", "long", "--full", "--budget", "500", "--json", folder=project)
    assert called.status == 5
    outcome = json.loads(called.out)
    [error] = outcome["errors"]
    with pytest.raises(Refused) as caught:
        Source(project).within(500).read("long", full=True)
    assert (error["code"], error["message"]) == (caught.value.code, caught.value.message)
    assert error["hints"] == caught.value.details["calls"] == outcome["next_actions"]


def follow(text: Text, src: Source) -> Text | None:
    call = text.outcome.next_actions[0] if text.outcome.next_actions else ""
    return eval(f"src.{call}") if call.startswith("within(cursor=") else None


def test_pages_are_the_whole_and_each_names_the_next(project: Path) -> None:
    src = Source(project)
    page: Text | None = src.within(700, cursor="0").read("long", full=True)
    found: list[Text] = []
    while page is not None:
        found.append(page)
        page = follow(page, src)
    assert "".join(found) == MODULE
    assert len(found) == 5
    assert all(len(each.encode()) <= 700 for each in found)
    assert [each.complete for each in found] == [False] * 4 + [True]
    assert len({each.etag for each in found}) == 1


def test_pages_of_the_command_line_are_found_by_following_its_calls(project: Path) -> None:
    call = "read long --full --budget 700 --cursor 0"
    text, pages = "", 0
    while call:
        outcome = json.loads(run(*shlex.split(call), "--json", folder=project).out)
        text, pages = text + outcome["text"], pages + 1
        call = next((each for each in outcome["next_actions"] if "--cursor" in each), "")
    assert (text, pages) == (MODULE, 5)


def test_a_page_of_what_has_changed_is_refused(project: Path) -> None:
    src = Source(project)
    page = src.within(700, cursor="0").read("long", full=True)
    src.insert("long.f0", "def more():\n    return 0\n", reload="off")
    with pytest.raises(Refused) as caught:
        follow(page, src)
    assert caught.value.code == "stale"
    assert caught.value.hints == ('within(budget=700, cursor="0").read("long", full=True)',)


@pytest.mark.parametrize("words", [["--budget", "99"], ["--budget", "-1"], ["--budget", "x"], ["--cursor", "7-x"]])
def test_a_budget_or_cursor_that_is_none_is_malformed(project: Path, words: list[str]) -> None:
    called = run("read", "long", *words, "--json", folder=project)
    assert called.status == 2
    assert json.loads(called.out)["errors"][0]["code"] == "invalid_arguments"


def test_a_change_has_no_pages_and_its_answer_no_budget(project: Path) -> None:
    service = Service(project, environment={})
    asked = request("delete", {"target": "long.f0"})
    with pytest.raises(RequestError) as caught:
        service.run(asked, Context(cursor="0", reload="off"))
    assert caught.value.code == "invalid_arguments"
    assert service.run(asked, Context(budget=100, reload="off")).status == "applied"


def test_history_and_telemetry_have_pages_too(project: Path) -> None:
    src = Source(project)
    for number in range(6):
        src.delete(f"long.f{number}", reload="off")
    with pytest.raises(Refused, match="budget"):
        src.within(150).history()
    assert not src.within(150, cursor="0").history().complete
    with pytest.raises(Refused, match="budget"):
        src.within(100).telemetry()


def test_selectors_keep_to_limits_of_their_own(project: Path) -> None:
    shown = Source(project).within(100).symbols("sym://python/mod/long")
    assert shown["status"] == "ok"
